//! What the tests need beside cargo: looked for, installed where missing, and said.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{run, works};

/// What was found or installed, as an environment for the tests.
pub(crate) struct Tools {
    /// Whether `cargo nextest` can be used.
    pub(crate) nextest: bool,
    /// Environment variables for every test run.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// What could not be had, and what is not tested for that reason.
    pub(crate) missing: Vec<String>,
}

/// Looks for everything, installs what is missing.
pub(crate) fn prepare(root: &Path, quick: bool) -> Tools {
    let mut tools = Tools {
        nextest: works("cargo", &["nextest", "--version"]),
        environment: Vec::new(),
        missing: Vec::new(),
    };
    if !tools.nextest {
        println!("cargo-nextest is not installed: `cargo test` runs the tests instead");
    }
    let mut path: Vec<PathBuf> = env::var_os("PATH")
        .map(|p| env::split_paths(&p).collect())
        .unwrap_or_default();
    if !quick {
        match postgres() {
            Some(bin) => {
                path.push(bin.clone());
                tools.environment.push(("FLOWX_TEST_PG_BIN", bin.into()));
            }
            None => tools.missing.push(
                "PostgreSQL's server (initdb): the stores are tested on SQLite alone".to_owned(),
            ),
        }
        match node(root) {
            Some(node) => {
                clients(root, &node, &path, &mut tools);
                tools.environment.push(("FLOWX_TEST_NODE", node.into()));
            }
            None => tools
                .missing
                .push("Node.js 22: conformance suite and official clients are not run".to_owned()),
        }
    }
    if let Ok(joined) = env::join_paths(path) {
        tools.environment.push(("PATH", joined));
    }
    tools
}

/// The folder with `initdb`, `postgres` and `pg_ctl`.
fn postgres() -> Option<PathBuf> {
    if let Some(found) = find_postgres() {
        return Some(found);
    }
    println!("installing the PostgreSQL server (Debian's package postgresql)");
    let sudo = !works("sh", &["-c", "test \"$(id -u)\" = 0"]);
    let apt = |args: &[&str]| {
        let mut command = if sudo {
            Command::new("sudo")
        } else {
            Command::new("apt-get")
        };
        if sudo {
            command.arg("apt-get");
        }
        run(command.args(args).env("DEBIAN_FRONTEND", "noninteractive")).success
    };
    apt(&["update", "-qq"]);
    apt(&[
        "install",
        "-y",
        "-qq",
        "--no-install-recommends",
        "postgresql",
    ]);
    find_postgres()
}

fn find_postgres() -> Option<PathBuf> {
    // The versioned folder first: what stands in PATH is often a wrapper or a link to it.
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|bin| bin.join("initdb").is_file())
        .collect();
    versions.sort();
    versions.pop().or_else(|| {
        env::split_paths(&env::var_os("PATH")?)
            .find(|dir| dir.join("initdb").is_file() && dir.join("postgres").is_file())
    })
}

/// A Node.js of version 22 or later.
fn node(root: &Path) -> Option<PathBuf> {
    let new_enough = |node: &Path| {
        let output = Command::new(node).arg("--version").output().ok()?;
        let version = String::from_utf8(output.stdout).ok()?;
        let major: u32 = version
            .trim()
            .strip_prefix('v')?
            .split('.')
            .next()?
            .parse()
            .ok()?;
        (major >= 22).then(|| node.to_owned())
    };
    let local = root.join("target/tools/node_modules/node/bin/node");
    if let Some(found) = new_enough(Path::new("node")).or_else(|| new_enough(&local)) {
        return Some(found);
    }
    println!("installing Node.js 22 (npm package node) into target/tools");
    std::fs::create_dir_all(root.join("target/tools")).ok()?;
    run(Command::new("npm")
        .args([
            "install",
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--prefix",
            "target/tools",
            "node@22",
        ])
        .current_dir(root));
    new_enough(&local)
}

/// The conformance suite and the official clients: `tests/clients/package-lock.json` and `requirements.txt`.
fn clients(root: &Path, node: &Path, path: &[PathBuf], tools: &mut Tools) {
    let folder = root.join("tests/clients");
    if !folder.join("package.json").is_file() {
        return;
    }
    let mut first = vec![node.parent().map(Path::to_owned).unwrap_or_default()];
    first.extend(path.iter().cloned());
    let path = env::join_paths(first).unwrap_or_default();
    let stamp = folder.join("node_modules/.package-lock.json");
    let fresh = newer(&stamp, &folder.join("package-lock.json"));
    let verb = if folder.join("package-lock.json").is_file() {
        "ci"
    } else {
        "install"
    };
    let install = || {
        println!(
            "installing the clients and the conformance suite into tests/clients/node_modules"
        );
        run(Command::new("npm")
            .args([verb, "--no-audit", "--no-fund"])
            .env("PATH", &path)
            .current_dir(&folder))
        .success
    };
    if fresh || install() {
        tools
            .environment
            .push(("FLOWX_TEST_CLIENTS", folder.clone().into()));
    } else {
        tools
            .missing
            .push("the npm packages of tests/clients: official clients are not run".to_owned());
    }
    let requirements = folder.join("requirements.txt");
    if !requirements.is_file() {
        return;
    }
    let venv = root.join("target/tools/venv");
    let python = venv.join("bin/python");
    let done = venv.join("installed");
    if !newer(&done, &requirements) {
        println!("installing the Python client into target/tools/venv");
        let made = run(Command::new("python3").args(["-m", "venv"]).arg(&venv)).success
            && run(Command::new(&python)
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "-r",
                ])
                .arg(&requirements))
            .success;
        if made {
            let _ = std::fs::write(&done, "");
        }
    }
    if done.is_file() {
        tools.environment.push(("FLOWX_TEST_PYTHON", python.into()));
    } else {
        tools
            .missing
            .push("the Python packages of tests/clients: the Python client is not run".to_owned());
    }
}

fn newer(made: &Path, source: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    match (modified(made), modified(source)) {
        (Some(made), Some(source)) => made >= source,
        (Some(_), None) => true,
        _ => false,
    }
}
