//! What `flowx init` puts into a crate to begin with.

use super::theirs::Theirs;

/// What the first flow needs beside FlowX.
pub(super) const DEPENDENCIES: &[(&str, &str)] = &[
    ("serde", "{ version = \"1\", features = [\"derive\"] }"),
    ("schemars", "\"1\""),
];

/// Why the first flow would not compile in the crate; the rest of FlowX does, and its owner can write one that fits.
pub(super) fn obstacle(theirs: &Theirs) -> Option<String> {
    if theirs.edition() == "2015" {
        return Some("edition 2015 has no async functions".to_owned());
    }
    for (krate, _) in DEPENDENCIES {
        let Some(own) = theirs.dependency(krate) else {
            continue;
        };
        if own.contains_key("package") {
            return Some(format!("`{krate}` is the name of another package here"));
        }
        if own.get("optional").and_then(toml::Value::as_bool) == Some(true) {
            return Some(format!(
                "the dependency {krate} is optional here, and contracts need it"
            ));
        }
        let requirement = own.get("version").and_then(toml::Value::as_str);
        let major = requirement.map(|text| {
            text.trim_start_matches(['^', '=', '~', '>', ' '])
                .split(['.', ',', ' '])
                .next()
                .unwrap_or_default()
        });
        if major.is_some_and(|major| !matches!(major, "1" | "*")) {
            return Some(format!(
                "{krate} is at {} here, and contracts need 1",
                requirement.unwrap_or_default()
            ));
        }
    }
    None
}

/// A flow that reads nothing and changes nothing.
pub(super) fn source() -> String {
    String::from(
        r#"//! What agents and other callers can ask this program for.

use std::convert::Infallible;

use flowx_runtime::{Cx, FlowCx, capability, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whom to greet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Greet {
    /// A name, as its owner writes it.
    pub name: String,
}

/// A greeting.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Greeting {
    /// The words.
    pub text: String,
}

/// Finds the words. It declares no effects, so it can have none.
#[capability(id = "greeting.compose", version = "1.0.0", authorization = authenticated, idempotent = true)]
pub async fn compose(_cx: &Cx<compose>, input: Greet) -> Result<Greeting, Infallible> {
    Ok(Greeting { text: format!("Good day, {}.", input.name) })
}

/// Greet somebody by name.
#[flow(id = "greeting.say", version = "1.0.0", owner = "you", deadline = "PT5S",
       http(POST, "/api/v1/greetings"),
       agent(),
       steps(words: compose))]
pub async fn say(cx: &FlowCx<say>, input: Greet) -> Result<Greeting, Infallible> {
    cx.step::<compose>(input).await
}
"#,
    )
}

/// The CI job, for a crate in that folder of the repository (`""` for its top), with the command from where FlowX is from.
pub(super) fn workflow(folder: &str, git: Option<&str>) -> String {
    // In single quotes a shell finds nothing to run, and an address holds none.
    let from = git.map_or_else(String::new, |url| {
        format!("--git '{}' ", url.replace('\'', ""))
    });
    let directory = if folder.is_empty() {
        ".".to_owned()
    } else {
        folder.to_owned()
    };
    format!(
        r"name: flowx
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  surface:
    runs-on: ubuntu-latest
    defaults:
      run:
        working-directory: {directory}
    steps:
      - uses: actions/checkout@v4
        with:
          # The merge base has to be in the clone.
          fetch-depth: 0
      - run: cargo install {from}flowx-cli --locked
      - run: flowx manifest --check
      - run: flowx check --format github
      - if: github.event_name == 'pull_request'
        run: flowx diff git:origin/${{{{ github.base_ref }}}}... --format github
"
    )
}
