//! A flow's output as a client reads it: structured content that meets the descriptor's output schema, the same as text for models, and
//! pictures, sound and documents as blocks of their own.
//!
//! What is a picture is said by the contract, in the words of JSON Schema: a string member with `contentMediaType`, and
//! `contentEncoding: "base64"` where it is not text. Nothing is guessed from values.

use flowx_manifest::{Direction, Flow, Json, Manifest, closure, omit_nulls};
use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::Value;

use crate::invocation::Output;

/// How the outputs of one tool are sent.
pub(crate) struct OutputForm {
    schema: Json,
    media: Vec<Media>,
    flow: String,
}

/// A member of an output that is a picture, a sound or a document.
struct Media {
    member: String,
    mime: String,
    is_base64: bool,
}

/// What is sent of one output.
pub(crate) struct Content {
    pub(crate) structured: Value,
    pub(crate) blocks: Vec<ContentBlock>,
}

impl OutputForm {
    /// Of the tool of that flow; `schema` is its descriptor's output schema.
    pub(crate) fn of(manifest: &Manifest, flow: &Flow, schema: Json) -> OutputForm {
        let contract = closure(manifest, &flow.output.name, Direction::Response);
        let members = contract
            .as_ref()
            .and_then(|c| c.get("properties"))
            .and_then(Json::as_object);
        let media = |(member, schema): (&String, &Json)| {
            Some(Media {
                member: member.clone(),
                mime: schema.get("contentMediaType")?.as_str()?.to_owned(),
                is_base64: schema.get("contentEncoding").and_then(Json::as_str) == Some("base64"),
            })
        };
        OutputForm {
            schema,
            media: members.into_iter().flatten().filter_map(media).collect(),
            flow: flow.id.to_string(),
        }
    }

    /// One output.
    ///
    /// # Errors
    /// When the flow's output is no JSON.
    /// `mark` gives what stands for a number that the library's own would round, until the answer is filled.
    pub(crate) fn write(
        &self,
        output: &Output,
        mark: &dyn Fn(&str) -> String,
    ) -> serde_json::Result<Content> {
        let mut structured: Value = match wide(&output.text) {
            Some(json) => exact(&json, mark),
            None => serde_json::from_str(&output.text)?,
        };
        if structured.is_null() {
            // A flow that gives nothing: the protocol wants an object all the same.
            structured = Value::Object(serde_json::Map::new());
        } else if output.text.contains("null") {
            let mut json = Json::from_value(&structured);
            omit_nulls(&mut json, &self.schema);
            structured = json.to_value();
        }
        let mut blocks = Vec::with_capacity(1 + self.media.len());
        if self.media.is_empty() {
            blocks.push(ContentBlock::text(output.text.as_str()));
            return Ok(Content { structured, blocks });
        }
        // A model gets them as what they are, and not a second time as text.
        let mut told = structured.clone();
        for media in &self.media {
            let taken = told
                .as_object_mut()
                .and_then(|members| members.remove(&media.member));
            if let Some(Value::String(data)) = taken {
                blocks.push(self.block(media, data));
            }
        }
        let told = match wide(&output.text) {
            // As it was written, and without the marks.
            Some(Json::Object(mut members)) => {
                members.retain(|name, _| told.get(name).is_some());
                Json::Object(members).to_canonical()
            }
            _ => told.to_string(),
        };
        blocks.insert(0, ContentBlock::text(told));
        Ok(Content { structured, blocks })
    }

    fn block(&self, media: &Media, data: String) -> ContentBlock {
        let (mime, kind) = (media.mime.as_str(), media.mime.split('/').next());
        match (kind, media.is_base64) {
            (Some("image"), true) => ContentBlock::image(data, mime),
            (Some("audio"), true) => ContentBlock::audio(data, mime),
            (_, is_base64) => {
                let uri = format!("flowx://flow/{}/output/{}", self.flow, media.member);
                let contents = if is_base64 {
                    ResourceContents::blob(data, uri)
                } else {
                    ResourceContents::text(data, uri)
                };
                ContentBlock::resource(contents.with_mime_type(mime))
            }
        }
    }
}

/// The output, where it may hold a number of more digits than the library's numbers keep.
fn wide(text: &str) -> Option<Json> {
    let mut run = 0;
    let long = text.bytes().any(|b| {
        run = if b.is_ascii_digit() || b == b'.' {
            run + 1
        } else {
            0
        };
        run > 15
    });
    long.then(|| {
        flowx_manifest::json::parse(text.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
    })?
    .ok()
}

/// The value, with marks for the numbers that it would round.
fn exact(json: &Json, mark: &dyn Fn(&str) -> String) -> Value {
    match json {
        Json::Number(n) => {
            let literal = n.as_str();
            match serde_json::from_str::<serde_json::Number>(literal) {
                Ok(number) if number.to_string() == literal => Value::Number(number),
                _ => Value::String(mark(literal)),
            }
        }
        Json::Array(items) => items.iter().map(|item| exact(item, mark)).collect(),
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), exact(value, mark)))
            .collect(),
        other => other.to_value(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowx_manifest::json::{Limits, parse};

    fn form(media: &[(&str, &str, bool)], schema: &str) -> OutputForm {
        let media = media.iter().map(|(member, mime, is_base64)| Media {
            member: (*member).to_owned(),
            mime: (*mime).to_owned(),
            is_base64: *is_base64,
        });
        OutputForm {
            schema: parse(schema.as_bytes(), Limits::DOCUMENT).expect("a schema"),
            media: media.collect(),
            flow: "desk.draw".to_owned(),
        }
    }

    fn write(form: &OutputForm, text: &str) -> (Value, Vec<Value>) {
        let content = form
            .write(
                &Output {
                    text: text.to_owned(),
                },
                &|literal| format!("mark {literal}"),
            )
            .expect("JSON");
        let blocks = content
            .blocks
            .iter()
            .map(|b| serde_json::to_value(b).expect("a block"))
            .collect();
        (content.structured, blocks)
    }

    #[test]
    fn a_member_that_is_nothing_is_left_out_of_what_clients_check() {
        let form = form(
            &[],
            r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
        );
        let (structured, blocks) = write(&form, r#"{"a":null,"b":null}"#);
        assert_eq!(structured, serde_json::json!({ "b": null }));
        assert_eq!(blocks[0]["text"], r#"{"a":null,"b":null}"#);
    }

    #[test]
    fn a_number_that_would_be_rounded_is_marked_and_no_other() {
        let text = r#"{"a":18446744073709551615,"b":18446744073709551616,"c":[0.1234567890123456789,0.12345678901234568],"d":-9223372036854775808}"#;
        let (structured, _) = write(&form(&[], "{}"), text);
        assert_eq!(structured["a"], u64::MAX);
        assert_eq!(structured["b"], "mark 18446744073709551616");
        assert_eq!(structured["c"][0], "mark 0.1234567890123456789");
        assert!(structured["c"][1].is_number() && structured["d"].is_number());
        let picture = form(&[("jpg", "image/jpeg", true)], "{}");
        let (_, blocks) = write(&picture, r#"{"jpg":"aa","n":18446744073709551616}"#);
        assert_eq!(blocks[0]["text"], r#"{"n":18446744073709551616}"#);
    }

    #[test]
    fn an_output_of_nothing_is_an_empty_object() {
        assert_eq!(write(&form(&[], "{}"), "null").0, serde_json::json!({}));
    }

    #[test]
    fn pictures_sound_and_documents_are_blocks_of_their_own_and_not_text_as_well() {
        let form = form(
            &[
                ("jpg", "image/jpeg", true),
                ("wav", "audio/wav", true),
                ("doc", "application/json", false),
                ("zip", "application/zip", true),
            ],
            "{}",
        );
        let (structured, blocks) = write(
            &form,
            r#"{"jpg":"aa","wav":"bb","doc":"{}","zip":"cc","n":1}"#,
        );
        assert_eq!(structured["jpg"], "aa");
        assert_eq!(blocks[0]["text"], r#"{"n":1}"#);
        assert_eq!(
            (
                &blocks[1]["type"],
                &blocks[1]["data"],
                &blocks[1]["mimeType"]
            ),
            (&"image".into(), &"aa".into(), &"image/jpeg".into())
        );
        assert_eq!(
            (&blocks[2]["type"], &blocks[2]["mimeType"]),
            (&"audio".into(), &"audio/wav".into())
        );
        assert_eq!(
            (&blocks[3]["type"], &blocks[3]["resource"]["text"]),
            (&"resource".into(), &"{}".into())
        );
        assert_eq!(blocks[4]["resource"]["blob"], "cc");
        assert_eq!(
            blocks[4]["resource"]["uri"],
            "flowx://flow/desk.draw/output/zip"
        );
    }
}
