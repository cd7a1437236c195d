//! Puts slices of the reviewed document into answers, byte for byte.
//!
//! The MCP library validates, frames and versions every answer, but models a descriptor as a closed struct: it drops fields, sorts
//! keys and rewrites numbers. So the library is given a mark where the descriptors go, and the mark is replaced, after it
//! has written the answer, by bytes of the embedded document. A mark says by itself what it stands for, so that a replay of a
//! kept event is filled like its first sending.
//!
//! The mark holds 128 random bits of this process, never leaves it, and so cannot be asked for. That the library still writes it
//! as expected is checked at start-up by [`Splice::verify`].

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::{BufMut, Bytes, BytesMut};
use flowx_manifest::json;
use rmcp::model::{
    CallToolResult, JsonObject, ListToolsResult, ReadResourceResult, RequestId, ResourceContents,
    ServerJsonRpcMessage, ServerResult, Tool,
};

/// How the library writes a tool that has a name and nothing else, around the name.
const BEFORE_TOOL: &[u8] = br#"{"name":""#;
const AFTER_TOOL: &[u8] = br#"","inputSchema":{}}"#;
/// Distinct sets of visible tools whose joined bytes are kept.
const KEPT: usize = 64;

/// An answer holds a mark that is not as [`Splice::verify`] saw it at start-up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the MCP library does not write answers as this version of FlowX expects, so the reviewed bytes cannot be put in: {0}"
)]
pub struct BrokenSplice(&'static str);

/// What goes into answers, and the marks that stand for it.
pub(crate) struct Splice {
    mark: String,
    tools: Vec<&'static str>,
    all: Bytes,
    texts: Vec<Bytes>,
    joined: Mutex<HashMap<String, Bytes>>,
}

impl Splice {
    /// `tools`: the descriptors in the document's order. `documents`: what resources hold. `secret`: random.
    pub(crate) fn new(
        tools: Vec<&'static str>,
        documents: &[&'static str],
        secret: [u8; 16],
    ) -> Splice {
        let mut mark = String::from("flowx:");
        for byte in secret {
            mark.push_str(&format!("{byte:02x}"));
        }
        mark.push(':');
        let literal = |text: &&str| {
            let mut out = String::with_capacity(text.len() + text.len() / 8);
            json::write_string(text, &mut out);
            Bytes::from(out)
        };
        Splice {
            mark,
            all: join(tools.iter().copied()),
            tools,
            texts: documents.iter().map(literal).collect(),
            joined: Mutex::new(HashMap::new()),
        }
    }

    /// What the library is given in place of the descriptors that `visible` names by their place.
    pub(crate) fn tools(&self, visible: impl Fn(usize) -> bool) -> Vec<Tool> {
        let mut set = String::with_capacity(self.tools.len() / 4 + 1);
        let (mut any, mut every) = (false, true);
        for start in (0..self.tools.len()).step_by(4) {
            let mut digit = 0;
            for at in start..(start + 4).min(self.tools.len()) {
                let sees = visible(at);
                digit |= u32::from(sees) << (at - start);
                any |= sees;
                every &= sees;
            }
            set.push(char::from_digit(digit, 16).expect("four bits are one hexadecimal digit"));
        }
        match (any, every) {
            (false, _) => Vec::new(),
            (true, true) => vec![self.tool("*")],
            (true, false) => vec![self.tool(&set)],
        }
    }

    fn tool(&self, set: &str) -> Tool {
        Tool::new_with_raw(format!("{}t{set}", self.mark), None, JsonObject::new())
    }

    /// What the library is given in place of the document at that place.
    pub(crate) fn text(&self, at: usize) -> String {
        format!("{}r{at}", self.mark)
    }

    /// What the library is given in place of a number that its own would round.
    pub(crate) fn number(&self, literal: &str) -> String {
        format!("{}n{literal}", self.mark)
    }

    /// Fills every mark in a complete piece of an answer.
    ///
    /// # Errors
    /// When a mark is not written as expected.
    pub(crate) fn fill(&self, text: &Bytes) -> Result<Vec<Bytes>, BrokenSplice> {
        let mut pieces = Vec::with_capacity(3);
        let mut done = 0;
        while let Some(found) = find(&text[done..], self.mark.as_bytes()) {
            let mark = done + found;
            let name = mark + self.mark.len();
            let end = name
                + text[name..]
                    .iter()
                    .position(|&b| b == b'"')
                    .ok_or(BrokenSplice("a mark does not end"))?;
            let inside = std::str::from_utf8(&text[name..end])
                .map_err(|_| BrokenSplice("a mark is not text"))?;
            let (start, end, bytes) = match inside.split_at_checked(1) {
                Some(("t", set)) => {
                    if !text[done..mark].ends_with(BEFORE_TOOL)
                        || !text[end..].starts_with(AFTER_TOOL)
                    {
                        return Err(BrokenSplice("a tool is written otherwise"));
                    }
                    (
                        mark - BEFORE_TOOL.len(),
                        end + AFTER_TOOL.len(),
                        self.of_set(set)?,
                    )
                }
                Some(("r", at)) => {
                    if !text[done..mark].ends_with(b"\"") {
                        return Err(BrokenSplice("a text is written otherwise"));
                    }
                    let at: usize = at
                        .parse()
                        .map_err(|_| BrokenSplice("an unknown document"))?;
                    (
                        mark - 1,
                        end + 1,
                        self.texts
                            .get(at)
                            .ok_or(BrokenSplice("an unknown document"))?
                            .clone(),
                    )
                }
                Some(("n", literal)) => {
                    let known = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
                    if !text[done..mark].ends_with(b"\"") || !literal.bytes().all(known) {
                        return Err(BrokenSplice("a number is written otherwise"));
                    }
                    (mark - 1, end + 1, text.slice(name + 1..end))
                }
                _ => return Err(BrokenSplice("an unknown mark")),
            };
            pieces.push(text.slice(done..start));
            pieces.push(bytes);
            done = end;
        }
        pieces.push(text.slice(done..));
        Ok(pieces)
    }

    fn of_set(&self, set: &str) -> Result<Bytes, BrokenSplice> {
        if set == "*" {
            return Ok(self.all.clone());
        }
        let mut joined = self
            .joined
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(bytes) = joined.get(set) {
            return Ok(bytes.clone());
        }
        let digits: Option<Vec<u32>> = set.chars().map(|c| c.to_digit(16)).collect();
        let digits = digits
            .filter(|d| d.len() == self.tools.len().div_ceil(4))
            .ok_or(BrokenSplice("an unknown set"))?;
        let sees = |at: usize| digits[at / 4] >> (at % 4) & 1 == 1;
        let bytes = join(
            self.tools
                .iter()
                .enumerate()
                .filter(|(at, _)| sees(*at))
                .map(|(_, tool)| *tool),
        );
        if joined.len() >= KEPT {
            joined.clear();
        }
        joined.insert(set.to_owned(), bytes.clone());
        Ok(bytes)
    }

    /// Has the library write one answer of each kind, and fills it.
    ///
    /// # Errors
    /// When the library writes them otherwise than [`Splice::fill`] expects. The server must not start then.
    pub(crate) fn verify(&self) -> Result<(), BrokenSplice> {
        let write = |result: ServerResult| {
            serde_json::to_vec(&ServerJsonRpcMessage::response(
                result,
                RequestId::Number(1),
            ))
            .map(Bytes::from)
            .map_err(|_| BrokenSplice("an answer cannot be written"))
        };
        if !self.tools.is_empty() {
            let filled = self.fill(&write(ServerResult::ListToolsResult(
                ListToolsResult::with_all_items(self.tools(|_| true)),
            ))?)?;
            if filled.len() != 3 || filled[1] != self.all {
                return Err(BrokenSplice("a tool list does not hold the mark"));
            }
        }
        for (at, text) in self.texts.iter().enumerate() {
            let contents = vec![ResourceContents::text(self.text(at), "flowx://manifest")];
            let filled = self.fill(&write(ServerResult::ReadResourceResult(
                ReadResourceResult::new(contents),
            ))?)?;
            if filled.len() != 3 || filled[1] != *text {
                return Err(BrokenSplice("a resource does not hold the mark"));
            }
        }
        let plain = write(ServerResult::CallToolResult(CallToolResult::success(
            Vec::new(),
        )))?;
        if self.fill(&plain)? != [plain] {
            return Err(BrokenSplice("an answer without a mark is changed"));
        }
        Ok(())
    }
}

fn join(parts: impl Iterator<Item = &'static str>) -> Bytes {
    let mut out = BytesMut::new();
    for (i, part) in parts.enumerate() {
        if i > 0 {
            out.put_u8(b',');
        }
        out.put_slice(part.as_bytes());
    }
    out.freeze()
}

/// The answers that hold marks are small before they are filled, so the plain search is the fast one.
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len())
        .position(|window| window == needle)
}

/// Splits what comes in pieces of any size into whole lines, which is what server-sent events are made of.
#[derive(Default)]
pub(crate) struct Lines {
    rest: BytesMut,
}

impl Lines {
    /// Takes one piece, gives whatever is whole by now.
    pub(crate) fn push(&mut self, piece: Bytes) -> Bytes {
        match piece.iter().rposition(|&b| b == b'\n') {
            Some(last) if self.rest.is_empty() => {
                self.rest.extend_from_slice(&piece[last + 1..]);
                piece.slice(..=last)
            }
            Some(last) => {
                self.rest.extend_from_slice(&piece[..=last]);
                let whole = self.rest.split().freeze();
                self.rest.extend_from_slice(&piece[last + 1..]);
                whole
            }
            None => {
                self.rest.extend_from_slice(&piece);
                Bytes::new()
            }
        }
    }

    /// What is left at the end.
    pub(crate) fn finish(&mut self) -> Bytes {
        self.rest.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 6] = [
        r#"{"name":"a","n":1e2}"#,
        r#"{"name":"b"}"#,
        r#"{"name":"c"}"#,
        r#"{"name":"d"}"#,
        r#"{"name":"e"}"#,
        r#"{"name":"f"}"#,
    ];

    fn splice() -> Splice {
        Splice::new(TOOLS.to_vec(), &["{\"a\":\"b\\n\"}\n"], [7; 16])
    }

    fn listed(splice: &Splice, visible: impl Fn(usize) -> bool) -> String {
        let list = ListToolsResult::with_all_items(splice.tools(visible));
        let text = Bytes::from(serde_json::to_vec(&list).expect("a list"));
        String::from_utf8(splice.fill(&text).expect("filled").concat()).expect("text")
    }

    #[test]
    fn the_library_still_writes_answers_as_expected() {
        assert_eq!(splice().verify(), Ok(()));
        assert_eq!(Splice::new(Vec::new(), &[], [0; 16]).verify(), Ok(()));
    }

    #[test]
    fn a_list_holds_exactly_the_visible_descriptors_and_their_exact_bytes() {
        let splice = splice();
        for set in 0..1 << TOOLS.len() {
            let expected: Vec<&str> = (0..TOOLS.len())
                .filter(|at| set >> at & 1 == 1)
                .map(|at| TOOLS[at])
                .collect();
            let listed = listed(&splice, |at| set >> at & 1 == 1);
            assert!(
                listed.contains(&format!(r#""tools":[{}]"#, expected.join(","))),
                "{listed}"
            );
        }
        assert!(splice.joined.lock().expect("the lock").len() <= KEPT);
    }

    #[test]
    fn a_document_comes_back_as_it_was() {
        let splice = splice();
        let result = ReadResourceResult::new(vec![ResourceContents::text(
            splice.text(0),
            "flowx://manifest",
        )]);
        let text = Bytes::from(serde_json::to_vec(&result).expect("a result"));
        let filled = splice.fill(&text).expect("filled").concat();
        let value: serde_json::Value = serde_json::from_slice(&filled).expect("JSON");
        assert_eq!(value["contents"][0]["text"], "{\"a\":\"b\\n\"}\n");
    }

    #[test]
    fn a_mark_in_another_place_is_an_error_and_never_sent() {
        let splice = splice();
        for text in [
            format!(r#"{{"x":"{}t*"}}"#, splice.mark),
            format!(r#"{{"name":"{}t*","inputSchema":{{ }}}}"#, splice.mark),
            format!(
                r#"{{"name":"{}t01234567","inputSchema":{{}}}}"#,
                splice.mark
            ),
            format!(r#""{}r1""#, splice.mark),
            format!(r#""{}x""#, splice.mark),
            format!(r#""{}"#, splice.mark),
        ] {
            assert!(splice.fill(&Bytes::from(text.clone())).is_err(), "{text}");
        }
    }

    #[test]
    fn lines_come_out_whole_however_they_come_in() {
        let text = "id: 1\ndata: {\"a\":1}\n\n:\n\ndata: x";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                let whole = lines.push(Bytes::copy_from_slice(piece));
                assert!(whole.is_empty() || whole.ends_with(b"\n"));
                out.extend_from_slice(&whole);
            }
            out.extend_from_slice(&lines.finish());
            assert_eq!(out, text.as_bytes());
        }
    }
}
