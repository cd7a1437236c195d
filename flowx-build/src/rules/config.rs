//! How severe each rule is in one package: `[package.metadata.flowx.rules]` in `Cargo.toml`, or `[rules]` in `flowx.toml` beside it.
//!
//! ```toml
//! [package.metadata.flowx.rules]
//! FLOWX1019 = "error"
//! FLOWX1184 = "off"
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::Files;
use crate::finding::Severity;

use super::Rule;

/// The levels of a package's rules.
#[derive(Clone, Debug, Default)]
pub struct Config(BTreeMap<&'static str, Option<Severity>>);

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file is no TOML.
    #[error("{file} cannot be read: {why}")]
    Unreadable {
        /// The file.
        file: &'static str,
        /// What the reader says.
        why: String,
    },
    /// No rule whose level can be set has that id.
    #[error("{file} sets the level of `{id}`: {why}")]
    UnknownRule {
        /// The file.
        file: &'static str,
        /// What stands there.
        id: String,
        /// Why not, and what was meant or is to be done.
        why: String,
    },
    /// The level is none.
    #[error("{file} sets `{id}` to {level}; {hint}")]
    UnknownLevel {
        /// The file.
        file: &'static str,
        /// The rule.
        id: String,
        /// What stands there.
        level: String,
        /// What was meant.
        hint: String,
    },
    /// The rule is an error everywhere.
    #[error("{file} lowers {id}, which is an error everywhere: {title}")]
    Firm {
        /// The file.
        file: &'static str,
        /// The rule.
        id: &'static str,
        /// What it catches.
        title: &'static str,
    },
    /// Both files set it.
    #[error("{id} is set in Cargo.toml and in flowx.toml; set it in one of them")]
    Twice {
        /// The rule.
        id: &'static str,
    },
    /// A key that means nothing.
    #[error("{file} has no key `{key}`; {hint}")]
    UnknownKey {
        /// The file.
        file: &'static str,
        /// What stands there.
        key: String,
        /// What was meant.
        hint: String,
    },
}

impl ConfigError {
    /// The file that it is about.
    pub fn file(&self) -> &'static str {
        match self {
            Self::Unreadable { file, .. }
            | Self::UnknownRule { file, .. }
            | Self::UnknownLevel { file, .. }
            | Self::Firm { file, .. }
            | Self::UnknownKey { file, .. } => file,
            Self::Twice { .. } => "flowx.toml",
        }
    }
}

impl Config {
    /// Reads the configuration of the package in a folder; everything that is wrong with it comes with it, and leaves the rule as it is.
    pub fn read(files: &dyn Files, package: &Path) -> (Self, Vec<ConfigError>) {
        let (mut config, mut errors) = (Self::default(), Vec::new());
        let read = |name: &str| {
            let path = package.join(name);
            if files.is_file(&path) {
                files.read(&path).ok()
            } else {
                None
            }
        };
        if let Some(bytes) = read("Cargo.toml")
            && let Ok(table) = String::from_utf8_lossy(&bytes).parse::<toml::Table>()
        {
            // A broken Cargo.toml is cargo's to report.
            let flowx = table
                .get("package")
                .and_then(|p| p.get("metadata"))
                .and_then(|m| m.get("flowx"));
            if let Some(toml::Value::Table(flowx)) = flowx {
                config.section("Cargo.toml", flowx, &mut errors);
            }
        }
        if let Some(bytes) = read("flowx.toml") {
            match String::from_utf8_lossy(&bytes).parse::<toml::Table>() {
                Ok(table) => config.section("flowx.toml", &table, &mut errors),
                Err(error) => {
                    errors.push(ConfigError::Unreadable {
                        file: "flowx.toml",
                        why: error.message().to_owned(),
                    });
                }
            }
        }
        (config, errors)
    }

    fn section(&mut self, file: &'static str, table: &toml::Table, errors: &mut Vec<ConfigError>) {
        for (key, value) in table {
            match (key.as_str(), value) {
                ("rules", toml::Value::Table(rules)) => self.rules(file, rules, errors),
                _ => errors.push(ConfigError::UnknownKey {
                    file,
                    key: key.clone(),
                    hint: flowx_syntax::suggestion(key, &["rules"]),
                }),
            }
        }
    }

    fn rules(&mut self, file: &'static str, rules: &toml::Table, errors: &mut Vec<ConfigError>) {
        const LEVELS: &[&str] = &["error", "warning", "note", "off"];
        for (id, level) in rules {
            let Some(rule) = super::explain(id) else {
                errors.push(ConfigError::UnknownRule {
                    file,
                    id: id.clone(),
                    why: super::not_settable(id),
                });
                continue;
            };
            let set = match level.as_str() {
                Some("error") => Some(Severity::Error),
                Some("warning") => Some(Severity::Warning),
                Some("note") => Some(Severity::Note),
                Some("off") => None,
                _ => {
                    let level = level
                        .as_str()
                        .map_or_else(|| format!("a {}", level.type_str()), |l| format!("{l:?}"));
                    let hint = flowx_syntax::suggestion(level.trim_matches('"'), LEVELS);
                    errors.push(ConfigError::UnknownLevel {
                        file,
                        id: id.clone(),
                        level,
                        hint,
                    });
                    continue;
                }
            };
            if rule.firm && set != Some(Severity::Error) {
                errors.push(ConfigError::Firm {
                    file,
                    id: rule.id,
                    title: rule.title,
                });
            } else if self.0.insert(rule.id, set).is_some() {
                errors.push(ConfigError::Twice { id: rule.id });
            }
        }
    }

    /// The severity of a rule here; `None` where it is off.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        self.0.get(rule.id).copied().unwrap_or(Some(rule.severity))
    }
}
