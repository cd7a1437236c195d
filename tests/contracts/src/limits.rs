use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Ranges {
    #[schemars(range(min = 1, max = 10))] a: u8,
    #[schemars(range(min = -1.5))] b: f64,
    #[schemars(length(min = 1, max = 3))] c: String,
    #[schemars(length(min = 1))] d: Vec<u8>,
    #[schemars(inner(range(max = 5)))] e: Vec<u8>,
    #[schemars(regex(pattern = r"^[a-z]+$"))] f: String,
    #[schemars(length(equal = 2))] g: Option<String>,
}
/// A described type.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Titled", description = "Said otherwise.", extend("x-note" = [1, "two", { "three": null }]))]
pub struct Said {
    /// A field.
    #[schemars(example = 5)]
    a: u8,
    #[schemars(title = "B", description = "the b")]
    b: String,
}
#[derive(Serialize, Deserialize, JsonSchema)]
pub enum Words {
    /// The first.
    First,
    /// The second,
    /// in two lines.
    Second,
    Third,
}
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Typed { #[schemars(with = "String")] a: String, #[schemars(with = "Option<Vec<u8>>")] b: Option<Vec<u8>> }
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Described {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")] a: Option<bool>,
    #[schemars(with = "Vec<u8>")] b: Option<Vec<u8>>,
}

shapes!(Ranges, Said, Words, Typed, Described);
