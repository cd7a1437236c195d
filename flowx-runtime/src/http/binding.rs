//! Path and query parameters as members of a flow's input, by name, typed by its contract.

use std::collections::BTreeMap;

use flowx_manifest::json::{self, Limits};
use flowx_manifest::{Json, contract_of_ref};

use crate::input::{InputError, invalid};
use crate::refusal::Refusal;

/// The kinds of value that a word in a URL can be read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Text,
    Number,
    Bool,
    Listed(Element),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Text,
    Number,
    Bool,
}

/// How the members of one input are read from words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Binder {
    members: BTreeMap<String, Reading>,
}

impl Binder {
    /// For an input of that schema, which stands alone (`$defs` inside). Members that are neither primitives nor lists of them are not
    /// bound: they come in the body.
    pub(crate) fn new(schema: &Json) -> Binder {
        let mut members = BTreeMap::new();
        collect(schema, schema, 0, &mut members);
        Binder { members }
    }

    /// The input: the body's members, and the parameters'.
    ///
    /// # Errors
    /// `input.invalid` with every parameter that has no place: unknown, given twice, or in the body as well.
    pub(crate) fn bind(
        &self,
        body: Option<Json>,
        words: &[(String, String)],
    ) -> Result<Json, Refusal> {
        if words.is_empty() {
            return Ok(body.unwrap_or_else(Json::empty));
        }
        let mut input = match body.unwrap_or_else(Json::empty) {
            Json::Object(map) => map,
            _ => {
                return Err(invalid(vec![error(
                    "",
                    "parameters need a body that is an object, or none",
                )]));
            }
        };
        let mut errors = Vec::new();
        let mut lists: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
        for (name, word) in words {
            match self.members.get(name) {
                None => errors.push(error(name, "there is no such parameter")),
                Some(Reading::Listed(element)) => {
                    lists.entry(name).or_default().push(element.read(word));
                }
                Some(_) if input.contains_key(name) => {
                    errors.push(error(name, "it is given more than once"))
                }
                Some(Reading::Text) => drop(input.insert(name.clone(), Element::Text.read(word))),
                Some(Reading::Number) => {
                    drop(input.insert(name.clone(), Element::Number.read(word)))
                }
                Some(Reading::Bool) => drop(input.insert(name.clone(), Element::Bool.read(word))),
            }
        }
        for (name, items) in lists {
            if input.insert(name.to_owned(), Json::Array(items)).is_some() {
                errors.push(error(name, "it is given in the body as well"));
            }
        }
        if errors.is_empty() {
            Ok(Json::Object(input))
        } else {
            Err(invalid(errors))
        }
    }
}

impl Element {
    /// A word that is not of its kind stays text, which the contract then refuses in its own words.
    fn read(self, word: &str) -> Json {
        let read = match self {
            Element::Text => None,
            Element::Number => json::parse(word.as_bytes(), Limits::REQUEST)
                .ok()
                .filter(|j| j.as_number().is_some()),
            Element::Bool => match word {
                "true" => Some(Json::Bool(true)),
                "false" => Some(Json::Bool(false)),
                _ => None,
            },
        };
        // White space around a number is JSON's, not a word's.
        read.filter(|_| word.trim() == word)
            .unwrap_or_else(|| Json::from(word))
    }
}

fn error(name: &str, message: &str) -> InputError {
    let path = if name.is_empty() {
        String::new()
    } else {
        format!("/{}", name.replace('~', "~0").replace('/', "~1"))
    };
    InputError {
        path,
        message: message.to_owned(),
    }
}

fn collect(root: &Json, schema: &Json, depth: usize, out: &mut BTreeMap<String, Reading>) {
    let schema = resolve(root, schema);
    if depth > 8 {
        return;
    }
    if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
        for (name, property) in properties {
            if let Some(reading) = reading(root, property) {
                out.insert(name.clone(), reading);
            }
        }
    }
    for part in schema
        .get("allOf")
        .and_then(Json::as_array)
        .unwrap_or_default()
    {
        collect(root, part, depth + 1, out);
    }
}

fn reading(root: &Json, property: &Json) -> Option<Reading> {
    if let Some(element) = element(root, property, 0) {
        return Some(match element {
            Element::Text => Reading::Text,
            Element::Number => Reading::Number,
            Element::Bool => Reading::Bool,
        });
    }
    let property = resolve(root, property);
    if types(property).contains(&"array") {
        return Some(Reading::Listed(element(root, property.get("items")?, 0)?));
    }
    None
}

/// The one primitive kind that a schema allows; `null` beside it does not count, since absence says it in a URL.
fn element(root: &Json, schema: &Json, depth: usize) -> Option<Element> {
    let schema = resolve(root, schema);
    if depth > 8 {
        return None;
    }
    for union in ["anyOf", "oneOf", "allOf"] {
        if let Some(parts) = schema.get(union).and_then(Json::as_array) {
            let mut kinds = parts
                .iter()
                .filter(|p| types(resolve(root, p)) != ["null"])
                .map(|p| element(root, p, depth + 1));
            let first = kinds.next()??;
            return kinds.all(|k| k == Some(first)).then_some(first);
        }
    }
    let mut kinds = types(schema);
    kinds.retain(|t| *t != "null");
    match kinds.as_slice() {
        ["string"] => Some(Element::Text),
        ["integer"] | ["number"] | ["integer", "number"] | ["number", "integer"] => {
            Some(Element::Number)
        }
        ["boolean"] => Some(Element::Bool),
        [] if all_text(schema) => Some(Element::Text),
        _ => None,
    }
}

fn all_text(schema: &Json) -> bool {
    schema
        .get("enum")
        .and_then(Json::as_array)
        .is_some_and(|v| v.iter().all(|i| i.as_str().is_some()))
        || schema.get("const").is_some_and(|v| v.as_str().is_some())
}

fn types(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn resolve<'a>(root: &'a Json, mut schema: &'a Json) -> &'a Json {
    for _ in 0..32 {
        let target = schema
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(contract_of_ref)
            .and_then(|name| root.get("$defs")?.get(&name));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Reads a query string: `+` is a space, `%XX` a byte, all of it UTF-8 without NUL.
///
/// # Errors
/// `input.invalid` when it is not.
pub(crate) fn query(text: &str) -> Result<Vec<(String, String)>, Refusal> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (decode(name), decode(value)) {
                (Some(name), Some(value)) => Ok((name, value)),
                _ => Err(invalid(vec![error(
                    "",
                    "the query string is not percent-encoded UTF-8",
                )])),
            }
        })
        .collect()
}

fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        out.push(match b {
            b'+' => b' ',
            b'%' => {
                let hex = [bytes.next()?, bytes.next()?];
                let digits = std::str::from_utf8(&hex)
                    .ok()
                    .filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?;
                u8::from_str_radix(digits, 16).ok()?
            }
            b => b,
        });
    }
    String::from_utf8(out).ok().filter(|s| !s.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        json::parse(text.as_bytes(), Limits::DOCUMENT).unwrap()
    }

    fn binder() -> Binder {
        Binder::new(&json(
            r##"{"type":"object","properties":{
                "text":{"type":"string"},"page":{"type":"integer","minimum":1},"price":{"type":["number","null"]},
                "open":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"id":{"$ref":"#/$defs/crate::Id"},
                "tags":{"type":"array","items":{"type":"string"}},"kind":{"enum":["a","b"]},"deep":{"type":"object"}},
              "$defs":{"crate::Id":{"type":"string"}}}"##,
        ))
    }

    fn words(text: &str) -> Vec<(String, String)> {
        query(text).unwrap()
    }

    #[test]
    fn a_word_becomes_what_the_contract_says() {
        let input = binder()
            .bind(
                None,
                &words("text=1&page=2&price=1.50&open=true&id=7&tags=x&tags=y&kind=a"),
            )
            .unwrap();
        assert_eq!(
            input,
            json(
                r#"{"text":"1","page":2,"price":1.50,"open":true,"id":"7","tags":["x","y"],"kind":"a"}"#
            )
        );
    }

    #[test]
    fn a_word_of_another_kind_stays_text_for_the_contract_to_refuse() {
        assert_eq!(
            binder().bind(None, &words("page=two&open=yes")).unwrap(),
            json(r#"{"page":"two","open":"yes"}"#)
        );
        assert_eq!(
            binder().bind(None, &words("page=+2")).unwrap(),
            json(r#"{"page":" 2"}"#)
        );
        assert_eq!(
            binder().bind(None, &words("page=1e999")).unwrap(),
            json(r#"{"page":"1e999"}"#)
        );
    }

    #[test]
    fn every_parameter_without_a_place_is_named() {
        let refusal = binder()
            .bind(
                Some(json(r#"{"text":"body","tags":["z"]}"#)),
                &words("text=url&nope=1&deep=2&page=1&page=2&tags=x"),
            )
            .expect_err("five of them");
        let errors = refusal.detail.unwrap().get("errors").unwrap().clone();
        let mut paths: Vec<_> = errors
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e.get("path").unwrap().as_str().unwrap().to_owned())
            .collect();
        paths.sort();
        assert_eq!(paths, ["/deep", "/nope", "/page", "/tags", "/text"]);
    }

    #[test]
    fn a_query_string_is_strict() {
        assert_eq!(
            words("a=%C3%A4+b&c"),
            [("a".into(), "ä b".into()), ("c".into(), String::new())]
        );
        for wrong in ["a=%", "a=%4", "a=%zz", "a=%ff", "a=%00", "%ff=1", "a=%+1"] {
            assert!(query(wrong).is_err(), "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_query_never_panics_and_what_was_encoded_is_read_back(text in ".{0,40}", name in "[a-z%+&=]{0,6}") {
            let _ = query(&text);
            let encode = |s: &str| s.bytes().map(|b| format!("%{b:02x}")).collect::<String>();
            let read = query(&format!("{}={}", encode(&name), encode(&text)));
            if text.contains('\0') {
                proptest::prop_assert!(read.is_err());
            } else {
                proptest::prop_assert_eq!(read.unwrap(), vec![(name, text)]);
            }
        }
    }
}
