//! Whole packages in memory: what is declared, what it can reach, and what cannot be read.

use std::path::Path;

use flowx_build::cfg::CfgSet;
use flowx_build::files::Memory;
use flowx_build::{Features, Libraries, ScanOptions, ScanOutput, Severity, scan_package};

const TOML: &str = "[package]\nname = 'desk'\nversion = '1.2.3'\nedition = '2024'\n\
    [features]\nextra = []\n[dependencies]\nflowx-runtime = '0.1'\nserde = '1'\nrusty-capability-attr = '1'\n";

fn scan(files: &[(&str, &str)]) -> ScanOutput {
    let mut memory = Memory::new(files.iter().copied());
    if !files.iter().any(|(path, _)| *path == "app/Cargo.toml") {
        memory.insert("app/Cargo.toml", TOML);
    }
    let mut cfg = CfgSet::builtin();
    cfg.set("unix", true);
    cfg.set("target_os=\"linux\"", true);
    cfg.set("target_pointer_width=\"64\"", true);
    scan_package(&ScanOptions {
        files: &memory,
        package: Path::new("app"),
        cfg,
        features: Features::Asked {
            names: Vec::new(),
            default: true,
        },
        libraries: Libraries::Scan,
        look_beyond: true,
    })
    .expect("the package can be read")
}

/// `code line subject` of every finding.
fn found(output: &ScanOutput) -> Vec<String> {
    let line = |f: &flowx_build::Finding| format!("{} {}:{}", f.id, f.file, f.line);
    output.findings.iter().map(line).collect()
}

const MAIN: &str = r#"
use flowx_runtime::{Cx, FlowCx, FlowError, capability, effect, flow};
flowx_runtime::include_manifest!();
mod money;
#[derive(serde::Deserialize, serde::Serialize)]
pub struct Order { pub id: String }
#[derive(serde::Deserialize, serde::Serialize)]
pub struct Done { pub at: u64 }
/// Pays for an order.
#[flow(id = "order.pay", version = "1.0.0", deadline = "PT30S", agent(confirmation = always),
       steps(check: money::check, pay: money::charge { timeout = "PT2S", compensate = money::refund }))]
async fn pay(cx: &FlowCx<pay>, order: Order) -> Result<Done, money::MoneyError> { todo!() }
fn main() {}
"#;

const MONEY: &str = r#"
use flowx_runtime::{capability as cap, effect, FlowError};
/// The bank.
#[effect(id = "bank", class = spends)]
pub struct Bank;
#[effect(id = "ledger", class = changes)]
pub struct Ledger;
pub type TheLedger = Ledger;
#[cap(id = "money.check", version = "1.0.0", authorization = authenticated)]
pub async fn check(cx: &flowx_runtime::Cx<check>, order: crate::Order) -> Result<(), MoneyError> { todo!() }
#[cap(id = "money.charge", version = "1.0.0", authorization = permission("money.charge"), effects(Bank))]
pub async fn charge(cx: &flowx_runtime::Cx<charge>, order: crate::Order) -> Answer<crate::Done> { todo!() }
#[cap(id = "money.refund", version = "1.0.0", authorization = permission("money.refund"), effects(TheLedger), idempotent)]
pub async fn refund(cx: &flowx_runtime::Cx<refund>, done: crate::Done) -> Answer<()> { todo!() }
type Answer<T, E = MoneyError> = Result<T, E>;
#[derive(Debug, FlowError)]
pub enum MoneyError {
    #[flow_error(code = "money.short", category = Conflict)]
    Short,
    #[flow_error(transparent)]
    Bank(BankError),
    #[cfg(windows)]
    #[flow_error(code = "money.windows", category = Conflict)]
    Windows,
}
#[derive(Debug, FlowError)]
#[flow_error(code = "bank.down", category = Unavailable)]
pub struct BankError;
"#;

#[test]
fn a_flow_has_what_its_steps_and_compensations_can_reach() {
    let output = scan(&[("app/src/main.rs", MAIN), ("app/src/money.rs", MONEY)]);
    assert_eq!(found(&output), Vec::<String>::new());
    let flow = &output.manifest.flows[0];
    assert_eq!(
        flow.effects.iter().map(|e| e.as_str()).collect::<Vec<_>>(),
        ["bank", "ledger"]
    );
    assert_eq!(
        flow.permissions
            .iter()
            .map(|e| e.as_str())
            .collect::<Vec<_>>(),
        ["money.charge", "money.refund"]
    );
    assert_eq!(flow.description.as_deref(), Some("Pays for an order."));
    let errors: Vec<&str> = flow
        .errors
        .iter()
        .flatten()
        .map(|e| e.code.as_str())
        .collect();
    assert_eq!(
        errors,
        ["bank.down", "money.short"],
        "transparent ones count, what is switched off does not"
    );
    assert_eq!(flow.input.name, "crate::Order");
    assert_eq!(
        output
            .manifest
            .contracts
            .iter()
            .map(|c| c.id.as_str())
            .collect::<Vec<_>>(),
        ["crate::Done", "crate::Order"]
    );
    assert_eq!(output.manifest.capabilities.len(), 3);
    assert_eq!(
        output.manifest.capabilities[0]
            .errors
            .as_ref()
            .map(Vec::len),
        Some(2),
        "through the alias Answer"
    );
    assert_eq!(output.places["flow order.pay@1"].0, "src/main.rs");
}

#[test]
fn line_ends_and_the_order_of_files_do_not_change_the_manifest() {
    let unix = scan(&[("app/src/main.rs", MAIN), ("app/src/money.rs", MONEY)]);
    let (main, money) = (MAIN.replace('\n', "\r\n"), MONEY.replace('\n', "\r\n"));
    let windows = scan(&[("app/src/money.rs", &money), ("app/src/main.rs", &main)]);
    assert_eq!(unix.manifest.write().text, windows.manifest.write().text);
    assert_eq!(
        unix.targets[0].entries, windows.targets[0].entries,
        "the digests too"
    );
}

#[test]
fn what_a_macro_hides_is_told_with_its_place() {
    let output = scan(&[(
        "app/src/main.rs",
        r#"
use flowx_runtime::*;
include_manifest!();
macro_rules! probe { ($b:literal) => { #[flow(id = "probe", version = "1.0.0")] async fn probe() {} } }
probe!("x");
cfg_if::cfg_if! { if #[cfg(unix)] { #[flow_runtime::nothing] fn g() {} #[flow(id = "a.b")] fn f() {} } }
fn main() { #[flow(id = "a.b", version = "1.0.0")] async fn inner() {} }
struct S; impl S { #[capability(id = "a.b")] async fn m() {} }
#[cfg(has_thing)] #[effect(id = "e", class = reads)] struct E;
#[cfg_attr(has_thing, effect(id = "f", class = reads))] struct F;
#[cfg(test)] mod tests { #[flowx_runtime::flow(id = "t.t")] async fn t() {} }
#[cfg(windows)] #[effect(id = "w", class = reads)] struct W;
#[cfg_attr(unix, effect(id = "u", class = reads))] struct U;
"#,
    )]);
    assert_eq!(
        found(&output),
        [
            "FLOWX1131 src/main.rs:4",
            "FLOWX1130 src/main.rs:6",
            "FLOWX1132 src/main.rs:7",
            "FLOWX1134 src/main.rs:8",
            "FLOWX1120 src/main.rs:9",
            "FLOWX1120 src/main.rs:10",
            "FLOWX1121 src/main.rs:11",
            "FLOWX1123 src/main.rs:12",
        ]
    );
    assert_eq!(
        output
            .manifest
            .effects
            .iter()
            .map(|e| e.id.as_str())
            .collect::<Vec<_>>(),
        ["u"]
    );
}

#[test]
fn the_same_attribute_of_another_crate_is_left_alone() {
    let output = scan(&[(
        "app/src/main.rs",
        "use rusty_capability_attr::capability;\n#[capability(Read, on = x)]\nfn f() {}\n#[rusty_capability_attr::flow]\nfn g() {}\nfn main() {}",
    )]);
    assert_eq!(found(&output), Vec::<String>::new());
    assert!(output.manifest.capabilities.is_empty());
}

#[test]
fn two_declarations_of_one_id_name_both_places() {
    let output = scan(&[
        (
            "app/src/main.rs",
            "use flowx_runtime::*; include_manifest!(); mod a; mod b; fn main() {}",
        ),
        (
            "app/src/a.rs",
            "use flowx_runtime::effect;\n#[effect(id = \"x\", class = reads)] pub struct X;",
        ),
        (
            "app/src/b.rs",
            "use flowx_runtime::effect;\n\n#[effect(id = \"x\", class = sends)] pub struct X;",
        ),
    ]);
    assert_eq!(found(&output), ["FLOWX1150 src/b.rs:3"]);
    assert!(
        output.findings[0].message.contains("src/a.rs:2"),
        "{}",
        output.findings[0].message
    );
}

#[test]
fn a_module_is_found_where_rustc_finds_it_or_reported() {
    let output = scan(&[
        (
            "app/src/main.rs",
            "mod a; mod both; mod gone; #[cfg(windows)] mod off; #[cfg(has_thing)] mod perhaps;\n\
             #[path = \"odd/place.rs\"] mod p; mod inline { mod x; #[path = \"y.rs\"] mod z; }\n\
             #[path = \"dir\"] mod other { mod w; }\n#[cfg_attr(unix, path = \"unix.rs\")] mod os; fn main() {}",
        ),
        (
            "app/src/a.rs",
            "mod deep; #[path = \"beside.rs\"] mod beside; mod inner { mod leaf; }",
        ),
        ("app/src/a/deep.rs", ""),
        ("app/src/beside.rs", "mod below;"),
        ("app/src/below.rs", ""),
        ("app/src/a/inner/leaf/mod.rs", "mod down;"),
        ("app/src/a/inner/leaf/down.rs", ""),
        ("app/src/both.rs", ""),
        ("app/src/both/mod.rs", ""),
        ("app/src/odd/place.rs", "mod q;"),
        ("app/src/odd/q.rs", ""),
        ("app/src/inline/x.rs", ""),
        ("app/src/inline/y.rs", ""),
        ("app/src/dir/w.rs", ""),
        ("app/src/unix.rs", ""),
    ]);
    assert_eq!(
        found(&output),
        ["FLOWX1111 src/main.rs:1", "FLOWX1110 src/main.rs:1"]
    );
    let read: Vec<String> = output
        .read
        .iter()
        .filter_map(|p| p.strip_prefix("app/src").ok())
        .map(|p| p.to_string_lossy().replace('\\', "/"))
        .collect();
    assert_eq!(
        read,
        [
            "a/deep.rs",
            "a/inner/leaf/down.rs",
            "a/inner/leaf/mod.rs",
            "a.rs",
            "below.rs",
            "beside.rs",
            "dir/w.rs",
            "inline/x.rs",
            "inline/y.rs",
            "main.rs",
            "odd/place.rs",
            "odd/q.rs",
            "unix.rs",
        ]
    );
}

#[test]
fn a_step_that_leads_nowhere_is_an_error_at_its_flow() {
    let main = MAIN
        .replace("money::check,", "money::chekc,")
        .replace("money::refund }", "Order }");
    let output = scan(&[("app/src/main.rs", &main), ("app/src/money.rs", MONEY)]);
    assert_eq!(
        found(&output),
        ["FLOWX1140 src/main.rs:11", "FLOWX1002 src/main.rs:11"]
    );
    let anchor = output.findings[0]
        .anchor
        .as_ref()
        .expect("it is about a flow");
    assert_eq!(
        (anchor.kind.as_str(), anchor.id.as_str()),
        ("flow", "order.pay@1")
    );
    assert!(!output.is_sound());
}

#[test]
fn flows_of_a_library_are_the_application_s_too_under_the_library_s_name() {
    let output = scan(&[
        (
            "app/Cargo.toml",
            "[package]\nname='app'\nversion='1.0.0'\nedition='2024'\n[dependencies]\nflowx-runtime='0.1'\nserde='1'\nthe-desk={package='desk-lib',path='../desk'}",
        ),
        (
            "app/src/main.rs",
            r#"use flowx_runtime::*; include_manifest!();
#[derive(serde::Serialize)] pub struct Out { order: the_desk::Order, more: the_desk::model::Extra }
#[flow(id = "app.run", version = "1.0.0", steps(a: the_desk::charge, b: flow the_desk::flows::pay))]
async fn run(cx: &FlowCx<run>, order: the_desk::Order) -> Result<Out, the_desk::DeskError> { todo!() }
fn main() {}"#,
        ),
        (
            "desk/Cargo.toml",
            "[package]\nname='desk-lib'\nversion='1.0.0'\nedition='2024'\nlinks='flowx-desk'\n[dependencies]\nflowx-runtime='0.1'\nserde='1'",
        ),
        (
            "desk/src/lib.rs",
            r#"flowx_runtime::include_manifest!();
pub mod flows; pub mod model; pub use model::*;"#,
        ),
        (
            "desk/src/model.rs",
            r#"use flowx_runtime::*;
#[derive(serde::Deserialize, serde::Serialize)] pub struct Order { pub id: Id }
#[derive(serde::Deserialize, serde::Serialize)] pub struct Id(String);
#[derive(serde::Deserialize, serde::Serialize)] pub struct Extra { pub id: Id }
#[effect(id = "bank", class = spends)] pub struct Bank;
#[derive(Debug, FlowError)] pub enum DeskError { #[flow_error(code = "desk.shut", category = Conflict)] Shut }
#[capability(id = "desk.charge", version = "1.0.0", authorization = permission("desk"), effects(Bank))]
pub async fn charge(cx: &Cx<charge>, order: Order) -> Result<(), DeskError> { todo!() }"#,
        ),
        (
            "desk/src/flows.rs",
            r#"use flowx_runtime::*; use crate::*;
#[flow(id = "desk.pay", version = "1.0.0", steps(a: charge))]
pub async fn pay(cx: &FlowCx<pay>, order: Order) -> Result<(), DeskError> { todo!() }"#,
        ),
    ]);
    assert_eq!(found(&output), Vec::<String>::new());
    let manifest = &output.manifest;
    assert_eq!(
        manifest
            .flows
            .iter()
            .map(|f| f.id.as_str())
            .collect::<Vec<_>>(),
        ["app.run", "desk.pay"]
    );
    assert_eq!(manifest.flows[1].input.name, "desk_lib::model::Order");
    assert_eq!(manifest.flows[0].effects.len(), 1);
    assert_eq!(manifest.flows[0].permissions.len(), 1);
    assert_eq!(
        manifest.flows[0]
            .errors
            .as_ref()
            .map(|e| e[0].code.to_string())
            .as_deref(),
        Some("desk.shut")
    );
    let contracts: Vec<&str> = manifest.contracts.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(
        contracts,
        [
            "crate::Out",
            "desk_lib::model::Extra",
            "desk_lib::model::Id",
            "desk_lib::model::Order"
        ]
    );
    assert!(
        output
            .findings
            .iter()
            .all(|f| f.severity != Severity::Error)
    );
}

const SILENT: &str = "flowx_runtime::include_manifest!(); use flowx_runtime::*;\n\
    #[effect(id = \"bank\", class = spends)] pub struct Bank;\n";
const QUIET_MAIN: &str = "flowx_runtime::include_manifest!(); fn main() {}";

fn with_library(app: &str, files: &[(&str, &str)]) -> Vec<String> {
    let toml = format!(
        "[package]\nname='app'\nversion='1.0.0'\nedition='2024'\n[dependencies]\nflowx-runtime='0.1'\n{app}"
    );
    let mut all = vec![
        ("app/Cargo.toml", toml.as_str()),
        ("app/src/main.rs", QUIET_MAIN),
    ];
    all.extend(files);
    found(&scan(&all))
}

fn desk(links: &str) -> String {
    format!(
        "[package]\nname='desk-lib'\nversion='1.0.0'\nedition='2024'\n{links}\n[dependencies]\nflowx-runtime='0.1'"
    )
}

#[test]
fn a_library_that_declares_and_does_not_tell_is_reported_where_it_is_depended_on() {
    let (silent, telling) = (desk(""), desk("links='flowx-desk'"));
    let named = "the-desk={package='desk-lib',path='../desk'}";
    let lib = ("desk/src/lib.rs", SILENT);
    let untold = with_library(named, &[("desk/Cargo.toml", &silent), lib]);
    assert_eq!(untold, ["FLOWX1155 Cargo.toml:7"]);
    let told = with_library(named, &[("desk/Cargo.toml", &telling), lib]);
    assert_eq!(told, Vec::<String>::new());
    // One that declares nothing has nothing to tell, and one that is not built neither.
    let nothing = ("desk/src/lib.rs", "pub fn add() {}");
    assert!(with_library(named, &[("desk/Cargo.toml", &silent), nothing]).is_empty());
    for off in [
        "the-desk={package='desk-lib',path='../desk',optional=true}",
        "[target.'cfg(windows)'.dependencies]\nthe-desk={package='desk-lib',path='../desk'}",
        "[dev-dependencies]\nthe-desk={package='desk-lib',path='../desk'}",
    ] {
        assert!(
            with_library(off, &[("desk/Cargo.toml", &silent), lib]).is_empty(),
            "{off}"
        );
    }
}

#[test]
fn a_library_behind_one_that_knows_nothing_of_flowx_is_reported_too() {
    let plain = "[package]\nname='plain'\nversion='1.0.0'\nedition='2024'\n[dependencies]\ndesk-lib={path='../desk'}";
    for links in ["", "links='flowx-desk'"] {
        let desk = desk(links);
        let files = [
            ("plain/Cargo.toml", plain),
            ("plain/src/lib.rs", ""),
            ("desk/Cargo.toml", desk.as_str()),
            ("desk/src/lib.rs", SILENT),
        ];
        assert_eq!(
            with_library("plain={path='../plain'}", &files),
            ["FLOWX1155 Cargo.toml:7"],
            "{links}"
        );
    }
    // Named beside it, it tells.
    let desk = desk("links='flowx-desk'");
    let files = [
        ("plain/Cargo.toml", plain),
        ("plain/src/lib.rs", ""),
        ("desk/Cargo.toml", desk.as_str()),
        ("desk/src/lib.rs", SILENT),
    ];
    let both = "plain={path='../plain'}\ndesk-lib={path='../desk'}";
    assert_eq!(with_library(both, &files), Vec::<String>::new());
}

const OPS: &str = r#"
use flowx_runtime::effect;
#[cfg(feature = "extra")] #[effect(id = "a", class = reads)] pub struct A;
#[cfg_attr(feature = "extra", effect(id = "b", class = reads))] pub struct B;
#[cfg(not(feature = "extra"))] #[effect(id = "c", class = reads)] pub struct C;
#[cfg(test)] mod tests {}
"#;
const OPS_ROOT: &str = "flowx_runtime::include_manifest!();\n#[cfg(feature = \"extra\")] mod extra;\nmod ops;\nfn main() {}";

#[test]
fn what_this_configuration_switches_off_is_named_with_what_it_hangs_on() {
    let extra = "use flowx_runtime::flow as tool;\n#[tool(id = \"d.d\", version = \"2.1.0\")] async fn d() {}";
    let output = scan(&[
        ("app/src/main.rs", OPS_ROOT),
        ("app/src/ops.rs", OPS),
        ("app/src/extra.rs", extra),
    ]);
    assert_eq!(
        found(&output),
        [
            "FLOWX1123 src/extra.rs:2",
            "FLOWX1123 src/ops.rs:3",
            "FLOWX1123 src/ops.rs:4",
        ]
    );
    let subjects: Vec<_> = output
        .findings
        .iter()
        .map(|f| f.subject.as_deref())
        .collect();
    assert_eq!(
        subjects,
        [Some("flow d.d@2"), Some("effect a"), Some("effect b")]
    );
    assert!(output.is_sound(), "a note stops nothing");
    for note in &output.findings {
        assert!(
            note.message.contains("cfg(feature = \"extra\")"),
            "{}",
            note.message
        );
        assert!(note.off.is_some());
    }
}

#[test]
fn the_other_configuration_is_named_from_the_other_side_and_tests_from_neither() {
    let mut memory = Memory::new([
        ("app/Cargo.toml", TOML),
        (
            "app/src/main.rs",
            "flowx_runtime::include_manifest!();\nmod ops;\nfn main() {}",
        ),
        ("app/src/ops.rs", OPS),
    ]);
    let scan = |memory: &Memory, look_beyond| {
        let options = ScanOptions {
            files: memory,
            package: Path::new("app"),
            cfg: CfgSet::builtin(),
            features: Features::All,
            libraries: Libraries::Scan,
            look_beyond,
        };
        scan_package(&options).unwrap()
    };
    assert_eq!(found(&scan(&memory, true)), ["FLOWX1123 src/ops.rs:5"]);
    assert_eq!(
        found(&scan(&memory, false)),
        Vec::<String>::new(),
        "a build has no notes"
    );
    let before = scan(&memory, true).findings[0].off;
    memory.insert(
        "app/src/ops.rs",
        OPS.replace("\"c\", class = reads", "\"c\", class = spends"),
    );
    let after = scan(&memory, true).findings[0].off;
    assert_ne!(before, after, "what it says has changed");
}

#[test]
fn a_program_behind_required_features_and_a_name_behind_a_cfg_are_looked_at_too() {
    let toml = format!(
        "{TOML}[[bin]]\nname = 'ops'\nrequired-features = ['extra']\n[[bin]]\nname = 'desk'\npath = 'src/main.rs'\n"
    );
    let output = scan(&[
        ("app/Cargo.toml", &toml),
        (
            "app/src/main.rs",
            "#[cfg(feature = \"extra\")] use flowx_runtime::effect;\n#[cfg(not(feature = \"extra\"))] use mock::effect;\n\
             #[effect(id = \"m\", class = reads)] struct M;\nfn main() {}",
        ),
        (
            "app/src/bin/ops.rs",
            "use flowx_runtime::effect; flowx_runtime::include_manifest!();\n#[effect(id = \"o\", class = reads)] struct O;\nfn main() {}",
        ),
    ]);
    assert_eq!(
        found(&output),
        ["FLOWX1123 src/bin/ops.rs:2", "FLOWX1123 src/main.rs:3"]
    );
    assert!(output.findings[0].message.contains("required-features"));
}

#[test]
fn what_hangs_on_an_unknown_cfg_is_an_error_down_to_the_description() {
    let output = scan(&[(
        "app/src/main.rs",
        "use flowx_runtime::effect; flowx_runtime::include_manifest!();\n\
         /// The bank.\n#[cfg_attr(debug_assertions, doc = \"Never ask.\")]\n#[effect(id = \"b\", class = reads)] struct B;\n\
         mod sub { #[cfg(has_thing)] use flowx_runtime::effect; #[cfg(not(has_thing))] use mock::effect;\n\
         #[effect(id = \"s\", class = reads)] struct S; }\nfn main() {}",
    )]);
    assert_eq!(
        found(&output),
        ["FLOWX1120 src/main.rs:3", "FLOWX1120 src/main.rs:6"]
    );
}

#[test]
fn what_a_library_switches_off_shows_in_the_application() {
    let library = "[package]\nname = 'money'\nversion = '1.0.0'\nedition = '2024'\nlinks = 'money'\n[features]\nops = []\n[dependencies]\nflowx-runtime = '0.1'\n";
    let toml = format!("{TOML}money = {{ path = '../money' }}\n");
    let output = scan(&[
        ("app/Cargo.toml", &toml),
        (
            "app/src/main.rs",
            "flowx_runtime::include_manifest!();\nfn main() {}",
        ),
        ("money/Cargo.toml", library),
        (
            "money/src/lib.rs",
            "use flowx_runtime::effect; flowx_runtime::include_manifest!();\n#[cfg(feature = \"ops\")] #[effect(id = \"o\", class = reads)] pub struct O;",
        ),
    ]);
    assert_eq!(found(&output), ["FLOWX1123 ../money/src/lib.rs:2"]);
}
