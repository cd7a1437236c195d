//! `flowx init` on crates of other people's shapes. That what it makes also builds is shown by
//! `a_crate_builds_after_init`, which compiles the runtime and therefore runs with FLOWX_FULL=1 only.
#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;

const AXUM: &str = "//! A service.\n#![allow(\n    dead_code\n)]\n\nuse std::fmt;\n\nmod routes {\n    pub fn all() {}\n}\n\nfn main() {\n    routes::all();\n}\n";

fn service() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"service\"\nversion = \"0.3.0\"\nedition = \"2021\"\n\n[dependencies]\n# The web.\nserde = { version = \"1\", features = [\"derive\"] }\n\n[dev-dependencies]\n",
    );
    sandbox.write("src/main.rs", AXUM);
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("theirs");
    sandbox
}

#[test]
fn the_change_is_shown_and_nothing_happens_without_a_yes() {
    let sandbox = service();
    let run = sandbox.flowx(&["init"]).exits(2);
    assert!(run.stderr.contains("--yes"), "{}", run.stderr);
    for line in [
        "+flowx-runtime = \"0.1\"",
        "+flowx-build = \"0.1\"",
        "+    flowx_build::emit();",
        "+flowx_runtime::include_manifest!();",
        "+flowx.manifest.json diff=flowx",
    ] {
        assert!(
            run.stdout.lines().any(|l| l == line),
            "{line} is not in:\n{}",
            run.stdout
        );
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn after_a_yes_the_crate_passes_check_and_a_second_time_does_nothing() {
    let sandbox = service();
    sandbox.flowx(&["init", "--yes"]).ok();
    sandbox.flowx(&["check"]).ok();
    sandbox.flowx(&["manifest", "--check"]).ok();
    assert!(
        sandbox
            .flowx(&["show"])
            .ok()
            .stdout
            .contains("greeting_say")
    );
    let main = sandbox.read("src/main.rs");
    assert!(main.starts_with("//! A service.\n#![allow(\n    dead_code\n)]\n\nmod flows;\n\nflowx_runtime::include_manifest!();\n"), "{main}");
    // What was there is there still.
    for line in AXUM.lines() {
        assert!(main.lines().any(|l| l == line), "{line}");
    }
    assert!(sandbox.read("Cargo.toml").contains("# The web.\nserde = "));
    assert_eq!(
        sandbox.git(&["config", "diff.flowx.textconv"]),
        "flowx show"
    );
    sandbox.commit("with flowx");
    sandbox.flowx(&["init", "--yes"]).ok();
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_stands_in_the_way_is_kept() {
    let sandbox = service();
    sandbox.write("src/flows.rs", "// theirs\n");
    sandbox.write(
        "build.rs",
        "fn main() {\n    println!(\"cargo:rustc-cfg=theirs\");\n}\n",
    );
    sandbox.write(".gitattributes", "*.png binary");
    sandbox.write(".github/workflows/flowx.yml", "theirs\n");
    sandbox.flowx(&["init", "--yes"]).ok();
    assert_eq!(sandbox.read("src/flows.rs"), "// theirs\n");
    assert!(sandbox.read("src/flowx_flows.rs").contains("#[flow("));
    assert_eq!(
        sandbox.read("build.rs"),
        "fn main() {\n    flowx_build::emit();\n    println!(\"cargo:rustc-cfg=theirs\");\n}\n"
    );
    assert_eq!(
        sandbox.read(".gitattributes"),
        "*.png binary\nflowx.manifest.json diff=flowx\n"
    );
    assert_eq!(sandbox.read(".github/workflows/flowx.yml"), "theirs\n");
}

#[test]
fn a_crate_in_a_workspace_gets_its_job_at_the_top() {
    let sandbox = service();
    sandbox.git(&["mv", "Cargo.toml", "service.toml"]);
    std::fs::create_dir_all(sandbox.path("apps/service")).unwrap();
    std::fs::rename(
        sandbox.path("service.toml"),
        sandbox.path("apps/service/Cargo.toml"),
    )
    .unwrap();
    std::fs::rename(sandbox.path("src"), sandbox.path("apps/service/src")).unwrap();
    sandbox.write("Cargo.toml", "[workspace]\nmembers = [\"apps/*\"]\n");
    sandbox
        .flowx(&["init", "."])
        .refused(3, "name the folder of the crate");
    sandbox.flowx(&["init", "apps/service", "--yes"]).ok();
    assert!(
        sandbox
            .read(".github/workflows/flowx.yml")
            .contains("working-directory: apps/service")
    );
    assert!(sandbox.read(".gitattributes").contains("diff=flowx"));
    sandbox
        .flowx(&["manifest", "--check", "-p", "service"])
        .ok();
}

#[test]
fn what_is_no_crate_is_refused_and_left_alone() {
    let sandbox = Sandbox::empty();
    sandbox.flowx(&["init", "--yes"]).refused(3, "Cargo.toml");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"1.0.0\"\n",
    );
    sandbox
        .flowx(&["init", "--yes"])
        .refused(3, "neither src/main.rs nor src/lib.rs");
    sandbox.write("src/lib.rs", "");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"1.0.0\"\nbuild = false\n",
    );
    sandbox
        .flowx(&["init", "--yes"])
        .refused(3, "build = false");
    assert_eq!(sandbox.read("src/lib.rs"), "");
    sandbox.write("Cargo.toml", "this is not toml");
    sandbox.flowx(&["init", "--yes"]).refused(3, "Cargo.toml");
}

#[test]
fn a_crate_builds_after_init() {
    if std::env::var_os("FLOWX_FULL").is_none() {
        println!("skipped: compiles the runtime; set FLOWX_FULL=1");
        return;
    }
    let sandbox = service();
    let flowx = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    sandbox
        .flowx(&["init", "--yes", "--flowx-path", flowx.to_str().unwrap()])
        .ok();
    std::fs::copy(flowx.join("Cargo.lock"), sandbox.path("Cargo.lock")).unwrap();
    let status = std::process::Command::new("cargo")
        .args(["test", "--offline", "--quiet"])
        .current_dir(sandbox.root())
        .env("CARGO_TARGET_DIR", flowx.join("target/fixtures"))
        .status()
        .unwrap();
    assert!(status.success());
}
