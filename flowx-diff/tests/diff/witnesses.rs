//! Every verdict that a shape breaks somebody shows a value: valid on the side that writes it, refused by the side that reads.

use flowx_diff::inclusion::{Budget, Verdict, check};
use flowx_diff::{Class, DiffOptions, Finding, Surface, diff, diff_surfaces, from_tools_list};
use flowx_manifest::{Direction, Json};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::{base, file, json, manifest};

fn breaks_a_shape(finding: &&Finding) -> bool {
    ("FXD040"..="FXD059").contains(&finding.id) && finding.class == Class::Breaking
}

#[track_caller]
fn shows(writes: &Json, reads: &Json, witness: &Json, what: &str) {
    let judge = |schema: &Json| {
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(false)
            .build(&schema.to_value())
            .expect("a schema")
            .is_valid(&witness.to_value())
    };
    assert!(
        judge(writes) && !judge(reads),
        "{what}: {witness} shows nothing"
    );
}

#[test]
fn every_edit_of_a_tool_that_breaks_its_shape_shows_a_value() {
    let edits = json(&file("fixtures/edits.json"));
    let mut shown = 0;
    for edit in edits.as_array().expect("a list") {
        let name = edit.get("edit").and_then(Json::as_str).expect("a name");
        let side = |k: &str| edit.get(k).expect("a side");
        let surface = |k: &str| {
            let text = side(k).to_canonical();
            Surface::Tools(from_tools_list(text.as_bytes()).expect("tools"))
        };
        let report = diff_surfaces(&surface("old"), &surface("new"), &DiffOptions::default());
        for finding in report.findings.iter().filter(breaks_a_shape) {
            let witness = finding.witness.as_ref().unwrap_or_else(|| {
                panic!("{name}: {} {} shows nothing", finding.id, finding.message)
            });
            let section = if finding.pointer.starts_with("/inputSchema") {
                "inputSchema"
            } else {
                "outputSchema"
            };
            let schema = |k: &str| {
                let tools = side(k).as_array().expect("a list");
                tools[0].get(section).expect("a schema").clone()
            };
            let (old, new) = (schema("old"), schema("new"));
            let (writes, reads) = match section {
                "inputSchema" => (&old, &new),
                _ => (&new, &old),
            };
            shows(writes, reads, witness, name);
            shown += 1;
        }
    }
    assert!(shown >= 20, "{shown}");
}

#[test]
fn every_break_of_a_contract_shows_a_value_but_for_a_name_that_is_merely_ignored() {
    let mut silent = Vec::new();
    let mut look = |name: &str, report: flowx_diff::Report| {
        for finding in report.findings.iter().filter(breaks_a_shape) {
            if finding.witness.is_none() {
                silent.push(format!("{name}: {}", finding.id));
            }
        }
    };
    for (name, before, after) in crate::fixtures::cases() {
        let options = DiffOptions::default();
        look(&name, diff(&manifest(&before), &manifest(&after), &options));
    }
    let start = manifest(&base());
    for (name, mutant) in crate::leaves::mutants(&base()) {
        look(&name, diff(&start, &mutant, &DiffOptions::default()));
        look(&name, diff(&mutant, &start, &DiffOptions::default()));
    }
    // An optional member of an open object that has another name now: what is still sent under the old one is not refused, and
    // does nothing. No value shows that.
    silent
        .retain(|line| line != "FXD042: an optional argument of an open object is renamed: FXD042");
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn a_type_that_became_nothing_and_nothing_that_became_a_type_show_a_value() {
    for (path, id) in [
        ("/flows/ticket.refund/output/type", "FXD003"),
        ("/flows/ticket.refund/input/type", "FXD002"),
    ] {
        let mut after = base();
        crate::patch::apply(&mut after, path, &Json::from("()"));
        let (with, without) = (manifest(&base()), manifest(&after));
        for (old, new) in [(&with, &without), (&without, &with)] {
            let report = diff(old, new, &DiffOptions::default());
            let finding = report.findings.iter().find(|f| f.id == id);
            let finding = finding.unwrap_or_else(|| panic!("{id} in {:?}", report.findings));
            assert!(finding.witness.is_some(), "{finding:?}");
        }
    }
}

#[test]
fn no_two_schemas_break_without_a_value_that_shows_it() {
    let mut runner = TestRunner::deterministic();
    for strategy in [
        crate::soundness::pair().boxed(),
        crate::properties::pair().boxed(),
    ] {
        let mut shown = 0;
        for _ in 0..400 {
            let (old, new) = strategy.new_tree(&mut runner).expect("a pair").current();
            for direction in [Direction::Request, Direction::Response] {
                let verdict = check(&old, &new, direction, Budget { steps: 100_000 });
                let Verdict::Not { witness, .. } = verdict else {
                    continue;
                };
                let what = format!("{direction:?}\n{old}\n{new}");
                let witness = witness.unwrap_or_else(|| panic!("nothing is shown: {what}"));
                let (writes, reads) = match direction {
                    Direction::Request => (&old, &new),
                    Direction::Response => (&new, &old),
                };
                shows(writes, reads, &witness, &what);
                shown += 1;
            }
        }
        assert!(shown > 200, "{shown}");
    }
}

#[test]
fn a_limit_that_follows_from_another_word_is_no_break() {
    // One character is one character, whatever the limit beside it says.
    let (old, new) = (
        json(r#"{"type":"string","pattern":"^.$","maxLength":3}"#),
        json(r#"{"type":"string","pattern":"^.$","maxLength":4}"#),
    );
    let verdict = check(&old, &new, Direction::Response, Budget::default());
    assert!(matches!(verdict, Verdict::Undecided { .. }), "{verdict:?}");
}

#[test]
fn a_long_value_is_shown_and_one_that_nobody_reads_is_only_known() {
    let limits = |key: &str, more: &str, n: u32| json(&format!(r#"{{"{key}":{n}{more}}}"#));
    for (key, more, old, new, told) in [
        ("maxLength", r#","type":"string""#, 5000, 2000, true),
        ("maxLength", r#","type":"string""#, 900_000, 800_000, false),
        ("maxItems", r#","type":"array""#, 5000, 2000, true),
        ("maxItems", r#","type":"array""#, 60_000, 50_000, false),
        ("minItems", r#","type":"array""#, 2000, 3000, true),
    ] {
        let (old, new) = (limits(key, more, old), limits(key, more, new));
        match check(&old, &new, Direction::Request, Budget::default()) {
            Verdict::Not { witness, .. } => assert_eq!(witness.is_some(), told, "{old} {new}"),
            verdict => panic!("{old} {new}: {verdict:?}"),
        }
    }
}

/// Each of these once took for ever: what bounds one repetition, array or alternative bounds nothing when they stand inside one
/// another.
#[test]
fn values_are_made_with_bounded_work() {
    let nested = |levels: usize| {
        let open = r#"{"type":"array","minItems":1000,"items":"#.repeat(levels);
        format!("{open}{{\"type\":\"integer\"}}{}", "}".repeat(levels))
    };
    let way_out_of_nowhere = {
        let alternatives: Vec<String> = (0..6)
            .map(|i| format!(r##"{{"type":"array","minItems":1,"maxItems":{},"items":{{"$ref":"#/$defs/a"}}}}"##, i + 2))
            .collect();
        format!(
            r##"{{"$ref":"#/$defs/a","$defs":{{"a":{{"anyOf":[{}]}}}}}}"##,
            alternatives.join(",")
        )
    };
    let unique = r#"{"type":"array","uniqueItems":true,"minItems":30,"items":{"type":"array","uniqueItems":true,"minItems":30,"items":{"type":"array","uniqueItems":true,"minItems":30,"items":{"enum":[1,2,3]}}}}"#;
    for text in [
        r#"{"type":"string","pattern":"^(b**********)++(a{0,200}){0,200}$"}"#.to_owned(),
        nested(6),
        way_out_of_nowhere,
        unique.to_owned(),
        r#"{"type":"number","multipleOf":1,"minimum":170141183460469231731687303715884105727}"#
            .to_owned(),
        r#"{"type":"string","minLength":18446744073709551615}"#.to_owned(),
    ] {
        let (schema, open) = (json(&text), json("{}"));
        for direction in [Direction::Request, Direction::Response] {
            let _ = check(&schema, &json("false"), direction, Budget::default());
            let _ = check(&open, &schema, direction, Budget::default());
        }
        let _ = flowx_diff::sample::values(&schema, 7, 16);
    }
}
