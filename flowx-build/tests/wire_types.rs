//! Wire types that nobody here wrote: API crates of the registry, every type that serde derives for, in each direction.
//! What is refused is listed by cause. `FLOWX_FULL=1` takes all five crates that this machine has; rmcp is always there.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use flowx_build::cfg::CfgSet;
use flowx_build::files::Disk;
use flowx_build::package::Package;
use flowx_build::scan::{Externs, Tree, TreeOptions};
use flowx_build::{Findings, survey};
use flowx_manifest::{Direction, Manifest, closure};

/// A crate, the features that are on (`*`: all of them), and how many types at least are exact (a floor that may only rise).
const CRATES: &[(&str, &[&str], usize)] = &[
    ("rmcp", &["server", "client", "base64", "elicitation"], 150),
    ("octocrab", &["*"], 1400),
    ("async-openai", &["*"], 10),
    ("k8s-openapi", &["latest", "v1_35"], 0),
    ("oxide", &["*"], 0),
];

#[test]
fn every_wire_type_of_real_crates_is_exact_or_refused_with_a_cause() {
    let full = std::env::var_os("FLOWX_FULL").is_some();
    let thread = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || {
            for (name, features, floor) in CRATES {
                if *name != "rmcp" && !full {
                    continue;
                }
                match newest(name) {
                    Some(folder) => one(name, &folder, features, *floor),
                    None => {
                        println!("skipped: {name} is not in the cargo registry of this machine")
                    }
                }
            }
        });
    if let Err(panic) = thread.unwrap().join() {
        std::panic::resume_unwind(panic);
    }
}

fn newest(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let mut all: Vec<PathBuf> = std::fs::read_dir(home.join("registry/src"))
        .ok()?
        .flatten()
        .flat_map(|source| {
            std::fs::read_dir(source.path())
                .into_iter()
                .flatten()
                .flatten()
        })
        .map(|e| e.path())
        .filter(|p| {
            let rest = p
                .file_name()
                .and_then(|f| f.to_str())
                .and_then(|f| f.strip_prefix(name))
                .and_then(|r| r.strip_prefix('-'));
            rest.is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        })
        .collect();
    all.sort();
    all.pop()
}

fn one(name: &str, folder: &Path, features: &[&str], floor: usize) {
    let cfg = Command::new("rustc")
        .args(["--print", "cfg"])
        .output()
        .unwrap();
    let cfg = String::from_utf8(cfg.stdout).unwrap();
    let package = Package::read(&Disk, folder).unwrap();
    let declared: toml::Table = std::fs::read_to_string(folder.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let every: Vec<String> = declared
        .get("features")
        .and_then(|f| f.as_table())
        .map(|f| f.keys().cloned().collect())
        .unwrap_or_default();
    let on = if features == ["*"] {
        every
    } else {
        features.iter().map(|f| (*f).to_owned()).collect()
    };
    let findings = Findings::new();
    let started = std::time::Instant::now();
    let tree = Tree::load(
        &TreeOptions {
            files: &Disk,
            package: folder,
            root: &folder.join("src/lib.rs"),
            cfg: Rc::new(CfgSet::from_rustc(&cfg, on)),
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
            let manifest = Manifest {
                contracts: surveyed.contracts.clone(),
                ..serde_json::from_value(serde_json::json!({
                    "$schema": "", "schemaVersion": "1.0.0", "application": { "name": "x", "version": "1.0.0" }, "effects": [],
                    "capabilities": [], "flows": [], "events": [], "agents": [], "entities": [], "contracts": [], "tools": []
                }))
                .unwrap()
            };
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
    assert!(
        exact >= floor,
        "{name}: {exact} exact, at least {floor} were"
    );
}
