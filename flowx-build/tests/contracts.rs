//! Schemas of single shapes, written out, and the refusals with their codes. `tests/contracts` holds them against serde.
#![allow(clippy::unwrap_used)]

use flowx_build::contracts::{Code, Contracts, Finding, SingleFile};
use flowx_manifest::{Contract, Direction, Json, TypeRef};
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
