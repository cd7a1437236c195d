//! The formats for editors and CI systems, each read back by the rules of whoever reads it.
#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;
use serde_json::Value;

/// A crate with a finding of every class, and hostile text in what it publishes.
fn changed() -> Sandbox {
    let sandbox = Sandbox::desk();
    sandbox.edit(
        "src/main.rs",
        "pub amount_cents: u64",
        "pub amount_cents: u32",
    );
    sandbox.edit(
        "src/main.rs",
        "authorization = permission(\"payment.refund\")",
        "authorization = authenticated",
    );
    sandbox.edit(
        "src/main.rs",
        "/// Find tickets.",
        "/// Find <b>tickets</b> @everyone `x` %0A::error:: ]]> & \"that\".",
    );
    sandbox
}

#[test]
fn sarif_is_valid_against_the_published_schema() {
    // The schema ships in a package that is fetched and never built; see Cargo.toml.
    let output = std::process::Command::new("cargo")
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let package = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["name"] == "serde-sarif")
        .unwrap();
    let folder = std::path::Path::new(package["manifest_path"].as_str().unwrap())
        .parent()
        .unwrap()
        .join("src/schema.json");
    let text = std::fs::read_to_string(folder).unwrap();
    // One pattern of the published schema has a bracket too many, which makes it no pattern at all.
    let schema: Value = serde_json::from_str(&text.replace("{2}]?$", "{2}$")).unwrap();
    assert!(
        schema["id"]
            .as_str()
            .or(schema["$id"].as_str())
            .unwrap()
            .contains("sarif"),
        "not the schema of SARIF"
    );
    let validator = jsonschema::validator_for(&schema).unwrap();
    let sandbox = changed();
    sandbox.write("flowx-allow.toml", "[[allow]]\nrule = \"FXD014\"\nsubject = \"capability payment.refund@1\"\nreason = \"agreed\"\n");
    let diff = sandbox
        .flowx(&["diff", "git:HEAD", "--format", "sarif"])
        .exits(1)
        .json();
    sandbox.edit("src/main.rs", "never(issue_refund)", "never(isue_refund)");
    let check = sandbox
        .flowx(&["check", "--format", "sarif"])
        .exits(1)
        .json();
    for document in [&diff, &check] {
        let errors: Vec<String> = validator
            .iter_errors(document)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let rules = document["runs"][0]["tool"]["driver"]["rules"]
            .as_array()
            .unwrap();
        for result in document["runs"][0]["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(
                rules[index]["help"]["text"]
                    .as_str()
                    .is_some_and(|t| !t.is_empty()),
                "{result:#}"
            );
        }
    }
    let suppressed = diff["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r.get("suppressions").is_some())
        .count();
    assert_eq!(suppressed, 1);
    // The guard is one that can fail.
    let mut broken = diff;
    broken["version"] = "2.0".into();
    assert!(!validator.is_valid(&broken));
}

#[test]
fn github_annotations_are_one_command_a_line_whatever_the_text() {
    let run = changed()
        .flowx(&["diff", "git:HEAD", "--format", "github"])
        .exits(1);
    assert!(run.stdout.lines().count() >= 3);
    for line in run.stdout.lines() {
        let (command, text) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (name, properties) = command.split_once(' ').unwrap();
        assert!(["error", "warning", "notice"].contains(&name), "{line}");
        assert!(
            properties.split(',').all(|p| p.split_once('=').is_some()),
            "{line}"
        );
        assert!(!text.contains('\u{202e}'), "{line}");
    }
    // A percent sign of ours is no escape of theirs.
    assert!(run.stdout.contains("%250A"), "{}", run.stdout);
    assert!(
        run.stdout.contains("::error file=src/main.rs,line="),
        "{}",
        run.stdout
    );
}

/// The text without its code spans, by CommonMark's rule: a run of backticks ends at the next run of the same length, and a
/// backtick behind a backslash is none.
fn without_code(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        if rest[..at].ends_with('\\') {
            rest = &rest[at + 1..];
            continue;
        }
        let run = rest[at..].bytes().take_while(|b| *b == b'`').count();
        let fence = "`".repeat(run);
        let body = &rest[at + run..];
        let end = body
            .match_indices(&fence)
            .map(|(end, _)| end)
            .find(|end| !body[..*end].ends_with('`') && !body[end + run..].starts_with('`'));
        rest = end.map_or("", |end| &body[end + run..]);
    }
    out + rest
}

#[test]
fn markdown_holds_hostile_text_as_text() {
    let run = changed()
        .flowx(&["diff", "git:HEAD", "--format", "markdown"])
        .exits(1);
    assert!(run.stdout.starts_with("### flowx diff\n"));
    let outside_of_code = without_code(&run.stdout);
    assert!(
        !outside_of_code.contains("<b>") && !outside_of_code.contains("@everyone"),
        "{outside_of_code}"
    );
    assert!(!run.stdout.contains('\u{202e}'));
}

#[test]
fn junit_is_well_formed_and_counts_what_fails() {
    let sandbox = changed();
    let text = sandbox
        .flowx(&["diff", "git:HEAD", "--format", "junit"])
        .exits(1)
        .stdout;
    let (mut open, mut failures, mut tests) = (Vec::new(), 0, 0);
    let mut rest = text.as_str();
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains(['>', '\u{0}']), "{}", &rest[..at]);
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/'])
            .next()
            .unwrap();
        match tag {
            tag if tag.starts_with('?') => {}
            tag if tag.starts_with('/') => assert_eq!(open.pop(), Some(name), "{tag}"),
            tag => {
                assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
                failures += usize::from(name == "failure");
                tests += usize::from(name == "testcase");
                if !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(failures > 0 && tests > failures);
    assert!(
        text.contains(&format!("tests=\"{tests}\" failures=\"{failures}\"")),
        "{text}"
    );
    // Nothing found is one test that passed, since an empty report looks like one that was never made.
    let clean = Sandbox::desk()
        .flowx(&["check", "--format", "junit"])
        .ok()
        .stdout;
    assert!(clean.contains("tests=\"1\" failures=\"0\""), "{clean}");
}

#[test]
fn a_terminal_is_shown_no_control_or_bidirectional_characters() {
    let sandbox = changed();
    sandbox.write("tools.json", "{\"tools\":[{\"name\":\"a\",\"description\":\"\\u001b[2J\\u202e x\",\"inputSchema\":{\"type\":\"object\"}}]}");
    sandbox.write("none.json", "{\"tools\":[]}");
    for args in [
        &["diff", "git:HEAD"][..],
        &["diff", "none.json", "tools.json"],
        &["show", "tools.json"],
        &["show", "tools.json", "a"],
    ] {
        let run = sandbox.flowx(args);
        let hidden: Vec<char> = run
            .stdout
            .chars()
            .filter(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c))
            .collect();
        assert!(hidden.is_empty(), "{args:?}: {hidden:?}\n{}", run.stdout);
    }
}

#[test]
fn colour_is_used_when_asked_for_and_only_then() {
    let sandbox = changed();
    let coloured = |args: &[&str], env: &[(&str, &str)]| {
        let mut all = vec!["diff", "git:HEAD"];
        all.extend(args);
        sandbox
            .flowx_with("", &all, "", env)
            .stdout
            .contains("\u{1b}[")
    };
    assert!(!coloured(&[], &[]));
    assert!(coloured(&["--color", "always"], &[]));
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(
        &[],
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
    ));
}

#[test]
fn a_finding_shows_its_line_with_a_mark_under_it() {
    let sandbox = Sandbox::desk();
    sandbox.edit("src/main.rs", "never(issue_refund)", "never(isue_refund)");
    let run = sandbox.flowx(&["check"]).exits(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    let source = lines
        .iter()
        .position(|line| line.contains("never(isue_refund)"))
        .unwrap_or_else(|| panic!("{}", run.stdout));
    let column = lines[source].find("isue_refund").unwrap();
    assert_eq!(lines[source + 1].find('^'), Some(column), "{}", run.stdout);
}
