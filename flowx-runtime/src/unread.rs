//! An input that met its contract and that serde does not read all the same: a conversion refuses it, or a form that no schema says.
//!
//! serde says what in words for whoever wrote the type, and where roughly. Here it is put into words for whoever sent the input, without
//! its values: they may be secrets. The place is found by reading beginnings of the text, which needs no code per type as a
//! wrapper around every `Deserialize` would.

use flowx_manifest::Json;

use crate::contracts::token;
use crate::input::{InputError, invalid};
use crate::refusal::Refusal;

/// `input.invalid` for what serde said of that input's canonical text. `read` reads another text in the same way and gives its error.
pub(crate) fn unreadable(
    error: &serde_json::Error,
    input: &Json,
    read: &dyn Fn(&str) -> Option<serde_json::Error>,
) -> Refusal {
    let text = input.to_canonical();
    let mut ends = Vec::new();
    boundaries(input, 0, &mut ends);
    // A beginning that is only too short is well as far as it goes; the first one that is not ends where it goes wrong.
    let first = ends.partition_point(|end| match read(&text[..end.cut.min(text.len())]) {
        Some(error) => error.is_eof(),
        None => true,
    });
    let mut path = ends
        .get(first)
        .map(|end| end.path(input))
        .unwrap_or_default();
    let (member, message) = words(&error.to_string());
    let member = member.map(|m| format!("/{}", token(&m)));
    // A member that is not known is where it stands, unless serde had kept it for later.
    if let Some(member) = member.filter(|m| !path.ends_with(m.as_str())) {
        path.push_str(&member);
    }
    invalid(vec![InputError { path, message }])
}

/// A place in the text up to which it can be cut off: after a member's name, or after a value and what follows it.
struct Boundary {
    cut: usize,
    /// Where the value that it belongs to begins.
    value: usize,
}

impl Boundary {
    /// The pointer to that value.
    fn path(&self, input: &Json) -> String {
        let mut path = String::new();
        locate(input, 0, self, &mut path);
        path
    }
}

/// All of them in the order of the text; gives the end of the value.
fn boundaries(value: &Json, at: usize, out: &mut Vec<Boundary>) -> usize {
    let end = match value {
        Json::Array(items) => {
            let mut next = at + 1;
            for item in items {
                next = boundaries(item, next, out) + 1;
            }
            next.max(at + 2)
        }
        Json::Object(members) => {
            let mut next = at + 1;
            for (name, item) in members {
                let begin = next + key(name);
                out.push(Boundary {
                    cut: begin,
                    value: begin,
                });
                next = boundaries(item, begin, out) + 1;
            }
            next.max(at + 2)
        }
        other => at + other.to_canonical().len(),
    };
    out.push(Boundary {
        cut: end + 1,
        value: at,
    });
    end
}

/// How much of the text a member's name takes, with its colon.
fn key(name: &str) -> usize {
    Json::from(name).to_canonical().len() + 1
}

fn locate(value: &Json, at: usize, boundary: &Boundary, path: &mut String) {
    let mut next = at + 1;
    let mut child = |name: &str, value: &Json, before: usize| {
        let begin = next + before;
        next = begin + value.to_canonical().len() + 1;
        let inside = (begin..next).contains(&boundary.value);
        if inside {
            path.push('/');
            path.push_str(&token(name));
            if begin < boundary.value {
                locate(value, begin, boundary, path);
            }
        }
        inside
    };
    match value {
        _ if at == boundary.value => {}
        Json::Array(items) => {
            let _ = items
                .iter()
                .enumerate()
                .any(|(i, item)| child(&i.to_string(), item, 0));
        }
        Json::Object(members) => {
            let _ = members
                .iter()
                .any(|(name, value)| child(name, value, key(name)));
        }
        _ => {}
    }
}

/// What serde said, in plain words, and the member that it is about where that is no value of the input.
fn words(said: &str) -> (Option<String>, String) {
    let said = said.split(" at line ").next().unwrap_or(said);
    let quoted = |text: &str| text.split('`').nth(1).map(str::to_owned);
    if let Some(rest) = said.strip_prefix("missing field ") {
        let message = format!("{rest} is missing, and needed");
        return (quoted(rest), message);
    }
    if let Some(rest) = said.strip_prefix("unknown field ") {
        let name = quoted(rest);
        let message = name.as_deref().map_or_else(
            || "there is no such member".to_owned(),
            |n| format!("there is no member `{n}`"),
        );
        return (name, message);
    }
    if let Some(rest) = said.strip_prefix("duplicate field ") {
        return (quoted(rest), "it is given more than once".to_owned());
    }
    let about_a_value = [
        "invalid type: ",
        "invalid value: ",
        "invalid length ",
        "unknown variant ",
    ];
    if about_a_value.iter().any(|start| said.starts_with(start)) {
        // What came may be a secret, and may itself hold the word.
        let expected = said
            .rsplit_once(", expected ")
            .map_or("something else", |(_, e)| e);
        return (None, format!("it must be {}", kind(expected)));
    }
    if said.starts_with("data did not match any variant") {
        return (None, "it has none of the forms that are taken".to_owned());
    }
    // A conversion of the author's, in the author's words.
    (None, said.to_owned())
}

/// What serde names for whoever writes Rust.
fn kind(expected: &str) -> String {
    let whole = |range: &str| format!("a whole number {range}");
    match expected {
        "u8" => whole("from 0 to 255"),
        "u16" => whole("from 0 to 65535"),
        "u32" => whole("from 0 to 4294967295"),
        "u64" | "usize" => whole("from 0 to 18446744073709551615"),
        "u128" => whole("from 0 on, of at most 128 bits"),
        "i8" => whole("from -128 to 127"),
        "i16" => whole("from -32768 to 32767"),
        "i32" => whole("from -2147483648 to 2147483647"),
        "i64" | "isize" => whole("from -9223372036854775808 to 9223372036854775807"),
        "i128" => whole("of at most 128 bits"),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        "unit" => "null".to_owned(),
        other => {
            let article = [
                "struct ",
                "internally tagged enum ",
                "adjacently tagged enum ",
            ];
            if article.iter().any(|a| other.starts_with(a)) {
                "an object".to_owned()
            } else {
                other.replace('`', "")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowx_manifest::json::{Limits, parse};
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Order {
        #[serde(default)]
        lines: Vec<Line>,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        even: Even,
        #[serde(default)]
        more: Option<More>,
    }
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct More {
        #[serde(default)]
        plain: u8,
        even: Even,
    }
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Line {
        #[serde(rename = "a/b")]
        count: u8,
    }
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Plain,
        Odd,
    }
    #[derive(Debug, Default, Deserialize)]
    #[serde(try_from = "i64")]
    struct Even(#[allow(dead_code)] i64);
    impl TryFrom<i64> for Even {
        type Error = String;
        fn try_from(n: i64) -> Result<Self, String> {
            if n % 2 == 0 {
                Ok(Even(n))
            } else {
                Err("only even numbers are taken".to_owned())
            }
        }
    }

    fn said(text: &str) -> (String, String) {
        let input = parse(text.as_bytes(), Limits::DOCUMENT).expect(text);
        let error = serde_json::from_str::<Order>(&input.to_canonical()).expect_err(text);
        let read = |text: &str| serde_json::from_str::<Order>(text).err();
        let refusal = unreadable(&error, &input, &read);
        let detail = refusal.detail.expect("errors");
        let of = |name: &str| {
            let at = detail.pointer(&format!("/errors/0/{name}"));
            at.and_then(Json::as_str).expect(name).to_owned()
        };
        (of("path"), of("message"))
    }

    #[test]
    fn what_serde_refuses_is_told_by_its_place_and_in_plain_words() {
        for (text, path, message) in [
            (
                r#"{"lines":[{"a/b":1},{"a/b":300}]}"#,
                "/lines/1/a~1b",
                "it must be a whole number from 0 to 255",
            ),
            (
                r#"{"lines":[{"a/b":1},{"a/b":"secret, expected nothing"}]}"#,
                "/lines/1/a~1b",
                "it must be a whole number from 0 to 255",
            ),
            (
                r#"{"lines":[{}]}"#,
                "/lines/0/a~1b",
                "`a/b` is missing, and needed",
            ),
            (
                r#"{"lines":[{"a/b":1,"x":2}]}"#,
                "/lines/0/x",
                "there is no member `x`",
            ),
            (r#"{"lines":{}}"#, "/lines", "it must be a list"),
            (r#"{"kind":"secret"}"#, "/kind", "it must be plain or odd"),
            (
                r#"{"lines":[{"a/b":1}],"more":{"plain":70,"even":7}}"#,
                "/more/even",
                "only even numbers are taken",
            ),
            (
                r#"{"more":{"more":{"more":1}}}"#,
                "/more/more",
                "there is no member `more`",
            ),
            (r#"{"even":7}"#, "/even", "only even numbers are taken"),
            (
                r#"{"other":{"a":[1]}}"#,
                "/other",
                "there is no member `other`",
            ),
            (r#"7"#, "", "it must be an object"),
        ] {
            let (at, what) = said(text);
            assert_eq!(
                (at.as_str(), what.replace("one of ", "").as_str()),
                (path, message),
                "{text}"
            );
            assert!(
                !what.contains("line 1") && !what.contains("secret"),
                "{what}"
            );
        }
    }
}
