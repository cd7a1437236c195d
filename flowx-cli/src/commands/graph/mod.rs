//! `flowx graph`: flows, what they call, what that does to the world, who may, and which agents.

mod dot;
mod html;
mod mermaid;
mod model;
mod svg;

use crate::cli::{self, OutputFormat};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::source;

use super::{files, no_format};

pub(super) fn run(context: &Context, args: &cli::Graph) -> Result<u8, Failure> {
    let ending = args
        .out
        .as_deref()
        .and_then(|path| path.extension()?.to_str());
    let format = match (context.common().format, ending) {
        (None, Some("svg")) => OutputFormat::Svg,
        (None, Some("html")) => OutputFormat::Html,
        (None, Some("dot" | "gv")) => OutputFormat::Dot,
        (None, _) => OutputFormat::Mermaid,
        (
            Some(
                format @ (OutputFormat::Mermaid
                | OutputFormat::Dot
                | OutputFormat::Svg
                | OutputFormat::Html),
            ),
            _,
        ) => format,
        (Some(other), _) => return Err(no_format(other, "mermaid, dot, svg and html")),
    };
    let first = match &args.source {
        Some(source) => source::load(context, source)?,
        None => source::load_working_tree(context)?,
    };
    let second = args
        .head
        .as_ref()
        .map(|head| source::load(context, head))
        .transpose()?;
    let graph = match &second {
        Some(head) => model::Graph::between(first.manifest()?, head.manifest()?),
        None => model::Graph::of(first.manifest()?),
    };
    let text = match format {
        OutputFormat::Dot => dot::render(&graph),
        OutputFormat::Svg => svg::render(&graph),
        OutputFormat::Html => html::render(&graph),
        _ => mermaid::render(&graph),
    };
    files::deliver(context, &text, args.out.as_deref(), args.force)?;
    Ok(OK)
}
