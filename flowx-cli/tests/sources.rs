//! Where surfaces come from: above all git, in every kind of repository that CI systems and people have.
#![allow(clippy::unwrap_used)]

mod common;

use common::{CARGO_TOML, DESK, Sandbox};
use serde_json::Value;

fn classes(report: &Value) -> Vec<String> {
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["class"].as_str().unwrap().to_owned())
        .collect()
}

/// A change that takes something away from callers.
fn narrow(sandbox: &Sandbox, file: &str) {
    sandbox.edit(file, "pub amount_cents: u64", "pub amount_cents: u32");
}

#[test]
fn a_revision_is_scanned_without_touching_the_working_tree() {
    let sandbox = Sandbox::desk();
    narrow(&sandbox, "src/main.rs");
    let before = (
        sandbox.git(&["status", "--porcelain"]),
        sandbox.read("src/main.rs"),
    );
    // Neither refs, index nor objects: git's own folder is byte for byte what it was.
    let listing = |folder: &str| -> Vec<(String, Vec<u8>)> {
        let files = sandbox.git(&["ls-files", "-o", "--no-empty-directory"]);
        let mut all = vec![(folder.to_owned(), files.into_bytes())];
        all.push((
            "index".into(),
            std::fs::read(sandbox.path(".git/index")).unwrap(),
        ));
        all
    };
    let git = listing(".git");
    let report = sandbox
        .flowx(&["diff", "git:HEAD", "--format", "json"])
        .exits(1)
        .json();
    assert!(classes(&report).contains(&"breaking".to_owned()));
    assert_eq!(
        before,
        (
            sandbox.git(&["status", "--porcelain"]),
            sandbox.read("src/main.rs")
        )
    );
    assert_eq!(git, listing(".git"));
    sandbox.flowx(&["diff", "git:HEAD", "git:HEAD"]).ok();
}

#[test]
fn a_revision_gives_the_same_bytes_as_its_checkout() {
    let sandbox = Sandbox::desk();
    let there = sandbox
        .flowx(&["show", "git:HEAD", "--format", "json"])
        .ok()
        .stdout;
    let here = sandbox.flowx(&["manifest"]).ok().stdout;
    assert_eq!(there, here);
    assert_eq!(here, sandbox.read("flowx.manifest.json"));
}

#[test]
fn with_three_dots_the_base_is_the_merge_base() {
    let sandbox = Sandbox::desk();
    sandbox.git(&["checkout", "-q", "-b", "work"]);
    sandbox.write("notes.txt", "mine");
    sandbox.commit("mine");
    // main goes on, and drops a flow.
    sandbox.git(&["checkout", "-q", "main"]);
    let flow = DESK.find("/// Find tickets.").unwrap();
    let end = DESK.find("#[agent(").unwrap();
    let without = format!("{}{}", &DESK[..flow], &DESK[end..]).replace(", alone(search)", "");
    sandbox.write("src/main.rs", &without);
    sandbox.commit("theirs");
    sandbox.git(&["checkout", "-q", "work"]);
    // Against the tip of main the branch seems to add a flow; against where they parted it does nothing.
    let tip = sandbox
        .flowx(&["diff", "git:main", "--format", "json"])
        .json();
    assert!(!classes(&tip).is_empty());
    let base = sandbox
        .flowx(&["diff", "git:main...", "--format", "json"])
        .ok()
        .json();
    assert!(classes(&base).is_empty(), "{base:#}");
}

#[test]
fn a_file_at_a_revision_is_read() {
    let sandbox = Sandbox::desk();
    narrow(&sandbox, "src/main.rs");
    sandbox
        .flowx(&["diff", "git:HEAD:flowx.manifest.json"])
        .exits(1);
    sandbox
        .flowx(&["diff", "git:HEAD:flowx.manifest.json", "git:HEAD"])
        .ok();
    sandbox
        .flowx(&["diff", "git:HEAD:no/such.json"])
        .refused(3, "there is no \"no/such.json\" at HEAD");
}

#[test]
fn a_crate_in_a_subfolder_is_found_at_a_revision_from_anywhere() {
    let sandbox = Sandbox::empty();
    sandbox.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n",
    );
    sandbox.crate_at("crates/desk");
    sandbox.write("crates/other/Cargo.toml", "[package]\nname = \"other\"\n");
    sandbox.write("crates/other/src/lib.rs", "");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("first");
    narrow(&sandbox, "crates/desk/src/main.rs");
    for (folder, args) in [
        ("crates/desk", &["diff", "git:HEAD"][..]),
        ("crates/desk/src", &["diff", "git:HEAD"]),
        ("", &["diff", "git:HEAD"]),
        ("", &["diff", "git:HEAD", "-p", "desk"]),
        ("crates/other", &["diff", "git:HEAD", "-p", "desk"]),
        (
            "",
            &[
                "diff",
                "git:HEAD",
                "--manifest-path",
                "crates/desk/Cargo.toml",
            ],
        ),
        ("", &["diff", "git:HEAD:crates/desk", "crates/desk"]),
    ] {
        let run = sandbox.flowx_in(folder, args, "").exits(1);
        assert!(
            run.stdout.contains("amount_cents"),
            "{folder} {args:?}: {}",
            run.stdout
        );
    }
    // A finding's file is where somebody who ran the command finds it.
    let report = sandbox
        .flowx(&["diff", "git:HEAD", "-p", "desk", "--format", "json"])
        .json();
    let files: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| f["source"]["file"].as_str())
        .collect();
    assert!(
        !files.is_empty() && files.iter().all(|f| *f == "crates/desk/src/main.rs"),
        "{files:?}"
    );
}

#[test]
fn what_a_crate_inherits_from_its_workspace_is_found_from_anywhere() {
    let sandbox = Sandbox::empty();
    sandbox.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\n[workspace.package]\nversion = \"4.5.6\"\nedition = \"2024\"\n",
    );
    sandbox.crate_at("crates/desk");
    sandbox.edit(
        "crates/desk/Cargo.toml",
        "version = \"1.2.0\"",
        "version.workspace = true",
    );
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("first");
    for folder in ["", "crates", "crates/desk", "crates/desk/src"] {
        let args: &[&str] = if folder == "crates" {
            &["manifest", "--manifest-path", "desk/Cargo.toml"]
        } else {
            &["manifest"]
        };
        let text = sandbox.flowx_in(folder, args, "").ok().stdout;
        assert!(text.contains("\"version\":\"4.5.6\""), "{folder}: {text}");
    }
    let text = sandbox
        .flowx(&["show", "git:HEAD", "--format", "json"])
        .ok()
        .stdout;
    assert!(text.contains("\"version\":\"4.5.6\""));
}

#[test]
fn a_crate_that_has_moved_is_found_by_its_name() {
    let sandbox = Sandbox::desk();
    std::fs::create_dir(sandbox.path("app")).unwrap();
    sandbox.git(&[
        "mv",
        "Cargo.toml",
        "src",
        "build.rs",
        "flowx.manifest.json",
        "app/",
    ]);
    narrow(&sandbox, "app/src/main.rs");
    let run = sandbox.flowx_in("app", &["diff", "git:HEAD"], "").exits(1);
    assert!(run.stdout.contains("amount_cents"));
}

#[test]
fn a_bare_repository_is_read() {
    let sandbox = Sandbox::desk();
    sandbox.git(&["tag", "old"]);
    narrow(&sandbox, "src/main.rs");
    sandbox.commit("narrower");
    sandbox.git(&["clone", "-q", "--bare", ".", "bare.git"]);
    let run = sandbox
        .flowx_in("bare.git", &["diff", "git:old", "git:HEAD"], "")
        .exits(1);
    assert!(run.stdout.contains("amount_cents"));
    // There is no working tree to compare with.
    sandbox
        .flowx_in(
            "bare.git",
            &["diff", "git:old", "--manifest-path", "Cargo.toml"],
            "",
        )
        .refused(3, "Cargo.toml");
}

#[test]
fn a_linked_worktree_is_read() {
    let sandbox = Sandbox::desk();
    sandbox.git(&["worktree", "add", "-q", "tree", "-b", "work"]);
    sandbox.flowx_in("tree", &["diff", "git:main..."], "").ok();
    narrow(&sandbox, "tree/src/main.rs");
    sandbox
        .flowx_in("tree", &["diff", "git:main..."], "")
        .exits(1);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let inner = Sandbox::desk();
    let outer = Sandbox::empty();
    outer.git(&["init", "-q", "-b", "main"]);
    outer.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.root().to_str().unwrap(),
        "desk",
    ]);
    outer.commit("with a submodule");
    outer.flowx_in("desk", &["diff", "git:HEAD"], "").ok();
    narrow(&outer, "desk/src/main.rs");
    outer.flowx_in("desk", &["diff", "git:HEAD"], "").exits(1);
    // From the outside its files are in another repository, which is said.
    outer
        .flowx(&["diff", "git:HEAD:desk", "desk"])
        .refused(3, "desk");
}

#[test]
fn a_shallow_clone_says_what_is_missing_and_how_to_get_it() {
    let sandbox = Sandbox::desk();
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    narrow(&sandbox, "src/main.rs");
    sandbox.commit("second");
    let url = format!("file://{}", sandbox.root().display());
    sandbox.git(&["clone", "-q", "--depth=1", &url, "shallow"]);
    sandbox.flowx_in("shallow", &["diff", "git:HEAD"], "").ok();
    sandbox
        .flowx_in("shallow", &["diff", &format!("git:{first}")], "")
        .refused(3, "git fetch --unshallow");
    sandbox
        .flowx_in("shallow", &["diff", "git:HEAD~1"], "")
        .refused(3, "shallow clone");
    sandbox.git_in("shallow", &["fetch", "-q", "--unshallow"]);
    sandbox
        .flowx_in("shallow", &["diff", "git:HEAD~1"], "")
        .exits(1);
}

#[test]
fn histories_without_a_common_commit_have_no_merge_base() {
    let sandbox = Sandbox::desk();
    sandbox.git(&["checkout", "-q", "--orphan", "island"]);
    sandbox.commit("island");
    sandbox
        .flowx(&["diff", "git:main..."])
        .refused(3, "no common ancestor");
}

#[test]
fn hostile_and_unknown_revisions_are_refused_and_do_nothing() {
    let sandbox = Sandbox::desk();
    let canary = sandbox.path("canary");
    let option = format!("git:--output={}", canary.display());
    for text in [&option, "git:--exec=touch canary", "git:-n", "git:-p..."] {
        sandbox.flowx(&["diff", text]).refused(2, "begins with '-'");
    }
    sandbox.flowx(&["diff", "git:"]).refused(2, "names nothing");
    sandbox
        .flowx(&["diff", "git::path"])
        .refused(2, "names nothing");
    for text in [
        "git:nope",
        "git:HEAD..main",
        "git:^HEAD",
        "git:HEAD^{tree}",
        "git:$(touch canary)",
        "git:`touch canary`",
    ] {
        sandbox.flowx(&["diff", text]).refused(3, "no commit");
    }
    assert!(!canary.exists());
}

#[test]
fn outside_of_a_repository_git_sources_are_refused() {
    let sandbox = Sandbox::empty();
    sandbox.crate_at("");
    sandbox
        .flowx(&["diff", "git:HEAD"])
        .refused(3, "no git repository");
}

#[test]
fn sources_that_do_not_scan_are_never_compared() {
    let sandbox = Sandbox::desk();
    sandbox.edit("src/main.rs", "never(issue_refund)", "never(isue_refund)");
    let run = sandbox
        .flowx(&["diff", "git:HEAD"])
        .refused(3, "the sources have 1 error");
    assert!(run.stderr.contains("src/main.rs:"), "{}", run.stderr);
    sandbox.commit("broken");
    sandbox.edit("src/main.rs", "never(isue_refund)", "never(issue_refund)");
    sandbox.flowx(&["diff", "git:HEAD"]).refused(3, "git:HEAD");
}

#[test]
fn a_link_in_the_tree_is_followed_and_one_that_leads_out_is_not() {
    let sandbox = Sandbox::desk();
    std::fs::rename(sandbox.path("src/main.rs"), sandbox.path("real.rs")).unwrap();
    std::os::unix::fs::symlink("../real.rs", sandbox.path("src/main.rs")).unwrap();
    sandbox.commit("linked");
    sandbox.flowx(&["diff", "git:HEAD"]).ok();
    std::fs::remove_file(sandbox.path("src/main.rs")).unwrap();
    let outside = Sandbox::empty();
    outside.write("main.rs", DESK);
    std::os::unix::fs::symlink(outside.path("main.rs"), sandbox.path("src/main.rs")).unwrap();
    sandbox.commit("leads out");
    sandbox.flowx(&["show", "git:HEAD"]).refused(3, "git:HEAD");
}

#[test]
fn manifests_tool_lists_and_standard_input_are_told_apart() {
    let sandbox = Sandbox::desk();
    let manifest = sandbox.read("flowx.manifest.json");
    sandbox.flowx_in("", &["diff", "-"], &manifest).ok();
    sandbox
        .flowx_in("", &["diff", "-", "-"], &manifest)
        .refused(2, "both sides");
    let tools = sandbox.flowx(&["generate", "mcp"]).ok().stdout;
    sandbox.write("tools.json", &tools);
    // Of a list of tools the tools are compared, and nothing else is claimed.
    sandbox.flowx(&["diff", "tools.json"]).ok();
    sandbox.edit("tools.json", "\"ticket_search\"", "\"ticket_find\"");
    sandbox.flowx(&["diff", "tools.json"]).exits(1);
    sandbox
        .flowx(&["review", "tools.json"])
        .refused(3, "tools only");
    for (name, text, reason) in [
        ("not.json", "hello", "not JSON"),
        ("empty.json", "", "is empty"),
        ("shape.json", "{\"a\":1}", "tools"),
        ("twice.json", "{\"tools\":[],\"tools\":[]}", "stands twice"),
        (
            "newer.json",
            &manifest.replacen("\"schemaVersion\":\"1.", "\"schemaVersion\":\"9.", 1),
            "9.",
        ),
    ] {
        sandbox.write(name, text);
        sandbox.flowx(&["diff", name]).refused(3, reason);
    }
    sandbox
        .flowx(&["diff", "missing.json"])
        .refused(3, "missing.json");
    sandbox.write("program", "\u{7f}ELF\u{1}");
    sandbox
        .flowx(&["diff", "program"])
        .refused(3, "write bin:PATH");
}

#[test]
fn every_released_manifest_counts_not_only_the_last() {
    let sandbox = Sandbox::desk();
    sandbox.git(&["tag", "v1"]);
    // The flow's note is dropped in v2 and comes back, with another meaning, after it.
    narrow(&sandbox, "src/main.rs");
    sandbox.flowx(&["manifest", "--write"]).ok();
    sandbox.commit("narrower");
    sandbox.git(&["tag", "v2"]);
    sandbox.git(&["tag", "other"]);
    sandbox.flowx(&["diff", "git:v2"]).ok();
    let run = sandbox
        .flowx(&["diff", "--since-all-tags", "v*", "--format", "json"])
        .exits(1);
    let bases: Vec<(String, bool)> = run.json()["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            (
                r["base"].as_str().unwrap().to_owned(),
                r["findings"].as_array().unwrap().is_empty(),
            )
        })
        .collect();
    assert_eq!(
        bases,
        [("git:v1".to_owned(), false), ("git:v2".to_owned(), true)]
    );
    sandbox
        .flowx(&["diff", "--since-all-tags", "release-*"])
        .refused(3, "no tag matches");
}

#[test]
fn features_and_cfg_decide_what_is_published() {
    let sandbox = Sandbox::empty();
    sandbox.write("Cargo.toml", CARGO_TOML);
    sandbox.write(
        "src/main.rs",
        &DESK
            .replace(
                "/// Find tickets.",
                "#[cfg(feature = \"extra\")]\n/// Find tickets.",
            )
            .replace(", alone(search)", ""),
    );
    let without = sandbox.flowx(&["manifest"]).ok().stdout;
    let with = sandbox
        .flowx(&["manifest", "--features", "extra"])
        .ok()
        .stdout;
    assert!(!without.contains("\"ticket.search\""));
    assert!(with.contains("\"ticket.search\""));
    assert_eq!(
        with,
        sandbox.flowx(&["manifest", "--all-features"]).ok().stdout
    );
    sandbox
        .flowx(&["manifest", "--features", "nope"])
        .refused(3, "nope");
}

/// A flow that only another configuration compiles.
const OPS: &str = r#"
#[cfg(feature = "extra")]
mod ops {
    use crate::*;
    /// Throw every ticket away.
    #[flow(id = "ops.purge", version = "1.0.0", owner = "support", deadline = "PT5S", agent(confirmation = always), steps(find: find))]
    async fn purge(cx: &FlowCx<purge>, input: IssueRefund) -> Result<IssueRefund, RefundError> { unreachable!() }
}
"#;

#[test]
fn what_the_features_switch_off_is_named_and_never_compared_in_silence() {
    let sandbox = Sandbox::desk();
    let main = sandbox.read("src/main.rs");
    sandbox.write("src/main.rs", &format!("{main}{OPS}"));
    let check = sandbox.flowx(&["check", "--format", "json"]).ok().json();
    let off: Vec<_> = check["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["id"] == "FLOWX1123")
        .collect();
    assert_eq!(off.len(), 1, "{check}");
    assert_eq!(off[0]["subject"], "flow ops.purge@1");
    assert_eq!(off[0]["severity"], "note");

    let added = sandbox.flowx(&["diff", "git:HEAD"]).exits(1);
    assert!(added.stdout.contains("FXD221"), "{}", added.stdout);
    assert!(
        added.stdout.contains("flow ops.purge@1"),
        "{}",
        added.stdout
    );
    let seen = sandbox
        .flowx(&[
            "diff",
            "git:HEAD",
            "--features",
            "extra",
            "--fail-on",
            "none",
        ])
        .ok();
    assert!(!seen.stdout.contains("FXD221"), "{}", seen.stdout);
    assert!(seen.stdout.contains("ops.purge"), "{}", seen.stdout);

    sandbox.commit("ops");
    sandbox.flowx(&["diff", "git:HEAD~1", "git:HEAD"]).exits(1);
    let same = sandbox.flowx(&["diff", "git:HEAD"]).ok();
    assert!(same.stderr.is_empty(), "{}", same.stderr);
    sandbox.edit(
        "src/main.rs",
        "agent(confirmation = always)",
        "agent(confirmation = never)",
    );
    let changed = sandbox.flowx(&["diff", "git:HEAD"]).exits(1);
    assert!(changed.stdout.contains("has changed"), "{}", changed.stdout);

    // A manifest does not tell what its scan left out; what is left out here is said all the same.
    let file = sandbox.flowx(&["diff", "flowx.manifest.json"]).ok();
    assert!(file.stderr.contains("1 declaration of"), "{}", file.stderr);
    assert!(file.stderr.contains("FLOWX1123"), "{}", file.stderr);
}
