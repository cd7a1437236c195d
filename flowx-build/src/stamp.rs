//! What the last scan saw, so that the next one of the same sources need not read them: cargo reruns a build script for a changed
//! time or an unrelated folder entry, and most of those times nothing that matters has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The file, beside what the scan wrote.
const NAME: &str = "stamp";

/// What a scan depends on beside the files.
pub(crate) fn circumstances(vars: &BTreeMap<String, String>, cfg: &[(String, bool)]) -> String {
    let relevant = |name: &str| {
        ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_"]
            .iter()
            .any(|p| name.starts_with(p))
            || (name.starts_with("DEP_") && name.ends_with("_FLOWX"))
            || name == "CARGO_MANIFEST_DIR"
    };
    let mut text = String::new();
    for (name, value) in vars.iter().filter(|(name, _)| relevant(name)) {
        let _ = writeln!(text, "{name}={value}");
    }
    for (name, holds) in cfg {
        let _ = writeln!(text, "{name}={holds}");
    }
    // The scan itself: the build script is linked anew when any of it changes.
    if let Ok(exe) = std::env::current_exe() {
        let _ = writeln!(text, "{}", seen(&exe));
    }
    flowx_manifest::digest(text.as_bytes())
}

/// The lines that the last scan told cargo, when it would see the same again. Anything odd is `None`, and a scan.
pub(crate) fn unchanged(out: &Path, circumstances: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(out.join(NAME)).ok()?;
    let mut lines = text.lines();
    if lines.next()? != format!("circumstances {circumstances}") {
        return None;
    }
    let mut said = Vec::new();
    let mut complete = false;
    for line in lines {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "file" => {
                let (state, path) = rest.split_once(' ')?;
                if seen(Path::new(path)) != state {
                    return None;
                }
            }
            "absent" => {
                if Path::new(rest).exists() {
                    return None;
                }
            }
            "folder" => {
                let (state, path) = rest.split_once(' ')?;
                if listing(Path::new(path)) != state {
                    return None;
                }
            }
            "say" => said.push(rest.to_owned()),
            "end" => complete = true,
            _ => return None,
        }
    }
    complete.then_some(said)
}

/// Notes what this scan saw and said.
pub(crate) fn write(
    out: &Path,
    circumstances: &str,
    read: &BTreeSet<PathBuf>,
    absent: &BTreeSet<PathBuf>,
    folders: &[PathBuf],
    lines: &[String],
) -> std::io::Result<()> {
    let mut text = format!("circumstances {circumstances}\n");
    let written = std::fs::read_dir(out)?
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.file_name().is_some_and(|n| n != NAME));
    for path in read.iter().cloned().chain(written) {
        let _ = writeln!(text, "file {} {}", seen(&path), path.display());
    }
    for path in absent {
        let _ = writeln!(text, "absent {}", path.display());
    }
    for folder in folders {
        let _ = writeln!(text, "folder {} {}", listing(folder), folder.display());
    }
    for line in lines {
        let _ = writeln!(text, "say {line}");
    }
    text.push_str("end .\n");
    crate::emit::put(&out.join(NAME), text.as_bytes())
}

/// Length and time of a file, as one word.
fn seen(path: &Path) -> String {
    let Ok(meta) = std::fs::metadata(path) else {
        return "-".to_owned();
    };
    let time = meta
        .modified()
        .ok()
        .and_then(|t| t.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |d| d.as_nanos());
    format!("{}:{time}", meta.len())
}

/// What a folder holds, as one word.
fn listing(folder: &Path) -> String {
    use crate::files::Files as _;
    flowx_manifest::digest(crate::files::Disk.list(folder).join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_to_what_was_seen_means_a_scan() {
        let dir = tempfile::tempdir().unwrap();
        let (out, src) = (dir.path().join("out"), dir.path().join("src"));
        std::fs::create_dir_all(&out).unwrap();
        std::fs::create_dir_all(&src).unwrap();
        let file = src.join("main.rs");
        std::fs::write(&file, "fn main() {}").unwrap();
        std::fs::write(out.join("lib.rs"), "x").unwrap();
        let absent: BTreeSet<PathBuf> = [src.join("a.rs")].into();
        let note = || {
            write(
                &out,
                "c",
                &[file.clone()].into(),
                &absent,
                std::slice::from_ref(&src),
                &["cargo::x=y z".to_owned()],
            )
            .unwrap();
        };
        let same = || unchanged(&out, "c");
        note();
        assert_eq!(same(), Some(vec!["cargo::x=y z".to_owned()]));
        assert_eq!(unchanged(&out, "d"), None, "other circumstances");
        std::fs::write(&file, "fn main() { }").unwrap();
        assert_eq!(same(), None, "another length");
        note();
        std::fs::write(src.join("b.rs"), "").unwrap();
        assert_eq!(same(), None, "a file came to be");
        note();
        std::fs::write(out.join("lib.rs"), "xy").unwrap();
        assert_eq!(same(), None, "somebody wrote over what was generated");
        note();
        std::fs::remove_file(out.join("lib.rs")).unwrap();
        assert_eq!(same(), None, "what was generated is gone");
        note();
        let cut = std::fs::read_to_string(out.join(NAME))
            .unwrap()
            .replace("end .\n", "");
        std::fs::write(out.join(NAME), cut).unwrap();
        assert_eq!(same(), None, "half a stamp is none");
    }
}
