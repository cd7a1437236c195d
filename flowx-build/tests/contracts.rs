//! Schemas of single shapes, written out, and the refusals with their codes. `tests/contracts` holds them against serde.
#![allow(clippy::unwrap_used)]

use flowx_build::contracts::{Code, Contracts, Finding, SingleFile};
use flowx_build::project::{LossKind, complaints, portable};
use flowx_manifest::{Contract, Direction, Json, Manifest, TypeRef, closure};
use serde_json::{Value, json};

struct Seen {
    reference: TypeRef,
    contracts: Vec<Contract>,
    findings: Vec<Finding>,
}

impl Seen {
    fn schema(&self, id: &str) -> Value {
        let contract = self
            .contracts
            .iter()
            .find(|c| c.id == id)
            .unwrap_or_else(|| panic!("no contract {id}"));
        contract
            .request
            .as_ref()
            .or(contract.response.as_ref())
            .or(contract.schema.as_ref())
            .map(Json::to_value)
            .unwrap()
    }

    fn codes(&self) -> Vec<Code> {
        self.findings.iter().map(|f| f.code).collect()
    }
}

fn see(source: &str, ty: &str, direction: Direction) -> Seen {
    let file = SingleFile::parse("lib.rs", source).unwrap();
    let contracts = Contracts::new(&file);
    let reference = contracts.contract(SingleFile::ROOT, &syn::parse_str(ty).unwrap(), direction);
    let (contracts, findings) = contracts.finish();
    Seen {
        reference,
        contracts,
        findings,
    }
}

fn read(source: &str, ty: &str) -> Seen {
    see(source, ty, Direction::Request)
}

fn written(source: &str, ty: &str) -> Seen {
    see(source, ty, Direction::Response)
}

#[test]
fn the_input_of_the_example_is_exact_and_names_its_sensitive_member() {
    let seen = read(
        "use flowx_runtime::Sensitive; use serde::Deserialize;
         /// A refund.
         #[derive(Deserialize)] #[serde(deny_unknown_fields)]
         struct IssueRefund {
             /// The ticket.
             ticket_id: TicketId, amount_cents: u64, cardholder_reference: Sensitive<String>, note: Option<String> }
         #[derive(Deserialize)] struct TicketId(String);",
        "IssueRefund",
    );
    assert!(seen.findings.is_empty(), "{:?}", seen.findings);
    assert_eq!(seen.reference.name, "crate::IssueRefund");
    assert_eq!(
        seen.reference.sensitive.iter().collect::<Vec<_>>(),
        ["/cardholder_reference"]
    );
    assert_eq!(
        seen.schema("crate::IssueRefund"),
        json!({
            "type": "object",
            "description": "A refund.",
            "properties": {
                "ticket_id": { "$ref": "#/$defs/crate::TicketId", "description": "The ticket." },
                "amount_cents": { "type": "integer", "minimum": 0, "maximum": u64::MAX },
                "cardholder_reference": { "type": "string", "writeOnly": true },
                "note": { "type": ["string", "null"] },
            },
            "required": ["amount_cents", "cardholder_reference", "ticket_id"],
            "additionalProperties": false,
        })
    );
    assert_eq!(seen.schema("crate::TicketId"), json!({ "type": "string" }));
}

#[test]
fn a_sensitive_value_in_an_output_is_reported() {
    let source = "use flowx_runtime::Sensitive; use serde::Serialize;
        #[derive(Serialize)] struct Card { number: Sensitive<String> }
        #[derive(Serialize)] struct Page { cards: Vec<Card> }";
    let seen = written(source, "Page");
    assert_eq!(seen.codes(), [Code::SensitiveOutput]);
    assert_eq!(
        seen.reference.sensitive.iter().collect::<Vec<_>>(),
        ["/cards/*/number"]
    );
}

#[test]
fn two_types_of_one_short_name_stay_two_contracts() {
    let source = "use serde::Deserialize; mod a { use serde::Deserialize; #[derive(Deserialize)] pub struct Config { x: u8 } }
        mod b { #[derive(serde::Deserialize)] pub struct Config { y: u8 } }
        #[derive(Deserialize)] struct Both { a: a::Config, b: b::Config }";
    let seen = read(source, "Both");
    let ids: Vec<&str> = seen.contracts.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, ["crate::Both", "crate::a::Config", "crate::b::Config"]);
    assert!(
        seen.schema("crate::a::Config")["properties"]
            .get("x")
            .is_some()
    );
    assert!(
        seen.schema("crate::b::Config")["properties"]
            .get("y")
            .is_some()
    );
}

/// The request document of a type, standing alone.
fn document(source: &str, ty: &str, direction: Direction) -> Json {
    let seen = see(source, ty, direction);
    assert!(seen.findings.is_empty(), "{:?}", seen.findings);
    let manifest = Manifest {
        contracts: seen.contracts,
        ..serde_json::from_value(json!({
            "$schema": "", "schemaVersion": "1.0.0", "application": { "name": "x", "version": "1.0.0" }, "effects": [],
            "capabilities": [], "flows": [], "events": [], "agents": [], "entities": [], "contracts": [], "tools": []
        }))
        .unwrap()
    };
    closure(&manifest, &seen.reference.name, direction).unwrap()
}

fn accepts(schema: &Json, value: Value) -> bool {
    jsonschema::draft202012::new(&schema.to_value())
        .unwrap()
        .is_valid(&value)
}

// Case 2 of the public reports: renames, aliases and globs.
#[test]
fn aliases_renames_and_globs_give_the_schema_of_the_type_written_out() {
    let source = "pub use inner::*; use inner::Real as Shown; type A = B; type B = Vec<Shown>;
        mod inner { #[derive(serde::Serialize, serde::Deserialize)] pub struct Real { n: u8 } }";
    let out = document(source, "Vec<inner::Real>", Direction::Request);
    for name in ["A", "B", "Vec<Shown>", "Vec<Real>"] {
        assert_eq!(document(source, name, Direction::Request), out, "{name}");
    }
    assert_eq!(
        read(source, "A").reference.name,
        "Vec<crate::inner::Real>",
        "the name of an alias is no part of a contract"
    );
}

#[test]
fn a_cycle_of_aliases_is_an_error_that_names_both() {
    let seen = read("type A = Vec<B>; type B = Option<A>;", "A");
    assert_eq!(seen.codes(), [Code::Cycle]);
    let message = &seen.findings[0].message;
    assert!(
        message.contains("crate::A") && message.contains("crate::B"),
        "{message}"
    );
}

// Case 5: what serde refuses whatever it is given.
#[test]
fn a_tagged_enum_flattened_into_a_closed_struct_can_never_be_read() {
    let source = "use serde::*; #[derive(Deserialize)] #[serde(deny_unknown_fields)] struct S { a: u8, #[serde(flatten)] e: E }
        #[derive(Deserialize)] #[serde(tag = \"t\")] enum E { A { x: u8 }, B }";
    assert_eq!(read(source, "S").codes(), [Code::NeverReadable]);
    let open = source.replace("#[serde(deny_unknown_fields)]", "");
    assert!(read(&open, "S").findings.is_empty());
}

// Case 6: what is required depends on the direction.
#[test]
fn required_members_differ_by_direction() {
    let source =
        "use serde::*; #[derive(Serialize, Deserialize)] struct S { #[serde(default)] a: u32,
        #[serde(default, skip_serializing_if = \"Vec::is_empty\")] b: Vec<u8>, c: Option<u32>,
        #[serde(skip_serializing_if = \"Vec::is_empty\")] d: Vec<u8> }";
    assert_eq!(
        read(source, "S").schema("crate::S")["required"],
        json!(["d"])
    );
    assert_eq!(
        written(source, "S").schema("crate::S")["required"],
        json!(["a", "c"])
    );
}

// Case 7: one form in three spellings.
#[test]
fn the_same_form_in_another_spelling_takes_the_same_values() {
    let plain = document(
        "use serde::*; #[derive(Deserialize)] struct S { a: u8, b: String }",
        "S",
        Direction::Request,
    );
    let newtype = document(
        "use serde::*; #[derive(Deserialize)] struct S { a: N, b: String } #[derive(Deserialize)] #[serde(transparent)] struct N(u8);",
        "S",
        Direction::Request,
    );
    let split = document(
        "use serde::*; #[derive(Deserialize)] struct S { a: u8, #[serde(flatten)] rest: R } #[derive(Deserialize)] struct R { b: String }",
        "S",
        Direction::Request,
    );
    assert_eq!(
        plain.get("properties"),
        split.get("properties"),
        "flattened structs leave no trace"
    );
    assert_eq!(plain.get("required"), split.get("required"));
    for value in [
        json!({ "a": 1, "b": "x" }),
        json!({ "a": 256, "b": "x" }),
        json!({ "a": 1 }),
        json!({ "b": "x" }),
        json!([1, "x"]),
    ] {
        assert_eq!(
            accepts(&plain, value.clone()),
            accepts(&newtype, value.clone()),
            "{value}"
        );
        assert_eq!(
            accepts(&plain, value.clone()),
            accepts(&split, value.clone()),
            "{value}"
        );
    }
}

// Case 8 and 19: the name on the wire.
#[test]
fn members_have_their_names_on_the_wire() {
    let source = "use serde::*; #[derive(Deserialize)] struct S { r#type: u8, #[serde(rename = \"sku\")] product_id: String }";
    let schema = read(source, "S").schema("crate::S");
    assert_eq!(schema["required"], json!(["sku", "type"]));
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["sku", "type"]);
}

// Case 9: a description is the text, or a finding, and never empty without a word.
#[test]
fn descriptions_are_read_through_include_str_and_concat() {
    let source = r##"use serde::*; #[doc = include_str!("x.md")] #[derive(Deserialize)] struct S { #[doc = concat!("a ", "b")] a: u8 }"##;
    let file = SingleFile::parse("lib.rs", source)
        .unwrap()
        .with_text("x.md", "# Title\n\n  indented\n");
    let contracts = Contracts::new(&file);
    contracts.contract(
        SingleFile::ROOT,
        &syn::parse_str("S").unwrap(),
        Direction::Request,
    );
    let (contracts, findings) = contracts.finish();
    assert!(findings.is_empty(), "{findings:?}");
    let schema = contracts[0].request.as_ref().unwrap().to_value();
    assert_eq!(schema["description"], "# Title\n\n indented");
    assert_eq!(schema["properties"]["a"]["description"], "a b");
}

#[test]
fn a_doc_text_that_only_the_compiler_knows_is_reported() {
    let source = r#"use serde::*; #[doc = include_str!("missing.md")] #[derive(Deserialize)] struct S { #[doc = some_macro!()] a: u8 }"#;
    assert_eq!(read(source, "S").codes(), [Code::Doc, Code::Doc]);
}

// Case 10: serde takes both names, once.
#[test]
fn an_alias_is_taken_in_place_of_the_name_and_never_beside_it() {
    let schema = document(
        "use serde::*; #[derive(Deserialize)] struct S { #[serde(alias = \"old\")] new: u8 }",
        "S",
        Direction::Request,
    );
    assert!(accepts(&schema, json!({ "new": 1 })));
    assert!(accepts(&schema, json!({ "old": 1 })));
    assert!(!accepts(&schema, json!({ "old": 1, "new": 1 })));
    assert!(!accepts(&schema, json!({})));
}

// Case 11: overlapping variants.
#[test]
fn untagged_variants_that_overlap_are_any_of() {
    let source = "use serde::*; #[derive(Deserialize)] #[serde(untagged)] enum E { A { a: u8 }, B { a: u8, b: Option<u8> } }";
    let schema = document(source, "E", Direction::Request);
    assert!(schema.get("anyOf").is_some());
    assert!(
        accepts(&schema, json!({ "a": 1, "b": 2 })),
        "both hold, and serde takes the first"
    );
}

// Case 14 and 15: what hosts refuse.
#[test]
fn descriptors_have_no_null_and_no_recursion() {
    let source = "use serde::*; #[derive(Serialize, Deserialize)] struct Node { value: Option<u8>, children: Vec<Node>, up: Option<Box<Node>> }";
    let seen = read(source, "Node");
    let (schema, losses) = portable(&seen.contracts, "crate::Node", Direction::Request);
    assert!(complaints(&schema).is_empty(), "{:?}", complaints(&schema));
    let text = schema.to_canonical();
    assert!(!text.contains("null") && !text.contains("$ref"), "{text}");
    assert!(losses.iter().any(|l| l.kind == LossKind::Cut), "{losses:?}");
}

#[test]
fn a_tuple_of_two_types_in_a_needed_member_cannot_be_offered() {
    let seen = read(
        "use serde::*; #[derive(Deserialize)] struct S { pair: (u8, String) }",
        "S",
    );
    let (_, losses) = portable(&seen.contracts, "crate::S", Direction::Request);
    assert!(
        losses
            .iter()
            .any(|l| l.kind == LossKind::Untellable && l.pointer == "/pair" && l.is_error()),
        "{losses:?}"
    );
}

/// Every code, a source that has it, and the same mended.
#[test]
fn every_refusal_fires_and_is_quiet_on_what_is_mended() {
    let cases: &[(Code, &str, &str)] = &[
        (
            Code::Unresolved,
            "#[derive(serde::Deserialize)] struct S { a: Nowhere }",
            "#[derive(serde::Deserialize)] struct S { a: u8 }",
        ),
        (
            Code::Attribute,
            "#[derive(serde::Deserialize)] #[serde(renam = \"x\")] struct S { a: u8 }",
            "#[derive(serde::Deserialize)] #[serde(rename = \"x\")] struct S { a: u8 }",
        ),
        (
            Code::NotDerived,
            "struct S { a: u8 } impl<'de> serde::Deserialize<'de> for S {}",
            "#[derive(serde::Deserialize)] struct S { a: u8 }",
        ),
        (
            Code::With,
            "#[derive(serde::Deserialize)] struct S { #[serde(with = \"m\")] a: u8 }",
            "#[derive(serde::Deserialize)] struct S { #[serde(with = \"m\")] #[schemars(with = \"u8\")] a: u8 }",
        ),
        (
            Code::Computed,
            "#[derive(serde::Deserialize)] struct S { #[schemars(range(min = MIN))] a: u8 }",
            "#[derive(serde::Deserialize)] struct S { #[schemars(range(min = 1))] a: u8 }",
        ),
        (
            Code::Foreign,
            "use other::Thing; #[derive(serde::Deserialize)] struct S { a: Thing }",
            "use uuid::Uuid; #[derive(serde::Deserialize)] struct S { a: Uuid }",
        ),
        (
            Code::NoForm,
            "#[derive(serde::Deserialize)] struct S { a: fn() }",
            "#[derive(serde::Deserialize)] struct S { #[serde(skip)] a: fn() }",
        ),
        (Code::Cycle, "type S = Vec<S>;", "type S = Vec<u8>;"),
        (
            Code::MapKey,
            "#[derive(serde::Deserialize)] struct S { a: HashMap<Vec<u8>, u8> }",
            "#[derive(serde::Deserialize)] struct S { a: HashMap<u8, u8> }",
        ),
        (
            Code::NeverReadable,
            "#[derive(serde::Deserialize)] #[serde(tag = \"t\")] enum S { A(u8) }",
            "#[derive(serde::Deserialize)] #[serde(tag = \"t\")] enum S { A { n: u8 } }",
        ),
        (
            Code::Buffered,
            "#[derive(serde::Deserialize)] #[serde(untagged)] enum S { A(u128) }",
            "#[derive(serde::Deserialize)] enum S { A(u128) }",
        ),
        (
            Code::NameClash,
            "#[derive(serde::Deserialize)] struct S { a: u8, #[serde(rename = \"a\")] b: u8 }",
            "#[derive(serde::Deserialize)] struct S { a: u8, b: u8 }",
        ),
        (
            Code::Flatten,
            "#[derive(serde::Deserialize)] #[serde(deny_unknown_fields)] struct S { #[serde(flatten)] a: Option<T> } #[derive(serde::Deserialize)] struct T { x: u8 }",
            "#[derive(serde::Deserialize)] struct S { #[serde(flatten)] a: Option<T> } #[derive(serde::Deserialize)] struct T { x: u8 }",
        ),
        (
            Code::Length,
            "#[derive(serde::Deserialize)] struct S { a: [u8; size()] }",
            "const N: usize = 2; #[derive(serde::Deserialize)] struct S { a: [u8; N] }",
        ),
        (
            Code::Generic,
            "#[derive(serde::Deserialize)] struct G<T> { a: T } type S = G;",
            "#[derive(serde::Deserialize)] struct G<T> { a: T } type S = G<u8>;",
        ),
        (
            Code::Macro,
            "#[derive(serde::Deserialize)] struct S { a: made!() }",
            "#[derive(serde::Deserialize)] struct S { a: u8 }",
        ),
        (
            Code::Doc,
            "#[doc = made!()] #[derive(serde::Deserialize)] struct S { a: u8 }",
            "/// Text.\n#[derive(serde::Deserialize)] struct S { a: u8 }",
        ),
    ];
    for (code, bad, good) in cases {
        let seen = read(bad, "S");
        assert!(
            seen.codes().contains(code),
            "{code} did not fire: {:?}",
            seen.findings
        );
        let finding = seen.findings.iter().find(|f| f.code == *code).unwrap();
        assert!(!finding.message.is_empty() && !finding.help.is_empty());
        let seen = read(good, "S");
        assert!(
            seen.findings.is_empty(),
            "{code} on what is mended: {:?}",
            seen.findings
        );
    }
    let shown: std::collections::BTreeSet<Code> = cases.iter().map(|c| c.0).collect();
    // The scan's own `cfg` gives 1308, an output 1310; both have tests of their own.
    let elsewhere = [Code::Cfg, Code::SensitiveOutput];
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|c| !shown.contains(c) && !elsewhere.contains(c))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_part_that_a_direction_does_not_reach_is_nobodys_trouble() {
    let source = "#[derive(serde::Serialize, serde::Deserialize)] struct S { #[serde(serialize_with = \"odd\")] a: u8 }";
    assert!(read(source, "S").findings.is_empty());
    assert_eq!(written(source, "S").codes(), [Code::With]);
}

#[test]
fn what_a_descriptor_tells_of_numbers_and_leaves_out_of_conditions_is_listed() {
    let told = |members: &str, more: &str| {
        let source =
            format!("use serde::*; #[derive(Deserialize)] struct In {{ {members} }} {more}");
        let seen = read(&source, "In");
        assert!(seen.findings.is_empty(), "{source}: {:?}", seen.findings);
        let (schema, losses) = portable(&seen.contracts, "crate::In", Direction::Request);
        assert_eq!(complaints(&schema), Vec::<String>::new());
        let wider: Vec<String> = losses
            .iter()
            .filter(|l| l.kind == LossKind::Wider)
            .map(|l| format!("{} {}", l.pointer, l.message))
            .collect();
        let member = schema.pointer("/properties/a").map(Json::to_value);
        (member.unwrap_or_default(), wider)
    };
    let either = |variants: &str| {
        let more = format!("#[derive(Deserialize)] #[serde(untagged)] enum E {{ {variants} }}");
        told("a: E", &more)
    };
    // Bounds up to 64 bits are told; ranges that meet are one range, and nothing is lost.
    let (member, lost) = told("a: u64", "");
    assert_eq!(
        (member, lost.len()),
        (
            json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX }),
            0
        )
    );
    let (member, lost) = either("Low(u8), High(i16)");
    assert_eq!(
        (member, lost.len()),
        (
            json!({ "type": "integer", "minimum": -32768, "maximum": 32767 }),
            0
        )
    );
    let (member, lost) = either("Whole(u8), Any(f64)");
    assert_eq!((member, lost.len()), (json!({ "type": "number" }), 0));
    // Each of these says more than is taken, and says so.
    let range = |text: &str| format!("#[schemars(range({text}))]");
    for (what, (member, lost)) in [
        ("/a a bound beyond 64 bits", told("a: u128", "")),
        (
            "/a of several ranges",
            either(&format!(
                "Low({} u8), High({} u8)",
                range("max = 5"),
                range("min = 10")
            )),
        ),
        (
            "/a of several ranges",
            either(&format!(
                "Whole(u8), Any({} f64)",
                range("min = 0.5, max = 1.5")
            )),
        ),
        ("/a the places of a tuple", told("a: (u8, i16)", "")),
        (
            "/a the condition `multipleOf`",
            told("#[schemars(extend(\"multipleOf\" = 5))] a: u8", ""),
        ),
        (
            "/a the condition `uniqueItems`",
            told("#[schemars(extend(\"uniqueItems\" = true))] a: Vec<u8>", ""),
        ),
    ] {
        assert!(
            lost.len() == 1 && lost[0].starts_with(what),
            "{what}: {member}: {lost:?}"
        );
    }
    // An annotation binds nobody.
    assert!(
        told("#[schemars(extend(\"x-unit\" = \"cents\"))] a: u8", "")
            .1
            .is_empty()
    );
}

#[test]
fn an_option_described_as_what_it_holds_is_read_from_null_and_may_be_missing() {
    let source = r#"use serde::*; #[derive(Serialize, Deserialize, schemars::JsonSchema)] struct T {
        #[serde(skip_serializing_if = "Option::is_none")] #[schemars(with = "bool")] a: Option<bool>,
        #[schemars(with = "bool")] b: Option<bool>,
        #[serde(with = "module")] #[schemars(with = "bool")] c: Option<bool> }"#;
    let request = read(source, "T").schema("crate::T");
    let maybe = json!({ "type": ["boolean", "null"] });
    let properties = json!({ "a": maybe, "b": maybe, "c": { "type": "boolean" } });
    assert_eq!(request["properties"], properties);
    // Functions of one's own are asked for the member even where nothing is there.
    assert_eq!(request["required"], json!(["c"]));
    let response = written(source, "T").schema("crate::T");
    let properties = json!({ "a": { "type": "boolean" }, "b": maybe, "c": { "type": "boolean" } });
    assert_eq!(response["properties"], properties);
    assert_eq!(response["required"], json!(["b", "c"]));
}
