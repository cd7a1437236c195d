//! Graphviz DOT.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::model::{Change, Column, EdgeKind, Graph};
use crate::output::visible;

pub(super) fn render(graph: &Graph) -> String {
    let mut out = format!(
        "digraph {} {{\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=11];\n",
        quoted(&graph.title)
    );
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=9];\n");
    let mut names = BTreeMap::new();
    for column in Column::ALL {
        let _ = writeln!(out, "  subgraph {} {{ rank=same;", column.word());
        for (key, node) in graph.nodes.iter().filter(|((c, _), _)| *c == column) {
            let name = format!("n{}", names.len());
            let shape = match column {
                Column::Agent => "oval",
                Column::Flow => "box",
                Column::Capability => "component",
                Column::Permission => "hexagon",
                Column::Effect => "cylinder",
            };
            let label = if node.note.is_empty() {
                node.label.clone()
            } else {
                format!("{}\n{}", node.label, node.note)
            };
            let _ = writeln!(
                out,
                "    {name} [label={}, shape={shape}{}];",
                quoted(&label),
                colour(node.change)
            );
            names.insert(key, name);
        }
        out.push_str("  }\n");
    }
    for (edge, change) in graph.edges() {
        let style = match edge.kind {
            EdgeKind::Plain | EdgeKind::Leave => "",
            EdgeKind::Undo => ", style=dashed",
            EdgeKind::Never => ", style=dotted, arrowhead=tee",
        };
        let (from, to) = (&names[&edge.from], &names[&edge.to]);
        let _ = writeln!(
            out,
            "  {from} -> {to} [label={}{style}{}];",
            quoted(&edge.label),
            colour(change)
        );
    }
    out.push_str("}\n");
    out
}

fn colour(change: Change) -> &'static str {
    match change {
        Change::Same => "",
        Change::Added => ", color=\"#2a7d46\"",
        Change::Removed => ", color=\"#b3342b\"",
        Change::Changed => ", color=\"#9a6700\"",
    }
}

fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        visible(text, true)
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    )
}
