//! `flowx manifest`: the committed document, printed, written or checked against the sources.

use crate::cli;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::source::{self, MANIFEST_FILE};

use super::{files, no_format};

pub(super) fn run(context: &Context, args: &cli::Manifest) -> Result<u8, Failure> {
    if let Some(format) = context.common().format {
        return Err(no_format(format, "none but its own; see --pretty"));
    }
    let loaded = source::load_working_tree(context)?;
    let text = loaded.text.as_deref().unwrap_or_default();
    let committed = source::working_folder(context)?.join(MANIFEST_FILE);
    if args.check {
        return check(context, text, &committed);
    }
    if args.write {
        let before = std::fs::read_to_string(&committed).ok();
        if before.as_deref() == Some(text) {
            context.note(&format!("{} is fresh already", source::shown(&committed)));
        } else {
            std::fs::write(&committed, text)
                .map_err(|error| Failure::load(source::shown(&committed), error))?;
            context.note(&format!("wrote {}", source::shown(&committed)));
        }
        return Ok(OK);
    }
    let text = if args.pretty {
        let json =
            flowx_manifest::json::parse(text.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
                .map_err(|error| Failure::load(&loaded.label, error))?;
        format!("{}\n", json.to_pretty().trim_end())
    } else {
        text.to_owned()
    };
    // This file is generated on purpose each time, so it is overwritten.
    files::deliver(context, &text, args.out.as_deref(), true)?;
    Ok(OK)
}

fn check(context: &Context, text: &str, committed: &std::path::Path) -> Result<u8, Failure> {
    let name = source::shown(committed);
    let before = match std::fs::read(committed) {
        // What is no text is not what the sources say, and writing it again mends that.
        Ok(before) => String::from_utf8_lossy(&before).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::Stale(format!(
                "{name} is missing; `flowx manifest --write` writes it"
            )));
        }
        Err(error) => return Err(Failure::load(name, error)),
    };
    // A checkout may have turned the line ends; the document itself has none within an entry.
    let before = before.replace("\r\n", "\n");
    if before == text {
        context.note(&format!("{name} is fresh"));
        return Ok(OK);
    }
    let changed = similar::TextDiff::from_lines(before.as_str(), text);
    let count = |tag| {
        changed
            .iter_all_changes()
            .filter(|change| change.tag() == tag)
            .count()
    };
    Err(Failure::Stale(format!(
        "{name} is not what the sources say ({} new or changed, {} gone or changed); `flowx manifest --write` mends it, \
         and `flowx diff {name}` shows what changed",
        crate::output::plural(count(similar::ChangeTag::Insert), "line"),
        crate::output::plural(count(similar::ChangeTag::Delete), "line"),
    )))
}
