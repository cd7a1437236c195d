//! Runtime rows: what `tools/list`, a step and a gate decision cost beside the same without FlowX.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::{Row, median};

/// `tools/list` of 100 and 1,000 tools: time of the server's thread on a processor, per request.
///
/// # Errors
/// When the bench does not build or run.
pub(crate) fn tools(root: &Path, rounds: usize) -> anyhow::Result<Vec<Row>> {
    let figures = tools_list(root, rounds, &["100", "1000"])?;
    let mut rows = Vec::new();
    for (size, budget) in [("100", "≤ 0.286 (1/3.5)"), ("1000", "≤ 0.1 (1/10)")] {
        let side = |name: &str| {
            figures
                .get(&(size.to_owned(), name.to_owned()))
                .cloned()
                .with_context(|| format!("the bench says nothing of {name} with {size} tools"))
        };
        let (ours, theirs) = (side("flowx")?, side("rmcp")?);
        rows.push(Row {
            what: format!("tools/list, {size} tools, server CPU, beside rmcp's typed list"),
            ours: format!("{:.0} µs", median(&ours)),
            theirs: format!("{:.0} µs", median(&theirs)),
            ratios: ours.iter().zip(&theirs).map(|(a, b)| a / b).collect(),
            budget,
        });
    }
    Ok(rows)
}

/// Microseconds per request by size and side, one per round.
pub(super) fn tools_list(
    root: &Path,
    rounds: usize,
    sizes: &[&str],
) -> anyhow::Result<BTreeMap<(String, String), Vec<f64>>> {
    let rounds = rounds.to_string();
    let mut arguments = vec![
        "bench",
        "-q",
        "-p",
        "flowx-runtime",
        "--bench",
        "tools_list",
    ];
    arguments.extend(["--", &rounds]);
    arguments.extend(sizes);
    let text = output(Command::new("cargo").args(arguments).current_dir(root))?;
    let mut figures = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["tools_list", size, side, rest @ ..] = words.as_slice() {
            let rest = rest.iter().map(|f| f.parse()).collect::<Result<_, _>>()?;
            figures.insert(((*size).to_owned(), (*side).to_owned()), rest);
        }
    }
    Ok(figures)
}

/// A decision on PostgreSQL: its rate beside that of one statement. Here more is better.
///
/// # Errors
/// When the bench does not build or run.
pub(crate) fn gate(root: &Path) -> anyhow::Result<Vec<Row>> {
    let text = output(
        Command::new("cargo")
            .args([
                "bench",
                "-q",
                "-p",
                "flowx-runtime",
                "--bench",
                "gate_decision",
            ])
            .current_dir(root),
    )?;
    let rates = |side: &str| -> anyhow::Result<Vec<f64>> {
        let line = text
            .lines()
            .find_map(|l| l.strip_prefix(&format!("gate_decision {side} ")))
            .with_context(|| format!("the bench says nothing of {side}"))?;
        Ok(line
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()?)
    };
    let statement = rates("statement")?;
    let mut rows = Vec::new();
    for (side, what, budget) in [
        ("step", "gate decision on PostgreSQL", "≥ 0.8 (a rate)"),
        ("read", "the same, the row read first", "shown"),
    ] {
        let ours = rates(side)?;
        rows.push(Row {
            what: format!("{what}, beside one UPDATE … RETURNING, 64 clients"),
            ours: format!("{:.0}/s", median(&ours)),
            theirs: format!("{:.0}/s", median(&statement)),
            ratios: ours.iter().zip(&statement).map(|(a, b)| a / b).collect(),
            budget,
        });
    }
    Ok(rows)
}

/// Four steps beside the same by hand: instructions, as callgrind counts them, and allocations per step.
///
/// # Errors
/// When the program does not build or run, or valgrind is not there.
pub(crate) fn steps(root: &Path) -> anyhow::Result<Vec<Row>> {
    const ROUNDS: u32 = 5_000;
    let at = root.join("benches/crates/steps");
    output(
        Command::new("cargo")
            .args(["build", "-q", "--release"])
            .current_dir(&at),
    )?;
    let program = at.join("target/release/flowx-bench-steps");
    let count = |side: &str, rounds: u32| -> anyhow::Result<f64> {
        let out = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&program)
            .args([side, &rounds.to_string()])
            .output()
            .context("valgrind")?;
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        let collected = text
            .lines()
            .find_map(|l| l.split_once("Collected :"))
            .with_context(|| format!("callgrind said nothing: {text}"))?;
        Ok(collected.1.trim().parse()?)
    };
    let cost = |side: &str| -> anyhow::Result<f64> {
        Ok((count(side, ROUNDS)? - count(side, 0)?) / f64::from(ROUNDS))
    };
    let (ours, theirs) = (cost("flowx")?, cost("hand")?);
    let allocations = output(Command::new(&program).arg("allocations"))?;
    let per_step = allocations
        .trim()
        .rsplit(": ")
        .next()
        .unwrap_or_default()
        .to_owned();
    Ok(vec![
        Row {
            what: "four steps, instructions, beside the same checks by hand".to_owned(),
            ours: format!("{ours:.0}"),
            theirs: format!("{theirs:.0}"),
            ratios: vec![ours / theirs],
            budget: "≤ 1.5",
        },
        Row {
            what: "allocations of a step".to_owned(),
            ours: per_step,
            theirs: "0 by hand".to_owned(),
            ratios: Vec::new(),
            budget: "0",
        },
    ])
}

/// What it prints.
pub(super) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    anyhow::ensure!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}
