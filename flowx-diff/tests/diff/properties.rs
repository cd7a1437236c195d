//! What holds for any input.

use std::collections::BTreeSet;

use flowx_diff::inclusion::{Budget, Verdict, check};
use flowx_diff::{Allowances, DiffOptions, Surface, diff, from_tools_list, review, sample};
use flowx_manifest::{Direction, Json, Manifest};
use proptest::prelude::*;

use crate::leaves::mutants;
use crate::{base, json, manifest};

/// Schemas as contracts use them, small and rich in unions.
fn schema() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(json(r#"{"type":"string"}"#)),
        (0u32..6, 0u32..6).prop_map(|(a, b)| json(&format!(
            r#"{{"type":"string","minLength":{a},"maxLength":{}}}"#,
            a + b
        ))),
        Just(json(r#"{"type":"string","pattern":"^[a-c]{1,3}$"}"#)),
        Just(json(r#"{"type":"boolean"}"#)),
        Just(json(r#"{"type":"null"}"#)),
        (-3i32..4, 0u32..6).prop_map(|(a, b)| json(&format!(
            r#"{{"type":"integer","minimum":{a},"maximum":{}}}"#,
            a + b as i32
        ))),
        (-3i32..4).prop_map(|a| json(&format!(r#"{{"type":"number","exclusiveMinimum":{a}}}"#))),
        (1u32..5).prop_map(|m| json(&format!(r#"{{"type":"integer","multipleOf":{m}}}"#))),
        proptest::sample::subsequence(vec!["\"a\"", "\"b\"", "1", "2.5", "null", "[]"], 1..5)
            .prop_map(|v| json(&format!(r#"{{"enum":[{}]}}"#, v.join(",")))),
        Just(json(r#"{"type":["string","null"]}"#)),
        Just(json("true")),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        let member = (proptest::sample::select(vec!["a", "b", "c"]), inner.clone(), any::<bool>());
        let object = (prop::collection::vec(member, 0..4), 0u8..3).prop_map(|(members, closed)| {
            let required: BTreeSet<&str> = members.iter().filter(|m| m.2).map(|m| m.0).collect();
            let required = Vec::from_iter(required);
            let mut out = vec![
                ("type", Json::from("object")),
                ("required", Json::from(required)),
                ("properties", Json::object(members.iter().map(|m| (m.0, m.1.clone())))),
            ];
            match closed {
                0 => {}
                1 => out.push(("additionalProperties", Json::from(false))),
                _ => out.push(("additionalProperties", json(r#"{"type":"integer"}"#))),
            }
            Json::object(out)
        });
        prop_oneof![
            3 => object,
            1 => (inner.clone(), 0u32..3).prop_map(|(i, n)| Json::object([("type", Json::from("array")), ("items", i), ("minItems", Json::from(n))])),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Json::object([("type", Json::from("array")), ("prefixItems", Json::from(vec![a])), ("items", b)])),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(|v| Json::object([("anyOf", Json::from(v))])),
            1 => prop::collection::vec(inner.clone(), 1..3).prop_map(|v| Json::object([("oneOf", Json::from(v))])),
            1 => prop::collection::vec(inner.clone(), 1..3).prop_map(|v| Json::object([("allOf", Json::from(v))])),
            1 => inner.prop_map(|i| Json::object([("not", i)])),
        ]
    })
}

/// A schema and one that may be near it.
pub(crate) fn pair() -> impl Strategy<Value = (Json, Json)> {
    prop_oneof![
        (schema(), schema()),
        (schema(), any::<u32>()).prop_map(|(s, n)| {
            let other = nudge(&s, n);
            (s, other)
        }),
    ]
}

/// The schema with one keyword somewhere changed or dropped.
pub(crate) fn nudge(schema: &Json, n: u32) -> Json {
    match schema {
        Json::Object(map) if !map.is_empty() => {
            let keys: Vec<&String> = map.keys().collect();
            let key = keys[n as usize % keys.len()].clone();
            let mut out = map.clone();
            match &map[&key] {
                Json::Number(i) => {
                    let by = if n.is_multiple_of(2) { 1 } else { -1 };
                    out.insert(key, Json::from((i.as_i128().unwrap_or(0) + by).max(1)));
                }
                child @ (Json::Object(_) | Json::Array(_)) if !n.is_multiple_of(3) => {
                    out.insert(key, nudge(child, n / 3));
                }
                _ => {
                    out.remove(&key);
                }
            }
            Json::Object(out)
        }
        Json::Array(items) if !items.is_empty() => {
            let i = n as usize % items.len();
            let mut out = items.clone();
            if n.is_multiple_of(5) && out.len() > 1 {
                out.remove(i);
            } else {
                out[i] = nudge(&items[i], n / 3);
            }
            Json::Array(out)
        }
        other => other.clone(),
    }
}

fn valid(schema: &Json, value: &Json) -> Option<bool> {
    let schema = schema.to_value();
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(&schema)
        .ok()?;
    Some(validator.is_valid(&value.to_value()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("FLOWX_FULL").is_some() { 2000 } else { 60 }, ..ProptestConfig::default() })]

    #[test]
    fn included_means_that_a_validator_accepts_every_value_that_can_be_made((old, new) in pair(), seed in any::<u64>()) {
        for direction in [Direction::Request, Direction::Response] {
            let (writer, reader) = if direction == Direction::Request { (&old, &new) } else { (&new, &old) };
            match check(&old, &new, direction, Budget::default()) {
                Verdict::Included => {
                    for value in sample::values(writer, seed, 24) {
                        // Only what the writer's own schema allows, and what a validator can be built for, counts.
                        if valid(writer, &value) == Some(true) {
                            prop_assert_ne!(valid(reader, &value), Some(false), "{} {:?}", value, direction);
                        }
                        if direction == Direction::Response {
                            for near in sample::neighbours(&value) {
                                if valid(writer, &near) == Some(true) {
                                    prop_assert_ne!(valid(reader, &near), Some(false), "{} {:?}", near, direction);
                                }
                            }
                        }
                    }
                }
                Verdict::Not { witness: Some(witness), .. } => {
                    prop_assert_eq!(valid(writer, &witness), Some(true), "{}", witness);
                    prop_assert_eq!(valid(reader, &witness), Some(false), "{}", witness);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_schema_stands_in_for_itself(schema in schema()) {
        for direction in [Direction::Request, Direction::Response] {
            let same = check(&schema, &schema.clone(), direction, Budget::default());
            prop_assert_eq!(same, Verdict::Included);
        }
    }

    #[test]
    fn made_values_fit_their_schema(schema in schema(), seed in any::<u64>()) {
        if !schema.to_canonical().contains("\"not\"") && !schema.to_canonical().contains("oneOf") {
            for value in sample::values(&schema, seed, 8) {
                prop_assert_ne!(valid(&schema, &value), Some(false), "{}", value);
            }
        }
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC{0,200}") {
        let _ = from_tools_list(text.as_bytes());
        let _ = Surface::read(text.as_bytes());
        let _ = Allowances::parse(&text, None);
    }
}

#[test]
fn any_two_edited_manifests_are_compared_and_reviewed_without_a_panic() {
    let all: Vec<Manifest> = mutants(&base()).into_iter().map(|(_, m)| m).collect();
    let before = manifest(&base());
    for (i, m) in all
        .iter()
        .enumerate()
        .step_by(if std::env::var_os("FLOWX_FULL").is_some() {
            1
        } else {
            16
        })
    {
        let other = &all[(i * 7919 + 13) % all.len()];
        let forth = diff(m, other, &DiffOptions::default());
        let again = diff(m, other, &DiffOptions::default());
        assert_eq!(forth, again);
        assert!(diff(m, m, &DiffOptions::default()).findings.is_empty());
        if i % 5 == 0 {
            let _ = diff(m, &before, &DiffOptions::default());
        }
        let _ = review(m).to_prompt();
    }
}
