//! Forty edits of one tool, as other tools were measured on them (docs/comparison.md): right on all.

use flowx_diff::{Class, DiffOptions, Report, Surface, diff_surfaces, from_tools_list};
use flowx_manifest::Json;

use crate::{base, file, json, manifest};

fn surface(tools: &Json) -> Surface {
    Surface::Tools(from_tools_list(tools.to_canonical().as_bytes()).expect("a list of tools"))
}

fn run(old: &Json, new: &Json) -> Report {
    diff_surfaces(&surface(old), &surface(new), &DiffOptions::default())
}

/// Whether the report is what somebody who gates on it needs: breaking edits fail, safe ones pass, and what is worth a
/// look is told.
fn right(want: &str, report: &Report) -> bool {
    let fails = report.fails(&flowx_diff::DEFAULT_FAIL_ON);
    match want {
        "none" => report.findings.is_empty(),
        "safe" => !fails,
        "notice" => {
            !report.findings.is_empty()
                && report.findings.iter().all(|f| f.class != Class::Breaking)
        }
        "breaking" => {
            report
                .findings
                .iter()
                .any(|f| f.class == Class::Breaking || f.id == "FXD079")
                && fails
        }
        "effect" | "permission" => report.findings.iter().any(|f| f.class == Class::Security),
        other => panic!("unknown wish {other}"),
    }
}

#[test]
fn forty_edits_are_all_judged_rightly() {
    let edits = json(&file("fixtures/edits.json"));
    let edits = edits.as_array().expect("a list");
    assert_eq!(edits.len(), 40);
    let mut wrong = Vec::new();
    for edit in edits {
        let text = |k: &str| edit.get(k).and_then(Json::as_str).expect("a text");
        let report = run(edit.get("old").expect("old"), edit.get("new").expect("new"));
        if !right(text("want"), &report) {
            wrong.push(format!(
                "{}: wanted {}, got {:#?}",
                text("edit"),
                text("want"),
                report.findings
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_edit_is_one_finding() {
    let edits = json(&file("fixtures/edits.json"));
    for edit in edits.as_array().expect("a list") {
        let name = edit.get("edit").and_then(Json::as_str).expect("a name");
        let report = run(edit.get("old").expect("old"), edit.get("new").expect("new"));
        // Removing all annotations takes three facts away at once: their defaults are the other way round.
        let most = if name.starts_with("26") { 4 } else { 1 };
        assert!(
            report.findings.len() <= most,
            "{name}: {:#?}",
            report.findings
        );
    }
}

#[test]
fn a_rename_of_a_tool_or_of_an_argument_is_one_joined_finding() {
    let edits = json(&file("fixtures/edits.json"));
    for (number, id) in [("30", "FXD034"), ("40", "FXD042")] {
        let edit = edits.as_array().expect("a list").iter().find(|e| {
            e.get("edit")
                .and_then(Json::as_str)
                .is_some_and(|n| n.starts_with(number))
        });
        let edit = edit.expect("the edit");
        let report = run(edit.get("old").expect("old"), edit.get("new").expect("new"));
        assert_eq!(
            report
                .findings
                .iter()
                .map(|f| (f.id, f.class))
                .collect::<Vec<_>>(),
            [(id, Class::Breaking)]
        );
    }
}

#[test]
fn a_list_is_read_from_whatever_wraps_it() {
    let tool = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
    for text in [
        format!(r#"{{"tools":[{tool}]}}"#),
        format!(r#"[{tool}]"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tool}]}}}}"#),
        format!(r#"[{{"tools":[{tool}]}},{{"result":{{"tools":[]}}}}]"#),
    ] {
        let list = from_tools_list(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(list.tools.len(), 1, "{text}");
    }
    for text in [
        "{}",
        "3",
        r#"{"tools":[{}]}"#,
        r#"{"tools":3}"#,
        "",
        r#"{"tools":[{"name":"a","name":"b"}]}"#,
    ] {
        assert!(from_tools_list(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn an_output_schema_that_comes_is_more_and_one_that_goes_is_less() {
    let (with, without) = (
        json(r#"[{"name":"a","inputSchema":{},"outputSchema":{"type":"object"}}]"#),
        json(r#"[{"name":"a","inputSchema":{}}]"#),
    );
    let ids = |r: Report| r.findings.iter().map(|f| f.id).collect::<Vec<_>>();
    assert_eq!(ids(run(&without, &with)), ["FXD114"]);
    assert_eq!(ids(run(&with, &without)), ["FXD064"]);
    assert_eq!(ids(run(&with, &with)), Vec::<&str>::new());
}

#[test]
fn a_missing_hint_is_what_the_standard_says_it_is() {
    let bare = json(r#"[{"name":"a","inputSchema":{}}]"#);
    let spelled = json(
        r#"[{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}]"#,
    );
    assert_eq!(run(&bare, &spelled).findings, []);
}

#[test]
fn a_manifest_and_a_running_server_are_compared_by_their_tools() {
    let manifest = Surface::Manifest(Box::new(manifest(&base())));
    let served = Surface::Tools(manifest.to_tools());
    let report = diff_surfaces(&manifest, &served, &DiffOptions::default());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(matches!(
        Surface::read(base().to_canonical().as_bytes()),
        Ok(Surface::Manifest(_))
    ));
}
