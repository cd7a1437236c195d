//! `cargo xtask test`: installs what is missing, runs everything, and closes with one line of counts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::{self, Outcome};
use crate::tools::{self, Tools};
use crate::{deny, process::works};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leaves out what needs PostgreSQL, Node.js and Python
    #[arg(long)]
    quick: bool,
    /// Compiles and downloads what takes long as well: crates after `flowx init`, public ones among them
    #[arg(long)]
    full: bool,
    /// Runs only the steps whose name holds this
    #[arg(long)]
    only: Option<String>,
}

/// Runs every step, also after one that failed, and gives the exit code.
pub(crate) fn run(root: &Path, options: &Options) -> i32 {
    let mut tools = tools::prepare(root, options.quick);
    if options.full {
        tools.environment.push(("FLOWX_FULL", "1".into()));
    }
    // Incremental data is worth its disk only to somebody who builds again.
    if std::env::var_os("CI").is_some() {
        tools.environment.push(("CARGO_INCREMENTAL", "0".into()));
    }
    let mut all = Run {
        root,
        only: options.only.as_deref(),
        tools,
        steps: Vec::new(),
    };
    all.check("rustfmt", &["fmt", "--all", "--check"]);
    all.check(
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    );
    all.tests();
    all.check(
        "OpenTelemetry",
        &[
            "test",
            "-p",
            "flowx-runtime",
            "--features",
            "otel",
            "--test",
            "otel",
            "--locked",
        ],
    );
    all.doc_tests();
    all.committed_manifests();
    all.fixtures();
    all.packaged();
    all.lies();
    all.clients();
    all.peers(options.quick);
    all.licences();
    all.summary()
}

#[derive(Default, Clone, Copy)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

struct Step {
    name: String,
    counts: Counts,
    took: Duration,
}

struct Run<'a> {
    root: &'a Path,
    only: Option<&'a str>,
    tools: Tools,
    steps: Vec<Step>,
}

impl Run<'_> {
    fn wanted(&self, name: &str) -> bool {
        self.only.is_none_or(|only| name.contains(only))
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command
            .args(args)
            .current_dir(self.root)
            .envs(self.tools.environment.iter().cloned());
        command
    }

    fn step(&mut self, name: &str, counts: impl FnOnce(&Self) -> Counts) {
        if !self.wanted(name) {
            return;
        }
        println!("\n== {name}");
        let begun = Instant::now();
        let counts = counts(self);
        self.steps.push(Step {
            name: name.to_owned(),
            counts,
            took: begun.elapsed(),
        });
    }

    /// A command that passes or fails as a whole.
    fn check(&mut self, name: &str, args: &[&str]) {
        self.step(name, |run| one(process::run(&mut run.cargo(args)).success));
    }

    fn tests(&mut self) {
        self.step("tests", |run| {
            if run.tools.nextest {
                let outcome = process::run(&mut run.cargo(&[
                    "nextest",
                    "run",
                    "--workspace",
                    "--locked",
                    "--no-fail-fast",
                ]));
                counted(&outcome, nextest_counts(&outcome.text))
            } else {
                let outcome = process::run(&mut run.cargo(&[
                    "test",
                    "--workspace",
                    "--all-targets",
                    "--locked",
                    "--no-fail-fast",
                ]));
                counted(&outcome, libtest_counts(&outcome.text))
            }
        });
    }

    fn doc_tests(&mut self) {
        self.step("doc tests", |run| {
            let outcome = process::run(&mut run.cargo(&[
                "test",
                "--workspace",
                "--doc",
                "--locked",
                "--no-fail-fast",
            ]));
            counted(&outcome, libtest_counts(&outcome.text))
        });
    }

    /// The examples' flowx.manifest.json, by the command that a user's CI runs.
    fn committed_manifests(&mut self) {
        for folder in crates_in(&self.root.join("examples")) {
            if folder.join("flowx.manifest.json").is_file() {
                let manifest = folder.join("Cargo.toml").display().to_string();
                let args = [
                    "run",
                    "--quiet",
                    "--locked",
                    "-p",
                    "flowx-cli",
                    "--bin",
                    "flowx",
                    "--",
                    "manifest",
                    "--check",
                    "--manifest-path",
                    &manifest,
                ];
                self.check(&format!("manifest {}", name_of(&folder)), &args);
            }
        }
    }

    /// Crates that stand outside the workspace and must build and pass their tests, in one target folder.
    fn fixtures(&mut self) {
        for folder in crates_in(&self.root.join("tests/fixtures")) {
            self.step(&format!("fixture {}", name_of(&folder)), |run| {
                let outcome = process::run(
                    run.cargo(&["test", "--quiet"])
                        .current_dir(&folder)
                        .env("CARGO_TARGET_DIR", run.shared_target()),
                );
                let counts = counted(&outcome, libtest_counts(&outcome.text));
                if counts.passed + counts.failed == 0 {
                    println!("the fixture ran no test");
                    return one(false);
                }
                counts
            });
        }
    }

    /// A crate as its user publishes it: packaged, unpacked somewhere else, and built there without a file of it changing.
    fn packaged(&mut self) {
        self.step("cargo package", |run| {
            let target = run.shared_target();
            match unpack(run, &target) {
                Ok(folder) => {
                    let before = files_below(&folder);
                    let outcome = process::run(
                        run.cargo(&["test", "--quiet"])
                            .current_dir(&folder)
                            .env("CARGO_TARGET_DIR", &target),
                    );
                    let changed = files_below(&folder) != before;
                    if changed {
                        println!("the build has changed the package");
                    }
                    let counts = counted(&outcome, libtest_counts(&outcome.text));
                    Counts {
                        failed: counts.failed + u64::from(changed),
                        ..counts
                    }
                }
                Err(what) => {
                    println!("{what}");
                    one(false)
                }
            }
        });
    }

    /// Crates that must not build, or whose test must not pass: `expect.txt` holds, line by line, what the compiler must say, and
    /// `expect-test.txt` what `cargo test` must.
    fn lies(&mut self) {
        for folder in crates_in(&self.root.join("tests/lies")) {
            self.step(&format!("lie {}", name_of(&folder)), |run| {
                let tested = folder.join("expect-test.txt").is_file();
                let (file, verb) = match tested {
                    true => ("expect-test.txt", "test"),
                    false => ("expect.txt", "check"),
                };
                let expected = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
                let lines: Vec<&str> = expected
                    .lines()
                    .filter(|line| !line.trim().is_empty())
                    .collect();
                let outcome = process::run(
                    run.cargo(&[verb, "--quiet"])
                        .current_dir(&folder)
                        .env("CARGO_TARGET_DIR", run.shared_target()),
                );
                let unsaid: Vec<&&str> = lines
                    .iter()
                    .filter(|line| !outcome.text.contains(**line))
                    .collect();
                if lines.is_empty() {
                    println!("{file} is missing or empty");
                }
                if outcome.success {
                    println!("the lie went through");
                }
                for line in &unsaid {
                    println!("`cargo {verb}` did not say: {line}");
                }
                one(!outcome.success && !lines.is_empty() && unsaid.is_empty())
            });
        }
    }

    /// Conformance suite and official clients against real servers. The script closes with `N passed, N failed`.
    fn clients(&mut self) {
        if !self.tools.clients || !self.root.join("tests/clients/run.sh").is_file() {
            return;
        }
        self.step("real clients", |run| {
            let mut command = Command::new("bash");
            command
                .arg("tests/clients/run.sh")
                .current_dir(run.root)
                .envs(run.tools.environment.iter().cloned());
            let outcome = process::run(&mut command);
            counted(&outcome, closing_counts(&outcome.text))
        });
    }

    /// What other tools say of the same edits, as docs/comparison.md has it.
    fn peers(&mut self, quick: bool) {
        if quick {
            return;
        }
        self.step("peers", |run| {
            let mut command = Command::new("bash");
            command.arg("tests/peers/run.sh").current_dir(run.root);
            one(process::run(&mut command).success)
        });
    }

    fn shared_target(&self) -> PathBuf {
        self.root.join("target/fixtures")
    }

    fn licences(&mut self) {
        self.step("licences and bans", |run| {
            if works("cargo", &["deny", "--version"]) {
                return one(process::run(
                    &mut run.cargo(&["deny", "check", "bans", "licenses", "sources"]),
                )
                .success);
            }
            println!(
                "cargo-deny is not installed: licences and bans of deny.toml are checked here"
            );
            match deny::check(run.root) {
                Ok(findings) => {
                    findings.iter().for_each(|finding| println!("{finding}"));
                    one(findings.is_empty())
                }
                Err(error) => {
                    println!("{error:#}");
                    one(false)
                }
            }
        });
    }

    fn summary(&self) -> i32 {
        println!("\n== summary");
        let mut all = Counts::default();
        for step in &self.steps {
            let Counts {
                passed,
                failed,
                skipped,
            } = step.counts;
            println!(
                "{:<32} {:>6} passed {:>4} failed {:>4} skipped {:>8.1} s",
                step.name,
                passed,
                failed,
                skipped,
                step.took.as_secs_f64()
            );
            all.passed += passed;
            all.failed += failed;
            all.skipped += skipped;
        }
        // What could not be tested has not passed; `--quick` leaves it out on purpose.
        for missing in &self.tools.missing {
            println!("could not be installed: {missing}");
            all.failed += 1;
        }
        println!(
            "{} passed, {} failed, {} skipped",
            all.passed, all.failed, all.skipped
        );
        // A run that tested nothing must not look like one that passed.
        i32::from(all.failed > 0 || all.passed == 0)
    }
}

/// `tests/packaged` as `cargo package` makes it, unpacked. What is not published yet is taken from here.
fn unpack(run: &Run<'_>, target: &Path) -> Result<PathBuf, String> {
    let package = [
        "package",
        "--quiet",
        "--allow-dirty",
        "--no-verify",
        "--exclude-lockfile",
    ];
    let packaged = process::run(
        run.cargo(&package)
            .current_dir(run.root.join("tests/packaged"))
            .env("CARGO_TARGET_DIR", target),
    );
    if !packaged.success {
        return Err("cargo package failed".to_owned());
    }
    let folder = target.join("unpacked");
    let fail = |e: std::io::Error| e.to_string();
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(fail)?;
    }
    std::fs::create_dir_all(&folder).map_err(fail)?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf")
        .arg(target.join("package/packaged-0.1.0.crate"))
        .arg("-C")
        .arg(&folder);
    if !process::run(&mut tar).success {
        return Err("the package cannot be unpacked".to_owned());
    }
    let folder = folder.join("packaged-0.1.0");
    let manifest = folder.join("Cargo.toml");
    let mut text = std::fs::read_to_string(&manifest).map_err(fail)?;
    if text.contains("path = \"../") {
        return Err("the package still points beside itself".to_owned());
    }
    text.push_str("\n[workspace]\n\n[patch.crates-io]\n");
    for name in [
        "flowx-runtime",
        "flowx-build",
        "flowx-macros",
        "flowx-manifest",
        "flowx-syntax",
        "flowx-diff",
        "flowx-verify",
    ] {
        let path = run.root.join(name).display().to_string();
        text.push_str(&format!("{name} = {{ path = {path:?} }}\n"));
    }
    std::fs::write(&manifest, text).map_err(fail)?;
    Ok(folder)
}

/// Every file below that folder with its bytes, but what cargo itself keeps there.
fn files_below(folder: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|n| n != "Cargo.lock") {
                let bytes = std::fs::read(&path).unwrap_or_default();
                found.insert(path, bytes);
            }
        }
    }
    found
}

fn one(passed: bool) -> Counts {
    Counts {
        passed: u64::from(passed),
        failed: u64::from(!passed),
        skipped: 0,
    }
}

/// The counts read from the output; a run that failed without naming a failed test counts as one failure.
fn counted(outcome: &Outcome, mut counts: Counts) -> Counts {
    if !outcome.success && counts.failed == 0 {
        counts.failed = 1;
    }
    counts
}

/// `     Summary [   1.2s] 10 tests run: 9 passed (1 slow), 1 failed, 2 skipped`
fn nextest_counts(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text
        .lines()
        .filter(|line| line.trim_start().starts_with("Summary ["))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1].trim_end_matches(',') {
                "passed" => counts.passed += number,
                "failed" | "timed" => counts.failed += number,
                "skipped" => counts.skipped += number,
                _ => {}
            }
        }
    }
    counts
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; …`
fn libtest_counts(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text
        .lines()
        .filter(|line| line.starts_with("test result: "))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1] {
                "passed;" => counts.passed += number,
                "failed;" => counts.failed += number,
                "ignored;" => counts.skipped += number,
                _ => {}
            }
        }
    }
    counts
}

/// The last line of the form `12 passed, 0 failed, 1 skipped`.
fn closing_counts(text: &str) -> Counts {
    let read = |line: &str| {
        let mut counts = Counts::default();
        for part in line.trim().split(", ") {
            let (number, word) = part.split_once(' ')?;
            let number = number.parse().ok()?;
            match word {
                "passed" => counts.passed = number,
                "failed" => counts.failed = number,
                "skipped" => counts.skipped = number,
                _ => return None,
            }
        }
        Some(counts)
    };
    text.lines().rev().find_map(read).unwrap_or_default()
}

/// The crates directly in a folder, sorted by name.
fn crates_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .collect();
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_line_of_nextest_is_read() {
        let text = "    Summary [   1.221s] 10 tests run: 8 passed (1 slow), 1 failed, 1 timed out, 2 skipped\n";
        let counts = nextest_counts(text);
        assert_eq!((counts.passed, counts.failed, counts.skipped), (8, 2, 2));
    }

    #[test]
    fn the_result_lines_of_libtest_are_added_up() {
        let text = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                    test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let counts = libtest_counts(text);
        assert_eq!((counts.passed, counts.failed, counts.skipped), (4, 2, 1));
    }

    #[test]
    fn the_closing_line_of_a_script_is_read() {
        let counts =
            closing_counts("1 passed, 1 failed\nmore\n12 passed, 3 failed, 1 skipped\nbye\n");
        assert_eq!((counts.passed, counts.failed, counts.skipped), (12, 3, 1));
        assert_eq!(closing_counts("nothing here").passed, 0);
    }

    #[test]
    fn a_run_that_fails_to_build_counts_as_a_failure() {
        let outcome = Outcome {
            success: false,
            text: String::new(),
        };
        assert_eq!(counted(&outcome, Counts::default()).failed, 1);
    }
}
