//! What an attribute stands on: the item's own attributes, its name and its signature.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Expr, FnArg, GenericArgument, Lit, Meta, Pat, PathArguments, ReturnType, Type,
};

use crate::args::path_text;
use crate::problem::{Problems, codes};
use crate::{Doc, DocPart, Signature};

/// The item below an attribute. The body of a function plays no part in its declaration, so a macro need not parse it.
#[derive(Clone, Copy, Debug)]
pub enum On<'a> {
    /// A function.
    Fn {
        /// Its other attributes.
        attrs: &'a [Attribute],
        /// Its signature.
        sig: &'a syn::Signature,
    },
    /// A struct or an enum.
    Type {
        /// Its other attributes.
        attrs: &'a [Attribute],
        /// Its name.
        ident: &'a syn::Ident,
        /// Its generics.
        generics: &'a syn::Generics,
        /// Its fields, when it is a struct.
        fields: Option<&'a syn::Fields>,
        /// Its variants, when it is an enum.
        variants: Option<&'a syn::punctuated::Punctuated<syn::Variant, syn::Token![,]>>,
    },
    /// Anything else.
    Other(Span),
}

impl<'a> From<&'a syn::Item> for On<'a> {
    fn from(item: &'a syn::Item) -> Self {
        match item {
            syn::Item::Fn(f) => On::Fn {
                attrs: &f.attrs,
                sig: &f.sig,
            },
            syn::Item::Struct(s) => On::Type {
                attrs: &s.attrs,
                ident: &s.ident,
                generics: &s.generics,
                fields: Some(&s.fields),
                variants: None,
            },
            syn::Item::Enum(e) => On::Type {
                attrs: &e.attrs,
                ident: &e.ident,
                generics: &e.generics,
                fields: None,
                variants: Some(&e.variants),
            },
            other => On::Other(other.span()),
        }
    }
}

impl<'a> From<&'a syn::DeriveInput> for On<'a> {
    fn from(input: &'a syn::DeriveInput) -> Self {
        let (fields, variants) = match &input.data {
            syn::Data::Struct(s) => (Some(&s.fields), None),
            syn::Data::Enum(e) => (None, Some(&e.variants)),
            syn::Data::Union(_) => return On::Other(input.ident.span()),
        };
        On::Type {
            attrs: &input.attrs,
            ident: &input.ident,
            generics: &input.generics,
            fields,
            variants,
        }
    }
}

/// A struct's or enum's name and attributes, for attributes that stand on types without generics.
pub(crate) fn plain_type<'a>(
    on: On<'a>,
    place: &str,
    problems: &mut Problems,
) -> Option<(&'a syn::Ident, &'a [Attribute])> {
    match on {
        On::Type {
            attrs,
            ident,
            generics,
            ..
        } => {
            if !generics.params.is_empty() {
                problems.push(
                    codes::SHAPE,
                    generics.span(),
                    format!("{place} stands on a type without generics: its id names one thing"),
                );
            }
            Some((ident, attrs))
        }
        On::Fn { sig, .. } => {
            problems.push(
                codes::SHAPE,
                sig.ident.span(),
                format!("{place} stands on a struct or an enum"),
            );
            None
        }
        On::Other(span) => {
            problems.push(
                codes::SHAPE,
                span,
                format!("{place} stands on a struct or an enum"),
            );
            None
        }
    }
}

/// A function's signature and attributes. `context` is `Cx` or `FlowCx`.
pub(crate) fn function<'a>(
    on: On<'a>,
    place: &str,
    context: &str,
    problems: &mut Problems,
) -> Option<(Signature, &'a [Attribute])> {
    let (attrs, sig) = match on {
        On::Fn { attrs, sig } => (attrs, sig),
        On::Type { ident, .. } => {
            problems.push(
                codes::SHAPE,
                ident.span(),
                format!("{place} stands on an async fn"),
            );
            return None;
        }
        On::Other(span) => {
            problems.push(codes::SHAPE, span, format!("{place} stands on an async fn"));
            return None;
        }
    };
    let before = problems.0.len();
    let name = &sig.ident;
    let mut shape = |span: Span, message: String| problems.push(codes::SHAPE, span, message);
    if sig.asyncness.is_none() {
        shape(
            sig.fn_token.span(),
            format!("{place} stands on an async fn: write `async fn {name}`"),
        );
    }
    if let Some(token) = &sig.constness {
        shape(
            token.span(),
            format!("{place} stands on a plain async fn, without `const`"),
        );
    }
    match &sig.safety {
        syn::Safety::Default => {}
        syn::Safety::Unsafe(token) => {
            shape(
                token.span(),
                format!(
                    "{place} stands on a safe fn: callers cannot keep a promise they never see"
                ),
            );
        }
        syn::Safety::Safe(token) => shape(
            token.span(),
            format!("{place} stands on a plain async fn, without `safe`"),
        ),
    }
    if let Some(abi) = &sig.abi {
        shape(
            abi.span(),
            format!("{place} stands on a plain async fn, without `extern`"),
        );
    }
    if let Some(variadic) = &sig.variadic {
        shape(
            variadic.span(),
            format!("{place} takes a context and one input"),
        );
    }
    if !sig.generics.params.is_empty() || sig.generics.where_clause.is_some() {
        shape(
            sig.generics.span(),
            format!("{place} stands on a fn without generics: its contracts are published"),
        );
    }
    let mut inputs = sig.inputs.iter();
    match inputs.next() {
        None => {
            shape(
                sig.paren_token.span.join(),
                format!("the first parameter is the context: `cx: &{context}<{name}>`"),
            );
        }
        Some(FnArg::Receiver(receiver)) => {
            shape(
                receiver.span(),
                format!(
                    "{place} stands on a free fn; its first parameter is `cx: &{context}<{name}>`"
                ),
            );
        }
        Some(FnArg::Typed(first)) => check_context(first, name, context, &mut shape),
    }
    let mut input = None;
    match inputs.next() {
        None => {}
        Some(FnArg::Receiver(receiver)) => {
            shape(receiver.span(), format!("{place} stands on a free fn"))
        }
        Some(FnArg::Typed(second)) => {
            check_parameter_attrs(&second.attrs, &mut shape);
            match ungrouped(&second.ty) {
                Type::Reference(reference) => shape(
                    reference.span(),
                    "the input is owned: it outlives the request that brought it, so take it without `&`".to_owned(),
                ),
                Type::ImplTrait(it) => {
                    shape(it.span(), "the input is one type that can be published, not `impl …`".to_owned());
                }
                ty => input = Some(ty.clone()),
            }
        }
    }
    if let Some(third) = inputs.next() {
        shape(
            third.span(),
            format!("{place} takes one input: put what it takes into one struct"),
        );
    }
    let returns = match &sig.output {
        ReturnType::Type(_, ty) => match ungrouped(ty) {
            Type::ImplTrait(_) | Type::Reference(_) | Type::Never(_) | Type::Infer(_) => {
                shape(
                    ty.span(),
                    "the return type is `Result<Output, Error>`".to_owned(),
                );
                None
            }
            Type::Tuple(t) if t.elems.is_empty() => {
                shape(
                    ty.span(),
                    "the return type is `Result<Output, Error>`".to_owned(),
                );
                None
            }
            ty => Some(ty.clone()),
        },
        ReturnType::Default => {
            shape(
                name.span(),
                format!("`{name}` returns nothing; the return type is `Result<Output, Error>`"),
            );
            None
        }
    };
    if problems.0.len() > before {
        return None;
    }
    returns.map(|returns| {
        (
            Signature {
                ident: name.clone(),
                input,
                returns,
            },
            attrs,
        )
    })
}

/// `cx: &Cx<name>`.
fn check_context(
    first: &syn::PatType,
    name: &syn::Ident,
    context: &str,
    shape: &mut impl FnMut(Span, String),
) {
    check_parameter_attrs(&first.attrs, shape);
    if !matches!(&*first.pat, Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none())
        && !matches!(&*first.pat, Pat::Wild(_))
    {
        shape(
            first.pat.span(),
            format!("the context is one name: `cx: &{context}<{name}>`"),
        );
    }
    let Type::Reference(reference) = ungrouped(&first.ty) else {
        shape(
            first.ty.span(),
            format!("the first parameter is the context: `cx: &{context}<{name}>`"),
        );
        return;
    };
    if let Some(token) = &reference.mutability {
        shape(
            token.span(),
            format!("the context is shared: `cx: &{context}<{name}>`"),
        );
    }
    let Type::Path(path) = ungrouped(&reference.elem) else {
        shape(
            reference.elem.span(),
            format!("the first parameter is the context: `cx: &{context}<{name}>`"),
        );
        return;
    };
    let Some(last) = path.path.segments.last() else {
        return;
    };
    let other = if context == "Cx" { "FlowCx" } else { "Cx" };
    if last.ident == other {
        shape(
            last.ident.span(),
            format!(
                "`{other}` is the context of the other kind of declaration; here it is `cx: &{context}<{name}>`"
            ),
        );
        return;
    }
    match &last.arguments {
        PathArguments::AngleBracketed(args) if args.args.len() == 1 => {
            if let Some(GenericArgument::Type(Type::Path(of))) = args.args.first()
                && of
                    .path
                    .segments
                    .last()
                    .is_some_and(|s| s.ident != *name && s.ident != "Self")
            {
                let of = path_text(&of.path);
                shape(
                    args.span(),
                    format!(
                        "this context is `{of}`'s: a context belongs to one declaration, `cx: &{context}<{name}>`"
                    ),
                );
            }
        }
        _ => shape(
            path.span(),
            format!("the context names whose it is: `cx: &{context}<{name}>`"),
        ),
    }
}

fn check_parameter_attrs(attrs: &[Attribute], shape: &mut impl FnMut(Span, String)) {
    for attr in attrs {
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            shape(attr.span(), "a parameter that is there only sometimes cannot be published; put the `cfg` on the fn".to_owned());
        }
    }
}

/// Without invisible groups and parentheses.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

impl Signature {
    /// Output and error, where the return type is written as `Result<Output, Error>`. An alias such as `Answer<Output>` says less:
    /// the scan resolves it, the macro asks the compiler.
    pub fn result(&self) -> Option<(&Type, &Type)> {
        let Type::Path(path) = ungrouped(&self.returns) else {
            return None;
        };
        let last = path
            .path
            .segments
            .last()
            .filter(|s| path.qself.is_none() && s.ident == "Result")?;
        let PathArguments::AngleBracketed(args) = &last.arguments else {
            return None;
        };
        let mut types = args.args.iter().map(|a| match a {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        match (types.next(), types.next(), types.next()) {
            (Some(Some(output)), Some(Some(error)), None) => Some((output, error)),
            _ => None,
        }
    }
}

/// The doc comment: lines joined by LF, common indentation taken off, trimmed. `None` when there is none or it is blank.
pub fn doc(attrs: &[Attribute]) -> Option<Doc> {
    let mut parts = Vec::new();
    for attr in attrs {
        let Meta::NameValue(pair) = &attr.meta else {
            continue;
        };
        if !pair.path.is_ident("doc") {
            continue;
        }
        match literal(&pair.value) {
            Some(text) => parts.push(DocPart::Line(text)),
            None => parts.push(DocPart::Expr(Box::new(pair.value.clone()))),
        }
    }
    if parts.iter().any(|p| matches!(p, DocPart::Expr(_))) {
        return Some(Doc::Parts(parts));
    }
    let lines: Vec<String> = parts
        .into_iter()
        .map(|p| match p {
            DocPart::Line(text) => text,
            DocPart::Expr(_) => String::new(),
        })
        .collect();
    let text = join_doc(&lines);
    (!text.is_empty()).then_some(Doc::Text(text))
}

/// The text of doc lines (a block comment is one "line" with line ends in it).
pub fn join_doc(lines: &[String]) -> String {
    let mut all: Vec<String> = Vec::new();
    for part in lines {
        // Checkouts with CRLF: rustc hands over LF, a parser of the file's own bytes may not.
        let part = part.replace("\r\n", "\n");
        let block: Vec<&str> = part.split('\n').collect();
        let starred = block.len() > 1
            && block[1..]
                .iter()
                .filter(|l| !l.trim().is_empty())
                .all(|l| l.trim_start().starts_with('*'));
        for (i, line) in block.iter().enumerate() {
            let line = if starred && i > 0 {
                let rest = line.trim_start();
                rest.strip_prefix('*').unwrap_or(rest)
            } else {
                line
            };
            all.push(line.trim_end().to_owned());
        }
    }
    let indent = all
        .iter()
        .filter(|l| !l.trim().is_empty())
        .map(|l| l.len() - l.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let text: Vec<&str> = all.iter().map(|l| l.get(indent..).unwrap_or("")).collect();
    text.join("\n").trim().to_owned()
}

fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

/// The note of `#[deprecated]`; a fixed text when it has none.
pub(crate) fn deprecated(attrs: &[Attribute]) -> Option<String> {
    let attr = attrs.iter().find(|a| a.path().is_ident("deprecated"))?;
    let note = match &attr.meta {
        Meta::Path(_) => None,
        Meta::NameValue(pair) => literal(&pair.value),
        Meta::List(_) => {
            let mut note = None;
            // A malformed `#[deprecated]` is rustc's to report.
            let _ = attr.parse_nested_meta(|meta| {
                let value: syn::LitStr = meta.value()?.parse()?;
                if meta.path.is_ident("note") {
                    note = Some(value.value());
                }
                Ok(())
            });
            note
        }
    };
    Some(
        note.filter(|n| !n.trim().is_empty())
            .unwrap_or_else(|| "deprecated".to_owned()),
    )
}

/// `cfg_attr` below an attribute macro reaches the macro unread, and could hide a doc comment or a deprecation from it; above, rustc
/// has read it already.
pub(crate) fn check_order(attrs: &[Attribute], place: &str, problems: &mut Problems) {
    for attr in attrs.iter().filter(|a| a.path().is_ident("cfg_attr")) {
        let Meta::List(list) = &attr.meta else {
            continue;
        };
        let hides = crate::args::segments(list.tokens.clone()).iter().skip(1).any(|inner| {
            let first = inner.clone().into_iter().next();
            matches!(first, Some(proc_macro2::TokenTree::Ident(i)) if i == "doc" || i == "deprecated" || i == "cfg_attr")
        });
        if hides {
            problems.push(
                codes::SHAPE,
                attr.span(),
                format!("this `cfg_attr` is part of what is published: put it above {place}, where it is read first"),
            );
        }
    }
}
