//! `flowx inspect`: the manifest inside of a built program.

use crate::cli::{self, OutputFormat};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::source::one_manifest;

use super::{no_format, print};

pub(super) fn run(context: &Context, args: &cli::Inspect) -> Result<u8, Failure> {
    match context.common().format {
        None | Some(OutputFormat::Human | OutputFormat::Json) => {}
        Some(other) => return Err(no_format(other, "human and json, which are the same here")),
    }
    let embedded = one_manifest(&args.binary)?;
    if args.digest {
        print(&format!("{}\n", embedded.digest))?;
    } else {
        print(&embedded.text)?;
        let application = &embedded.manifest.application;
        // Not part of the document, so not on standard output; asked for, so not silenced by --quiet.
        eprintln!(
            "blake3 {} ({} {})",
            embedded.digest, application.name, application.version
        );
    }
    Ok(OK)
}
