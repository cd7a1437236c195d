//! The scan over every crate of the registry that this build has compiled: no panic, no silent skip, and the files of the
//! module tree are those that rustc itself read, by its own dep-info.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use flowx_build::Findings;
use flowx_build::cfg::CfgSet;
use flowx_build::declare::declarations;
use flowx_build::files::{Disk, normalise};
use flowx_build::package::Package;
use flowx_build::scan::{Externs, Tree, TreeOptions};
use flowx_manifest::json::{Json, Limits, parse};

/// One compilation that cargo has left traces of.
struct Compiled {
    name: String,
    root: PathBuf,
    package: PathBuf,
    features: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
}

fn target_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("a test knows where it is");
    exe.parent()
        .and_then(Path::parent)
        .expect("tests are in target/PROFILE/deps")
        .to_path_buf()
}

/// The files of a dep-info file's first rule; spaces in names are escaped.
fn dep_info(text: &str) -> Vec<PathBuf> {
    let line = text
        .lines()
        .find(|l| l.contains(".d: "))
        .unwrap_or_default();
    let files = line
        .split_once(".d: ")
        .map_or("", |(_, files)| files)
        .replace("\\ ", "\0");
    files
        .split(' ')
        .filter(|f| !f.is_empty())
        .map(|f| PathBuf::from(f.replace('\0', " ")))
        .collect()
}

fn compiled() -> Vec<Compiled> {
    let target = target_dir();
    let mut all = Vec::new();
    for entry in std::fs::read_dir(target.join(".fingerprint"))
        .expect("cargo keeps fingerprints")
        .flatten()
    {
        let folder = entry.path();
        let Some(hash) = folder
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(|n| n.rsplit('-').next())
        else {
            continue;
        };
        for file in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(krate) = name
                .strip_prefix("lib-")
                .and_then(|n| n.strip_suffix(".json"))
            else {
                continue;
            };
            let deps = target
                .join("deps")
                .join(format!("{}-{hash}.d", krate.replace('-', "_")));
            let Ok(text) = std::fs::read_to_string(deps) else {
                continue;
            };
            let files = dep_info(&text);
            let Some(root) = files
                .first()
                .filter(|f| f.components().any(|c| c.as_os_str() == "registry"))
                .cloned()
            else {
                continue;
            };
            let Some(package) = root
                .ancestors()
                .find(|d| d.join("Cargo.toml").is_file())
                .map(Path::to_path_buf)
            else {
                continue;
            };
            let info = parse(
                &std::fs::read(file.path()).expect("it was listed"),
                Limits::DOCUMENT,
            )
            .expect("cargo writes JSON");
            let listed = info.get("features").and_then(Json::as_str).unwrap_or("[]");
            let listed = parse(listed.as_bytes(), Limits::DOCUMENT).expect("a list in a string");
            let features = listed
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Json::as_str)
                .map(str::to_owned)
                .collect();
            let code = |f: &PathBuf| f.extension().is_some_and(|e| e == "rs") && !is_text(f);
            let files = files
                .iter()
                .filter(|f| code(f))
                .map(|f| normalise(f))
                .collect();
            all.push(Compiled {
                name: krate.to_owned(),
                root,
                package,
                features,
                files,
            });
        }
    }
    all.sort_by(|a, b| (&a.name, &a.features).cmp(&(&b.name, &b.features)));
    all.dedup_by(|a, b| a.name == b.name && a.features == b.features && a.root == b.root);
    all
}

/// Examples that a doc comment includes as text.
fn is_text(file: &Path) -> bool {
    file.components().any(|c| c.as_os_str() == "examples")
}

fn rustc_cfg() -> String {
    let output = Command::new("rustc")
        .args(["--print", "cfg"])
        .output()
        .expect("rustc runs");
    String::from_utf8(output.stdout).expect("it prints text")
}

/// The names of the modules of a file as `syn` has them, those inside of inline modules in braces.
fn by_syn(items: &[syn::Item]) -> String {
    let mut out = String::new();
    for item in items {
        if let syn::Item::Mod(m) = item {
            let name = m.ident.to_string();
            out.push_str(name.trim_start_matches("r#"));
            if let Some((_, inner)) = &m.content {
                out.push_str(&format!("{{{}}}", by_syn(inner)));
            }
            out.push(' ');
        }
    }
    out
}

#[test]
fn the_module_tree_of_every_crate_is_what_rustc_compiled() {
    // Some crates of the registry nest deeper than the stack of a test reaches when `syn` is not optimised.
    let thread = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(compare)
        .expect("a thread can be had");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn compare() {
    let cfg = rustc_cfg();
    let mut all = compiled();
    let every = std::env::var_os("FLOWX_FULL").is_some();
    if !every {
        // Parsing them all without optimisation takes minutes; these have inline modules, item macros, and nothing odd.
        all.retain(|c| {
            matches!(
                c.name.as_str(),
                "toml" | "proptest" | "tempfile" | "serde_core" | "quote"
            )
        });
    }
    let mut crates = BTreeSet::new();
    let mut files = 0;
    let mut failures = Vec::new();
    for one in &all {
        let Ok(package) = Package::read(&Disk, &one.package) else {
            failures.push(format!("{}: its Cargo.toml cannot be read", one.name));
            continue;
        };
        let findings = Findings::new();
        let tree = Tree::load(
            &TreeOptions {
                files: &Disk,
                package: &one.package,
                root: &one.root,
                cfg: Rc::new(CfgSet::from_rustc(&cfg, one.features.iter().cloned())),
                externs: Rc::new(Externs::of(&package, &BTreeMap::new())),
            },
            &findings,
        );
        let declared = declarations(&tree, &Disk, &findings);
        assert!(
            declared.flows.is_empty() && declared.capabilities.is_empty(),
            "{} declares nothing of FlowX",
            one.name
        );
        let read: BTreeSet<PathBuf> = tree.sources().iter().map(|s| s.path.clone()).collect();
        // What hangs on a cfg of the crate's own build script is read, and may not have been compiled.
        let certain: BTreeSet<PathBuf> = tree
            .modules()
            .filter(|m| tree.module(*m).cfg.is_true())
            .map(|m| tree.source(m).path.clone())
            .collect();
        // Generated code, and files that a macro includes as an expression, are no modules.
        let generated = |f: &PathBuf| !f.starts_with(&one.package);
        for missing in one.files.difference(&read).filter(|f| !generated(f)) {
            failures.push(format!(
                "{} {:?}: rustc compiled {}, the scan did not see it",
                one.name,
                one.features,
                missing.display()
            ));
        }
        for extra in certain.difference(&one.files) {
            failures.push(format!(
                "{} {:?}: the scan saw {}, rustc did not",
                one.name,
                one.features,
                extra.display()
            ));
        }
        for finding in findings
            .into_sorted()
            .iter()
            .filter(|f| f.severity == flowx_build::Severity::Error)
        {
            failures.push(format!(
                "{}: {}:{}: {} {}",
                one.name, finding.file, finding.line, finding.id, finding.message
            ));
        }
        for source in tree.sources() {
            let Ok(ast) = source.ast() else { continue };
            if source.outline_names() != by_syn(&ast.items) {
                failures.push(format!(
                    "{}: {}: {} is not {}",
                    one.name,
                    source.shown,
                    source.outline_names(),
                    by_syn(&ast.items)
                ));
            }
        }
        files += read.len();
        crates.insert(one.name.clone());
    }
    println!(
        "{} crates, {} compilations, {files} files",
        crates.len(),
        all.len()
    );
    assert!(
        crates.len() >= if every { 20 } else { 3 },
        "only {} crates were there to look at",
        crates.len()
    );
    assert!(
        failures.is_empty(),
        "{} differences:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
