//! Doc comments and literal schemars attributes: what is said about a type, field or variant.

use std::collections::BTreeMap;

use flowx_manifest::{Json, json};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;

use super::types::{Code, Finding, ModuleKey, REGISTER, Sink, Types};
use super::wire::Notes;

/// Notes, and what a schemars attribute says in place of the type.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) notes: Notes,
    /// `#[schemars(with = "T")]`.
    pub(crate) with: Option<syn::Type>,
    /// Something that only the compiler can know.
    pub(crate) computed: Option<Finding>,
}

pub(crate) fn read(
    types: &dyn Types,
    sink: &Sink,
    module: ModuleKey,
    attrs: &[syn::Attribute],
) -> Said {
    let mut said = Said::default();
    said.notes.description = doc(types, sink, module, attrs);
    said.notes.deprecated = attrs.iter().any(|a| a.path().is_ident("deprecated"));
    for attr in attrs.iter().filter(|a| a.path().is_ident("schemars")) {
        if let Err(error) = attr.parse_nested_meta(|meta| schemars(&meta, module, &mut said)) {
            sink.report(
                Code::Attribute,
                module,
                error.span(),
                format!("a schemars attribute that cannot be read: {error}"),
                "write it with literals, as schemars documents it",
            );
        }
    }
    said
}

/// The doc comment: lines without their first space, trimmed; `include_str!` and `concat!` resolved.
pub(crate) fn doc(
    types: &dyn Types,
    sink: &Sink,
    module: ModuleKey,
    attrs: &[syn::Attribute],
) -> Option<String> {
    let mut text = String::new();
    for attr in attrs {
        let syn::Meta::NameValue(doc) = &attr.meta else {
            continue;
        };
        if !doc.path.is_ident("doc") {
            continue;
        }
        match doc_text(types, module, &doc.value) {
            Some(part) => {
                // One comment of several lines (`/** … */`, an included file) has its own indentation.
                for line in part.lines() {
                    text.push_str(line.strip_prefix(' ').unwrap_or(line).trim_end());
                    text.push('\n');
                }
                if part.is_empty() {
                    text.push('\n');
                }
            }
            None => sink.report(
                Code::Doc,
                module,
                doc.value.span(),
                "a doc text that only the compiler knows; the description would be empty without a word",
                "write the text here, or name a file of the package with include_str!(\"…\")",
            ),
        }
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The value of a doc expression: a literal, `include_str!`, `concat!`, and nestings of them.
pub(crate) fn doc_text(types: &dyn Types, module: ModuleKey, expr: &syn::Expr) -> Option<String> {
    match expr {
        syn::Expr::Lit(lit) => match &lit.lit {
            syn::Lit::Str(s) => Some(s.value()),
            syn::Lit::Int(i) => Some(i.base10_digits().to_owned()),
            syn::Lit::Bool(b) => Some(b.value.to_string()),
            syn::Lit::Char(c) => Some(c.value().to_string()),
            _ => None,
        },
        syn::Expr::Paren(inner) => doc_text(types, module, &inner.expr),
        syn::Expr::Group(inner) => doc_text(types, module, &inner.expr),
        syn::Expr::Macro(call) => {
            let name = call.mac.path.segments.last()?.ident.to_string();
            let args = call.mac.parse_body_with(
                syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated,
            );
            let texts: Option<Vec<String>> = args
                .ok()?
                .iter()
                .map(|a| doc_text(types, module, a))
                .collect();
            match (name.as_str(), texts?.as_slice()) {
                ("concat", texts) => Some(texts.concat()),
                ("include_str", [path]) => types.include_str(module, path),
                _ => None,
            }
        }
        _ => None,
    }
}

fn schemars(meta: &ParseNestedMeta<'_>, module: ModuleKey, said: &mut Said) -> syn::Result<()> {
    let word = meta
        .path
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default();
    let computed = |what: &str, span: Span| Finding {
        code: Code::Computed,
        module,
        span,
        message: format!(
            "`{what}` is computed by the compiler, so its schema cannot be read from the source"
        ),
        help: format!("use literals; or {REGISTER}"),
    };
    match word.as_str() {
        "title" | "description" => {
            let expr: syn::Expr = meta.value()?.parse()?;
            match literal(&expr) {
                Some(Json::String(text)) if word == "title" => said.notes.title = Some(text),
                Some(Json::String(text)) => said.notes.description = Some(text),
                _ => said.computed = Some(computed(&word, expr.span())),
            }
        }
        "deprecated" => said.notes.deprecated = true,
        "example" => {
            let expr: syn::Expr = meta.value()?.parse()?;
            match literal(&expr) {
                Some(value) => said.notes.examples.push(value),
                None => said.computed = Some(computed("example", expr.span())),
            }
        }
        "examples" => {
            let expr: syn::Expr = meta.value()?.parse()?;
            match literal(&expr) {
                Some(Json::Array(values)) => said.notes.examples.extend(values),
                _ => said.computed = Some(computed("examples", expr.span())),
            }
        }
        "with" => said.with = Some(meta.value()?.parse::<syn::LitStr>()?.parse()?),
        "extend" => {
            let content;
            syn::parenthesized!(content in meta.input);
            while !content.is_empty() {
                let key: syn::LitStr = content.parse()?;
                content.parse::<syn::Token![=]>()?;
                let tokens = until_comma(&content)?;
                match json_tokens(tokens) {
                    Some(value) => drop(said.notes.keywords.insert(key.value(), value)),
                    None => said.computed = Some(computed("extend", key.span())),
                }
                if !content.is_empty() {
                    content.parse::<syn::Token![,]>()?;
                }
            }
        }
        "inner" => {
            let mut inner = BTreeMap::new();
            let mut failed = None;
            meta.parse_nested_meta(|meta| {
                if !constraint(&meta, &mut inner, "")? {
                    failed = Some(computed("inner", meta.path.span()));
                    skip(&meta)?;
                }
                Ok(())
            })?;
            said.notes.inner.extend(inner);
            said.computed = said.computed.take().or(failed);
        }
        "range" | "length" | "regex" | "contains" | "pattern" | "email" | "url" | "ipv4"
        | "ipv6" | "ip" | "phone" | "uri" => {
            let mut keywords = BTreeMap::new();
            if constraint(meta, &mut keywords, "")? {
                said.notes.keywords.extend(keywords);
            } else {
                said.computed = Some(computed(&word, meta.path.span()));
            }
        }
        "schema_with" | "transform" => {
            said.computed = Some(computed(&word, meta.path.span()));
            skip(meta)?;
        }
        // Where schemars lets serde's own attributes be overridden, serde decides what goes over the wire.
        _ => skip(meta)?,
    }
    Ok(())
}

/// One validation keyword. False when its value is no literal.
fn constraint(
    meta: &ParseNestedMeta<'_>,
    out: &mut BTreeMap<String, Json>,
    _kind: &str,
) -> syn::Result<bool> {
    let word = meta
        .path
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut known = true;
    match word.as_str() {
        "range" => meta.parse_nested_meta(|m| {
            let expr: syn::Expr = m.value()?.parse()?;
            let name = match m.path.get_ident().map(ToString::to_string).as_deref() {
                Some("min") => "minimum",
                Some("max") => "maximum",
                Some("exclusive_min") => "exclusiveMinimum",
                Some("exclusive_max") => "exclusiveMaximum",
                _ => return Err(m.error("not a bound of a range")),
            };
            match literal(&expr) {
                Some(n @ Json::Number(_)) => drop(out.insert(name.to_owned(), n)),
                _ => known = false,
            }
            Ok(())
        })?,
        "length" => meta.parse_nested_meta(|m| {
            let expr: syn::Expr = m.value()?.parse()?;
            let names: &[&str] = match m.path.get_ident().map(ToString::to_string).as_deref() {
                Some("min") => &["minLength"],
                Some("max") => &["maxLength"],
                Some("equal") => &["minLength", "maxLength"],
                _ => return Err(m.error("not a bound of a length")),
            };
            match literal(&expr) {
                Some(n @ Json::Number(_)) => names
                    .iter()
                    .for_each(|k| drop(out.insert((*k).to_owned(), n.clone()))),
                _ => known = false,
            }
            Ok(())
        })?,
        "regex" | "contains" | "pattern" => {
            let mut take = |expr: syn::Expr, escape: bool| match literal(&expr) {
                Some(Json::String(text)) => {
                    let pattern = if escape { escaped(&text) } else { text };
                    out.insert("pattern".to_owned(), pattern.into());
                }
                _ => known = false,
            };
            let contains = word == "contains";
            if meta.input.peek(syn::Token![=]) {
                take(meta.value()?.parse()?, contains);
            } else if meta.input.peek(syn::token::Paren)
                && meta
                    .input
                    .fork()
                    .parse::<TokenTree>()
                    .is_ok_and(|t| holds_text(&t))
            {
                let content;
                syn::parenthesized!(content in meta.input);
                take(content.parse()?, contains);
            } else {
                meta.parse_nested_meta(|m| {
                    take(m.value()?.parse()?, contains && m.path.is_ident("pattern"));
                    Ok(())
                })?;
            }
        }
        "email" | "ipv4" | "ipv6" | "ip" | "phone" => {
            drop(out.insert("format".to_owned(), word.as_str().into()))
        }
        "url" | "uri" => drop(out.insert("format".to_owned(), "uri".into())),
        _ => known = false,
    }
    Ok(known)
}

/// `("…")`: the text stands there by itself.
fn holds_text(tokens: &TokenTree) -> bool {
    match tokens {
        TokenTree::Group(group) => matches!(
            group.stream().into_iter().next(),
            Some(TokenTree::Literal(_))
        ),
        _ => false,
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\^$.|?*+()[]{}/-".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn skip(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(syn::Token![=]) {
        meta.value()?;
        until_comma(meta.input)?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in meta.input);
        content.parse::<TokenStream>()?;
    }
    Ok(())
}

fn until_comma(input: syn::parse::ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut out = TokenStream::new();
    while !input.is_empty() && !input.peek(syn::Token![,]) {
        out.extend([input.parse::<TokenTree>()?]);
    }
    Ok(out)
}

/// The JSON that a Rust literal, or an array of them, stands for.
pub(crate) fn literal(expr: &syn::Expr) -> Option<Json> {
    use quote::ToTokens as _;
    match expr {
        syn::Expr::Macro(call)
            if call
                .mac
                .path
                .segments
                .last()
                .is_some_and(|s| s.ident == "json") =>
        {
            json_tokens(call.mac.tokens.clone())
        }
        syn::Expr::Reference(inner) => literal(&inner.expr),
        expr => json_tokens(expr.to_token_stream()),
    }
}

/// JSON written as Rust tokens, as in `json!`; `None` where an expression stands among them.
fn json_tokens(tokens: TokenStream) -> Option<Json> {
    let mut tokens = tokens.into_iter().peekable();
    let value = match tokens.next()? {
        TokenTree::Group(group) => match group.delimiter() {
            proc_macro2::Delimiter::None | proc_macro2::Delimiter::Parenthesis => {
                json_tokens(group.stream())?
            }
            proc_macro2::Delimiter::Bracket => Json::Array(
                split(group.stream())
                    .into_iter()
                    .map(json_tokens)
                    .collect::<Option<_>>()?,
            ),
            proc_macro2::Delimiter::Brace => {
                let mut map = BTreeMap::new();
                for entry in split(group.stream()) {
                    let mut entry = entry.into_iter();
                    let key = json_tokens([entry.next()?].into_iter().collect())?;
                    match entry.next()? {
                        TokenTree::Punct(p) if p.as_char() == ':' => {}
                        _ => return None,
                    }
                    map.insert(key.as_str()?.to_owned(), json_tokens(entry.collect())?);
                }
                Json::Object(map)
            }
        },
        TokenTree::Ident(ident) => match ident.to_string().as_str() {
            "null" => Json::Null,
            "true" => true.into(),
            "false" => false.into(),
            // `serde_json::json!(…)` within.
            _ => {
                let rest: Vec<TokenTree> = tokens.by_ref().collect();
                match rest.as_slice() {
                    [.., TokenTree::Punct(bang), TokenTree::Group(group)]
                        if bang.as_char() == '!'
                            && (ident == "json"
                                || matches!(rest.get(2), Some(TokenTree::Ident(i)) if i == "json")) =>
                    {
                        json_tokens(group.stream())?
                    }
                    _ => return None,
                }
            }
        },
        TokenTree::Punct(sign) if sign.as_char() == '-' => {
            match json_tokens(tokens.by_ref().collect())? {
                Json::Number(n) => number(&format!("-{}", n.as_str()))?,
                _ => return None,
            }
        }
        TokenTree::Literal(lit) => {
            match syn::parse2::<syn::Lit>(TokenTree::Literal(lit).into()).ok()? {
                syn::Lit::Str(s) => s.value().into(),
                syn::Lit::Char(c) => c.value().to_string().into(),
                syn::Lit::Bool(b) => b.value.into(),
                syn::Lit::Int(i) => number(i.base10_digits())?,
                syn::Lit::Float(f) => number(f.base10_digits())?,
                _ => return None,
            }
        }
        TokenTree::Punct(_) => return None,
    };
    tokens.next().is_none().then_some(value)
}

fn number(text: &str) -> Option<Json> {
    let value = json::parse(text.as_bytes(), json::Limits::DOCUMENT).ok()?;
    value.as_number()?;
    Some(value)
}

fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut out = vec![TokenStream::new()];
    for token in tokens {
        match token {
            TokenTree::Punct(p) if p.as_char() == ',' => out.push(TokenStream::new()),
            token => {
                if let Some(last) = out.last_mut() {
                    last.extend([token]);
                }
            }
        }
    }
    out.retain(|t| !t.is_empty());
    out
}
