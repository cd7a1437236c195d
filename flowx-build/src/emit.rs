//! The build script's side: reads what cargo has set, writes to `OUT_DIR` and nowhere else, runs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use flowx_manifest::{Json, Manifest};

use crate::cfg::CfgSet;
use crate::contracts_file::{self, ContractsFile};
use crate::driver::{Features, Libraries, ScanOptions, ScanOutput, TargetOutput, scan_package};
use crate::files::{Disk, Files as _, display, normalise};
use crate::finding::{Finding, Severity};
use crate::flowx_names;
use crate::glue::{Broken, Glue};
use crate::library::{Exports, Library};
use crate::package::Package;
use crate::stamp;

/// Scans the package whose build script this is, and leaves for the compiler what `include_manifest!()` includes.
///
/// The whole of `build.rs` is `fn main() { flowx_build::emit() }`. What is wrong with a declaration is shown by rustc at
/// that declaration; only a `Cargo.toml` or a cargo that cannot be understood fails here.
pub fn emit() {
    Emit::new().run();
}

/// [`emit`] with something to say about `cfg`s that this build script sets itself.
#[derive(Clone, Debug, Default)]
pub struct Emit {
    cfg: Vec<(String, bool)>,
}

/// Why a build script could not do its work.
#[derive(Debug, thiserror::Error)]
enum EmitError {
    #[error("{0} is not set; flowx_build::emit() is for build scripts that cargo runs")]
    NotCargo(&'static str),
    #[error(transparent)]
    Package(#[from] crate::package::PackageError),
    #[error("cannot write {}: {error}", .path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error(
        "{id}: flowx.contracts.json is not what build.rs registers: {why}; write it with `{variable}=write cargo build` and commit it, since \
         the command and git revisions run no build script", id = crate::codes::CONTRACTS_FILE.id, variable = contracts_file::VARIABLE
    )]
    Contracts { why: String },
    #[error("{id}: {why}", id = crate::codes::CONTRACTS_FILE.id)]
    Registered { why: String },
    #[error("the manifest of a library cannot be read: {0}")]
    Library(String),
}

impl Emit {
    /// Nothing to say yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says whether a `cfg` holds that neither cargo nor rustc knows of: one that this build script sets by
    /// `cargo::rustc-cfg`. `name`, or `name="value"`.
    #[must_use]
    pub fn cfg(mut self, cfg: impl Into<String>, holds: bool) -> Self {
        self.cfg.push((cfg.into(), holds));
        self
    }

    /// Does it.
    pub fn run(self) {
        let vars: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        match self.work(&vars) {
            Ok(lines) => lines.iter().for_each(|line| println!("{line}")),
            Err(error) => {
                // `cargo::error` shows the text alone, without the noise of a panic.
                println!(
                    "cargo::error=FlowX: {}",
                    error.to_string().replace('\n', " ")
                );
                std::process::exit(1);
            }
        }
    }

    fn work(&self, vars: &BTreeMap<String, String>) -> Result<Vec<String>, EmitError> {
        let var = |name: &'static str| vars.get(name).ok_or(EmitError::NotCargo(name));
        let root = normalise(Path::new(var("CARGO_MANIFEST_DIR")?));
        let out = normalise(Path::new(var("OUT_DIR")?)).join("flowx");
        // Whatever was seen before: what is registered may hang on anything.
        let has_contracts = hold_contracts(vars, &root)?;
        let circumstances = format!(
            "{} contracts={has_contracts}",
            stamp::circumstances(vars, &self.cfg)
        );
        if let Some(lines) = stamp::unchanged(&out, &circumstances) {
            return Ok(lines);
        }
        let package = Package::read(&Disk, &root)?;
        let features: BTreeSet<String> = package
            .features
            .keys()
            .filter(|f| {
                vars.contains_key(&format!(
                    "CARGO_FEATURE_{}",
                    f.to_uppercase().replace('-', "_")
                ))
            })
            .cloned()
            .collect();
        let mut cfg = CfgSet::from_cargo(vars, &features);
        for (name, holds) in &self.cfg {
            cfg.set(name, *holds);
        }
        let (libraries, mut read) = libraries(vars, &package)?;
        let options = ScanOptions {
            files: &Disk,
            package: &root,
            cfg,
            features: Features::Exactly(features),
            libraries: Libraries::Given(libraries),
            // Notes do not show in a build.
            look_beyond: false,
        };
        let output = scan_package(&options)?;
        read.extend(output.read.iter().cloned());
        write(&out, &output)?;
        let mut lines = rerun(&root, &out, &read);
        lines.extend(tell(&out, &output));
        if has_contracts {
            lines.push(format!(
                "cargo::rerun-if-env-changed={}",
                contracts_file::VARIABLE
            ));
        }
        let folders = [root.join("src"), root.join("src").join("bin")];
        let mut absent = output.absent.clone();
        absent.extend(
            Disk.list(&folders[1])
                .iter()
                .map(|name| folders[1].join(name).join("main.rs")),
        );
        absent.retain(|path| !path.exists());
        // Without a stamp the next build scans again, which is all that is lost.
        let _ = stamp::write(&out, &circumstances, &read, &absent, &folders, &lines);
        Ok(lines)
    }
}

/// Holds `flowx.contracts.json` against what is registered, and writes it when that is what was asked for. Whether there is one.
fn hold_contracts(vars: &BTreeMap<String, String>, root: &Path) -> Result<bool, EmitError> {
    let registered = crate::registered::registered();
    if let Some(why) = registered.wrong.first() {
        return Err(EmitError::Registered { why: why.clone() });
    }
    let registered = registered.file;
    let path = root.join(contracts_file::FILE);
    if vars
        .get(contracts_file::VARIABLE)
        .is_some_and(|v| v == "write")
    {
        let written = match registered.types.is_empty() {
            true if path.exists() => std::fs::remove_file(&path),
            true => Ok(()),
            false => put(&path, registered.write().as_bytes()),
        };
        written.map_err(|error| EmitError::Write {
            path: path.clone(),
            error,
        })?;
    }
    let held = ContractsFile::read(&Disk, root).map_err(|why| EmitError::Contracts { why })?;
    if held.is_none() && registered.types.is_empty() {
        return Ok(false);
    }
    let differences = match held {
        Some(held) if held.types.is_empty() && registered.types.is_empty() => {
            vec!["nothing is registered".to_owned()]
        }
        Some(held) => held.differs_from(&registered),
        None => ContractsFile::empty().differs_from(&registered),
    };
    match differences.is_empty() {
        true => Ok(true),
        false => Err(EmitError::Contracts {
            why: differences.join("; "),
        }),
    }
}

/// The libraries that have told where their manifests are, by cargo's `links` metadata, each after those it is built on.
fn libraries(
    vars: &BTreeMap<String, String>,
    package: &Package,
) -> Result<(Vec<Library>, BTreeSet<PathBuf>), EmitError> {
    let mut all: Vec<Library> = Vec::new();
    let mut read = BTreeSet::new();
    for (name, dir) in vars {
        if !(name.starts_with("DEP_") && name.ends_with("_FLOWX")) {
            continue;
        }
        let dir = Path::new(dir);
        let exports = read_exports(dir, &mut read)?;
        // Metadata comes from the packages that this one depends on directly, so that it has a name here.
        let Some(path) = package
            .name_of(&exports.package)
            .map(|name| format!("::{name}"))
        else {
            continue;
        };
        add_library(dir, path, &mut all, &mut read)?;
    }
    Ok((all, read))
}

fn read_exports(dir: &Path, read: &mut BTreeSet<PathBuf>) -> Result<Exports, EmitError> {
    let file = dir.join("exports.json");
    let fail = |why: String| EmitError::Library(format!("{}: {why}", file.display()));
    let bytes = std::fs::read(&file).map_err(|e| fail(e.to_string()))?;
    read.insert(file.clone());
    let value = flowx_manifest::json::parse(&bytes, flowx_manifest::json::Limits::DOCUMENT)
        .map_err(|e| fail(e.to_string()))?;
    if value.get("version").and_then(Json::as_str) != Some(env!("CARGO_PKG_VERSION")) {
        return Err(fail(format!(
            "it was built with another version of flowx-build than {}",
            env!("CARGO_PKG_VERSION")
        )));
    }
    serde::Deserialize::deserialize(value)
        .map_err(|e: flowx_manifest::json::ShapeError| fail(e.to_string()))
}

fn add_library(
    dir: &Path,
    path: String,
    all: &mut Vec<Library>,
    read: &mut BTreeSet<PathBuf>,
) -> Result<(), EmitError> {
    let exports = read_exports(dir, read)?;
    if all.iter().any(|l| l.exports.package == exports.package) {
        return Ok(());
    }
    for (i, below) in exports.libraries.iter().enumerate() {
        add_library(
            Path::new(below),
            format!("{path}::__flowx_library_{i}"),
            all,
            read,
        )?;
    }
    let file = dir.join("own.manifest.json");
    let fail = |why: String| EmitError::Library(format!("{}: {why}", file.display()));
    let bytes = std::fs::read(&file).map_err(|e| fail(e.to_string()))?;
    read.insert(file.clone());
    let manifest = Manifest::read(&bytes).map_err(|e| fail(e.to_string()))?;
    let mut library = Library::new(exports, &manifest, path);
    library.told_in = Some(dir.to_path_buf());
    all.push(library);
    Ok(())
}

/// Writes what the compiler and dependants read. A file whose bytes would be the same stays as it is.
fn write(out: &Path, output: &ScanOutput) -> Result<(), EmitError> {
    let put_bytes = |name: &str, bytes: &[u8]| {
        let path = out.join(name);
        put(&path, bytes).map_err(|error| EmitError::Write { path, error })
    };
    let put = |name: &str, text: &str| put_bytes(name, text.as_bytes());
    std::fs::create_dir_all(out).map_err(|error| EmitError::Write {
        path: out.to_path_buf(),
        error,
    })?;
    let runtime = output
        .package
        .name_of(flowx_names::RUNTIME_PACKAGE)
        .unwrap_or(flowx_names::RUNTIME);
    let library = output.targets.first().filter(|t| t.target.stem == "lib");
    for target in &output.targets {
        let document = target.manifest.write();
        let below =
            library.filter(|l| l.target.stem != target.target.stem && !l.entries.is_empty());
        let glue = Glue {
            runtime,
            stem: &target.target.stem,
            document: &document,
            own: &target.entries,
            library: below.map(|l| (l.target.krate.as_str(), l.entries.as_slice())),
            libraries: &output.libraries,
            broken: broken(target),
        };
        let (numbers, ids) = crate::glue::index(&document);
        put(
            &format!("{}.manifest.json", target.target.stem),
            &document.text,
        )?;
        put_bytes(&format!("{}.index", target.target.stem), &numbers)?;
        put(&format!("{}.ids", target.target.stem), &ids)?;
        put(&format!("{}.rs", target.target.stem), &glue.render())?;
    }
    put("flowx.manifest.json", &output.manifest.write().text)?;
    put("findings.json", &findings(output).to_canonical())?;
    if let Some((exports, own)) = &output.exports {
        let mut exports = exports.clone();
        let told = |l: &Library| l.told_in.as_ref().map(|p| p.to_string_lossy().into_owned());
        exports.libraries = output.libraries.iter().filter_map(told).collect();
        let text =
            serde_json::to_string(&exports).map_err(|e| EmitError::Library(e.to_string()))?;
        put("exports.json", &text)?;
        put("own.manifest.json", &own.write().text)?;
    }
    Ok(())
}

/// What stops a target, for the last word of the compiler. Braces would be places to fill in.
fn broken(target: &TargetOutput) -> Option<Broken> {
    let errors: Vec<&Finding> = target
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Error)
        .collect();
    let first = errors.first()?;
    let text = format!(
        "FLOWX1154: there is no manifest to include, since the scan found {} error(s); the first: {}:{}:{}: {} [{}]",
        errors.len(),
        first.file,
        first.line,
        first.column,
        first.message,
        first.id
    );
    // What belongs to no declaration is raised by `include_manifest!()` itself.
    let raised = errors.iter().any(|f| f.anchor.is_none() && !f.of_grammar);
    let anchored = errors
        .iter()
        .filter_map(|f| target.witnesses.get(f.anchor.as_ref()?))
        .flatten()
        .map(|w| w.key);
    let witnesses = errors
        .iter()
        .flat_map(|f| f.raised_by.iter().copied())
        .chain(anchored)
        .collect();
    Some(Broken {
        why: text.replace('{', "{{").replace('}', "}}"),
        raised,
        witnesses,
    })
}

/// Writes a file unless it holds those very bytes, since cargo looks at when a file was written.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::read(path) {
        Ok(old) if old == bytes => Ok(()),
        _ => std::fs::write(path, bytes),
    }
}

/// The document that the macros read. Problems of the grammar are left out: the macros find those themselves.
fn findings(output: &ScanOutput) -> Json {
    let mut all = Vec::new();
    for target in &output.targets {
        for finding in target.findings.iter().filter(|f| !f.of_grammar) {
            all.push(for_macros(finding, target));
        }
    }
    Json::object([
        ("schemaVersion", Json::from("1")),
        ("findings", Json::Array(all)),
    ])
}

fn for_macros(finding: &Finding, target: &TargetOutput) -> Json {
    let optional = |text: Option<&str>| text.map_or(Json::Null, Json::from);
    // Where an id stands twice, only the one in which the place is raises it.
    let holder = finding
        .anchor
        .as_ref()
        .and_then(|anchor| target.witnesses.get(anchor))
        .filter(|all| all.len() > 1)
        .and_then(|all| {
            all.iter()
                .find(|w| w.file == finding.file && w.lines.contains(&(finding.line as usize)))
        })
        .map(|w| w.key.to_string());
    Json::object([
        ("target", Json::from(target.target.stem.as_str())),
        ("declaration", optional(holder.as_deref())),
        (
            "kind",
            optional(finding.anchor.as_ref().map(|a| a.kind.as_str())),
        ),
        (
            "id",
            optional(finding.anchor.as_ref().map(|a| a.id.as_str())),
        ),
        ("severity", Json::from(finding.severity.as_str())),
        ("code", Json::from(finding.id.as_str())),
        ("message", Json::from(finding.message.as_str())),
        ("help", optional(finding.help.as_deref())),
        ("file", Json::from(finding.file.as_str())),
        ("line", Json::from(finding.line)),
        ("column", Json::from(finding.column)),
    ])
}

/// What cargo has to watch: every file that was read, and the folders that hold them, for files that come to be. Only what
/// exists, since a missing path makes cargo run the script every time.
fn rerun(root: &Path, out: &Path, read: &BTreeSet<PathBuf>) -> Vec<String> {
    let mut watched: BTreeSet<&Path> = BTreeSet::new();
    for file in read {
        watched.insert(file);
        if let Some(dir) = file.parent() {
            // Cargo looks into a folder at any depth: one that holds the build's own output would never be quiet.
            let holds_output = out.starts_with(dir) || dir == root;
            if !holds_output && file.extension().is_some_and(|e| e == "rs") {
                watched.insert(dir);
            }
        }
    }
    let folders: Vec<&Path> = watched.iter().copied().filter(|p| p.is_dir()).collect();
    let covered = |path: &Path| {
        folders
            .iter()
            .any(|dir| *dir != path && path.starts_with(dir))
    };
    let mut lines = vec![
        "cargo::rerun-if-changed=Cargo.toml".to_owned(),
        "cargo::rerun-if-changed=build.rs".to_owned(),
    ];
    lines.retain(|l| root.join(l.rsplit('=').next().unwrap_or_default()).exists());
    for path in watched.iter().filter(|p| !covered(p) && p.exists()) {
        lines.push(format!("cargo::rerun-if-changed={}", path.display()));
    }
    lines
}

/// What cargo, rustc and the crates that depend on this one are told.
fn tell(out: &Path, output: &ScanOutput) -> Vec<String> {
    let mut lines = Vec::new();
    if output.package.links.is_some() && output.exports.is_some() {
        lines.push(format!("cargo::metadata=flowx={}", out.display()));
    }
    if let Some(name) = output
        .package
        .name_of(flowx_names::RUNTIME_PACKAGE)
        .filter(|n| *n != flowx_names::RUNTIME)
    {
        lines.push(format!("cargo::rustc-env=FLOWX_RUNTIME={name}"));
    }
    for finding in &output.findings {
        // Errors and anchored warnings are rustc's to show.
        if finding.severity == Severity::Warning && finding.anchor.is_none() {
            let place = display(&output.package.root, Path::new(&finding.file));
            lines.push(format!(
                "cargo::warning={}: {} [{}]",
                place,
                finding.message.replace('\n', " "),
                finding.id
            ));
        }
    }
    lines
}
