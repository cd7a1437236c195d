//! The licences and bans of `deny.toml`, for machines without cargo-deny.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Every package whose licence is not allowed, or that is banned, one line each.
///
/// # Errors
/// When `deny.toml` cannot be read or `cargo metadata` fails.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let config: toml::Table = toml::from_str(&std::fs::read_to_string(root.join("deny.toml"))?)?;
    let allowed: BTreeSet<&str> = list(&config, "licenses", "allow")
        .filter_map(toml::Value::as_str)
        .collect();
    let banned: BTreeSet<&str> = list(&config, "bans", "deny")
        .filter_map(|entry| entry.get("crate")?.as_str())
        .collect();
    let output = Command::new("cargo")
        .args([
            "metadata",
            "--format-version",
            "1",
            "--all-features",
            "--locked",
        ])
        .current_dir(root)
        .output()?;
    anyhow::ensure!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    anyhow::ensure!(!packages.is_empty(), "cargo metadata names no packages");
    let mut findings = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let licence = package["license"].as_str().unwrap_or("none");
        if !satisfied(licence, &allowed) {
            findings.push(format!(
                "{name} {}: licence {licence:?} is not in deny.toml",
                package["version"].as_str().unwrap_or("")
            ));
        }
        if banned.contains(name) {
            findings.push(format!("{name}: banned in deny.toml"));
        }
    }
    Ok(findings)
}

fn list<'a>(
    config: &'a toml::Table,
    section: &str,
    key: &str,
) -> impl Iterator<Item = &'a toml::Value> {
    config
        .get(section)
        .and_then(|s| s.get(key)?.as_array())
        .into_iter()
        .flatten()
}

/// Whether an SPDX expression can be met with the allowed licences. `/` is the old spelling of `OR`.
fn satisfied(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace(" WITH ", "\u{0}");
    let tokens: Vec<String> = spaced
        .split(' ')
        .filter(|t| !t.is_empty())
        .map(|t| t.replace('\u{0}', " WITH "))
        .collect();
    let mut at = 0;
    either(&tokens, &mut at, allowed) && at == tokens.len()
}

fn either(tokens: &[String], at: &mut usize, allowed: &BTreeSet<&str>) -> bool {
    let mut any = both(tokens, at, allowed);
    while tokens.get(*at).is_some_and(|t| t == "OR") {
        *at += 1;
        any |= both(tokens, at, allowed);
    }
    any
}

fn both(tokens: &[String], at: &mut usize, allowed: &BTreeSet<&str>) -> bool {
    let mut all = one(tokens, at, allowed);
    while tokens.get(*at).is_some_and(|t| t == "AND") {
        *at += 1;
        all &= one(tokens, at, allowed);
    }
    all
}

fn one(tokens: &[String], at: &mut usize, allowed: &BTreeSet<&str>) -> bool {
    let token = tokens.get(*at).map_or("", String::as_str);
    *at += 1;
    if token == "(" {
        let inner = either(tokens, at, allowed);
        *at += 1;
        return inner;
    }
    allowed.contains(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_met_by_one_side_of_or_and_by_both_sides_of_and() {
        let allowed = BTreeSet::from(["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]);
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND ISC", true),
            ("(GPL-3.0 OR MIT) AND ISC", true),
            ("(GPL-3.0 OR LGPL-2.1) AND ISC", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("none", false),
        ] {
            assert_eq!(satisfied(expression, &allowed), expected, "{expression}");
        }
    }
}
