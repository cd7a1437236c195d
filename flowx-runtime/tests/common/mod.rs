//! What the tests of this crate share.
#![allow(dead_code, unreachable_pub)]

pub mod broken;
pub mod postgres;
