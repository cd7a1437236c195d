//! Combinations that were thought up to disagree.
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::{NonZeroU8, NonZeroU64, Saturating, Wrapping};
use std::ops::{Bound, RangeInclusive};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, AtomicU16};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime};

// Internally tagged, with aliases, flattened.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    Round { #[serde(alias = "r", alias = "rad")] radius: u8 },
    #[serde(alias = "box", alias = "square")]
    Square { side: Option<u8> },
    Nothing,
}
#[derive(Serialize, Deserialize)]
pub struct HoldsShape { #[serde(flatten)] shape: Shape, note: Option<String> }
#[derive(Serialize, Deserialize)]
pub struct HoldsTwo { #[serde(flatten)] shape: Shape, #[serde(flatten)] rest: BTreeMap<String, serde_json::Value> }
// Untagged over newtypes of Options, and Options themselves.
#[derive(Serialize, Deserialize)]
pub struct Maybe(Option<u8>);
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum MaybeOr { Maybe(Maybe), Text(String), Both { a: Option<u8>, b: bool } }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Nulls { None, Some(Option<String>), List(Vec<Option<u8>>) }
#[derive(Serialize, Deserialize)]
pub struct HoldsMaybe { a: Maybe, #[serde(default)] b: Nulls2, c: Option<MaybeOr> }
#[derive(Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Nulls2(Option<Option<u8>>);
// Transparent over phantom parameters.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Typed<T, M> { value: T, #[serde(skip)] marker: PhantomData<M> }
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Bounded<M> { id: u8, marker: PhantomData<fn() -> M> }
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct Wrapped<T> { inner: Vec<T>, #[serde(default = "none")] last: Option<T> }
fn none<T>() -> Option<T> { None }
pub struct Meter;
// Names that meet after renaming, across directions.
#[derive(Serialize, Deserialize)]
pub struct Swapped {
    #[serde(rename(serialize = "b", deserialize = "a"))] x: u8,
    #[serde(rename(serialize = "a", deserialize = "b"))] y: String,
}
#[derive(Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase", deserialize = "kebab-case"))]
pub struct TwoCases { first_name: String, #[serde(alias = "firstName")] other_name: Option<String> }
// Defaults in tuples.
#[derive(Serialize, Deserialize)]
pub struct Tail(u8, #[serde(default)] u8, #[serde(default)] Option<String>);
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub struct AllTail(u8, String, Vec<u8>);
#[derive(Serialize, Deserialize)]
pub struct SkippedMiddle(u8, #[serde(skip)] u8, String);
#[derive(Serialize, Deserialize)]
pub enum TupleTail { A(u8, #[serde(default)] u8), B(#[serde(skip)] u8, String) }
// Skipped in one direction.
#[derive(Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct OneWay { #[serde(skip_deserializing)] made: u8, #[serde(skip_serializing)] secret: String, both: bool }
#[derive(Serialize, Deserialize)]
pub struct OneWayDefault { #[serde(skip_deserializing, default = "seven")] made: u8, #[serde(skip_serializing_if = "Option::is_none", default)] b: Option<u8> }
fn seven() -> u8 { 7 }
// Adjacently tagged units, with and without content.
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum Beside { Unit, #[serde(alias = "uno")] One(u8), Maybe(Option<u8>), Pair(u8, u8), Named { a: Option<u8> }, Empty(), Void {} }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub enum BesideClosed { Unit, Maybe(Option<u8>), Named { a: u8 } }
#[derive(Serialize, Deserialize)]
pub struct HoldsBeside { #[serde(flatten)] beside: Beside, x: u8 }
// 128 bits where nothing is buffered, and numbers in untagged.
#[derive(Serialize, Deserialize)]
pub struct Wide { a: i128, b: Option<u128>, c: Vec<i128> }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnyNumber { Small(i8), Big(u64), Negative(i64), Real(f64) }
// `with` on an Option, with and without a default.
mod text {
    use super::*;
    pub(super) fn serialize<S: Serializer>(value: &Option<u8>, to: S) -> Result<S::Ok, S::Error> {
        value.map(|v| v.to_string()).serialize(to)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.and_then(|t| t.parse().ok()))
    }
}
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub struct WithText { #[serde(with = "text")] #[schemars(with = "Option<String>")] a: Option<u8>, #[serde(with = "text", default)] #[schemars(with = "Option<String>")] b: Option<u8> }
// Keys.
#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(transparent)]
pub struct Code(char);
#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum Colour { DeepRed, #[serde(other)] Another }
#[derive(Serialize, Deserialize)]
pub struct Keyed {
    a: BTreeMap<Code, u8>, b: BTreeMap<bool, Option<u8>>, c: HashMap<NonZeroU64, u8>, d: BTreeMap<IpAddr, u8>,
    e: BTreeMap<Arc<str>, u8>, f: BTreeMap<Reverse<u8>, u8>, g: BTreeMap<Wrapping<i8>, u8>, h: BTreeMap<PathBuf, u8>,
}
#[derive(Serialize, Deserialize)]
pub struct OtherKey { a: BTreeMap<Colour, u8> }
// Borrowed.
#[derive(Serialize, Deserialize)]
pub struct Bytes<'a> { text: Cow<'a, str>, bytes: Cow<'a, [u8]>, rows: Cow<'a, [Cow<'a, str>]> }
// Smart pointers, cells and atomics.
#[derive(Serialize, Deserialize)]
pub struct Pointers { a: Box<str>, b: Rc<[u8]>, c: Arc<[Option<u8>]>, d: Box<Option<u8>>, e: Rc<RefCell<Vec<u8>>>, f: Cell<Option<u8>>, g: Mutex<Option<String>>, h: RwLock<BTreeSet<u8>> }
#[derive(Serialize, Deserialize)]
pub struct Atoms { a: AtomicI64, b: AtomicU16, c: Saturating<u32>, d: Reverse<Option<u8>> }
#[derive(Serialize, Deserialize)]
pub struct Spans { a: RangeInclusive<u8>, b: Bound<Option<u8>>, c: Option<Bound<u8>>, d: Vec<RangeInclusive<char>> }
#[derive(Serialize, Deserialize)]
pub struct Clock { a: Option<SystemTime>, b: Vec<Duration>, c: Result<Option<u8>, String>, d: Result<(), ()> }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Buffered { Time(Duration), Address(SocketAddr), Range(RangeInclusive<u8>), Done(Result<u8, String>) }
#[derive(Serialize, Deserialize)]
pub struct FlatStd { #[serde(flatten)] range: RangeInclusive<u8>, #[serde(flatten)] more: HashMap<String, Ipv4Addr> }
// The same member in a flattened struct and beside it, optional in one.
#[derive(Serialize, Deserialize)]
pub struct Inner { #[serde(skip_serializing_if = "Option::is_none")] id: Option<u8>, #[serde(default)] name: String }
#[derive(Serialize, Deserialize)]
pub struct FlatOption { #[serde(flatten)] inner: Option<Inner>, tag: u8 }
#[derive(Serialize, Deserialize)]
pub struct FlatDefault { #[serde(flatten, default)] inner: Defaulted, tag: u8 }
#[derive(Serialize, Deserialize, Default)]
pub struct Defaulted { a: u8, b: Option<u8> }
#[derive(Serialize, Deserialize)]
pub struct FlatBox { #[serde(flatten)] inner: Box<Inner>, #[serde(flatten)] unit: (), z: bool }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlatClosed { #[serde(flatten)] inner: Inner, z: bool }
// Enums in enums.
#[derive(Serialize, Deserialize)]
#[serde(tag = "outer")]
pub enum Outer { A(InnerTagged), B(Defaulted), C(BTreeMap<String, u8>), D }
#[derive(Serialize, Deserialize)]
#[serde(tag = "inner")]
pub enum InnerTagged { X { x: u8 }, Y }
#[derive(Serialize, Deserialize)]
#[serde(tag = "outer")]
pub enum SameTag { A(SameInner), B { z: u8 } }
#[derive(Serialize, Deserialize)]
pub struct SameInner { #[serde(default)] other: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "UPPERCASE")]
pub enum Partly { FirstOne { some_field: u8 }, SecondOne(u8, Option<u8>), #[serde(untagged)] Rest(BTreeMap<String, u8>), #[serde(untagged)] Flag(bool) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum TaggedUntagged { A { x: u8 }, #[serde(untagged)] B { y: String }, #[serde(untagged)] C(u8) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", deny_unknown_fields)]
pub enum TaggedClosed { A { x: Option<u8> }, B, C {} }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum WithOther { A { x: u8 }, #[serde(other)] Else }
#[derive(Serialize, Deserialize)]
pub struct HoldsOther { #[serde(flatten)] other: WithOther, y: Option<u8> }
// A unit struct and an empty one, wherever they may stand.
#[derive(Serialize, Deserialize)]
pub struct Unit;
#[derive(Serialize, Deserialize)]
pub struct Braces {}
#[derive(Serialize, Deserialize)]
pub struct NoTuple();
#[derive(Serialize, Deserialize)]
pub struct Empties { a: Unit, b: Braces, c: NoTuple, d: Option<Unit>, e: [u8; 0], f: Option<()>, g: Box<()> }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UntaggedEmpties { A(Unit), B(Braces), C(NoTuple), D(#[serde(default)] u8, u8) }
// Recursion through everything.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tree { Leaf(u8), Node(Vec<Tree>), Named(BTreeMap<String, Tree>), Either(Box<Result<Tree, Option<Tree>>>) }
#[derive(Serialize, Deserialize)]
pub struct List<T> { value: T, next: Option<Rc<List<T>>> }
// Conversions over optional types.
#[derive(Serialize, Deserialize, Clone)]
#[serde(from = "Option<u8>", into = "Option<u8>")]
pub struct FromOption(Option<u8>);
impl From<Option<u8>> for FromOption { fn from(v: Option<u8>) -> Self { Self(v) } }
impl From<FromOption> for Option<u8> { fn from(v: FromOption) -> Self { v.0 } }
#[derive(Serialize, Deserialize)]
pub struct HoldsFrom { a: FromOption, #[serde(default)] b: Option<FromOption> }
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename = "renamed-struct")]
pub struct TaggedStruct { a: u8, #[serde(flatten)] rest: BTreeMap<String, u8> }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum HoldsTaggedStruct { A(TaggedStruct), B { a: u8 } }
#[derive(Serialize, Deserialize)]
pub struct Nested { grid: [[Option<u8>; 2]; 3], deep: Vec<Vec<(u8, [bool; 1])>>, long: [u8; 32], nz: [NonZeroU8; 2] }

shapes!(
    Shape, HoldsShape, HoldsTwo, Maybe, MaybeOr, Nulls, Nulls2, HoldsMaybe, Typed<u8, Meter>, Typed<Option<String>, Meter>, Bounded<Meter>,
    Wrapped<u8>, Wrapped<Option<bool>>, Swapped, TwoCases, Tail, AllTail, SkippedMiddle, TupleTail, OneWay, OneWayDefault, Beside, BesideClosed,
    HoldsBeside, Wide, AnyNumber, WithText, Code, Colour, Keyed, OtherKey, Bytes<'_>, Pointers, Atoms, Spans, Clock, Buffered, FlatStd, Inner,
    FlatOption, FlatDefault, Defaulted, FlatBox, FlatClosed, Outer, InnerTagged, SameTag, SameInner, Partly, TaggedUntagged, TaggedClosed,
    WithOther, HoldsOther, Unit, Braces, NoTuple, Empties, UntaggedEmpties, Tree, List<Option<u8>>, FromOption, HoldsFrom,
    TaggedStruct, HoldsTaggedStruct, Nested
);
