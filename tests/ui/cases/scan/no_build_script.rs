//! No build script, no scan.
flowx_runtime::include_manifest!();
