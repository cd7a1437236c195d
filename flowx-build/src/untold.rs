//! Libraries that declare something and do not tell: what they declare would be compiled in, and be in no manifest.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::cfg::CfgSet;
use crate::codes;
use crate::driver::{Features, Libraries, ScanOptions, ScanOutput, scan_package};
use crate::files::{Files, display, normalise};
use crate::finding::{Finding, Findings};
use crate::flowx_names;
use crate::package::{Dependency, Package, PackageError};

/// Whether a dependency is one of the build: features and its `[target]` say so. What cannot be evaluated is.
pub(crate) fn is_on(
    name: &str,
    dependency: &Dependency,
    features: &BTreeSet<String>,
    cfg: &CfgSet,
) -> bool {
    let asked =
        !dependency.optional || features.contains(name) || features.contains(&dependency.package);
    let predicate = dependency
        .target
        .as_deref()
        .and_then(|t| t.trim().strip_prefix("cfg(")?.strip_suffix(')'));
    let built = predicate
        .and_then(|text| text.parse().ok())
        .and_then(|tokens| cfg.eval(tokens).ok())
        .is_none_or(|holds| !holds.is_false());
    asked && built
}

/// Whether cargo passes on what that library tells.
pub(crate) fn tells(output: &ScanOutput) -> bool {
    output.package.links.is_some() || declares_nothing(output)
}

fn declares_nothing(output: &ScanOutput) -> bool {
    output
        .exports
        .as_ref()
        .is_none_or(|(exports, _)| exports.entries.is_empty())
}

/// Looks through the path dependencies for libraries that have not told and declare something, those behind a library that knows
/// nothing of FlowX too. Only what has not told is scanned, which usually is nothing.
pub(crate) struct Search<'a> {
    pub(crate) options: &'a ScanOptions<'a>,
    /// The packages that have told, or were looked at already.
    pub(crate) known: BTreeSet<String>,
    pub(crate) findings: &'a Findings,
    pub(crate) read: &'a mut BTreeSet<PathBuf>,
    pub(crate) stack: &'a [PathBuf],
}

impl Search<'_> {
    /// Below that package. `place` is where its own findings stand: the dependency that leads there.
    pub(crate) fn below(
        &mut self,
        package: &Package,
        features: &BTreeSet<String>,
        way: &[String],
        place: Option<&Place>,
    ) -> Result<(), PackageError> {
        for (name, dependency) in &package.dependencies {
            let Some(path) = dependency.path.as_deref().map(normalise) else {
                continue;
            };
            if flowx_names::is_own_package(&dependency.package)
                || self.known.contains(&dependency.package)
                || self.stack.contains(&path)
                || !is_on(name, dependency, features, &self.options.cfg)
            {
                continue;
            }
            // One that is not there is an error of cargo's, or was reported by whoever scanned it.
            let Ok(inner) = Package::read(self.options.files, &path) else {
                continue;
            };
            self.known.insert(inner.name.clone());
            self.read.extend(inner.read.iter().cloned());
            let own;
            let place = match place {
                Some(place) => place,
                None => {
                    own = Place::of(self.options.files, package, name);
                    &own
                }
            };
            let asked = Features::Asked {
                names: dependency.features.clone(),
                default: dependency.default_features,
            };
            if inner.library.is_some() && inner.name_of(flowx_names::RUNTIME_PACKAGE).is_some() {
                let output = scan_package(&ScanOptions {
                    files: self.options.files,
                    package: &path,
                    cfg: self.options.cfg.clone(),
                    features: asked,
                    libraries: Libraries::Scan,
                    look_beyond: false,
                })?;
                self.read.extend(output.read.iter().cloned());
                if !declares_nothing(&output) {
                    self.findings.push(place.finding(&output, way));
                }
                continue;
            }
            let on = inner
                .switch_on(&dependency.features, dependency.default_features)
                .unwrap_or_default();
            let mut way = way.to_vec();
            way.push(inner.name.clone());
            self.below(&inner, &on, &way, Some(place))?;
        }
        Ok(())
    }
}

/// Where a dependency stands in `Cargo.toml`.
pub(crate) struct Place {
    file: String,
    at: (u32, u32),
}

impl Place {
    pub(crate) fn of(files: &dyn Files, package: &Package, name: &str) -> Place {
        let path = package.root.join("Cargo.toml");
        let text = files.read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        Place {
            file: display(&package.root, &path),
            at: line(&text, name),
        }
    }

    /// That a library declares something and does not tell.
    pub(crate) fn finding(&self, output: &ScanOutput, way: &[String]) -> Finding {
        let (package, entries) = match &output.exports {
            Some((exports, _)) => (&exports.package, exports.entries.as_slice()),
            None => (&output.package.name, [].as_slice()),
        };
        let mut named: Vec<String> = entries
            .iter()
            .map(|e| format!("{} `{}`", e.kind, e.id))
            .take(3)
            .collect();
        if entries.len() > 3 {
            named.push(format!("{} more", entries.len() - 3));
        }
        let declares = format!("library `{package}` declares {}", named.join(", "));
        let (message, help) = if output.package.links.is_some() {
            (
                format!(
                    "{declares}, and is reached through `{}`, which passes nothing on: it would be compiled in and be in no manifest",
                    way.join("` and `")
                ),
                format!(
                    "name `{package}` among the dependencies of this package, or let the library between call flowx_build::emit() with a `links` of its own"
                ),
            )
        } else {
            (
                format!(
                    "{declares} and does not tell: it would be compiled in and be in no manifest"
                ),
                format!(
                    "write `links = \"flowx-{package}\"` under [package] in its Cargo.toml; its build.rs calls flowx_build::emit()"
                ),
            )
        };
        Finding::new(codes::LIBRARY_UNTOLD, self.file.clone(), message)
            .at_line(self.at.0, self.at.1)
            .help(help)
    }
}

/// Line and column of a dependency's key, whichever way it is written; the first line where it cannot be found.
fn line(text: &str, name: &str) -> (u32, u32) {
    let is = |key: &str| key.trim().trim_matches(['"', '\'']).replace('-', "_") == name;
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let at = |column: usize| {
            let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
            (number, u32::try_from(column + 1).unwrap_or(u32::MAX))
        };
        let indent = line.len() - line.trim_start().len();
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            let (table, last) = header.rsplit_once('.').unwrap_or(("", header));
            inside = last.trim() == "dependencies";
            if table.ends_with("dependencies") && is(last) {
                return at(indent);
            }
        } else if inside && line.split(['=', '.']).next().is_some_and(is) {
            return at(indent);
        }
    }
    (1, 1)
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_dependency_is_found_however_it_is_written() {
        let text = "[package]\nthe-desk = 1\n[dev-dependencies]\nthe-desk = 1\n[dependencies]\nserde = '1'\n  the-desk = { path = 'x' }\n";
        assert_eq!(line(text, "the_desk"), (7, 3));
        assert_eq!(
            line("[dependencies.the-desk]\npath = 'x'", "the_desk"),
            (1, 1)
        );
        assert_eq!(
            line("[target.'cfg(unix)'.dependencies]\n\"a\".path = 'x'\n", "a"),
            (2, 1)
        );
        assert_eq!(line("[dependencies]\nb = 1", "a"), (1, 1));
    }
}
