//! Scan rows. Filled when measured: see `rows`.

use std::path::Path;

use super::Row;

pub(crate) fn rows(_: &Path, _: usize) -> anyhow::Result<Vec<Row>> {
    Ok(Vec::new())
}
