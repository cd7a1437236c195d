//! Scan rows: a package of many files of which few declare something, scanned, beside parsing with syn.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::Row;

/// The build script's case (unoptimised) and the command's (optimised).
///
/// # Errors
/// When the measuring program does not build or run.
pub(crate) fn rows(root: &Path, rounds: usize) -> anyhow::Result<Vec<Row>> {
    let at = root.join("target/bench/scan");
    let small = at.join("small");
    let large = at.join("large");
    package(&small, 1_000, 4, 0)?;
    package(&large, 2_000, 20, 0)?;
    let unoptimised = build(root, false)?;
    let optimised = build(root, true)?;
    Ok(vec![
        row(
            "scan of 1,000 files of which 50 declare, unoptimised, beside syn parsing all",
            &unoptimised,
            &small,
            ["scan", "syn-all"],
            rounds,
            "≤ 0.125",
        )?,
        row(
            "the build script again with nothing changed, unoptimised, beside syn parsing all",
            &unoptimised,
            &small,
            ["emit", "syn-all"],
            rounds,
            "≤ 0.01",
        )?,
        row(
            &format!(
                "scan of {} lines, optimised, beside one read of all and syn on those that declare",
                lines(&large)?
            ),
            &optimised,
            &large,
            ["scan", "read-and-syn"],
            rounds,
            "≤ 1.5",
        )?,
    ])
}

/// What one more contract costs: the same flows with and without eight more types each, scanned in turn.
///
/// # Errors
/// When the measuring program does not build or run.
pub(crate) fn contracts(root: &Path, rounds: usize) -> anyhow::Result<Vec<Row>> {
    const MORE: usize = 8;
    let at = root.join("target/bench/scan");
    let (few, many) = (at.join("few-types"), at.join("many-types"));
    package(&few, FLOWS, 4, 0)?;
    package(&many, FLOWS, 4, MORE)?;
    let mut rows = Vec::new();
    for (profile, optimised) in [("unoptimised", false), ("optimised", true)] {
        let driver = build(root, optimised)?;
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            with.push(run(&driver, &many, "scan")?);
            without.push(run(&driver, &few, "scan")?);
        }
        let (a, b) = (super::median(&with), super::median(&without));
        rows.push(Row {
            what: format!(
                "scan of {FLOWS} flows with {MORE} more types of four fields each, {profile}, beside without: {:.0} µs per contract",
                (a - b) / (FLOWS * MORE) as f64 * 1e6
            ),
            ours: format!("{:.1} ms", a * 1e3),
            theirs: format!("{:.1} ms", b * 1e3),
            ratios: with.iter().zip(&without).map(|(a, b)| a / b).collect(),
            budget: "shown",
        });
    }
    Ok(rows)
}

/// What all rules together, and the worst of them, cost of a scan in a build script: instructions as callgrind counts them. What rules
/// share (the bodies they look into) is made by the first that asks, and counted as its own.
///
/// # Errors
/// When the measuring program does not build or run, or valgrind is not there.
pub(crate) fn rules(root: &Path) -> anyhow::Result<Vec<Row>> {
    let package_at = root.join("target/bench/scan/small");
    package(&package_at, 1_000, 4, 0)?;
    let driver = build(root, false)?;
    let counted = root.join("target/bench/scan/callgrind.out");
    super::runtime::output(
        Command::new("valgrind")
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", counted.display()))
            .arg(driver)
            .arg("scan")
            .arg(&package_at),
    )?;
    let text = super::runtime::output(
        Command::new("callgrind_annotate")
            .args(["--inclusive=yes", "--auto=no", "--threshold=100"])
            .arg(&counted),
    )?;
    let (mut total, mut all) = (0.0, 0.0);
    let mut each: Vec<(f64, String)> = Vec::new();
    for line in text.lines() {
        let Some((figure, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let Ok(figure) = figure.replace(',', "").parse::<f64>() else {
            continue;
        };
        if rest.ends_with("PROGRAM TOTALS") {
            total = figure;
        }
        let Some((_, name)) = rest.split_once("flowx_build::rules::") else {
            continue;
        };
        let name = name.split(' ').next().unwrap_or_default();
        if name == "engine::run" {
            all = figure;
        } else if let Some(rule) = name.strip_suffix("::check") {
            // Once per place in the sources that it comes from; the first is the whole of it.
            if each.iter().all(|(_, known)| known != rule) {
                each.push((figure, rule.to_owned()));
            }
        }
    }
    each.sort_by(|a, b| b.0.total_cmp(&a.0));
    anyhow::ensure!(
        total > 0.0 && all > 0.0 && each.len() > 20,
        "callgrind tells of {} rules only",
        each.len()
    );
    let row = |what: String, figure: f64| Row {
        what,
        ours: format!("{:.2} M", figure / 1e6),
        theirs: format!("{:.0} M", total / 1e6),
        ratios: vec![figure / total],
        budget: "shown",
    };
    let mut rows = vec![row(
        format!(
            "all {} rules, instructions, beside the whole unoptimised scan of 1,000 files of which {FLOWS} declare",
            each.len()
        ),
        all,
    )];
    for (n, (figure, rule)) in each.into_iter().take(3).enumerate() {
        rows.push(row(
            format!("rule number {} by cost: {rule}", n + 1),
            figure,
        ));
    }
    Ok(rows)
}

fn row(
    what: &str,
    driver: &Path,
    package: &Path,
    [ours, theirs]: [&str; 2],
    rounds: usize,
    budget: &'static str,
) -> anyhow::Result<Row> {
    // The round that warms up leaves what the others find unchanged.
    run(driver, package, ours)?;
    run(driver, package, theirs)?;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(run(driver, package, ours)?);
        b.push(run(driver, package, theirs)?);
    }
    let mut row = super::paired(what, &a, &b, budget);
    row.ours = format!("{:.1} ms", super::median(&a) * 1e3);
    row.theirs = format!("{:.1} ms", super::median(&b) * 1e3);
    Ok(row)
}

/// Runs the measuring program as cargo runs a build script, and tells how many seconds of a processor it had, so that a busy machine
/// counts for nothing.
fn run(driver: &Path, package: &Path, mode: &str) -> anyhow::Result<f64> {
    std::fs::create_dir_all(package.join("out"))?;
    let text = super::runtime::output(
        Command::new(driver)
            .arg(mode)
            .arg(package)
            .env("CARGO_MANIFEST_DIR", package)
            .env("OUT_DIR", package.join("out")),
    )?;
    Ok(text.lines().last().unwrap_or_default().parse()?)
}

/// How many flows each measured package has.
const FLOWS: usize = 50;

/// A package of `files` modules, each of `functions` functions of some thirty lines, [`FLOWS`] of them with a flow, whose input holds
/// `types` more types.
fn package(at: &Path, files: usize, functions: usize, types: usize) -> anyhow::Result<()> {
    let src = at.join("src");
    if src.join("main.rs").exists() {
        return Ok(());
    }
    std::fs::create_dir_all(&src)?;
    std::fs::write(
        at.join("Cargo.toml"),
        "[package]\nname = \"scanned\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nflowx-runtime = \"0.1\"\nserde = \"1\"\nschemars = \"1\"\n",
    )?;
    let mut main = String::from(
        "//! Scanned.\n\nuse flowx_runtime::{Cx, FlowError, capability, effect};\n\nflowx_runtime::include_manifest!();\n
/// The ledger.\n#[effect(id = \"ledger\", class = changes)]\npub struct Ledger;\n
/// How it fails.\n#[derive(Debug, thiserror::Error, FlowError)]\npub enum DeskError {\n    /// No such order.\n    #[error(\"no such order\")]\n    #[flow_error(code = \"order.unknown\", category = NotFound)]\n    Unknown,\n}\n
/// Books.\n#[capability(id = \"ledger.book\", version = \"1.0.0\", authorization = permission(\"ledger.book\"), effects(Ledger))]\npub async fn book(cx: &Cx<book>, cents: u64) -> Result<u64, DeskError> {\n    Ok(cx.effect::<Ledger>().book(cents).await)\n}\n\n",
    );
    for n in 0..files {
        writeln!(main, "mod m{n};")?;
        let mut text = format!("//! Module {n}.\n\nuse std::collections::HashMap;\n\n");
        if n % (files / FLOWS) == 0 {
            let (mut fields, mut more) = (String::new(), String::new());
            for t in 0..types {
                let _ = write!(fields, "    /// Part {t}.\n    pub part{t}: Part{n}x{t},\n");
                let _ = write!(
                    more,
                    "/// Part {t} of what it takes.\n#[derive(Deserialize, JsonSchema)]\npub struct Part{n}x{t} {{\n    /// Which.\n    pub sku: String,\n    /// How many.\n    pub count: u32,\n    /// In cents.\n    pub cents: Option<u64>,\n    /// Names.\n    pub names: Vec<String>,\n}}\n\n"
                );
            }
            let _ = write!(
                text,
                "use flowx_runtime::{{FlowCx, flow}};\nuse schemars::JsonSchema;\nuse serde::{{Deserialize, Serialize}};\n
/// What it takes.\n#[derive(Deserialize, JsonSchema)]\npub struct In{n} {{\n    /// In cents.\n    pub amount_cents: u64,\n    /// A note.\n    pub note: Option<String>,\n{fields}}}\n\n{more}
/// What it gives.\n#[derive(Serialize, JsonSchema)]\npub struct Out{n} {{\n    /// In cents.\n    pub total_cents: u64,\n}}\n
/// Books an order of kind {n} and tells the total.\n#[flow(id = \"desk.h{n}\", version = \"1.0.0\", owner = \"desk\", deadline = \"PT30S\", http(POST, \"/api/h{n}\"), agent(), steps(book: crate::book))]
pub async fn h{n}(cx: &FlowCx<h{n}>, input: In{n}) -> Result<Out{n}, crate::DeskError> {{\n    Ok(Out{n} {{ total_cents: cx.step::<crate::book>(input.amount_cents).await? }})\n}}\n\n"
            );
        }
        for f in 0..functions {
            let _ = write!(
                text,
                "/// Sums what the orders of one kind come to, by customer, largest first.
pub fn totals{f}(orders: &[(String, u64)], least: u64) -> Vec<(String, u64)> {{
    let mut by_customer: HashMap<&str, u64> = HashMap::new();
    for (customer, cents) in orders {{
        // Orders below the least are gifts, and gifts are not summed.
        if *cents >= least + {f} {{
            *by_customer.entry(customer.as_str()).or_insert(0) += cents;
        }}
    }}
    let mut sums: Vec<(String, u64)> = by_customer
        .into_iter()
        .map(|(customer, cents)| (customer.to_owned(), cents))
        .collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    match sums.first() {{
        Some((name, cents)) if *cents > 1_000_000 => {{
            println!(\"{{name}} has ordered for {{cents}} cents\\n\");
        }}
        Some(_) | None => {{}}
    }}
    sums
}}

"
            );
        }
        std::fs::write(src.join(format!("m{n}.rs")), text)?;
    }
    main += "\nfn main() {}\n";
    std::fs::write(src.join("main.rs"), main)?;
    Ok(())
}

fn lines(package: &Path) -> anyhow::Result<usize> {
    let mut lines = 0;
    for entry in std::fs::read_dir(package.join("src"))? {
        lines += std::fs::read_to_string(entry?.path())?.lines().count();
    }
    Ok(lines)
}

/// A program that does one of the measured things and prints how many seconds of a processor it took.
fn write_driver(root: &Path, at: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(at.join("src"))?;
    std::fs::copy(root.join("Cargo.lock"), at.join("Cargo.lock"))?;
    std::fs::write(
        at.join("Cargo.toml"),
        format!(
            "[package]\nname = \"driver\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nflowx-build = {{ path = {:?} }}\nsyn = {{ version = \"3\", features = [\"full\"] }}\n",
            root.join("flowx-build")
        ),
    )?;
    std::fs::write(
        at.join("src/main.rs"),
        r#"//! See xtask/src/bench/scan.rs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use flowx_build::files::Disk;
use flowx_build::{Features, Libraries, ScanOptions, scan_package};

fn files(package: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(package.join("src"))
        .expect("a folder")
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// What this thread, which does all of it, has had of a processor.
fn on_a_processor() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(told.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

fn main() {
    let mode = std::env::args().nth(1).expect("a mode");
    let package = PathBuf::from(std::env::args().nth(2).expect("a package"));
    let begin = Instant::now();
    match mode.as_str() {
        "scan" => {
            let output = scan_package(&ScanOptions {
                files: &Disk,
                package: &package,
                cfg: flowx_build::cfg::CfgSet::default(),
                features: Features::Asked { names: Vec::new(), default: true },
                libraries: Libraries::Given(Vec::new()),
                look_beyond: false,
            })
            .expect("scanned");
            let errors: Vec<_> = output.findings.iter().filter(|f| f.severity == flowx_build::Severity::Error).collect();
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(output.manifest.flows.len(), 50);
        }
        "emit" => flowx_build::emit(),
        "syn-all" => {
            for file in files(&package) {
                let text = std::fs::read_to_string(file).expect("read");
                assert!(!syn::parse_file(&text).expect("parsed").items.is_empty());
            }
        }
        "read-and-syn" => {
            for file in files(&package) {
                let text = std::fs::read_to_string(file).expect("read");
                if text.contains("flow") {
                    assert!(!syn::parse_file(&text).expect("parsed").items.is_empty());
                }
            }
        }
        other => panic!("no mode {other}"),
    }
    println!("{}", on_a_processor().unwrap_or(begin.elapsed().as_secs_f64()));
}
"#,
    )?;
    Ok(())
}

fn build(root: &Path, optimised: bool) -> anyhow::Result<PathBuf> {
    let driver = root.join("target/bench/scan/driver");
    write_driver(root, &driver)?;
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet"]).current_dir(&driver);
    if optimised {
        command.arg("--release");
    }
    let output = command.output()?;
    anyhow::ensure!(
        output.status.success(),
        "the measuring program: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let profile = if optimised { "release" } else { "debug" };
    driver
        .join("target")
        .join(profile)
        .join("driver")
        .canonicalize()
        .context("the measuring program")
}
