//! The grammar of FlowX attributes: tokens to declarations, and the digest of what was read.
//!
//! The macros (inside rustc) and the scan (in a build script or the command) both use this crate.

mod decl;

pub use decl::*;
