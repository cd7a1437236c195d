//! Types whose schema only the compiler knows: the build writes them into `flowx.contracts.json`, and the command, which runs no build
//! script, says the same of the sources, byte for byte. `tests/fixtures/registered` is the build's side.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};

use common::Sandbox;

const FILE: &str = "app/flowx.contracts.json";

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/registered")
}

/// The fixture in a repository of its own, with one commit.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::empty();
    for file in [
        "Cargo.toml",
        "money/Cargo.toml",
        "money/src/lib.rs",
        "money/src/inner.rs",
        "app/Cargo.toml",
        "app/build.rs",
        "app/src/lib.rs",
        "app/flowx.contracts.json",
        "app/flowx.manifest.json",
    ] {
        let text = std::fs::read_to_string(fixture().join(file)).unwrap();
        sandbox.write(file, &text);
    }
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("first");
    sandbox
}

fn committed() -> String {
    std::fs::read_to_string(fixture().join("app/flowx.manifest.json"))
        .unwrap()
        .replace("\r\n", "\n")
}

fn manifest_path(sandbox: &Sandbox) -> String {
    sandbox.path("app/Cargo.toml").display().to_string()
}

#[test]
fn the_command_says_of_registered_types_what_the_build_says() {
    let sandbox = sandbox();
    let path = manifest_path(&sandbox);
    let run = sandbox.flowx(&["manifest", "--manifest-path", &path]).ok();
    // What the fixture's own test holds its build's manifest to.
    assert_eq!(run.stdout, committed());
    sandbox
        .flowx(&["manifest", "--check", "--manifest-path", &path])
        .ok();
    sandbox.flowx(&["check", "--manifest-path", &path]).ok();
    let shown = sandbox
        .flowx(&["show", "--manifest-path", &path, "till.buy"])
        .ok();
    assert!(shown.stdout.contains("till.buy"), "{}", shown.stdout);
}

#[test]
fn the_names_of_registered_types_are_the_compilers_whatever_the_source_calls_them() {
    let manifest = committed();
    for name in [
        "fixture_money::inner::Cents",
        "fixture_money::Basket",
        "fixture_money::Category",
        "fixture_money::Offer.Part",
        "fixture_money::inner::Page<fixture_money::inner::Cents>",
    ] {
        let line = format!("{{\"id\":\"{name}\"");
        assert!(manifest.contains(&line), "{name} is not in\n{manifest}");
    }
    assert!(!manifest.contains("cash::"), "{manifest}");
}

#[test]
fn a_revision_is_read_with_the_contracts_of_that_revision() {
    let sandbox = sandbox();
    let path = manifest_path(&sandbox);
    let now = ["diff", "git:HEAD", "--manifest-path", &path];
    sandbox.flowx(&now).ok();
    // The type's author narrows it; the build writes the file anew.
    sandbox.edit(FILE, "\"maximum\":255", "\"maximum\":254");
    let text = sandbox.flowx(&now).exits(1).stdout;
    assert!(text.contains("breaking"), "{text}");
    assert!(text.contains("255") && text.contains("254"), "{text}");
    sandbox.commit("narrower");
    sandbox
        .flowx(&["diff", "git:HEAD~1", "git:HEAD", "--manifest-path", &path])
        .exits(1);
    sandbox
        .flowx(&["diff", "git:HEAD", "--manifest-path", &path])
        .ok();
}

#[test]
fn without_the_file_the_types_are_refused_with_the_way_out() {
    let sandbox = sandbox();
    let path = manifest_path(&sandbox);
    std::fs::remove_file(sandbox.path(FILE)).unwrap();
    let run = sandbox.flowx(&["check", "--manifest-path", &path]).exits(1);
    assert!(run.stdout.contains("FLOWX1305"), "{}", run.stdout);
    assert!(
        run.stdout.contains("flowx_build::contract::<T>()"),
        "{}",
        run.stdout
    );
    // Half a file is worse than none: it is said to be one.
    sandbox.write(FILE, "{\"schemaVersion\":\"1\",\"types\":{");
    let run = sandbox.flowx(&["check", "--manifest-path", &path]).exits(1);
    assert!(run.stdout.contains("FLOWX1156"), "{}", run.stdout);
}

#[test]
fn the_file_with_windows_line_ends_says_the_same() {
    let sandbox = sandbox();
    let path = manifest_path(&sandbox);
    let text = sandbox.read(FILE).replace('\n', "\r\n");
    sandbox.write(FILE, &text);
    let run = sandbox.flowx(&["manifest", "--manifest-path", &path]).ok();
    assert_eq!(run.stdout, committed());
}
