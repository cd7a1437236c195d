//! Where sources are read from: the disk, a git revision, or memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Read-only access to a tree of files. Paths are absolute or relative to the working folder, and already
/// [`normalise`]d.
pub trait Files: Sync {
    /// The bytes of a file.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether there is a file (not a folder) of that name.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether there is a folder of that name.
    fn is_dir(&self, path: &Path) -> bool;

    /// The names of what a folder holds, sorted. Empty when there is no such folder.
    fn list(&self, dir: &Path) -> Vec<String>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn list(&self, dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

/// Files in memory: for tests, and for what was read from somewhere else.
#[derive(Clone, Debug, Default)]
pub struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Memory {
    /// The files of the given names and texts.
    pub fn new<P: Into<PathBuf>, T: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        Self(
            files
                .into_iter()
                .map(|(path, text)| (normalise(&path.into()), text.into()))
                .collect(),
        )
    }

    /// Adds or replaces one file.
    pub fn insert(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) {
        self.0.insert(normalise(&path.into()), text.into());
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn is_file(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.0.keys().any(|p| p != path && p.starts_with(path))
    }

    fn list(&self, dir: &Path) -> Vec<String> {
        let names: BTreeSet<String> = self
            .0
            .keys()
            .filter_map(|p| {
                p.strip_prefix(dir)
                    .ok()?
                    .components()
                    .next()?
                    .as_os_str()
                    .to_str()
                    .map(str::to_owned)
            })
            .collect();
        names.into_iter().collect()
    }
}

/// The path without `.` and, where a folder stands before it, without `..`. Purely by name.
pub fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// How a path is shown: relative to the package, with `/` on every platform, so that no machine's own paths get out.
pub fn display(root: &Path, path: &Path) -> String {
    let mut up = 0;
    let mut base = root;
    let relative = loop {
        if let Ok(rest) = path.strip_prefix(base) {
            break rest;
        }
        match base.parent() {
            Some(parent) => base = parent,
            None => break path,
        }
        up += 1;
    };
    let mut parts: Vec<String> = vec!["..".to_owned(); up];
    parts.extend(
        relative
            .components()
            .map(|c| c.as_os_str().to_string_lossy().into_owned()),
    );
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_relative_to_the_package_with_forward_slashes() {
        let root = Path::new("/w/app");
        assert_eq!(display(root, Path::new("/w/app/src/a.rs")), "src/a.rs");
        assert_eq!(display(root, Path::new("/w/shared/b.rs")), "../shared/b.rs");
    }

    #[test]
    fn normalising_keeps_leading_parents() {
        assert_eq!(normalise(Path::new("a/./b/../c.rs")), Path::new("a/c.rs"));
        assert_eq!(
            normalise(Path::new("../x/../../y.rs")),
            Path::new("../../y.rs")
        );
    }
}
