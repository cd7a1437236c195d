//! A picture in four columns. Light and dark come from the reader's own settings; nothing is fetched.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::model::{Change, Column, EdgeKind, Graph, Node};
use crate::output::visible;

/// Pixels.
const ROW: f64 = 58.0;
const BOX: f64 = 40.0;
const TOP: f64 = 46.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 110.0;
/// As far down as a column may begin: further, and a reader of a tall picture sees a head with nothing below it.
const FIRST_SCREEN: f64 = 240.0;
/// In a column of more boxes than this, those that changed stand first.
const MANY: usize = 16;
/// Room for the head of a second group.
const HEAD: f64 = 40.0;
/// Of a letter, on average, in the two sizes used. Boxes are sized by it, and the text is fitted into them.
const LETTER: f64 = 7.8;
const SMALL: f64 = 5.9;

/// Colours of both themes, as custom properties.
pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--bg:#ffffff;--ink:#1c2024;--faint:#60666d;--line:#b9bfc6;--box:#f6f7f9;--agent:#7a4fbf;--flow:#1f6fd1;\
--capability:#0b7f86;--permission:#a15c00;--effect:#b02a6b;--added:#1d7f43;--removed:#c0352b;--changed:#9a6700}\
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--ink:#e8eaed;--faint:#9aa1a9;--line:#525a63;--box:#1e2328;--agent:#b79bf0;--flow:#7db4f5;\
--capability:#5cc8ce;--permission:#e0a65a;--effect:#f08bbb;--added:#58c983;--removed:#f2857b;--changed:#e2b84d}}\
svg.graph{background:var(--bg);font:12px system-ui,sans-serif}\
.graph .head{fill:var(--faint);font-size:12px;font-weight:600}\
.graph rect{fill:var(--box);stroke:var(--line);stroke-width:1.25}\
.graph .name{fill:var(--ink);font-size:13px}.graph .note{fill:var(--faint);font-size:10.5px}\
.graph path{fill:none;stroke:var(--line);stroke-width:1.4}.graph path.undo{stroke-dasharray:5 4}.graph path.never{stroke-dasharray:2 3}\
.graph .tip{fill:var(--line);stroke:none}\
.graph .label{fill:var(--faint);font-size:9.5px;paint-order:stroke;stroke:var(--bg);stroke-width:3px}\
.agent rect{stroke:var(--agent)}.flow rect{stroke:var(--flow)}.capability rect{stroke:var(--capability)}\
.permission rect{stroke:var(--permission)}.effect rect{stroke:var(--effect)}\
.graph .added rect,.graph path.added{stroke:var(--added);stroke-width:2.5}.graph .added .name{fill:var(--added)}\
.graph .removed rect,.graph path.removed{stroke:var(--removed);stroke-width:2.5;stroke-dasharray:6 4}.graph .removed .name{fill:var(--removed);text-decoration:line-through}\
.graph .changed rect{stroke:var(--changed);stroke-width:2.5}.graph .changed .name{fill:var(--changed)}";

pub(super) fn render(graph: &Graph) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&element(graph));
    out.push('\n');
    out
}

struct Place {
    x: f64,
    y: f64,
    width: f64,
}

/// The `<svg>` element alone.
pub(super) fn element(graph: &Graph) -> String {
    let columns = arrange(graph);
    let mut places: BTreeMap<&(Column, String), Place> = BTreeMap::new();
    let mut x = MARGIN;
    let mut heads = Vec::new();
    let widest = |keys: &[&(Column, String)]| {
        keys.iter()
            .map(|key| width(&graph.nodes[*key]))
            .fold(90.0, f64::max)
    };
    let rows = |keys: &[&(Column, String)]| keys.len() as f64 * ROW;
    // Effects and permissions share the last place, one below the other: lines to either then cross no box.
    let last: Vec<&(Column, Vec<&(Column, String)>)> = columns
        .iter()
        .filter(|(column, _)| *column >= Column::Effect)
        .collect();
    let last_height = last.iter().map(|(_, keys)| rows(keys)).sum::<f64>()
        + (last.len().max(1) - 1) as f64 * HEAD;
    let others = columns
        .iter()
        .filter(|(column, _)| *column < Column::Effect);
    let tallest = others
        .clone()
        .map(|(_, keys)| rows(keys))
        .fold(last_height, f64::max);
    // Shorter columns stand in the middle of the tallest, but on the first screen.
    let lower = |room: f64| (room / 2.0).min(FIRST_SCREEN);
    for (column, keys) in others {
        let width = widest(keys);
        let top = TOP + lower(tallest - rows(keys));
        for (row, key) in keys.iter().enumerate() {
            places.insert(
                key,
                Place {
                    x,
                    y: top + row as f64 * ROW,
                    width,
                },
            );
        }
        heads.push((x, 24.0, column.title()));
        x += width + GAP;
    }
    let mut y = TOP + lower(tallest - last_height);
    let width = last
        .iter()
        .map(|(_, keys)| widest(keys))
        .fold(0.0, f64::max);
    for (index, (column, keys)) in last.iter().enumerate() {
        heads.push((
            x,
            if index == 0 { 24.0 } else { y + HEAD - 22.0 },
            column.title(),
        ));
        y += if index == 0 { 0.0 } else { HEAD };
        for key in keys {
            places.insert(key, Place { x, y, width });
            y += ROW;
        }
    }
    if !last.is_empty() {
        x += width + GAP;
    }
    let (total, height) = ((x - GAP + MARGIN).max(240.0), TOP + tallest + MARGIN);
    let mut out = String::new();
    let title = escape(&graph.title);
    let _ = write!(
        out,
        "<svg class=\"graph\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total:.0} {height:.0}\" width=\"{total:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n"
    );
    out.push_str(
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"9\" orient=\"auto-start-reverse\">\
         <path class=\"tip\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n",
    );
    for (x, y, head) in heads {
        let _ = writeln!(
            out,
            "<text class=\"head\" x=\"{x:.0}\" y=\"{y:.0}\">{head}</text>"
        );
    }
    let mut labels = String::new();
    for (edge, change) in graph.edges() {
        let (Some(from), Some(to)) = (places.get(&edge.from), places.get(&edge.to)) else {
            continue;
        };
        let (x1, y1, y2) = (from.x + from.width, from.y + BOX / 2.0, to.y + BOX / 2.0);
        // Within a column (a flow that calls a flow) the curve goes around on the right.
        let (x2, bend) = if edge.from.0 == edge.to.0 {
            (to.x + to.width, x1 + GAP * 0.7)
        } else {
            (to.x, x1 + GAP * 0.55)
        };
        let bend2 = if edge.from.0 == edge.to.0 {
            bend
        } else {
            to.x - GAP * 0.55
        };
        let kind = match edge.kind {
            EdgeKind::Plain => "plain",
            EdgeKind::Undo => "undo",
            EdgeKind::Leave => "leave",
            EdgeKind::Never => "never",
        };
        let what = if edge.label.is_empty() {
            String::new()
        } else {
            format!(": {}", edge.label)
        };
        let _ = writeln!(
            out,
            "<path class=\"{kind} {}\" data-from=\"{}\" data-to=\"{}\" marker-end=\"url(#tip)\" \
             d=\"M{x1:.1} {y1:.1}C{bend:.1} {y1:.1} {bend2:.1} {y2:.1} {x2:.1} {y2:.1}\"><title>{}</title></path>",
            change.word(),
            id(&edge.from),
            id(&edge.to),
            escape(&format!("{} → {}{what}", edge.from.1, edge.to.1)),
        );
        // Leave is what a reviewer looks for, so it is written out; step names are in the tooltip and the table.
        if matches!(edge.kind, EdgeKind::Leave | EdgeKind::Never) {
            let _ = writeln!(
                labels,
                "<text class=\"label\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x2 - 10.0,
                y2 - 4.0,
                escape(&edge.label)
            );
        }
    }
    for (key, place) in &places {
        let node = &graph.nodes[*key];
        let note = !node.note.is_empty();
        let _ = write!(
            out,
            "<g class=\"node {} {}\" data-id=\"{}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BOX}\" rx=\"{}\"/>\
             <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            node.column.word(),
            node.change.word(),
            id(key),
            place.x,
            place.y,
            place.width,
            if node.column == Column::Agent { 20 } else { 5 },
            place.x + 11.0,
            place.y + if note { 17.0 } else { 25.0 },
            escape(&node.label),
        );
        if note {
            let _ = write!(
                out,
                "<text class=\"note\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                place.x + 11.0,
                place.y + 32.0,
                escape(&node.note)
            );
        }
        let _ = writeln!(out, "<title>{}</title></g>", escape(&tooltip(node)));
    }
    out.push_str(&labels);
    out.push_str("</svg>");
    out
}

fn width(node: &Node) -> f64 {
    let letters = |text: &str| visible(text, false).chars().count() as f64;
    (letters(&node.label) * LETTER).max(letters(&node.note) * SMALL) + 24.0
}

fn tooltip(node: &Node) -> String {
    let lines: Vec<String> = node
        .details
        .iter()
        .map(|(label, text)| {
            if label.is_empty() {
                text.clone()
            } else {
                format!("{label}: {text}")
            }
        })
        .collect();
    format!(
        "{} {}\n{}",
        node.column.word(),
        node.label,
        lines.join("\n")
    )
}

/// Columns that have nodes, each ordered so that lines cross little: every node moves to the average place of its
/// neighbours on the left, then of those on the right, a few times over.
fn arrange(graph: &Graph) -> Vec<(Column, Vec<&(Column, String)>)> {
    let mut columns: Vec<(Column, Vec<&(Column, String)>)> = Column::ALL
        .into_iter()
        .map(|column| {
            (
                column,
                graph.nodes.keys().filter(|(c, _)| *c == column).collect(),
            )
        })
        .filter(|(_, keys): &(_, Vec<_>)| !keys.is_empty())
        .collect();
    for round in 0..6 {
        let indexes: Vec<usize> = if round % 2 == 0 {
            (0..columns.len()).collect()
        } else {
            (0..columns.len()).rev().collect()
        };
        for at in indexes {
            let place: BTreeMap<&(Column, String), f64> = columns
                .iter()
                .flat_map(|(_, keys)| {
                    let middle = keys.len() as f64 / 2.0;
                    keys.iter()
                        .enumerate()
                        .map(move |(i, key)| (*key, i as f64 - middle))
                })
                .collect();
            let mut wanted: BTreeMap<&(Column, String), (f64, f64)> = BTreeMap::new();
            for (edge, _) in graph.edges() {
                for (one, other) in [(&edge.from, &edge.to), (&edge.to, &edge.from)] {
                    if one.0 == columns[at].0 && other.0 != one.0 {
                        let sum = wanted.entry(one).or_default();
                        *sum = (sum.0 + place[other], sum.1 + 1.0);
                    }
                }
            }
            let average = |key: &&(Column, String)| {
                wanted
                    .get(*key)
                    .map_or(place[*key], |(sum, count)| sum / count)
            };
            columns[at]
                .1
                .sort_by(|a, b| average(a).total_cmp(&average(b)).then_with(|| a.cmp(b)));
        }
    }
    if graph.compared {
        // What changed is what the picture is looked at for, and a tall one is looked at from its top.
        for (_, keys) in columns.iter_mut().filter(|(_, keys)| keys.len() > MANY) {
            keys.sort_by_key(|key| graph.nodes[*key].change == Change::Same);
        }
    }
    columns
}

/// A node's id in the page.
pub(super) fn id(key: &(Column, String)) -> String {
    escape(&format!("{} {}", key.0.word(), key.1))
}

/// Text in XML and HTML.
pub(super) fn escape(text: &str) -> String {
    visible(text, true)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
