//! Whatever is said of two schemas holds for every value that can be tried: judged by a validator that knows nothing of this crate,
//! over schemas with every keyword, the awkward ones first.

use std::sync::LazyLock;

use flowx_diff::inclusion::{Budget, Verdict, check};
use flowx_diff::sample;
use flowx_manifest::{Direction, Json};
use proptest::prelude::*;

use crate::json;

const KEYS: [&str; 5] = ["a", "b", "ab", "1", "é"];
const PATTERNS: [&str; 6] = ["^a", "b$", "^\\d$", "^.$", "^[^a]*$", "\\w"];

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = Json> {
    proptest::sample::select(texts).prop_map(json)
}

/// Values that schemas like these tell apart.
static VALUES: LazyLock<Vec<Json>> = LazyLock::new(|| {
    let scalars = [
        "null",
        "true",
        "false",
        "0",
        "1",
        "1.0",
        "-1",
        "2",
        "3",
        "0.5",
        "0.3",
        "2.5",
        "1e2",
        "100",
        "-0.0",
        "9007199254740993",
        "9007199254740992",
        "18446744073709551616",
        "1e300",
        r#""""#,
        r#""a""#,
        r#""b""#,
        r#""ab""#,
        r#""aab""#,
        r#""é""#,
        r#""𝄞𝄞""#,
        r#""1""#,
        r#""٣""#,
        r#""b\n""#,
        "[]",
        "{}",
        "[1]",
        "[1,1.0]",
        "[1,2]",
        "[null,1]",
        r#"["a","b"]"#,
        r#"["a",1,2]"#,
        "[1,2,3,4]",
        "[[1],[1.0]]",
    ];
    let mut out: Vec<Json> = scalars.into_iter().map(json).collect();
    let inner = ["null", "1", "2.5", r#""a""#, r#""b""#, "[]", "{}"].map(json);
    for key in KEYS {
        for value in &inner {
            out.push(Json::object([(key, value.clone())]));
            for other in KEYS.iter().filter(|k| **k > key) {
                for second in &inner {
                    out.push(Json::object([
                        (key, value.clone()),
                        (other, second.clone()),
                    ]));
                }
            }
        }
    }
    out.push(json(r#"{"a":1,"b":1,"ab":1,"1":1}"#));
    out.push(json(r#"{"a":{"a":1,"b":2}}"#));
    out
});

fn scalar() -> impl Strategy<Value = Json> {
    let keyword = prop_oneof![
        (0u32..4).prop_map(|n| ("minLength", Json::from(n))),
        (0u32..4).prop_map(|n| ("maxLength", Json::from(n))),
        proptest::sample::select(&PATTERNS[..]).prop_map(|p| ("pattern", Json::from(p))),
        one_of(&[
            "0",
            "1",
            "1.0",
            "2.5",
            "-1",
            "9007199254740993",
            "1e2",
            "1e300"
        ])
        .prop_map(|n| ("minimum", n)),
        one_of(&[
            "0",
            "1",
            "1.0",
            "2.5",
            "3",
            "9007199254740992",
            "100",
            "1e300"
        ])
        .prop_map(|n| ("maximum", n)),
        one_of(&["0", "1", "2.5"]).prop_map(|n| ("exclusiveMinimum", n)),
        one_of(&["0", "3", "2.5"]).prop_map(|n| ("exclusiveMaximum", n)),
        one_of(&["1", "2", "2.0", "0.5", "0.1", "3"]).prop_map(|n| ("multipleOf", n)),
        one_of(&[
            r#""integer""#,
            r#""number""#,
            r#""string""#,
            r#""null""#,
            r#""boolean""#,
            r#"["string","null"]"#,
            r#"["integer","array"]"#,
            r#"["integer","number"]"#,
        ])
        .prop_map(|t| ("type", t)),
        one_of(&["1", "1.0", "null", r#""a""#, "[1]", r#"{"a":1}"#, "[1.0]"])
            .prop_map(|v| ("const", v)),
        one_of(&[
            r#"["a","b"]"#,
            "[1,2,null]",
            r#"["a",1.0,[]]"#,
            "[true,false]",
            r#"["é","𝄞𝄞",1e2]"#
        ])
        .prop_map(|v| ("enum", v)),
        one_of(&[r#""date-time""#, r#""uuid""#]).prop_map(|v| ("format", v)),
    ];
    prop_oneof![
        4 => prop::collection::vec(keyword, 1..4).prop_map(Json::object),
        1 => one_of(&["true", "false", "{}"]),
    ]
}

fn schema() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(3, 20, 4, |inner| {
        let key = || proptest::sample::select(&KEYS[..]);
        let members = prop::collection::vec((key(), inner.clone()), 1..4).prop_map(Json::object);
        let patterned = prop::collection::vec((proptest::sample::select(&PATTERNS[..]), inner.clone()), 1..3)
            .prop_map(Json::object);
        let rest = || prop_oneof![2 => Just(Json::from(false)), 1 => inner.clone(), 1 => Just(Json::from(true))];
        let some = || prop::collection::vec(inner.clone(), 1..4).prop_map(Json::from);
        let keyword = prop_oneof![
            4 => members.clone().prop_map(|m| vec![("type", Json::from("object")), ("properties", m)]),
            1 => members.prop_map(|m| vec![("dependentSchemas", m)]),
            2 => patterned.prop_map(|m| vec![("patternProperties", m)]),
            2 => rest().prop_map(|r| vec![("additionalProperties", r)]),
            2 => rest().prop_map(|r| vec![("unevaluatedProperties", r)]),
            2 => prop::collection::btree_set(key(), 1..3).prop_map(|k| vec![("required", Json::from(Vec::from_iter(k)))]),
            1 => (key(), key()).prop_map(|(k, n)| vec![("dependentRequired", Json::object([(k, Json::from(vec![n]))]))]),
            1 => (0u32..3).prop_map(|n| vec![("minProperties", Json::from(n))]),
            1 => (0u32..3).prop_map(|n| vec![("maxProperties", Json::from(n))]),
            1 => inner.clone().prop_map(|s| vec![("propertyNames", s)]),
            1 => some().prop_map(|v| vec![("type", Json::from("array")), ("prefixItems", v)]),
            1 => rest().prop_map(|s| vec![("items", s)]),
            1 => rest().prop_map(|s| vec![("unevaluatedItems", s)]),
            1 => (inner.clone(), 0u32..3).prop_map(|(s, n)| vec![("contains", s), ("minContains", Json::from(n))]),
            1 => (inner.clone(), 0u32..3).prop_map(|(s, n)| vec![("contains", s), ("maxContains", Json::from(n))]),
            1 => (0u32..3).prop_map(|n| vec![("minItems", Json::from(n))]),
            1 => (0u32..3).prop_map(|n| vec![("maxItems", Json::from(n))]),
            1 => Just(vec![("uniqueItems", Json::from(true))]),
            2 => some().prop_map(|v| vec![("anyOf", v)]),
            2 => some().prop_map(|v| vec![("oneOf", v)]),
            2 => some().prop_map(|v| vec![("allOf", v)]),
            1 => inner.clone().prop_map(|s| vec![("not", s)]),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| vec![("if", a), ("then", b)]),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| vec![("if", a), ("else", b)]),
            1 => Just(vec![("$ref", Json::from("#/$defs/d"))]),
        ];
        prop::collection::vec(keyword, 1..4).prop_map(|k| Json::object(k.concat()))
    })
}

/// A schema with something to refer to, which may refer to itself below a member.
fn document() -> impl Strategy<Value = Json> {
    (schema(), schema(), any::<bool>()).prop_map(|(root, mut target, recursive)| {
        if recursive && let Some(map) = target.as_object_mut() {
            map.insert(
                "properties".to_owned(),
                Json::object([("a", json(r##"{"$ref":"#/$defs/d"}"##))]),
            );
        }
        let mut root = match root {
            Json::Bool(true) => Json::empty(),
            Json::Bool(false) => json(r#"{"not":{}}"#),
            other => other,
        };
        if root.to_canonical().contains("$ref")
            && let Some(map) = root.as_object_mut()
        {
            map.insert("$defs".to_owned(), Json::object([("d", target)]));
        }
        root
    })
}

pub(crate) fn pair() -> impl Strategy<Value = (Json, Json)> {
    prop_oneof![
        1 => (document(), document()),
        3 => (document(), any::<u32>()).prop_map(|(s, n)| {
            let other = crate::properties::nudge(&s, n);
            (s, other)
        }),
        2 => (document(), any::<u32>(), any::<u32>()).prop_map(|(s, n, m)| {
            let once = crate::properties::nudge(&s, n);
            let twice = crate::properties::nudge(&once, m);
            (twice, s)
        }),
    ]
}

fn validator(schema: &Json) -> Option<jsonschema::Validator> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(&schema.to_value())
        .ok()
}

fn cases() -> u32 {
    let asked = std::env::var("FLOWX_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    let full = if std::env::var_os("FLOWX_FULL").is_some() {
        5000
    } else {
        150
    };
    asked.unwrap_or(full)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_of_any_two_schemas_holds_for_every_value((old, new) in pair(), seed in any::<u64>()) {
        let (Some(old_judge), Some(new_judge)) = (validator(&old), validator(&new)) else { return Ok(()) };
        for direction in [Direction::Request, Direction::Response] {
            let request = direction == Direction::Request;
            let (writer, writes, reads) =
                if request { (&old, &old_judge, &new_judge) } else { (&new, &new_judge, &old_judge) };
            match check(&old, &new, direction, Budget { steps: 100_000 }) {
                // A request may also leave out of account what nobody sends, which no validator knows of.
                Verdict::Included if request => {}
                Verdict::Included => {
                    let mut values = sample::values(writer, seed, 16);
                    values.extend(values.clone().iter().flat_map(sample::neighbours));
                    values.extend(VALUES.iter().cloned());
                    for value in values {
                        let plain = value.to_value();
                        prop_assert!(!writes.is_valid(&plain) || reads.is_valid(&plain), "{direction:?} {value}\n{old}\n{new}");
                    }
                }
                Verdict::Not { witness: Some(witness), .. } => {
                    let plain = witness.to_value();
                    prop_assert!(writes.is_valid(&plain) && !reads.is_valid(&plain), "{direction:?} {witness}\n{old}\n{new}");
                }
                _ => {}
            }
        }
    }
}

/// What was said to be included once and is not: sub, super, and a value of the one that is none of the other.
const ONCE_WRONG: [(&str, &str, &str); 9] = [
    // A value that fits both alternatives has the members of both evaluated.
    (
        r#"{"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false}"#,
        r#"{"anyOf":[{"properties":{"a":true},"additionalProperties":false},{"properties":{"b":true},"additionalProperties":false}]}"#,
        r#"{"a":1,"b":1}"#,
    ),
    (
        r#"{"dependentSchemas":{"a":{"properties":{"b":true}}},"properties":{"a":true},"unevaluatedProperties":false}"#,
        r#"{"properties":{"a":true},"additionalProperties":false}"#,
        r#"{"a":1,"b":1}"#,
    ),
    // The same words, and not together.
    (
        r#"{"allOf":[{"if":{"type":"number"},"then":{"maximum":9}},{"if":{"const":2},"then":{"maximum":1}}]}"#,
        r#"{"if":{"type":"number"},"then":{"maximum":1}}"#,
        "3",
    ),
    (
        r#"{"allOf":[{"contains":{"const":1},"maxContains":9},{"contains":{"const":2},"maxContains":1}]}"#,
        r#"{"contains":{"const":1},"maxContains":1}"#,
        "[1,1,2]",
    ),
    (
        r#"{"prefixItems":[{"type":"integer"},{"type":"integer"}],"unevaluatedItems":false}"#,
        r#"{"prefixItems":[{"type":"integer"}],"unevaluatedItems":false}"#,
        "[1,1]",
    ),
    // One name that meets a pattern of each schema.
    (
        r#"{"allOf":[{"patternProperties":{"^a":{"type":"integer"}}},{"patternProperties":{"b$":true},"additionalProperties":false}]}"#,
        r#"{"patternProperties":{"^a":{"type":"string"}}}"#,
        r#"{"ab":1}"#,
    ),
    (
        r#"{"patternProperties":{"^a":true},"additionalProperties":false}"#,
        r#"{"propertyNames":{"maxLength":2}}"#,
        r#"{"aaa":1}"#,
    ),
    // `\d` is ten digits and no more.
    (
        r#"{"properties":{"٣":{"type":"string"}}}"#,
        r#"{"patternProperties":{"^[^\\d]$":{"type":"string","maxLength":1}}}"#,
        r#"{"٣":"aa"}"#,
    ),
    // No double tells these apart.
    (
        r#"{"maximum":9007199254740993}"#,
        r#"{"maximum":9007199254740992.5}"#,
        "9007199254740993",
    ),
];

#[test]
fn what_was_once_included_wrongly_is_not() {
    for (sub, sup, value) in ONCE_WRONG {
        let verdict = check(
            &json(sup),
            &json(sub),
            Direction::Response,
            Budget::default(),
        );
        assert_ne!(verdict, Verdict::Included, "{sub}\n{sup}");
        // The last one is beyond what the validator tells apart.
        let plain = json(value).to_value();
        let judges = [sub, sup].map(|s| validator(&json(s)).expect("a schema").is_valid(&plain));
        if !value.starts_with("9007") {
            assert_eq!(judges, [true, false], "{sub}\n{sup}");
        }
    }
}

#[test]
fn what_follows_from_other_words_is_included() {
    for (sub, sup) in [
        (r#"{"type":"integer"}"#, r#"{"multipleOf":0.5}"#),
        (
            r#"{"multipleOf":2.0}"#,
            r#"{"type":["integer","string","null","array","object","boolean"]}"#,
        ),
        (r#"{"multipleOf":0.3}"#, r#"{"multipleOf":0.1}"#),
        (
            r#"{"type":"object","required":["a"]}"#,
            r#"{"type":"object","minProperties":1}"#,
        ),
        (
            r#"{"type":"object","properties":{"a":true,"b":true},"additionalProperties":false}"#,
            r#"{"type":"object","maxProperties":2}"#,
        ),
        (r#"{"const":1e20}"#, r#"{"const":100000000000000000000}"#),
    ] {
        let verdict = check(
            &json(sup),
            &json(sub),
            Direction::Response,
            Budget::default(),
        );
        assert_eq!(verdict, Verdict::Included, "{sub}\n{sup}");
    }
}
