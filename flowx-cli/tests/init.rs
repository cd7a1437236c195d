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
        .refused(3, "no src/main.rs, no src/lib.rs");
    sandbox.write("src/lib.rs", "");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"1.0.0\"\nbuild = false\n",
    );
    sandbox.write("build.rs", "fn main() {}\n");
    sandbox
        .flowx(&["init", "--yes"])
        .refused(3, "build = false");
    assert_eq!(sandbox.read("src/lib.rs"), "");
    sandbox.write("Cargo.toml", "this is not toml");
    sandbox.flowx(&["init", "--yes"]).refused(3, "Cargo.toml");
}

#[test]
fn a_build_script_that_is_switched_off_and_not_there_is_switched_on() {
    let sandbox = service();
    // As cargo writes the Cargo.toml of every published crate without one.
    sandbox.edit(
        "Cargo.toml",
        "edition = \"2021\"\n",
        "edition = \"2021\"\nbuild = false\n",
    );
    let run = sandbox.flowx(&["init", "--yes"]).ok();
    assert!(run.stdout.contains("-build = false"), "{}", run.stdout);
    assert!(!sandbox.read("Cargo.toml").contains("build = false"));
    assert!(sandbox.read("build.rs").contains("flowx_build::emit()"));
}

#[test]
fn a_program_in_src_bin_gets_its_flows_where_cargo_takes_them_for_no_program() {
    let sandbox = service();
    sandbox.git(&["mv", "-k", "src/main.rs", "src/theirs.rs"]);
    std::fs::create_dir(sandbox.path("src/bin")).unwrap();
    std::fs::rename(
        sandbox.path("src/theirs.rs"),
        sandbox.path("src/bin/serve.rs"),
    )
    .unwrap();
    sandbox.flowx(&["init", "--yes"]).ok();
    assert!(
        sandbox
            .read("src/bin/serve.rs")
            .contains("#[path = \"../flows.rs\"]\nmod flows;\n")
    );
    assert!(!sandbox.path("src/bin/flows.rs").exists());
    let shown = sandbox.flowx(&["show"]).ok().stdout;
    assert!(shown.contains("greeting_say"), "{shown}");
}

#[test]
fn a_first_flow_that_would_not_compile_is_not_written() {
    for (from, to, why) in [
        ("edition = \"2021\"\n", "", "edition 2015"),
        (
            "features = [\"derive\"]",
            "optional = true",
            "serde is optional",
        ),
        ("# The web.", "schemars = \"0.8.1\"", "schemars is at 0.8.1"),
        (
            "# The web.",
            "schemars = { package = \"mine\", version = \"1\" }",
            "another package",
        ),
    ] {
        let sandbox = service();
        sandbox.edit("Cargo.toml", from, to);
        let run = sandbox.flowx(&["init", "--yes"]).ok();
        assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
        assert!(!sandbox.path("src/flows.rs").exists(), "{why}");
        assert!(!sandbox.read("src/main.rs").contains("mod flows"), "{why}");
        assert!(sandbox.read("src/main.rs").contains("include_manifest!"));
        sandbox.flowx(&["check"]).ok();
    }
}

#[test]
fn what_a_crate_inherits_from_its_workspace_is_its_own() {
    let sandbox = service();
    sandbox.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"app\"]\n[workspace.package]\nedition = \"2021\"\nrust-version = \"1.60\"\n\
         [workspace.dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\nflowx-runtime = \"0.1\"\n",
    );
    sandbox.write(
        "app/Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition.workspace = true\nrust-version.workspace = true\n\n\
         [dependencies]\nserde.workspace = true\n",
    );
    sandbox.write("app/src/main.rs", AXUM);
    let run = sandbox.flowx(&["init", "app", "--yes"]).ok();
    let toml = sandbox.read("app/Cargo.toml");
    assert!(
        toml.contains("flowx-runtime = { workspace = true }\n"),
        "{toml}"
    );
    assert!(toml.contains("flowx-build = \"0.1\"\n"), "{toml}");
    assert!(
        toml.contains("serde.workspace = true\nflowx-runtime"),
        "{toml}"
    );
    assert!(sandbox.path("app/src/flows.rs").exists());
    assert!(run.stderr.contains("Rust 1.60 is enough"), "{}", run.stderr);
}

#[test]
fn flowx_may_come_from_a_folder_or_a_repository() {
    let sandbox = service();
    sandbox.write("vendor/flowx/flowx-runtime/Cargo.toml", "");
    let run = sandbox
        .flowx(&["init", "--flowx-path", "vendor/flowx"])
        .exits(2);
    let relative = "+flowx-build = { path = \"vendor/flowx/flowx-build\" }";
    assert!(run.stdout.lines().any(|l| l == relative), "{}", run.stdout);
    let url = "https://git.example/flowx.git";
    let run = sandbox.flowx(&["init", "--flowx-git", url]).exits(2);
    for line in [
        format!("+flowx-runtime = {{ git = \"{url}\" }}"),
        format!("+      - run: cargo install --git '{url}' flowx-cli --locked"),
    ] {
        assert!(run.stdout.lines().any(|l| l == line), "{}", run.stdout);
    }
    sandbox
        .flowx(&["init", "--flowx-path", "src"])
        .refused(3, "holds no flowx-runtime");
}

/// Compiles the crate there against this FlowX. What the versions of dependencies are is FlowX's own lock file's to say, so that
/// each is compiled once.
fn builds(sandbox: &Sandbox, args: &[&str]) {
    let flowx = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    sandbox
        .flowx(&["init", "--yes", "--flowx-path", flowx.to_str().unwrap()])
        .ok();
    std::fs::copy(flowx.join("Cargo.lock"), sandbox.path("Cargo.lock")).unwrap();
    let status = std::process::Command::new("cargo")
        .args(args)
        .current_dir(sandbox.root())
        .env("CARGO_TARGET_DIR", flowx.join("target/fixtures"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .status()
        .unwrap();
    assert!(status.success());
    sandbox.flowx(&["check"]).ok();
    sandbox.flowx(&["manifest", "--check"]).ok();
}

#[test]
fn a_crate_builds_after_init() {
    if std::env::var_os("FLOWX_FULL").is_none() {
        println!("skipped: compiles the runtime; set FLOWX_FULL=1");
        return;
    }
    for edition in ["2018", "2021", "2024"] {
        let sandbox = service();
        sandbox.edit("Cargo.toml", "2021", edition);
        builds(&sandbox, &["test", "--offline", "--quiet"]);
    }
}

/// Public crates that use axum: a program with a library, a library, a large program whose first crate is a workspace.
const PUBLIC: [(&str, &str); 3] = [
    ("live-server", "0.11.1"),
    ("axum-login", "0.18.0"),
    ("mdbook", "0.4.52"),
];

#[test]
fn public_axum_crates_build_and_pass_check_after_init() {
    if std::env::var_os("FLOWX_FULL").is_none() {
        println!("skipped: downloads and compiles public crates; set FLOWX_FULL=1");
        return;
    }
    for (name, version) in PUBLIC {
        let sandbox = Sandbox::empty();
        unpack(&sandbox, name, version);
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.commit("theirs");
        builds(&sandbox, &["build", "--quiet"]);
        let shown = sandbox.flowx(&["show"]).ok().stdout;
        assert!(shown.contains("greeting_say"), "{name}: {shown}");
    }
}

/// Puts a published crate into the sandbox as its authors wrote it: with their own Cargo.toml, not the one that cargo derives.
fn unpack(sandbox: &Sandbox, name: &str, version: &str) {
    let get = Sandbox::empty();
    get.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"get\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\n{name} = \"={version}\"\n"
        ),
    );
    get.write("src/lib.rs", "");
    let output = std::process::Command::new("cargo")
        .args(["metadata", "--format-version", "1"])
        .current_dir(get.root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let manifest = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|package| package["name"] == name)
        .and_then(|package| package["manifest_path"].as_str())
        .unwrap();
    let folder = std::path::Path::new(manifest).parent().unwrap();
    copy(folder, sandbox.root());
    std::fs::rename(sandbox.path("Cargo.toml.orig"), sandbox.path("Cargo.toml")).unwrap();
    if name == "mdbook" {
        // The member is not among what was published.
        sandbox.edit(
            "Cargo.toml",
            ", \"examples/remove-emphasis/mdbook-remove-emphasis\"",
            "",
        );
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::write(target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
