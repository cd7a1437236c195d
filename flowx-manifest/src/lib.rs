//! The FlowX manifest: the one document that says what an agent may ask a program for.
//!
//! [`Manifest`] is the model, [`Manifest::write`] the canonical form with a byte index, [`json`] the one JSON value,
//! reader and writer that the whole project uses. This crate knows nothing of Rust sources (no `syn`) and nothing of
//! serving (no `tokio`).

pub mod audit_chain;
mod document;
pub mod json;
mod model;
mod names;
mod portable;
#[cfg(feature = "schema")]
mod schema;

pub use document::{
    ANY_WORD, CONVERTED, Document, IndexEntry, Kind, ReadError, closure, contract_of_ref,
    contract_ref, digest, references,
};
pub use json::Json;
pub use model::*;
pub use names::*;
pub use portable::omit_nulls;
#[cfg(feature = "schema")]
pub use schema::{manifest_schema, manifest_shape};
