//! What a descriptor's output schema promises: a member that is nothing is left out, never null.

use crate::json::Json;

/// Takes out the members that are null where the portable schema has a type for them. No portable schema has a word
/// for null, and clients hold a tool's structured content against the schema.
pub fn omit_nulls(value: &mut Json, schema: &Json) {
    match value {
        Json::Object(map) => {
            let members = schema.get("properties").and_then(Json::as_object);
            let rest = schema
                .get("additionalProperties")
                .filter(|s| s.as_object().is_some());
            map.retain(|name, value| {
                !(*value == Json::Null && members.is_some_and(|m| m.contains_key(name)))
            });
            for (name, value) in map {
                if let Some(schema) = members.and_then(|m| m.get(name)).or(rest) {
                    omit_nulls(value, schema);
                }
            }
        }
        Json::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| omit_nulls(item, schema));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::omit_nulls;
    use crate::json::{Json, Limits, parse};

    fn json(text: &str) -> Json {
        parse(text.as_bytes(), Limits::DOCUMENT).expect("the test's own JSON")
    }

    #[test]
    fn null_goes_where_the_schema_has_a_type_and_stays_elsewhere() {
        let schema = json(
            r#"{"type":"object","properties":{"a":{"type":"string"},"list":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}}}"#,
        );
        let mut value = json(r#"{"a":null,"free":null,"list":[{"b":null,"c":null},{"b":"x"}]}"#);
        omit_nulls(&mut value, &schema);
        assert_eq!(
            value,
            json(r#"{"free":null,"list":[{"c":null},{"b":"x"}]}"#)
        );
    }
}
