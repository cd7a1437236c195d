//! What the scan found wrong, brought to the compiler: errors and warnings at the place they are about.
//!
//! The scan writes `$OUT_DIR/flowx/findings.json`. A finding that is about a declaration is raised by that declaration's own
//! attribute, so that it is an error of rustc, at its line, in every editor.

use flowx_manifest::Json;
use flowx_manifest::json::{Limits, parse};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// The scan's id for a target without `include_manifest!()`.
const NO_MANIFEST: &str = "FLOWX1169";

/// A path that leads to something of another kind, in a circle, or to several things. One that leads nowhere is not among them: rustc
/// keeps quiet about names after an error of a macro.
const MISLED: [&str; 4] = ["FLOWX1002", "FLOWX1141", "FLOWX1142", "FLOWX1143"];

/// Whether the target has no `include_manifest!()`: then nothing that it would bring is there.
pub(crate) fn no_manifest() -> bool {
    read().is_ok_and(|all| all.iter().any(|f| f.code == NO_MANIFEST))
}

/// The findings about one declaration, or about none.
#[derive(Default)]
pub(crate) struct Found {
    /// Errors and warnings, ready to be emitted.
    pub(crate) tokens: TokenStream,
    /// Whether one of them is an error: then nothing else about the declaration is proven.
    pub(crate) fatal: bool,
    /// Whether one of them says that a path of the declaration leads to something else: its body would only say so again.
    pub(crate) misled: bool,
    /// Whether the target has no `include_manifest!()`: then nothing can be proven about anything.
    pub(crate) no_manifest: bool,
}

struct Finding {
    target: Option<String>,
    kind: Option<String>,
    id: Option<String>,
    /// `raised_key` of the one declaration that is meant, where several go by the id.
    declaration: Option<u64>,
    warning: bool,
    code: String,
    text: String,
    file: String,
    line: usize,
    column: usize,
}

/// Those about one declaration; `tokens` are those among which the exact place is looked for, `name` is where it is otherwise.
pub(crate) fn about(
    kind: &str,
    id: &str,
    name: &Ident,
    tokens: impl Fn() -> [TokenStream; 2],
) -> Found {
    let all = read().unwrap_or_default();
    let at = name.span().start();
    let own = flowx_syntax::raised_key(name, at.line, at.column);
    let mut found = Found {
        no_manifest: all.iter().any(|f| f.code == NO_MANIFEST),
        ..Found::default()
    };
    for finding in all
        .iter()
        .filter(|f| f.kind.as_deref() == Some(kind) && f.id.as_deref() == Some(id))
        .filter(|f| f.declaration.is_none_or(|key| key == own))
    {
        let placed = tokens()
            .iter()
            .find_map(|t| place(t, finding.line, finding.column));
        let span = placed.unwrap_or_else(|| name.span());
        let text = match placed {
            Some(_) => finding.text.clone(),
            // What is wrong stands in another item; rustc's own arrow leads to the declaration that needs it.
            None if finding.line > 0 => {
                format!(
                    "{} (at {}:{}:{})",
                    finding.text, finding.file, finding.line, finding.column
                )
            }
            None => finding.text.clone(),
        };
        found.tokens.extend(raise(finding, span, &text));
        found.fatal |= !finding.warning;
        found.misled |= MISLED.contains(&finding.code.as_str());
    }
    found
}

/// Those about no declaration; raised where the manifest is included.
pub(crate) fn unanchored(span: Span) -> TokenStream {
    match read() {
        Ok(all) => all
            .iter()
            .filter(|f| f.kind.is_none())
            .map(|f| {
                raise(
                    f,
                    span,
                    &format!("{}:{}:{}: {}", f.file, f.line, f.column, f.text),
                )
            })
            .collect(),
        Err(why) => quote_spanned!(span=> ::core::compile_error!(#why);),
    }
}

fn raise(finding: &Finding, span: Span, text: &str) -> TokenStream {
    if !finding.warning {
        return quote_spanned!(span=> ::core::compile_error!(#text););
    }
    // The compiler takes warnings from macros in this form only: the use of something deprecated, with the text as its note.
    let name = Ident::new(&finding.code, span);
    quote_spanned! {span=>
        const _: () = {
            #[deprecated(note = #text)]
            const #name: () = ();
            #name
        };
    }
}

/// The token that begins at that line and column (both counted from 1).
fn place(tokens: &TokenStream, line: usize, column: usize) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| {
        let start = token.span().start();
        if start.line == line && start.column + 1 == column {
            return Some(token.span());
        }
        match token {
            TokenTree::Group(group) => place(&group.stream(), line, column),
            _ => None,
        }
    })
}

/// Everything the scan wrote for the target that is compiled now. No file: no scan has run, which `include_manifest!()` reports.
fn read() -> Result<Vec<Finding>, String> {
    let Some(out) = std::env::var_os("OUT_DIR") else {
        return Ok(Vec::new());
    };
    let path = std::path::Path::new(&out)
        .join("flowx")
        .join("findings.json");
    let Ok(bytes) = std::fs::read(&path) else {
        return Ok(Vec::new());
    };
    let unreadable = |why: &dyn std::fmt::Display| {
        format!("what the scan found cannot be read ({why}); build again")
    };
    let document = parse(&bytes, Limits::DOCUMENT).map_err(|e| unreadable(&e))?;
    let list = document
        .get("findings")
        .and_then(Json::as_array)
        .ok_or_else(|| unreadable(&"no `findings`"))?;
    let target = target();
    list.iter()
        // A note is for whoever asks (`flowx check`), not for every build.
        .filter(|f| f.get("severity").and_then(Json::as_str) != Some("note"))
        .map(|f| finding(f).ok_or_else(|| unreadable(&"a finding without a message")))
        .filter(|f| {
            !f.as_ref()
                .is_ok_and(|f| f.target.as_ref().is_some_and(|t| *t != target))
        })
        .collect()
}

/// `lib` or `bin-NAME`, as the scan calls the target.
pub(crate) fn target() -> String {
    match std::env::var("CARGO_BIN_NAME") {
        Ok(name) => format!("bin-{name}"),
        Err(_) => "lib".to_owned(),
    }
}

fn finding(json: &Json) -> Option<Finding> {
    let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
    let number = |key: &str| {
        let number = json
            .get(key)
            .and_then(Json::as_number)
            .and_then(|n| n.as_u128());
        number.and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    };
    let code = text("code")?;
    let mut message = format!("{} [{code}]", text("message")?);
    if let Some(help) = text("help") {
        message.push_str("\nhelp: ");
        message.push_str(&help);
    }
    Some(Finding {
        target: text("target"),
        kind: text("kind"),
        id: text("id"),
        declaration: text("declaration").and_then(|key| key.parse().ok()),
        warning: text("severity").is_some_and(|s| s != "error"),
        code,
        text: message,
        file: text("file").unwrap_or_default(),
        line: number("line"),
        column: number("column"),
    })
}
