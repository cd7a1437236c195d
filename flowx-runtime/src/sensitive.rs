//! Values that must not be seen.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A value that is redacted wherever it would be shown: `Debug`, `Display`, logs, journals, problems, prompts. The scan marks it in
/// the schema (`writeOnly`) and lists where it stands, and everything that shows an input to a person leaves those places out.
///
/// On the wire it is its value: it serialises as `T`, since a caller's secret has to reach the flow. In the program it is reached
/// through [`Sensitive::expose`] alone, which a reviewer can search for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sensitive<T>(T);

/// What stands in the place of a sensitive value.
pub const REDACTED: &str = "[redacted]";

impl<T> Sensitive<T> {
    /// Hides the value.
    pub const fn new(value: T) -> Self {
        Sensitive(value)
    }

    /// The value.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// The value, given up.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

impl<T> From<T> for Sensitive<T> {
    fn from(value: T) -> Self {
        Sensitive(value)
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl<T> fmt::Display for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Sensitive<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Sensitive_{}", T::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("flowx_runtime::Sensitive<{}>", T::schema_id()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = generator.subschema_for::<T>();
        schema.insert("writeOnly".to_owned(), true.into());
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::Sensitive;

    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct Card {
        number: Sensitive<String>,
    }

    #[test]
    fn a_sensitive_value_is_in_nothing_that_is_printed() {
        let card: Card = serde_json::from_str(r#"{"number":"4111"}"#).unwrap();
        let printed = format!("{card:?} {:#?} {}", card, card.number);
        assert!(!printed.contains("4111"), "{printed}");
        assert!(printed.contains("[redacted]"));
    }

    #[test]
    fn a_sensitive_value_is_itself_on_the_wire_and_when_exposed() {
        let card: Card = serde_json::from_str(r#"{"number":"4111"}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&card).unwrap(),
            r#"{"number":"4111"}"#
        );
        assert_eq!(card.number.expose(), "4111");
    }
}
