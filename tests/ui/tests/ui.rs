//! Every case under `cases/`, as rustc sees it. A case without a `.stderr` beside it compiles without a warning; one with it says exactly
//! what stands there. `FLOWX_BLESS=1` writes the files anew.
//!
//! The cases are compiled by rustc against what cargo has already built for this very test, one process each, metadata only: a case
//! costs half a second where a harness with a target directory of its own builds the whole runtime again (docs/decisions/060).
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

mod harness;
use harness::{Built, built, rustc};

fn cases(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            cases(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// What rustc says about a case, without the names of folders. `//@ findings: FILE` gives it what a scan has found.
fn compile(built: &Built, case: &Path, out: &Path) -> String {
    let source = std::fs::read_to_string(case).unwrap();
    let mut command = rustc(built);
    command
        .args([
            "--crate-type=lib",
            "--crate-name=case",
            "--emit=metadata",
            "--error-format=human",
        ])
        .arg("-Dwarnings")
        .arg("--out-dir")
        .arg(out);
    for line in source.lines().filter_map(|l| l.strip_prefix("//@ ")) {
        match line.split_once(": ").unwrap() {
            ("findings", file) => {
                let scanned = out.join("flowx");
                std::fs::create_dir_all(&scanned).unwrap();
                std::fs::copy(case.with_file_name(file), scanned.join("findings.json")).unwrap();
                command.env("OUT_DIR", out);
            }
            ("manifest", text) => {
                let scanned = out.join("flowx");
                std::fs::create_dir_all(&scanned).unwrap();
                std::fs::write(scanned.join("lib.rs"), text).unwrap();
                command.env("OUT_DIR", out);
            }
            ("env", pair) => {
                let (name, value) = pair.split_once('=').unwrap();
                command.env(name, value);
            }
            ("extern", pair) => {
                let (name, library) = pair.split_once('=').unwrap();
                command
                    .arg("--extern")
                    .arg(format!("{name}={}", built.externs[library].display()));
            }
            (other, _) => panic!("{}: `//@ {other}` is nothing", case.display()),
        }
    }
    let folder = case.parent().unwrap();
    let output = command
        .arg(case.file_name().unwrap())
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        output.status.success(),
        text.is_empty(),
        "{}\n{text}",
        case.display()
    );
    plain(
        &text
            .replace(&out.display().to_string(), "$OUT")
            .replace("\r\n", "\n"),
    )
}

/// Without what differs from machine to machine, and without the places inside the runtime, which are not what a case is about.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let place = line.find("--> ").map(|at| at + 4);
        match place.map(|at| line.split_at(at)) {
            Some((arrow, path)) if path.contains("flowx-runtime/src/") || path.starts_with('/') => {
                let path = path.replace('\\', "/");
                let path = path.split(':').next().unwrap_or_default();
                let path = ["flowx-runtime/src/", "/library/", "/registry/src/"]
                    .iter()
                    .find_map(|mark| path.find(mark).map(|at| path[at..].trim_start_matches('/')))
                    .unwrap_or(path);
                let _ = writeln!(out, "{arrow}{path}");
            }
            _ => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

/// What stays the same over versions of rustc: what is said, and where.
fn essence(text: &str) -> Vec<&str> {
    let says = |line: &&str| {
        line.starts_with("error")
            || line.starts_with("warning")
            || line.trim_start().starts_with("--> ")
    };
    text.lines().filter(says).collect()
}

/// The version whose words the `.stderr` files hold.
const RUSTC: &str = "rustc 1.95.";

fn exact() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let version = Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8_lossy(&version.stdout).starts_with(RUSTC)
}

#[test]
fn right_declarations_compile_and_wrong_ones_say_what_where_and_how_to_mend_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let bless = std::env::var_os("FLOWX_BLESS").is_some();
    let only = std::env::var("FLOWX_CASE").unwrap_or_default();
    let mut all = Vec::new();
    cases(&root, &mut all);
    all.retain(|c| c.to_string_lossy().contains(&only));
    all.sort();
    assert!(!all.is_empty());
    let (built, exact) = (built(), exact());
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(case) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let out = tempfile::tempdir().unwrap();
                    let said = compile(&built, case, out.path());
                    let file = case.with_extension("stderr");
                    if case.parent().is_some_and(|f| f.ends_with("pass")) {
                        // Nothing blesses a right declaration into a wrong one.
                        assert_eq!(said, "", "{}", case.display());
                    }
                    let expected = std::fs::read_to_string(&file)
                        .unwrap_or_default()
                        .replace("\r\n", "\n");
                    if bless && said.is_empty() && file.exists() {
                        std::fs::remove_file(&file).unwrap();
                    } else if bless && !said.is_empty() {
                        std::fs::write(&file, &said).unwrap();
                    } else if if exact {
                        said != expected
                    } else {
                        essence(&said) != essence(&expected)
                    } {
                        wrong.lock().unwrap().insert(case.clone(), (expected, said));
                    }
                }
            });
        }
    });
    let mut report = String::new();
    for (case, (expected, said)) in wrong.into_inner().unwrap() {
        let name = case.strip_prefix(&root).unwrap().display();
        let _ = write!(
            report,
            "\n==== {name}\n---- expected\n{expected}\n---- said\n{said}"
        );
    }
    assert!(report.is_empty(), "{report}");
}

/// A `.stderr` whose case is gone holds nothing to anything.
#[test]
fn every_expectation_has_its_case() {
    let mut stray = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "stderr")
                && !path.with_extension("rs").exists()
            {
                stray.push(path);
            }
        }
    }
    assert!(stray.is_empty(), "{stray:?}");
}
