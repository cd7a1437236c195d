//! What `Cargo.toml` says: the targets of a package, its features, and the names of the crates it depends on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::files::{Files, normalise};

/// A package, as far as the scan needs to know it.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its folder.
    pub root: PathBuf,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its edition: 2015, 2018, 2021, 2024.
    pub edition: u32,
    /// The library, when it has one.
    pub library: Option<Target>,
    /// The binaries, sorted by name; those whose required features are off too.
    pub binaries: Vec<Target>,
    /// The features it declares, those of optional dependencies too, and what each switches on.
    pub features: BTreeMap<String, Vec<String>>,
    /// What it depends on, by the name in the source.
    pub dependencies: BTreeMap<String, Dependency>,
    /// `links`.
    pub links: Option<String>,
    /// Every `Cargo.toml` that was read.
    pub read: Vec<PathBuf>,
}

/// One crate that is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What its generated files are called: `lib`, `bin-NAME`.
    pub stem: String,
    /// The name of the crate, as `use` has it.
    pub krate: String,
    /// Its root file.
    pub path: PathBuf,
    /// The features without which it is not built.
    pub required_features: Vec<String>,
}

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The package's name.
    pub package: String,
    /// Its folder, when it is a path dependency.
    pub path: Option<PathBuf>,
    /// The features asked for.
    pub features: Vec<String>,
    /// Whether its default features are asked for.
    pub default_features: bool,
    /// Whether a feature switches it on.
    pub optional: bool,
    /// The target it is for, when not for all: a triple or `cfg(…)`.
    pub target: Option<String>,
}

/// Why a package cannot be scanned at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageError {
    /// A `Cargo.toml` that is not there or not readable.
    #[error("cannot read {path}: {why}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A `Cargo.toml` that is not one.
    #[error("{path} is not a Cargo.toml: {why}")]
    Parse {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A workspace without packages of its own.
    #[error("{path} describes a workspace and no package; name one with -p")]
    Virtual {
        /// Which.
        path: String,
    },
    /// A feature that the package does not declare.
    #[error("package `{package}` has no feature `{feature}`")]
    Feature {
        /// The package.
        package: String,
        /// The feature.
        feature: String,
    },
}

impl Package {
    /// Reads the `Cargo.toml` in a folder, and the workspace's where it is referred to.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn read(files: &dyn Files, root: &Path) -> Result<Package, PackageError> {
        let root = normalise(root);
        let manifest = root.join("Cargo.toml");
        let table = read_toml(files, &manifest)?;
        let mut reader = Reader {
            files,
            root: root.clone(),
            read: vec![manifest.clone()],
            workspace: None,
        };
        let Some(package) = table
            .get("package")
            .or_else(|| table.get("project"))
            .and_then(Value::as_table)
        else {
            return Err(PackageError::Virtual {
                path: manifest.display().to_string(),
            });
        };
        let name = text(package, "name").unwrap_or_default();
        let version = reader
            .inherited(package, "version")?
            .unwrap_or_else(|| "0.0.0".to_owned());
        let edition = reader
            .inherited(package, "edition")?
            .and_then(|e| e.parse().ok())
            .unwrap_or(2015);
        let mut dependencies = BTreeMap::new();
        reader.dependencies(&table, None, &mut dependencies)?;
        for (target, section) in table
            .get("target")
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
        {
            if let Some(section) = section.as_table() {
                reader.dependencies(section, Some(target), &mut dependencies)?;
            }
        }
        let library = library(files, &root, &table, package, &name);
        let binaries = binaries(files, &root, &table, package, &name, edition);
        let features = features(&table, &dependencies);
        let links = text(package, "links");
        Ok(Package {
            root,
            name,
            version,
            edition,
            library,
            binaries,
            features,
            dependencies,
            links,
            read: reader.read,
        })
    }

    /// The targets that are built with these features, the library first.
    pub fn targets(&self, features: &BTreeSet<String>) -> impl Iterator<Item = &Target> {
        let built = |t: &&Target| t.required_features.iter().all(|f| features.contains(f));
        self.library
            .iter()
            .chain(self.binaries.iter().filter(built))
    }

    /// The features that are on when these are asked for.
    ///
    /// # Errors
    /// When one of them is not declared.
    pub fn switch_on(
        &self,
        asked: &[String],
        default: bool,
    ) -> Result<BTreeSet<String>, PackageError> {
        let mut todo: Vec<String> = asked.to_vec();
        if default && self.features.contains_key("default") {
            todo.push("default".to_owned());
        }
        let mut on = BTreeSet::new();
        while let Some(next) = todo.pop() {
            // `crate/feature` is about another package, and switches on the dependency it names.
            let (name, of_dependency) = match next.split_once('/') {
                Some((krate, _)) if krate.ends_with('?') => continue,
                Some((krate, _)) => (krate.to_owned(), true),
                None => (next, false),
            };
            if name.starts_with("dep:") || on.contains(&name) {
                continue;
            }
            match self.features.get(&name) {
                Some(more) => {
                    todo.extend(more.iter().cloned());
                    on.insert(name);
                }
                None if of_dependency => {}
                None => {
                    return Err(PackageError::Feature {
                        package: self.name.clone(),
                        feature: name,
                    });
                }
            }
        }
        Ok(on)
    }

    /// The name in the source under which a package's library is known.
    pub fn name_of(&self, package: &str) -> Option<&str> {
        self.dependencies
            .iter()
            .find(|(_, d)| d.package == package)
            .map(|(name, _)| name.as_str())
    }
}

struct Reader<'a> {
    files: &'a dyn Files,
    root: PathBuf,
    read: Vec<PathBuf>,
    /// The workspace's folder and `Cargo.toml`, once looked for.
    workspace: Option<Option<(PathBuf, Table)>>,
}

impl Reader<'_> {
    fn workspace(&mut self) -> Result<Option<&(PathBuf, Table)>, PackageError> {
        if self.workspace.is_none() {
            let mut found = None;
            let mut dir = Some(self.root.as_path());
            while let Some(at) = dir {
                let manifest = at.join("Cargo.toml");
                if self.files.is_file(&manifest) {
                    let table = read_toml(self.files, &manifest)?;
                    // `package.workspace` names the root; a folder that holds `[workspace]` is one.
                    let named = table
                        .get("package")
                        .and_then(|p| p.get("workspace"))
                        .and_then(Value::as_str);
                    if let Some(named) = named {
                        let root = normalise(&at.join(named));
                        let table = read_toml(self.files, &root.join("Cargo.toml"))?;
                        found = Some((root, table));
                        break;
                    }
                    if table.contains_key("workspace") {
                        found = Some((at.to_path_buf(), table));
                        break;
                    }
                }
                dir = at.parent();
            }
            if let Some((root, _)) = &found {
                let manifest = root.join("Cargo.toml");
                if !self.read.contains(&manifest) {
                    self.read.push(manifest);
                }
            }
            self.workspace = Some(found);
        }
        Ok(self.workspace.as_ref().and_then(Option::as_ref))
    }

    fn inherited(&mut self, package: &Table, key: &str) -> Result<Option<String>, PackageError> {
        match package.get(key) {
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Table(_)) => {
                let workspace = self.workspace()?;
                Ok(workspace.and_then(|(_, w)| {
                    Some(
                        w.get("workspace")?
                            .get("package")?
                            .get(key)?
                            .as_str()?
                            .to_owned(),
                    )
                }))
            }
            _ => Ok(None),
        }
    }

    fn dependencies(
        &mut self,
        section: &Table,
        target: Option<&str>,
        out: &mut BTreeMap<String, Dependency>,
    ) -> Result<(), PackageError> {
        for (key, value) in section
            .get("dependencies")
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
        {
            let mut dependency = Dependency {
                package: key.clone(),
                path: None,
                features: Vec::new(),
                default_features: true,
                optional: false,
                target: target.map(str::to_owned),
            };
            if let Some(table) = value.as_table() {
                if table.get("workspace").and_then(Value::as_bool) == Some(true)
                    && let Some((root, workspace)) = self.workspace()?.cloned()
                {
                    let shared = workspace
                        .get("workspace")
                        .and_then(|w| w.get("dependencies")?.get(key))
                        .cloned();
                    if let Some(shared) = shared.as_ref().and_then(Value::as_table) {
                        dependency.take(shared, &root);
                    }
                }
                let root = self.root.clone();
                dependency.take(table, &root);
            }
            out.insert(key.replace('-', "_"), dependency);
        }
        Ok(())
    }
}

impl Dependency {
    fn take(&mut self, table: &Table, root: &Path) {
        if let Some(package) = text(table, "package") {
            self.package = package;
        }
        if let Some(path) = text(table, "path") {
            self.path = Some(normalise(&root.join(path)));
        }
        self.features.extend(list(table, "features"));
        if let Some(on) = table
            .get("default-features")
            .or_else(|| table.get("default_features"))
        {
            self.default_features = on.as_bool().unwrap_or(true);
        }
        self.optional |= table
            .get("optional")
            .and_then(Value::as_bool)
            .unwrap_or(false);
    }
}

fn read_toml(files: &dyn Files, path: &Path) -> Result<Table, PackageError> {
    let shown = path.display().to_string();
    let bytes = files.read(path).map_err(|e| PackageError::Read {
        path: shown.clone(),
        why: e.to_string(),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| PackageError::Parse {
        path: shown.clone(),
        why: "it is not UTF-8".to_owned(),
    })?;
    text.parse::<Table>().map_err(|e| PackageError::Parse {
        path: shown,
        why: e.to_string(),
    })
}

fn text(table: &Table, key: &str) -> Option<String> {
    table.get(key)?.as_str().map(str::to_owned)
}

fn list(table: &Table, key: &str) -> Vec<String> {
    let values = table
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    values
        .filter_map(|v| v.as_str().map(str::to_owned))
        .collect()
}

fn flag(table: &Table, key: &str) -> Option<bool> {
    table.get(key).and_then(Value::as_bool)
}

fn library(
    files: &dyn Files,
    root: &Path,
    table: &Table,
    package: &Table,
    name: &str,
) -> Option<Target> {
    let lib = table.get("lib").and_then(Value::as_table);
    let inferred = root.join("src").join("lib.rs");
    let path = match lib.and_then(|l| text(l, "path")) {
        Some(path) => normalise(&root.join(path)),
        None if lib.is_none() && flag(package, "autolib") == Some(false) => return None,
        None if files.is_file(&inferred) => inferred,
        None => return None,
    };
    let krate = lib
        .and_then(|l| text(l, "name"))
        .unwrap_or_else(|| name.to_owned())
        .replace('-', "_");
    Some(Target {
        stem: "lib".to_owned(),
        krate,
        path,
        required_features: Vec::new(),
    })
}

fn binaries(
    files: &dyn Files,
    root: &Path,
    table: &Table,
    package: &Table,
    name: &str,
    edition: u32,
) -> Vec<Target> {
    let source = root.join("src");
    let mut inferred: Vec<(String, PathBuf)> = Vec::new();
    let main = source.join("main.rs");
    if files.is_file(&main) {
        inferred.push((name.to_owned(), main));
    }
    let folder = source.join("bin");
    for entry in files.list(&folder) {
        let path = folder.join(&entry);
        let nested = path.join("main.rs");
        if let Some(stem) = entry
            .strip_suffix(".rs")
            .filter(|s| !s.is_empty() && files.is_file(&path))
        {
            inferred.push((stem.to_owned(), path.clone()));
        } else if files.is_file(&nested) {
            inferred.push((entry, nested));
        }
    }
    let target = |name: String, path: PathBuf, required_features| Target {
        stem: format!("bin-{name}"),
        krate: name.replace('-', "_"),
        path,
        required_features,
    };
    let mut targets: Vec<(String, Target)> = Vec::new();
    let written = table.get("bin").and_then(Value::as_array);
    for bin in written.into_iter().flatten().filter_map(Value::as_table) {
        let Some(name) = text(bin, "name") else {
            continue;
        };
        let path = match text(bin, "path") {
            Some(path) => Some(normalise(&root.join(path))),
            None => inferred
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, p)| p.clone())
                .or_else(|| {
                    // As cargo does for a package whose only binary is written down without a path.
                    let main = source.join("main.rs");
                    files.is_file(&main).then_some(main)
                }),
        };
        if let Some(path) = path {
            targets.push((
                name.clone(),
                target(name, path, list(bin, "required-features")),
            ));
        }
    }
    let discover = flag(package, "autobins").unwrap_or(edition > 2015 || written.is_none());
    if discover {
        for (name, path) in inferred {
            if targets.iter().all(|(n, t)| *n != name && t.path != path) {
                targets.push((name.clone(), target(name, path, Vec::new())));
            }
        }
    }
    targets.sort_by(|a, b| a.0.cmp(&b.0));
    targets.into_iter().map(|(_, target)| target).collect()
}

fn features(
    table: &Table,
    dependencies: &BTreeMap<String, Dependency>,
) -> BTreeMap<String, Vec<String>> {
    let mut features: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in table
        .get("features")
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
    {
        let parts = value.as_array().into_iter().flatten();
        features.insert(
            name.clone(),
            parts
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect(),
        );
    }
    // An optional dependency is a feature of its own name, unless `dep:` speaks of it somewhere.
    let spoken: BTreeSet<String> = features
        .values()
        .flatten()
        .filter_map(|f| f.strip_prefix("dep:"))
        .map(|f| f.replace('-', "_"))
        .collect();
    let sections = table
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
        .filter_map(|(_, t)| t.as_table());
    for section in sections.chain([table]) {
        for key in section
            .get("dependencies")
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
        {
            let name = key.replace('-', "_");
            let optional = dependencies.get(&name).is_some_and(|d| d.optional);
            if optional && !spoken.contains(&name) && !features.contains_key(key) {
                features.insert(key.clone(), Vec::new());
            }
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    fn read(toml: &str, others: &[(&str, &str)]) -> Package {
        let mut files = Memory::new(others.iter().copied());
        files.insert("app/Cargo.toml", toml);
        Package::read(&files, Path::new("app")).unwrap()
    }

    fn names(package: &Package) -> Vec<String> {
        let shown = |t: &Target| {
            format!(
                "{} {}",
                t.stem,
                crate::files::display(Path::new("app"), &t.path)
            )
        };
        package.targets(&BTreeSet::new()).map(shown).collect()
    }

    #[test]
    fn targets_are_found_as_cargo_finds_them() {
        let files = [
            ("app/src/lib.rs", ""),
            ("app/src/main.rs", ""),
            ("app/src/bin/one.rs", ""),
            ("app/src/bin/two/main.rs", ""),
            ("app/src/bin/two/other.rs", ""),
            ("app/src/bin/notes.txt", ""),
        ];
        let package = read(
            "[package]\nname='my-app'\nversion='1.0.0'\nedition='2021'",
            &files,
        );
        assert_eq!(
            names(&package),
            [
                "lib src/lib.rs",
                "bin-my-app src/main.rs",
                "bin-one src/bin/one.rs",
                "bin-two src/bin/two/main.rs"
            ]
        );
        assert_eq!(package.library.unwrap().krate, "my_app");
        let package = read(
            "[package]\nname='my-app'\nversion='1.0.0'\nedition='2021'\n[[bin]]\nname='x'\npath='src/main.rs'\n[[bin]]\nname='one'\nrequired-features=['f']",
            &files,
        );
        assert_eq!(
            names(&package),
            [
                "lib src/lib.rs",
                "bin-two src/bin/two/main.rs",
                "bin-x src/main.rs"
            ]
        );
        let package = read(
            "[package]\nname='a'\nedition='2021'\nautobins=false\n[lib]\npath='src/x.rs'\nname='y'",
            &files,
        );
        assert_eq!(names(&package), ["lib src/x.rs"]);
        assert_eq!(package.library.unwrap().krate, "y");
        let package = read(
            "[package]\nname='a'\nedition='2015'\n[[bin]]\nname='one'",
            &files,
        );
        assert_eq!(
            names(&package),
            ["lib src/lib.rs", "bin-one src/bin/one.rs"],
            "2015 discovers nothing beside"
        );
    }

    #[test]
    fn what_the_workspace_says_is_inherited() {
        let package = read(
            "[package]\nname='a'\nversion.workspace=true\nedition.workspace=true\n[dependencies]\nfx={workspace=true,features=['b']}\nserde-x='1'",
            &[(
                "Cargo.toml",
                "[workspace]\n[workspace.package]\nversion='3.2.1'\nedition='2024'\n[workspace.dependencies]\nfx={package='flowx-runtime',path='rt',features=['a']}",
            )],
        );
        assert_eq!((package.version.as_str(), package.edition), ("3.2.1", 2024));
        let fx = &package.dependencies["fx"];
        assert_eq!(fx.package, "flowx-runtime");
        assert_eq!(fx.path.as_deref(), Some(Path::new("rt")));
        assert_eq!(fx.features, ["a", "b"]);
        assert_eq!(package.name_of("flowx-runtime"), Some("fx"));
        assert_eq!(package.dependencies["serde_x"].package, "serde-x");
    }

    #[test]
    fn features_switch_on_what_they_name() {
        let package = read(
            "[package]\nname='a'\n[features]\ndefault=['x']\nx=['y','dep:one','two/z','three?/z']\ny=[]\nw=[]\n[dependencies]\none={version='1',optional=true}\ntwo={version='1',optional=true}\nthree={version='1',optional=true}",
            &[],
        );
        let on = package.switch_on(&[], true).unwrap();
        assert_eq!(
            on.iter().map(String::as_str).collect::<Vec<_>>(),
            ["default", "two", "x", "y"]
        );
        assert!(package.switch_on(&[], false).unwrap().is_empty());
        assert!(matches!(
            package.switch_on(&["nope".to_owned()], false),
            Err(PackageError::Feature { .. })
        ));
    }
}
