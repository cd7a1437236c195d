//! Sharp corners of serde, where one attribute meets another.
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::net::IpAddr;
use std::num::NonZeroU8;
use std::ops::{Bound, RangeInclusive};
use std::time::Duration;

#[derive(Serialize, Deserialize)]
pub struct Few { #[serde(default, skip_serializing_if = "Option::is_none")] m: Option<u8>, #[serde(default, skip_serializing_if = "Option::is_none")] n: Option<u8> }
#[derive(Serialize, Deserialize)]
pub struct Inner { x: u8, #[serde(skip_serializing_if = "Option::is_none")] y: Option<String> }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shut { s: u8 }
#[derive(Serialize, Deserialize)]
pub struct Unit;
#[derive(Serialize, Deserialize)]
pub struct Aliased { #[serde(alias = "old")] new: u8 }

// Aliases meet `flatten`: whoever stands outside takes the member first.
#[derive(Deserialize)]
pub struct AliasTakes { #[serde(alias = "m")] own: u8, #[serde(flatten)] inner: Few }
#[derive(Deserialize)]
pub struct AliasTaken { #[serde(default)] old: u8, #[serde(flatten)] inner: Aliased }
#[derive(Deserialize)]
pub struct SameMember { #[serde(flatten)] a: Few, #[serde(flatten)] b: Few }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AliasFlatClosed { #[serde(alias = "o", alias = "p")] own: Option<u8>, #[serde(flatten)] inner: Aliased }
#[derive(Serialize, Deserialize)]
pub struct AliasThenMap { #[serde(alias = "o")] own: u8, #[serde(flatten)] inner: Aliased, #[serde(flatten)] rest: BTreeMap<String, bool> }
#[derive(Serialize, Deserialize)]
pub struct RenamedApart { #[serde(rename(serialize = "out"), alias = "out", alias = "was")] x: u8, #[serde(rename(deserialize = "in"))] y: Option<bool> }
#[derive(Serialize, Deserialize)]
pub struct AliasOfItself { #[serde(rename = "a", alias = "a", alias = "b")] x: u8 }

// An outer member that a form of what is flattened would need, or may have.
#[derive(Deserialize)]
pub struct TakesOfEnum { a: Option<bool>, #[serde(flatten)] e: Internal }
#[derive(Deserialize)]
pub struct TakesOfUntagged { b: u8, #[serde(flatten)] e: Loose }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Loose { A { a: u8 }, B { b: u8, c: Option<u8> }, C { #[serde(alias = "b", alias = "e")] d: u8 } }
#[derive(Deserialize)]
#[allow(non_snake_case)]
pub struct TakesVariant { A: u8, #[serde(flatten)] e: External }
#[derive(Deserialize)]
pub struct TakesContent { c: u8, #[serde(flatten)] e: Beside }
#[derive(Deserialize)]
pub struct TakesOfOption { x: bool, #[serde(flatten)] inner: Option<Inner> }

// Options under `flatten`, however they are wrapped.
#[derive(Serialize, Deserialize)]
pub struct MaybeInner(Option<Inner>);
#[derive(Serialize, Deserialize)]
pub struct FlatNewtypeOption { own: u8, #[serde(flatten)] inner: MaybeInner }
#[derive(Serialize, Deserialize)]
pub struct FlatBoxOption { own: u8, #[serde(flatten)] inner: Box<Option<Inner>> }
#[derive(Serialize, Deserialize)]
pub struct FlatOptionBox { own: u8, #[serde(flatten)] inner: Option<Box<Inner>> }
#[derive(Serialize, Deserialize)]
pub struct FlatTwice { own: u8, #[serde(flatten)] inner: Option<Option<Inner>> }
#[derive(Serialize, Deserialize)]
pub struct FlatOptionShut { own: u8, #[serde(flatten)] inner: Option<Shut> }
#[derive(Serialize, Deserialize)]
pub struct FlatOptionThenMap { #[serde(flatten)] inner: Option<Shut>, #[serde(flatten)] rest: BTreeMap<String, String> }
#[derive(Serialize, Deserialize)]
pub struct FlatMapThenOption { #[serde(flatten)] rest: BTreeMap<String, u8>, #[serde(flatten)] inner: Option<Few> }
#[derive(Serialize, Deserialize)]
pub struct FlatOptionThenStruct { #[serde(flatten)] few: Option<Few>, #[serde(flatten)] inner: Inner }
#[derive(Serialize, Deserialize)]
pub struct FlatSkipIf { own: u8, #[serde(flatten, skip_serializing_if = "Option::is_none")] inner: Option<Inner> }
#[derive(Serialize, Deserialize)]
pub struct FlatDefaultMap { own: u8, #[serde(flatten, default)] rest: HashMap<String, Option<u8>> }

// Other things that are flattened.
#[derive(Serialize, Deserialize)]
pub struct FlatUnits { own: u8, #[serde(flatten)] a: Unit, #[serde(flatten)] b: PhantomData<u8> }
#[derive(Serialize, Deserialize)]
pub struct FlatJsonMap { own: u8, #[serde(flatten)] rest: serde_json::Map<String, serde_json::Value> }
#[derive(Serialize, Deserialize)]
pub struct FlatIndexMap { own: u8, #[serde(flatten)] rest: indexmap::IndexMap<String, (u8, bool)> }
#[derive(Serialize, Deserialize)]
pub struct FlatCharKeys { #[serde(flatten)] rest: BTreeMap<char, u8> }
#[derive(Serialize, Deserialize)]
pub struct FlatEnumKeys { own: u8, #[serde(flatten)] rest: BTreeMap<Word, Option<bool>> }
#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Word { OneTwo, #[serde(alias = "2")] Two }
#[derive(Serialize, Deserialize)]
pub struct FlatAddressKeys { own: bool, #[serde(flatten)] rest: BTreeMap<IpAddr, u8> }
#[derive(Serialize, Deserialize)]
pub struct FlatTwoMaps { #[serde(flatten)] a: BTreeMap<String, u8>, #[serde(flatten)] b: BTreeMap<String, u8> }
#[derive(Serialize, Deserialize)]
pub struct WrapsInternal(Internal);
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum Internal { A { a: u8 }, B(Inner), C }
#[derive(Serialize, Deserialize)]
pub struct FlatWrapped { own: u8, #[serde(flatten)] e: WrapsInternal }
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Clear { e: External }
#[derive(Serialize, Deserialize)]
pub enum External { A(Option<u8>), B { b: u8 }, C, D(Unit) }
#[derive(Serialize, Deserialize)]
pub struct FlatClear { own: u8, #[serde(flatten)] e: Clear }
#[derive(Serialize, Deserialize)]
pub struct FlatBeside { #[serde(flatten)] beside: Beside, c2: u8 }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum Beside { A(Option<u8>), B, #[serde(other)] Rest }
#[derive(Serialize, Deserialize)]
pub struct FlatOtherExternal { own: u8, #[serde(flatten)] e: OtherExternal }
#[derive(Serialize, Deserialize)]
pub enum OtherExternal { A(u8), #[serde(other)] Rest }
#[derive(Serialize, Deserialize)]
pub struct FlatMixed { own: u8, #[serde(flatten)] e: Mixed }
#[derive(Serialize, Deserialize)]
pub enum Mixed { A(u8), #[serde(untagged)] B { b: u8 }, #[serde(untagged)] C(BTreeMap<String, bool>) }
#[derive(Serialize, Deserialize)]
pub struct FlatGeneric<T> { own: u8, #[serde(flatten)] inner: T, #[serde(flatten)] more: Option<Few> }
#[derive(Serialize, Deserialize)]
pub struct FlatRange { #[serde(flatten)] span: RangeInclusive<u8>, own: Option<u8> }
#[derive(Serialize, Deserialize)]
pub struct FlatTaggedStruct { own: u8, #[serde(flatten)] inner: TaggedStruct }
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename = "the-struct")]
pub struct TaggedStruct { v: u8 }
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub struct TaggedStructClosed { v: u8 }

// Tags beside the members, around types that are closed.
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum AroundClosed { A(Shut), B(FlatShut), C(ShutEnum), D { #[serde(flatten)] inner: Shut } }
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlatShut { p: u8, #[serde(flatten)] inner: Few }
#[derive(Serialize, Deserialize)]
#[serde(tag = "u", deny_unknown_fields)]
pub enum ShutEnum { P, Q { q: Option<u8> } }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum AroundAll { #[serde(alias = "one")] FirstOne { #[serde(alias = "old", default)] some_field: u8, other_one: Option<u8> }, SecondOne(Few), ThirdOne }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum AroundUnits { A(Unit), B(PhantomData<u8>), C(()), #[serde(other)] D }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum AroundStd { Wait { time: Duration, until: Bound<u8> }, Keys(BTreeMap<Word, u8>), Names(HashMap<String, Vec<Unit>>), Letters(BTreeMap<char, bool>) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum AroundTagged { A(TaggedStruct), B(Box<AroundTagged2>) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "u", content = "c")]
pub enum AroundTagged2 { A(u8), B }

// `other` and adjacent tags.
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub enum BesideClosed { A(u8), #[serde(other)] Rest }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BesideTuples { FirstOne(u8, #[serde(default)] u8), #[serde(alias = "two")] SecondOne { #[serde(default)] a: u8, #[serde(flatten)] more: Few }, ThirdOne(Unit), Fourth(PhantomData<u8>), Fifth(Option<Option<u8>>) }
#[derive(Serialize, Deserialize)]
pub enum OnlyOther { #[serde(other)] Whatever }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum OnlyOtherTagged { #[serde(other)] Whatever }

// Untagged, what the buffer remembers.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Letters<'a> { One(char), Text(Cow<'a, str>), Bytes(Cow<'a, [u8]>) }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Numbers { Flag(bool), NotZero(NonZeroU8), Signed(i8), Real(f32), Word(Word) }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Deep { A(Option<Option<u8>>), B(Vec<Unit>), C(Box<Deep2>), D { d: PhantomData<u8>, #[serde(flatten)] rest: BTreeMap<String, u8> } }
#[derive(Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Deep2 { Named { a_b: u8, #[serde(default, alias = "cd")] c_d: u8 }, Tuple(bool, #[serde(default)] Option<bool>), Nothing }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum HoldsTagged { A(Internal), B(External), C(Beside), D(IpAddr), E(Duration) }
#[derive(Serialize, Deserialize)]
pub struct AsksUntagged { a: JustOption, #[serde(default)] b: Option<JustOption>, c: Option<Deep2> }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum JustOption { A(Option<u8>) }

// Names.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(non_camel_case_types)]
pub enum SnakeOdd { HTTP2Server, IPv4, B2B, X1Y2, _Private, Already_snake, Ω, r#type }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(non_camel_case_types)]
pub enum CamelOdd { HTTP2Server, IPv4, _Private, Already_snake, r#struct, Zéro }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
#[allow(non_camel_case_types)]
pub enum ScreamingOdd { HTTP2Server, B2B, _Private, Already_snake, Ärger }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(non_snake_case)]
pub struct CamelFields { a__b: u8, _lead: u8, trail_: u8, x2_y: u8, r#type: u8, r#async: Option<u8>, un_été: u8, URL: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(non_snake_case)]
pub struct PascalFields { a__b: u8, _lead: u8, trail_: u8, x2_y: u8, r#fn: u8, éé: u8, _1st: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(non_snake_case)]
pub struct KebabFields { a__b: u8, _lead: u8, x2_y: u8, r#match: u8, URL_of: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all(serialize = "UPPERCASE", deserialize = "lowercase"), rename_all_fields(serialize = "camelCase", deserialize = "PascalCase"))]
#[allow(non_camel_case_types)]
pub enum TwoWays { FirstOne { some_field: u8 }, r#final, #[serde(rename = "x")] SecondOne(u8) }

// Places in tuples, empties in sequences.
#[derive(Serialize, Deserialize)]
pub struct Places(u8, #[serde(skip)] u8, #[serde(default)] Option<u8>, #[serde(default)] String);
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub struct PlacesAll(Option<u8>, #[serde(skip_serializing)] u8, Vec<()>);
#[derive(Serialize, Deserialize)]
pub struct Empties { a: Vec<Unit>, b: [Unit; 2], c: (Unit, u8), d: BTreeMap<String, Unit>, e: Vec<PhantomData<u8>>, f: (PhantomData<u8>, ()), g: [(); 3], h: BTreeMap<Word, ()>, i: Result<Unit, PhantomData<u8>> }
#[derive(Serialize, Deserialize)]
pub struct Twice {
    #[serde(default, skip_serializing_if = "Option::is_none")] a: Option<Option<u8>>,
    #[serde(alias = "bb")] b: Option<Option<Unit>>,
    c: Box<Option<Box<Option<u8>>>>,
}
#[derive(Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct DefaultClosed { #[serde(alias = "old_name")] new_name: u8, #[serde(skip_deserializing)] made_here: u8, #[serde(flatten)] more: FewDefault }
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub struct FewDefault { k: u8, l: Option<u8> }
#[derive(Serialize, Deserialize)]
pub struct Keys { a: BTreeMap<Option<Word>, u8>, b: BTreeMap<Box<char>, u8>, c: BTreeMap<Cow<'static, str>, Unit>, d: BTreeMap<NonZeroU8, BTreeSet<bool>> }
#[derive(Serialize, Deserialize)]
pub enum WideOutside { A(u128), B { n: i128 }, C(Option<u128>, BTreeMap<u64, i128>) }
#[derive(Serialize, Deserialize)]
pub struct Loop { v: u8, kids: Vec<Loop>, #[serde(flatten)] more: Option<LoopMore> }
#[derive(Serialize, Deserialize)]
pub struct LoopMore { w: Option<Box<Loop>>, z: bool }

shapes!(
    Few, Inner, Shut, Unit, Aliased, AliasTakes, AliasTaken, SameMember, AliasFlatClosed, AliasThenMap, RenamedApart, AliasOfItself, TakesOfEnum, TakesOfUntagged, Loose, TakesVariant, TakesContent, TakesOfOption, MaybeInner,
    FlatNewtypeOption, FlatBoxOption, FlatOptionBox, FlatTwice, FlatOptionShut, FlatOptionThenMap, FlatMapThenOption, FlatOptionThenStruct, FlatSkipIf, FlatDefaultMap, FlatUnits,
    FlatJsonMap, FlatIndexMap, FlatCharKeys, FlatEnumKeys, Word, FlatAddressKeys, FlatTwoMaps, WrapsInternal, Internal, FlatWrapped, Clear,
    External, FlatClear, FlatBeside, Beside, FlatOtherExternal, OtherExternal, FlatMixed, Mixed, FlatGeneric<Inner>, FlatGeneric<Internal>,
    FlatGeneric<Option<Inner>>, FlatRange, FlatTaggedStruct, TaggedStruct, TaggedStructClosed, AroundClosed, FlatShut, ShutEnum, AroundAll,
    AroundUnits, AroundStd, AroundTagged, AroundTagged2, BesideClosed, BesideTuples, OnlyOther, OnlyOtherTagged, Letters<'_>, Numbers, Deep,
    Deep2, HoldsTagged, AsksUntagged, JustOption, SnakeOdd, CamelOdd, ScreamingOdd, CamelFields, PascalFields, KebabFields, TwoWays, Places,
    PlacesAll, Empties, Twice, DefaultClosed, FewDefault, Keys, WideOutside, Loop, LoopMore
);
