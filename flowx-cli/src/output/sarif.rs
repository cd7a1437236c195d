//! SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Page, Row, Rule, visible};

pub(super) fn render<'a>(page: &Page, rule: &dyn Fn(&str) -> Option<Rule<'a>>) -> String {
    let ids: BTreeMap<&str, usize> = {
        let mut ids: Vec<&str> = page.rows.iter().map(|row| row.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .enumerate()
            .map(|(index, id)| (id, index))
            .collect()
    };
    let rules: Vec<Value> = ids.keys().map(|id| describe(id, rule(id))).collect();
    let results: Vec<Value> = page
        .rows
        .iter()
        .map(|row| result(row, ids[row.id.as_str()]))
        .collect();
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "flowx",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "automationDetails": { "id": format!("flowx/{}/", page.verb) },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

fn describe(id: &str, rule: Option<Rule<'_>>) -> Value {
    match rule {
        Some(rule) => json!({
            "id": id,
            "shortDescription": { "text": rule.title },
            "help": { "text": rule.doc, "markdown": rule.doc },
        }),
        None => json!({ "id": id }),
    }
}

fn result(row: &Row, index: usize) -> Value {
    let mut text = visible(&row.message, true);
    for more in [&row.consequence, &row.help]
        .into_iter()
        .filter(|more| !more.is_empty())
    {
        text.push('\n');
        text.push_str(&visible(more, true));
    }
    let mut result = json!({
        "ruleId": row.id,
        "ruleIndex": index,
        "level": row.level.as_str(),
        "message": { "text": text },
        "properties": { "class": row.class },
    });
    let mut location = json!({});
    if !row.file.is_empty() {
        let mut physical = json!({ "artifactLocation": { "uri": uri(&row.file) } });
        if row.line > 0 {
            physical["region"] = json!({ "startLine": row.line, "startColumn": row.column.max(1) });
        }
        location["physicalLocation"] = physical;
    }
    if !row.subject.is_empty() {
        let name = format!("{}{}", row.subject, row.pointer);
        location["logicalLocations"] = json!([{ "fullyQualifiedName": visible(&name, false) }]);
    }
    if location != json!({}) {
        result["locations"] = json!([location]);
    }
    if !row.fingerprint.is_empty() {
        result["partialFingerprints"] = json!({ "flowx/v1": row.fingerprint });
    }
    if let Some(reason) = &row.allowed {
        result["suppressions"] =
            json!([{ "kind": "external", "justification": visible(reason, true) }]);
    }
    result
}

/// A relative path as a URI reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for b in path.bytes() {
        if b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-' | b'_' | b'~') {
            out.push(b as char);
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}
