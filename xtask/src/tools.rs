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
    /// Whether the real MCP clients are there.
    pub(crate) clients: bool,
    /// Environment variables for every test run.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// What could not be had, and what is not tested for that reason.
    pub(crate) missing: Vec<String>,
}

/// Looks for everything, installs what is missing.
pub(crate) fn prepare(root: &Path, quick: bool) -> Tools {
    let mut tools = Tools {
        nextest: works("cargo", &["nextest", "--version"]),
        clients: false,
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
        tools.clients = clients(root);
        if !tools.clients {
            tools.missing.push(
                "the clients of tests/clients: conformance suite and official clients are not run"
                    .to_owned(),
            );
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

/// The conformance suite and the official clients. The script installs what is missing, Node.js included, and is done at once
/// when nothing is.
fn clients(root: &Path) -> bool {
    let script = root.join("tests/clients/install.sh");
    script.is_file() && run(Command::new("bash").arg(script).current_dir(root)).success
}
