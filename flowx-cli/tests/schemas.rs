//! The published schemas of the command's JSON documents: fresh, met by what the command writes, and not by what it does not.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Sandbox, documents, schema_errors};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn schema<T: JsonSchema>(file: &str) -> String {
    let mut schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
    schema["$id"] = json!(format!("https://flowx.dev/schemas/{file}"));
    format!("{schema:#}\n")
}

#[test]
fn the_published_schemas_are_fresh() {
    let all = [
        (
            "flowx.check.schema.json",
            schema::<documents::Check> as fn(&str) -> String,
        ),
        ("flowx.diff.schema.json", schema::<documents::Diff>),
        ("flowx.diffs.schema.json", schema::<documents::Diffs>),
        ("flowx.review.schema.json", schema::<documents::Review>),
        ("flowx.rules.schema.json", schema::<documents::Rules>),
        (
            "flowx.audit-verify.schema.json",
            schema::<documents::AuditVerify>,
        ),
    ];
    for (file, generate) in all {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../schemas")
            .join(file);
        let fresh = generate(file);
        if std::env::var_os("FLOWX_BLESS").is_some() {
            std::fs::write(&path, &fresh).unwrap();
        }
        let published = std::fs::read_to_string(&path)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        assert_eq!(
            published, fresh,
            "schemas/{file} is stale: run with FLOWX_BLESS=1 and commit what changed"
        );
    }
}

/// The document satisfies the schema and the type that it was generated from.
#[track_caller]
fn meets<T: DeserializeOwned>(schema: &str, document: &Value) -> T {
    let errors = schema_errors(schema, document);
    assert!(errors.is_empty(), "{schema}: {errors:#?}\n{document:#}");
    serde_json::from_value(document.clone()).unwrap()
}

#[test]
fn what_check_writes_meets_its_schema() {
    let sandbox = Sandbox::desk();
    let clean: documents::Check = meets(
        "flowx.check.schema.json",
        &sandbox.flowx(&["check", "--format", "json"]).ok().json(),
    );
    assert!(clean.findings.is_empty());
    sandbox.edit("src/main.rs", "never(issue_refund)", "never(isue_refund)");
    let run = sandbox.flowx(&["check", "--format", "json"]).exits(1);
    let broken: documents::Check = meets("flowx.check.schema.json", &run.json());
    assert!(
        broken
            .findings
            .iter()
            .any(|f| f.severity == documents::Severity::Error
                && f.file == "src/main.rs"
                && f.line > 0)
    );
}

#[test]
fn what_diff_writes_meets_its_schema() {
    let sandbox = Sandbox::desk();
    let same: documents::Diff = meets(
        "flowx.diff.schema.json",
        &sandbox
            .flowx(&["diff", "git:HEAD", "--format", "json"])
            .ok()
            .json(),
    );
    assert!(same.findings.is_empty());
    assert_eq!(
        (same.verdict, same.required_bump),
        (documents::Verdict::Compatible, documents::Bump::None)
    );
    sandbox.edit(
        "src/main.rs",
        "pub amount_cents: u64",
        "pub amount_cents: u32",
    );
    sandbox.write("flowx-allow.toml", "[[allow]]\nrule = \"FXD001\"\nsubject = \"flow nothing@1\"\nreason = \"it was asked for\"\n");
    let run = sandbox
        .flowx(&["diff", "git:HEAD", "--format", "json"])
        .exits(1);
    let broken: documents::Diff = meets("flowx.diff.schema.json", &run.json());
    assert_eq!(broken.verdict, documents::Verdict::Breaking);
    assert!(
        broken
            .findings
            .iter()
            .any(|f| f.class == documents::Class::Breaking && f.witness.is_some())
    );
    assert_eq!(broken.allowance_errors.len(), 1);
    sandbox.git(&["tag", "v1.2.0"]);
    let run = sandbox
        .flowx(&["diff", "--since-all-tags", "v*", "--format", "json"])
        .exits(1);
    let all: documents::Diffs = meets("flowx.diffs.schema.json", &run.json());
    assert_eq!(all.reports.len(), 1);
}

#[test]
fn what_review_rules_and_explain_write_meets_their_schemas() {
    let sandbox = Sandbox::desk();
    sandbox.edit("src/main.rs", "timeout = \"PT2S\"", "timeout = \"PT90S\"");
    let run = sandbox.flowx(&["review", "--format", "json"]).exits(1);
    let review: documents::Review = meets("flowx.review.schema.json", &run.json());
    assert!(!review.findings.is_empty());
    let rules: documents::Rules = meets(
        "flowx.rules.schema.json",
        &sandbox.flowx(&["rules", "--format", "json"]).ok().json(),
    );
    for rule in &rules.rules {
        let one = sandbox
            .flowx(&["explain", &rule.id, "--format", "json"])
            .ok()
            .json();
        let one: documents::Rule = serde_json::from_value(one).unwrap();
        assert_eq!((one.id, one.doc), (rule.id.clone(), rule.doc.clone()));
        assert!(
            rule.doc.trim_start().starts_with("# ") && !rule.title.starts_with('#'),
            "{}: {}",
            rule.id,
            rule.title
        );
    }
    assert!(rules.rules.len() > 50, "only {} rules", rules.rules.len());
}

#[test]
fn a_schema_refuses_what_the_command_does_not_write() {
    let good = json!({ "schemaVersion": "1.0.0", "findings": [] });
    assert!(schema_errors("flowx.check.schema.json", &good).is_empty());
    for bad in [
        json!({ "findings": [] }),
        json!({ "schemaVersion": "1.0.0", "findings": [{}] }),
        json!({ "schemaVersion": "1.0.0", "findings": [], "more": 1 }),
    ] {
        assert!(
            !schema_errors("flowx.check.schema.json", &bad).is_empty(),
            "{bad}"
        );
    }
}
