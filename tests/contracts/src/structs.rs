use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub struct Plain { a: u32, b: String, c: bool }
#[derive(Serialize, Deserialize)]
pub struct Optional { a: Option<u32>, b: Option<Option<String>>, c: Box<Option<bool>> }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed { a: u8, b: Option<i8> }
#[derive(Serialize, Deserialize)]
pub struct Empty {}
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyClosed {}
#[derive(Serialize, Deserialize)]
pub struct Unit;
#[derive(Serialize, Deserialize)]
pub struct Newtype(u16);
#[derive(Serialize, Deserialize)]
pub struct NewtypeOption(Option<u16>);
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentOption(Option<u16>);
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentNamed { inner: Vec<u8> }
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentMarked { inner: i64, #[serde(skip)] mark: std::marker::PhantomData<u8> }
#[derive(Serialize, Deserialize)]
pub struct AsksNewtypes { a: NewtypeOption, b: TransparentOption, c: Unit, d: () }
#[derive(Serialize, Deserialize)]
pub struct Tuple(u8, String, Option<bool>);
#[derive(Serialize, Deserialize)]
pub struct TupleDefault(u8, #[serde(default)] String, #[serde(default)] bool);
#[derive(Serialize, Deserialize)]
pub struct TupleSkip(u8, #[serde(skip)] String, i16);
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub struct TupleAllDefault(u8, String);
#[derive(Serialize, Deserialize)]
pub struct TupleEmpty();
#[derive(Serialize, Deserialize)]
pub struct TupleSkipAll(#[serde(skip)] u8, #[serde(skip)] u8);
#[derive(Serialize, Deserialize)]
pub struct TupleOneOfTwo(#[serde(skip)] u8, u8);
#[derive(Serialize, Deserialize)]
pub struct Nested { plain: Plain, list: Vec<Closed>, tuple: Tuple }
#[derive(Serialize, Deserialize)]
pub struct Defaults { #[serde(default)] a: u32, #[serde(default = "seven")] b: u32, c: u32 }
fn seven() -> u32 { 7 }
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub struct ContainerDefault { a: u32, b: String, c: Option<u8> }
#[derive(Serialize, Deserialize)]
#[serde(default = "container")]
pub struct ContainerDefaultPath { a: u32, b: String }
fn container() -> ContainerDefaultPath { ContainerDefaultPath { a: 1, b: "x".into() } }
#[derive(Serialize, Deserialize)]
pub struct RequiredByDirection {
    #[serde(default)] a: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")] b: Vec<u8>,
    c: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")] d: Vec<u8>,
}
#[derive(Serialize, Deserialize)]
pub struct SkipBoth { a: u8, #[serde(skip)] b: u8 }
#[derive(Serialize, Deserialize)]
pub struct SkipReading { a: u8, #[serde(skip_deserializing)] b: u8 }
#[derive(Serialize, Deserialize)]
pub struct SkipWriting { a: u8, #[serde(skip_serializing)] b: u8 }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkipClosed { a: u8, #[serde(skip)] b: u8, #[serde(skip_deserializing)] c: u8 }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllSkippedClosed { #[serde(skip)] b: u8 }
#[derive(Serialize, Deserialize)]
pub struct SkipIf { #[serde(skip_serializing_if = "Option::is_none")] a: Option<u8>, #[serde(default, skip_serializing_if = "is_zero")] b: u8 }
fn is_zero(n: &u8) -> bool { *n == 0 }
#[derive(Serialize, Deserialize)]
pub struct Alias { #[serde(alias = "old")] new: u8, #[serde(alias = "x", alias = "y")] z: Option<String> }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AliasClosed { #[serde(alias = "old", default)] new: u8 }
#[derive(Serialize, Deserialize)]
pub struct AliasDefault { #[serde(alias = "a1", alias = "a2", default)] a: u8, #[serde(alias = "b1")] b: u8, #[serde(alias = "c1")] c: u8 }
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
pub struct Tagged { a: u8 }
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename = "named")]
pub struct TaggedRenamed { a: u8 }
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
pub struct TaggedEmpty {}
#[derive(Serialize, Deserialize)]
pub struct Recursive { value: u8, next: Option<Box<Recursive>> }
#[derive(Serialize, Deserialize)]
pub struct Tree { children: Vec<Tree>, named: BTreeMap<String, Tree> }
#[derive(Serialize, Deserialize)]
pub struct MutualA { b: Option<Box<MutualB>> }
#[derive(Serialize, Deserialize)]
pub struct MutualB { a: Vec<MutualA> }
#[derive(Serialize, Deserialize)]
pub struct Selfish { again: Option<Box<Self>> }
#[derive(Serialize, Deserialize)]
pub struct Borrowed<'a> { text: Cow<'a, str>, owned: Cow<'a, [u8]> }
#[derive(Serialize, Deserialize)]
pub struct WithOption { #[serde(with = "passing")] a: Option<u8>, #[serde(default, with = "passing")] b: Option<u8> }
mod passing {
    use serde::{Deserialize as _, Serialize as _};
    pub(super) fn serialize<S: serde::Serializer>(v: &Option<u8>, s: S) -> Result<S::Ok, S::Error> { v.serialize(s) }
    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<u8>, D::Error> { Option::deserialize(d) }
}
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub struct WithSaid { #[serde(with = "passing")] #[schemars(with = "Option<u8>")] a: Option<u8> }
#[derive(Serialize, Deserialize)]
pub struct UnitField { a: (), b: std::marker::PhantomData<String> }
#[derive(Deserialize)]
pub struct ReadOnly { a: u8, #[serde(skip_serializing)] b: u8 }
#[derive(Serialize, Deserialize)]
pub struct Deep { a: Vec<Option<Vec<Option<(u8, Option<String>)>>>> }
#[derive(Serialize, Deserialize)]
pub struct SkippedNewtype(#[serde(skip)] u8);
#[derive(Serialize, Deserialize)]
pub struct DefaultNewtype(#[serde(default)] u8);

shapes!(
    Plain, Optional, Closed, Empty, EmptyClosed, Unit, Newtype, NewtypeOption, TransparentOption, TransparentNamed,
    TransparentMarked, AsksNewtypes, Tuple, TupleDefault, TupleSkip, TupleAllDefault, TupleEmpty, TupleSkipAll,
    TupleOneOfTwo, Nested, Defaults, ContainerDefault, ContainerDefaultPath, RequiredByDirection, SkipBoth, SkipReading,
    SkipWriting, SkipClosed, AllSkippedClosed, SkipIf, Alias, AliasClosed, AliasDefault, Tagged, TaggedRenamed, TaggedEmpty,
    Recursive, Tree, MutualA, MutualB, Selfish, Borrowed<'_>, WithOption, WithSaid, UnitField, ReadOnly, Deep,
    SkippedNewtype, DefaultNewtype
);
