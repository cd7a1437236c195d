//@ env: OUT_DIR=/nowhere
//! A build script that scans nothing.
flowx_runtime::include_manifest!();
