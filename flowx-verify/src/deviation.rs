//! Where a schema and serde differ on purpose, and why. Nothing else may differ.

use flowx_manifest::{ANY_WORD, CONVERTED, Json};

macro_rules! deviations {
    ($($name:ident, $id:literal, $side:ident, $reason:literal;)*) => {
        /// One allowed difference.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Deviation {
            $(#[doc = $reason] $name,)*
        }

        impl Deviation {
            /// Every one.
            pub const ALL: &'static [Deviation] = &[$(Deviation::$name),*];

            /// A short name.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Deviation::$name => $id,)*
                }
            }

            /// Why it is allowed.
            pub const fn reason(self) -> &'static str {
                match self {
                    $(Deviation::$name => $reason,)*
                }
            }

            /// Who refuses what the other accepts.
            pub const fn side(self) -> Side {
                match self {
                    $(Deviation::$name => Side::$side,)*
                }
            }
        }
    };
}

/// Who is the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The schema refuses what serde would read. Input is held against the schema first, so it never gets there.
    Schema,
    /// serde refuses what the schema accepts. The caller gets `input.invalid` from the reading.
    Serde,
}

deviations! {
    StructFromArray, "struct-from-array", Schema,
        "serde reads a struct from an array, by position; nobody publishes that, and a new field would change its meaning";
    VariantAsObject, "variant-as-object", Schema,
        "serde reads a variant without content from {\"Name\": null} and from its number in a buffer; the published spelling is the string";
    UnitAsEmpty, "unit-as-empty", Schema,
        "serde reads a unit from an empty object or array in a buffer; the published spelling is null";
    Constraint, "constraint", Schema,
        "a literal schemars attribute (range, length, regex) that the author declared and serde does not know";
    WideNumber, "wide-number", Serde,
        "the validator compares integers beyond 64 bits as doubles, so one past a bound of i64 or u64 rounds onto it";
    Format, "format", Serde,
        "a string whose form a parser decides; the schema names the format, and a pattern where one is exact";
    Conversion, "conversion", Serde,
        "the type converts what it reads (try_from) or adds up what it reads (Duration), and may refuse; the schema says so in $comment";
    SecondVariant, "second-variant", Serde,
        "an externally tagged enum that is flattened reads the first member that names a variant, whatever else is there";
    WrittenTwice, "written-twice", Serde,
        "a flattened map beside another flattened field that only looks holds that one's members as well, and writes them again";
}

impl Deviation {
    /// Whether this can be why serde said that. A format is refused by whoever parses a text, a conversion by whoever converts: neither is why
    /// a member is missing or a number is out of its range elsewhere in the same value.
    pub fn can_say(self, error: &str) -> bool {
        let derived = [
            "missing field",
            "unknown field",
            "unknown variant",
            "duplicate field",
            "invalid type: null",
            "invalid type: map",
            "invalid type: sequence",
            "invalid type: boolean",
        ];
        let number = [
            "invalid type: integer",
            "invalid type: floating point",
            "invalid value: integer",
        ];
        let starts = |all: &[&str]| all.iter().any(|e| error.starts_with(e));
        match self {
            Deviation::Format => !starts(&derived) && !starts(&number),
            Deviation::Conversion => !starts(&derived),
            _ => true,
        }
    }

    /// The schema with what this deviation is about let through ([`Side::Schema`]) or refused ([`Side::Serde`]).
    /// `None` for one that is seen in the value, not in the schema.
    pub fn applied(self, schema: &Json) -> Option<Json> {
        if matches!(self, Deviation::WideNumber | Deviation::WrittenTwice) {
            return None;
        }
        // The definitions stay at the root, where references look for them.
        let mut root = schema.clone();
        let defs = root.as_object_mut().and_then(|map| map.remove("$defs"));
        // Names are let through by nothing, and refused as values are.
        let names = self.side() == Side::Serde;
        let mut out = rewrite(&root, names, &|map| self.node(map));
        if let Some(Json::Object(defs)) = defs {
            let defs = defs
                .iter()
                .map(|(k, v)| (k.clone(), rewrite(v, names, &|map| self.node(map))))
                .collect();
            if out.as_object().is_none() {
                out = Json::object([("not", Json::empty())]);
            }
            if let Some(map) = out.as_object_mut() {
                map.insert("$defs".to_owned(), Json::Object(defs));
            }
        }
        Some(out)
    }

    fn node(self, node: Json) -> Json {
        // What is let through is let through by every alternative.
        let node = match (self.side(), node) {
            (Side::Schema, Json::Object(mut map)) => {
                if let (Some(forms), false) = (map.remove("oneOf"), map.contains_key("anyOf")) {
                    map.insert("anyOf".to_owned(), forms);
                }
                Json::Object(map)
            }
            (_, node) => node,
        };
        let Some(map) = node.as_object() else {
            return node;
        };
        let is = |kind: &str| match map.get("type") {
            Some(Json::String(t)) => t == kind,
            Some(Json::Array(all)) => all.contains(&kind.into()),
            _ => false,
        };
        let or = |more: Json| Json::object([("anyOf", Json::Array(vec![node.clone(), more]))]);
        match self {
            Deviation::StructFromArray
                if map.contains_key("properties")
                    || map.contains_key("required")
                    || (is("object")
                        && !matches!(map.get("additionalProperties"), Some(Json::Object(_)))) =>
            {
                or(Json::object([("type", Json::from("array"))]))
            }
            Deviation::VariantAsObject
                if is("string")
                    && (map.contains_key("enum")
                        || map.contains_key("const")
                        || map.contains_key("not")
                        || map.get("$comment").and_then(Json::as_str) == Some(ANY_WORD)) =>
            {
                let number = Json::object([("type", Json::from("integer"))]);
                let object = Json::object([
                    ("type", Json::from("object")),
                    ("minProperties", 1u8.into()),
                    ("maxProperties", 1u8.into()),
                    ("propertyNames", node.clone()),
                    (
                        "additionalProperties",
                        Json::object([("type", Json::from("null"))]),
                    ),
                ]);
                Json::object([("anyOf", Json::Array(vec![node.clone(), number, object]))])
            }
            Deviation::UnitAsEmpty if is("null") => or(Json::object([
                ("maxProperties", Json::from(0u8)),
                ("maxItems", 0u8.into()),
                ("type", Json::Array(vec!["object".into(), "array".into()])),
            ])),
            Deviation::Constraint => {
                let mut map = map.clone();
                for key in [
                    "minimum",
                    "maximum",
                    "exclusiveMinimum",
                    "exclusiveMaximum",
                    "minLength",
                    "maxLength",
                    "pattern",
                    "format",
                    "minItems",
                    "maxItems",
                    "multipleOf",
                    "minProperties",
                    "maxProperties",
                ] {
                    // Lengths of tuples and of `char`, and bounds of integer types, are not declared but known.
                    let known = match key {
                        "minItems" | "maxItems" => {
                            map.contains_key("prefixItems")
                                || map.get("minItems") == map.get("maxItems")
                        }
                        _ => false,
                    };
                    if !known {
                        map.remove(key);
                    }
                }
                Json::Object(map)
            }
            Deviation::Format if map.contains_key("format") => false.into(),
            Deviation::Conversion
                if map.get("$comment").and_then(Json::as_str) == Some(CONVERTED) =>
            {
                false.into()
            }
            Deviation::SecondVariant => match map.get("oneOf").or_else(|| map.get("anyOf")) {
                // Alternatives that each need one open member: only one of them at a time.
                Some(Json::Array(forms)) if forms.iter().any(|f| open_single(f).is_some()) => {
                    let names: Vec<String> = forms.iter().filter_map(open_single).collect();
                    let mut strict = map.clone();
                    let rules = names
                        .iter()
                        .enumerate()
                        .flat_map(|(i, a)| names[i + 1..].iter().map(move |b| (a, b)))
                        .map(|(a, b)| {
                            Json::object([(
                                "not",
                                Json::object([("required", vec![a.as_str(), b.as_str()].into())]),
                            )])
                        });
                    let mut all = match strict.remove("allOf") {
                        Some(Json::Array(all)) => all,
                        _ => Vec::new(),
                    };
                    all.extend(rules);
                    if !all.is_empty() {
                        strict.insert("allOf".to_owned(), Json::Array(all));
                    }
                    Json::Object(strict)
                }
                _ => node,
            },
            _ => node,
        }
    }
}

/// The name of the only member that an open object needs and speaks of.
fn open_single(form: &Json) -> Option<String> {
    let (members, required) = (
        form.get("properties")?.as_object()?,
        form.get("required")?.as_array()?,
    );
    let closed = form.get("additionalProperties").is_some();
    (members.len() == 1 && required.len() == 1 && !closed)
        .then(|| members.keys().next().cloned())
        .flatten()
}

/// Rewrites every subschema, innermost first; data (`const`, `enum`, …) is left alone.
fn rewrite(schema: &Json, names: bool, node: &dyn Fn(Json) -> Json) -> Json {
    let Json::Object(map) = schema else {
        return schema.clone();
    };
    let mut out = std::collections::BTreeMap::new();
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Json::Object(members)) => Json::Object(
                members
                    .iter()
                    .map(|(k, v)| (k.clone(), rewrite(v, names, node)))
                    .collect(),
            ),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Json::Array(all)) => {
                Json::Array(all.iter().map(|s| rewrite(s, names, node)).collect())
            }
            ("items" | "additionalProperties" | "unevaluatedProperties", sub) => {
                rewrite(sub, names, node)
            }
            ("propertyNames", sub) if names => rewrite(sub, names, node),
            // `not` turns strict and lenient about: left as it is.
            (_, other) => other.clone(),
        };
        out.insert(key.clone(), value);
    }
    node(Json::Object(out))
}

/// The value with every integer beyond 64 bits rounded as a double is; `None` when there is none.
pub(crate) fn narrow(value: &Json) -> Option<Json> {
    fn go(value: &Json, changed: &mut bool) -> Json {
        match value {
            Json::Number(n) => match n.as_i128() {
                Some(i) if i64::try_from(i).is_err() && u64::try_from(i).is_err() => {
                    *changed = true;
                    (n.as_f64() as i128).into()
                }
                _ => value.clone(),
            },
            Json::Array(items) => Json::Array(items.iter().map(|v| go(v, changed)).collect()),
            Json::Object(map) => Json::Object(
                map.iter()
                    .map(|(k, v)| (k.clone(), go(v, changed)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
    let mut changed = false;
    let out = go(value, &mut changed);
    changed.then_some(out)
}
