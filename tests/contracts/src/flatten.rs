use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

#[derive(Serialize, Deserialize)]
pub struct Inner { x: u8, y: Option<String> }
#[derive(Serialize, Deserialize)]
pub struct Other { p: String, #[serde(default)] q: u8 }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shut { s: u8 }
#[derive(Serialize, Deserialize)]
pub struct Aliased { #[serde(alias = "old")] new: u8 }
#[derive(Serialize, Deserialize)]
pub struct AllOptional { m: Option<u8>, n: Option<u8> }
#[derive(Serialize, Deserialize)]
pub struct Wrapped(Inner);
#[derive(Serialize, Deserialize)]
pub enum External { A(u8), B { b: u8 }, C }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum Internal { A { a: u8 }, B(Inner), C }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", deny_unknown_fields)]
pub enum InternalShut { A { a: u8 }, C }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent { A(u8), B { b: u8 }, C }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub enum AdjacentShut { A(u8), C }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Untagged { A { a: u8 }, B { b: String } }
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum UntaggedShut { A { a: u8 }, B { b: String } }

#[derive(Serialize, Deserialize)]
pub struct Struct { own: u8, #[serde(flatten)] inner: Inner }
#[derive(Serialize, Deserialize)]
pub struct Two { own: u8, #[serde(flatten)] inner: Inner, #[serde(flatten)] other: Other }
#[derive(Serialize, Deserialize)]
pub struct Nested { #[serde(flatten)] outer: Struct, more: bool }
#[derive(Serialize, Deserialize)]
pub struct OfShut { own: u8, #[serde(flatten)] inner: Shut }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedStruct { own: u8, #[serde(flatten)] inner: Inner }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedTwo { #[serde(flatten)] inner: Inner, #[serde(flatten)] other: Other }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedExternal { own: u8, #[serde(flatten)] e: External }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedAdjacent { own: u8, #[serde(flatten)] e: Adjacent }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedMap { own: u8, #[serde(flatten)] rest: BTreeMap<String, u8> }
#[derive(Serialize, Deserialize)]
pub struct Boxed { own: u8, #[serde(flatten)] inner: Box<Inner> }
#[derive(Serialize, Deserialize)]
pub struct OfWrapped { own: u8, #[serde(flatten)] inner: Wrapped }
#[derive(Serialize, Deserialize)]
pub struct OfAlias { own: u8, #[serde(flatten)] inner: Aliased }
#[derive(Serialize, Deserialize)]
pub struct Map { own: u8, #[serde(flatten)] rest: BTreeMap<String, u8> }
#[derive(Serialize, Deserialize)]
pub struct MapOptional { own: Option<u8>, #[serde(flatten)] rest: HashMap<String, serde_json::Value> }
#[derive(Serialize, Deserialize)]
pub struct MapOnly { #[serde(flatten)] rest: BTreeMap<String, String> }
#[derive(Serialize, Deserialize)]
pub struct MapAfter { own: u8, #[serde(flatten)] inner: Inner, #[serde(flatten)] rest: BTreeMap<String, bool> }
#[derive(Serialize, Deserialize)]
pub struct MapBefore { own: u8, #[serde(flatten)] rest: BTreeMap<String, serde_json::Value>, #[serde(flatten)] inner: Inner }
#[derive(Serialize, Deserialize)]
pub struct Value { own: u8, #[serde(flatten)] rest: serde_json::Value }
#[derive(Serialize, Deserialize)]
pub struct Option1 { own: u8, #[serde(flatten)] inner: Option<Inner> }
#[derive(Serialize, Deserialize)]
pub struct Option2 { own: u8, #[serde(flatten)] inner: Option<AllOptional> }
#[derive(Serialize, Deserialize)]
pub struct OptionInternal { own: u8, #[serde(flatten)] inner: Option<Internal> }
#[derive(Serialize, Deserialize)]
pub struct OptionExternal { own: u8, #[serde(flatten)] inner: Option<External> }
#[derive(Serialize, Deserialize)]
pub struct OptionMap { own: u8, #[serde(flatten)] inner: Option<BTreeMap<String, u8>> }
#[derive(Serialize, Deserialize)]
pub struct OfExternal { own: u8, #[serde(flatten)] e: External }
#[derive(Serialize, Deserialize)]
pub struct OfInternal { own: u8, #[serde(flatten)] e: Internal }
#[derive(Serialize, Deserialize)]
pub struct OfInternalShut { own: u8, #[serde(flatten)] e: InternalShut }
#[derive(Serialize, Deserialize)]
pub struct OfAdjacent { own: u8, #[serde(flatten)] e: Adjacent }
#[derive(Serialize, Deserialize)]
pub struct OfAdjacentShut { own: u8, #[serde(flatten)] e: AdjacentShut }
#[derive(Serialize, Deserialize)]
pub struct OfUntagged { own: u8, #[serde(flatten)] e: Untagged }
#[derive(Serialize, Deserialize)]
pub struct OfUntaggedShut { own: u8, #[serde(flatten)] e: UntaggedShut }
#[derive(Serialize, Deserialize)]
pub struct TwoEnums { #[serde(flatten)] a: Internal, #[serde(flatten)] b: External }
#[derive(Serialize, Deserialize)]
pub struct ExternalThenMap { #[serde(flatten)] a: External, #[serde(flatten)] rest: BTreeMap<String, u8> }
#[derive(Serialize, Deserialize)]
pub struct InternalThenMap { #[serde(flatten)] a: Internal, #[serde(flatten)] rest: BTreeMap<String, serde_json::Value> }
#[derive(Serialize, Deserialize)]
pub struct OfUnit { own: u8, #[serde(flatten)] unit: () }
#[derive(Serialize, Deserialize)]
pub struct SkippedFlatten { own: u8, #[serde(flatten, skip)] inner: AllOptional2 }
#[derive(Default, Serialize, Deserialize)]
pub struct AllOptional2 { m: Option<u8> }
#[derive(Serialize, Deserialize)]
pub struct EnumKeyed { own: u8, #[serde(flatten)] rest: BTreeMap<Word, u8> }
#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word { A, B }
#[derive(Serialize, Deserialize)]
pub struct OuterTakes { x: bool, #[serde(flatten)] inner: AllOptionalX }
#[derive(Serialize, Deserialize)]
pub struct AllOptionalX { #[serde(skip_serializing)] x: Option<u8>, z: u8 }
#[derive(Serialize, Deserialize)]
pub struct DeepFlatten { #[serde(flatten)] one: Nested, #[serde(flatten)] rest: BTreeMap<String, serde_json::Value> }
#[derive(Serialize, Deserialize)]
pub struct ShutInside { inner: ClosedStruct, #[serde(flatten)] rest: BTreeMap<String, u8> }

shapes!(
    Inner, Other, Shut, Aliased, AllOptional, Wrapped, External, Internal, InternalShut, Adjacent, AdjacentShut, Untagged,
    UntaggedShut, Struct, Two, Nested, OfShut, ClosedStruct, ClosedTwo, ClosedExternal, ClosedAdjacent, ClosedMap, Boxed,
    OfWrapped, OfAlias, Map, MapOptional, MapOnly, MapAfter, MapBefore, Value, Option1, Option2, OptionInternal, OptionExternal,
    OptionMap, OfExternal, OfInternal, OfInternalShut, OfAdjacent, OfAdjacentShut, OfUntagged, OfUntaggedShut, TwoEnums,
    ExternalThenMap, InternalThenMap, OfUnit, SkippedFlatten, EnumKeyed, OuterTakes, DeepFlatten, ShutInside, AllOptional2,
    AllOptionalX, Word
);
