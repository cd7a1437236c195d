use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub struct Inner { x: u8, y: Option<String> }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InnerClosed { x: u8 }
#[derive(Serialize, Deserialize)]
pub struct InnerUnit;

// External.
#[derive(Serialize, Deserialize)]
pub enum Words { Red, Green, Blue }
#[derive(Serialize, Deserialize)]
pub enum One { Only }
#[derive(Serialize, Deserialize)]
pub enum External { Unit, Newtype(u8), Tuple(u8, String), Struct { a: u8, b: Option<u8> } }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ExternalClosed { Unit, Struct { a: u8 }, Newtype(Inner) }
#[derive(Serialize, Deserialize)]
pub enum ExternalOption { Maybe(Option<u8>), Nothing(()), Empty(), Braces {} }
#[derive(Serialize, Deserialize)]
pub enum ExternalAlias { #[serde(alias = "old")] New, #[serde(alias = "o2")] Data(u8) }
#[derive(Serialize, Deserialize)]
pub enum ExternalSkip { A, #[serde(skip)] B, #[serde(skip_deserializing)] C, #[serde(skip_serializing)] D(u8) }
#[derive(Serialize, Deserialize)]
pub enum ExternalOther { A, B(u8), #[serde(other)] Rest }
#[derive(Serialize, Deserialize)]
pub enum ExternalSkipField { A(#[serde(skip)] u8), B(u8, #[serde(skip)] u8), C { #[serde(skip)] x: u8 } }
#[derive(Serialize, Deserialize)]
pub enum ExternalDefaults { A(u8, #[serde(default)] u8), B { #[serde(default)] x: u8, #[serde(alias = "w")] y: u8 } }
#[derive(Serialize, Deserialize)]
pub enum ExternalNested { A(Words), B(External), C(Box<ExternalNested>), D(Vec<Words>) }
#[derive(Serialize, Deserialize)]
pub enum ExternalMixed { A, B(u8), #[serde(untagged)] C(String), #[serde(untagged)] D { z: u8 } }
#[derive(Serialize, Deserialize)]
#[repr(u8)]
pub enum Numbered { A = 1, B = 5 }
#[derive(Serialize, Deserialize)]
pub enum ExternalFlatten { A { a: u8, #[serde(flatten)] rest: BTreeMap<String, u8> }, B { #[serde(flatten)] inner: Inner } }

// Internal.
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum Internal { Unit, Newtype(Inner), Struct { a: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", deny_unknown_fields)]
pub enum InternalClosed { Unit, Struct { a: u8 }, Newtype(Inner), Shut(InnerClosed) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalShut { A(InnerClosed), B(InnerUnit), C(()) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalMap { A(BTreeMap<String, u8>), B(serde_json::Value), C(BTreeMap<String, String>) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalOther { A { a: u8 }, #[serde(other)] Rest }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalAlias { #[serde(alias = "old")] A { a: u8 }, #[serde(alias = "o2", alias = "o3")] B }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalNested { A(Internal2), B(InternalAdjacent), C(InternalExternal) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "u")]
pub enum Internal2 { P, Q { q: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "k", content = "c")]
pub enum InternalAdjacent { P, Q(u8) }
#[derive(Serialize, Deserialize)]
pub enum InternalExternal { P, Q(u8), R { r: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalUntagged { A(Untagged), B }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalSkip { A { #[serde(skip)] a: u8, b: u8 }, #[serde(skip)] B, C(#[serde(skip)] u8), #[serde(skip_serializing)] D { d: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalBox { A(Box<Inner>), B { next: Option<Box<InternalBox>> } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalDefaults { A { #[serde(default)] a: u8, b: Option<u8>, #[serde(alias = "cc")] c: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalFlatten { A { a: u8, #[serde(flatten)] inner: Inner }, B { #[serde(flatten)] rest: BTreeMap<String, u8> } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalMixed { A { a: u8 }, B, #[serde(untagged)] C { c: u8 }, #[serde(untagged)] D(String) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalOptionNewtype { A(Option<Inner>), B }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalTaggedStruct { A(TaggedStruct), B }
#[derive(Serialize, Deserialize)]
#[serde(tag = "s")]
pub struct TaggedStruct { v: u8 }

// Adjacent.
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent { Unit, Newtype(u8), Tuple(u8, u8), Struct { a: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub enum AdjacentClosed { Unit, Newtype(Inner), Struct { a: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentOption { A(Option<u8>), B(Option<Option<u8>>), C(()), D(InnerUnit), E(Box<Option<u8>>) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentOther { A(u8), #[serde(other)] Rest }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentAlias { #[serde(alias = "old")] A(u8), B }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentSkip { A, #[serde(skip)] B, C(#[serde(skip)] u8), D { #[serde(skip)] x: u8, y: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentNested { A(Adjacent), B(Internal), C(Vec<Untagged>) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentMixed { A(u8), B, #[serde(untagged)] C(bool) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentValue { A(serde_json::Value), B(BTreeMap<String, u8>) }

// Untagged.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Untagged { Number(u8), Text(String), Struct { a: u8 }, Pair(u8, u8), Nothing }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedOverlap { A { a: u8 }, B { a: u8, b: Option<u8> }, C { c: Option<u8> } }
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum UntaggedClosed { A { a: u8 }, B { b: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedNewtypes { A(Inner), B(InnerClosed), C(Vec<Inner>), D(InnerUnit) }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedOption { A(Option<u8>), B(String) }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedRecursive { Leaf(u8), Node(Vec<UntaggedRecursive>), Named { next: Box<UntaggedRecursive> } }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedEnums { A(Words), B(External), C(Internal) }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedSkip { #[serde(skip)] A(u8), B(bool), #[serde(skip_deserializing)] C(u8), #[serde(skip_serializing)] D(String) }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedMaps { A(BTreeMap<String, u8>), B(BTreeMap<String, String>), C(BTreeMap<Words, u8>) }
impl PartialEq for Words { fn eq(&self, o: &Self) -> bool { (self.clone2()) == o.clone2() } }
impl Eq for Words {}
impl PartialOrd for Words { fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> { Some(self.cmp(o)) } }
impl Ord for Words { fn cmp(&self, o: &Self) -> std::cmp::Ordering { self.clone2().cmp(&o.clone2()) } }
impl Words { fn clone2(&self) -> u8 { match self { Words::Red => 0, Words::Green => 1, Words::Blue => 2 } } }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedFloats { I(i64), F(f64), B(bool) }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedDefaults { A { #[serde(default)] a: u8, b: u8 }, B { #[serde(alias = "cc")] c: u8 } }

#[derive(Serialize, Deserialize)]
pub struct Holds { words: Words, internal: Internal, adjacent: Option<Adjacent>, untagged: Untagged, list: Vec<External> }

shapes!(
    Inner, InnerClosed, InnerUnit, Words, One, External, ExternalClosed, ExternalOption, ExternalAlias, ExternalSkip, ExternalOther,
    ExternalSkipField, ExternalDefaults, ExternalNested, ExternalMixed, Numbered, ExternalFlatten, Internal, InternalClosed,
    InternalShut, InternalMap, InternalOther, InternalAlias, InternalNested, Internal2, InternalAdjacent, InternalExternal,
    InternalUntagged, InternalSkip, InternalBox, InternalDefaults, InternalFlatten, InternalMixed, InternalOptionNewtype,
    InternalTaggedStruct, TaggedStruct, Adjacent, AdjacentClosed, AdjacentOption, AdjacentOther, AdjacentAlias, AdjacentSkip,
    AdjacentNested, AdjacentMixed, AdjacentValue, Untagged, UntaggedOverlap, UntaggedClosed, UntaggedNewtypes, UntaggedOption,
    UntaggedRecursive, UntaggedEnums, UntaggedSkip, UntaggedMaps, UntaggedFloats, UntaggedDefaults, Holds
);
