//! One package from start to end: its targets, what each declares, and the union.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flowx_manifest::{Application, Manifest, Trigger};

use crate::assemble::{Assembler, Entry};
use crate::beyond::Beyond;
use crate::bridge::Bridge;
use crate::cfg::CfgSet;
use crate::codes;
use crate::contracts_file::{self, ContractsFile};
use crate::declare::{Declarations, declarations};
use crate::files::{Files, display, normalise};
use crate::finding::{Finding, Findings, Severity};
use crate::flowx_names;
use crate::library::{Exports, Library, export};
use crate::package::{Package, PackageError, Target};
use crate::scan::{Externs, ItemRef, Tree, TreeOptions};
use crate::untold::{Place, Search, is_on, tells};

/// Which features are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// Those asked for, with what they switch on.
    Asked {
        /// By name.
        names: Vec<String>,
        /// The default ones too.
        default: bool,
    },
    /// All that the package declares.
    All,
    /// Exactly these, as cargo has already worked out.
    Exactly(BTreeSet<String>),
}

/// Where the manifests of libraries come from.
#[derive(Clone, Debug)]
pub enum Libraries {
    /// Path dependencies are scanned as well.
    Scan,
    /// They have been built, and have told.
    Given(Vec<Library>),
}

/// What a package is scanned with. Nothing but `files` is read, and no program is run.
pub struct ScanOptions<'a> {
    /// Where to read: the disk, or a git revision.
    pub files: &'a dyn Files,
    /// The folder of the package's `Cargo.toml`.
    pub package: &'a Path,
    /// The configuration, without the features.
    pub cfg: CfgSet,
    /// The features.
    pub features: Features,
    /// The libraries.
    pub libraries: Libraries,
    /// Whether to name the declarations that another configuration would have; that takes a second reading where there are `cfg`s.
    pub look_beyond: bool,
}

/// What a scan found.
#[derive(Debug)]
pub struct ScanOutput {
    /// The package.
    pub package: Package,
    /// Each target that the features build, the library first.
    pub targets: Vec<TargetOutput>,
    /// The package's manifest: the union over its targets, canonical.
    pub manifest: Manifest,
    /// What there is to say, sorted by file and line.
    pub findings: Vec<Finding>,
    /// Where each declaration stands, by subject (`flow ticket.refund@1`): file, line and column.
    pub places: BTreeMap<String, (String, u32, u32)>,
    /// Every file that was read.
    pub read: BTreeSet<PathBuf>,
    /// Files that were looked for and were not there; a build has to look again when one comes to be.
    pub absent: BTreeSet<PathBuf>,
    /// What the library tells its dependants, where there is one.
    pub exports: Option<(Exports, Manifest)>,
    /// The libraries it is built on.
    pub libraries: Vec<Library>,
}

/// One target.
#[derive(Debug)]
pub struct TargetOutput {
    /// The crate.
    pub target: Target,
    /// What it and its libraries declare, canonical.
    pub manifest: Manifest,
    /// What it declares itself.
    pub entries: Vec<Entry>,
    /// Whether its root calls `include_manifest!()`.
    pub includes_manifest: bool,
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// The declarations of each anchor; more than one where an id stands twice.
    pub(crate) witnesses: BTreeMap<crate::finding::Anchor, Vec<crate::declare::Witness>>,
}

impl TargetOutput {
    /// Whether its manifest is the whole truth.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Error)
    }
}

impl ScanOutput {
    /// Whether nothing stops a build.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Error)
    }
}

/// Scans a package.
///
/// # Errors
/// When its `Cargo.toml` cannot be read or a feature is not declared. Everything else is a finding.
pub fn scan_package(options: &ScanOptions<'_>) -> Result<ScanOutput, PackageError> {
    scan(options, &mut Vec::new())
}

fn scan(options: &ScanOptions<'_>, stack: &mut Vec<PathBuf>) -> Result<ScanOutput, PackageError> {
    let package = Package::read(options.files, options.package)?;
    let features = match &options.features {
        Features::Asked { names, default } => package.switch_on(names, *default)?,
        Features::All => package.features.keys().cloned().collect(),
        Features::Exactly(on) => on.clone(),
    };
    let mut read: BTreeSet<PathBuf> = package.read.iter().cloned().collect();
    let general = Findings::new();
    stack.push(package.root.clone());
    let mut known: BTreeSet<String> = BTreeSet::new();
    let libraries = match &options.libraries {
        Libraries::Given(libraries) => libraries.clone(),
        Libraries::Scan => path_libraries(
            options, &package, &features, &general, &mut read, stack, &mut known,
        )?,
    };
    known.extend(libraries.iter().map(|l| l.exports.package.clone()));
    // A library that is scanned on its own says nothing of those below it: what depends on it looks.
    if stack.len() == 1 {
        let mut search = Search {
            options,
            known,
            findings: &general,
            read: &mut read,
            stack,
        };
        search.below(&package, &features, &[], None)?;
    }
    stack.pop();
    let mut cfg = options.cfg.clone();
    cfg.set_features(features.iter().cloned());
    let cfg = Rc::new(cfg);
    let own = libraries
        .iter()
        .map(|l| (l.exports.package.clone(), l.exports.krate.clone()))
        .collect();
    let application = Application {
        name: package.name.clone(),
        version: package.version.clone(),
    };

    let mut loaded: Vec<(Target, Rc<Tree>, Findings)> = Vec::new();
    let mut library_externs = None;
    for target in package.targets(&features) {
        let is_library = target.stem == "lib";
        let externs = match (&library_externs, is_library) {
            (Some(with), false) => Rc::clone(with),
            _ => Rc::new(Externs::of(&package, &own)),
        };
        let findings = Findings::new();
        let tree = Rc::new(Tree::load(
            &TreeOptions {
                files: options.files,
                package: &package.root,
                root: &target.path,
                cfg: cfg.clone(),
                externs,
            },
            &findings,
        ));
        if is_library {
            let with = Externs::of(&package, &own).with_library(target.krate.clone(), tree.clone());
            library_externs = Some(Rc::new(with));
        }
        loaded.push((target.clone(), tree, findings));
    }

    let (config, wrong) = crate::rules::Config::read(options.files, options.package);
    for error in wrong {
        let finding = Finding::new(codes::ALLOW_UNKNOWN, error.file(), error.to_string());
        general.push(finding);
    }
    let contracts_file = package.root.join(contracts_file::FILE);
    let known = match ContractsFile::read(options.files, &package.root) {
        Ok(Some(known)) => {
            read.insert(contracts_file);
            known
        }
        Ok(None) => ContractsFile::empty(),
        Err(why) => {
            read.insert(contracts_file);
            let message = format!("the schemas of registered types cannot be read: {why}");
            general.push(Finding::new(
                codes::CONTRACTS_FILE,
                contracts_file::FILE,
                message,
            ));
            ContractsFile::empty()
        }
    };
    let declared: Vec<Declarations<'_>> = loaded
        .iter()
        .map(|(_, tree, findings)| declarations(tree, options.files, findings))
        .collect();
    if options.look_beyond {
        let beyond = Beyond {
            files: options.files,
            package: &package,
            cfg: &cfg,
            externs: &|library| {
                let externs = Externs::of(&package, &own);
                match library {
                    Some((target, tree)) => externs.with_library(target.krate.clone(), tree),
                    None => externs,
                }
            },
        };
        if beyond.needed(loaded.iter().map(|(_, tree, _)| &**tree)) {
            beyond
                .notes(&declared)
                .into_iter()
                .for_each(|note| general.push(note));
        }
    }
    let mut places = BTreeMap::new();
    let mut targets: Vec<TargetOutput> = Vec::new();
    let mut exports = None;
    for (i, (target, tree, findings)) in loaded.iter().enumerate() {
        let library = (target.stem != "lib" && loaded[0].0.stem == "lib").then(|| &declared[0]);
        let sources: Vec<&Declarations<'_>> = library.into_iter().chain([&declared[i]]).collect();
        let library_tree = library.map(|_| &*loaded[0].1);
        let bridge = Bridge::new(tree, library_tree, options.files, &libraries, &known);
        let assembler = Assembler {
            declared: &sources,
            libraries: &libraries,
            findings,
        };
        let (mut assembled, contracts) = bridge.assemble(&assembler, application.clone(), findings);
        let own_manifest = assembled.manifest.clone();
        assembled
            .manifest
            .contracts
            .extend(contracts.iter().cloned());
        for library in &libraries {
            library.merge_into(&mut assembled.manifest);
        }
        crate::tools::project(&mut assembled.manifest, &sources, findings);
        assembled.manifest.canonicalise();
        assembled.manifest.contracts.dedup();
        // Rules look at a manifest that is true; where it is not, what is wrong with it comes first.
        if !declared[i].broken
            && findings
                .so_far()
                .iter()
                .all(|f| f.severity != Severity::Error)
        {
            let is_library = target.stem == "lib";
            let view = crate::rules::View::new(&assembled.manifest, &declared[i], tree, is_library);
            for finding in crate::rules::run(&view, &config) {
                findings.push(finding);
            }
        }
        let entries = declared[i].own_entries(&assembled.entries);
        declared[i].places(&mut places);
        if !entries.is_empty() && !declared[i].includes_manifest {
            no_include(&declared[i], &target.stem, findings);
        }
        if target.stem == "lib" {
            let mut manifest = own_manifest;
            manifest.contracts = contracts;
            manifest.canonicalise();
            let errors = |item| assembler.errors_of(item);
            let contracts_of = |types: &[ItemRef<'_>]| bridge.public_contracts(types);
            let given = export(
                &package,
                target,
                tree,
                &declared[i],
                &entries,
                &errors,
                &contracts_of,
            );
            exports = Some((given, manifest));
        }
        for source in tree.sources() {
            read.insert(source.path.clone());
        }
        read.extend(tree.others.borrow().iter().cloned());
        targets.push(TargetOutput {
            target: target.clone(),
            manifest: assembled.manifest,
            entries,
            includes_manifest: declared[i].includes_manifest,
            findings: Vec::new(),
            witnesses: declared[i].witnesses(),
        });
    }
    drop(declared);

    let absent: BTreeSet<PathBuf> = loaded
        .iter()
        .flat_map(|(_, tree, _)| tree.absent.iter().cloned())
        .collect();
    let manifest = union(application, &targets, &general);
    let mut all = general.so_far();
    for (target, (_, tree, findings)) in targets.iter_mut().zip(loaded) {
        drop(tree);
        target.findings = findings.into_sorted();
        for finding in general.so_far() {
            target.findings.push(finding);
        }
        for finding in &target.findings {
            if !all.contains(finding) {
                all.push(finding.clone());
            }
        }
    }
    // What is wrong with the library is wrong with every binary on it.
    let library_broken = targets
        .first()
        .filter(|t| t.target.stem == "lib" && !t.is_sound())
        .map(|t| t.findings.clone());
    for target in targets.iter_mut().skip(1) {
        for finding in library_broken
            .iter()
            .flatten()
            .filter(|f| f.severity == Severity::Error)
        {
            if !target.findings.contains(finding) {
                target.findings.push(finding.clone());
            }
        }
    }
    all.sort_by(|a, b| (&a.file, a.line, a.column, &a.id).cmp(&(&b.file, b.line, b.column, &b.id)));
    Ok(ScanOutput {
        package,
        targets,
        manifest,
        findings: all,
        places,
        read,
        absent,
        exports,
        libraries,
    })
}

/// The path dependencies that declare something, scanned as libraries, those they are built on first.
fn path_libraries(
    options: &ScanOptions<'_>,
    package: &Package,
    features: &BTreeSet<String>,
    findings: &Findings,
    read: &mut BTreeSet<PathBuf>,
    stack: &mut Vec<PathBuf>,
    known: &mut BTreeSet<String>,
) -> Result<Vec<Library>, PackageError> {
    let mut libraries: Vec<Library> = Vec::new();
    for (name, dependency) in &package.dependencies {
        let Some(path) = dependency.path.as_deref().map(normalise) else {
            continue;
        };
        let on = is_on(name, dependency, features, &options.cfg);
        if flowx_names::is_own_package(&dependency.package) || !on || stack.contains(&path) {
            continue;
        }
        let inner = match Package::read(options.files, &path) {
            Ok(inner) => inner,
            Err(error) => {
                let file = display(&package.root, &package.root.join("Cargo.toml"));
                findings.push(Finding::new(
                    codes::LIBRARY_UNREADABLE,
                    file,
                    format!("dependency `{name}`: {error}"),
                ));
                continue;
            }
        };
        read.extend(inner.read.iter().cloned());
        if inner.name_of(flowx_names::RUNTIME_PACKAGE).is_none() || inner.library.is_none() {
            continue;
        }
        let asked = Features::Asked {
            names: dependency.features.clone(),
            default: dependency.default_features,
        };
        let inner_options = ScanOptions {
            files: options.files,
            package: &path,
            cfg: options.cfg.clone(),
            features: asked,
            libraries: Libraries::Scan,
            look_beyond: options.look_beyond,
        };
        let output = scan(&inner_options, stack)?;
        read.extend(output.read.iter().cloned());
        for mut off in output.findings.iter().filter(|f| f.off.is_some()).cloned() {
            off.file = display(&package.root, &path.join(&off.file));
            findings.push(off);
        }
        known.insert(output.package.name.clone());
        if !tells(&output) {
            findings.push(Place::of(options.files, package, name).finding(&output, &[]));
        }
        for library in output.libraries {
            if libraries
                .iter()
                .all(|l| l.exports.package != library.exports.package)
            {
                libraries.push(library);
            }
        }
        if let Some((exports, manifest)) = output.exports
            && libraries
                .iter()
                .all(|l| l.exports.package != exports.package)
        {
            libraries.push(Library::new(exports, &manifest, format!("::{name}")));
        }
    }
    Ok(libraries)
}

fn no_include(declared: &Declarations<'_>, stem: &str, findings: &Findings) {
    let message = format!(
        "this target ({stem}) declares something and does not include its manifest, so nothing would be served or proven"
    );
    if let Some(finding) = declared.first(codes::NO_INCLUDE, message) {
        findings.push(
            finding.help("write `flowx_runtime::include_manifest!();` in the target's root file"),
        );
    }
}

/// The union over the targets. One id twice must say the same twice.
fn union(application: Application, targets: &[TargetOutput], findings: &Findings) -> Manifest {
    let mut all = crate::assemble::empty(application);
    let clash = |kind: &str, id: String| {
        let message =
            format!("two targets of this package declare {kind} `{id}`, and not the same");
        findings.push(
            Finding::new(codes::DUPLICATE, "Cargo.toml", message).subject(format!("{kind} {id}")),
        );
    };
    macro_rules! join {
        ($section:ident, $kind:literal, $id:expr) => {
            let mut seen = BTreeMap::new();
            for (place, target) in targets.iter().enumerate() {
                for entry in &target.manifest.$section {
                    let id = $id(entry);
                    match seen.get(&id) {
                        Some((_, other)) if *other == entry => {}
                        // Twice in one target has been reported there.
                        Some((other, _)) if *other == place => {}
                        Some(_) => clash($kind, id.to_string()),
                        None => {
                            all.$section.push(entry.clone());
                            seen.insert(id, (place, entry));
                        }
                    }
                }
            }
        };
    }
    join!(effects, "effect", |e: &flowx_manifest::Effect| e.id.clone());
    join!(
        capabilities,
        "capability",
        flowx_manifest::Capability::reference
    );
    join!(flows, "flow", flowx_manifest::Flow::reference);
    join!(agents, "agent", |e: &flowx_manifest::Agent| e.id.clone());
    join!(contracts, "contract", |e: &flowx_manifest::Contract| e
        .id
        .clone());
    join!(tools, "tool", |e: &flowx_manifest::Tool| e.name.clone());
    all.canonicalise();
    all
}

/// Two flows that would be one tool.
pub(crate) fn tool_clashes(manifest: &Manifest) -> Vec<(String, String, String)> {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut clashes = Vec::new();
    for flow in &manifest.flows {
        if let Some(Trigger::Agent { name, .. }) = flow.agent_trigger() {
            match seen.get(name.as_str()) {
                Some(first) => clashes.push((name.to_string(), first.clone(), flow.key())),
                None => {
                    seen.insert(name.to_string(), flow.key());
                }
            }
        }
    }
    clashes
}
