//! Manifests inside of built programs.
#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;

/// A program of ours with this text in it, optimised, linked as one and stripped.
fn program(sandbox: &Sandbox, name: &str, texts: &[&str]) {
    let mut code = String::from("fn main() {\n");
    for (index, text) in texts.iter().enumerate() {
        sandbox.write(&format!("{name}-{index}.json"), text);
        // Printed, since a program keeps nothing that it does not use.
        code.push_str(&format!(
            "    println!(\"{{}}\", include_str!(\"{name}-{index}.json\"));
"
        ));
    }
    code.push_str("}\n");
    sandbox.write(&format!("{name}.rs"), &code);
    let status = std::process::Command::new("rustc")
        .args([
            "-O",
            "-C",
            "lto=fat",
            "-C",
            "codegen-units=1",
            "-C",
            "strip=symbols",
            "-C",
            "panic=abort",
            "-o",
            name,
        ])
        .arg(format!("{name}.rs"))
        .current_dir(sandbox.root())
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn the_manifest_in_a_stripped_program_comes_out_verbatim_with_its_digest() {
    let sandbox = Sandbox::desk();
    let manifest = sandbox.read("flowx.manifest.json");
    program(&sandbox, "app", &[&manifest]);
    let run = sandbox.flowx(&["inspect", "app"]).ok();
    assert_eq!(run.stdout, manifest);
    let digest = flowx_manifest::digest(manifest.as_bytes());
    assert!(run.stderr.contains(&digest), "{}", run.stderr);
    assert_eq!(
        sandbox
            .flowx(&["inspect", "--digest", "app"])
            .ok()
            .stdout
            .trim(),
        digest
    );
    // The surface of a built program compares with its sources.
    sandbox.flowx(&["diff", "bin:app"]).ok();
    sandbox.edit(
        "src/main.rs",
        "pub amount_cents: u64",
        "pub amount_cents: u32",
    );
    sandbox.flowx(&["diff", "bin:app"]).exits(1);
}

#[test]
fn the_same_manifest_twice_is_one_and_two_different_ones_are_named() {
    let sandbox = Sandbox::desk();
    let manifest = sandbox.read("flowx.manifest.json");
    let mut bytes = b"\x7fELF before ".to_vec();
    bytes.extend(manifest.as_bytes());
    bytes.extend(b"between\0");
    bytes.extend(manifest.as_bytes());
    std::fs::write(sandbox.path("twice"), &bytes).unwrap();
    assert_eq!(sandbox.flowx(&["inspect", "twice"]).ok().stdout, manifest);
    let other = manifest.replace("\"version\":\"1.2.0\"}", "\"version\":\"9.9.9\"}");
    bytes.extend(other.as_bytes());
    std::fs::write(sandbox.path("two"), &bytes).unwrap();
    let run = sandbox
        .flowx(&["inspect", "two"])
        .refused(3, "2 different manifests");
    assert!(run.stderr.contains("9.9.9") && run.stderr.contains("1.2.0"));
}

#[test]
fn a_program_without_a_manifest_or_with_a_damaged_one_is_an_error_that_says_why() {
    let sandbox = Sandbox::desk();
    let manifest = sandbox.read("flowx.manifest.json");
    for (name, bytes, reason) in [
        (
            "none",
            b"\x7fELF nothing here".to_vec(),
            "holds no FlowX manifest",
        ),
        ("empty", Vec::new(), "holds no FlowX manifest"),
        (
            "cut",
            manifest.as_bytes()[..manifest.len() / 2].to_vec(),
            "damaged",
        ),
        // One byte of an effect's class was changed after the build.
        (
            "edited",
            manifest
                .replace("\"class\":\"spends\"", "\"class\":\"spendz\"")
                .into_bytes(),
            "damaged",
        ),
        (
            "spaced",
            manifest
                .replace("\"id\":\"ledger\"", "\"id\": \"ledger\"")
                .into_bytes(),
            "damaged",
        ),
    ] {
        std::fs::write(sandbox.path(name), bytes).unwrap();
        sandbox.flowx(&["inspect", name]).refused(3, reason);
    }
    sandbox.flowx(&["inspect", "missing"]).refused(3, "missing");
}
