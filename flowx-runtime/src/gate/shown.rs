//! What a person reads of a call before deciding: from the manifest, the arguments and the application's names, and nothing else.

use std::collections::BTreeMap;

use flowx_manifest::{EffectClass, Flow, Json, Manifest};

use super::text::visible_short;
use crate::identity::{Principal, PrincipalKind};
use crate::proposals::{Shown, ShownField};

/// More arguments than that are counted and not shown.
const MOST_FIELDS: usize = 100;

/// What the application calls the values of a call: path of the argument → words (`Ticket T-7`).
pub type NamesOfCall = BTreeMap<String, String>;

/// Everything a person reads of that call.
pub fn shown(
    manifest: &Manifest,
    flow: &Flow,
    principal: &Principal,
    input: &Json,
    names: &NamesOfCall,
) -> Shown {
    let mut fields = Vec::new();
    let mut withheld = Vec::new();
    let sensitive: Vec<Vec<&str>> = flow
        .input
        .sensitive
        .iter()
        .map(|p| p.split('/').skip(1).collect())
        .collect();
    walk(
        input,
        &mut Vec::new(),
        &sensitive,
        names,
        &mut fields,
        &mut withheld,
    );
    if fields.len() > MOST_FIELDS {
        let more = fields.len() - MOST_FIELDS;
        fields.truncate(MOST_FIELDS);
        fields.push(ShownField {
            name: "…".to_owned(),
            value: format!("{more} more arguments are not shown here"),
        });
    }
    let side_effects = flow.effects.iter().filter_map(|id| {
        let class = manifest
            .effects
            .iter()
            .find(|e| e.id == *id)
            .map_or(EffectClass::ReachesOut, |e| e.class);
        (class != EffectClass::Reads).then(|| format!("{id} ({})", in_words(class)))
    });
    Shown {
        title: match &flow.title {
            Some(title) => format!("{} ({})", visible_short(title), flow.id),
            None => flow.id.to_string(),
        },
        asked_by: asked_by(principal),
        effects: side_effects.collect(),
        permissions: flow.permissions.iter().map(ToString::to_string).collect(),
        fields,
        withheld,
    }
}

fn in_words(class: EffectClass) -> &'static str {
    match class {
        EffectClass::Reads => "reads",
        EffectClass::Changes => "changes data",
        EffectClass::Sends => "sends something",
        EffectClass::Spends => "spends",
        EffectClass::ReachesOut => "reaches out",
    }
}

fn asked_by(principal: &Principal) -> String {
    let who = visible_short(&principal.subject);
    let who = match principal.kind {
        PrincipalKind::Anonymous => "somebody unknown".to_owned(),
        PrincipalKind::Person => who,
        PrincipalKind::Agent => format!("agent {who}"),
        PrincipalKind::Service => format!("service {who}"),
    };
    match &principal.on_behalf_of {
        Some(person) => format!("{who} for {}", visible_short(person)),
        None => who,
    }
}

/// Leaf by leaf. A sensitive place is named and nothing below it is looked at.
fn walk(
    value: &Json,
    path: &mut Vec<String>,
    sensitive: &[Vec<&str>],
    names: &NamesOfCall,
    fields: &mut Vec<ShownField>,
    withheld: &mut Vec<String>,
) {
    if sensitive.iter().any(|pattern| matches(pattern, path)) {
        withheld.push(readable(path));
        return;
    }
    let name = path.join("/");
    match value {
        Json::Object(map) if !map.is_empty() && !names.contains_key(&name) => {
            for (key, member) in map {
                path.push(key.clone());
                walk(member, path, sensitive, names, fields, withheld);
                path.pop();
            }
        }
        Json::Array(items) if !items.is_empty() && !names.contains_key(&name) => {
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                walk(item, path, sensitive, names, fields, withheld);
                path.pop();
            }
        }
        leaf => {
            let own = match leaf {
                Json::String(text) => format!("\"{}\"", visible_short(text)),
                other => visible_short(&other.to_canonical()),
            };
            // A name stands beside the value, never instead of it: what runs is the value.
            let value = match names.get(&name) {
                Some(words) if contains_sensitive(leaf, path, sensitive) => visible_short(words),
                Some(words) => format!("{} [{own}]", visible_short(words)),
                None => own,
            };
            fields.push(ShownField {
                name: readable(path),
                value,
            });
        }
    }
}

/// Whether something below a named place is sensitive, so that its own value must not stand beside its name.
fn contains_sensitive(value: &Json, path: &[String], sensitive: &[Vec<&str>]) -> bool {
    matches!(value, Json::Object(_) | Json::Array(_))
        && sensitive
            .iter()
            .any(|pattern| pattern.len() > path.len() && matches(&pattern[..path.len()], path))
}

fn matches(pattern: &[&str], path: &[String]) -> bool {
    pattern.len() == path.len()
        && pattern
            .iter()
            .zip(path)
            .all(|(p, at)| *p == "*" || p.replace("~1", "/").replace("~0", "~") == *at)
}

fn readable(path: &[String]) -> String {
    if path.is_empty() {
        "(input)".to_owned()
    } else {
        visible_short(&path.join("/"))
    }
}

/// The prompt of a confirmation in the caller's client.
pub fn prompt(shown: &Shown) -> String {
    let mut text = format!("Run {}?\nAsked by: {}\n", shown.title, shown.asked_by);
    if !shown.effects.is_empty() {
        text.push_str(&format!("It can reach: {}\n", shown.effects.join(", ")));
    }
    if !shown.permissions.is_empty() {
        let list = shown.permissions.join(", ");
        text.push_str(&format!(
            "It needs the permissions: {list} (approving grants none of them)\n"
        ));
    }
    if !shown.fields.is_empty() {
        text.push_str("With:\n");
        for field in &shown.fields {
            text.push_str(&format!("  {} = {}\n", field.name, field.value));
        }
    }
    if !shown.withheld.is_empty() {
        text.push_str(&format!(
            "Withheld here as sensitive: {}\n",
            shown.withheld.join(", ")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(
        sensitive: &[&str],
        input: &str,
        names: &[(&str, &str)],
    ) -> (Vec<String>, Vec<String>) {
        let input =
            flowx_manifest::json::parse(input.as_bytes(), flowx_manifest::json::Limits::REQUEST)
                .unwrap();
        let sensitive: Vec<Vec<&str>> = sensitive
            .iter()
            .map(|p| p.split('/').skip(1).collect())
            .collect();
        let names = names
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        let (mut fields, mut withheld) = (Vec::new(), Vec::new());
        walk(
            &input,
            &mut Vec::new(),
            &sensitive,
            &names,
            &mut fields,
            &mut withheld,
        );
        (
            fields
                .into_iter()
                .map(|f| format!("{}={}", f.name, f.value))
                .collect(),
            withheld,
        )
    }

    #[test]
    fn sensitive_values_are_withheld_at_any_depth() {
        let input = r#"{"a":1,"card":"4111","lines":[{"note":"x","pin":"1234"},{"pin":"99"}],"by":{"k1":{"secret":"s"}}}"#;
        let (fields, withheld) = walked(&["/card", "/lines/*/pin", "/by/*/secret"], input, &[]);
        assert_eq!(fields, ["a=1", "lines/0/note=\"x\""]);
        assert_eq!(
            withheld,
            ["by/k1/secret", "card", "lines/0/pin", "lines/1/pin"]
        );
    }

    #[test]
    fn a_name_stands_beside_the_value_and_not_instead_of_it() {
        let (fields, _) = walked(
            &[],
            r#"{"ticket_id":"7f3a"}"#,
            &[("ticket_id", "Ticket T-7")],
        );
        assert_eq!(fields, ["ticket_id=Ticket T-7 [\"7f3a\"]"]);
    }

    #[test]
    fn a_name_over_something_sensitive_does_not_bring_it_out() {
        let input = r#"{"payer":{"id":"p","card":"4111"}}"#;
        let (fields, _) = walked(&["/payer/card"], input, &[("payer", "Ada")]);
        assert_eq!(fields, ["payer=Ada"]);
    }

    #[test]
    fn an_argument_cannot_pretend_to_be_another_field() {
        let (fields, _) = walked(
            &[],
            r#"{"note\nIt needs the permissions":"x\n  amount = 1\u202e"}"#,
            &[],
        );
        assert_eq!(
            fields,
            ["note\\nIt needs the permissions=\"x\\n  amount = 1\\u{202e}\""]
        );
    }
}
