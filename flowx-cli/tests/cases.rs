//! Every case of the public reports about scanners and schemas, part by part, with the test that holds it.
//!
//! [`CASES`] is the table; `every_case_has_a_test_that_is_there` holds it against the sources. What the whole command has to show stands
//! below; the rest stands where the part is that must behave.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{Run, Sandbox};
use serde_json::Value;

/// Case, part, file from the repository's top, test. Where the file is a folder, the whole crate is the test: what `cargo xtask test` does
/// with it is given instead.
const CASES: &[(u8, &str, &str, &str)] = &[
    (
        1,
        "two modules, two flows",
        HERE,
        "two_types_of_one_short_name_are_two_contracts_of_their_flows",
    ),
    (
        1,
        "two modules, one type over both",
        CONTRACTS,
        "two_types_of_one_short_name_stay_two_contracts",
    ),
    (
        1,
        "a workspace path dependency",
        HERE,
        "two_types_of_one_short_name_in_two_crates_are_two_contracts",
    ),
    (
        1,
        "one flow id in two crates",
        HERE,
        "one_flow_id_in_two_crates_is_an_error_that_names_both_places",
    ),
    (
        1,
        "one id in one crate",
        PACKAGE,
        "two_declarations_of_one_id_name_both_places",
    ),
    (
        1,
        "one id twice does not compile",
        "tests/lies/one-id-twice",
        "lie",
    ),
    (
        2,
        "the same schema as written out",
        HERE,
        "aliases_renames_and_globs_in_a_flow_are_the_types_written_out",
    ),
    (
        2,
        "each spelling alone",
        CONTRACTS,
        "aliases_renames_and_globs_give_the_schema_of_the_type_written_out",
    ),
    (
        2,
        "a cyclic pair",
        HERE,
        "a_cyclic_pair_of_aliases_is_an_error_with_both_places",
    ),
    (
        2,
        "renaming an alias is no diff",
        HERE,
        "renaming_an_alias_is_no_diff",
    ),
    (
        3,
        "a marker under cfg_attr",
        HERE,
        "a_marker_under_cfg_attr_is_there_with_its_feature_and_only_then",
    ),
    (
        3,
        "a field under a target",
        HERE,
        "a_field_under_a_target_is_there_on_that_target_and_only_there",
    ),
    (
        3,
        "a custom cfg",
        HERE,
        "a_cfg_that_nobody_has_told_of_is_a_finding_and_never_a_guess",
    ),
    (
        4,
        "cfg_if",
        PACKAGE,
        "what_a_macro_hides_is_told_with_its_place",
    ),
    (
        4,
        "a macro of the crate",
        HERE,
        "a_macro_whose_expansion_declares_is_told_with_its_place",
    ),
    (
        4,
        "a type that a macro makes",
        HERE,
        "a_parameter_whose_type_a_macro_makes_is_told_with_its_place",
    ),
    (4, "P1 at compile time", "tests/lies/macro-made-flow", "lie"),
    (
        5,
        "a tagged enum in a closed struct",
        CONTRACTS,
        "a_tagged_enum_flattened_into_a_closed_struct_can_never_be_read",
    ),
    (
        5,
        "serde reads none of its values",
        "tests/contracts/tests/refused.rs",
        "serde_reads_none_of_its_values_at_all",
    ),
    (
        6,
        "required by direction",
        CONTRACTS,
        "required_members_differ_by_direction",
    ),
    (
        6,
        "a default comes and goes",
        HERE,
        "a_default_that_comes_is_compatible_and_one_that_goes_breaks",
    ),
    (
        7,
        "the same values",
        CONTRACTS,
        "the_same_form_in_another_spelling_takes_the_same_values",
    ),
    (
        7,
        "no finding",
        HERE,
        "one_form_in_another_spelling_is_no_break",
    ),
    (
        8,
        "raw identifiers",
        CONTRACTS,
        "members_have_their_names_on_the_wire",
    ),
    (
        9,
        "include_str and concat in types",
        CONTRACTS,
        "descriptions_are_read_through_include_str_and_concat",
    ),
    (
        9,
        "what only the compiler knows",
        CONTRACTS,
        "a_doc_text_that_only_the_compiler_knows_is_reported",
    ),
    (
        9,
        "of a flow",
        HERE,
        "a_description_is_the_text_or_a_finding_and_never_empty",
    ),
    (
        10,
        "both names",
        CONTRACTS,
        "an_alias_is_taken_in_place_of_the_name_and_never_beside_it",
    ),
    (
        11,
        "overlapping variants",
        CONTRACTS,
        "untagged_variants_that_overlap_are_any_of",
    ),
    (
        12,
        "preserve_order and arbitrary_precision",
        "tests/fixtures/json-features/src/lib.rs",
        "a_manifest_is_the_same_bytes_whatever_serde_json_can_do",
    ),
    (
        13,
        "cargo package",
        "tests/packaged/src/lib.rs",
        "what_is_declared_is_embedded",
    ),
    (
        13,
        "CRLF sources",
        PACKAGE,
        "line_ends_and_the_order_of_files_do_not_change_the_manifest",
    ),
    (
        13,
        "a CRLF checkout of the manifest",
        "flowx-cli/tests/verbs.rs",
        "line_ends_of_a_checkout_do_not_make_a_manifest_stale",
    ),
    (
        13,
        "a CRLF checkout of the contracts",
        "flowx-cli/tests/registered.rs",
        "the_file_with_windows_line_ends_says_the_same",
    ),
    (
        14,
        "no null unions",
        CONTRACTS,
        "descriptors_have_no_null_and_no_recursion",
    ),
    (
        15,
        "cut",
        CONTRACTS,
        "descriptors_have_no_null_and_no_recursion",
    ),
    (
        15,
        "validated all the same",
        "tests/contracts/tests/portable.rs",
        "every_descriptor_keeps_to_the_profile_and_no_loss_goes_unsaid",
    ),
    (
        16,
        "stripped",
        "flowx-cli/tests/inspect.rs",
        "the_manifest_in_a_stripped_program_comes_out_verbatim_with_its_digest",
    ),
    (
        16,
        "or why not",
        "flowx-cli/tests/inspect.rs",
        "a_program_without_a_manifest_or_with_a_damaged_one_is_an_error_that_says_why",
    ),
    (
        17,
        "a library nobody names",
        "tests/fixtures/library-links/app/src/main.rs",
        "the_manifest_of_the_application_is_the_merge_of_all_three",
    ),
    (17, "compiled and hidden", "tests/lies/hidden-flow", "lie"),
    (
        18,
        "a macro with the attribute inside",
        HERE,
        "a_flow_inside_a_macro_is_never_a_manifest_with_zero_flows",
    ),
    (
        19,
        "schema",
        CONTRACTS,
        "members_have_their_names_on_the_wire",
    ),
    (
        19,
        "the advertised call",
        "tests/contracts/tests/portable.rs",
        "every_descriptor_keeps_to_the_profile_and_no_loss_goes_unsaid",
    ),
    (
        20,
        "a value in an attribute",
        "flowx-syntax/tests/grammar.rs",
        "a_typo_in_a_confirmation_opens_nothing",
    ),
    (
        20,
        "a key in an attribute",
        "flowx-syntax/tests/grammar.rs",
        "a_key_that_is_unknown_or_stands_twice_is_an_error_with_the_word_that_was_meant",
    ),
    (
        20,
        "a permission",
        "flowx-build/tests/rules.rs",
        "every_rule_fires_at_its_marks_and_nowhere_else_and_is_quiet_where_it_should_be",
    ),
    (
        20,
        "a rule in an allowance",
        "flowx-build/tests/rules.rs",
        "an_allowance_of_no_rule_of_a_firm_rule_or_of_nothing_is_an_error",
    ),
    (
        20,
        "a level in the configuration",
        "flowx-build/tests/rules.rs",
        "levels_are_configured_per_package_and_a_firm_rule_stays_an_error",
    ),
    (
        20,
        "flowx-allow.toml",
        "flowx-diff/tests/diff/allowances.rs",
        "what_is_reasonless_unknown_or_undated_is_an_error_of_its_own_and_covers_nothing",
    ),
    (
        20,
        "attribute, key, value and id in one crate",
        HERE,
        "a_typo_in_a_policy_is_an_error_that_says_what_was_meant",
    ),
    (
        20,
        "the stricter wins",
        "flowx-runtime/tests/gate/autonomy.rs",
        "no_rule_goes_past_the_declaration",
    ),
    (
        21,
        "hints from effects",
        HERE,
        "hints_follow_from_the_declared_effects_and_cannot_be_written_by_hand",
    ),
    (
        21,
        "an undeclared effect",
        "tests/ui/tests/packages.rs",
        "one_mistake_among_two_hundred_flows_is_one_error_at_its_line_and_the_rest_is_still_checked",
    ),
    (
        22,
        "alone",
        PACKAGE,
        "the_same_attribute_of_another_crate_is_left_alone",
    ),
    (
        22,
        "both in one crate",
        HERE,
        "an_attribute_of_another_crate_lives_beside_ours",
    ),
];

const HERE: &str = "flowx-cli/tests/cases.rs";
const CONTRACTS: &str = "flowx-build/tests/contracts.rs";
const PACKAGE: &str = "flowx-build/tests/package.rs";
/// How many cases there are.
const LAST: u8 = 22;

#[test]
fn every_case_has_a_test_that_is_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (case, part, file, test) in CASES {
        let path = top.join(file);
        if path.is_dir() {
            let file = match *test {
                "lie" => "expect.txt",
                other => panic!("case {case}, {part}: {other}"),
            };
            assert!(
                path.join(file).is_file(),
                "case {case}, {part}: {}",
                path.display()
            );
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        let at = text
            .find(&format!("fn {test}()"))
            .or_else(|| text.find(&format!("async fn {test}(")))
            .unwrap_or_else(|| panic!("case {case}, {part}: {file} has no test {test}"));
        // A test that runs over every store stands in a list by its name.
        if text[..at].contains(&format!("    {test},\n")) {
            continue;
        }
        let before = text[..at].trim_end();
        let attributes = before.rsplit("\n\n").next().unwrap_or_default();
        assert!(
            attributes.contains("#[test]") || attributes.contains("::test"),
            "case {case}, {part}: {test} is no test"
        );
    }
    for case in 1..=LAST {
        assert!(CASES.iter().any(|c| c.0 == case), "case {case} has no test");
    }
    assert!(CASES.iter().all(|c| (1..=LAST).contains(&c.0)));
}

const TOML: &str = "[package]\nname = 'desk'\nversion = '1.0.0'\nedition = '2024'\n\n[features]\nflows = []\n\n\
    [dependencies]\nflowx-runtime = '0.1'\nserde = '1'\nrusty-capability-attr = '1'\n";

/// A capability for flows to be made of.
const HEAD: &str = r#"use flowx_runtime::{Cx, FlowCx, FlowError, capability, flow};
flowx_runtime::include_manifest!();
#[derive(Debug, FlowError)]
pub enum No { #[flow_error(code = "no.no", category = Conflict)] No }
#[capability(id = "c.look", version = "1.0.0", authorization = authenticated, idempotent = true)]
async fn look(_cx: &Cx<look>, x: u8) -> Result<u8, No> { Ok(x) }
#[derive(serde::Serialize, serde::Deserialize)]
pub struct One { pub n: u8 }
"#;

/// A flow that agents may call. Its input is an object, as every host demands.
fn flow(id: &str, input: &str, output: &str) -> String {
    let name = id.replace('.', "_");
    format!(
        "/// Looks at one thing by its number, and gives it back.\n#[flow(id = \"{id}\", version = \"1.0.0\", deadline = \"PT5S\", \
         agent(), steps(look: look))]\nasync fn {name}(_cx: &FlowCx<{name}>, _input: {input}) -> Result<{output}, No> {{ Err(No::No) }}\n"
    )
}

/// The same for programs alone, which may take anything.
fn inner(id: &str, input: &str, output: &str) -> String {
    flow(id, input, output).replace("agent(), ", "")
}

/// A program of that source after [`HEAD`], in a repository with one commit.
fn program(source: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("Cargo.toml", TOML);
    sandbox.write("src/main.rs", &text(source));
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("first");
    sandbox
}

fn text(source: &str) -> String {
    format!("{HEAD}{source}\nfn main() {{}}\n")
}

#[track_caller]
fn manifest(sandbox: &Sandbox, with: &[&str]) -> Value {
    let mut args = vec!["manifest"];
    args.extend(with);
    sandbox.flowx(&args).ok().json()
}

fn check(sandbox: &Sandbox, with: &[&str]) -> Run {
    let mut args = vec!["check", "--format", "json"];
    args.extend(with);
    sandbox.flowx(&args)
}

/// `FLOWX1150 src/main.rs:12` of every error.
fn errors(run: &Run) -> Vec<String> {
    let of = |f: &Value| {
        format!(
            "{} {}:{}",
            f["id"].as_str().unwrap(),
            f["file"].as_str().unwrap(),
            f["line"]
        )
    };
    run.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["severity"] == "error")
        .map(of)
        .collect()
}

fn messages(run: &Run) -> String {
    run.json()["findings"].to_string()
}

fn of<'a>(manifest: &'a Value, section: &str, id: &str) -> &'a Value {
    manifest[section]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["id"] == id || e["name"] == id)
        .unwrap_or_else(|| panic!("no {id} among the {section}: {manifest:#}"))
}

fn line_of(source: &str, part: &str) -> usize {
    text(source).lines().position(|l| l.contains(part)).unwrap() + 1
}

/// The findings of a comparison of the last commit with the working tree that are more than a note.
fn changes(sandbox: &Sandbox) -> Vec<String> {
    let run = sandbox.flowx(&["diff", "git:HEAD", "--format", "json"]);
    assert!(run.code <= 1, "{}", run.stderr);
    run.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["class"] != "neutral")
        .map(|f| {
            format!(
                "{} {} {}",
                f["class"].as_str().unwrap(),
                f["subject"],
                f["pointer"]
            )
        })
        .collect()
}

// Case 1.

#[test]
fn two_types_of_one_short_name_are_two_contracts_of_their_flows() {
    let source = format!(
        "mod a {{ #[derive(serde::Deserialize)] pub struct Config {{ pub x: u8 }} }}\n\
         mod b {{ #[derive(serde::Deserialize)] pub struct Config {{ pub y: u8 }} }}\n{}{}",
        flow("f.f", "a::Config", "One"),
        flow("g.g", "b::Config", "One")
    );
    let manifest = manifest(&program(&source), &[]);
    for (id, contract, member) in [
        ("f.f", "crate::a::Config", "x"),
        ("g.g", "crate::b::Config", "y"),
    ] {
        assert_eq!(of(&manifest, "flows", id)["input"]["type"], contract);
        let schema = &of(&manifest, "contracts", contract)["request"];
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, [member]);
        let tool = of(&manifest, "tools", &id.replace('.', "_"));
        assert!(tool["inputSchema"]["properties"].get(member).is_some());
    }
    let text = manifest.to_string();
    assert!(
        !text.contains("Config2") && !text.contains("Config1"),
        "{text}"
    );
}

const SETTINGS_TOML: &str = "[package]\nname = 'settings'\nversion = '1.0.0'\nedition = '2024'\nlinks = 'flowx-settings'\n\
    [dependencies]\nflowx-runtime = '0.1'\nserde = '1'\n";

fn with_settings(source: &str, library: &str) -> Sandbox {
    let sandbox = program(source);
    let toml = TOML.replace(
        "[dependencies]\n",
        "[dependencies]\nsettings = { path = 'settings' }\n",
    );
    sandbox.write("Cargo.toml", &toml);
    sandbox.write("settings/Cargo.toml", SETTINGS_TOML);
    sandbox.write("settings/src/lib.rs", library);
    sandbox
}

#[test]
fn two_types_of_one_short_name_in_two_crates_are_two_contracts() {
    let source = format!(
        "#[derive(serde::Deserialize)] pub struct Config {{ pub x: u8 }}\n{}{}",
        flow("f.f", "Config", "One"),
        flow("g.g", "settings::Config", "One")
    );
    let library = "flowx_runtime::include_manifest!();\n#[derive(serde::Deserialize, serde::Serialize)] pub struct Config { pub y: u8 }\n";
    let manifest = manifest(&with_settings(&source, library), &[]);
    assert_eq!(
        of(&manifest, "flows", "f.f")["input"]["type"],
        "crate::Config"
    );
    assert_eq!(
        of(&manifest, "flows", "g.g")["input"]["type"],
        "settings::Config"
    );
    let member = |contract: &str, member: &str| {
        let contract = of(&manifest, "contracts", contract);
        let schema = contract.get("request").or(contract.get("schema")).unwrap();
        schema["properties"].get(member).is_some()
    };
    assert!(member("crate::Config", "x") && !member("crate::Config", "y"));
    assert!(member("settings::Config", "y") && !member("settings::Config", "x"));
}

#[test]
fn one_flow_id_in_two_crates_is_an_error_that_names_both_places() {
    let source = flow("f.f", "One", "One");
    let library = text(&flow("f.f", "One", "One"))
        .replace("c.look", "s.look")
        .replace("fn main() {}", "");
    let run = check(&with_settings(&source, &library), &[]).exits(1);
    assert!(
        errors(&run)
            .iter()
            .any(|e| e.starts_with("FLOWX1150 src/main.rs")),
        "{:?}",
        errors(&run)
    );
    let said = messages(&run);
    assert!(
        said.contains("f.f@1") && said.contains("settings"),
        "{said}"
    );
}

// Case 2.

const ALIASED: &str = "mod inner { #[derive(serde::Serialize, serde::Deserialize)] pub struct Real { pub n: u8 } }\n\
    pub use inner::*;\nuse inner::Real as Shown;\ntype A = B;\ntype B = Vec<Shown>;\ntype R<T> = Result<T, No>;\n";

fn aliased(input: &str, result: &str) -> String {
    let source = inner("f.f", input, "X").replace("Result<X, No>", result);
    format!("{ALIASED}{source}")
}

#[test]
fn aliases_renames_and_globs_in_a_flow_are_the_types_written_out() {
    let written_out = program(&aliased("Vec<inner::Real>", "Result<inner::Real, No>"));
    let plain = written_out.flowx(&["manifest"]).ok().stdout;
    assert!(
        plain.contains("crate::inner::Real") && plain.contains("no.no"),
        "{plain}"
    );
    for (input, result) in [
        ("A", "R<Shown>"),
        ("B", "R<Real>"),
        ("Vec<Shown>", "crate::R<crate::Real>"),
    ] {
        let other = program(&aliased(input, result)).flowx(&["manifest"]).ok();
        assert_eq!(other.stdout, plain, "{input} and {result}");
    }
}

#[test]
fn renaming_an_alias_is_no_diff() {
    let sandbox = program(&aliased("A", "R<Shown>"));
    let text = sandbox.read("src/main.rs");
    let renamed = text
        .replace("type A = B", "type Another = B")
        .replace("_input: A", "_input: Another")
        .replace("as Shown", "as Seen")
        .replace("Shown", "Seen");
    assert_ne!(renamed, text);
    sandbox.write("src/main.rs", &renamed);
    assert_eq!(changes(&sandbox), Vec::<String>::new());
}

#[test]
fn a_cyclic_pair_of_aliases_is_an_error_with_both_places() {
    let source = format!(
        "type A = Option<B>;\n\ntype B = Vec<A>;\n{}",
        flow("f.f", "A", "One")
    );
    let run = check(&program(&source), &[]).exits(1);
    assert!(
        errors(&run)
            .iter()
            .any(|e| e.starts_with("FLOWX1307 src/main.rs:")),
        "{:?}",
        errors(&run)
    );
    let said = messages(&run);
    for (name, part) in [("crate::A", "type A"), ("crate::B", "type B")] {
        let place = format!("`{name}` (src/main.rs:{})", line_of(&source, part));
        assert!(said.contains(&place), "{place} is not in {said}");
    }
}

// Case 3.

#[test]
fn a_marker_under_cfg_attr_is_there_with_its_feature_and_only_then() {
    let marked = flow("x.x", "One", "One")
        .replace("#[flow(", "#[cfg_attr(feature = \"flows\", flow(")
        .replace("look))]", "look)))]");
    let other = flow("y.y", "One", "One");
    let sandbox = program(&format!("{marked}{other}"));
    let ids = |with: &[&str]| -> Vec<String> {
        manifest(&sandbox, with)["flows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&[]), ["y.y"]);
    assert_eq!(ids(&["--features", "flows"]), ["x.x", "y.y"]);
}

#[test]
fn a_field_under_a_target_is_there_on_that_target_and_only_there() {
    let source = format!(
        "#[derive(serde::Deserialize)] pub struct Input {{ a: u8, #[cfg(target_os = \"linux\")] b: u8 }}\n{}",
        flow("f.f", "Input", "One")
    );
    let sandbox = program(&source);
    let names = |target: &str| -> Vec<String> {
        let manifest = manifest(&sandbox, &["--target", target]);
        let schema = &of(&manifest, "contracts", "crate::Input")["request"];
        schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(names("x86_64-unknown-linux-gnu"), ["a", "b"]);
    assert_eq!(names("x86_64-pc-windows-msvc"), ["a"]);
}

#[test]
fn a_cfg_that_nobody_has_told_of_is_a_finding_and_never_a_guess() {
    let source = format!(
        "#[derive(serde::Deserialize)]\npub struct Input {{\n    a: u8,\n    #[cfg(has_thing)]\n    b: u8,\n}}\n{}#[cfg(has_thing)]\n{}",
        flow("f.f", "Input", "One"),
        flow("g.g", "One", "One")
    );
    let sandbox = program(&source);
    let run = check(&sandbox, &[]).exits(1);
    let codes: Vec<String> = errors(&run).iter().map(|e| e[..9].to_owned()).collect();
    assert!(codes.contains(&"FLOWX1308".to_owned()), "{codes:?}");
    assert!(codes.contains(&"FLOWX1120".to_owned()), "{codes:?}");
    assert!(messages(&run).contains("has_thing"));
    // Once it is told, either way, there is nothing to guess.
    let of_cfg = |cfg: &str| {
        let manifest = manifest(&sandbox, &["--cfg", cfg]);
        (
            manifest["flows"].as_array().unwrap().len(),
            of(&manifest, "contracts", "crate::Input")["request"]["properties"]
                .as_object()
                .unwrap()
                .len(),
        )
    };
    assert_eq!(of_cfg("has_thing"), (2, 2));
    assert_eq!(of_cfg("!has_thing"), (1, 1));
}

// Case 4.

#[test]
fn a_macro_whose_expansion_declares_is_told_with_its_place() {
    let source = format!(
        "macro_rules! gen {{\n    ($name:ident) => {{\n        #[flow(id = \"x.x\", version = \"1.0.0\", steps(look: look))]\n        \
         async fn $name(_cx: &FlowCx<$name>, _x: u8) -> Result<(), No> {{ Err(No::No) }}\n    }};\n}}\ngen!(made);\n{}",
        flow("f.f", "One", "One")
    );
    let run = check(&program(&source), &[]).exits(1);
    let place = format!(
        "FLOWX1131 src/main.rs:{}",
        line_of(&source, "macro_rules! gen")
    );
    let near = format!("FLOWX1131 src/main.rs:{}", line_of(&source, "id = \"x.x\""));
    let found = errors(&run);
    assert!(found.contains(&place) || found.contains(&near), "{found:?}");
}

#[test]
fn a_parameter_whose_type_a_macro_makes_is_told_with_its_place() {
    let source = format!(
        "macro_rules! make {{ ($n:ident) => {{ #[derive(serde::Deserialize)] pub struct $n {{ x: u8 }} }}; }}\nmake!(Input);\n{}",
        flow("f.f", "Input", "One")
    );
    let run = check(&program(&source), &[]).exits(1);
    let found = errors(&run);
    assert!(
        found
            .iter()
            .any(|e| e.starts_with("FLOWX1318 src/main.rs:")),
        "{found:?}"
    );
    assert!(messages(&run).contains("make!"), "{}", messages(&run));
}

// Case 6.

#[test]
fn a_default_that_comes_is_compatible_and_one_that_goes_breaks() {
    let source = format!(
        "#[derive(serde::Deserialize)] pub struct Input {{ pub a: u32, pub b: u8 }}\n{}",
        flow("f.f", "Input", "One")
    );
    let sandbox = program(&source);
    sandbox.edit("src/main.rs", "pub a: u32", "#[serde(default)] pub a: u32");
    let came = changes(&sandbox);
    assert!(
        !came.is_empty() && came.iter().all(|c| !c.starts_with("breaking")),
        "{came:?}"
    );
    sandbox.commit("a default");
    sandbox.edit("src/main.rs", "#[serde(default)] pub a", "pub a");
    let gone = changes(&sandbox);
    assert!(gone.iter().any(|c| c.starts_with("breaking")), "{gone:?}");
}

// Case 7.

#[test]
fn one_form_in_another_spelling_is_no_break() {
    let plain = "#[derive(serde::Serialize, serde::Deserialize)] pub struct Both { pub a: u8, pub b: Mode }\n\
        #[derive(serde::Serialize, serde::Deserialize)] pub enum Mode { On, Off }\n";
    for (what, other) in [
        (
            "the enum has another name, in another module",
            "mod m { #[derive(serde::Serialize, serde::Deserialize)] pub enum State { On, Off } }\n\
             #[derive(serde::Serialize, serde::Deserialize)] pub struct Both { pub a: u8, pub b: m::State }\n",
        ),
        (
            "a transparent newtype",
            "#[derive(serde::Serialize, serde::Deserialize)] #[serde(transparent)] pub struct Small(u8);\n\
             #[derive(serde::Serialize, serde::Deserialize)] pub struct Both { pub a: Small, pub b: Mode }\n\
             #[derive(serde::Serialize, serde::Deserialize)] pub enum Mode { On, Off }\n",
        ),
        (
            "split in two with flatten",
            "#[derive(serde::Serialize, serde::Deserialize)] pub struct Both { #[serde(flatten)] pub rest: Rest, pub b: Mode }\n\
             #[derive(serde::Serialize, serde::Deserialize)] pub struct Rest { pub a: u8 }\n\
             #[derive(serde::Serialize, serde::Deserialize)] pub enum Mode { On, Off }\n",
        ),
    ] {
        let flow = flow("f.f", "Both", "Both");
        let sandbox = program(&format!("{plain}{flow}"));
        for (from, to) in [(plain, other), (other, plain)] {
            sandbox.write("src/main.rs", &text(&format!("{from}{flow}")));
            sandbox.git(&["add", "-A"]);
            sandbox.git(&["commit", "-q", "--allow-empty", "-m", "from"]);
            sandbox.write("src/main.rs", &text(&format!("{to}{flow}")));
            let found = changes(&sandbox);
            assert!(found.is_empty(), "{what}: {found:?}");
        }
    }
}

// Case 9.

#[test]
fn a_description_is_the_text_or_a_finding_and_never_empty() {
    let described = |doc: &str| {
        flow("f.f", "One", "One").replace(
            "/// Looks at one thing by its number, and gives it back.",
            doc,
        )
    };
    let included = described("#[doc = include_str!(\"x.md\")]");
    let sandbox = program(&included);
    sandbox.write("src/x.md", "Looks at one thing, by its number.\n\nWell.\n");
    let description = |sandbox: &Sandbox| {
        of(&manifest(sandbox, &[]), "tools", "f_f")["description"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        description(&sandbox),
        "Looks at one thing, by its number.\n\nWell."
    );
    let joined = program(&described(
        "#[doc = concat!(\"Looks at one thing, \", \"by its number.\")]",
    ));
    assert_eq!(description(&joined), "Looks at one thing, by its number.");
    for (doc, code) in [
        ("#[doc = include_str!(\"missing.md\")]", "FLOWX1135"),
        ("#[doc = text!()]", "FLOWX1135"),
        ("", "FLOWX1173"),
    ] {
        let run = check(&program(&described(doc)), &[]).exits(1);
        let found = errors(&run);
        assert!(
            found.iter().any(|e| e.starts_with(code)),
            "{doc}: {found:?}"
        );
    }
}

// Case 18.

#[test]
fn a_flow_inside_a_macro_is_never_a_manifest_with_zero_flows() {
    let source = "macro_rules! probe { ($b:literal) => { #[flow(id = \"probe\", version = \"1.0.0\")] async fn probe(_cx: &FlowCx<probe>) -> Result<(), No> { Err(No::No) } } }\n\
        mod tools { probe!(\"x\"); }";
    let sandbox = program(source);
    let run = check(&sandbox, &[]).exits(1);
    let place = format!(
        "FLOWX1131 src/main.rs:{}",
        line_of(source, "macro_rules! probe")
    );
    assert!(errors(&run).contains(&place), "{:?}", errors(&run));
    let run = sandbox.flowx(&["manifest"]);
    assert_ne!(run.code, 0);
    assert!(run.stdout.is_empty(), "{}", run.stdout);
}

// Case 20.

#[test]
fn a_typo_in_a_policy_is_an_error_that_says_what_was_meant() {
    let right = "#[flow(id = \"f.f\", version = \"1.0.0\", deadline = \"PT5S\", agent(confirmation = always), steps(look: look))]";
    for (typo, meant) in [
        (right.replace("always", "alwyas"), "always"),
        (
            right.replace("confirmation =", "confirmaton ="),
            "confirmation",
        ),
        (right.replace("deadline =", "deadlin ="), "deadline"),
        (
            format!("{right}\n#[flowx_runtime::allow(FLOWX1064, reason = \"x\")]"),
            "FLOWX1",
        ),
    ] {
        let body = "/// Looks at one thing by its number, and gives it back.\nATTR\nasync fn f(_cx: &FlowCx<f>, _x: One) -> Result<One, No> { Err(No::No) }\n";
        let run = check(&program(&body.replace("ATTR", &typo)), &[]).exits(1);
        let said = messages(&run);
        assert!(!errors(&run).is_empty(), "{typo}: {said}");
        assert!(
            said.contains("did you mean") && said.contains(meant),
            "{typo}: {said}"
        );
    }
    // An agent that may call what is no flow.
    let agent = format!(
        "{}#[flowx_runtime::agent(id = \"bot\", purpose = \"x\", sponsor = \"y\", alone(f_ff))] pub struct Bot;\n",
        flow("f.f", "One", "One")
    );
    let run = check(&program(&agent), &[]).exits(1);
    assert!(messages(&run).contains("f_ff"), "{}", messages(&run));
}

// Case 21.

#[test]
fn hints_follow_from_the_declared_effects_and_cannot_be_written_by_hand() {
    let with = |class: &str| {
        let source = format!(
            "#[flowx_runtime::effect(id = \"thing\", class = {class})] pub struct Thing;\n\
             #[capability(id = \"c.touch\", version = \"1.0.0\", authorization = authenticated, effects(Thing), idempotent = false)]\n\
             async fn touch(cx: &Cx<touch>, x: u8) -> Result<u8, No> {{ let _ = cx.effect::<Thing>(); Ok(x) }}\n{}",
            flow("f.f", "One", "One").replace("look: look", "look: look, touch: touch")
        );
        let manifest = manifest(&program(&source), &[]);
        of(&manifest, "tools", "f_f")["annotations"].clone()
    };
    let hints = |annotations: &Value| {
        (
            annotations["readOnlyHint"].as_bool(),
            annotations["sideEffects"].to_string(),
        )
    };
    assert_eq!(hints(&with("reads")).0, Some(true));
    for class in ["changes", "sends", "spends"] {
        let (read_only, effects) = hints(&with(class));
        assert_ne!(read_only, Some(true), "{class}");
        assert!(
            effects.contains("thing") || effects == "true",
            "{class}: {effects}"
        );
    }
    let run = check(
        &program(&flow("f.f", "One", "One").replace("agent()", "agent(read_only = true)")),
        &[],
    )
    .exits(1);
    assert!(
        errors(&run).iter().any(|e| e.starts_with("FLOWX1104")),
        "{:?}",
        errors(&run)
    );
}

// Case 22.

#[test]
fn an_attribute_of_another_crate_lives_beside_ours() {
    let source = format!(
        "mod theirs {{ use rusty_capability_attr::capability;\n#[capability(Read, path = \"x\")]\npub fn read() {{}}\n}}\n\
         #[rusty_capability_attr::capability(Write)]\nfn write() {{}}\n{}",
        flow("f.f", "One", "One")
    );
    let manifest = manifest(&program(&source), &[]);
    let ids: Vec<&str> = manifest["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["c.look"]);
}
