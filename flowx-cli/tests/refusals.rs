//! What is no surface is refused by every verb that reads one: with the reason on standard error, exit code 3, nothing on
//! standard output and nothing on disk.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::Sandbox;

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

/// Asks every verb that takes a SOURCE for this one.
#[track_caller]
fn refused(sandbox: &Sandbox, source: &str, stdin: &str, reason: &str) {
    let before = files(sandbox.root());
    for verb in [
        &["diff", source] as &[&str],
        &["diff", "flowx.manifest.json", source],
        &["show", source],
        &["review", source],
        &["graph", source],
        &["generate", "mcp", source, "--out", "tools.json"],
        &["generate", "openapi", source, "--out", "openapi.json"],
    ] {
        sandbox.flowx_in("", verb, stdin).refused(3, reason);
    }
    assert!(
        files(sandbox.root()) == before,
        "{source}: a refusal wrote something"
    );
}

#[test]
fn a_document_that_is_no_surface_is_refused() {
    let sandbox = Sandbox::desk();
    let manifest = sandbox.read("flowx.manifest.json");
    let halves = manifest.split_at(manifest.len() / 2);
    let second_version = manifest.replacen(
        "\"schemaVersion\"",
        "\"schemaVersion\":\"1.0.0\",\"schemaVersion\"",
        1,
    );
    let nested =
        |levels: usize| format!("{{\"tools\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(manifest.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for (name, bytes, reason) in [
        ("empty", Vec::new(), "is empty"),
        ("blank", b" \r\n\t\n".to_vec(), "is empty"),
        ("text", b"hello\n".to_vec(), "not JSON"),
        ("truncated", halves.0.into(), "not JSON"),
        ("tail", halves.1.into(), "not JSON"),
        ("two", manifest.repeat(2).into(), "not JSON"),
        ("nul", format!("{manifest}\0").into(), "not JSON"),
        ("twice", second_version.into(), "stands twice"),
        ("deep", nested(200).into(), "nested deeper than"),
        ("deeper", nested(3_000_000).into(), "nested deeper than"),
        ("latin", b"{\"tools\":[\"caf\xe9\"]}".to_vec(), "not UTF-8"),
        ("wide", utf16, "UTF-16"),
        (
            "marked",
            format!("\u{feff}{manifest}").into(),
            "byte order mark",
        ),
        (
            "exponent",
            b"{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"maximum\":1e999999999}}]}".to_vec(),
            "a number literal that is too long or too large",
        ),
        (
            "newer",
            manifest
                .replacen("\"schemaVersion\":\"1.", "\"schemaVersion\":\"9.", 1)
                .into(),
            "use a matching version of FlowX",
        ),
        (
            "unversioned",
            manifest
                .replacen("\"schemaVersion\":\"1.0.0\"", "\"schemaVersion\":true", 1)
                .into(),
            "not a FlowX manifest",
        ),
        ("list", b"[1,2]".to_vec(), "a tool without a name"),
        (
            "other",
            b"{\"openapi\":\"3.1.0\"}".to_vec(),
            "not a list of tools",
        ),
    ] {
        std::fs::write(sandbox.path(name), &bytes).unwrap();
        refused(&sandbox, name, "", reason);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            refused(&sandbox, "-", text, reason);
        }
        // The same bytes, committed.
        sandbox.commit(name);
        refused(&sandbox, &format!("git:HEAD:{name}"), "", reason);
    }
}

#[test]
fn a_path_that_leads_to_no_surface_is_refused() {
    let sandbox = Sandbox::desk();
    std::fs::create_dir(sandbox.path("bare-folder")).unwrap();
    sandbox.write("virtual/Cargo.toml", "[workspace]\nmembers = []\n");
    sandbox.write("broken/Cargo.toml", "[package\n");
    sandbox.commit("folders");
    for (source, reason) in [
        ("missing.json", "missing.json"),
        ("bare-folder", "no readable Cargo.toml in bare-folder"),
        ("virtual", "virtual"),
        ("broken/Cargo.toml", "Cargo.toml"),
        (
            "git:HEAD:missing.json",
            "there is no \"missing.json\" at HEAD",
        ),
        ("git:HEAD:virtual", "virtual"),
        ("git:HEAD:broken", "Cargo.toml"),
        ("git:HEAD:src", "no readable Cargo.toml in src"),
        (
            "git:HEAD:../outside.json",
            "there is no \"../outside.json\"",
        ),
        ("git:HEAD:src/../../../etc/passwd", "at HEAD"),
        ("git:HEAD:/etc/passwd", "there is no \"/etc/passwd\""),
        ("git:nope:flowx.manifest.json", "no commit"),
        ("bin:missing", "missing"),
        ("bin:src", "is no file"),
        ("bin:src/main.rs", "holds no FlowX manifest"),
        ("bin:Cargo.toml", "holds no FlowX manifest"),
    ] {
        refused(&sandbox, source, "", reason);
    }
    // What never ends is given up instead of filling the memory.
    #[cfg(unix)]
    {
        refused(&sandbox, "bin:/dev/zero", "", "is no file");
        sandbox
            .flowx(&["show", "/dev/zero"])
            .refused(3, "larger than");
    }
}

#[test]
fn cargo_toml_names_the_crate_at_a_revision_as_it_does_on_disk() {
    let sandbox = Sandbox::desk();
    let shown = sandbox.flowx(&["show"]).ok().stdout;
    let table = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    for source in ["Cargo.toml", "git:HEAD:Cargo.toml", "git:HEAD"] {
        let run = sandbox.flowx(&["show", source]).ok();
        assert_eq!(table(&run.stdout), table(&shown), "{source}");
    }
}

#[test]
fn a_shallow_clone_without_the_merge_base_says_so() {
    let sandbox = Sandbox::desk();
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    sandbox.write("note", "1");
    sandbox.commit("topic");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("note", "2");
    sandbox.commit("main");
    let url = format!("file://{}", sandbox.root().display());
    sandbox.git(&[
        "clone",
        "-q",
        "--depth=1",
        "--no-single-branch",
        "-b",
        "topic",
        &url,
        "shallow",
    ]);
    let before = files(&sandbox.path("shallow"));
    sandbox
        .flowx_in("shallow", &["diff", "git:origin/main..."], "")
        .refused(
            3,
            "the merge base of \"origin/main\" and HEAD is not in this shallow clone",
        );
    assert!(files(&sandbox.path("shallow")) == before);
    sandbox.git_in("shallow", &["fetch", "-q", "--unshallow"]);
    sandbox
        .flowx_in("shallow", &["diff", "git:origin/main..."], "")
        .ok();
}
