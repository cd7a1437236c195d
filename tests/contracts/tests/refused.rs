//! What is refused, beside what serde does with it: no set of values, nothing at all, or something no reader can use. Every case is compiled
//! here and scanned as text; take the reason away and the refusal goes.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use flowx_build::contracts::{Contracts, SingleFile};
use flowx_manifest::Direction;

/// Items that are compiled in a module of their own, and their text.
macro_rules! compiled {
    ($module:ident: $($items:tt)*) => {
        mod $module {
            #[allow(unused_imports)]
            use serde::{Deserialize, Serialize};
            #[allow(unused_imports)]
            use std::collections::BTreeMap;
            pub(crate) const TEXT: &str = stringify!($($items)*);
            $($items)*
            #[allow(unused)]
            pub(crate) fn reads(text: &str) -> bool {
                serde_json::from_str::<T>(text).is_ok()
            }
        }
    };
}

/// The codes of the findings about the type `T` of a text.
fn codes(text: &str, direction: Direction) -> Vec<&'static str> {
    let imports = "use serde::{Deserialize, Serialize}; use std::collections::BTreeMap;";
    let file = SingleFile::parse("lib.rs", &format!("{imports} {text}")).unwrap();
    let contracts = Contracts::new(&file);
    contracts.contract(SingleFile::ROOT, &syn::parse_str("T").unwrap(), direction);
    let (_, findings) = contracts.finish();
    findings.iter().map(|f| f.code.id()).collect()
}

fn read(text: &str) -> Vec<&'static str> {
    codes(text, Direction::Request)
}

compiled!(closed: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 }
    #[derive(Deserialize)] #[serde(deny_unknown_fields)] pub struct T { #[serde(flatten)] pair: Option<Pair> });
compiled!(closed_newtype: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 } #[derive(Deserialize)] pub struct Maybe(Option<Pair>);
    #[derive(Deserialize)] #[serde(deny_unknown_fields)] pub struct T { #[serde(flatten)] pair: Maybe });
compiled!(closed_box: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 } pub type Boxed<X> = Box<Option<X>>;
    #[derive(Deserialize)] #[serde(deny_unknown_fields)] pub struct T { #[serde(flatten)] pair: Boxed<Pair> });
compiled!(closed_generic: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 } pub type T = Of<Option<Pair>>;
    #[derive(Deserialize)] #[serde(deny_unknown_fields)] pub struct Of<X> { #[serde(flatten)] pair: X });
compiled!(closed_untagged: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 }
    #[derive(Deserialize)] #[serde(untagged, deny_unknown_fields)] pub enum T { A { #[serde(flatten)] pair: Option<Pair> } });

#[test]
fn a_flattened_option_in_a_closed_type_is_read_by_the_order_of_members() {
    for (text, reads) in [
        (closed::TEXT, closed::reads as fn(&str) -> bool),
        (closed_newtype::TEXT, closed_newtype::reads),
        (closed_box::TEXT, closed_box::reads),
        (closed_generic::TEXT, closed_generic::reads),
        (closed_untagged::TEXT, closed_untagged::reads),
    ] {
        // One value, in two orders: what the Option took before it failed is gone, the rest is unknown to the outer type.
        assert!(reads(r#"{"a":1,"b":"x"}"#), "{text}");
        assert!(!reads(r#"{"b":"x","a":1}"#), "{text}");
        assert_eq!(read(text), ["FLOWX1315"], "{text}");
        // Either alone is exact: the corpus holds such shapes.
        for (reason, without) in [
            ("#[serde(deny_unknown_fields)]", ""),
            ("untagged, deny_unknown_fields", "untagged"),
            ("Option<Pair>", "Pair"),
            ("Box<Option<X>>", "Box<X>"),
        ] {
            if text.contains(reason) {
                assert!(
                    read(&text.replace(reason, without)).is_empty(),
                    "{text} without {reason}"
                );
            }
        }
    }
}

compiled!(closed_variant: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 }
    #[derive(Deserialize)] #[serde(tag = "t", deny_unknown_fields)] pub enum T { A { #[serde(flatten)] pair: Option<Pair> } });
compiled!(before_map: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 }
    #[derive(Deserialize)] pub struct T { #[serde(flatten)] pair: Option<Pair>, #[serde(flatten)] rest: BTreeMap<String, u8> });
compiled!(before_struct: #[derive(Deserialize)] pub struct Pair { a: u8, b: u8 } #[derive(Deserialize)] pub struct Other { a: u8 }
    #[derive(Deserialize)] pub struct T { #[serde(flatten)] pair: Option<Pair>, #[serde(flatten)] other: Other });

#[test]
fn what_an_option_left_behind_is_read_by_the_order_of_members() {
    assert!(closed_variant::reads(r#"{"t":"A","a":1,"b":"x"}"#));
    assert!(!closed_variant::reads(r#"{"t":"A","b":"x","a":1}"#));
    assert_eq!(read(closed_variant::TEXT), ["FLOWX1315"]);

    assert!(before_map::reads(r#"{"a":1,"b":"x"}"#));
    assert!(before_map::reads(r#"{"b":"x","a":1}"#));
    assert!(before_map::reads(r#"{"a":1,"b":null}"#));
    assert!(!before_map::reads(r#"{"a":null,"b":"x"}"#));
    assert!(!before_map::reads(r#"{"b":null,"a":"x"}"#));
    assert_eq!(read(before_map::TEXT), ["FLOWX1315"]);
    // After the map, which takes nothing away, the Option decides nothing.
    let turned = before_map::TEXT.replace("Option<Pair>", "BTreeMap<String, u8>");
    assert!(read(&turned).is_empty());

    assert!(before_struct::reads(r#"{"b":"x","a":1}"#));
    assert!(!before_struct::reads(r#"{"a":1,"b":"x"}"#));
    assert_eq!(read(before_struct::TEXT), ["FLOWX1315"]);
    assert!(read(&before_struct::TEXT.replace("Other { a", "Other { c")).is_empty());
}

compiled!(wide_untagged: #[derive(Deserialize)] #[serde(untagged)] pub enum T { A(u128), B { n: Vec<i128> } });
compiled!(wide_tagged: #[derive(Deserialize)] #[serde(tag = "t")] pub enum T { A { n: i128 } });
compiled!(wide_beside: #[derive(Deserialize)] #[serde(tag = "t", content = "c")] pub enum T { A(u128) });
compiled!(wide_flat: #[derive(Deserialize)] pub struct In { n: Option<u128> } #[derive(Deserialize)] pub struct T { #[serde(flatten)] i: In });
compiled!(keys_flat: #[derive(Deserialize)] pub struct T { #[serde(flatten)] rest: BTreeMap<u8, u8> });
compiled!(flags_flat: #[derive(Deserialize)] pub struct T { #[serde(flatten)] rest: BTreeMap<bool, u8> });
compiled!(keys_untagged: #[derive(Deserialize)] #[serde(untagged)] pub enum T { A(BTreeMap<i64, u8>) });

#[test]
fn serde_reads_no_such_thing_out_of_its_buffer() {
    for (text, reads, values) in [
        (
            wide_untagged::TEXT,
            wide_untagged::reads as fn(&str) -> bool,
            &[
                "5",
                "340282366920938463463374607431768211455",
                r#"{"n":[1]}"#,
            ] as &[_],
        ),
        (
            wide_tagged::TEXT,
            wide_tagged::reads,
            &[r#"{"t":"A","n":5}"#, r#"{"n":-5,"t":"A"}"#],
        ),
        (wide_flat::TEXT, wide_flat::reads, &[r#"{"n":5}"#]),
        (keys_flat::TEXT, keys_flat::reads, &[r#"{"1":2}"#]),
        (flags_flat::TEXT, flags_flat::reads, &[r#"{"true":2}"#]),
        (keys_untagged::TEXT, keys_untagged::reads, &[r#"{"1":2}"#]),
    ] {
        for value in values {
            assert!(!reads(value), "{text}: {value}");
        }
        let found = read(text);
        assert!(
            !found.is_empty() && found.iter().all(|c| *c == "FLOWX1312"),
            "{text}: {found:?}"
        );
        let narrow = text
            .replace("u128", "u64")
            .replace("i128", "i64")
            .replace("BTreeMap<u8", "BTreeMap<char")
            .replace("BTreeMap<bool", "BTreeMap<String")
            .replace("BTreeMap<i64", "BTreeMap<String");
        assert!(read(&narrow).is_empty(), "{narrow}");
    }
    // With the tag first nothing is buffered; a caller's order is nobody's to choose.
    assert!(wide_beside::reads(r#"{"t":"A","c":5}"#));
    assert!(!wide_beside::reads(r#"{"c":5,"t":"A"}"#));
    assert_eq!(read(wide_beside::TEXT), ["FLOWX1312"]);
}

compiled!(no_object: #[derive(Serialize, Deserialize)] #[serde(tag = "t")] pub enum T { A(u8) });
compiled!(no_map: #[derive(Serialize, Deserialize)] pub struct T { pub a: u8, #[serde(flatten)] pub list: Vec<u8> });
compiled!(closed_enum: #[derive(Deserialize)] #[serde(tag = "t")] pub enum E { A { a: u8 } }
    #[derive(Deserialize)] #[serde(deny_unknown_fields)] pub struct T { own: u8, #[serde(flatten)] e: E });
compiled!(taken_tag: #[derive(Deserialize)] #[serde(tag = "t")] pub enum E { A { a: u8 }, B }
    #[derive(Deserialize)] pub struct T { t: String, #[serde(flatten)] e: E });
compiled!(taken_member: #[derive(Deserialize)] pub struct In { #[serde(alias = "b")] a: u8 }
    #[derive(Deserialize)] pub struct T { #[serde(alias = "a")] b: u8, #[serde(flatten)] i: In });

#[test]
fn serde_reads_none_of_its_values_at_all() {
    for (text, reads, values) in [
        (
            no_object::TEXT,
            no_object::reads as fn(&str) -> bool,
            &[r#"{"t":"A"}"#, r#"{"t":"A","A":1}"#] as &[_],
        ),
        (
            no_map::TEXT,
            no_map::reads,
            &[r#"{"a":1}"#, r#"{"a":1,"list":[1]}"#],
        ),
        (
            closed_enum::TEXT,
            closed_enum::reads,
            &[r#"{"own":1,"t":"A","a":2}"#],
        ),
        (
            taken_tag::TEXT,
            taken_tag::reads,
            &[r#"{"t":"A","a":2}"#, r#"{"t":"B"}"#],
        ),
        (
            taken_member::TEXT,
            taken_member::reads,
            &[r#"{"a":1}"#, r#"{"b":1}"#, r#"{"a":1,"b":2}"#],
        ),
    ] {
        for value in values {
            assert!(!reads(value), "{text}: {value}");
        }
        assert_eq!(read(text), ["FLOWX1311"], "{text}");
    }
    // An enum with one form that is left can be read as that one: `corners.rs`.
    assert!(read(&taken_tag::TEXT.replace("t: String", "x: String")).is_empty());
    assert!(serde_json::to_string(&no_object::T::A(1)).is_err());
    assert!(
        serde_json::to_string(&no_map::T {
            a: 1,
            list: vec![1]
        })
        .is_err()
    );
}

compiled!(two_tags: #[derive(Serialize, Deserialize)] #[serde(tag = "t")] pub struct In { pub v: u8 }
    #[derive(Serialize, Deserialize)] #[serde(tag = "t")] pub enum T { A(In) });
compiled!(own_tag: #[derive(Serialize, Deserialize)] pub struct In { pub t: u8 }
    #[derive(Serialize, Deserialize)] #[serde(tag = "t")] pub enum T { A { #[serde(flatten)] i: Option<In> } });
compiled!(inside_itself: #[derive(Deserialize)] pub struct T { pub v: u8, #[serde(flatten)] pub next: Option<Box<T>> });
compiled!(pair_key: #[derive(Serialize, Deserialize)] pub struct T { pub m: BTreeMap<(u8, u8), u8> });

#[test]
fn what_serde_writes_is_of_no_use_to_a_reader() {
    let write = |direction| move |text: &str| codes(text, direction);
    let written = write(Direction::Response);
    let twice = |text: String, name: &str| assert_eq!(text.matches(name).count(), 2, "{text}");

    twice(
        serde_json::to_string(&two_tags::T::A(two_tags::In { v: 1 })).unwrap(),
        r#""t":"#,
    );
    assert_eq!(written(two_tags::TEXT), ["FLOWX1313"]);

    let inner = Some(own_tag::In { t: 1 });
    twice(
        serde_json::to_string(&own_tag::T::A { i: inner }).unwrap(),
        r#""t":"#,
    );
    assert_eq!(written(own_tag::TEXT), ["FLOWX1313"]);
    assert!(written(&own_tag::TEXT.replace("pub t", "pub u")).is_empty());

    // rustc gives up on writing it (E0275), and reading finds no second `v`, ever.
    let read_back: inside_itself::T = serde_json::from_str(r#"{"v":1,"next":{"v":2}}"#).unwrap();
    assert!(read_back.v == 1 && read_back.next.is_none());
    assert_eq!(read(inside_itself::TEXT), ["FLOWX1307"]);

    let m = [((1, 2), 3)].into();
    assert!(serde_json::to_string(&pair_key::T { m }).is_err());
    assert_eq!(written(pair_key::TEXT), ["FLOWX1309"]);
}
