//! The outline of a file without parsing it: its modules, its item macros, and whether it declares anything.
//!
//! A build script is compiled without optimisation, where `syn` reads some three megabytes a second; this reads the files that
//! declare nothing, which are nearly all of them, many times faster. It knows strings, characters, lifetimes, comments and
//! raw strings, and nothing of expressions. Whatever it says of modules `syn` says too, which a test holds it to.

use std::ops::Range;

/// What a file says at the level of items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// Modules, item macros and includes, in order.
    pub(crate) items: Vec<OutlineItem>,
    /// The ranges of the `#![…]` at the top.
    pub(crate) inner: Vec<Range<usize>>,
    /// Whether an attribute, at any depth, goes by one of the words asked about.
    pub(crate) declares: bool,
    /// Other names that `use … as …` gives to one of those words.
    pub(crate) renames: Vec<String>,
    /// Macros by example: the name and the range of what stands in their brackets.
    pub(crate) macros: Vec<(String, Range<usize>)>,
    /// Whether an `impl` stands at the level of items.
    pub(crate) impls: bool,
    /// Whether a `static` may stand there, in `thread_local!` and `lazy_static!` too.
    pub(crate) statics: bool,
}

/// One item of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutlineItem {
    /// `mod name;` or `mod name { … }`.
    Mod(OutlineMod),
    /// `path! { … }`; `include!(…)` too.
    Call(OutlineCall),
    /// `#[path = "…"] mod name;` inside of a function: the only place there for a module with a file.
    InBlock(OutlineMod),
}

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlineMod {
    /// Its name, without `r#`.
    pub(crate) name: String,
    /// Where its name stands.
    pub(crate) at: usize,
    /// The ranges of its attributes, those inside of its body too.
    pub(crate) attrs: Vec<Range<usize>>,
    /// Whether `pub` stands before it, for everybody.
    pub(crate) public: bool,
    /// Its body, when it has one here.
    pub(crate) body: Option<Vec<OutlineItem>>,
    /// Its place among the `mod` items around it.
    pub(crate) ordinal: usize,
}

/// An item macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlineCall {
    /// The last segment of its path.
    pub(crate) name: String,
    /// Where its path starts.
    pub(crate) at: usize,
    /// The ranges of its attributes.
    pub(crate) attrs: Vec<Range<usize>>,
    /// What stands inside of its brackets.
    pub(crate) tokens: Range<usize>,
}

const SKIP: u8 = 0;
const IDENT: u8 = 1;
const DIGIT: u8 = 2;
const QUOTE: u8 = 3;
const TICK: u8 = 4;
const SLASH: u8 = 5;
const HASH: u8 = 6;
const OPEN: u8 = 7;
const CLOSE: u8 = 8;
const SEMI: u8 = 9;
const BANG: u8 = 10;
const SPACE: u8 = 11;

const CLASS: [u8; 256] = {
    let mut table = [SKIP; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        table[i] = match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => IDENT,
            b'0'..=b'9' => DIGIT,
            b'"' => QUOTE,
            b'\'' => TICK,
            b'/' => SLASH,
            b'#' => HASH,
            b'{' | b'(' | b'[' => OPEN,
            b'}' | b')' | b']' => CLOSE,
            b';' => SEMI,
            b'!' => BANG,
            b' ' | b'\n' | b'\t' | b'\r' => SPACE,
            // Anything beyond ASCII can only be part of a name here.
            0x80..=0xff => IDENT,
            _ => SKIP,
        };
        i += 1;
    }
    table
};

/// What says nothing inside of brackets: all but quotes, comments, attributes and brackets.
const QUIET: u8 = 0;
const OPENS: u8 = 1;
const CLOSES: u8 = 2;
const STOPS: u8 = 3;

const INSIDE: [u8; 256] = {
    let mut table = [QUIET; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = match CLASS[i] {
            QUOTE | TICK | SLASH | HASH => STOPS,
            OPEN => OPENS,
            CLOSE => CLOSES,
            _ => QUIET,
        };
        i += 1;
    }
    table
};

/// What a bracket belongs to that is open and stands in a module's body. Brackets inside of one that is no module's are counted only.
enum Frame {
    /// The body of a module: items stand in it.
    Module,
    /// An attribute of an item, and where it starts.
    Attr { start: usize, inner: bool },
    /// The tokens of an item macro.
    Call {
        name: String,
        at: usize,
        start: usize,
        rules: Option<String>,
    },
    /// `pub(…)`.
    Visibility,
    /// Anything else.
    Other,
}

/// One module body that is being read.
#[derive(Default)]
struct Level {
    items: Vec<OutlineItem>,
    mods: usize,
    /// Attributes of the item that comes next.
    attrs: Vec<Range<usize>>,
    /// Attributes inside of this body.
    inner: Vec<Range<usize>>,
    /// Whether the next token starts an item.
    fresh: bool,
    public: bool,
    in_use: bool,
    /// The module this is the body of.
    head: Option<(String, usize, Vec<Range<usize>>, bool)>,
}

/// Reads the outline of a text. `words` are the names of attributes to look for.
pub(crate) fn outline(text: &str, words: &[&str]) -> Outline {
    let bytes = text.as_bytes();
    let mut at = 0;
    if bytes.starts_with(b"\xef\xbb\xbf") {
        at = 3;
    }
    // A first line for the shell, unless it is an attribute.
    if bytes[at..].starts_with(b"#!") && !rest_is_attribute(&bytes[at + 2..]) {
        at += text[at..].find('\n').unwrap_or(bytes.len() - at);
    }
    read(text, at..bytes.len(), words)
}

/// The same for a part of a text: the tokens of an item macro.
pub(crate) fn outline_of(text: &str, range: Range<usize>, words: &[&str]) -> Outline {
    read(text, range, words)
}

fn rest_is_attribute(mut bytes: &[u8]) -> bool {
    loop {
        match bytes.first() {
            Some(b' ' | b'\t' | b'\n' | b'\r') => bytes = &bytes[1..],
            Some(b'[') => return true,
            Some(b'/') if bytes.get(1) == Some(&b'/') => {
                let end = bytes
                    .iter()
                    .position(|b| *b == b'\n')
                    .unwrap_or(bytes.len());
                bytes = &bytes[end..];
            }
            _ => return false,
        }
    }
}

fn read(text: &str, range: Range<usize>, words: &[&str]) -> Outline {
    let bytes = &text.as_bytes()[..range.end];
    let end = range.end;
    let mut out = Outline::default();
    let mut levels = vec![Level {
        fresh: true,
        ..Level::default()
    }];
    let mut frames: Vec<Frame> = Vec::new();
    // How many of the open brackets are no module bodies; items stand only where there are none.
    let mut opaque = 0usize;
    let mut i = range.start;
    // The name before the token at hand, at the level of items: `mod`, `use`, a macro's path.
    let mut name: Range<usize> = 0..0;
    let mut path_start = 0;
    let mut mod_name: Option<Range<usize>> = None;
    let mut after_mod = false;
    let mut rules_name: Option<String> = None;
    let mut bang = false;
    // Whether a `use` is being read: then names inside of brackets count.
    let mut using = false;
    while i < end {
        // Nearly all of a text stands inside of brackets. One flat loop, since a build script is not optimised.
        if opaque > 0 && !using {
            while i < end {
                match INSIDE[bytes[i] as usize] {
                    QUIET => {}
                    OPENS => opaque += 1,
                    CLOSES if opaque > 1 => opaque -= 1,
                    _ => break,
                }
                i += 1;
            }
            if i >= end {
                break;
            }
            if (bytes[i] == b'"' || bytes[i] == b'#') && raw_prefix(bytes, i) {
                (i, _) = raw(bytes, i);
                continue;
            }
        }
        match CLASS[bytes[i] as usize] {
            SPACE | SKIP => {
                if opaque == 0 && CLASS[bytes[i] as usize] == SKIP {
                    // `::` goes on with a path; anything else ends what may have been one.
                    if bytes[i] != b':' {
                        path_start = 0;
                        name = 0..0;
                    }
                    if let Some(level) = levels.last_mut() {
                        level.fresh &= bytes[i] == b':';
                    }
                }
                i += 1;
            }
            IDENT => {
                let start = i;
                i += 1;
                while i < end && matches!(CLASS[bytes[i] as usize], IDENT | DIGIT) {
                    i += 1;
                }
                let next = if i < end { bytes[i] } else { 0 };
                if next == b'"' || next == b'#' {
                    let word = &bytes[start..i];
                    if word == b"r" || word == b"br" || word == b"cr" {
                        let (stop, raw_name) = raw(bytes, i);
                        if !raw_name {
                            i = stop;
                            continue;
                        }
                        // A raw identifier: the name is what follows.
                        i = stop;
                        if opaque == 0 {
                            ident(
                                &mut levels,
                                &mut out,
                                text,
                                start + 2..i,
                                &mut name,
                                &mut path_start,
                                &mut after_mod,
                                &mut mod_name,
                                true,
                            );
                            using = levels.last().is_some_and(|l| l.in_use);
                        }
                        continue;
                    }
                }
                if opaque > 0 {
                    if let Some(Level { in_use: true, .. }) = levels.last() {
                        renamed(text, start..i, &mut name, words, &mut out.renames);
                    }
                    continue;
                }
                if let Some(Level { in_use: true, .. }) = levels.last() {
                    renamed(text, start..i, &mut name, words, &mut out.renames);
                    continue;
                }
                if bang {
                    // `macro_rules! name {`
                    rules_name = Some(text[start..i].to_owned());
                    continue;
                }
                ident(
                    &mut levels,
                    &mut out,
                    text,
                    start..i,
                    &mut name,
                    &mut path_start,
                    &mut after_mod,
                    &mut mod_name,
                    false,
                );
                using = levels.last().is_some_and(|l| l.in_use);
            }
            DIGIT => {
                i += 1;
                while i < end && matches!(CLASS[bytes[i] as usize], IDENT | DIGIT) {
                    i += 1;
                }
            }
            QUOTE => i = string(bytes, i + 1),
            TICK => i = tick(bytes, i),
            SLASH => {
                let next = if i + 1 < end { bytes[i + 1] } else { 0 };
                if next == b'/' {
                    // Compiled into the standard library, so many times faster than a loop here.
                    i = text[i + 2..end].find('\n').map_or(end, |n| i + 2 + n);
                } else if next == b'*' {
                    i = comment(bytes, i + 2);
                } else {
                    i += 1;
                }
            }
            HASH => {
                let mut j = i + 1;
                let inner = j < end && bytes[j] == b'!';
                if inner {
                    j += 1;
                }
                while j < end && CLASS[bytes[j] as usize] == SPACE {
                    j += 1;
                }
                if j < end && bytes[j] == b'[' {
                    if !out.declares {
                        out.declares = names_word(text, j + 1, end, words);
                    }
                    if opaque > 0
                        && !inner
                        && let Some(found) = block_module(text, i, j + 1, end)
                        && let Some(level) = levels.last_mut()
                    {
                        level.items.push(OutlineItem::InBlock(found));
                    }
                    if opaque == 0 {
                        frames.push(Frame::Attr { start: i, inner });
                    }
                    opaque += 1;
                    i = j + 1;
                } else {
                    i += 1;
                }
            }
            OPEN => {
                if opaque > 0 {
                    opaque += 1;
                    i += 1;
                    continue;
                }
                let frame = if let (b'{', Some(named)) = (bytes[i], mod_name.take()) {
                    let level = levels
                        .last_mut()
                        .expect("the level of the file is never taken off");
                    let attrs = std::mem::take(&mut level.attrs);
                    let head = (
                        text[named.clone()].to_owned(),
                        named.start,
                        attrs,
                        level.public,
                    );
                    levels.push(Level {
                        fresh: true,
                        head: Some(head),
                        ..Level::default()
                    });
                    frames.push(Frame::Module);
                    i += 1;
                    name = 0..0;
                    continue;
                } else if bang {
                    bang = false;
                    let called = text[name.clone()].to_owned();
                    Frame::Call {
                        name: called,
                        at: path_start,
                        start: i + 1,
                        rules: rules_name.take(),
                    }
                } else if bytes[i] == b'(' && &text[name.clone()] == "pub" {
                    Frame::Visibility
                } else {
                    if let Some(level) = levels.last_mut() {
                        level.fresh = false;
                    }
                    Frame::Other
                };
                frames.push(frame);
                opaque += 1;
                i += 1;
            }
            CLOSE => {
                if opaque > 1 {
                    opaque -= 1;
                    i += 1;
                    continue;
                }
                match frames.pop() {
                    None => {}
                    Some(Frame::Module) => {
                        if let Some(closed) = levels.pop_if(|l| l.head.is_some()) {
                            close(closed, &mut levels);
                        }
                        name = 0..0;
                    }
                    Some(frame) => {
                        opaque = opaque.saturating_sub(1);
                        let level = levels
                            .last_mut()
                            .expect("the level of the file is never taken off");
                        match frame {
                            Frame::Attr { start, inner: true } => level.inner.push(start..i + 1),
                            Frame::Attr {
                                start,
                                inner: false,
                            } => level.attrs.push(start..i + 1),
                            Frame::Visibility => level.public = false,
                            Frame::Call {
                                name: called,
                                at,
                                start,
                                rules,
                            } => {
                                let attrs = std::mem::take(&mut level.attrs);
                                out.statics |= called == "thread_local" || called == "lazy_static";
                                match rules {
                                    Some(name) => out.macros.push((name, start..i)),
                                    None => {
                                        level.items.push(OutlineItem::Call(OutlineCall {
                                            name: called,
                                            at,
                                            attrs,
                                            tokens: start..i,
                                        }));
                                    }
                                }
                                level.fresh = true;
                                level.public = false;
                                name = 0..0;
                                path_start = 0;
                            }
                            Frame::Other | Frame::Module => {
                                // The body of an item ends it.
                                if opaque == 0 && bytes[i] == b'}' && !level.in_use {
                                    level.fresh = true;
                                    level.public = false;
                                    level.attrs.clear();
                                    name = 0..0;
                                }
                            }
                        }
                    }
                }
                i += 1;
            }
            SEMI => {
                if opaque == 0 {
                    let level = levels
                        .last_mut()
                        .expect("the level of the file is never taken off");
                    if let Some(named) = mod_name.take() {
                        let ordinal = level.mods;
                        level.mods += 1;
                        level.items.push(OutlineItem::Mod(OutlineMod {
                            name: text[named.clone()].to_owned(),
                            at: named.start,
                            attrs: std::mem::take(&mut level.attrs),
                            public: level.public,
                            body: None,
                            ordinal,
                        }));
                    }
                    level.attrs.clear();
                    level.fresh = true;
                    level.public = false;
                    level.in_use = false;
                    using = false;
                    after_mod = false;
                    name = 0..0;
                    path_start = 0;
                }
                i += 1;
            }
            _ => {
                // `!` after a path that starts an item is a macro's.
                if opaque == 0 {
                    let level = levels
                        .last_mut()
                        .expect("the level of the file is never taken off");
                    bang = level.fresh && !name.is_empty();
                    rules_name = None;
                }
                i += 1;
            }
        }
    }
    // A text that ends inside of a module is no Rust; what was read still counts.
    while levels.len() > 1 {
        if let Some(closed) = levels.pop() {
            close(closed, &mut levels);
        }
    }
    let level = levels.pop().unwrap_or_default();
    out.items = level.items;
    out.inner = level.inner;
    out
}

/// A module's body has ended.
fn close(closed: Level, levels: &mut [Level]) {
    let (Some((name, at, mut attrs, public)), Some(level)) = (closed.head, levels.last_mut())
    else {
        return;
    };
    attrs.extend(closed.inner);
    let ordinal = level.mods;
    level.mods += 1;
    level.items.push(OutlineItem::Mod(OutlineMod {
        name,
        at,
        attrs,
        public,
        body: Some(closed.items),
        ordinal,
    }));
    level.fresh = true;
    level.public = false;
    level.attrs.clear();
}

/// A name at the level of items.
#[expect(
    clippy::too_many_arguments,
    reason = "the state of one loop, taken out for the two places that need it"
)]
fn ident(
    levels: &mut [Level],
    out: &mut Outline,
    text: &str,
    at: Range<usize>,
    name: &mut Range<usize>,
    path_start: &mut usize,
    after_mod: &mut bool,
    mod_name: &mut Option<Range<usize>>,
    raw: bool,
) {
    let Some(level) = levels.last_mut() else {
        return;
    };
    if *after_mod {
        *after_mod = false;
        *mod_name = Some(at);
        return;
    }
    match &text[at.clone()] {
        "impl" => out.impls = true,
        "static" => out.statics = true,
        _ => {}
    }
    match &text[at.clone()] {
        "mod" if !raw => *after_mod = true,
        "use" if !raw && level.fresh => level.in_use = true,
        "pub" if !raw => {
            level.public = true;
        }
        // A qualifier before `mod`, `fn`, …: the item has begun, and what follows is no macro's path.
        "unsafe" | "fn" | "struct" | "enum" | "impl" | "trait" | "const" | "static" | "type"
        | "extern" | "async" | "union" | "auto" | "default" | "safe"
            if !raw
            // `union`, `auto`, `default` and `safe` may also be a macro's name: then `!` follows, and the item is still fresh.
            && !matches!(&text[at.clone()], "union" | "auto" | "default" | "safe") =>
        {
            level.fresh = false;
        }
        _ => {}
    }
    if *path_start == 0 || name.start == name.end {
        *path_start = at.start;
    }
    *name = at;
}

/// A name inside of `use`: after a word and `as` it is another name of the word.
fn renamed(
    text: &str,
    at: Range<usize>,
    name: &mut Range<usize>,
    words: &[&str],
    renames: &mut Vec<String>,
) {
    let before = &text[name.clone()];
    if let Some(word) = before.strip_suffix(" as") {
        let _ = word;
    }
    if &text[at.clone()] == "as" {
        // Keep the word and mark that `as` has come, by stretching the range over it.
        *name = name.start..at.end;
        return;
    }
    if before.len() > 3
        && before.ends_with("as")
        && words.contains(&before[..before.len() - 2].trim_end())
    {
        renames.push(text[at.clone()].to_owned());
    }
    *name = at;
}

/// Whether the attribute whose path starts at `i` goes by one of the words; of `cfg_attr` and `derive`, whether it holds one.
fn names_word(text: &str, mut i: usize, end: usize, words: &[&str]) -> bool {
    let bytes = text.as_bytes();
    let mut last = 0..0;
    let mut listed = false;
    let mut depth = 0usize;
    while i < end {
        match CLASS[bytes[i] as usize] {
            IDENT => {
                let start = i;
                while i < end && matches!(CLASS[bytes[i] as usize], IDENT | DIGIT) {
                    i += 1;
                }
                if listed {
                    if words.contains(&&text[start..i]) {
                        return true;
                    }
                } else {
                    last = start..i;
                }
            }
            QUOTE => i = string(bytes, i + 1),
            OPEN => {
                let word = &text[last.clone()];
                if !listed {
                    if words.contains(&word) {
                        return true;
                    }
                    listed = word == "cfg_attr" || word == "derive";
                    if !listed {
                        return false;
                    }
                }
                depth += 1;
                i += 1;
            }
            CLOSE => {
                if depth <= 1 {
                    return !listed && words.contains(&&text[last]);
                }
                depth -= 1;
                i += 1;
            }
            SKIP if !listed && !matches!(bytes[i], b':' | b'$') => {
                return words.contains(&&text[last]);
            }
            _ => i += 1,
        }
    }
    false
}

/// A module with a path of its own whose `#[path = "…"]` starts at `start` and has its text at `i`.
fn block_module(text: &str, start: usize, mut i: usize, end: usize) -> Option<OutlineMod> {
    let bytes = &text.as_bytes()[..end];
    if !bytes[i..].starts_with(b"path") {
        return None;
    }
    while i < end && bytes[i] != b']' {
        i = if bytes[i] == b'"' {
            string(bytes, i + 1)
        } else {
            i + 1
        };
    }
    let attr = start..(i + 1).min(end);
    i = attr.end;
    let word = |i: &mut usize| {
        while *i < end && CLASS[bytes[*i] as usize] == SPACE {
            *i += 1;
        }
        let from = *i;
        while *i < end && matches!(CLASS[bytes[*i] as usize], IDENT | DIGIT) {
            *i += 1;
        }
        from..*i
    };
    let mut keyword = word(&mut i);
    if &text[keyword.clone()] == "pub" {
        keyword = word(&mut i);
    }
    let name = word(&mut i);
    let ends = word(&mut i).is_empty() && bytes.get(i) == Some(&b';');
    if &text[keyword] != "mod" || name.is_empty() || !ends {
        return None;
    }
    Some(OutlineMod {
        name: text[name.clone()].to_owned(),
        at: name.start,
        attrs: vec![attr],
        public: false,
        body: None,
        ordinal: 0,
    })
}

/// Whether what ends before `i` is the `r`, `br` or `cr` of a raw string, or the `r` of a raw identifier.
fn raw_prefix(bytes: &[u8], i: usize) -> bool {
    if i == 0 || bytes[i - 1] != b'r' {
        return false;
    }
    let mut before = i - 1;
    if before > 0 && matches!(bytes[before - 1], b'b' | b'c') {
        before -= 1;
    }
    before == 0 || !matches!(CLASS[bytes[before - 1] as usize], IDENT | DIGIT)
}

/// The end of a raw string whose hashes or quote start at `i`; or of a raw identifier, and then `true`.
fn raw(bytes: &[u8], mut i: usize) -> (usize, bool) {
    let mut hashes = 0;
    while i < bytes.len() && bytes[i] == b'#' {
        hashes += 1;
        i += 1;
    }
    if i >= bytes.len() || bytes[i] != b'"' {
        while i < bytes.len() && matches!(CLASS[bytes[i] as usize], IDENT | DIGIT) {
            i += 1;
        }
        return (i, hashes == 1);
    }
    i += 1;
    while i < bytes.len() {
        if bytes[i] == b'"' {
            let mut n = 0;
            while n < hashes && i + 1 + n < bytes.len() && bytes[i + 1 + n] == b'#' {
                n += 1;
            }
            if n == hashes {
                return (i + 1 + n, false);
            }
        }
        i += 1;
    }
    (i, false)
}

/// The end of a string whose text starts at `i`.
fn string(bytes: &[u8], mut i: usize) -> usize {
    while i < bytes.len() {
        match bytes[i] {
            b'"' => return i + 1,
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    bytes.len()
}

/// The end of a character, or of the tick of a lifetime.
fn tick(bytes: &[u8], i: usize) -> usize {
    let at = |n: usize| bytes.get(n).copied().unwrap_or(0);
    match at(i + 1) {
        b'\\' => {
            // `'\''`, `'\u{…}'`: the character after the backslash is never the end.
            let mut j = i + 3;
            while j < bytes.len() && bytes[j] != b'\'' {
                j += 1;
            }
            (j + 1).min(bytes.len())
        }
        first => {
            let len = match first {
                0..=0x7f => 1,
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            if at(i + 1 + len) == b'\'' {
                i + 2 + len
            } else {
                i + 1
            }
        }
    }
}

/// The end of a block comment whose text starts at `i`; they nest.
fn comment(bytes: &[u8], mut i: usize) -> usize {
    let mut depth = 1;
    while i + 1 < bytes.len() {
        if bytes[i] == b'*' && bytes[i + 1] == b'/' {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else if bytes[i] == b'/' && bytes[i + 1] == b'*' {
            depth += 1;
            i += 2;
        } else {
            i += 1;
        }
    }
    bytes.len()
}

/// Line and column, from 1, of an offset.
pub(crate) fn line_column(text: &str, at: usize) -> (u32, u32) {
    let before = &text[..at];
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    (line as u32, before[start..].chars().count() as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[&str] = &["flow", "FlowError", "effect"];

    fn shown(items: &[OutlineItem], text: &str) -> String {
        let one = |item: &OutlineItem| match item {
            OutlineItem::Mod(m) => {
                let attrs: String = m.attrs.iter().map(|a| &text[a.clone()]).collect();
                let public = if m.public { "pub " } else { "" };
                match &m.body {
                    None => format!("{attrs}{public}{}", m.name),
                    Some(body) => format!("{attrs}{public}{}{{{}}}", m.name, shown(body, text)),
                }
            }
            OutlineItem::InBlock(m) => format!("in block {}", m.name),
            OutlineItem::Call(c) => format!("{}!({})", c.name, text[c.tokens.clone()].trim()),
        };
        items.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn read(text: &str) -> String {
        shown(&outline(text, WORDS).items, text)
    }

    #[test]
    fn modules_are_found_with_their_attributes_and_bodies() {
        assert_eq!(
            read("mod a; pub mod b; pub(crate) mod c; #[cfg(x)] mod d { mod e; }"),
            "a pub b c #[cfg(x)]d{e}"
        );
        assert_eq!(
            read("mod a { #![cfg(y)] pub mod b {} } mod r#type;"),
            "#![cfg(y)]a{pub b{}} type"
        );
        assert_eq!(read("#[a] fn f() { mod x; } #[b] mod m;"), "#[b]m");
        assert_eq!(
            read("fn f() { #[path = \"a].rs\"] pub mod x; #[path = \"b\"] mod y {} } mod m;"),
            "in block x m"
        );
        assert_eq!(
            read(
                "const X: S = S { a: [1; 2] }; mod m; static Y: u8 = if A { 1 } else { 2 }; mod n;"
            ),
            "m n"
        );
        assert_eq!(
            read("use a::{b, c as d}; mod m; extern crate x; mod n; type T = [u8; 4]; mod o;"),
            "m n o"
        );
        assert_eq!(
            read("impl X { fn mod_() {} } fn g<const N: usize = { 3 }>() {} mod m;"),
            "m"
        );
    }

    #[test]
    fn strings_comments_and_characters_hide_what_they_hold() {
        assert_eq!(
            read("// mod a;\n/* mod b; /* mod c; */ mod d; */ mod e;"),
            "e"
        );
        assert_eq!(
            read(r####"const A: &str = "mod a; \" {"; const B: &str = r#"mod b; " {"#; mod c;"####),
            "c"
        );
        assert_eq!(
            read(
                r"const A: char = '{'; const B: char = '\''; const C: char = '\u{7b}'; const D: u8 = b'{'; mod m;"
            ),
            "m"
        );
        assert_eq!(
            read(
                "fn f<'a>(x: &'a str) -> &'a str { x } const E: char = 'é'; const F: char = '}'; mod m;"
            ),
            "m"
        );
        assert_eq!(
            read(
                "const A: &[u8] = b\"{\"; const B: &CStr = c\"}\"; const C: &[u8] = br##\"\"# {\"##; mod m;"
            ),
            "m"
        );
        assert_eq!(read("#!/usr/bin/env run {\nmod m;"), "m");
        assert_eq!(read("#![allow(x)]\nmod m;"), "m");
        assert_eq!(read("\u{feff}mod m;"), "m");
        assert_eq!(read("#[doc = \"]\"] mod m;"), "#[doc = \"]\"]m");
    }

    #[test]
    fn item_macros_are_told_from_other_uses_of_an_exclamation_mark() {
        assert_eq!(read("a::b! { mod x; } c!(d); mod m;"), "b!(mod x;) c!(d) m");
        assert_eq!(
            read("const A: bool = !B; const C: u8 = d!(e); fn f() { g!{} } mod m;"),
            "m"
        );
        assert_eq!(read("macro_rules! m { () => { mod x; } } mod n;"), "n");
        assert_eq!(
            outline("macro_rules! m { (x) => {} }", WORDS).macros.len(),
            1
        );
        assert_eq!(
            read("include!(\"x.rs\"); #[cfg(a)] include! { concat!(\"a\", \"b\") } mod m;"),
            "include!(\"x.rs\") include!(concat!(\"a\", \"b\")) m"
        );
    }

    #[test]
    fn an_attribute_of_a_word_counts_at_any_depth_and_nothing_else_does() {
        let declares = |text| outline(text, WORDS).declares;
        assert!(declares("#[flow(id = 1)] fn f() {}"));
        assert!(declares("#[flowx_runtime::flow] fn f() {}"));
        assert!(declares("fn g() { #[ flow ] fn f() {} }"));
        assert!(declares(
            "macro_rules! m { () => { #[flow(x)] fn f() {} } }"
        ));
        assert!(declares("#[cfg_attr(unix, flow(id = \"x\"))] fn f() {}"));
        assert!(declares("#[derive(Debug, FlowError)] enum E {}"));
        assert!(declares(
            "#[derive(Debug, flowx_runtime::FlowError)] enum E {}"
        ));
        assert!(!declares(
            "#[derive(Debug)] enum Flow {} fn flow() {} // #[flow]\n const A: &str = \"#[flow]\";"
        ));
        assert!(!declares(
            "#[doc = \"#[flow]\"] #[cfg(flow)] #[overflow] #[flow::x] fn f() {}"
        ));
    }

    #[test]
    fn impls_and_statics_are_told_at_the_level_of_items() {
        let told = |text| {
            let read = outline(text, WORDS);
            (read.impls, read.statics)
        };
        assert_eq!(told("mod a { impl<T> X for T {} }"), (true, false));
        assert_eq!(told("unsafe impl X for T {}"), (true, false));
        assert_eq!(told("pub(crate) static mut X: u8 = 1;"), (false, true));
        assert_eq!(
            told("std::thread_local! { static X: u8 = 1; }"),
            (false, true)
        );
        assert_eq!(told("lazy_static!(a);"), (false, true));
        assert_eq!(
            told("fn f() { static X: u8 = 1; impl X for T {} } // impl static"),
            (false, false)
        );
    }

    #[test]
    fn another_name_for_a_word_is_noticed() {
        assert_eq!(
            outline(
                "use x::{flow as f, y as z, effect  as  e}; use flow as g;",
                WORDS
            )
            .renames,
            ["f", "e", "g"]
        );
    }
}
