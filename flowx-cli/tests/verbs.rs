//! What the verbs print, where, and with which exit code.
#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;

#[test]
fn a_fresh_manifest_passes_and_a_stale_or_missing_one_exits_with_4() {
    let sandbox = Sandbox::desk();
    sandbox.flowx(&["manifest", "--check"]).ok();
    sandbox.edit("src/main.rs", "owner = \"support\"", "owner = \"billing\"");
    sandbox
        .flowx(&["manifest", "--check"])
        .refused(4, "flowx manifest --write");
    sandbox.flowx(&["manifest", "--write"]).ok();
    sandbox.flowx(&["manifest", "--check"]).ok();
    std::fs::remove_file(sandbox.path("flowx.manifest.json")).unwrap();
    sandbox
        .flowx(&["manifest", "--check"])
        .refused(4, "missing");
}

#[test]
fn line_ends_of_a_checkout_do_not_make_a_manifest_stale() {
    let sandbox = Sandbox::desk();
    let unix = sandbox.read("flowx.manifest.json");
    sandbox.write("flowx.manifest.json", &unix.replace('\n', "\r\n"));
    sandbox.write("src/main.rs", &common::DESK.replace('\n', "\r\n"));
    sandbox.flowx(&["manifest", "--check"]).ok();
    assert_eq!(sandbox.flowx(&["manifest"]).ok().stdout, unix);
}

#[test]
fn printing_writing_and_checking_give_the_same_bytes() {
    let sandbox = Sandbox::desk();
    let printed = sandbox.flowx(&["manifest"]).ok();
    assert_eq!(printed.stdout, sandbox.read("flowx.manifest.json"));
    assert!(printed.stderr.is_empty(), "{}", printed.stderr);
    sandbox.flowx(&["manifest", "--out", "copy.json"]).ok();
    assert_eq!(printed.stdout, sandbox.read("copy.json"));
    let pretty = sandbox.flowx(&["manifest", "--pretty"]).ok();
    assert_ne!(pretty.stdout, printed.stdout);
    assert_eq!(pretty.json(), printed.json());
    let errors = common::schema_errors("flowx.manifest.schema.json", &printed.json());
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn the_fail_level_decides_the_exit_code_and_nothing_else() {
    let sandbox = Sandbox::desk();
    sandbox.edit("src/main.rs", "owner = \"support\"", "owner = \"billing\"");
    let neutral = sandbox.flowx(&["diff", "git:HEAD"]).ok();
    assert!(
        neutral.stdout.contains("needs a patch version"),
        "{}",
        neutral.stdout
    );
    assert!(!neutral.stdout.is_empty());
    let strict = sandbox
        .flowx(&["diff", "git:HEAD", "--fail-on", "neutral,breaking"])
        .exits(1);
    assert_eq!(neutral.stdout, strict.stdout);
    sandbox.edit(
        "src/main.rs",
        "pub amount_cents: u64",
        "pub amount_cents: u32",
    );
    sandbox.flowx(&["diff", "git:HEAD"]).exits(1);
    sandbox
        .flowx(&["diff", "git:HEAD", "--fail-on", "none"])
        .ok();
    sandbox
        .flowx(&["diff", "git:HEAD", "--fail-on", "security"])
        .ok();
    sandbox
        .flowx(&["diff", "git:HEAD", "--fail-on", "braking"])
        .refused(2, "braking");
    sandbox
        .flowx(&["check", "--fail-on", "breaking"])
        .refused(2, "error, warning, note");
}

#[test]
fn usage_errors_exit_with_2_and_say_nothing_on_standard_output() {
    let sandbox = Sandbox::desk();
    for args in [
        &["dif", "git:HEAD"][..],
        &["diff"],
        &["diff", "git:HEAD", "git:HEAD", "git:HEAD"],
        &["manifest", "--write", "--check"],
        &["manifest", "--format", "json"],
        &["check", "--format", "svg"],
        &["graph", "--format", "junit"],
        &["explain", "FLOWX0000"],
        &["proposals", "list"],
        &[
            "proposals",
            "reject",
            "x",
            "--server",
            "http://127.0.0.1:9",
            "--reason",
            " ",
        ],
        &["--nonsense"],
        &[],
    ] {
        sandbox.flowx(args).refused(2, "");
    }
    sandbox.flowx(&["--help"]).ok();
    assert!(
        sandbox
            .flowx(&["--version"])
            .ok()
            .stdout
            .starts_with("flowx ")
    );
}

#[test]
fn cargo_flowx_is_the_same_command() {
    let sandbox = Sandbox::desk();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-flowx"))
        .args(["flowx", "manifest"])
        .current_dir(sandbox.root())
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        sandbox.read("flowx.manifest.json")
    );
}

#[test]
fn an_allowance_covers_exactly_what_it_names() {
    let sandbox = Sandbox::desk();
    sandbox.edit(
        "src/main.rs",
        "pub amount_cents: u64",
        "pub amount_cents: u32",
    );
    let report = sandbox
        .flowx(&["diff", "git:HEAD", "--format", "json"])
        .exits(1)
        .json();
    let breaking: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["class"] == "breaking")
        .collect();
    let allow: String = breaking
        .iter()
        .map(|f| format!("[[allow]]\nrule = {}\nsubject = {}\npointer = {}\nreason = \"agreed\"\nowner = \"us\"\n\n", f["id"], f["subject"], f["pointer"]))
        .collect();
    sandbox.write("flowx-allow.toml", &allow);
    let run = sandbox.flowx(&["diff", "git:HEAD"]).ok();
    assert!(run.stdout.contains("(allowed)"), "{}", run.stdout);
    // The change brings its own permission along; that is said, and can be refused.
    assert!(
        run.stdout
            .contains("the allowance arrives in the same change"),
        "{}",
        run.stdout
    );
    sandbox
        .flowx(&["diff", "git:HEAD", "--allow-from-base"])
        .exits(1);
    // Once it is on the base it is no news.
    let code = sandbox.read("src/main.rs");
    sandbox.write("src/main.rs", common::DESK);
    sandbox.commit("allow first");
    sandbox.write("src/main.rs", &code);
    let run = sandbox
        .flowx(&["diff", "git:HEAD", "--allow-from-base"])
        .ok();
    assert!(!run.stdout.contains("arrives in the same change"));
    sandbox
        .flowx(&["diff", "git:HEAD", "--allow", "git:HEAD:flowx-allow.toml"])
        .ok();
    sandbox
        .flowx(&["diff", "git:HEAD", "--allow", "missing.toml"])
        .refused(3, "missing.toml");
    for (broken, code) in [("[[allow]]\nrul = 1\n", 3), ("not toml", 3)] {
        sandbox.write("flowx-allow.toml", broken);
        sandbox
            .flowx(&["diff", "git:HEAD"])
            .refused(code, "flowx-allow.toml");
    }
    // An allowance that is wrong itself fails, even where everything else is fine.
    sandbox.write(
        "flowx-allow.toml",
        &allow.replace("reason = \"agreed\"", "reason = \"\""),
    );
    let run = sandbox.flowx(&["diff", "git:HEAD"]).exits(1);
    assert!(run.stdout.contains("FXA001"), "{}", run.stdout);
    // That is about the file and not about a class of changes, so no fail level takes it out.
    sandbox
        .flowx(&["diff", "git:HEAD", "--fail-on", "none"])
        .exits(1);
}

#[test]
fn check_and_review_mind_their_own_allowances_and_leave_the_rest_to_the_other_verbs() {
    let sandbox = Sandbox::desk();
    sandbox.edit(
        "src/main.rs",
        "authorization = authenticated, idempotent",
        "authorization = authenticated, effects(Ledger), idempotent",
    );
    sandbox.edit("src/main.rs", "http(GET, ", "http(POST, ");
    sandbox.edit(
        "src/main.rs",
        "owner = \"support\", deadline = \"PT5S\"",
        "deadline = \"PT5S\"",
    );
    for verb in ["check", "review"] {
        let args = [verb, "--fail-on", "note"];
        sandbox.write("flowx-allow.toml", "");
        let report = sandbox
            .flowx(&[&args[..], &["--format", "json"]].concat())
            .exits(1)
            .json();
        let findings = report["findings"].as_array().unwrap();
        assert!(!findings.is_empty(), "{verb}");
        let entry = |rule: &str, subject: &str| {
            format!("[[allow]]\nrule = {rule:?}\nsubject = {subject:?}\nreason = \"agreed\"\n\n")
        };
        let allow: String = findings
            .iter()
            .map(|f| {
                entry(
                    f["id"].as_str().unwrap(),
                    f["subject"].as_str().unwrap_or(""),
                )
            })
            .collect();
        sandbox.write("flowx-allow.toml", &allow);
        let run = sandbox.flowx(&args).ok();
        assert!(run.stdout.contains("(allowed)"), "{}", run.stdout);
        // The same file serves every verb: none calls another's entry stale.
        let diff = sandbox.flowx(&["diff", "git:HEAD", "--fail-on", "none"]);
        assert!(!diff.stdout.contains("FXA"), "{}", diff.stdout);
        let own = if verb == "check" { "FLOWX" } else { "ai." };
        let stale = entry(findings[0]["id"].as_str().unwrap(), "flow never.was@1");
        let unknown = entry(&format!("{own}9999"), "flow never.was@1");
        let reasonless = allow.replace("agreed", " ");
        for (text, id) in [
            (allow.clone() + &stale, "FXA003"),
            (allow.clone() + &unknown, "FXA004"),
            (reasonless, "FXA001"),
        ] {
            sandbox.write("flowx-allow.toml", &text);
            let run = sandbox.flowx(&args).exits(1);
            assert!(run.stdout.contains(id), "{verb} {id}: {}", run.stdout);
        }
        sandbox
            .flowx(&[&args[..], &["--allow", "missing.toml"]].concat())
            .refused(3, "missing.toml");
        sandbox.write("flowx-allow.toml", "not toml");
        sandbox.flowx(&args).refused(3, "flowx-allow.toml");
    }
}

#[test]
fn show_finds_entries_and_says_what_was_meant() {
    let sandbox = Sandbox::desk();
    let table = sandbox.flowx(&["show"]).ok().stdout;
    for word in [
        "ticket.refund@1.0.0",
        "ticket_refund",
        "payment-gateway",
        "spends",
        "desk-bot",
        "payment.refund",
    ] {
        assert!(table.contains(word), "{word} is not in:\n{table}");
    }
    assert!(
        sandbox
            .flowx(&["show", "ticket.refund"])
            .ok()
            .stdout
            .contains("src/main.rs:")
    );
    for id in [
        "ticket.refund@1",
        "ticket.refund@1.0.0",
        "ticket_refund",
        "crate::IssueRefund",
    ] {
        sandbox.flowx(&["show", id]).ok();
    }
    sandbox
        .flowx(&["show", "flowx.manifest.json", "ledger"])
        .ok();
    sandbox
        .flowx(&["show", "ticket.refnud"])
        .refused(3, "did you mean ticket.refund");
    assert_eq!(
        sandbox.flowx(&["show", "--format", "json"]).ok().stdout,
        sandbox.read("flowx.manifest.json")
    );
}

#[test]
fn explain_shows_a_page_and_suggests_the_nearest_rule() {
    let sandbox = Sandbox::empty();
    let page = sandbox.flowx(&["explain", "fxd014"]).ok().stdout;
    assert!(page.starts_with('#'), "{page}");
    sandbox
        .flowx(&["explain", "FXD0144"])
        .refused(2, "did you mean FXD014");
}

#[test]
fn generated_files_are_what_is_printed_and_never_overwrite() {
    let sandbox = Sandbox::desk();
    for what in ["mcp", "openapi", "skill", "docs"] {
        let printed = sandbox.flowx(&["generate", what]).ok().stdout;
        sandbox.flowx(&["generate", what, "--out", "made"]).ok();
        assert_eq!(printed, sandbox.read("made"), "{what}");
        sandbox.write("made", "mine");
        let refused = sandbox.flowx(&["generate", what, "--out", "made"]).exits(3);
        assert!(refused.stderr.contains("--force"));
        assert_eq!(sandbox.read("made"), "mine");
        sandbox
            .flowx(&["generate", what, "--out", "made", "--force"])
            .ok();
        assert_eq!(printed, sandbox.read("made"), "{what}");
        std::fs::remove_file(sandbox.path("made")).unwrap();
    }
}

#[test]
fn a_committed_manifest_that_is_no_text_is_stale_and_is_mended() {
    let sandbox = Sandbox::desk();
    let fresh = sandbox.read("flowx.manifest.json");
    for broken in [&b"\xff\xfe\x00"[..], b"", b"{}"] {
        std::fs::write(sandbox.path("flowx.manifest.json"), broken).unwrap();
        sandbox
            .flowx(&["manifest", "--check"])
            .refused(4, "flowx manifest --write");
        sandbox.flowx(&["manifest", "--write"]).ok();
        assert_eq!(sandbox.read("flowx.manifest.json"), fresh);
    }
}

#[test]
fn quiet_says_nothing_but_errors_and_findings() {
    let sandbox = Sandbox::desk();
    let run = sandbox.flowx(&["manifest", "--check"]).ok();
    assert!(run.stderr.contains("is fresh"));
    let run = sandbox.flowx(&["manifest", "--check", "--quiet"]).ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    sandbox.edit("src/main.rs", "u64", "u32");
    assert_eq!(
        sandbox.flowx(&["diff", "git:HEAD", "-q"]).exits(1).stdout,
        sandbox.flowx(&["diff", "git:HEAD"]).exits(1).stdout
    );
    let run = sandbox.flowx(&["manifest", "--check", "-q"]).exits(4);
    assert!(run.stderr.contains("error:"), "{}", run.stderr);
}

#[test]
fn descriptions_in_the_reference_are_text_and_nothing_else() {
    let sandbox = Sandbox::desk();
    sandbox.edit(
        "src/main.rs",
        "/// Pays.",
        "/// # Big <script>alert(1)</script>\n///\n/// [click](https://evil.example) ![i](https://evil.example/x.png)\n///\n/// - See `ticket.find`, https://evil.example and @all.",
    );
    let docs = sandbox.flowx(&["generate", "docs"]).ok().stdout;
    for live in [
        "<script", "\n[click", "https://", "\n# Big", "\n- See", "@all",
    ] {
        assert!(!docs.contains(live), "{live:?} in\n{docs}");
    }
    assert!(docs.contains("`ticket.find`"), "{docs}");
    assert!(docs.contains("alert(1)"), "{docs}");
}

#[test]
fn the_tool_list_is_made_of_the_manifests_own_bytes() {
    let sandbox = Sandbox::desk();
    let list = sandbox.flowx(&["generate", "mcp"]).ok().stdout;
    let manifest = sandbox.read("flowx.manifest.json");
    let tools =
        &manifest[manifest.find("\"tools\":[\n").unwrap() + 10..manifest.rfind("\n]").unwrap()];
    let lines: Vec<&str> = tools.split(",\n").collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(list, format!("{{\"tools\":[{}]}}\n", lines.join(",")));
}

#[test]
fn the_openapi_document_resolves_and_tells_what_a_call_can_meet() {
    let sandbox = Sandbox::desk();
    let document = sandbox.flowx(&["generate", "openapi"]).ok().json();
    let post = &document["paths"]["/api/v1/refunds"]["post"];
    assert_eq!(
        post["requestBody"]["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/IssueRefund"
    );
    for status in ["200", "400", "401", "403", "409", "422", "504"] {
        assert!(
            post["responses"].get(status).is_some(),
            "no {status} in {post:#}"
        );
    }
    let get = &document["paths"]["/api/v1/tickets/{ticket_id}"]["get"];
    let places: Vec<(&str, &str)> = get["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["name"].as_str().unwrap(), p["in"].as_str().unwrap()))
        .collect();
    assert_eq!(places, [("ticket_id", "path"), ("amount_cents", "query")]);
    assert!(get["responses"].get("403").is_none());
    // Every reference leads somewhere.
    fn references<'a>(value: &'a serde_json::Value, out: &mut Vec<&'a str>) {
        match value {
            serde_json::Value::Object(map) => {
                map.iter().for_each(|(key, value)| match value.as_str() {
                    Some(text) if key == "$ref" => out.push(text),
                    _ => references(value, out),
                })
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| references(item, out)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    references(&document, &mut all);
    assert!(!all.is_empty());
    for reference in all {
        assert!(
            document
                .pointer(reference.trim_start_matches('#'))
                .is_some(),
            "{reference}"
        );
    }
}

#[test]
fn the_skill_has_the_heading_that_its_format_asks_for() {
    let sandbox = Sandbox::desk();
    let skill = sandbox.flowx(&["generate", "skill"]).ok().stdout;
    assert!(skill.starts_with("---\nname: desk\ndescription: \"Operate desk through its tools: ticket_refund, ticket_search.\"\n---\n"), "{skill}");
    assert!(
        skill.contains("changes `ledger`, spends `payment-gateway`"),
        "{skill}"
    );
}

#[test]
fn completions_and_man_pages_are_made() {
    let sandbox = Sandbox::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            sandbox
                .flowx(&["completions", shell])
                .ok()
                .stdout
                .contains("flowx")
        );
    }
    sandbox.flowx(&["man", "pages"]).ok();
    assert!(sandbox.read("pages/flowx.1").contains(".TH"));
    assert!(sandbox.read("pages/flowx-diff.1").contains("fail"));
}
