//! Wire types that nobody here wrote: API crates of the registry, every type that serde derives for, in each direction.
//! What is refused is listed by cause, and what is exact is compiled and held against serde, and against schemars where the crate
//! derives it. `FLOWX_FULL=1` takes all five crates, fetched where they are not there, and compiles them; rmcp is always scanned.
//! `WIRE=octocrab` takes one of them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use flowx_build::cfg::CfgSet;
use flowx_build::files::Disk;
use flowx_build::package::Package;
use flowx_build::scan::{Externs, Tree, TreeOptions};
use flowx_build::{Findings, Surveyed, survey};
use flowx_manifest::{Direction, Json, Manifest, closure};

/// A crate that is scanned.
struct Wire {
    name: &'static str,
    version: &'static str,
    /// What is on beside what these switch on; `*-types` stands for all that end so.
    features: &'static [&'static str],
    /// Types that are exact, each direction counted.
    exact: usize,
    /// Those that are not, by the first cause. A number that is no longer right is to be looked into, whichever way it went.
    refused: &'static [(&'static str, usize)],
    /// Contracts that serde has judged.
    judged: usize,
}

const CRATES: &[Wire] = &[
    Wire {
        name: "rmcp",
        version: "3.11.0",
        features: &["server", "client", "base64", "elicitation"],
        exact: 154,
        refused: &[
            ("FLOWX1301", 18),
            ("FLOWX1302", 48),
            ("FLOWX1303", 18),
            ("FLOWX1304", 2),
            ("FLOWX1318", 27),
        ],
        judged: 84,
    },
    Wire {
        name: "octocrab",
        version: "0.54.9",
        features: &["default-client", "rustls", "rustls-ring"],
        exact: 1458,
        refused: &[
            ("FLOWX1300", 183),
            ("FLOWX1302", 3),
            ("FLOWX1303", 43),
            ("FLOWX1313", 3),
            ("FLOWX1318", 228),
        ],
        judged: 710,
    },
    Wire {
        name: "async-openai",
        version: "0.43.0",
        features: &["*-types"],
        exact: 2947,
        refused: &[("FLOWX1313", 20)],
        judged: 1450,
    },
    Wire {
        name: "k8s-openapi",
        version: "0.29.0",
        features: &["latest", "v1_35"],
        exact: 0,
        refused: &[("FLOWX1302", 6741)],
        judged: 0,
    },
    Wire {
        name: "oxide",
        version: "0.19.0+2026091500.0.0",
        features: &[],
        exact: 731,
        refused: &[("FLOWX1302", 223), ("FLOWX1303", 3)],
        judged: 406,
    },
];

#[test]
fn every_wire_type_of_real_crates_is_exact_or_refused_with_a_cause() {
    let full = std::env::var_os("FLOWX_FULL").is_some();
    let thread = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || {
            let only = std::env::var("WIRE").ok();
            let mut changed = Vec::new();
            for wire in CRATES {
                let wanted = only.as_deref().is_none_or(|o| o == wire.name);
                if !wanted || (wire.name != "rmcp" && !full) {
                    continue;
                }
                match source(wire).or_else(|| fetched(wire, full)) {
                    Some(folder) => changed.extend(one(wire, &folder, full)),
                    None if full => panic!("{} {} cannot be fetched", wire.name, wire.version),
                    None => println!(
                        "skipped: {} {} is not in cargo's registry",
                        wire.name, wire.version
                    ),
                }
            }
            assert!(
                changed.is_empty(),
                "the table says otherwise:\n{}",
                changed.join("\n")
            );
        });
    if let Err(panic) = thread.unwrap().join() {
        std::panic::resume_unwind(panic);
    }
}

/// The crate's source in cargo's registry.
fn source(wire: &Wire) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let folder = format!("{}-{}", wire.name, wire.version);
    std::fs::read_dir(home.join("registry/src"))
        .ok()?
        .flatten()
        .map(|registry| registry.path().join(&folder))
        .find(|p| p.is_dir())
}

/// The same, once cargo has fetched it.
fn fetched(wire: &Wire, full: bool) -> Option<PathBuf> {
    if !full {
        return None;
    }
    let folder = top().join("target/wire").join(wire.name);
    std::fs::create_dir_all(folder.join("src")).ok()?;
    std::fs::write(folder.join("src/main.rs"), "fn main() {}").ok()?;
    std::fs::write(folder.join("Cargo.toml"), cargo_toml(wire, &[])).ok()?;
    let mut cargo = Command::new("cargo");
    cargo
        .args(["fetch", "--target", "x86_64-unknown-linux-gnu"])
        .current_dir(&folder);
    cargo.status().ok()?;
    source(wire)
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn cargo_toml(wire: &Wire, features: &[String]) -> String {
    let listed: Vec<String> = features.iter().map(|f| format!("\"{f}\"")).collect();
    let name = wire.name;
    format!(
        "[package]\nname = \"wire-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[profile.dev]\ndebug = false\n[dependencies]\n\
         {name} = {{ version = \"={}\", default-features = false, features = [{}] }}\nflowx-verify = {{ path = \"{verify}\" }}\n\
         flowx-manifest = {{ path = \"{manifest}\" }}\nserde_json = \"1\"\n",
        wire.version.split('+').next().unwrap_or_default(),
        listed.join(", "),
        verify = top().join("flowx-verify").display(),
        manifest = top().join("flowx-manifest").display(),
    )
}

/// What is no longer as the table says.
fn one(wire: &Wire, folder: &Path, compile: bool) -> Vec<String> {
    let name = wire.name;
    let cfg = Command::new("rustc")
        .args(["--print", "cfg"])
        .output()
        .unwrap();
    let cfg = String::from_utf8(cfg.stdout).unwrap();
    let package = Package::read(&Disk, folder).unwrap();
    let asked: Vec<String> = wire
        .features
        .iter()
        .flat_map(|f| match f.strip_prefix('*') {
            Some(end) => package
                .features
                .keys()
                .filter(|k| k.ends_with(end))
                .cloned()
                .collect(),
            None => vec![(*f).to_owned()],
        })
        .collect();
    let on = package.switch_on(&asked, false).unwrap();
    let findings = Findings::new();
    let started = std::time::Instant::now();
    let tree = Tree::load(
        &TreeOptions {
            files: &Disk,
            package: folder,
            root: &folder.join("src/lib.rs"),
            cfg: Rc::new(CfgSet::from_rustc(&cfg, on.clone())),
            externs: Rc::new(Externs::of(&package, &BTreeMap::new())),
        },
        &findings,
    );
    let all = survey(&tree, &Disk);
    let took = started.elapsed();
    let mut exact = 0;
    let mut causes: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for surveyed in &all {
        if surveyed.findings.is_empty() {
            exact += 1;
            let manifest = manifest(surveyed);
            // Every 7th is compiled as JSON Schema; all of them would take minutes without optimisation.
            if exact % 7 == 0
                && let Some(schema) = closure(&manifest, &surveyed.name, surveyed.direction)
            {
                let built = jsonschema::draft202012::new(&schema.to_value());
                assert!(built.is_ok(), "{}: {:?}", surveyed.name, built.err());
            }
            continue;
        }
        // A type is counted under the first cause that stands in its way.
        let first = surveyed.findings.iter().min_by_key(|f| f.code).unwrap();
        let cause = causes
            .entry(first.code.id().to_owned())
            .or_insert((0, first.message.clone()));
        cause.0 += 1;
    }
    let read = all
        .iter()
        .filter(|s| s.direction == Direction::Request)
        .count();
    println!(
        "{}: {} types read, {} written: {exact} exact, {} refused, in {took:?}",
        folder.file_name().and_then(|f| f.to_str()).unwrap_or(name),
        read,
        all.len() - read,
        all.len() - exact
    );
    for (code, (count, example)) in &causes {
        println!("  {code}: {count}, as in: {example}");
    }
    let refused: Vec<(&str, usize)> = causes.iter().map(|(c, (n, _))| (c.as_str(), *n)).collect();
    let mut changed = Vec::new();
    if (exact, refused.as_slice()) != (wire.exact, wire.refused) {
        changed.push(format!("{name}: exact: {exact}, refused: &{refused:?}"));
    }
    if compile && exact > 0 {
        let judged = judge(wire, &package, &asked, &all);
        if judged != wire.judged {
            changed.push(format!("{name}: judged: {judged}"));
        }
    }
    changed
}

/// Compiles every exact type that has a public path beside its contract, and lets serde judge. How many were.
fn judge(wire: &Wire, package: &Package, features: &[String], all: &[Surveyed]) -> usize {
    let (top, name) = (top(), wire.name);
    let folder = top.join("target/wire").join(name);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let mut subjects: BTreeMap<&str, (String, [Option<Json>; 2])> = BTreeMap::new();
    let mut unnamed = 0;
    for one in all.iter().filter(|s| s.findings.is_empty()) {
        let Some(path) = &one.public else {
            unnamed += 1;
            continue;
        };
        let path = path.replacen("crate", &package.name.replace('-', "_"), 1);
        let place = usize::from(one.direction == Direction::Response);
        subjects
            .entry(&one.name)
            .or_insert_with(|| (path, [None, None]))
            .1[place] = closure(&manifest(one), &one.name, one.direction);
    }
    let document = Json::Array(
        subjects
            .values()
            .map(|(_, both)| {
                Json::Array(both.iter().map(|s| s.clone().unwrap_or_default()).collect())
            })
            .collect(),
    );
    std::fs::write(folder.join("contracts.json"), document.to_canonical()).unwrap();
    std::fs::write(folder.join("Cargo.toml"), cargo_toml(wire, features)).unwrap();
    // A path may be there for the scan and not for us: such a line is left out, and counted.
    let mut left_out: Vec<usize> = Vec::new();
    loop {
        let mut main = include_str!("wire_types/main.rs.txt")
            .replace("WIRE_COUNT", &subjects.len().to_string());
        let first = main.lines().count() + 1;
        for (i, (id, (path, _))) in subjects.iter().enumerate() {
            // One function for each: one of them all would take rustc minutes. One line for each: errors name lines.
            let body = match left_out.contains(&i) {
                true => "None".to_owned(),
                false => format!("Some(flowx_verify::probe!({path}))"),
            };
            main += &format!(
                "fn probe_{i}() -> (&'static str, Option<flowx_verify::Probe>) {{ ({id:?}, {body}) }}\n"
            );
        }
        main += "fn probes() -> Vec<fn() -> (&'static str, Option<flowx_verify::Probe>)> { vec![";
        for i in 0..subjects.len() {
            main += &format!("probe_{i}, ");
        }
        main += "] }\n";
        std::fs::write(folder.join("src/main.rs"), main).unwrap();
        let output = Command::new("cargo")
            .args(["run", "--quiet"])
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", top.join("target/fixtures"))
            .env("CARGO_INCREMENTAL", "0")
            .output()
            .unwrap();
        let (said, printed) = (
            String::from_utf8_lossy(&output.stderr).into_owned(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        );
        if printed.contains("judged") {
            println!(
                "{printed}  {unnamed} exact in one direction have no public path, {} paths do not compile",
                left_out.len()
            );
            assert!(output.status.success(), "{name}: {said}");
            let count = printed.lines().find_map(|l| l.trim().split_once(" judged"));
            return count.unwrap().0.parse().unwrap();
        }
        let before = left_out.len();
        for line in said
            .lines()
            .filter_map(|l| l.trim().strip_prefix("--> src/main.rs:"))
        {
            let number: usize = line.split(':').next().unwrap().parse().unwrap();
            if number >= first
                && number - first < subjects.len()
                && !left_out.contains(&(number - first))
            {
                left_out.push(number - first);
            }
        }
        assert!(left_out.len() > before, "{name} does not build: {said}");
    }
}

fn manifest(surveyed: &Surveyed) -> Manifest {
    Manifest {
        contracts: surveyed.contracts.clone(),
        ..serde_json::from_value(serde_json::json!({
            "$schema": "", "schemaVersion": "1.0.0", "application": { "name": "x", "version": "1.0.0" }, "effects": [],
            "capabilities": [], "flows": [], "events": [], "agents": [], "entities": [], "contracts": [], "tools": []
        }))
        .unwrap()
    }
}
