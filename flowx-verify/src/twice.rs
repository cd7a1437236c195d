//! JSON in which a member stands twice, read so that the first counts. `serde_json` takes the last.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value of which the first of equal members counts.
pub(crate) struct First(pub(crate) Value);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader).map(First)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(First(item)) = all.next_element()? {
            out.push(item);
        }
        Ok(out.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some((name, First(value))) = all.next_entry::<String, First>()? {
            out.entry(name).or_insert(value);
        }
        Ok(out.into())
    }
}

#[cfg(test)]
mod tests {
    use super::First;

    #[test]
    fn the_first_of_two_members_counts_at_any_depth() {
        let text = r#"{"a":1,"b":[{"c":true,"c":null}],"a":"x","d":-1.5}"#;
        let First(value) = serde_json::from_str(text).expect("JSON");
        assert_eq!(value.to_string(), r#"{"a":1,"b":[{"c":true}],"d":-1.5}"#);
    }
}
