//! The strict reader and the canonical writer.
#![allow(clippy::unwrap_used)]

use flowx_manifest::Json;
use flowx_manifest::json::{JsonErrorKind as Kind, Limits, parse};
use proptest::prelude::*;

fn kind(text: &str) -> Kind {
    parse(text.as_bytes(), Limits::REQUEST)
        .expect_err(text)
        .kind
}

#[test]
fn two_readers_could_disagree_about_none_of_what_is_accepted() {
    assert_eq!(kind(r#"{"a":1,"a":2}"#), Kind::DuplicateKey("a".into()));
    assert_eq!(
        kind(r#"{"a":{"b":1,"\u0062":2}}"#),
        Kind::DuplicateKey("b".into())
    );
    assert_eq!(kind(r#""\u0000""#), Kind::Nul);
    assert_eq!(kind(r#"{"a\u0000":1}"#), Kind::Nul);
    assert_eq!(kind(r#""\ud800""#), Kind::Surrogate);
    assert_eq!(kind(r#""\ud800\u0041""#), Kind::Surrogate);
    assert_eq!(kind(r#""\udc00""#), Kind::Surrogate);
    assert_eq!(kind("1e309"), Kind::Number);
    assert_eq!(kind("1e-99999999999"), Kind::Number);
    assert_eq!(kind(&"9".repeat(65)), Kind::Number);
    assert_eq!(
        parse(b"\"\xff\"", Limits::REQUEST).unwrap_err().kind,
        Kind::Utf8
    );
    assert_eq!(
        parse(b"\xef\xbb\xbf1", Limits::REQUEST).unwrap_err().offset,
        0
    );
    for syntax in [
        "",
        " ",
        "01",
        "-",
        "1.",
        ".5",
        "+1",
        "1e",
        "NaN",
        "nul",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "[1 2]",
        "1 2",
        "\"a",
        "[",
        "{\"a\"",
        "// c\n1",
    ] {
        assert!(matches!(kind(syntax), Kind::Syntax(_)), "{syntax:?}");
    }
}

#[test]
fn limits_hold_at_the_edge() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(parse(deep(64).as_bytes(), Limits::REQUEST).is_ok());
    assert_eq!(kind(&deep(65)), Kind::TooDeep(64));
    let wide = |n: usize| format!("\"{}\"", "a".repeat(n - 2));
    assert!(parse(wide(1 << 20).as_bytes(), Limits::REQUEST).is_ok());
    assert_eq!(kind(&wide((1 << 20) + 1)), Kind::TooLarge(1 << 20));
    assert!(parse(b"1e308", Limits::REQUEST).is_ok());
    assert!(parse("9".repeat(64).as_bytes(), Limits::REQUEST).is_ok());
}

#[test]
fn an_error_says_where() {
    assert_eq!(
        parse(br#"{"a": tru}"#, Limits::REQUEST).unwrap_err().offset,
        6
    );
    assert_eq!(
        parse(br#"{"a":1, "a":2}"#, Limits::REQUEST)
            .unwrap_err()
            .offset,
        8
    );
}

#[test]
fn a_number_keeps_its_literal() {
    for literal in [
        "0",
        "-0",
        "10",
        "1e1",
        "1.50",
        "340282366920938463463374607431768211455",
    ] {
        assert_eq!(
            parse(literal.as_bytes(), Limits::REQUEST)
                .unwrap()
                .to_canonical(),
            literal
        );
    }
    assert_eq!(Json::from_f64(2.0).to_canonical(), "2");
    assert_eq!(Json::from_f64(0.1).to_canonical(), "0.1");
    assert_eq!(Json::from_f64(1e300).to_canonical(), "1e300");
    assert_eq!(Json::from_f64(f64::NAN), Json::Null);
}

#[test]
fn keys_are_sorted_by_code_point() {
    let json = parse(
        "{\"\u{ffff}\":1,\"\u{10000}\":2,\"b\":3,\"B\":4}".as_bytes(),
        Limits::REQUEST,
    )
    .unwrap();
    // By UTF-16 unit U+10000 would come before U+FFFF.
    assert_eq!(
        json.to_canonical(),
        "{\"B\":4,\"b\":3,\"\u{ffff}\":1,\"\u{10000}\":2}"
    );
}

#[test]
fn a_pointer_finds_what_it_names() {
    let json = parse(br#"{"a/b":[{"~":1}]}"#, Limits::REQUEST).unwrap();
    assert_eq!(json.pointer("/a~1b/0/~0"), Some(&1.into()));
    assert_eq!(json.pointer(""), Some(&json));
    assert_eq!(json.pointer("/a~1b/1"), None);
    assert_eq!(json.pointer("a"), None);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u128>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from_f64),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Json::Object),
        ]
    })
}

proptest! {
    #[test]
    fn the_canonical_form_is_read_back_the_same(json in any_json()) {
        let text = json.to_canonical();
        prop_assert_eq!(&parse(text.as_bytes(), Limits::DOCUMENT).unwrap(), &json);
        prop_assert_eq!(&parse(json.to_pretty().as_bytes(), Limits::DOCUMENT).unwrap(), &json);
        prop_assert!(!text.contains('\n'));
    }

    #[test]
    fn serialising_gives_the_canonical_form(json in any_json()) {
        // Doubles aside: serde prints its own shortest form of those.
        let text = serde_json::to_string(&json).unwrap();
        let back = parse(text.as_bytes(), Limits::DOCUMENT).unwrap();
        prop_assert_eq!(back.to_value(), json.to_value());
    }

    #[test]
    fn what_is_accepted_another_reader_reads_the_same(text in "[\\[\\]{}\",:a0-9eE.+\\-\\\\u \\n]{0,24}") {
        let ours = parse(text.as_bytes(), Limits::DOCUMENT);
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.to_value(), theirs),
            (Ok(ours), Err(e)) => prop_assert!(e.to_string().contains("out of range"), "{ours} {e}"),
            (Err(ours), Ok(_)) => prop_assert!(matches!(ours.kind, Kind::DuplicateKey(_) | Kind::Number), "{ours}"),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse(&bytes, Limits::REQUEST);
    }
}

#[test]
fn a_whole_number_is_one_integer_however_it_is_written() {
    let whole = |text: &str| {
        parse(text.as_bytes(), Limits::DOCUMENT)
            .expect(text)
            .with_whole_numbers()
            .to_canonical()
    };
    for (text, integer) in [
        ("500.0", "500"),
        ("5e2", "500"),
        ("5E+2", "500"),
        ("0.5e3", "500"),
        ("5000e-1", "500"),
        ("-12.50e1", "-125"),
        ("-0", "0"),
        ("0.0", "0"),
        ("-0.0e9", "0"),
        ("0e300", "0"),
        ("9007199254740993.0", "9007199254740993"),
        ("18446744073709551615.0", "18446744073709551615"),
        (
            "340282366920938463463374607431768211455.0",
            "340282366920938463463374607431768211455",
        ),
        ("1e38", "100000000000000000000000000000000000000"),
        (r#"[1.0,{"a":2e0}]"#, r#"[1,{"a":2}]"#),
    ] {
        assert_eq!(whole(text), integer, "{text}");
    }
    for same in [
        "0.5",
        "1e-1",
        "12.5",
        "1e40",
        "500",
        "-7",
        r#""5.0""#,
        "12345678901234567890.5",
    ] {
        assert_eq!(whole(same), same);
    }
}
