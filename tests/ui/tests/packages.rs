//! Whole packages, as cargo would build them: the build script scans, rustc compiles what it wrote. One mistake is one error, at its line,
//! and the rest of the crate is still checked; what is refused across crates is refused there too.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

mod harness;
use harness::{Built, built, rustc};

static BUILT: LazyLock<Built> = LazyLock::new(built);

/// What rustc said once: level, code, text, and the primary place in the package's own sources.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    level: String,
    message: String,
    file: String,
    line: usize,
    column: usize,
}

/// A package in a folder of its own, and the libraries it is built on.
struct Package {
    root: tempfile::TempDir,
    name: &'static str,
    on: Vec<(&'static str, Compiled)>,
}

/// A library that has been compiled, with where it told what it declares.
#[derive(Clone)]
struct Compiled {
    told: PathBuf,
    rmeta: PathBuf,
}

impl Package {
    fn new(name: &'static str, source: &str) -> Self {
        Self::on(name, source, Vec::new())
    }

    fn on(name: &'static str, source: &str, on: Vec<(&'static str, Compiled)>) -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut toml = format!(
            "[package]\nname = '{name}'\nversion = '1.0.0'\nedition = '2024'\nlinks = 'flowx-{name}'\n[features]\nextra = []\n\
             [dependencies]\nflowx-runtime = '0.1'\nserde = '1'\nthiserror = '2'\n"
        );
        for (library, _) in &on {
            let _ = writeln!(toml, "{library} = '1'");
        }
        std::fs::create_dir(root.path().join("src")).unwrap();
        std::fs::create_dir(root.path().join("out")).unwrap();
        std::fs::write(root.path().join("Cargo.toml"), toml).unwrap();
        std::fs::write(root.path().join("src/lib.rs"), source).unwrap();
        Self { root, name, on }
    }

    /// The build script, in the environment that cargo gives it: what it printed.
    fn scan(&self) -> String {
        self.scan_with(&[])
    }

    fn scan_with(&self, environment: &[(&str, &str)]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_build-script"));
        command
            .current_dir(self.root.path())
            .env("CARGO_MANIFEST_DIR", self.root.path())
            .env("OUT_DIR", self.root.path().join("out"))
            .envs(cargo_cfg());
        // The environment of this very test must not count.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("CARGO_FEATURE_") || name.starts_with("DEP_") {
                command.env_remove(name);
            }
        }
        for (library, compiled) in &self.on {
            let name = library.to_uppercase().replace('-', "_");
            command.env(format!("DEP_FLOWX_{name}_FLOWX"), &compiled.told);
        }
        let output = command.envs(environment.iter().copied()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }

    /// Scans, compiles, and gives what rustc said of the package's own sources: errors and warnings, without its closing counts.
    fn build(&self) -> Vec<Said> {
        self.scan();
        self.check()
    }

    fn check(&self) -> Vec<Said> {
        let mut command = rustc(&BUILT);
        command
            .args([
                "--crate-type=lib",
                "--emit=metadata",
                "--error-format=json",
                "--crate-name",
            ])
            .arg(self.name.replace('-', "_"))
            .args([
                "--check-cfg",
                "cfg(test)",
                "--check-cfg",
                "cfg(feature, values(\"extra\"))",
                "--cap-lints=warn",
            ])
            // Fixtures are short: what nothing uses is no matter.
            .args(["-A", "dead_code", "-A", "unused"])
            .arg("--out-dir")
            .arg(self.root.path().join("out"))
            .env("OUT_DIR", self.root.path().join("out"))
            .current_dir(self.root.path())
            .arg("src/lib.rs");
        for (library, compiled) in &self.on {
            let name = library.replace('-', "_");
            command
                .arg("--extern")
                .arg(format!("{name}={}", compiled.rmeta.display()))
                .arg("-L")
                .arg(format!(
                    "dependency={}",
                    compiled.rmeta.parent().unwrap().display()
                ));
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        let all: Vec<Said> = text.lines().filter_map(said).collect();
        assert_eq!(
            output.status.success(),
            all.iter().all(|s| s.level != "error"),
            "{text}"
        );
        all
    }

    /// Builds it, which must succeed without a word.
    fn compiled(&self) -> Compiled {
        assert_eq!(self.build(), [], "{}", self.name);
        let out = self.root.path().join("out");
        Compiled {
            told: out.join("flowx"),
            rmeta: out.join(format!("lib{}.rmeta", self.name.replace('-', "_"))),
        }
    }
}

fn said(line: &str) -> Option<Said> {
    let message: serde_json::Value = serde_json::from_str(line).unwrap();
    let text = message["message"].as_str()?;
    // The last lines count what was said, and stand nowhere.
    if message["spans"].as_array()?.is_empty() {
        let closing = [
            "aborting due to",
            "For more information",
            "Some errors have",
            "warning",
            "warnings emitted",
        ];
        return (!closing.iter().any(|c| text.contains(c))).then(|| Said {
            level: message["level"].as_str().unwrap().to_owned(),
            message: text.to_owned(),
            file: String::new(),
            line: 0,
            column: 0,
        });
    }
    let primary = message["spans"]
        .as_array()?
        .iter()
        .find(|s| s["is_primary"] == true)?;
    // What stands in generated or foreign code is shown where the package's own source led to it.
    let mut at = primary;
    while !at["file_name"].as_str()?.starts_with("src/") && at["expansion"].is_object() {
        at = &at["expansion"]["span"];
    }
    let number = |key: &str| at[key].as_u64().and_then(|n| usize::try_from(n).ok());
    Some(Said {
        level: message["level"].as_str()?.to_owned(),
        message: text.to_owned(),
        file: at["file_name"].as_str()?.to_owned(),
        line: number("line_start")?,
        column: number("column_start")?,
    })
}

/// `CARGO_CFG_*` as cargo makes them of `rustc --print cfg`.
fn cargo_cfg() -> BTreeMap<String, String> {
    static CFG: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let output = rustc(&BUILT).args(["--print", "cfg"]).output().unwrap();
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            let held = all
                .entry(format!("CARGO_CFG_{}", key.to_uppercase()))
                .or_default();
            if !held.is_empty() {
                held.push(',');
            }
            held.push_str(value.trim_matches('"'));
        }
        all
    });
    CFG.clone()
}

const PRELUDE: &str = r#"
use flowx_runtime::{Cx, FlowCx, FlowError, capability, effect, flow};
use serde::{Deserialize, Serialize};
flowx_runtime::include_manifest!();

#[effect(id = "ledger", class = changes)]
pub struct Ledger;
#[effect(id = "mail", class = sends)]
pub struct Mail;
#[derive(Clone, Serialize, Deserialize)]
pub struct Order { pub id: String }
#[derive(Debug, thiserror::Error, FlowError)]
pub enum No {
    #[error("no")]
    #[flow_error(code = "order.no", category = Conflict)]
    No,
}
#[capability(id = "shop.look", version = "1.0.0", authorization = authenticated, idempotent = true)]
pub async fn look(_cx: &Cx<look>, order: Order) -> Result<Order, No> { Ok(order) }
#[capability(id = "shop.other", version = "1.0.0", authorization = authenticated, idempotent = true)]
pub async fn other(_cx: &Cx<other>, order: Order) -> Result<Order, No> { Ok(order) }
#[flow(id = "shop.other", version = "1.0.0", steps(other: other))]
pub async fn uses_other(cx: &FlowCx<uses_other>, order: Order) -> Result<Order, No> { cx.step::<other>(order).await }
"#;

const FLOWS: usize = 200;
const WRONG: usize = 137;
const SPARE: usize = 181;

/// 200 flows of five lines each; the one at [`WRONG`] is the text given, and the body of the one at [`SPARE`] holds a mistake of plain Rust.
fn two_hundred(wrong: &str, before: &str) -> (String, usize, usize) {
    let mut source = String::from(before);
    let mut lines = (0, 0);
    for i in 0..FLOWS {
        let at = source.matches('\n').count() + 1;
        if i == WRONG {
            lines.0 = at;
            source.push_str(wrong);
            continue;
        }
        let body = if i == SPARE {
            lines.1 = at + 3;
            "let _: u8 = 1u16;"
        } else {
            ""
        };
        let _ = writeln!(
            source,
            "/// Shows.\n#[flow(id = \"shop.show_{i}\", version = \"1.0.0\", steps(look: look))]\n\
             pub async fn show_{i}(cx: &FlowCx<show_{i}>, order: Order) -> Result<Order, No> {{\n    {body}\n    cx.step::<look>(order).await\n}}"
        );
    }
    source.push_str(PRELUDE);
    (source, lines.0, lines.1)
}

/// Kinds of mistakes: what it is, the source, the line of the one error in it (from 0), and a word of that error.
const MISTAKES: &[(&str, &str, usize, &str)] = &[
    (
        "a step that is not declared",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         let order = cx.step::<look>(order).await?;\n    cx.step::<other>(order).await\n}\n",
        3,
        "FLOWX1102",
    ),
    (
        "an effect that is not declared",
        "#[capability(id = \"w.w\", version = \"1.0.0\", authorization = internal, effects(Ledger))]\npub async fn w(cx: &Cx<w>, order: Order) -> Result<Order, No> {\n    \
         let _ = cx.effect::<Ledger>();\n    let _ = cx.effect::<Mail>();\n    Ok(order)\n}\n\
         #[flow(id = \"w.f\", version = \"1.0.0\", steps(w: w))]\npub async fn f(cx: &FlowCx<f>, order: Order) -> Result<Order, No> { cx.step::<w>(order).await }\n",
        3,
        "FLOWX1101",
    ),
    (
        "a key with a slip",
        "#[flow(id = \"w.w\", version = \"1.0.0\", stpes(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<look>(order).await\n}\n",
        0,
        "did you mean `steps`?",
    ),
    (
        "a version that is none",
        "#[flow(id = \"w.w\", version = \"1.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<look>(order).await\n}\n",
        0,
        "FLOWX1106",
    ),
    (
        "a tool that says nothing to its model",
        "#[flow(id = \"w.w\", version = \"1.0.0\", deadline = \"PT9S\", agent(), steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<look>(order).await\n}\n",
        0,
        "FLOWX1173",
    ),
    (
        "a step that is given another type",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         let _ = &order;\n    cx.step::<look>(7u8).await\n}\n",
        3,
        "mismatched types",
    ),
    (
        "a handler that a cfg switches off",
        "#[cfg(feature = \"extra\")]\n#[capability(id = \"w.c\", version = \"1.0.0\", authorization = internal)]\npub async fn c(_cx: &Cx<c>, order: Order) -> Result<Order, No> { Ok(order) }\n\
         #[flow(id = \"w.w\", version = \"1.0.0\", steps(c: c))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<c>(order).await\n}\n",
        3,
        "FLOWX1140",
    ),
    (
        "a step whose path has a slip",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: lok))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<lok>(order).await\n}\n",
        0,
        "FLOWX1140",
    ),
    (
        "a step that is no capability",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: Order))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<Order>(order).await\n}\n",
        0,
        "FLOWX1002",
    ),
    (
        "an effect that is no effect",
        "#[capability(id = \"w.w\", version = \"1.0.0\", authorization = internal, effects(Order))]\npub async fn w(cx: &Cx<w>, order: Order) -> Result<Order, No> {\n    \
         let _ = cx.effect::<Order>();\n    Ok(order)\n}\n\
         #[flow(id = \"w.f\", version = \"1.0.0\", steps(w: w))]\npub async fn f(cx: &FlowCx<f>, order: Order) -> Result<Order, No> { cx.step::<w>(order).await }\n",
        0,
        "FLOWX1141",
    ),
    (
        "never, over side effects",
        "#[capability(id = \"w.c\", version = \"1.0.0\", authorization = authenticated, effects(Ledger))]\npub async fn c(cx: &Cx<c>, order: Order) -> Result<Order, No> { let _ = cx.effect::<Ledger>(); Ok(order) }\n\
         /// Writes the order into the books, once for each call.\n#[flow(id = \"w.w\", version = \"1.0.0\", deadline = \"PT9S\", agent(confirmation = never), steps(c: c))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<c>(order).await\n}\n",
        3,
        "FLOWX1046",
    ),
    (
        "an input that serde cannot read",
        "pub struct Odd { pub id: String }\n#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, odd: Odd) -> Result<Order, No> {\n    \
         cx.step::<look>(Order { id: odd.id }).await\n}\n",
        2,
        "FLOWX1302",
    ),
    (
        "an output that serde cannot write",
        "pub struct Odd { pub id: String }\n#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Odd, No> {\n    \
         let order = cx.step::<look>(order).await?;\n    Ok(Odd { id: order.id })\n}\n",
        2,
        "FLOWX1302",
    ),
    (
        "an input whose type is missing",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Ordre) -> Result<Order, No> {\n    \
         cx.step::<look>(order).await\n}\n",
        1,
        "FLOWX1300",
    ),
    (
        "an error without codes",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, String> {\n    \
         cx.step::<look>(order).await.map_err(|e| e.to_string())\n}\n",
        1,
        "FLOWX1107",
    ),
    (
        "a capability that stands nowhere for itself",
        "#[capability(id = \"w.w\", version = \"1.0.0\")]\npub async fn w(_cx: &Cx<w>, order: Order) -> Result<Order, No> { Ok(order) }\n\
         #[flow(id = \"w.f\", version = \"1.0.0\", steps(w: w))]\npub async fn f(cx: &FlowCx<f>, order: Order) -> Result<Order, No> { cx.step::<w>(order).await }\n",
        0,
        "FLOWX1010",
    ),
    (
        "a flow that is no async fn",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<look>(order).await\n}\n",
        1,
        "FLOWX1107",
    ),
    (
        "a contract that only the compiler knows",
        "#[derive(Serialize, Deserialize)]\npub struct Odd { #[serde(with = \"odd\")] pub id: String }\n\
         mod odd { pub fn serialize<S: serde::Serializer>(v: &str, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(v) }\n\
         pub fn deserialize<'de, D: serde::Deserializer<'de>>(d: D) -> Result<String, D::Error> { serde::Deserialize::deserialize(d) } }\n\
         #[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, odd: Odd) -> Result<Order, No> {\n    \
         cx.step::<look>(Order { id: odd.id }).await\n}\n",
        5,
        "FLOWX1303",
    ),
    (
        "one id twice",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> { cx.step::<look>(order).await }\n\
         #[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn v(cx: &FlowCx<v>, order: Order) -> Result<Order, No> { cx.step::<look>(order).await }\n",
        2,
        "FLOWX1150",
    ),
    (
        "an error code that is none",
        "#[derive(Debug, thiserror::Error, FlowError)]\npub enum Not { #[error(\"not\")] #[flow_error(code = \"order.not\", category = Conflcit)] Not }\n\
         #[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, Not> {\n    \
         cx.step::<look>(order).await.map_err(|_| Not::Not)\n}\n",
        1,
        "did you mean `Conflict`?",
    ),
    (
        "an effect of no class",
        "#[effect(id = \"odd\", class = chnages)]\npub struct Odd;\n\
         #[capability(id = \"w.w\", version = \"1.0.0\", authorization = authenticated, effects(Odd))]\npub async fn w(cx: &Cx<w>, order: Order) -> Result<Order, No> { let _ = cx.effect::<Odd>(); Ok(order) }\n\
         #[flow(id = \"w.f\", version = \"1.0.0\", steps(w: w))]\npub async fn f(cx: &FlowCx<f>, order: Order) -> Result<Order, No> { cx.step::<w>(order).await }\n",
        0,
        "did you mean `changes`?",
    ),
    (
        "a step name twice",
        "#[flow(id = \"w.w\", version = \"1.0.0\", steps(look: look, look: other))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         let order = cx.step::<look>(order).await?;\n    cx.step::<other>(order).await\n}\n",
        0,
        "FLOWX1109",
    ),
    (
        "a retry of what cannot be repeated",
        "#[capability(id = \"w.c\", version = \"1.0.0\", authorization = authenticated)]\npub async fn c(_cx: &Cx<c>, order: Order) -> Result<Order, No> { Ok(order) }\n\
         #[flow(id = \"w.w\", version = \"1.0.0\", deadline = \"PT60S\", steps(c: c { attempts = 3 }))]\npub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {\n    \
         cx.step::<c>(order).await\n}\n",
        2,
        "FLOWX1014",
    ),
];

#[test]
fn two_hundred_flows_without_a_mistake_compile_without_a_word() {
    let (source, _, spare) = two_hundred("", "");
    let found = Package::new("shop", &source).build();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].line, &*found[0].message),
        (spare, "mismatched types")
    );
}

/// What is not as it should be about one mistake: nothing, when all is well.
fn one_mistake((what, source, line, word): &(&str, &str, usize, &str)) -> String {
    let (source, at, spare) = two_hundred(source, "");
    let found = Package::new("shop", &source).build();
    let (rest, ours): (Vec<Said>, Vec<Said>) = found
        .into_iter()
        .partition(|s| s.line == spare && s.message == "mismatched types");
    let right = ours.len() == 1
        && (ours[0].level.as_str(), ours[0].file.as_str()) == ("error", "src/lib.rs")
        && ours[0].line == at + line
        && ours[0].message.contains(word);
    if right && rest.len() == 1 {
        return String::new();
    }
    let mut wrong = format!(
        "{what}: {word} at line {} expected, the rest checked: {}\n",
        at + line,
        rest.len()
    );
    for s in ours {
        let _ = writeln!(
            wrong,
            "    {} {}:{}:{} {}",
            s.level, s.file, s.line, s.column, s.message
        );
    }
    wrong
}

/// Each is the only error of its kind, and does not keep rustc from finding what is wrong forty flows further down.
#[test]
fn one_mistake_among_two_hundred_flows_is_one_error_at_its_line_and_the_rest_is_still_checked() {
    let only = std::env::var("FLOWX_CASE").unwrap_or_default();
    let cases: Vec<_> = MISTAKES.iter().filter(|m| m.0.contains(&only)).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(String::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let said = one_mistake(case);
                    wrong.lock().unwrap().push_str(&said);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// An error about a declaration that rustc does not compile is still an error: nothing else would say so.
#[test]
fn a_finding_about_what_is_not_compiled_stops_the_build_all_the_same() {
    let source = format!(
        "#[cfg(feature = \"extra\")]\n#[flow(id = \"w.w\", version = \"1.0\", steps(look: look))]\n\
         pub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {{ cx.step::<look>(order).await }}\n{PRELUDE}"
    );
    let package = Package::new("shop", &source);
    package.scan_with(&[("CARGO_FEATURE_EXTRA", "1")]);
    // rustc is not told of the feature.
    let found = package.check();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].message.contains("FLOWX1154"), "{found:#?}");
    assert!(found[0].message.contains("FLOWX1106"), "{found:#?}");
}

/// A library that declares effects, and a package on it whose agent's flow never asks: in every way that leads to the effect.
const LIBRARY: &str = r#"
use flowx_runtime::{Cx, FlowCx, FlowError, capability, effect, flow};
use serde::{Deserialize, Serialize};
flowx_runtime::include_manifest!();
#[effect(id = "ledger", class = changes)]
pub struct Ledger;
#[derive(Clone, Serialize, Deserialize)]
pub struct Order { pub id: String }
#[derive(Debug, thiserror::Error, FlowError)]
pub enum No { #[error("no")] #[flow_error(code = "order.no", category = Conflict)] No }
#[capability(id = "books.read", version = "1.0.0", authorization = authenticated)]
pub async fn read(_cx: &Cx<read>, order: Order) -> Result<Order, No> { Ok(order) }
mod inner {
    use super::*;
    #[capability(id = "books.write", version = "1.0.0", authorization = authenticated, effects(Ledger))]
    pub async fn write(cx: &Cx<write>, order: Order) -> Result<Order, No> { let _ = cx.effect::<Ledger>(); Ok(order) }
}
pub use inner::write;
pub use inner::write as put_down;
pub type Alias = inner::write;
pub type Bought = Order;
/// Keeps.
#[flow(id = "books.keep", version = "1.0.0", steps(write: write))]
pub async fn keep(cx: &FlowCx<keep>, order: Order) -> Result<Order, No> { cx.step::<write>(order).await }
"#;

const NEVER: &str = r#"
use flowx_runtime::{Cx, FlowCx, capability, effect, flow};
use books::{No, Order, Bought};
flowx_runtime::include_manifest!();
HEAD
/// Writes the order into the books, once for each call of it.
#[flow(id = "w.w", version = "1.0.0", deadline = "PT9S", agent(confirmation = never), steps(STEPS))]
pub async fn w(cx: &FlowCx<w>, order: Bought) -> Result<Order, No> { BODY }
"#;

#[test]
fn never_over_side_effects_stops_the_build_however_the_effect_is_reached() {
    let ways: &[(&str, &str, &str, &str)] = &[
        (
            "in one crate",
            "#[effect(id = \"own\", class = sends)]\npub struct Own;\n#[capability(id = \"own.send\", version = \"1.0.0\", authorization = authenticated, effects(Own))]\n\
             pub async fn send(cx: &Cx<send>, order: Order) -> Result<Order, No> { let _ = cx.effect::<Own>(); Ok(order) }",
            "a: send",
            "cx.step::<send>(order).await",
        ),
        (
            "across crates",
            "",
            "a: books::write",
            "cx.step::<books::write>(order).await",
        ),
        (
            "through a re-export under another name",
            "",
            "a: books::put_down",
            "cx.step::<books::put_down>(order).await",
        ),
        (
            "through an alias of the other crate",
            "",
            "a: books::Alias",
            "cx.step::<books::Alias>(order).await",
        ),
        (
            "through an alias of one's own",
            "type Mine = books::write;",
            "a: Mine",
            "cx.step::<Mine>(order).await",
        ),
        (
            "through a cfg",
            "#[cfg(unix)] use books::write as chosen; #[cfg(not(unix))] use books::write as chosen;",
            "a: chosen",
            "cx.step::<chosen>(order).await",
        ),
        (
            "in a compensation alone",
            "",
            "a: books::read { compensate = books::write }",
            "cx.step::<books::read>(order).await",
        ),
        (
            "in a sub-flow of the other crate",
            "",
            "a: flow books::keep",
            "cx.call::<books::keep>(order).await",
        ),
    ];
    let library = Package::new("books", LIBRARY);
    let books = library.compiled();
    let mut wrong = String::new();
    for (what, head, steps, body) in ways {
        let source = NEVER
            .replace("HEAD", head)
            .replace("STEPS", steps)
            .replace("BODY", body);
        let line = source
            .lines()
            .position(|l| l.contains("confirmation = never"))
            .unwrap()
            + 1;
        let mut found = Package::on("till", &source, vec![("books", books.clone())]).build();
        found.retain(|s| s.level == "error");
        if found.len() != 1 || found[0].line != line || !found[0].message.contains("[FLOWX1046]") {
            let _ = writeln!(wrong, "{what}: {found:#?}");
        }
        // The same flow that asks compiles: nothing else stands in its way.
        let asks = source.replace(
            "confirmation = never",
            "confirmation = required_for_side_effects",
        );
        let found = Package::on("till", &asks, vec![("books", books.clone())]).build();
        if found.iter().any(|s| s.level == "error") {
            let _ = writeln!(wrong, "{what}, asking: {found:#?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What an editor is told: a warning at its own place with its code, not a line of the build's output.
#[test]
fn a_warning_of_a_rule_is_a_warning_of_rustc_at_its_place() {
    let source = format!(
        "#[flow(id = \"w.w\", version = \"1.0.0\", deadline = \"PT2S\",\n       steps(look: look {{ timeout = \"PT9S\" }}))]\n\
         pub async fn w(cx: &FlowCx<w>, order: Order) -> Result<Order, No> {{ cx.step::<look>(order).await }}\n{PRELUDE}"
    );
    let package = Package::new("shop", &source);
    let printed = package.scan();
    assert!(!printed.contains("cargo::warning"), "{printed}");
    let found = package.check();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (&*found[0].level, &*found[0].file, found[0].line),
        ("warning", "src/lib.rs", 1)
    );
    assert!(found[0].message.contains("[FLOWX1019]"), "{found:#?}");
    assert!(found[0].column > 1, "{found:#?}");
}
