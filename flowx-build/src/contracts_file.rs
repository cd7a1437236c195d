//! `flowx.contracts.json`: the schemas of the types that build.rs registers, where everybody can read them who runs no build
//! script. The build alone writes it, and holds it to what is registered; the scan reads nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use flowx_manifest::{Json, json};

use crate::files::Files;

/// The file, beside `Cargo.toml`.
pub(crate) const FILE: &str = "flowx.contracts.json";
/// The environment variable that makes a build write it: `FLOWX_CONTRACTS=write`.
pub(crate) const VARIABLE: &str = "FLOWX_CONTRACTS";
const SCHEMA: &str = "https://flowx.dev/schemas/flowx.contracts.schema.json";
const VERSION: &str = "1";

/// What is accepted as a type and what is written of it. References name contracts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) request: Json,
    pub(crate) response: Json,
}

/// Every registered type, by the path that the compiler gives it; parts of one that refer to themselves as `path.Part`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContractsFile {
    pub(crate) types: BTreeMap<String, Known>,
}

impl ContractsFile {
    pub(crate) const fn empty() -> Self {
        Self {
            types: BTreeMap::new(),
        }
    }

    /// The package's file; `None` without one.
    ///
    /// # Errors
    /// When it is there and is no such document.
    pub(crate) fn read(files: &dyn Files, package: &Path) -> Result<Option<Self>, String> {
        match files.read(&package.join(FILE)) {
            Ok(bytes) => Self::parse(&bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document =
            json::parse(bytes, json::Limits::DOCUMENT).map_err(|error| error.to_string())?;
        if document.get("schemaVersion").and_then(Json::as_str) != Some(VERSION) {
            return Err(format!("its schemaVersion is not \"{VERSION}\""));
        }
        let types = document
            .get("types")
            .and_then(Json::as_object)
            .ok_or("it has no object `types`")?;
        let mut all = BTreeMap::new();
        for (name, known) in types {
            let direction = |which: &str| {
                known
                    .get(which)
                    .filter(|s| matches!(s, Json::Object(_) | Json::Bool(_)))
                    .cloned()
                    .ok_or_else(|| format!("`{name}` has no schema `{which}`"))
            };
            let known = Known {
                request: direction("request")?,
                response: direction("response")?,
            };
            all.insert(name.clone(), known);
        }
        Ok(Self { types: all })
    }

    /// The document: a line for each type, so that a change of one is one line of a diff.
    pub(crate) fn write(&self) -> String {
        let mut out = format!(
            "{{\n\"$schema\":\"{SCHEMA}\",\n\"schemaVersion\":\"{VERSION}\",\n\"types\":{{\n"
        );
        for (i, (name, known)) in self.types.iter().enumerate() {
            let both = Json::object([
                ("request", known.request.clone()),
                ("response", known.response.clone()),
            ]);
            let comma = if i + 1 < self.types.len() { "," } else { "" };
            let _ = writeln!(
                out,
                "{}:{}{comma}",
                Json::from(name.as_str()).to_canonical(),
                both.to_canonical()
            );
        }
        out.push_str("}\n}\n");
        out
    }

    /// The type that a path of the source means, with its own name. The source may name it through a re-export, by fewer modules
    /// than the compiler does; where that fits two, neither is meant.
    pub(crate) fn find(&self, path: &str) -> Option<(&str, &Known)> {
        if let Some((name, known)) = self.types.get_key_value(path) {
            return Some((name, known));
        }
        let mut found = self.types.iter().filter(|(name, _)| shortens(name, path));
        match (found.next(), found.next()) {
            (Some((name, known)), None) => Some((name, known)),
            _ => None,
        }
    }

    /// In what this file differs from what is registered, in words; empty when it does not.
    pub(crate) fn differs_from(&self, registered: &Self) -> Vec<String> {
        let mut all = Vec::new();
        for (name, known) in &registered.types {
            match self.types.get(name) {
                None => all.push(format!("`{name}` is registered and not in the file")),
                Some(held) if held != known => {
                    all.push(format!("the schema of `{name}` has changed"));
                }
                Some(_) => {}
            }
        }
        for name in self.types.keys() {
            if !registered.types.contains_key(name) {
                all.push(format!("`{name}` is in the file and not registered"));
            }
        }
        all
    }
}

/// Whether the path names the type through fewer modules of the same crate: `money::Cents` for `money::inner::Cents`.
/// Arguments go by their last words, since only those are alike in the source and in what the compiler says.
fn shortens(name: &str, path: &str) -> bool {
    let parts = |path: &str| -> Option<(String, Vec<String>, String)> {
        let (head, args) = match path.find('<') {
            Some(at) => path.split_at(at),
            None => (path, ""),
        };
        let mut words: Vec<String> = head.split("::").map(str::to_owned).collect();
        let last = words.pop()? + &last_words(args);
        (!words.is_empty()).then(|| (words.remove(0), words, last))
    };
    let (Some((crate_a, long, type_a)), Some((crate_b, short, type_b))) =
        (parts(name), parts(path))
    else {
        return false;
    };
    let mut rest = long.iter();
    crate_a == crate_b && type_a == type_b && short.iter().all(|m| rest.any(|l| l == m))
}

/// `<alloc::string::String, money::Cents>` as `<String,Cents>`.
fn last_words(args: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in args.chars().chain([' ']) {
        match c {
            ':' => word.clear(),
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            c => {
                out.push_str(&std::mem::take(&mut word));
                if c != ' ' {
                    out.push(c);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    fn file(names: &[&str]) -> ContractsFile {
        let known = |n: &str| Known {
            request: Json::object([("title", Json::from(n))]),
            response: Json::empty(),
        };
        ContractsFile {
            types: names.iter().map(|n| ((*n).to_owned(), known(n))).collect(),
        }
    }

    #[test]
    fn what_is_written_is_read_again_also_with_windows_line_ends() {
        let all = file(&["money::Cents", "money::Page<alloc::string::String>"]);
        for text in [all.write(), all.write().replace('\n', "\r\n")] {
            let files = Memory::new([("app/flowx.contracts.json", text)]);
            assert_eq!(
                ContractsFile::read(&files, Path::new("app")),
                Ok(Some(all.clone()))
            );
        }
        assert_eq!(
            ContractsFile::read(&Memory::default(), Path::new("app")),
            Ok(None)
        );
        assert_eq!(all.write().lines().count(), 4 + 2 + 2);
    }

    #[test]
    fn a_document_of_another_shape_is_refused() {
        for text in [
            "",
            "{}",
            "{\"schemaVersion\":\"2\",\"types\":{}}",
            "{\"schemaVersion\":\"1\",\"types\":[]}",
            "{\"schemaVersion\":\"1\",\"types\":{\"a\":{\"request\":{}}}}",
            "{\"schemaVersion\":\"1\",\"types\":{\"a\":{\"request\":{},\"response\":7}}}",
        ] {
            assert!(ContractsFile::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_re_export_is_followed_and_another_module_is_not() {
        let all = file(&[
            "money::inner::Cents",
            "money::a::Twice",
            "money::b::Twice",
            "money::Page<alloc::string::String>",
        ]);
        let found = |path: &str| all.find(path).map(|(name, _)| name);
        assert_eq!(found("money::inner::Cents"), Some("money::inner::Cents"));
        assert_eq!(found("money::Cents"), Some("money::inner::Cents"));
        assert_eq!(found("money::other::Cents"), None);
        assert_eq!(found("cash::Cents"), None);
        assert_eq!(found("money::Twice"), None, "it could be either");
        assert_eq!(found("money::b::Twice"), Some("money::b::Twice"));
        assert!(found("money::Page<String>").is_some());
        assert_eq!(found("money::Page<u8>"), None);
        assert_eq!(found("money::Page"), None);
    }

    #[test]
    fn every_difference_is_named() {
        let (held, registered) = (file(&["a::A", "a::Old"]), {
            let mut all = file(&["a::A", "a::New"]);
            all.types.get_mut("a::A").unwrap().request = Json::empty();
            all
        });
        assert_eq!(
            held.differs_from(&registered),
            [
                "the schema of `a::A` has changed",
                "`a::New` is registered and not in the file",
                "`a::Old` is in the file and not registered",
            ]
        );
        assert!(held.differs_from(&held).is_empty());
    }
}
