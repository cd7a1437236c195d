//! The GitHub action and the pre-commit hooks, run as their hosts run them: the very script of action.yml, with the environment that
//! a runner gives it.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;

use common::Sandbox;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The script of the step that runs the command.
fn script() -> String {
    let text = file("action.yml");
    let (_, script) = text.rsplit_once("      run: |\n").unwrap();
    let lines = script
        .lines()
        .map(|line| line.strip_prefix("        ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The environment that the step declares, with the defaults of its inputs.
const STEP: [(&str, &str); 11] = [
    ("VERB", "diff"),
    ("BASE", ""),
    ("MANIFEST", "Cargo.toml"),
    ("PACKAGE", ""),
    ("FEATURES", ""),
    ("FAIL_ON", ""),
    ("FORMAT", "github"),
    ("OUT", ""),
    ("SUMMARY", "true"),
    ("TARGET_BRANCH", "main"),
    ("DEFAULT_BRANCH", "main"),
];

struct Step {
    code: i32,
    log: String,
    output: String,
    summary: String,
}

fn step(folder: &Path, changed: &[(&str, &str)]) -> Step {
    let runner = tempfile::tempdir().unwrap();
    let at = |name: &str| runner.path().join(name);
    std::fs::write(at("step.sh"), script()).unwrap();
    for name in ["output", "summary"] {
        std::fs::write(at(name), "").unwrap();
    }
    let bin = Path::new(env!("CARGO_BIN_EXE_flowx")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail"])
        .arg(at("step.sh"))
        .current_dir(folder)
        .env("PATH", path)
        .env("GITHUB_OUTPUT", at("output"))
        .env("GITHUB_STEP_SUMMARY", at("summary"))
        .envs(STEP)
        .envs(changed.iter().copied())
        .output()
        .unwrap();
    Step {
        code: output.status.code().unwrap(),
        log: String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr),
        output: std::fs::read_to_string(at("output")).unwrap(),
        summary: std::fs::read_to_string(at("summary")).unwrap(),
    }
}

/// A clone as a runner has it of a pull request: detached at the merge of the branch into the target branch.
fn pull_request() -> (Sandbox, Sandbox) {
    let origin = Sandbox::desk();
    origin.git(&["checkout", "-q", "-b", "change"]);
    origin.edit(
        "src/main.rs",
        "pub amount_cents: u64",
        "pub amount_cents: u32",
    );
    origin.flowx(&["manifest", "--write"]).ok();
    origin.commit("narrow");
    origin.git(&["checkout", "-q", "main"]);
    origin.write("README.md", "meanwhile");
    origin.commit("meanwhile");
    origin.git(&["checkout", "-q", "--detach"]);
    origin.git(&["merge", "-q", "--no-edit", "change"]);
    origin.git(&["update-ref", "refs/pull/1/merge", "HEAD"]);
    origin.git(&["checkout", "-q", "main"]);
    let runner = Sandbox::empty();
    let url = format!("file://{}", origin.root().display());
    runner.git(&["clone", "-q", &url, "repo"]);
    runner.git_in("repo", &["fetch", "-q", "origin", "refs/pull/1/merge"]);
    runner.git_in("repo", &["checkout", "-q", "--detach", "FETCH_HEAD"]);
    (origin, runner)
}

#[test]
fn the_step_declares_the_environment_that_its_script_reads() {
    let text = file("action.yml");
    for (name, _) in STEP {
        assert!(text.contains(&format!("        {name}: ${{{{ ")), "{name}");
        assert!(script().contains(name), "{name}");
    }
    // What somebody else chose is never text of the script.
    assert!(!script().contains("${{"));
}

#[test]
fn a_pull_request_is_compared_with_its_merge_base_and_told_about() {
    let (_origin, runner) = pull_request();
    let run = step(&runner.path("repo"), &[]);
    assert_eq!(run.code, 1, "{}", run.log);
    assert_eq!(run.output, "exit-code=1\n");
    assert!(
        run.log.contains("::error file=src/main.rs,line="),
        "{}",
        run.log
    );
    assert!(run.summary.contains("### flowx diff"), "{}", run.summary);
    for (change, code) in [
        (&[("FAIL_ON", "none"), ("SUMMARY", "false")][..], 0),
        (&[("VERB", "check")], 0),
        (&[("VERB", "manifest-check")], 0),
        (&[("BASE", "git:HEAD")], 0),
        (&[("VERB", "deploy")], 2),
        (&[("FORMAT", "sarif"), ("OUT", "made.sarif")], 1),
        // A push: there is no target branch.
        (&[("TARGET_BRANCH", "")], 1),
    ] {
        let run = step(&runner.path("repo"), change);
        assert_eq!(run.code, code, "{change:?}: {}", run.log);
    }
    assert!(runner.read("repo/made.sarif").contains("\"2.1.0\""));
}

#[test]
fn a_shallow_clone_fails_with_3_and_says_how_to_fetch_more() {
    let (origin, runner) = pull_request();
    let url = format!("file://{}", origin.root().display());
    runner.git(&["clone", "-q", "--depth", "1", &url, "shallow"]);
    runner.git_in(
        "shallow",
        &["fetch", "-q", "--depth", "1", "origin", "refs/pull/1/merge"],
    );
    runner.git_in("shallow", &["checkout", "-q", "--detach", "FETCH_HEAD"]);
    let run = step(&runner.path("shallow"), &[]);
    assert_eq!(run.code, 3, "{}", run.log);
    assert_eq!(run.output, "exit-code=3\n");
    assert!(run.log.contains("fetch-depth: 0"), "{}", run.log);
    assert_eq!(run.summary, "");
}

#[test]
fn no_input_becomes_code_or_a_flag() {
    let (_origin, runner) = pull_request();
    let hostile = [
        "$(touch pwned)",
        "`touch pwned`",
        "; touch pwned",
        "\"; touch pwned; \"",
        "--format=json",
        "--allow=pwned",
        "-q",
        "--out=pwned",
        "x\nexit-code=0",
        "--upload-pack=touch pwned",
    ];
    for name in [
        "BASE",
        "MANIFEST",
        "PACKAGE",
        "FEATURES",
        "FAIL_ON",
        "FORMAT",
        "TARGET_BRANCH",
        "VERB",
    ] {
        for text in hostile {
            let run = step(&runner.path("repo"), &[(name, text)]);
            assert!(
                matches!(run.code, 2 | 3),
                "{name}={text}: {} {}",
                run.code,
                run.log
            );
            assert!(!runner.path("repo/pwned").exists(), "{name}={text}");
            assert!(run.output.lines().count() <= 1, "{}", run.output);
        }
    }
    let run = step(&runner.path("repo"), &[("OUT", "-n"), ("FORMAT", "json")]);
    assert!(run.log.contains("\"verdict\""), "{}", run.log);
}

#[test]
fn every_hook_runs_an_installed_command_that_does_what_it_says() {
    let hooks = file(".pre-commit-hooks.yaml");
    let entries: Vec<&str> = hooks
        .lines()
        .filter_map(|line| line.trim().strip_prefix("entry: flowx "))
        .collect();
    assert_eq!(entries, ["manifest --write", "check"]);
    // `language: rust` would install the folder of the repository, which is a workspace and no package.
    assert_eq!(hooks.matches("language: system").count(), entries.len());
    let sandbox = Sandbox::desk();
    sandbox.edit("src/main.rs", "owner = \"support\"", "owner = \"billing\"");
    for entry in entries {
        sandbox.flowx(&entry.split(' ').collect::<Vec<_>>()).ok();
    }
    assert_eq!(
        sandbox.git(&["status", "--porcelain", "flowx.manifest.json"]),
        "M flowx.manifest.json"
    );
}
