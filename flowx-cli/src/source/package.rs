//! Which crate is meant: found by reading Cargo.toml files, without running cargo, so that it works at a git revision.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flowx_build::files::{Files, normalise};

use crate::failure::Failure;

/// The Cargo.toml that was named, or the nearest one upwards of the working folder.
///
/// # Errors
/// When there is none.
pub fn find_manifest(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        let path = if path.is_dir() {
            path.join("Cargo.toml")
        } else {
            path.to_owned()
        };
        return if path.is_file() {
            Ok(path)
        } else {
            Err(Failure::load(path.display(), "there is no such file"))
        };
    }
    let here =
        std::env::current_dir().map_err(|error| Failure::load("the working folder", error))?;
    // Relative, so that no path of this machine is ever shown.
    let mut up = PathBuf::new();
    for _ in here.ancestors() {
        let candidate = up.join("Cargo.toml");
        if candidate.is_file() {
            return Ok(candidate);
        }
        up.push("..");
    }
    Err(Failure::Load(
        "there is no Cargo.toml in this folder or above it; name one with --manifest-path, or name a SOURCE".to_owned(),
    ))
}

/// The folder that holds a file; `.` is the empty path.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
}

/// The name in `[package]`.
pub fn package_name(files: &dyn Files, folder: &Path) -> Option<String> {
    Some(
        read(files, folder)?
            .get("package")?
            .get("name")?
            .as_str()?
            .to_owned(),
    )
}

/// The folder of the package that is meant by a folder and perhaps a name: the crate there, or a member of the workspace
/// there.
pub(super) fn locate(
    files: &dyn Files,
    folder: &Path,
    name: Option<&str>,
) -> Result<PathBuf, String> {
    let toml = read(files, folder)
        .ok_or_else(|| format!("there is no readable Cargo.toml in {}", shown(folder)))?;
    let own = toml.get("package").and_then(|p| p.get("name")?.as_str());
    match (own, name) {
        (Some(_), None) => return Ok(folder.to_owned()),
        (Some(own), Some(name)) if own == name => return Ok(folder.to_owned()),
        _ => {}
    }
    let (root, toml) = if toml.contains_key("workspace") {
        (folder.to_owned(), toml)
    } else {
        workspace_above(files, folder)?
    };
    let members = members(files, &root, &toml);
    if let Some(name) = name {
        return members
            .iter()
            .find(|member| package_name(files, member).as_deref() == Some(name))
            .cloned()
            .ok_or_else(|| {
                format!(
                    "no package {name} in the workspace at {}; it has {}",
                    shown(&root),
                    listed(files, &members)
                )
            });
    }
    // A workspace without a package of its own: if only one member uses FlowX, that one is meant.
    let ours: Vec<&PathBuf> = members
        .iter()
        .filter(|member| uses_flowx(files, member))
        .collect();
    match ours.as_slice() {
        [one] => Ok((*one).clone()),
        _ => Err(format!(
            "{} is a workspace; name one of its packages with -p: {}",
            shown(&root),
            listed(files, &members)
        )),
    }
}

/// The nearest Cargo.toml above the folder that is a workspace's, and its folder.
///
/// # Errors
/// When there is none.
pub fn workspace_above(files: &dyn Files, folder: &Path) -> Result<(PathBuf, toml::Table), String> {
    let mut at = folder.to_owned();
    // As many steps as any real path has; `..` is followed by name, for relative folders.
    for _ in 0..64 {
        at = if at.as_os_str().is_empty() || at.ends_with("..") {
            at.join("..")
        } else {
            folder_of(&at)
        };
        match read(files, &at) {
            Some(toml) if toml.contains_key("workspace") => return Ok((at, toml)),
            _ => {}
        }
    }
    Err(format!("no workspace holds {}", shown(folder)))
}

fn members(files: &dyn Files, root: &Path, toml: &toml::Table) -> Vec<PathBuf> {
    let list = |key: &str| -> Vec<String> {
        let values = toml
            .get("workspace")
            .and_then(|w| w.get(key)?.as_array())
            .into_iter()
            .flatten();
        values
            .filter_map(|v| v.as_str().map(str::to_owned))
            .collect()
    };
    let expand = |patterns: Vec<String>| -> BTreeSet<PathBuf> {
        patterns
            .iter()
            .flat_map(|pattern| expand(files, root, pattern))
            .collect()
    };
    let excluded = expand(list("exclude"));
    let mut all = expand(list("members"));
    if toml.contains_key("package") {
        all.insert(root.to_owned());
    }
    all.into_iter()
        .filter(|member| !excluded.contains(member) && files.is_file(&member.join("Cargo.toml")))
        .collect()
}

/// The folders that a member pattern means; `*` and `?` within one part of the path, as cargo's own users write them.
fn expand(files: &dyn Files, root: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    for part in pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        found = found
            .iter()
            .flat_map(|folder| {
                if part.contains(['*', '?']) {
                    let names = files.list(if folder.as_os_str().is_empty() {
                        Path::new(".")
                    } else {
                        folder
                    });
                    names
                        .into_iter()
                        .filter(|name| matches(part, name))
                        .map(|name| folder.join(name))
                        .collect()
                } else {
                    vec![normalise(&folder.join(part))]
                }
            })
            .collect();
    }
    found
}

fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.chars();
    match parts.next() {
        None => name.is_empty(),
        Some('*') => (0..=name.len())
            .filter(|at| name.is_char_boundary(*at))
            .any(|at| matches(parts.as_str(), &name[at..])),
        Some(c) => {
            let mut rest = name.chars();
            rest.next().is_some_and(|d| c == '?' || c == d)
                && matches(parts.as_str(), rest.as_str())
        }
    }
}

fn uses_flowx(files: &dyn Files, folder: &Path) -> bool {
    read(files, folder).is_some_and(|toml| {
        ["dependencies", "build-dependencies"]
            .iter()
            .any(|section| {
                toml.get(*section).is_some_and(|s| {
                    s.get("flowx-runtime").is_some() || s.get("flowx-build").is_some()
                })
            })
    })
}

fn read(files: &dyn Files, folder: &Path) -> Option<toml::Table> {
    let bytes = files.read(&folder.join("Cargo.toml")).ok()?;
    toml::from_str(std::str::from_utf8(&bytes).ok()?).ok()
}

fn listed(files: &dyn Files, members: &[PathBuf]) -> String {
    let names: Vec<String> = members
        .iter()
        .filter_map(|member| package_name(files, member))
        .collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn shown(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        "this folder".to_owned()
    } else {
        folder.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use flowx_build::files::Memory;

    use super::*;

    fn workspace() -> Memory {
        Memory::new([
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"crates/*\", \"tool\"]\nexclude = [\"crates/old\"]\n",
            ),
            (
                "crates/desk/Cargo.toml",
                "[package]\nname = \"desk\"\n[dependencies]\nflowx-runtime = \"0.1\"\n",
            ),
            ("crates/other/Cargo.toml", "[package]\nname = \"other\"\n"),
            ("crates/old/Cargo.toml", "[package]\nname = \"old\"\n"),
            ("tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
        ])
    }

    #[test]
    fn a_member_is_found_by_its_name_from_anywhere_in_the_workspace() {
        let files = workspace();
        assert_eq!(
            locate(&files, Path::new(""), Some("other")),
            Ok("crates/other".into())
        );
        assert_eq!(
            locate(&files, Path::new("tool"), Some("desk")),
            Ok("crates/desk".into())
        );
        assert_eq!(locate(&files, Path::new("tool"), None), Ok("tool".into()));
    }

    #[test]
    fn the_only_member_that_uses_flowx_is_meant() {
        assert_eq!(
            locate(&workspace(), Path::new(""), None),
            Ok("crates/desk".into())
        );
    }

    #[test]
    fn an_unknown_package_is_refused_with_those_there_are() {
        let error = locate(&workspace(), Path::new(""), Some("old")).unwrap_err();
        assert!(error.contains("desk, other, tool"), "{error}");
    }
}
