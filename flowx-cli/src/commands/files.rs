//! Writing files: never over something that is there, unless told to.

use std::io::Write;
use std::path::Path;

use crate::context::Context;
use crate::failure::Failure;

/// Prints, or writes the same bytes to a file.
///
/// # Errors
/// When the file exists and `force` is not given, or cannot be written.
pub(super) fn deliver(
    context: &Context,
    text: &str,
    out: Option<&Path>,
    force: bool,
) -> Result<(), Failure> {
    let Some(path) = out else {
        return super::print(text);
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    // `create_new` decides and creates in one step, and follows no dangling link.
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut file = options.open(path).map_err(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            Failure::load(path.display(), "exists already; --force overwrites it")
        } else {
            Failure::load(path.display(), error)
        }
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::load(path.display(), error))?;
    context.note(&format!("wrote {}", path.display()));
    Ok(())
}
