//! The one grammar of SOURCE, BASE and HEAD.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a surface comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `PATH`: a manifest, a crate folder (or its Cargo.toml), or a saved tools/list.
    Path(PathBuf),
    /// `git:REV`, `git:REV...`, `git:REV:PATH`.
    Git(GitSource),
    /// `bin:PATH`: a built program.
    Binary(PathBuf),
    /// `http://…` or `https://…`: a running MCP server.
    Http(String),
    /// `stdio:COMMAND`: a program that is an MCP server on its standard streams.
    Stdio(Vec<String>),
    /// `-`: a manifest or a saved tools/list on standard input.
    Stdin,
}

/// Something at a git revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// The revision, as git understands it.
    pub revision: String,
    /// Whether the merge base of it and HEAD is meant.
    pub merge_base: bool,
    /// A file or crate folder in it, relative to the repository's top; absent: the crate that the command is about.
    pub path: Option<String>,
}

/// Why a text names no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// Nothing after a prefix.
    #[error("{0:?} names nothing; write {1}")]
    Empty(String, &'static str),
    /// A revision that git would read as an option.
    #[error("the revision {0:?} begins with '-', which git would take for an option")]
    Option(String),
    /// A control character where none can be meant.
    #[error("{0:?} holds a control character")]
    Control(String),
    /// A quotation mark without its partner.
    #[error("a quotation mark in {0:?} is not closed")]
    Quote(String),
}

impl FromStr for Source {
    type Err = GrammarError;

    fn from_str(text: &str) -> Result<Self, GrammarError> {
        if text.chars().any(char::is_control) {
            return Err(GrammarError::Control(text.to_owned()));
        }
        let empty = |shape| Err(GrammarError::Empty(text.to_owned(), shape));
        if text == "-" {
            return Ok(Source::Stdin);
        }
        if let Some(rest) = text.strip_prefix("git:") {
            return git(rest).map(Source::Git);
        }
        if let Some(rest) = text.strip_prefix("bin:") {
            return if rest.is_empty() {
                empty("bin:PATH")
            } else {
                Ok(Source::Binary(rest.into()))
            };
        }
        if let Some(rest) = text.strip_prefix("stdio:") {
            let words = words(rest)?;
            return if words.is_empty() {
                empty("stdio:COMMAND")
            } else {
                Ok(Source::Stdio(words))
            };
        }
        if let Some(rest) = text
            .strip_prefix("http://")
            .or_else(|| text.strip_prefix("https://"))
        {
            return if rest.is_empty() {
                empty("https://HOST/mcp")
            } else {
                Ok(Source::Http(text.to_owned()))
            };
        }
        if text.is_empty() {
            empty("PATH, git:REV, bin:PATH, https://…, stdio:COMMAND or -")
        } else {
            Ok(Source::Path(text.into()))
        }
    }
}

fn git(rest: &str) -> Result<GitSource, GrammarError> {
    let (revision, path) = match colon(rest) {
        Some(at) => (
            &rest[..at],
            Some(rest[at + 1..].trim_end_matches('/').to_owned()),
        ),
        None => (rest, None),
    };
    let (revision, merge_base) = match revision.strip_suffix("...") {
        Some(base) => (base, true),
        None => (revision, false),
    };
    if revision.starts_with('-') {
        return Err(GrammarError::Option(revision.to_owned()));
    }
    if revision.is_empty() || path.as_deref() == Some("") {
        return Err(GrammarError::Empty(
            format!("git:{rest}"),
            "git:REV, git:REV... or git:REV:PATH",
        ));
    }
    Ok(GitSource {
        revision: revision.to_owned(),
        merge_base,
        path,
    })
}

/// The colon that ends the revision: the first one outside of braces, since `main@{2026-01-01 10:00}` holds colons too.
fn colon(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Splits a command line at spaces, with `'…'` and `"…"` kept together. No shell is involved, so nothing else has a meaning.
fn words(text: &str) -> Result<Vec<String>, GrammarError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(GrammarError::Quote(text.to_owned()));
    }
    words.extend(word);
    Ok(words)
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Path(path) => write!(f, "{}", path.display()),
            Source::Git(git) => {
                write!(
                    f,
                    "git:{}{}",
                    git.revision,
                    if git.merge_base { "..." } else { "" }
                )?;
                git.path
                    .as_ref()
                    .map_or(Ok(()), |path| write!(f, ":{path}"))
            }
            Source::Binary(path) => write!(f, "bin:{}", path.display()),
            Source::Http(url) => f.write_str(&without_secrets(url)),
            Source::Stdio(words) => write!(f, "stdio:{}", words.join(" ")),
            Source::Stdin => f.write_str("-"),
        }
    }
}

/// The address without user, password and query, which may be secrets and would end in a CI log.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest
                .split_once('/')
                .map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit('@').next().unwrap_or(host);
            path.map_or_else(
                || format!("{scheme}://{host}"),
                |path| format!("{scheme}://{host}/{path}"),
            )
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(revision: &str, merge_base: bool, path: Option<&str>) -> Source {
        Source::Git(GitSource {
            revision: revision.into(),
            merge_base,
            path: path.map(Into::into),
        })
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            ("app", Source::Path("app".into())),
            (
                "./flowx.manifest.json",
                Source::Path("./flowx.manifest.json".into()),
            ),
            ("-", Source::Stdin),
            ("git:v1.0", git("v1.0", false, None)),
            ("git:origin/main...", git("origin/main", true, None)),
            (
                "git:HEAD~2:app/flowx.manifest.json",
                git("HEAD~2", false, Some("app/flowx.manifest.json")),
            ),
            ("git:main...:app/", git("main", true, Some("app"))),
            (
                "git:main@{2026-01-01 10:00}:app",
                git("main@{2026-01-01 10:00}", false, Some("app")),
            ),
            (
                "bin:target/release/desk",
                Source::Binary("target/release/desk".into()),
            ),
            (
                "https://desk.example/mcp",
                Source::Http("https://desk.example/mcp".into()),
            ),
            (
                "stdio:npx -y 'a server' \"--x=1 2\"",
                Source::Stdio(vec![
                    "npx".into(),
                    "-y".into(),
                    "a server".into(),
                    "--x=1 2".into(),
                ]),
            ),
        ] {
            assert_eq!(text.parse::<Source>(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_revision_that_git_would_take_for_an_option_is_refused() {
        for text in [
            "git:--upload-pack=touch x",
            "git:-n",
            "git:--output=x...",
            "git:-x:path",
        ] {
            assert!(
                matches!(text.parse::<Source>(), Err(GrammarError::Option(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for text in [
            "",
            "git:",
            "git:...",
            "git::path",
            "git:main:",
            "bin:",
            "stdio:",
            "stdio:  ",
            "https://",
        ] {
            assert!(
                matches!(text.parse::<Source>(), Err(GrammarError::Empty(..))),
                "{text}"
            );
        }
        assert!(matches!(
            "git:a\nb".parse::<Source>(),
            Err(GrammarError::Control(_))
        ));
        assert!(matches!(
            "stdio:a 'b".parse::<Source>(),
            Err(GrammarError::Quote(_))
        ));
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        let source: Source = "https://user:word@desk.example/mcp?key=1".parse().unwrap();
        assert_eq!(source.to_string(), "https://desk.example/mcp");
    }
}
