//! What `flowx init` puts into a crate to begin with.

/// What the first flow needs beside FlowX.
pub(super) const DEPENDENCIES: &[(&str, &str)] = &[
    ("serde", "{ version = \"1\", features = [\"derive\"] }"),
    ("schemars", "\"1\""),
];

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

/// The CI job, for a crate in that folder of the repository (`""` for its top).
pub(super) fn workflow(folder: &str) -> String {
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
      - run: cargo install flowx-cli --locked
      - run: flowx manifest --check
      - run: flowx check --format github
      - if: github.event_name == 'pull_request'
        run: flowx diff git:origin/${{{{ github.base_ref }}}}... --format github
"
    )
}
