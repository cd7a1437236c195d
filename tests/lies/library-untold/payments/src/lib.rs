//! Declares something, and tells nobody.

flowx_runtime::include_manifest!();

/// The till.
#[flowx_runtime::effect(id = "till", class = spends)]
pub struct Till;

pub fn link() {}
