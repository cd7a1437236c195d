//! Every rule fires where it should, is quiet where it should, and has its page; allowances and levels are of closed vocabularies.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use flowx_build::cfg::CfgSet;
use flowx_build::files::Memory;
use flowx_build::rules::{self, HEADINGS};
use flowx_build::{Features, Finding, Libraries, ScanOptions, Severity, scan_package};

const TOML: &str = "[package]\nname = 'shop'\nversion = '1.0.0'\nedition = '2024'\n[dependencies]\nflowx-runtime = '0.1'\nserde = '1'\n\
    uuid = '1'\nrand = '0.9'\nchrono = '0.4'\nreqwest = '0.13'\ntokio = '1'\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules")
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(folder().join("fixtures").join(name))
        .unwrap()
        .replace("\r\n", "\n")
}

fn findings(files: &[(&str, &str)]) -> Vec<Finding> {
    let memory = Memory::new(files.iter().copied());
    let mut cfg = CfgSet::builtin();
    for on in ["unix", "target_os=\"linux\"", "target_pointer_width=\"64\""] {
        cfg.set(on, true);
    }
    let options = ScanOptions {
        files: &memory,
        package: Path::new("app"),
        cfg,
        features: Features::Asked {
            names: Vec::new(),
            default: true,
        },
        libraries: Libraries::Scan,
        look_beyond: true,
    };
    scan_package(&options).unwrap().findings
}

/// What is found in a source that the prelude is put after.
fn scan(source: &str, toml: &str) -> Vec<Finding> {
    let root = if source.starts_with("//@ bin") {
        "app/src/main.rs"
    } else {
        "app/src/lib.rs"
    };
    let text = format!("{source}{}", fixture("prelude.rs"));
    findings(&[("app/Cargo.toml", toml), (root, &text)])
}

fn fixtures() -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(folder().join("fixtures"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "prelude.rs" && name.ends_with(".rs"))
        .collect();
    all.sort();
    all
}

fn file_of(rule: &rules::Rule) -> &'static str {
    rule.file.rsplit("::").next().unwrap()
}

/// The lines that say `//~ ID`.
fn marked(source: &str, id: &str) -> Vec<u32> {
    let mark = format!("//~ {id}");
    source
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains(&mark))
        .map(|(_, n)| n)
        .collect()
}

#[test]
fn every_rule_fires_at_its_marks_and_nowhere_else_and_is_quiet_where_it_should_be() {
    let mut wrong = String::new();
    for rule in rules::all() {
        for (kind, fires) in [("firing", true), ("quiet", false)] {
            let name = format!("{}.{kind}.rs", file_of(rule));
            let source = fixture(&name);
            let expected = marked(&source, rule.id);
            assert_eq!(!expected.is_empty(), fires, "{name}: marks");
            let found = scan(&source, TOML);
            let mut lines: Vec<u32> = found
                .iter()
                .filter(|f| f.id == rule.id)
                .map(|f| f.line)
                .collect();
            lines.sort_unstable();
            lines.dedup();
            if lines != expected {
                let _ = writeln!(wrong, "{name}: expected {expected:?}, found {lines:?}");
                for f in &found {
                    let _ = writeln!(wrong, "    {} {}:{} {}", f.id, f.line, f.column, f.message);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// One table of everything that every rule says about every fixture, so that a stray hit is seen. `FLOWX_BLESS=1` writes it anew.
#[test]
fn every_rule_over_every_fixture_says_what_it_said() {
    let mut table = String::new();
    for name in fixtures() {
        let _ = writeln!(table, "{name}");
        for f in scan(&fixture(&name), TOML) {
            let _ = writeln!(
                table,
                "  {} {} {}:{} {}",
                f.id,
                f.severity.as_str(),
                f.line,
                f.column,
                f.message
            );
        }
    }
    let path = folder().join("fixtures/findings.txt");
    if std::env::var_os("FLOWX_BLESS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    for (line, (now, before)) in table.lines().zip(expected.lines()).enumerate() {
        assert_eq!(now, before, "line {}", line + 1);
    }
    assert_eq!(table.lines().count(), expected.lines().count());
}

#[test]
fn every_rule_is_named_as_its_file_registered_and_has_its_page_and_fixtures() {
    let mut ids = BTreeSet::new();
    for rule in rules::all() {
        assert!(ids.insert(rule.id), "{} stands twice", rule.id);
        assert!(
            file_of(rule).starts_with(&format!("{}_", rule.id.to_lowercase())),
            "{} stands in {}",
            rule.id,
            rule.file
        );
        let page = rule.page();
        let mut at = 0;
        for heading in HEADINGS {
            let found = page[at..].find(heading);
            assert!(
                found.is_some(),
                "{}: {heading:?} is not on its page, in this order",
                rule.id
            );
            at += found.unwrap() + heading.len();
        }
        assert!(
            !rule.title.ends_with('.') && rule.title.len() < 80,
            "{}: a title is a few words",
            rule.id
        );
        for kind in ["firing", "quiet"] {
            assert!(
                folder()
                    .join(format!("fixtures/{}.{kind}.rs", file_of(rule)))
                    .is_file(),
                "{}: no {kind} fixture",
                rule.id
            );
        }
    }
    let files: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| {
            name.strip_suffix(".rs")
                .filter(|n| n.starts_with("flowx"))
                .map(str::to_owned)
        })
        .collect();
    let registered: BTreeSet<String> = rules::all().iter().map(|r| file_of(r).to_owned()).collect();
    assert_eq!(
        files, registered,
        "a rule's file that is not in the registry, or the other way round"
    );
    for name in fixtures() {
        let stem = name.split('.').next().unwrap();
        assert!(registered.contains(stem), "{name} is a fixture of no rule");
    }
    let of_the_scan: BTreeSet<&str> = flowx_build::codes::ALL.iter().map(|c| c.id).collect();
    assert!(
        ids.is_disjoint(&of_the_scan),
        "a rule has an id of the scan"
    );
}

#[test]
fn every_message_says_what_and_every_finding_says_how_to_mend_it() {
    for rule in rules::all() {
        let source = fixture(&format!("{}.firing.rs", file_of(rule)));
        for f in scan(&source, TOML).iter().filter(|f| f.id == rule.id) {
            assert!(f.help.is_some(), "{} gives no help", rule.id);
            assert!(
                !f.message.ends_with('.') && !f.message.contains('\n'),
                "{}: {:?}",
                rule.id,
                f.message
            );
            assert!(f.line > 0 && f.column > 0, "{} has no place", rule.id);
        }
    }
}

const SELL: &str = "#[capability(id = \"shop.sell\", version = \"1.0.0\", authorization = permission(\"shop.sell\"))]\n";
const BODY: &str = "async fn sell(cx: &Cx<sell>, order: Order) -> Result<Order, No> {\n    let _ = std::fs::read(\"x\");\n    Ok(order)\n}\n";

fn ids(found: &[Finding]) -> Vec<&str> {
    found.iter().map(|f| f.id.as_str()).collect()
}

#[test]
fn an_allowance_quiets_its_rule_in_its_item_and_nothing_else() {
    let allow = "#[flowx::allow(FLOWX1103, reason = \"a reason\")]\n";
    assert_eq!(ids(&scan(&format!("{SELL}{BODY}"), TOML)), ["FLOWX1103"]);
    assert_eq!(ids(&scan(&format!("{SELL}{allow}{BODY}"), TOML)), [""; 0]);
    assert_eq!(ids(&scan(&format!("{allow}{SELL}{BODY}"), TOML)), [""; 0]);
    let elsewhere = format!("{SELL}{BODY}{allow}fn other() {{}}\n");
    assert_eq!(ids(&scan(&elsewhere, TOML)), ["FLOWX1103", "FLOWX1189"]);
    let foreign = format!("mod flowx {{ pub use serde::allow; }}\n{SELL}{BODY}");
    assert!(ids(&scan(&foreign, TOML)).contains(&"FLOWX1103"));
}

#[test]
fn an_allowance_of_no_rule_of_a_firm_rule_or_of_nothing_is_an_error() {
    let with = |attr: &str| {
        scan(
            &format!(
                "{SELL}{attr}\n{}",
                BODY.replace("std::fs::read(\"x\")", "0")
            ),
            TOML,
        )
    };
    for (id, why) in [
        ("FLOWX1301", "comes from the contracts, not from a rule"),
        ("FLOWX1130", "comes from the scan, not from a rule"),
        (
            "FLOWX1391",
            "a note stops no build, so there is nothing to allow",
        ),
        ("FLOWX1040", "FLOWX1040 is not given any more"),
        ("FLOWX1930", "no rule has the id FLOWX1930; did you mean"),
    ] {
        let found = with(&format!("#[flowx::allow({id}, reason = \"x\")]"));
        assert_eq!(ids(&found), ["FLOWX1188"]);
        assert!(found[0].message.contains(why), "{found:?}");
    }
    assert_eq!(
        ids(&with("#[flowx::allow(FLOWX1046, reason = \"x\")]")),
        ["FLOWX1188"]
    );
    assert_eq!(
        ids(&with("#[flowx::allow(FLOWX1103, reason = \"x\")]")),
        ["FLOWX1189"]
    );
    assert_eq!(ids(&with("#[flowx::allow(FLOWX1103)]")), ["FLOWX1108"]);
    assert!(
        with("#[flowx::allow(FLOWX1103, reson = \"x\")]")
            .iter()
            .all(|f| f.severity == Severity::Error)
    );
}

#[test]
fn levels_are_configured_per_package_and_a_firm_rule_stays_an_error() {
    let source = fixture("flowx1019_deadline_too_short.firing.rs");
    let level = |rules: &str| {
        let found = scan(
            &source,
            &format!("{TOML}[package.metadata.flowx.rules]\n{rules}\n"),
        );
        found
            .into_iter()
            .filter(|f| f.id == "FLOWX1019")
            .map(|f| f.severity)
            .collect::<Vec<_>>()
    };
    assert_eq!(level(""), [Severity::Warning]);
    assert_eq!(level("FLOWX1019 = 'error'"), [Severity::Error]);
    assert_eq!(level("FLOWX1019 = 'note'"), [Severity::Note]);
    assert_eq!(level("FLOWX1019 = 'off'"), []);
    let wrong = |rules: &str| {
        let found = scan(
            &fixture("flowx1046_confirmation_never.firing.rs"),
            &format!("{TOML}[package.metadata.flowx]\n{rules}\n"),
        );
        let config: Vec<String> = found
            .iter()
            .filter(|f| f.id == "FLOWX1188")
            .map(|f| f.message.clone())
            .collect();
        let still = found
            .iter()
            .filter(|f| f.id == "FLOWX1046" && f.severity == Severity::Error)
            .count();
        assert_eq!(still, 4, "{rules} opened something: {found:?}");
        assert_eq!(config.len(), 1, "{config:?}");
        config.concat()
    };
    assert!(wrong("rules.FLOWX1046 = 'warning'").contains("an error everywhere"));
    assert!(wrong("rules.FLOWX1046 = 'off'").contains("an error everywhere"));
    assert!(wrong("rules.FLOWX1045 = 'off'").contains("did you mean `FLOWX1046`?"));
    assert!(wrong("rules.FLOWX1391 = 'off'").contains("comes from the contracts"));
    assert!(wrong("rules.FLOWX1019 = 'wraning'").contains("did you mean `warning`?"));
    assert!(wrong("rule.FLOWX1019 = 'off'").contains("did you mean `rules`?"));
}

#[test]
fn flowx_toml_is_read_as_well_and_one_rule_is_set_in_one_place() {
    let text = format!(
        "{}{}",
        fixture("flowx1019_deadline_too_short.firing.rs"),
        fixture("prelude.rs")
    );
    let with = |toml: &str, flowx: &str| {
        findings(&[
            ("app/Cargo.toml", toml),
            ("app/src/lib.rs", &text),
            ("app/flowx.toml", flowx),
        ])
    };
    assert_eq!(ids(&with(TOML, "[rules]\nFLOWX1019 = 'off'\n")), [""; 0]);
    let both = format!("{TOML}[package.metadata.flowx.rules]\nFLOWX1019 = 'off'\n");
    assert!(ids(&with(&both, "[rules]\nFLOWX1019 = 'off'\n")).contains(&"FLOWX1188"));
    assert!(ids(&with(TOML, "[rules\n")).contains(&"FLOWX1188"));
}

#[test]
fn a_crate_of_two_hundred_flows_with_one_mistake_has_one_finding_at_its_line() {
    let mut source = String::new();
    for i in 0..200 {
        let target = if i == 137 { "lok" } else { "look" };
        let _ = writeln!(
            source,
            "#[flow(id = \"shop.show_{i}\", version = \"1.0.0\", steps(look: {target}))]\nasync fn show_{i}(cx: &FlowCx<show_{i}>, order: Order) -> Result<Order, No> {{\n    cx.step::<look>(order).await\n}}"
        );
    }
    source.push_str("#[capability(id = \"shop.look\", version = \"1.0.0\", authorization = authenticated)]\nasync fn look(cx: &Cx<look>, order: Order) -> Result<Order, No> { Ok(order) }\n");
    let found = scan(&source, TOML);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].line, found[0].severity),
        (137 * 4 + 1, Severity::Error)
    );
}

/// The table of `docs/threat-model.md`, way by way. The ones that are out of reach are held here too: where a rule comes to find one, the table is
/// to say so.
#[test]
fn ten_ways_to_have_an_effect_without_declaring_it_are_found_or_named_as_out_of_reach() {
    let body = |inside: &str, beside: &str| {
        let source = format!(
            "{SELL}async fn sell(cx: &Cx<sell>, order: Order) -> Result<Order, No> {{\n{inside}\nOk(order)\n}}\n{beside}"
        );
        let mut found: Vec<String> = scan(&source, TOML).into_iter().map(|f| f.id).collect();
        found.dedup();
        found
    };
    let touch = "trait Touch { fn touch(&self); }\nstruct Disk;\nimpl Touch for Disk { fn touch(&self) { let _ = std::fs::read(\"x\"); } }\n";
    let ways: [(&str, &str, &str, &[&str]); 14] = [
        (
            "asking the context for it",
            "let _ = cx.effect::<Ledger>();",
            "",
            &["FLOWX1101"],
        ),
        (
            "a hand-written `Declares`",
            "",
            "impl flowx_runtime::Declares<Ledger> for sell {}",
            &["FLOWX1186"],
        ),
        (
            "a captured global",
            "CLIENT.get();",
            "static CLIENT: std::sync::OnceLock<u8> = std::sync::OnceLock::new();",
            &["FLOWX1009"],
        ),
        (
            "a clone kept in a static",
            "",
            "static KEPT: std::sync::OnceLock<Gateway> = std::sync::OnceLock::new();",
            &["FLOWX1187"],
        ),
        (
            "a helper function",
            "help();",
            "fn help() { let _ = std::fs::read(\"x\"); }",
            &["FLOWX1103"],
        ),
        (
            "a helper function that is generic",
            "help(1);",
            "fn help<T>(_: T) { let _ = std::fs::read(\"x\"); }",
            &["FLOWX1103"],
        ),
        (
            "a method of a generic parameter",
            "run(&Disk);",
            &format!("{touch}fn run<T: Touch>(t: &T) {{ t.touch(); }}"),
            &[],
        ),
        (
            "a trait object",
            "run(&Disk);",
            &format!("{touch}fn run(t: &dyn Touch) {{ t.touch(); }}"),
            &[],
        ),
        (
            "a closure",
            "(|| std::fs::read(\"x\"))();",
            "",
            &["FLOWX1103"],
        ),
        (
            "unsafe",
            "unsafe { getpid() };",
            "unsafe extern \"C\" { fn getpid() -> i32; }",
            &["FLOWX1195"],
        ),
        (
            "a known dependency's client",
            "reqwest::get(\"x\");",
            "",
            &["FLOWX1103"],
        ),
        (
            "an unknown dependency's client",
            "chrono::send_somewhere();",
            "",
            &[],
        ),
        (
            "a thread-local",
            "HERE.with(|_| ());",
            "thread_local! { static HERE: u8 = 0; }",
            &["FLOWX1009"],
        ),
        (
            "a spawned task",
            "tokio::spawn(async {});",
            "",
            &["FLOWX1103"],
        ),
    ];
    let table = std::fs::read_to_string(folder().join("../../../docs/threat-model.md")).unwrap();
    let section = table
        .split("## Ways to have an effect without declaring it")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .unwrap();
    let rows = section
        .lines()
        .filter(|l| l.starts_with("| ") && !l.starts_with("| way |"))
        .count();
    assert_eq!(rows, ways.len(), "a row without a test:\n{section}");
    for (way, inside, beside, expected) in ways {
        assert_eq!(body(inside, beside), *expected, "{way}");
        let row = table
            .lines()
            .find(|l| l.starts_with(&format!("| {way} |")))
            .unwrap_or_else(|| panic!("{way} is not in the table"));
        match expected {
            [] => assert!(row.contains("out of reach"), "{row}"),
            [code, ..] => assert!(row.contains(code), "{row}"),
        }
    }
}

/// `docs/rules/` is what the rules say. `FLOWX_BLESS=1` writes it anew.
#[test]
fn the_pages_are_fresh_and_every_code_has_one() {
    let pages = rules::pages();
    let ids: Vec<&str> = pages.iter().map(|p| p.id).collect();
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "two pages of one id: {ids:?}"
    );
    let contracts = flowx_build::contracts::Code::ALL.iter().map(|c| c.id());
    let losses = flowx_build::project::LossKind::ALL.iter().map(|c| c.id());
    for id in contracts.chain(losses) {
        assert!(ids.contains(&id), "{id} has no page");
    }
    let grammar =
        std::fs::read_to_string(folder().join("../../../flowx-syntax/src/problem.rs")).unwrap();
    for id in grammar
        .split('"')
        .filter(|s| s.starts_with("FLOWX1") && s.len() == 9)
    {
        assert!(ids.contains(&id), "{id} of the grammar has no page");
    }
    for page in &pages {
        let headings: Vec<&str> = page
            .markdown
            .lines()
            .filter_map(|l| l.strip_prefix("## "))
            .collect();
        assert_eq!(
            headings,
            ["What it catches", "Why it matters", "Example", "Instead"],
            "{}",
            page.id
        );
    }
    for file in std::fs::read_dir(folder().join("pages")).unwrap() {
        let file = file.unwrap().path();
        let stem = file.file_stem().unwrap().to_str().unwrap();
        assert!(ids.contains(&stem), "{} is read by nobody", file.display());
    }
    let docs = folder().join("../../../docs/rules");
    let mut expected: BTreeMap<String, String> = pages
        .into_iter()
        .map(|p| (format!("{}.md", p.id), p.markdown))
        .collect();
    expected.insert("README.md".to_owned(), rules::index());
    if std::env::var_os("FLOWX_BLESS").is_some() {
        let _ = std::fs::remove_dir_all(&docs);
        std::fs::create_dir_all(&docs).unwrap();
        for (name, text) in &expected {
            std::fs::write(docs.join(name), text).unwrap();
        }
    }
    for (name, text) in &expected {
        let written = std::fs::read_to_string(docs.join(name))
            .unwrap_or_default()
            .replace("\r\n", "\n");
        assert_eq!(
            written, *text,
            "docs/rules/{name} is not what the rules say"
        );
    }
    assert_eq!(
        std::fs::read_dir(&docs).unwrap().count(),
        expected.len(),
        "a page of no code"
    );
}

/// What the cost of each rule is made of: `cargo test -p flowx-build --test rules -- --ignored --nocapture` names the worst.
#[test]
#[ignore = "prints times; measures, asserts nothing"]
fn the_worst_rule_is_named() {
    let mut times: BTreeMap<u128, &str> = BTreeMap::new();
    for rule in rules::all() {
        let source = fixture(&format!("{}.firing.rs", file_of(rule)));
        let start = std::time::Instant::now();
        for _ in 0..20 {
            scan(&source, TOML);
        }
        times.insert(start.elapsed().as_micros() / 20, rule.id);
    }
    println!("microseconds per scan of its own fixture: {times:?}");
}
