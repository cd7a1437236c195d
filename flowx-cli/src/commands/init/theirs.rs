//! The crate as it is: what its Cargo.toml and its workspace say.

use std::fs;
use std::path::{Path, PathBuf};

use flowx_build::files::Disk;
use toml::{Table, Value};

use crate::failure::Failure;
use crate::source;

/// A crate of somebody else's making.
pub(super) struct Theirs {
    dir: PathBuf,
    pub(super) cargo_toml: PathBuf,
    /// Cargo.toml, as it is written.
    pub(super) text: String,
    toml: Table,
    /// The Cargo.toml of the workspace that the crate belongs to, which may be its own.
    workspace: Option<Table>,
}

/// The file of the crate that serves, and how to get from its folder to one where a module may be put.
pub(super) struct Root {
    pub(super) file: PathBuf,
    /// `""`, or `".."` where cargo would take every file beside the root for a program of its own.
    pub(super) module_path: &'static str,
}

impl Theirs {
    pub(super) fn read(dir: &Path) -> Result<Theirs, Failure> {
        let cargo_toml = dir.join("Cargo.toml");
        let text = fs::read_to_string(&cargo_toml)
            .map_err(|error| Failure::load(cargo_toml.display(), error))?;
        let toml: Table =
            toml::from_str(&text).map_err(|error| Failure::load(cargo_toml.display(), error))?;
        if !toml.get("package").is_some_and(Value::is_table) {
            return Err(Failure::load(
                cargo_toml.display(),
                "is a workspace without a package; name the folder of the crate",
            ));
        }
        let workspace = if toml.contains_key("workspace") {
            Some(toml.clone())
        } else {
            source::workspace_above(&Disk, dir)
                .ok()
                .map(|(_, toml)| toml)
        };
        Ok(Theirs {
            dir: dir.to_owned(),
            cargo_toml,
            text,
            toml,
            workspace,
        })
    }

    pub(super) fn has(&self, section: &str, krate: &str) -> bool {
        self.toml
            .get(section)
            .is_some_and(|s| s.get(krate).is_some())
    }

    /// Whether the workspace declares the dependency for its members.
    pub(super) fn workspace_has(&self, krate: &str) -> bool {
        self.inherited("dependencies", krate).is_some()
    }

    /// A dependency as it is declared, with the workspace's declaration where it is inherited.
    pub(super) fn dependency(&self, krate: &str) -> Option<Table> {
        let table = |value: &Value| match value {
            Value::String(version) => {
                Table::from_iter([("version".to_owned(), Value::from(version.as_str()))])
            }
            Value::Table(table) => table.clone(),
            _ => Table::new(),
        };
        let own = table(self.toml.get("dependencies")?.get(krate)?);
        if own.get("workspace").and_then(Value::as_bool) != Some(true) {
            return Some(own);
        }
        let mut all = self
            .inherited("dependencies", krate)
            .map(table)
            .unwrap_or_default();
        all.extend(own);
        Some(all)
    }

    /// A key of `[package]`, with the workspace's value where it is inherited.
    fn package(&self, key: &str) -> Option<&Value> {
        let own = self.toml.get("package")?.get(key)?;
        match own.get("workspace").and_then(Value::as_bool) {
            Some(true) => self.inherited("package", key),
            _ => Some(own),
        }
    }

    fn inherited(&self, section: &str, key: &str) -> Option<&Value> {
        self.workspace
            .as_ref()?
            .get("workspace")?
            .get(section)?
            .get(key)
    }

    /// The edition; 2015 when the crate says nothing, as cargo has it.
    pub(super) fn edition(&self) -> &str {
        self.package("edition")
            .and_then(Value::as_str)
            .unwrap_or("2015")
    }

    /// The `rust-version` of the crate, when it is older than that one.
    pub(super) fn older_rust(&self, needed: &str) -> Option<&str> {
        let parts = |version: &str| -> Vec<u32> {
            version.split('.').map(|p| p.parse().unwrap_or(0)).collect()
        };
        let own = self.package("rust-version")?.as_str()?;
        (parts(own) < parts(needed)).then_some(own)
    }

    /// Whether Cargo.toml switches build scripts off and none is there, as published crates have it.
    pub(super) fn script_is_off(&self) -> bool {
        self.package("build").and_then(Value::as_bool) == Some(false)
    }

    /// Where the build script is or will be.
    pub(super) fn build_script(&self) -> Result<PathBuf, Failure> {
        let usual = self.dir.join("build.rs");
        match self.package("build") {
            Some(Value::String(name)) => Ok(self.dir.join(name)),
            Some(Value::Boolean(false)) if usual.exists() => Err(Failure::load(
                self.cargo_toml.display(),
                "switches the build script off that is there (build = false); FlowX needs one that runs",
            )),
            _ => Ok(usual),
        }
    }

    /// The program's root, or else the library's.
    pub(super) fn root(&self) -> Result<Root, Failure> {
        let named = |target: Option<&Value>| {
            target
                .and_then(|t| t.get("path")?.as_str())
                .map(PathBuf::from)
        };
        let bins = self.toml.get("bin").and_then(Value::as_array);
        let first = bins.and_then(|bins| bins.first());
        let candidates = named(first)
            .into_iter()
            .chain(["src/main.rs".into()])
            .chain(self.programs())
            .chain(named(self.toml.get("lib")))
            .chain(["src/lib.rs".into()]);
        let file = candidates
            .map(|path| self.dir.join(path))
            .find(|path| path.is_file())
            .ok_or_else(|| {
                Failure::load(
                    self.dir.display(),
                    "has no src/main.rs, no src/lib.rs, and not one program in src/bin",
                )
            })?;
        let crowded = file.parent() == Some(&self.dir.join("src/bin"));
        Ok(Root {
            file,
            module_path: if crowded { ".." } else { "" },
        })
    }

    /// The program in `src/bin`, when there is exactly one and nothing else says what the crate is.
    fn programs(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.dir.join("src/bin")).ok()?;
        let mut found = entries.flatten().filter_map(|entry| {
            let path = PathBuf::from("src/bin").join(entry.file_name());
            let inner = path.join("main.rs");
            if self.dir.join(&inner).is_file() {
                Some(inner)
            } else {
                path.extension().is_some_and(|e| e == "rs").then_some(path)
            }
        });
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}
