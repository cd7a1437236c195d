//! Schemas that nobody derived: a registered type's author, or a hand, may write anything. The descriptor of each keeps to the profile, and
//! making values of it ends. `fuzz/fuzz_targets/descriptor.rs` is the same without an end.
#![allow(clippy::unwrap_used)]

use flowx_build::project::{complaints, portable};
use flowx_manifest::{Contract, Direction, Json, json};
use flowx_verify::{Deviation, Sampler};

/// Descriptor, deviations and values of a schema. The size of the largest value.
fn hold(schema: &Json) -> usize {
    let contract = Contract {
        id: "x".to_owned(),
        schema: Some(schema.clone()),
        request: None,
        response: None,
        renamed_from: None,
    };
    for direction in [Direction::Request, Direction::Response] {
        let (told, _) = portable(std::slice::from_ref(&contract), "x", direction);
        assert_eq!(complaints(&told), Vec::<String>::new(), "{schema}\n{told}");
    }
    for deviation in Deviation::ALL {
        deviation.applied(schema);
    }
    let mut sampler = Sampler::new(schema, 1);
    let mut largest = 0;
    for _ in 0..4 {
        let value = sampler.value();
        largest = largest.max(value.to_canonical().len());
        sampler.changed(&value);
    }
    largest
}

#[test]
fn a_schema_that_asks_for_itself_or_for_more_than_fits_ends() {
    for text in [
        r##"{"$ref":"#"}"##,
        r##"{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}"##,
        r##"{"allOf":[{"$ref":"#"}],"oneOf":[{"$ref":"#"}]}"##,
        r##"{"type":"array","items":{"$ref":"#"},"minItems":3}"##,
        r##"{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}},"required":["a","b","c"]}"##,
        r##"{"$ref":"#/$defs/x","$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}}}"##,
        r#"{"type":"array","minItems":4000000000,"items":{"type":"array","minItems":4000000000}}"#,
        r#"{"type":"array","minItems":1e300,"maxItems":-1}"#,
        r#"{"type":"string","minLength":4000000000}"#,
        r#"{"type":"string","minLength":18446744073709551615,"maxLength":18446744073709551615}"#,
        r#"{"type":"string","pattern":"((((a{200}){200}){200}){200}){200}"}"#,
        r#"{"type":"integer","exclusiveMinimum":1e300,"exclusiveMaximum":-1e300}"#,
        r#"{"type":"integer","minimum":340282366920938463463374607431768211455,"maximum":-1e39}"#,
        r#"{"type":"number","minimum":1e308,"maximum":-1e308}"#,
        r#"{"type":["null","null"],"enum":[],"const":null}"#,
        r#"{"type":"object","required":["a",1,null],"properties":[],"additionalProperties":"no"}"#,
        r#"{"type":"object","propertyNames":false,"additionalProperties":{"type":"integer"}}"#,
        r#"{"type":"file"}"#,
        r#"{"type":["file","string"],"properties":{"a":{"type":""}}}"#,
        r#"{"type":"object","properties":{"a":{"enum":[1,null]},"b":{"type":"string","title":7,"minLength":{}}}}"#,
        "{}",
        "true",
        "false",
        "7",
    ] {
        let schema = json::parse(text.as_bytes(), json::Limits::DOCUMENT).unwrap();
        let largest = hold(&schema);
        assert!(largest < 8 << 20, "{text}: {largest}");
    }
}

struct Random(Sampler<'static>);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        (self.0.draw() % n as u64) as usize
    }

    fn word<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// Mostly a schema, sometimes anything.
    fn schema(&mut self, depth: usize) -> Json {
        match self.below(12) {
            0 => (self.below(2) == 0).into(),
            1 => self.anything(),
            2 => Json::object([(
                "$ref",
                self.word(&["#", "#/$defs/a", "#/$defs/b", "x"]).into(),
            )]),
            _ => {
                let count = self.below(6);
                let entries: Vec<(&str, Json)> = (0..count).map(|_| self.keyword(depth)).collect();
                Json::object(entries)
            }
        }
    }

    fn anything(&mut self) -> Json {
        let all = Sampler::anything();
        let at = self.below(all.len());
        all[at].clone()
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Json) {
        const KEYS: [&str; 27] = [
            "type",
            "properties",
            "required",
            "items",
            "prefixItems",
            "additionalProperties",
            "propertyNames",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "enum",
            "const",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "pattern",
            "format",
            "multipleOf",
            "$defs",
            "description",
            "$comment",
        ];
        const TYPES: [&str; 8] = [
            "object", "object", "array", "string", "integer", "number", "boolean", "null",
        ];
        let key = self.word(&KEYS);
        if self.below(15) == 0 || depth > 5 {
            return (key, self.anything());
        }
        let value = match key {
            "type" if self.below(4) == 0 => vec![self.word(&TYPES), self.word(&TYPES)].into(),
            "type" => self.word(&TYPES).into(),
            "properties" | "$defs" => {
                let names = ["a", "b", "A b", ""];
                let count = self.below(4);
                let members: Vec<(&str, Json)> = (0..count)
                    .map(|_| (self.word(&names), self.schema(depth + 1)))
                    .collect();
                Json::object(members)
            }
            "required" => vec![self.word(&["a", "b", "c"]), self.word(&["a", "d"])].into(),
            "items" | "additionalProperties" | "propertyNames" | "not" => self.schema(depth + 1),
            "prefixItems" | "anyOf" | "oneOf" | "allOf" => {
                let count = self.below(4);
                Json::Array((0..count).map(|_| self.schema(depth + 1)).collect())
            }
            "enum" => Json::Array(vec![self.anything(), self.anything()]),
            "const" => self.anything(),
            "pattern" => self
                .word(&["^[a-z]+$", "(?i)x", "[", "\\p{L}", "a{9999}", "\\d"])
                .into(),
            "format" => self.word(&["date-time", "uuid", "?"]).into(),
            "description" | "$comment" => self.word(&["said", ""]).into(),
            _ => {
                let numbers = [
                    "0",
                    "-1",
                    "3",
                    "2.5",
                    "1e300",
                    "-1e300",
                    "18446744073709551616",
                    "4000000000",
                ];
                let text = self.word(&numbers);
                json::parse(text.as_bytes(), json::Limits::DOCUMENT).unwrap()
            }
        };
        (key, value)
    }
}

#[test]
fn of_any_schema_the_descriptor_keeps_to_the_profile_and_values_come_to_an_end() {
    static NOTHING: Json = Json::Null;
    let only = std::env::var("SEED").ok().and_then(|s| s.parse().ok());
    let seeds = only.map_or(1..6000, |s: u64| s..s + 1);
    let mut told = 0;
    for seed in seeds {
        let schema = Random(Sampler::new(&NOTHING, seed)).schema(0);
        let largest = hold(&schema);
        assert!(largest < 8 << 20, "{seed}: {schema}: {largest}");
        told += 1;
    }
    println!("{told} schemas");
}
