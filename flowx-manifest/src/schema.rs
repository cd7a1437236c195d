//! The JSON Schema of the manifest itself, for editors and for other tools.

use crate::json::Json;
use crate::model::{Manifest, SCHEMA_ID};

/// The schema of the whole document, as JSON Schema 2020-12.
pub fn manifest_schema() -> Json {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let schema = generator.into_root_schema_for::<Manifest>();
    let mut json = Json::from_value(schema.as_value());
    if let Json::Object(map) = &mut json {
        map.insert("$id".to_owned(), SCHEMA_ID.into());
    }
    json
}

/// The shape alone: the schema without what only people read. Two models of one shape are one format.
pub fn manifest_shape() -> Json {
    fn strip(value: &mut Json, names: bool) {
        match value {
            Json::Object(map) => {
                if !names {
                    map.remove("description");
                    map.remove("title");
                }
                for (key, value) in map {
                    // Below these, keys are names of members, not keywords.
                    strip(
                        value,
                        !names && matches!(key.as_str(), "properties" | "$defs"),
                    );
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| strip(item, false)),
            _ => {}
        }
    }
    let mut shape = manifest_schema();
    strip(&mut shape, false);
    shape
}
