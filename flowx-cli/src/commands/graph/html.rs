//! One page that a reviewer opens: the picture, a filter, and everything in tables below. It fetches nothing, and says so to
//! the browser.

use std::fmt::Write;

use super::model::{Change, Column, Graph};
use super::svg::{self, escape};

const STYLE: &str = "\
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}\
header{padding:18px 20px 6px;display:flex;flex-wrap:wrap;gap:8px 18px;align-items:baseline}h1{font-size:20px;margin:0}\
header p{margin:0;color:var(--faint)}header .count{font-variant-numeric:tabular-nums}\
.key span{display:inline-block;padding:0 7px;border:2px solid;border-radius:4px;margin-right:6px;font-size:13px}\
.key .added{color:var(--added)}.key .removed{color:var(--removed)}.key .changed{color:var(--changed)}\
form{padding:6px 20px 12px}input{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:6px;padding:5px 9px;width:min(420px,90vw)}\
.picture{overflow:auto;border-block:1px solid var(--line)}\
main{padding:6px 20px 60px;display:grid;gap:10px;grid-template-columns:repeat(auto-fill,minmax(330px,1fr))}\
h2{font-size:16px;margin:18px 0 0;grid-column:1/-1}article{border:1px solid var(--line);border-radius:8px;background:var(--box);padding:10px 14px;min-width:0}\
article h3{font-size:14px;margin:0 0 4px;overflow-wrap:anywhere}article p{margin:0 0 6px;color:var(--faint);font-size:13.5px}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px;margin:0;font-size:13px}dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}\
article.added{border:2px solid var(--added)}article.removed{border:2px solid var(--removed)}article.changed{border:2px solid var(--changed)}\
article b{font-weight:600}article .mark{float:right;font-size:12px}.added .mark{color:var(--added)}.removed .mark{color:var(--removed)}.changed .mark{color:var(--changed)}\
.dim{opacity:.13}article.dim{display:none}.node{cursor:pointer}";

/// Shows what a node reaches and is reached by; a word in the field does the same for all that match.
const SCRIPT: &str = "\
const field=document.querySelector('input'),nodes=[...document.querySelectorAll('[data-id]')],lines=[...document.querySelectorAll('path[data-from]')];\
function walk(start,a,b){const seen=new Set(start);let grew=true;while(grew){grew=false;for(const l of lines)\
if(seen.has(l.dataset[a])&&!seen.has(l.dataset[b])){seen.add(l.dataset[b]);grew=true}}return seen}\
function show(start){if(!start){for(const e of [...nodes,...lines])e.classList.remove('dim');return}\
const down=walk(start,'from','to'),up=walk(start,'to','from');\
for(const n of nodes)n.classList.toggle('dim',!down.has(n.dataset.id)&&!up.has(n.dataset.id));\
for(const l of lines)l.classList.toggle('dim',!((down.has(l.dataset.from)&&down.has(l.dataset.to))||(up.has(l.dataset.from)&&up.has(l.dataset.to))))}\
let chosen=null;\
field.addEventListener('input',()=>{chosen=null;const w=field.value.trim().toLowerCase();\
show(w?nodes.map(n=>n.dataset.id).filter(id=>id.toLowerCase().includes(w)):null)});\
field.form.addEventListener('submit',e=>e.preventDefault());\
document.addEventListener('click',e=>{const n=e.target.closest('.node');if(!n&&!e.target.closest('.picture'))return;\
chosen=n&&chosen!==n.dataset.id?n.dataset.id:null;field.value='';show(chosen?[chosen]:null)});";

pub(super) fn render(graph: &Graph) -> String {
    let title = escape(&graph.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1>"
    );
    let counts: Vec<String> = Column::ALL
        .into_iter()
        .map(|column| {
            (
                column,
                graph.nodes.keys().filter(|(c, _)| *c == column).count(),
            )
        })
        .filter(|(_, count)| *count > 0)
        .map(|(column, count)| match count {
            1 => format!("1 {}", column.word()),
            count => format!("{count} {}", column.title().to_lowercase()),
        })
        .collect();
    let _ = write!(out, "<p class=\"count\">{}</p>", counts.join(" · "));
    if graph.compared {
        out.push_str("<p class=\"key\">");
        for change in [Change::Added, Change::Changed, Change::Removed] {
            let count = graph
                .nodes
                .values()
                .filter(|node| node.change == change)
                .count();
            let _ = write!(out, "<span class=\"{0}\">{count} {0}</span>", change.word());
        }
        out.push_str("</p>");
    }
    out.push_str("</header>\n<form><input type=\"search\" placeholder=\"Filter: an id, or click a box\" aria-label=\"Filter\"></form>\n");
    let _ = writeln!(
        out,
        "<div class=\"picture\">{}</div>\n<main>",
        svg::element(graph)
    );
    for column in Column::ALL {
        let mut nodes: Vec<_> = graph
            .nodes
            .iter()
            .filter(|((c, _), _)| *c == column)
            .collect();
        // What changed is what the page is opened for.
        nodes.sort_by_key(|(_, node)| node.change == Change::Same);
        if column == Column::Permission || nodes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "<h2>{}</h2>", column.title());
        for (key, node) in nodes {
            let mark = if node.change == Change::Same {
                ""
            } else {
                node.change.word()
            };
            let _ = write!(
                out,
                "<article class=\"{}\" data-id=\"{}\"><span class=\"mark\">{mark}</span><h3>{}</h3>",
                node.change.word(),
                svg::id(key),
                escape(&node.label)
            );
            for (_, text) in node.details.iter().filter(|(label, _)| label.is_empty()) {
                let _ = write!(out, "<p>{}</p>", escape(text));
            }
            out.push_str("<dl>");
            if column == Column::Effect || column == Column::Capability {
                let _ = write!(
                    out,
                    "<dt>{}</dt><dd>{}</dd>",
                    if column == Column::Effect {
                        "class"
                    } else {
                        "who may"
                    },
                    escape(&node.note)
                );
            }
            for (label, text) in node.details.iter().filter(|(label, _)| !label.is_empty()) {
                let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape(label), escape(text));
            }
            out.push_str("</dl></article>\n");
        }
    }
    let _ = write!(
        out,
        "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    );
    out
}
