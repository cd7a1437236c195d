//! A Mermaid flowchart, for Markdown that renders it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::model::{Change, Column, EdgeKind, Graph};
use crate::output::visible;

pub(super) fn render(graph: &Graph) -> String {
    let mut out = String::from("flowchart LR\n");
    let mut names = BTreeMap::new();
    for column in Column::ALL {
        let nodes: Vec<_> = graph
            .nodes
            .iter()
            .filter(|((c, _), _)| *c == column)
            .collect();
        if nodes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  subgraph {}[\"{}\"]", column.word(), column.title());
        for (key, node) in nodes {
            let name = format!("n{}", names.len());
            let (open, close) = match column {
                Column::Agent => ("([", "])"),
                Column::Flow => ("[", "]"),
                Column::Capability => ("[[", "]]"),
                Column::Permission => ("{{", "}}"),
                Column::Effect => ("[(", ")]"),
            };
            let mut label = escape(&node.label);
            if !node.note.is_empty() {
                let _ = write!(label, "<br/>{}", escape(&node.note));
            }
            let _ = writeln!(out, "    {name}{open}\"{label}\"{close}");
            names.insert(key, name);
        }
        out.push_str("  end\n");
    }
    let mut coloured: BTreeMap<Change, Vec<usize>> = BTreeMap::new();
    for (index, (edge, change)) in graph.edges().enumerate() {
        let arrow = match edge.kind {
            EdgeKind::Plain | EdgeKind::Leave => "-->",
            EdgeKind::Undo => "-.->",
            EdgeKind::Never => "--x",
        };
        let label = if edge.label.is_empty() {
            String::new()
        } else {
            format!("|\"{}\"|", escape(&edge.label))
        };
        let _ = writeln!(
            out,
            "  {} {arrow}{label} {}",
            names[&edge.from], names[&edge.to]
        );
        coloured.entry(change).or_default().push(index);
    }
    if graph.compared {
        let colours = [
            (Change::Added, "#2a7d46", "#d9f2e1"),
            (Change::Removed, "#b3342b", "#f9dedb"),
            (Change::Changed, "#9a6700", "#fbeec8"),
        ];
        for (change, stroke, fill) in colours {
            let nodes: Vec<&str> = graph
                .nodes
                .iter()
                .filter(|(_, node)| node.change == change)
                .map(|(key, _)| names[key].as_str())
                .collect();
            if !nodes.is_empty() {
                let _ = writeln!(
                    out,
                    "  classDef {} stroke:{stroke},fill:{fill},color:#111",
                    change.word()
                );
                let _ = writeln!(out, "  class {} {}", nodes.join(","), change.word());
            }
            if let Some(edges) = coloured.get(&change) {
                let edges: Vec<String> = edges.iter().map(ToString::to_string).collect();
                let _ = writeln!(out, "  linkStyle {} stroke:{stroke}", edges.join(","));
            }
        }
    }
    out
}

fn escape(text: &str) -> String {
    visible(text, false)
        .replace('&', "&amp;")
        .replace('#', "&num;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
