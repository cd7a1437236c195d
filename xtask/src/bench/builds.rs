//! Build rows: the same handlers with FlowX, by hand, and with rmcp.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;

use super::crates::{self, Side};
use super::{Row, paired};

/// Cold and incremental, `cargo build` and `cargo check`, beside both other ways of writing it.
///
/// # Errors
/// When a side does not build.
pub(crate) fn rows(root: &Path, flows: usize, rounds: usize) -> anyhow::Result<Vec<Row>> {
    let at = root.join("target/bench/build");
    crates::write(root, &at, flows)?;
    let sides = [Side::Flowx, Side::Plain, Side::Rmcp];
    let mut rows = Vec::new();
    for verb in ["build", "check"] {
        // The dependencies of all sides first, so that only the crates themselves are measured.
        for side in sides {
            cargo(&at, verb, side)?;
        }
        let (mut cold, mut warm) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
        for round in 0..rounds {
            for (i, side) in sides.into_iter().enumerate() {
                clean(&at, side)?;
                cold[i].push(cargo(&at, verb, side)?);
                edit(&at, side, round)?;
                warm[i].push(cargo(&at, verb, side)?);
            }
        }
        let budget = if verb == "build" {
            "≤ 1.08"
        } else {
            "≤ 1.15"
        };
        for (kind, times) in [("cold", &cold), ("one handler edited", &warm)] {
            let what =
                |beside: &str| format!("cargo {verb}, {flows} flows, {kind}, beside {beside}");
            rows.push(paired(
                what("the same by hand"),
                &times[0],
                &times[1],
                budget,
            ));
            rows.push(paired(
                what("rmcp `#[tool]`s"),
                &times[0],
                &times[2],
                "≤ 1.0",
            ));
        }
    }
    Ok(rows)
}

/// The cold build of what FlowX puts before a crate's own build, beside its peers.
///
/// # Errors
/// When a side does not build.
pub(crate) fn cold(root: &Path, rounds: usize) -> anyhow::Result<Vec<Row>> {
    let at = root.join("target/bench/cold");
    let sides: [(&str, String); 3] = [
        (
            "flowx",
            format!(
                "flowx-build = {{ path = {:?} }}\nflowx-macros = {{ path = {:?} }}\n",
                root.join("flowx-build"),
                root.join("flowx-macros")
            ),
        ),
        ("schemars-derive", "schemars_derive = \"1\"\n".to_owned()),
        ("rmcp-macros", "rmcp-macros = \"=3.11.0\"\n".to_owned()),
    ];
    for (name, dependencies) in &sides {
        let folder = at.join(name);
        std::fs::create_dir_all(folder.join("src"))?;
        std::fs::write(folder.join("src/lib.rs"), "//! Measured.\n")?;
        std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        std::fs::write(
            folder.join("Cargo.toml"),
            format!(
                "[package]\nname = \"cold-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}"
            ),
        )?;
    }
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for (i, (name, _)) in sides.iter().enumerate() {
            let folder = at.join(name);
            let target = folder.join("target");
            if target.exists() {
                std::fs::remove_dir_all(&target)?;
            }
            times[i].push(timed(
                Command::new("cargo")
                    .args(["build", "--quiet"])
                    .current_dir(&folder),
            )?);
        }
    }
    let what = |beside: &str| {
        format!("cold build of flowx-build and flowx-macros with all they pull in, beside {beside}")
    };
    Ok(vec![
        paired(what("schemars_derive"), &times[0], &times[1], "shown"),
        paired(what("rmcp-macros"), &times[0], &times[2], "shown"),
    ])
}

fn cargo(at: &Path, verb: &str, side: Side) -> anyhow::Result<f64> {
    timed(
        Command::new("cargo")
            .args([verb, "--quiet", "-p", side.package()])
            .current_dir(at),
    )
}

fn clean(at: &Path, side: Side) -> anyhow::Result<()> {
    timed(
        Command::new("cargo")
            .args(["clean", "--quiet", "-p", side.package()])
            .current_dir(at),
    )
    .map(drop)
}

/// Changes the body of one handler, differently in every round.
fn edit(at: &Path, side: Side, round: usize) -> anyhow::Result<()> {
    let file = at.join(side.package()).join("src/part0.rs");
    let text = std::fs::read_to_string(&file)?;
    let (before, rest) = text
        .split_once("total_cents: input.amount_cents + ")
        .context("the first handler's body")?;
    let rest = rest
        .split_once("u64::from")
        .context("the first handler's body")?
        .1;
    std::fs::write(
        &file,
        format!("{before}total_cents: input.amount_cents + {round} + u64::from{rest}"),
    )?;
    Ok(())
}

/// Runs it, silently, and tells how many seconds it took.
fn timed(command: &mut Command) -> anyhow::Result<f64> {
    let begin = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    let seconds = begin.elapsed().as_secs_f64();
    anyhow::ensure!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(seconds)
}
