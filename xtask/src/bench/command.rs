//! Rows of the command: `flowx diff` of two git revisions, and how costs grow with a program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context;

use super::crates::{self, Side};
use super::runtime::{output, tools_list};
use super::{Row, median, paired};

/// `flowx diff` of two revisions with 500 flows, beside `git archive` of the two.
///
/// # Errors
/// When git or the command does not run.
pub(crate) fn diff(root: &Path, rounds: usize) -> anyhow::Result<Vec<Row>> {
    let flowx = command(root)?;
    let at = root.join("target/bench/diff");
    if at.exists() {
        std::fs::remove_dir_all(&at)?;
    }
    crates::write(root, &at, 500)?;
    git(&at, &["init", "-q", "-b", "main"])?;
    commit(&at, "First")?;
    change(&at)?;
    commit(&at, "Second")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begin = Instant::now();
        let out = Command::new(&flowx)
            .args([
                "diff",
                "git:HEAD~1",
                "git:HEAD",
                "--format",
                "json",
                "--manifest-path",
            ])
            .arg(at.join("bench-flowx/Cargo.toml"))
            .current_dir(&at)
            .output()?;
        let took = begin.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&out.stdout);
        anyhow::ensure!(
            out.status.code() == Some(1) && text.contains("\"findings\""),
            "flowx diff found nothing: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        let begin = Instant::now();
        for revision in ["HEAD~1", "HEAD"] {
            git(
                &at,
                &["archive", "--format=tar", "-o", "/dev/null", revision],
            )?;
        }
        // The first round warms both.
        if round > 0 {
            ours.push(took);
            theirs.push(begin.elapsed().as_secs_f64());
        }
    }
    let mut row = paired(
        "flowx diff of two git revisions, 500 flows, 10 changed, beside git archive of the two",
        &ours,
        &theirs,
        "≤ 3",
    );
    row.ours = format!("{:.0} ms", median(&ours) * 1e3);
    row.theirs = format!("{:.0} ms", median(&theirs) * 1e3);
    Ok(vec![row])
}

/// How the scan, the comparison and `tools/list` grow from 100 to 800 flows: a table, and `docs/growth.svg`. The ratio of a row is the
/// cost per flow at 800 by the one at 100, so 1 is linear.
///
/// # Errors
/// When a side does not run, or the drawing cannot be written.
pub(crate) fn growth(root: &Path, rounds: usize) -> anyhow::Result<Vec<Row>> {
    let flowx = command(root)?;
    let sizes = [100_usize, 200, 400, 800];
    let at = root.join("target/bench/growth");
    let mut series = vec![
        ("scan of flows with four contracts each (ms)", Vec::new()),
        ("diff of two manifests, all flows changed (ms)", Vec::new()),
        ("diff of two manifests, nothing changed (ms)", Vec::new()),
        ("tools/list, server CPU (µs)", Vec::new()),
    ];
    for size in sizes {
        let folder = at.join(size.to_string());
        crates::write(root, &folder, size)?;
        let package = folder.join("bench-flowx/Cargo.toml");
        let (old, new) = (folder.join("old.json"), folder.join("new.json"));
        let text = output(
            Command::new(&flowx)
                .args(["manifest", "--manifest-path"])
                .arg(&package),
        )?;
        std::fs::write(&old, &text)?;
        std::fs::write(&new, text.replace("\"amount_cents\"", "\"amount\""))?;
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..rounds.max(3) {
            let mut timed = |i: usize, command: &mut Command| -> anyhow::Result<()> {
                let begin = Instant::now();
                let out = command.output()?;
                times[i].push(begin.elapsed().as_secs_f64() * 1e3);
                anyhow::ensure!(
                    matches!(out.status.code(), Some(0 | 1)),
                    "{command:?}: {}",
                    String::from_utf8_lossy(&out.stderr)
                );
                Ok(())
            };
            timed(
                0,
                Command::new(&flowx)
                    .args(["manifest", "--manifest-path"])
                    .arg(&package),
            )?;
            timed(
                1,
                Command::new(&flowx)
                    .arg("diff")
                    .args([&old, &new])
                    .args(["--format", "json"]),
            )?;
            timed(
                2,
                Command::new(&flowx)
                    .arg("diff")
                    .args([&old, &old])
                    .args(["--format", "json"]),
            )?;
        }
        for (i, times) in times.iter().enumerate() {
            series[i].1.push(median(times));
        }
    }
    let names: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let figures = tools_list(root, rounds, &names)?;
    for name in &names {
        let of = figures
            .get(&((*name).to_owned(), "flowx".to_owned()))
            .context("tools_list said nothing")?;
        series[3].1.push(median(of));
    }
    std::fs::write(root.join("docs/growth.svg"), drawing(&sizes, &series))?;
    Ok(series
        .into_iter()
        .map(|(what, costs)| Row {
            what: format!("growth from 100 over 200 and 400 to 800 flows: {what}"),
            ours: costs
                .iter()
                .map(|c| format!("{c:.1}"))
                .collect::<Vec<_>>()
                .join(" · "),
            theirs: "1 is linear".to_owned(),
            ratios: vec![(costs[3] / 800.0) / (costs[0] / 100.0)],
            budget: "≤ 1",
        })
        .collect())
}

/// One line per series, each by its own highest value; the dashed line is what linear looks like.
fn drawing(sizes: &[usize], series: &[(&str, Vec<f64>)]) -> String {
    const COLOURS: [&str; 4] = ["#1f6feb", "#bf3989", "#2da44e", "#9a6700"];
    let (width, height) = (480.0, 240.0);
    let most = *sizes.last().unwrap_or(&1) as f64;
    let x = |size: usize| 50.0 + size as f64 / most * width;
    let y = |part: f64| 20.0 + height * (1.0 - part);
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"400\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"640\" height=\"400\" fill=\"#fff\"/>\n",
    );
    let _ = writeln!(
        out,
        "<path d=\"M {} {} L {} {}\" stroke=\"#888\" stroke-dasharray=\"4 4\" fill=\"none\"/>",
        x(0),
        y(0.0),
        x(sizes.last().copied().unwrap_or(1)),
        y(1.0)
    );
    for size in sizes {
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{size}</text>",
            x(*size),
            y(0.0) + 18.0
        );
    }
    for (i, (name, costs)) in series.iter().enumerate() {
        let highest = costs.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let points: Vec<String> = sizes
            .iter()
            .zip(costs)
            .map(|(size, cost)| format!("{:.1},{:.1}", x(*size), y(cost / highest)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" stroke=\"{}\" fill=\"none\" stroke-width=\"2\"/>",
            points.join(" "),
            COLOURS[i % 4]
        );
        let _ = writeln!(
            out,
            "<text x=\"50\" y=\"{}\" fill=\"{}\">{name}: up to {highest:.1}</text>",
            310 + i * 20,
            COLOURS[i % 4]
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The command, optimised.
fn command(root: &Path) -> anyhow::Result<PathBuf> {
    output(
        Command::new("cargo")
            .args([
                "build",
                "-q",
                "--release",
                "-p",
                "flowx-cli",
                "--bin",
                "flowx",
            ])
            .current_dir(root),
    )?;
    Ok(root.join("target/release/flowx"))
}

/// Another type of one argument in ten flows.
fn change(at: &Path) -> anyhow::Result<()> {
    let file = at.join(Side::Flowx.package()).join("src/part0.rs");
    let text = std::fs::read_to_string(&file)?;
    std::fs::write(&file, text.replace("pub count: u32", "pub count: u16"))?;
    Ok(())
}

fn commit(at: &Path, message: &str) -> anyhow::Result<()> {
    git(at, &["add", "-A"])?;
    let who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    git(at, &[&who[..], &["commit", "-q", "-m", message]].concat())
}

fn git(at: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    output(Command::new("git").args(arguments).current_dir(at)).map(drop)
}
