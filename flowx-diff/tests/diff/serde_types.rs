//! The tables on compiled types: what serde itself does, beside what the comparison says.

use flowx_diff::inclusion::{Budget, Verdict, check};
use flowx_diff::sample;
use flowx_manifest::{Direction, Json};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, generate::SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

fn request<T: JsonSchema>() -> Json {
    let generator: SchemaGenerator = SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator();
    Json::from_value(generator.into_root_schema_for::<T>().as_value())
}

fn response<T: JsonSchema>() -> Json {
    let generator: SchemaGenerator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    Json::from_value(generator.into_root_schema_for::<T>().as_value())
}

/// Whether the reader takes everything that the writer writes.
fn reads<W: Serialize, R: DeserializeOwned>(written: Vec<W>) -> bool {
    written.iter().all(|w| {
        let text = serde_json::to_string(w).expect("a value serialises");
        serde_json::from_str::<R>(&text).is_ok()
    })
}

fn verdict(old: &Json, new: &Json, direction: Direction) -> bool {
    match check(old, new, direction, Budget::default()) {
        Verdict::Included => true,
        Verdict::Not { .. } => false,
        Verdict::Undecided { why } => panic!("undecided: {why}"),
    }
}

macro_rules! types {
    ($module:ident, $(#[$container:meta])*) => {
        mod $module {
            use super::*;

            #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
            $(#[$container])*
            pub(super) struct Without { pub(super) a: u8 }

            #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
            $(#[$container])*
            pub(super) struct Required { pub(super) a: u8, pub(super) b: u8 }

            #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
            $(#[$container])*
            pub(super) struct Defaulted { pub(super) a: u8, #[serde(default)] pub(super) b: u8 }

            #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
            $(#[$container])*
            pub(super) struct Optional {
                pub(super) a: u8,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub(super) b: Option<u8>,
            }

            pub(super) fn with() -> [Vec<Json>; 4] {
                let json = |t: &dyn erased::Text| crate::json(&t.text());
                [
                    vec![json(&Without { a: 1 })],
                    vec![json(&Required { a: 1, b: 2 })],
                    vec![json(&Defaulted { a: 1, b: 2 })],
                    vec![json(&Optional { a: 1, b: None }), json(&Optional { a: 1, b: Some(2) })],
                ]
            }
        }
    };
}

mod erased {
    /// A value as the text that serde writes.
    pub(super) trait Text {
        fn text(&self) -> String;
    }
    impl<T: serde::Serialize> Text for T {
        fn text(&self) -> String {
            serde_json::to_string(self).expect("a value serialises")
        }
    }
}

types!(open,);
types!(closed, #[serde(deny_unknown_fields)]);

/// One cell: content, edit, member, direction, what serde does, what the comparison says.
struct Cell {
    content: &'static str,
    edit: &'static str,
    member: &'static str,
    direction: Direction,
    serde: bool,
    verdict: bool,
}

fn cells() -> Vec<Cell> {
    let mut out = Vec::new();
    macro_rules! cell {
        ($content:literal, $module:ident, $member:literal, $with:ident, $index:literal) => {{
            use $module::{Without, $with as With};
            let values = $module::with();
            let (bare, full) = (values[0].clone(), values[$index].clone());
            for (edit, old_values, new_values) in [("add", &bare, &full), ("remove", &full, &bare)]
            {
                let add = edit == "add";
                for direction in [Direction::Request, Direction::Response] {
                    let asked = direction == Direction::Request;
                    // Who reads what the other wrote.
                    let written = if asked { old_values } else { new_values };
                    let reader_has = add == asked;
                    let serde = if reader_has {
                        reads::<Json, With>(written.clone())
                    } else {
                        reads::<Json, Without>(written.clone())
                    };
                    let schema = |with: bool| match (with, asked) {
                        (true, true) => request::<With>(),
                        (true, false) => response::<With>(),
                        (false, true) => request::<Without>(),
                        (false, false) => response::<Without>(),
                    };
                    let (old, new) = (schema(!add), schema(add));
                    out.push(Cell {
                        content: $content,
                        edit,
                        member: $member,
                        direction,
                        serde,
                        verdict: verdict(&old, &new, direction),
                    });
                }
            }
        }};
    }
    cell!("open", open, "required", Required, 1);
    cell!("open", open, "required with default", Defaulted, 2);
    cell!("open", open, "optional", Optional, 3);
    cell!("closed", closed, "required", Required, 1);
    cell!("closed", closed, "required with default", Defaulted, 2);
    cell!("closed", closed, "optional", Optional, 3);
    out
}

/// Where the comparison is stricter than a reader that happens to be this very type, and why.
const STRICTER: &[(&str, &str, &str, &str)] = &[
    (
        "open",
        "remove",
        "required with default",
        "the old response always had the member; a reader that is not this type need not know the default",
    ),
    (
        "closed",
        "remove",
        "required with default",
        "the old response always had the member; a reader that is not this type need not know the default",
    ),
    (
        "open",
        "remove",
        "optional",
        "the old response said what the member is when it is there; the new one lets anything stand under its name",
    ),
];

#[test]
fn the_twenty_four_cells_of_the_content_model_follow_from_what_serde_does() {
    let cells = cells();
    assert_eq!(cells.len(), 24);
    let mut used = Vec::new();
    for c in &cells {
        let name = format!("{} {} {} {:?}", c.content, c.edit, c.member, c.direction);
        let waiver = STRICTER.iter().find(|(k, e, m, _)| {
            (*k, *e, *m) == (c.content, c.edit, c.member) && c.direction == Direction::Response
        });
        match waiver {
            Some((.., reason)) => {
                assert!(
                    c.serde && !c.verdict,
                    "{name}: no longer stricter than serde ({reason})"
                );
                used.push(name);
            }
            None => assert_eq!(c.serde, c.verdict, "{name}"),
        }
    }
    assert_eq!(used.len(), STRICTER.len(), "{used:?}");
    crate::fresh("../docs/diff/content-model.md", &page(&cells));
}

fn page(cells: &[Cell]) -> String {
    let mut out = String::from(
        "# The content model\n\n\
         What it means to add a member to an object, or to remove one. Generated from compiled types by\n\
         `flowx-diff/tests/diff/serde_types.rs`; the column *serde* is what happens when one version reads what the other\n\
         wrote, the column *verdict* is what `flowx diff` says.\n\n\
         *open*: the type ignores unknown members (serde's own default). *closed*: `#[serde(deny_unknown_fields)]`.\n\
         *required with default*: `#[serde(default)]`. *optional*: `Option` that is left out when it is `None`.\n\
         *request*: the new program reads what old callers send. *response*: old callers read what the new program writes.\n\n\
         | content | edit | member | direction | serde | verdict |\n|---|---|---|---|---|---|\n",
    );
    for c in cells {
        let word = |ok: bool| if ok { "reads it" } else { "**refuses it**" };
        let direction = if c.direction == Direction::Request {
            "request"
        } else {
            "response"
        };
        let verdict = if c.verdict {
            "compatible"
        } else {
            "**breaking**"
        };
        out.push_str(&format!(
            "| {} | {} | {} | {direction} | {} | {verdict} |\n",
            c.content,
            c.edit,
            c.member,
            word(c.serde)
        ));
    }
    out.push_str("\nThe verdict is stricter than serde in three cells, all of them responses:\n\n");
    for (content, edit, member, reason) in STRICTER {
        out.push_str(&format!("- {content}, {edit}, {member}: {reason}.\n"));
    }
    out.push_str(
        "\nA request that leaves a member undeclared in an open object is read as one that nobody sends (\"emitted values\"):\n\
         otherwise every optional argument that is ever added would be breaking, since an open object may hold anything\n\
         under any name.\n",
    );
    out
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct QueryText {
    query: String,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct QueryNumber {
    query: i64,
}
#[derive(Serialize, Deserialize, JsonSchema)]
enum ThreeFormats {
    Json,
    Xml,
    Csv,
}
#[derive(Serialize, Deserialize, JsonSchema)]
enum OneFormat {
    Json,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Small {
    n: u8,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Large {
    n: u16,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Whole {
    n: i64,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Broken {
    n: f64,
}
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Two {
    Done { at: String },
    Queued,
}
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Three {
    Done { at: String },
    Queued,
    Lost { why: String },
}
#[derive(Serialize, Deserialize, JsonSchema)]
enum TwoOutside {
    Done { at: String },
    Queued,
}
#[derive(Serialize, Deserialize, JsonSchema)]
enum ThreeOutside {
    Done { at: String },
    Queued,
    Lost(String),
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    value: u8,
    children: Vec<Tree>,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct WideTree {
    value: u16,
    children: Vec<WideTree>,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Inner {
    b: u8,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Flat {
    a: u8,
    #[serde(flatten)]
    inner: Inner,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Plain {
    a: u8,
    b: u8,
}
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Wrapped(String);
#[derive(Serialize, Deserialize, JsonSchema)]
struct Id {
    query: Wrapped,
}
#[derive(Serialize, Deserialize, JsonSchema)]
struct Nullable {
    query: Option<String>,
}

#[test]
fn the_table_is_right_on_compiled_types() {
    macro_rules! line {
        ($edit:literal, $old:ty, $new:ty, $request:literal, $response:literal) => {{
            for (direction, want) in [
                (Direction::Request, $request),
                (Direction::Response, $response),
            ] {
                let (old, new) = match direction {
                    Direction::Request => (request::<$old>(), request::<$new>()),
                    Direction::Response => (response::<$old>(), response::<$new>()),
                };
                assert_eq!(
                    verdict(&old, &new, direction),
                    want,
                    "{} {direction:?}",
                    $edit
                );
                // serde agrees on values of the writer, where the verdict is yes.
                if want {
                    let (writer, reads): (&Json, fn(&str) -> bool) = match direction {
                        Direction::Request => (&old, |t| serde_json::from_str::<$new>(t).is_ok()),
                        Direction::Response => (&new, |t| serde_json::from_str::<$old>(t).is_ok()),
                    };
                    for value in sample::values(writer, 7, 40) {
                        assert!(
                            reads(&value.to_canonical()),
                            "{} {direction:?}: {value}",
                            $edit
                        );
                    }
                }
            }
        }};
    }
    line!("query: String to i64", QueryText, QueryNumber, false, false);
    line!(
        "format: three values to one",
        ThreeFormats,
        OneFormat,
        false,
        true
    );
    line!(
        "format: one value to three",
        OneFormat,
        ThreeFormats,
        true,
        false
    );
    line!("u8 to u16", Small, Large, true, false);
    line!("u16 to u8", Large, Small, false, true);
    line!("i64 to f64", Whole, Broken, true, false);
    line!("tagged variant added", Two, Three, true, false);
    line!("tagged variant removed", Three, Two, false, true);
    line!(
        "outside variant added",
        TwoOutside,
        ThreeOutside,
        true,
        false
    );
    line!("recursive type widened", Tree, WideTree, true, false);
    line!("recursive type narrowed", WideTree, Tree, false, true);
    line!("members flattened", Plain, Flat, true, true);
    line!("flattened members spelled out", Flat, Plain, true, true);
    line!("newtype around a text", QueryText, Id, true, true);
    line!("became nullable", QueryText, Nullable, true, false);
    line!("became non-null", Nullable, QueryText, false, true);
    line!("identical", Tree, Tree, true, true);
}
