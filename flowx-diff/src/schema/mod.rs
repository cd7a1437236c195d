//! JSON Schema as sets of values: a schema becomes a union of shapes, each of one JSON type.
//!
//! Spellings disappear here: references are followed, `allOf` is intersected, type lists, `anyOf`, `oneOf`, `enum` and
//! `const` become members of one union, so that `["string", "null"]` and an `anyOf` with `null` are the same thing.

pub(crate) mod admit;
pub(crate) mod decimal;
mod expand;
pub(crate) mod shape;
pub(crate) mod side;

pub(crate) use expand::ANNOTATIONS;
pub(crate) use shape::{Kind, Shape};
pub(crate) use side::{Doc, Side, Term};
