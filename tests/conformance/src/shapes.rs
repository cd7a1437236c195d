//! Fifty shapes of contracts, each as the input and the output of a tool, to be listed and called through the real clients.

// What the portable profile cannot say of some shapes is reported at their declarations as the use of something deprecated; that it is
// lost in a way that every client accepts is the point here.
#![allow(deprecated)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flowx_runtime::{FlowCx, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Failure, say};

#[derive(Serialize, Deserialize)]
pub(crate) struct Point {
    x: i32,
    y: i32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Colour {
    Red,
    Green,
    Blue,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Internal {
    Circle { radius: u32 },
    Square { side: u32 },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum External {
    Mail { to: String },
    Post { street: String },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c", rename_all = "snake_case")]
pub(crate) enum Adjacent {
    Moved(Point),
    Named { name: String },
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Text { text: String },
    Number { number: i64 },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mixed {
    Ignored,
    Answered { text: String },
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Word {
    #[serde(rename = "grün")]
    Green,
    #[serde(rename = "größer")]
    Greater,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Id(String);

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Amount {
    cents: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Page<T> {
    items: Vec<T>,
    more: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Strings {
    first: String,
    second: String,
}

/// Gives back its input.
#[flow(id = "shape.strings", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_strings(cx: &FlowCx<shape_strings>, input: Strings) -> Result<Strings, Failure> {
    cx.step::<say>("strings".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Integers {
    a: i8,
    b: i64,
    c: u16,
    d: u64,
}

/// Gives back its input.
#[flow(id = "shape.integers", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_integers(cx: &FlowCx<shape_integers>, input: Integers) -> Result<Integers, Failure> {
    cx.step::<say>("integers".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Floats {
    a: f64,
    b: f32,
}

/// Gives back its input.
#[flow(id = "shape.floats", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_floats(cx: &FlowCx<shape_floats>, input: Floats) -> Result<Floats, Failure> {
    cx.step::<say>("floats".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Booleans {
    yes: bool,
}

/// Gives back its input.
#[flow(id = "shape.booleans", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_booleans(cx: &FlowCx<shape_booleans>, input: Booleans) -> Result<Booleans, Failure> {
    cx.step::<say>("booleans".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Optional {
    a: Option<String>,
    b: String,
}

/// Gives back its input.
#[flow(id = "shape.optional", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_optional(cx: &FlowCx<shape_optional>, input: Optional) -> Result<Optional, Failure> {
    cx.step::<say>("optional".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OptionalSet {
    a: Option<u32>,
}

/// Gives back its input.
#[flow(id = "shape.optional_set", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_optional_set(
    cx: &FlowCx<shape_optional_set>,
    input: OptionalSet,
) -> Result<OptionalSet, Failure> {
    cx.step::<say>("optional_set".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct List {
    items: Vec<String>,
}

/// Gives back its input.
#[flow(id = "shape.list", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_list(cx: &FlowCx<shape_list>, input: List) -> Result<List, Failure> {
    cx.step::<say>("list".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Lists {
    rows: Vec<Vec<i32>>,
}

/// Gives back its input.
#[flow(id = "shape.lists", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_lists(cx: &FlowCx<shape_lists>, input: Lists) -> Result<Lists, Failure> {
    cx.step::<say>("lists".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Counts {
    counts: HashMap<String, i32>,
}

/// Gives back its input.
#[flow(id = "shape.map", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_map(cx: &FlowCx<shape_map>, input: Counts) -> Result<Counts, Failure> {
    cx.step::<say>("map".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Places {
    places: BTreeMap<String, Point>,
}

/// Gives back its input.
#[flow(id = "shape.map_of_structs", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_map_of_structs(
    cx: &FlowCx<shape_map_of_structs>,
    input: Places,
) -> Result<Places, Failure> {
    cx.step::<say>("map_of_structs".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Nested {
    at: Point,
    name: String,
}

/// Gives back its input.
#[flow(id = "shape.nested", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_nested(cx: &FlowCx<shape_nested>, input: Nested) -> Result<Nested, Failure> {
    cx.step::<say>("nested".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OptionalNested {
    at: Option<Point>,
}

/// Gives back its input.
#[flow(id = "shape.optional_nested", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_optional_nested(
    cx: &FlowCx<shape_optional_nested>,
    input: OptionalNested,
) -> Result<OptionalNested, Failure> {
    cx.step::<say>("optional_nested".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Path {
    points: Vec<Point>,
}

/// Gives back its input.
#[flow(id = "shape.list_of_structs", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_list_of_structs(
    cx: &FlowCx<shape_list_of_structs>,
    input: Path,
) -> Result<Path, Failure> {
    cx.step::<say>("list_of_structs".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Coloured {
    colour: Colour,
}

/// Gives back its input.
#[flow(id = "shape.unit_enum", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_unit_enum(
    cx: &FlowCx<shape_unit_enum>,
    input: Coloured,
) -> Result<Coloured, Failure> {
    cx.step::<say>("unit_enum".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Drawn {
    shape: Internal,
}

/// Gives back its input.
#[flow(id = "shape.internal_tag", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_internal_tag(
    cx: &FlowCx<shape_internal_tag>,
    input: Drawn,
) -> Result<Drawn, Failure> {
    cx.step::<say>("internal_tag".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Sent {
    by: External,
}

/// Gives back its input.
#[flow(id = "shape.external_tag", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_external_tag(cx: &FlowCx<shape_external_tag>, input: Sent) -> Result<Sent, Failure> {
    cx.step::<say>("external_tag".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Done {
    event: Adjacent,
}

/// Gives back its input.
#[flow(id = "shape.adjacent_tag", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_adjacent_tag(cx: &FlowCx<shape_adjacent_tag>, input: Done) -> Result<Done, Failure> {
    cx.step::<say>("adjacent_tag".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Either {
    value: Untagged,
}

/// Gives back its input.
#[flow(id = "shape.untagged", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_untagged(cx: &FlowCx<shape_untagged>, input: Either) -> Result<Either, Failure> {
    cx.step::<say>("untagged".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Pair {
    pair: (i32, i32),
}

/// Gives back its input.
#[flow(id = "shape.tuple", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_tuple(cx: &FlowCx<shape_tuple>, input: Pair) -> Result<Pair, Failure> {
    cx.step::<say>("tuple".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Rgb {
    rgb: [u8; 3],
}

/// Gives back its input.
#[flow(id = "shape.array", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_array(cx: &FlowCx<shape_array>, input: Rgb) -> Result<Rgb, Failure> {
    cx.step::<say>("array".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Node {
    name: String,
    #[serde(default)]
    children: Vec<Node>,
}

/// Gives back its input.
#[flow(id = "shape.recursive", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_recursive(cx: &FlowCx<shape_recursive>, input: Node) -> Result<Node, Failure> {
    cx.step::<say>("recursive".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CamelCase {
    first_name: String,
    last_name: String,
}

/// Gives back its input.
#[flow(id = "shape.camel_case", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_camel_case(
    cx: &FlowCx<shape_camel_case>,
    input: CamelCase,
) -> Result<CamelCase, Failure> {
    cx.step::<say>("camel_case".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Renamed {
    #[serde(rename = "not-an-identifier")]
    a: String,
}

/// Gives back its input.
#[flow(id = "shape.renamed", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_renamed(cx: &FlowCx<shape_renamed>, input: Renamed) -> Result<Renamed, Failure> {
    cx.step::<say>("renamed".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Defaulted {
    #[serde(default)]
    a: u32,
    b: u32,
}

/// Gives back its input.
#[flow(id = "shape.defaulted", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_defaulted(
    cx: &FlowCx<shape_defaulted>,
    input: Defaulted,
) -> Result<Defaulted, Failure> {
    cx.step::<say>("defaulted".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Skipped {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    a: Option<String>,
    b: u8,
}

/// Gives back its input.
#[flow(id = "shape.skipped", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_skipped(cx: &FlowCx<shape_skipped>, input: Skipped) -> Result<Skipped, Failure> {
    cx.step::<say>("skipped".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Flattened {
    #[serde(flatten)]
    at: Point,
    name: String,
}

/// Gives back its input.
#[flow(id = "shape.flattened", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_flattened(
    cx: &FlowCx<shape_flattened>,
    input: Flattened,
) -> Result<Flattened, Failure> {
    cx.step::<say>("flattened".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closed {
    a: String,
}

/// Gives back its input.
#[flow(id = "shape.closed", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_closed(cx: &FlowCx<shape_closed>, input: Closed) -> Result<Closed, Failure> {
    cx.step::<say>("closed".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Aliased {
    #[serde(alias = "old")]
    new: String,
}

/// Gives back its input.
#[flow(id = "shape.aliased", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_aliased(cx: &FlowCx<shape_aliased>, input: Aliased) -> Result<Aliased, Failure> {
    cx.step::<say>("aliased".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WithId {
    id: Id,
}

/// Gives back its input.
#[flow(id = "shape.newtype", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_newtype(cx: &FlowCx<shape_newtype>, input: WithId) -> Result<WithId, Failure> {
    cx.step::<say>("newtype".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WithAmount {
    amount: Amount,
}

/// Gives back its input.
#[flow(id = "shape.transparent", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_transparent(
    cx: &FlowCx<shape_transparent>,
    input: WithAmount,
) -> Result<WithAmount, Failure> {
    cx.step::<say>("transparent".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Character {
    letter: char,
}

/// Gives back its input.
#[flow(id = "shape.character", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_character(
    cx: &FlowCx<shape_character>,
    input: Character,
) -> Result<Character, Failure> {
    cx.step::<say>("character".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct NonZero {
    n: std::num::NonZeroU32,
}

/// Gives back its input.
#[flow(id = "shape.non_zero", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_non_zero(cx: &FlowCx<shape_non_zero>, input: NonZero) -> Result<NonZero, Failure> {
    cx.step::<say>("non_zero".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Tags {
    tags: BTreeSet<String>,
}

/// Gives back its input.
#[flow(id = "shape.set", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_set(cx: &FlowCx<shape_set>, input: Tags) -> Result<Tags, Failure> {
    cx.step::<say>("set".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Boxed {
    text: Box<str>,
    at: Box<Point>,
}

/// Gives back its input.
#[flow(id = "shape.boxed", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_boxed(cx: &FlowCx<shape_boxed>, input: Boxed) -> Result<Boxed, Failure> {
    cx.step::<say>("boxed".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Pages {
    page: Page<Point>,
}

/// Gives back its input.
#[flow(id = "shape.generic", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_generic(cx: &FlowCx<shape_generic>, input: Pages) -> Result<Pages, Failure> {
    cx.step::<say>("generic".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct TwoPages {
    points: Page<Point>,
    names: Page<String>,
}

/// Gives back its input.
#[flow(id = "shape.generic_twice", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_generic_twice(
    cx: &FlowCx<shape_generic_twice>,
    input: TwoPages,
) -> Result<TwoPages, Failure> {
    cx.step::<say>("generic_twice".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ranged {
    #[schemars(range(min = 1, max = 10))]
    n: u32,
}

/// Gives back its input.
#[flow(id = "shape.ranged", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_ranged(cx: &FlowCx<shape_ranged>, input: Ranged) -> Result<Ranged, Failure> {
    cx.step::<say>("ranged".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Sized {
    #[schemars(length(min = 1, max = 5))]
    text: String,
}

/// Gives back its input.
#[flow(id = "shape.sized", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_sized(cx: &FlowCx<shape_sized>, input: Sized) -> Result<Sized, Failure> {
    cx.step::<say>("sized".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Patterned {
    #[schemars(regex(pattern = r"^T-[0-9]+$"))]
    ticket: String,
}

/// Gives back its input.
#[flow(id = "shape.patterned", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_patterned(
    cx: &FlowCx<shape_patterned>,
    input: Patterned,
) -> Result<Patterned, Failure> {
    cx.step::<say>("patterned".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct RawNames {
    r#type: String,
    r#match: u8,
}

/// Gives back its input.
#[flow(id = "shape.raw_names", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_raw_names(
    cx: &FlowCx<shape_raw_names>,
    input: RawNames,
) -> Result<RawNames, Failure> {
    cx.step::<say>("raw_names".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Reaction {
    how: Mixed,
}

/// Gives back its input.
#[flow(id = "shape.mixed_enum", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_mixed_enum(
    cx: &FlowCx<shape_mixed_enum>,
    input: Reaction,
) -> Result<Reaction, Failure> {
    cx.step::<say>("mixed_enum".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Palette {
    colours: Vec<Colour>,
}

/// Gives back its input.
#[flow(id = "shape.enum_list", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_enum_list(cx: &FlowCx<shape_enum_list>, input: Palette) -> Result<Palette, Failure> {
    cx.step::<say>("enum_list".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ByName {
    colours: BTreeMap<String, Colour>,
}

/// Gives back its input.
#[flow(id = "shape.enum_map", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_enum_map(cx: &FlowCx<shape_enum_map>, input: ByName) -> Result<ByName, Failure> {
    cx.step::<say>("enum_map".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OptionalList {
    items: Option<Vec<String>>,
}

/// Gives back its input.
#[flow(id = "shape.optional_list", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_optional_list(
    cx: &FlowCx<shape_optional_list>,
    input: OptionalList,
) -> Result<OptionalList, Failure> {
    cx.step::<say>("optional_list".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Wide {
    n: u128,
}

/// Gives back its input.
#[flow(id = "shape.wide_integer", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_wide_integer(cx: &FlowCx<shape_wide_integer>, input: Wide) -> Result<Wide, Failure> {
    cx.step::<say>("wide_integer".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Deep {
    a: Option<Vec<BTreeMap<String, Vec<Point>>>>,
}

/// Gives back its input.
#[flow(id = "shape.deep", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_deep(cx: &FlowCx<shape_deep>, input: Deep) -> Result<Deep, Failure> {
    cx.step::<say>("deep".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Described {
    /// A line.
    ///
    /// And "another" one, with `code` and é.
    text: String,
}

/// Gives back its input.
#[flow(id = "shape.described", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_described(
    cx: &FlowCx<shape_described>,
    input: Described,
) -> Result<Described, Failure> {
    cx.step::<say>("described".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Words {
    word: Word,
}

/// Gives back its input.
#[flow(id = "shape.unicode_values", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_unicode_values(
    cx: &FlowCx<shape_unicode_values>,
    input: Words,
) -> Result<Words, Failure> {
    cx.step::<say>("unicode_values".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AllOptional {
    a: Option<u8>,
    b: Option<u8>,
}

/// Gives back its input.
#[flow(id = "shape.all_optional", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_all_optional(
    cx: &FlowCx<shape_all_optional>,
    input: AllOptional,
) -> Result<AllOptional, Failure> {
    cx.step::<say>("all_optional".to_owned()).await?;
    Ok(input)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Many {
    f0: Option<String>,
    f1: Option<String>,
    f2: Option<String>,
    f3: Option<String>,
    f4: Option<String>,
    f5: Option<String>,
    f6: Option<String>,
    f7: Option<String>,
    f8: Option<String>,
    f9: Option<String>,
    f10: Option<String>,
    f11: Option<String>,
    f12: Option<String>,
    f13: Option<String>,
    f14: Option<String>,
    f15: Option<String>,
    f16: Option<String>,
    f17: Option<String>,
    f18: Option<String>,
    f19: Option<String>,
    f20: Option<String>,
    f21: Option<String>,
    f22: Option<String>,
    f23: Option<String>,
    f24: Option<String>,
    f25: Option<String>,
    f26: Option<String>,
    f27: Option<String>,
    f28: Option<String>,
    f29: Option<String>,
}

/// Gives back its input.
#[flow(id = "shape.many", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn shape_many(cx: &FlowCx<shape_many>, input: Many) -> Result<Many, Failure> {
    cx.step::<say>("many".to_owned()).await?;
    Ok(input)
}
