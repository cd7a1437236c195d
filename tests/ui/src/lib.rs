//! What the cases under `cases/` share.

pub use flowx_runtime::NoInput;

/// Stands where `include_manifest!()` stands in a program: a manifest that publishes whatever is compiled, so that a case is about
/// the attributes alone. The scan's half has fixture crates of its own.
#[macro_export]
macro_rules! everything_is_published {
    () => {
        #[doc(hidden)]
        #[allow(missing_docs)]
        pub struct FlowxManifest;
        #[doc(hidden)]
        #[allow(missing_docs)]
        pub struct FlowxRaised<const KEY: u64>;
        impl<const KEY: u64> ::flowx_runtime::__private::Published<KEY> for FlowxManifest {}
    };
}

/// Types whose schema only the compiler knows.
pub mod money {
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Serialize};
    use std::borrow::Cow;

    /// A schema written by hand.
    #[derive(Serialize, Deserialize)]
    pub struct Cents(u32);

    impl JsonSchema for Cents {
        fn schema_name() -> Cow<'static, str> {
            "Cents".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "integer", "minimum": 0, "maximum": u32::MAX })
        }
    }

    /// Contains itself.
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub struct Category {
        below: Vec<Category>,
    }

    /// Refers to what is nowhere here.
    pub struct Remote;

    impl JsonSchema for Remote {
        fn schema_name() -> Cow<'static, str> {
            "Remote".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "$ref": "https://example.com/remote.json" })
        }
    }
}
