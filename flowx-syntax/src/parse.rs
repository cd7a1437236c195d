//! `#[effect]`, `#[capability]` and `#[derive(FlowError)]`: tokens to declarations. Flows and agents have files of their own.

use flowx_manifest::{Authorization, Category, EffectClass, ErrorCode, PermissionName};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;

use crate::args::{Arg, Args, Value, segments, span_of, ungroup};
use crate::item::{On, check_order, deprecated, doc, function, plain_type};
use crate::problem::{Problems, codes};
use crate::words::suggestion;
use crate::{
    AllowDecl, CapabilityDecl, EffectDecl, FlowErrorDecl, FlowErrorKind, FlowErrorVariant, Spanned,
};

/// Reads `#[effect(id = "…", class = …)]`; `span` is the attribute's own place.
///
/// # Errors
/// Everything that is wrong with the declaration.
pub fn parse_effect(span: Span, args: TokenStream, on: On<'_>) -> Result<EffectDecl, Problems> {
    let mut problems = Problems::default();
    let target = plain_type(on, "`#[effect]`", &mut problems);
    let mut args = Args::read(
        args,
        "`#[effect]`",
        span,
        &["id", "class"],
        &[],
        &mut problems,
    );
    let id = args.demand_name("id", "id = \"payment-gateway\"");
    let class = args
        .demand("class", "class = spends")
        .and_then(|arg| arg.word(EffectClass::ALL, args.problems));
    let decl = (|| {
        let (ident, attrs) = target?;
        check_order(attrs, "`#[effect]`", &mut problems);
        Some(EffectDecl {
            ident: ident.clone(),
            id: id?,
            class: class?,
            doc: doc(attrs),
        })
    })();
    problems.finish(decl)
}

const CAPABILITY_KEYS: &[&str] = &["id", "version", "authorization", "effects", "idempotent"];

/// Reads `#[capability(…)]`.
///
/// # Errors
/// Everything that is wrong with the declaration.
pub fn parse_capability(
    span: Span,
    args: TokenStream,
    on: On<'_>,
) -> Result<CapabilityDecl, Problems> {
    let mut problems = Problems::default();
    let target = function(on, "`#[capability]`", "Cx", &mut problems);
    let mut args = Args::read(
        args,
        "`#[capability]`",
        span,
        CAPABILITY_KEYS,
        &[],
        &mut problems,
    );
    let id = args.demand_name("id", "id = \"payment.refund\"");
    let version = args.demand_name("version", "version = \"1.0.0\"");
    let stance = match args.take("authorization") {
        Some(arg) => authorization(&arg, args.problems),
        None if args.was_meant("authorization") => None,
        None => {
            args.problems.push(
                codes::NO_STANCE,
                span,
                "`#[capability]` needs a stance: `authorization = permission(\"…\")`, `authenticated`, `internal` or \
                 `public(approved_by = \"…\")`; without one nobody has said who may use it",
            );
            None
        }
    };
    let effects = args
        .take("effects")
        .map(|arg| arg.paths("effects(Ledger, PaymentGateway)", args.problems))
        .unwrap_or_default();
    let idempotent = args.flag("idempotent").unwrap_or(false);
    let decl = (|| {
        let (signature, attrs) = target?;
        check_order(attrs, "`#[capability]`", &mut problems);
        Some(CapabilityDecl {
            signature,
            id: id?,
            version: version?,
            authorization: stance?,
            effects,
            idempotent,
            doc: doc(attrs),
            deprecated: deprecated(attrs),
        })
    })();
    problems.finish(decl)
}

/// `public(approved_by = "…") | authenticated | permission("…") | internal`.
fn authorization(arg: &Arg, problems: &mut Problems) -> Option<Spanned<Authorization>> {
    const STANCES: &[&str] = &["public", "authenticated", "permission", "internal"];
    let tokens: Vec<TokenTree> = match &arg.value {
        Value::Is(tokens) => ungroup(tokens.clone()).into_iter().collect(),
        Value::Flag | Value::List(_) => Vec::new(),
    };
    let (word, list) = match tokens.as_slice() {
        [TokenTree::Ident(word)] => (word, None),
        [TokenTree::Ident(word), TokenTree::Group(group)]
            if group.delimiter() == proc_macro2::Delimiter::Parenthesis =>
        {
            (word, Some(group))
        }
        other => {
            let span = other.first().map_or(arg.span, TokenTree::span);
            problems.push(
                codes::STANCE,
                span,
                "`authorization` is `permission(\"…\")`, `authenticated`, `internal` or `public(approved_by = \"…\")`",
            );
            return None;
        }
    };
    let span = word.span();
    let mut bare = |stance: Authorization| match list {
        None => Some(stance),
        Some(group) => {
            problems.push(
                codes::SYNTAX,
                group.span(),
                format!("`{word}` takes no arguments"),
            );
            None
        }
    };
    let value = match word.to_string().as_str() {
        "authenticated" => bare(Authorization::Authenticated {})?,
        "internal" => bare(Authorization::Internal {})?,
        "permission" => {
            let inner = list.map(proc_macro2::Group::stream).unwrap_or_default();
            if inner.is_empty() {
                problems.push(
                    codes::EMPTY_PERMISSION,
                    list.map_or(span, proc_macro2::Group::span),
                    "`permission` names nothing; name what the caller must hold, as in `permission(\"payment.refund\")`",
                );
                return None;
            }
            let at = span_of(&inner, span);
            let Ok(literal) = syn::parse2::<syn::LitStr>(inner) else {
                problems.push(
                    codes::SYNTAX,
                    at,
                    "`permission` takes one string literal, as in `permission(\"payment.refund\")`",
                );
                return None;
            };
            match literal.value().parse::<PermissionName>() {
                Ok(permission) => Authorization::Permission { permission },
                Err(_) if literal.value().trim().is_empty() => {
                    problems.push(
                        codes::EMPTY_PERMISSION,
                        at,
                        "`permission` names nothing; name what the caller must hold, as in `permission(\"payment.refund\")`",
                    );
                    return None;
                }
                Err(error) => {
                    let message =
                        format!("{:?} is no {}: {}", error.text, error.kind, error.expected);
                    problems.push(codes::FORM, at, message);
                    return None;
                }
            }
        }
        "public" => {
            let before = problems.0.len();
            let approved_by = list.and_then(|group| {
                let mut args = Args::read(
                    group.stream(),
                    "`public(…)`",
                    group.span(),
                    &["approved_by"],
                    &[],
                    &mut *problems,
                );
                args.text("approved_by")
            });
            if problems.0.len() > before {
                return None;
            }
            Authorization::Public {
                approved_by: approved_by.map(|a| a.value),
            }
        }
        "policy" => {
            problems.push(
                codes::STANCE,
                span,
                "a `policy` stance has nothing here that could enforce it; use `permission(\"…\")`, or decide inside the \
                 capability and refuse with an error of its own",
            );
            return None;
        }
        other => {
            let hint = suggestion(other, STANCES);
            problems.push(
                codes::STANCE,
                span,
                format!("`{other}` is not a stance that can be enforced; {hint}"),
            );
            return None;
        }
    };
    Some(Spanned { value, span })
}

/// Reads `#[derive(FlowError)]` and its `#[flow_error(…)]`; `span` is where the derive stands.
///
/// # Errors
/// Everything that is wrong with the declaration.
pub fn parse_flow_error(span: Span, on: On<'_>) -> Result<FlowErrorDecl, Problems> {
    let mut problems = Problems::default();
    let On::Type {
        attrs,
        ident,
        generics,
        fields,
        variants,
    } = on
    else {
        problems.push(
            codes::SHAPE,
            span,
            "`#[derive(FlowError)]` stands on an enum or a struct",
        );
        return Err(problems);
    };
    if !generics.params.is_empty() {
        problems.push(
            codes::SHAPE,
            generics.span(),
            "`#[derive(FlowError)]` stands on a type without generics: its codes are published",
        );
    }
    let mut all = Vec::new();
    if let Some(variants) = variants {
        for attr in attrs.iter().filter(|a| a.path().is_ident("flow_error")) {
            problems.push(
                codes::SHAPE,
                attr.span(),
                "on an enum, `#[flow_error(…)]` stands on each variant",
            );
        }
        for variant in variants {
            let kind = error_kind(
                &variant.attrs,
                &variant.fields,
                variant.ident.span(),
                &variant.ident.to_string(),
                &mut problems,
            );
            all.extend(kind.map(|kind| FlowErrorVariant {
                ident: Some(variant.ident.clone()),
                kind,
            }));
        }
    } else if let Some(fields) = fields {
        let kind = error_kind(
            attrs,
            fields,
            ident.span(),
            &ident.to_string(),
            &mut problems,
        );
        all.extend(kind.map(|kind| FlowErrorVariant { ident: None, kind }));
    }
    // One code with two categories would make one refusal two things.
    for (i, variant) in all.iter().enumerate() {
        let FlowErrorKind::Code { code, category } = &variant.kind else {
            continue;
        };
        let clash = all[..i].iter().find_map(|earlier| match &earlier.kind {
            FlowErrorKind::Code {
                code: c,
                category: k,
            } if c.value == code.value && k != category => Some(*k),
            _ => None,
        });
        if let Some(other) = clash {
            problems.push(
                codes::TWICE,
                code.span,
                format!(
                    "the code `{}` stands above with the category `{}`; one code has one category",
                    code.value,
                    pascal(other)
                ),
            );
        }
    }
    problems.finish(Some(FlowErrorDecl {
        ident: ident.clone(),
        variants: all,
    }))
}

fn error_kind(
    attrs: &[syn::Attribute],
    fields: &syn::Fields,
    span: Span,
    name: &str,
    problems: &mut Problems,
) -> Option<FlowErrorKind> {
    const PLACE: &str = "`#[flow_error]`";
    let mut ours = attrs.iter().filter(|a| a.path().is_ident("flow_error"));
    let Some(attr) = ours.next() else {
        problems.push(
            codes::MISSING,
            span,
            format!("`{name}` needs `#[flow_error(code = \"…\", category = …)]`: callers tell refusals apart by code"),
        );
        return None;
    };
    for again in ours {
        problems.push(
            codes::TWICE,
            again.span(),
            format!("`{name}` has `#[flow_error]` twice"),
        );
    }
    let tokens = match &attr.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        other => {
            problems.push(
                codes::SYNTAX,
                other.span(),
                "write `#[flow_error(code = \"…\", category = …)]`",
            );
            return None;
        }
    };
    let transparent = segments(tokens.clone()).iter().any(
        |s| matches!(s.clone().into_iter().next(), Some(TokenTree::Ident(i)) if i == "transparent"),
    );
    let mut args = Args::read(
        tokens,
        PLACE,
        attr.path().span(),
        &["code", "category", "transparent"],
        &[],
        &mut *problems,
    );
    if transparent {
        let flag = args.take("transparent");
        for key in ["code", "category"] {
            if let Some(arg) = args.take(key) {
                args.problems.push(
                    codes::IDLE,
                    arg.span,
                    format!("`transparent` takes the code and category of the error inside; `{key}` has no place beside it"),
                );
            }
        }
        if !flag?.bool(args.problems)? {
            args.problems.push(
                codes::SYNTAX,
                span,
                "`transparent` is there or it is not; leave `= false` out",
            );
            return None;
        }
        let mut all = fields.iter();
        return match (all.next(), all.next()) {
            (Some(field), None) => {
                let member = match &field.ident {
                    Some(ident) => syn::Member::Named(ident.clone()),
                    None => syn::Member::Unnamed(syn::Index {
                        index: 0,
                        span: field.ty.span(),
                    }),
                };
                Some(FlowErrorKind::Transparent {
                    member,
                    ty: Box::new(field.ty.clone()),
                })
            }
            _ => {
                problems.push(
                    codes::SHAPE,
                    span,
                    format!("`{name}` is transparent, so it has one field: the error inside"),
                );
                None
            }
        };
    }
    let code = args.demand_name::<ErrorCode>("code", "code = \"refund.already_issued\"");
    let category = args
        .demand("category", "category = Conflict")
        .and_then(|arg| category(&arg, args.problems));
    Some(FlowErrorKind::Code {
        code: code?,
        category: category?,
    })
}

/// A category as it stands in Rust source: `Conflict`, `NotFound`.
#[derive(Clone, Copy)]
struct Pascal(Category);

impl std::fmt::Display for Pascal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&pascal(self.0))
    }
}

fn pascal(category: Category) -> String {
    category
        .as_str()
        .split('_')
        .map(|w| w[..1].to_uppercase() + &w[1..])
        .collect()
}

fn category(arg: &Arg, problems: &mut Problems) -> Option<Category> {
    let all: Vec<Pascal> = Category::ALL.iter().copied().map(Pascal).collect();
    arg.word(&all, problems).map(|c| c.value.0)
}

/// Reads `#[flowx::allow(FLOWX1103, reason = "…")]`: one id or more, and why.
///
/// # Errors
/// Everything that is wrong with it. Whether a rule of that id exists is for the scan to say, which knows them all.
pub fn parse_allow(span: Span, args: TokenStream) -> Result<AllowDecl, Problems> {
    const EXAMPLE: &str = "#[flowx::allow(FLOWX1103, reason = \"…\")]";
    let mut problems = Problems::default();
    let mut rules: Vec<Spanned<String>> = Vec::new();
    let mut rest = TokenStream::new();
    for segment in segments(args) {
        let tokens: Vec<TokenTree> = segment.into_iter().collect();
        match tokens.as_slice() {
            [TokenTree::Ident(id)] if id.to_string().starts_with("FLOWX") => {
                let id = Spanned {
                    value: id.to_string(),
                    span: id.span(),
                };
                if rules.iter().any(|r| r.value == id.value) {
                    problems.push(
                        codes::LISTED_TWICE,
                        id.span,
                        format!("`{}` stands here twice", id.value),
                    );
                } else {
                    rules.push(id);
                }
            }
            other => {
                rest.extend(other.iter().cloned());
                rest.extend([TokenTree::Punct(proc_macro2::Punct::new(
                    ',',
                    proc_macro2::Spacing::Alone,
                ))]);
            }
        }
    }
    if rules.is_empty() {
        problems.push(
            codes::MISSING,
            span,
            format!("`allow` names the rules it quiets, as in `{EXAMPLE}`"),
        );
    }
    let mut args = Args::read(
        rest,
        "`#[flowx::allow]`",
        span,
        &["reason"],
        &[],
        &mut problems,
    );
    let reason = args.demand_text("reason", EXAMPLE);
    problems.finish(reason.map(|reason| AllowDecl { rules, reason }))
}
