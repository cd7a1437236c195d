//! What the tests of this crate share: the libraries that cargo has built for them, and a rustc that is given those.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// What the cases may name.
const NAMED: &[&str] = &["flowx_ui", "flowx_runtime", "serde", "thiserror", "tracing"];

pub(crate) struct Built {
    pub(crate) externs: BTreeMap<String, PathBuf>,
    pub(crate) deps: PathBuf,
}

/// The libraries that this test was built with: those beside it, the newest that go together. No cargo is asked, since it would build
/// them again with the features of this package alone.
pub(crate) fn built() -> Built {
    let exe = std::env::current_exe().unwrap();
    let deps = exe.parent().unwrap().to_path_buf();
    let mut found: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(&deps).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name
            .strip_prefix("lib")
            .and_then(|n| n.strip_suffix(".rlib"))
        else {
            continue;
        };
        let krate = stem.rsplit_once('-').map_or(stem, |(krate, _)| krate);
        if let Some(named) = NAMED.iter().find(|n| **n == krate) {
            found.entry(named).or_default().push(path);
        }
    }
    let age =
        |path: &PathBuf| std::cmp::Reverse(std::fs::metadata(path).and_then(|m| m.modified()).ok());
    for all in found.values_mut() {
        all.sort_by_key(age);
    }
    let mut externs: BTreeMap<String, PathBuf> = found
        .iter()
        .map(|(name, all)| ((*name).to_owned(), all[0].clone()))
        .collect();
    let goes_together = |externs: &BTreeMap<String, PathBuf>, text: &str| {
        let probe = tempfile::tempdir().unwrap();
        let file = probe.path().join("probe.rs");
        std::fs::write(&file, text).unwrap();
        let built = Built {
            externs: externs.clone(),
            deps: deps.clone(),
        };
        let output = rustc(&built)
            .args(["--crate-type=lib", "--crate-name=probe", "--emit=metadata"])
            .arg("--out-dir")
            .arg(probe.path())
            .arg(&file)
            .output();
        output.unwrap().status.success()
    };
    let steps = [
        (
            "flowx_runtime",
            "pub(crate) fn probe(x: flowx_ui::NoInput) -> flowx_runtime::NoInput { x }",
        ),
        (
            "serde",
            "fn same<T: serde::Serialize>() {} pub(crate) fn probe() { same::<flowx_runtime::NoInput>() }",
        ),
    ];
    for (name, text) in steps {
        let fits = found[name].iter().find(|library| {
            externs.insert(name.to_owned(), (*library).clone());
            goes_together(&externs, text)
        });
        assert!(
            fits.is_some(),
            "no {name} in {} goes with the rest",
            deps.display()
        );
    }
    Built { externs, deps }
}

/// A rustc of this edition that finds those libraries, and none of what cargo tells of the package that is tested.
pub(crate) fn rustc(built: &Built) -> Command {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let mut command = Command::new(rustc);
    command
        .args(["--edition=2024", "--color=never"])
        .arg("-L")
        .arg(format!("dependency={}", built.deps.display()));
    for (name, path) in &built.externs {
        command
            .arg("--extern")
            .arg(format!("{name}={}", path.display()));
    }
    for name in [
        "OUT_DIR",
        "CARGO_BIN_NAME",
        "CARGO_TARGET_TMPDIR",
        "FLOWX_RUNTIME",
    ] {
        command.env_remove(name);
    }
    command
}
