//! Rules about rules.

use std::collections::{BTreeMap, BTreeSet};

use flowx_diff::{RuleKind, explain, rules};

/// Cells whose mirror is empty, and why that is right.
const WAIVERS: &[(&str, &str)] = &[
    (
        "tool hidden characters add",
        "that hidden characters are gone is a change of words, and FXD070 or FXD073",
    ),
    (
        "tool unconfirmed add",
        "that an unconfirmed tool is gone is FXD005 or FXD001",
    ),
];

#[test]
fn what_is_reported_in_one_direction_is_reported_in_the_other() {
    let mut cells: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for rule in rules() {
        for cell in &rule.covers {
            cells.entry(cell.clone()).or_default().push(rule.id);
        }
    }
    let waived: BTreeSet<&str> = WAIVERS.iter().map(|(c, _)| *c).collect();
    let mut holes = Vec::new();
    for (cell, ids) in &cells {
        let (place, action) = cell.rsplit_once(' ').expect("area, aspect, action");
        let mirror = match action {
            "add" => "remove",
            "remove" => "add",
            "tighten" => "loosen",
            "loosen" => "tighten",
            _ => continue,
        };
        let filled = cells.contains_key(&format!("{place} {mirror}"));
        if !filled && !waived.contains(cell.as_str()) {
            holes.push(format!("{cell} ({ids:?}) has no mirror"));
        }
        if filled && waived.contains(cell.as_str()) {
            holes.push(format!(
                "{cell} is waived and has a mirror: remove the waiver"
            ));
        }
    }
    for (cell, reason) in WAIVERS {
        assert!(cells.contains_key(*cell), "a stale waiver: {cell}");
        assert!(!reason.is_empty());
    }
    assert!(holes.is_empty(), "{}", holes.join("\n"));
}

#[test]
fn ids_and_names_are_unique_and_every_page_has_its_headings() {
    let mut ids = BTreeSet::new();
    let mut names = BTreeSet::new();
    for rule in rules() {
        assert!(ids.insert(rule.id), "{} twice", rule.id);
        assert!(names.insert(rule.name), "{} twice", rule.name);
        assert!(
            rule.doc.trim_start().starts_with("# "),
            "{}: no title",
            rule.id
        );
        for heading in [
            "## What it catches",
            "## Why it matters",
            "## Example",
            "## Instead",
        ] {
            assert!(rule.doc.contains(heading), "{}: no {heading}", rule.id);
        }
        assert!(
            !rule.title().is_empty() && !rule.title().ends_with('.'),
            "{}: {}",
            rule.id,
            rule.title()
        );
        assert_eq!(
            explain(&rule.id.to_lowercase()).map(|r| r.id),
            Some(rule.id)
        );
    }
    assert!(explain("FXD999").is_none());
}

#[test]
fn every_rule_file_is_registered_once() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let mut declared = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a source file");
        if !text.contains("\nrule! {") {
            continue;
        }
        let id = text
            .lines()
            .find_map(|l| l.trim().strip_prefix("\"FXD"))
            .expect("an id");
        let id = format!("FXD{}", &id[..3]);
        assert!(declared.insert(id.clone()), "{id} is declared twice");
    }
    let known: BTreeSet<String> = rules()
        .iter()
        .filter(|r| r.kind == RuleKind::Diff)
        .map(|r| r.id.to_owned())
        .collect();
    assert_eq!(declared, known);
}
