//! A history of thirty known commits over a whole application, judged commit by commit through git and the command itself.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use common::Sandbox;
use serde_json::Value;

/// Flows in one file.
const IN_FILE: usize = 10;

/// An application of that many flows, ten to a file, each with contracts and a capability of its own.
fn application(sandbox: &Sandbox, flows: usize) {
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"1.2.0\"\nedition = \"2024\"\n\n[features]\nextra = []\n\n[dependencies]\n\
         flowx-runtime = \"0.1\"\nserde = \"1\"\nschemars = \"1\"\n",
    );
    let mut root = "//! An application.\nuse flowx_runtime::{FlowError, agent, effect};\n\nflowx_runtime::include_manifest!();\n\n"
        .to_owned();
    for (file, first) in (0..flows).step_by(IN_FILE).enumerate() {
        let _ = writeln!(root, "mod area{file};");
        let mut text =
            "use flowx_runtime::{Cx, FlowCx, capability, flow};\nuse schemars::JsonSchema;\n\
             use serde::{Deserialize, Serialize};\nuse crate::{AppError, Index, Ledger};\n"
                .to_owned();
        for i in first..(first + IN_FILE).min(flows) {
            text.push_str(&flow(file, i));
        }
        sandbox.write(&format!("src/area{file}.rs"), &text);
    }
    root.push_str(ROOT);
    sandbox.write("src/main.rs", &root);
    sandbox.write("README.md", "An application.\n");
}

const ROOT: &str = r#"
/// The book of money.
#[effect(id = "ledger", class = changes)]
pub struct Ledger;
/// What can be found.
#[effect(id = "search-index", class = reads)]
pub struct Index;

#[derive(Debug, FlowError)]
pub enum AppError {
    /// There already.
    #[flow_error(code = "app.exists", category = Conflict)]
    Exists,
}
impl std::fmt::Display for AppError { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("there") } }

#[agent(id = "app-bot", purpose = "Answers", sponsor = "lead", changes = propose)]
pub struct Bot;

fn main() {}
"#;

fn flow(area: usize, i: usize) -> String {
    format!(
        r#"
/// What {i} takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct In{i} {{
    /// Words of {i}.
    #[schemars(length(max = 200))]
    pub text{i}: String,
    pub limit{i}: u32,
    pub ticket{i}: Option<String>,
}}
/// How {i} stands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub enum State{i} {{ Open, Closed }}
/// What {i} gives.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Out{i} {{ pub id{i}: String, pub state{i}: State{i} }}
/// Does {i}.
#[capability(id = "area{area}.do{i}", version = "1.0.0", authorization = permission("area{area}.use"), effects(Ledger), idempotent = true)]
async fn do{i}(cx: &Cx<do{i}>, input: In{i}) -> Result<Out{i}, AppError> {{ unreachable!() }}
/// Undoes {i}.
#[capability(id = "area{area}.undo{i}", version = "1.0.0", authorization = internal, effects(Ledger), idempotent = true)]
async fn undo{i}(cx: &Cx<undo{i}>, done: Out{i}) -> Result<(), AppError> {{ unreachable!() }}
/// Asks for {i}.
#[flow(id = "area{area}.flow{i}", version = "1.0.0", owner = "team{i}", deadline = "PT30S", http(POST, "/api/area{area}/flow{i}"),
       agent(confirmation = required_for_side_effects),
       steps(act: do{i} {{ timeout = "PT2S", compensate = undo{i} }}))]
async fn flow{i}(cx: &FlowCx<flow{i}>, input: In{i}) -> Result<Out{i}, AppError> {{ unreachable!() }}
"#
    )
}

/// One commit: the file, what is replaced by what, the verdict, the bump, and the rules that say so, each once: a category that
/// changes does so in everything that can fail that way.
struct Commit {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    verdict: &'static str,
    bump: &'static str,
    rules: &'static [&'static str],
}

const fn commit(
    file: &'static str,
    from: &'static str,
    to: &'static str,
    verdict: &'static str,
    bump: &'static str,
    rules: &'static [&'static str],
) -> Commit {
    Commit {
        file,
        from,
        to,
        verdict,
        bump,
        rules,
    }
}

/// In place of a text: the whole file goes to another place.
const MOVED: &str = "";
const C: &str = "compatible";
const B: &str = "breaking";
const COMMITS: [Commit; 30] = [
    commit("README.md", "An", "One", C, "none", &[]),
    commit(
        "src/area0.rs",
        "{ unreachable!() }\n/// Undoes 3.",
        "{ todo!() }\n/// Undoes 3.",
        C,
        "none",
        &[],
    ),
    commit(
        "src/area0.rs",
        "pub limit3: u32,",
        "pub limit3: u32, pub note3: Option<String>,",
        C,
        "minor",
        &["FXD040", "FXD220"],
    ),
    commit(
        "src/area0.rs",
        "note3: Option<String>",
        "note3: String",
        B,
        "major",
        &["FXD043"],
    ),
    commit(
        "src/area0.rs",
        "pub note3: String,",
        "",
        C,
        "minor",
        &["FXD041", "FXD220"],
    ),
    commit(
        "src/area0.rs",
        "Asks for 0.",
        "Finds things.",
        C,
        "patch",
        &["FXD070"],
    ),
    commit(
        "src/area0.rs",
        "owner = \"team1\", deadline = \"PT30S\"",
        "owner = \"team1\", deadline = \"PT5S\"",
        C,
        "patch",
        &["FXD203"],
    ),
    commit(
        "src/area0.rs",
        "area0/flow2\"),\n       agent(confirmation = required_for_side_effects)",
        "area0/flow2\"),\n       agent(confirmation = always)",
        C,
        "minor",
        &["FXD108"],
    ),
    commit(
        "src/area0.rs",
        "agent(confirmation = always)",
        "agent(confirmation = required_for_side_effects)",
        B,
        "major",
        &["FXD009"],
    ),
    commit(
        "src/area1.rs",
        "/// Words of 10.\n    #[schemars(length(max = 200))]",
        "/// Words of 10.\n    #[schemars(length(max = 100))]",
        B,
        "major",
        &["FXD054"],
    ),
    commit(
        "src/area1.rs",
        "length(max = 100)",
        "length(max = 400)",
        C,
        "minor",
        &["FXD055", "FXD220"],
    ),
    commit(
        "src/area1.rs",
        "Words of 11.",
        "The words of 11.",
        C,
        "patch",
        &["FXD073"],
    ),
    commit(
        "src/area1.rs",
        "pub limit12: u32",
        "pub limit12: u16",
        B,
        "major",
        &["FXD054"],
    ),
    commit(
        "src/area1.rs",
        "pub limit12: u16",
        "pub limit12: u64",
        C,
        "minor",
        &["FXD055", "FXD220"],
    ),
    commit(
        "src/area1.rs",
        "pub enum State13 { Open, Closed }",
        "pub enum State13 { Open, Closed, Lost }",
        B,
        "major",
        &["FXD047"],
    ),
    commit(
        "src/area1.rs",
        "pub enum State13 { Open, Closed, Lost }",
        "pub enum State13 { Lost, Open }",
        C,
        "minor",
        &["FXD048", "FXD220"],
    ),
    commit(
        "src/area2.rs",
        "permission(\"area2.use\"), effects(Ledger), idempotent = true)]\nasync fn do20",
        "permission(\"area2.use\"), effects(Ledger, Index), idempotent = true)]\nasync fn do20",
        C,
        "patch",
        &["FXD016", "FXD030"],
    ),
    commit(
        "src/area2.rs",
        "effects(Ledger, Index)",
        "effects(Index)",
        C,
        "minor",
        &["FXD106", "FXD220"],
    ),
    commit(
        "src/area2.rs",
        "permission(\"area2.use\"), effects(Index)",
        "authenticated, effects(Index)",
        B,
        "major",
        &["FXD014", "FXD033"],
    ),
    commit(
        "src/area2.rs",
        "authenticated, effects(Index)",
        "permission(\"area2.admin\"), effects(Index)",
        B,
        "major",
        &["FXD015", "FXD032"],
    ),
    commit(
        "src/main.rs",
        "class = reads",
        "class = reaches_out",
        B,
        "major",
        &["FXD037"],
    ),
    commit(
        "src/main.rs",
        "changes = propose)",
        "changes = alone)",
        B,
        "major",
        &["FXD093"],
    ),
    commit(
        "src/main.rs",
        "changes = alone)",
        "changes = propose_every_time)",
        C,
        "minor",
        &["FXD113"],
    ),
    commit(
        "src/area2.rs",
        "steps(act: do21 { timeout = \"PT2S\", compensate = undo21 })",
        "steps(act: do21 { timeout = \"PT2S\" })",
        B,
        "major",
        &["FXD081"],
    ),
    commit(
        "src/area2.rs",
        "steps(act: do22 { timeout = \"PT2S\"",
        "steps(act: do22 { timeout = \"PT4S\"",
        C,
        "patch",
        &["FXD083"],
    ),
    commit(
        "src/area2.rs",
        "id = \"area2.flow23\"",
        "id = \"area2.asked23\"",
        B,
        "major",
        &["FXD034", "FXD036"],
    ),
    commit(
        "src/main.rs",
        "category = Conflict",
        "category = NotFound",
        B,
        "major",
        &["FXD018"],
    ),
    commit(
        "src/area3.rs",
        "flow(id = \"area3.flow30\", version = \"1.0.0\"",
        "flow(id = \"area3.flow30\", version = \"2.0.0\"",
        B,
        "major",
        &["FXD001", "FXD100"],
    ),
    commit(
        "src/area3.rs",
        "http(POST, \"/api/area3/flow31\")",
        "http(POST, \"/api/area3/flow31\", idempotent)",
        B,
        "major",
        &["FXD007"],
    ),
    commit("src/area4.rs", MOVED, "src/area4/mod.rs", C, "none", &[]),
];

/// Makes the history and gives its commits, the first one first.
fn history(sandbox: &Sandbox, flows: usize) -> Vec<String> {
    application(sandbox, flows);
    sandbox.git(&["init", "-q", "-b", "main"]);
    let mut commits = vec![sandbox.commit("begin")];
    for (i, commit) in COMMITS.iter().enumerate() {
        if commit.from == MOVED {
            let text = sandbox.read(commit.file);
            std::fs::remove_file(sandbox.path(commit.file)).unwrap();
            sandbox.write(commit.to, &text);
        } else {
            sandbox.edit(commit.file, commit.from, commit.to);
        }
        commits.push(sandbox.commit(&format!("change {i}")));
    }
    commits
}

fn judge(sandbox: &Sandbox, base: &str, head: &str) -> (Value, Duration) {
    let begun = Instant::now();
    let run = sandbox.flowx(&[
        "diff",
        &format!("git:{base}"),
        &format!("git:{head}"),
        "--format",
        "json",
    ]);
    let took = begun.elapsed();
    assert!(run.code <= 1, "{}", run.stderr);
    (run.json(), took)
}

#[test]
fn every_commit_of_a_history_in_git_has_its_verdict() {
    let sandbox = Sandbox::empty();
    let commits = history(&sandbox, 50);
    let mut wrong = String::new();
    for (commit, pair) in COMMITS.iter().zip(commits.windows(2)) {
        let (report, _) = judge(&sandbox, &pair[0], &pair[1]);
        let findings = report["findings"].as_array().unwrap();
        let rules: BTreeSet<&str> = findings.iter().map(|f| f["id"].as_str().unwrap()).collect();
        let rules: Vec<&str> = rules.into_iter().collect();
        if report["verdict"] != commit.verdict
            || report["requiredBump"] != commit.bump
            || rules != commit.rules
        {
            let _ = writeln!(
                wrong,
                "{:?} -> {:?}: {} {} {rules:?}\n{:#}",
                commit.from,
                commit.to,
                report["verdict"],
                report["requiredBump"],
                report["findings"]
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The same with five hundred flows, timed: `FLOWX_BIN=target/release/flowx cargo test -p flowx-cli --test history -- --ignored
/// --nocapture`. The budget is 0.3 s for each.
#[test]
#[ignore = "prints timings"]
fn how_long_every_commit_of_five_hundred_flows_takes() {
    let sandbox = Sandbox::empty();
    let commits = history(&sandbox, 500);
    let mut took: Vec<f64> = Vec::new();
    for (commit, pair) in COMMITS.iter().zip(commits.windows(2)) {
        let (report, time) = judge(&sandbox, &pair[0], &pair[1]);
        assert_eq!(report["verdict"], commit.verdict, "{:?}", commit.to);
        took.push(time.as_secs_f64());
    }
    took.sort_by(f64::total_cmp);
    println!(
        "30 commits, 500 flows: median {:.3} s, slowest {:.3} s",
        took[15], took[29]
    );
}
