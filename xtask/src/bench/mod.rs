//! `cargo xtask bench`: the budgets of the design, each a ratio of two sides measured in turn in one run.
//!
//! Nothing here is a test: timings vary between machines and minutes, so a table is printed and nobody is failed by it.

mod builds;
mod command;
mod crates;
mod runtime;
mod scan;

use std::path::Path;

/// Everything that can be named.
const ROWS: [&str; 10] = [
    "build",
    "scan",
    "contracts",
    "rules",
    "cold",
    "tools",
    "steps",
    "gate",
    "diff",
    "growth",
];

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The rows to measure: build, scan, contracts, rules, cold, tools, steps, gate, diff, growth; all when none is named
    rows: Vec<String>,
    /// Flows of the measured crate
    #[arg(long, default_value_t = 200)]
    flows: usize,
    /// Rounds; each measures every side once, in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// One line of the table.
pub(crate) struct Row {
    /// What was done.
    pub(crate) what: String,
    /// Our figure and the other side's, with their units.
    pub(crate) ours: String,
    /// The other side's figure.
    pub(crate) theirs: String,
    /// Ours by theirs, round by round; the median is printed.
    pub(crate) ratios: Vec<f64>,
    /// What the design allows, as printed.
    pub(crate) budget: &'static str,
}

/// Measures and prints the table.
///
/// # Errors
/// When a side cannot be built or run.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let wants = |row: &str| options.rows.is_empty() || options.rows.iter().any(|r| r == row);
    if let Some(unknown) = options.rows.iter().find(|r| !ROWS.contains(&r.as_str())) {
        anyhow::bail!("no row is called {unknown:?}: {}", ROWS.join(", "));
    }
    let mut rows = Vec::new();
    if wants("build") {
        rows.extend(builds::rows(root, options.flows, options.rounds)?);
    }
    if wants("cold") {
        rows.extend(builds::cold(root, options.rounds.min(3))?);
    }
    if wants("scan") {
        rows.extend(scan::rows(root, options.rounds)?);
    }
    if wants("contracts") {
        rows.extend(scan::contracts(root, options.rounds)?);
    }
    if wants("rules") {
        rows.extend(scan::rules(root)?);
    }
    if wants("tools") {
        rows.extend(runtime::tools(root, options.rounds)?);
    }
    if wants("steps") {
        rows.extend(runtime::steps(root)?);
    }
    if wants("gate") {
        rows.extend(runtime::gate(root)?);
    }
    if wants("diff") {
        rows.extend(command::diff(root, options.rounds)?);
    }
    if wants("growth") {
        rows.extend(command::growth(root, options.rounds)?);
    }
    println!("\n| what | FlowX | beside | ratio (median; lowest–highest) | budget |");
    println!("|---|---|---|---|---|");
    for row in &rows {
        let mut ratios = row.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        let spread = match (ratios.first(), ratios.last()) {
            (Some(low), Some(high)) => format!("{:.3} ({low:.3}–{high:.3})", median(&ratios)),
            _ => "–".to_owned(),
        };
        println!(
            "| {} | {} | {} | {spread} | {} |",
            row.what, row.ours, row.theirs, row.budget
        );
    }
    Ok(())
}

/// The middle of sorted or unsorted figures; 0 of none.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// A row from the seconds of two sides, measured in turn.
pub(crate) fn paired(
    what: impl Into<String>,
    ours: &[f64],
    theirs: &[f64],
    budget: &'static str,
) -> Row {
    Row {
        what: what.into(),
        ours: format!("{:.2} s", median(ours)),
        theirs: format!("{:.2} s", median(theirs)),
        ratios: ours.iter().zip(theirs).map(|(a, b)| a / b).collect(),
        budget,
    }
}
