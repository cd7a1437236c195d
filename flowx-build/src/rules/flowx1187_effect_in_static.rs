use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Item;
use syn::spanned::Spanned as _;

use crate::scan::{Ns, Resolved};

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A `static` or thread-local whose type mentions an effect: a clone of the handle kept where anybody reaches it.
    ///
    /// ## Why it matters
    ///
    /// A handle is had from the context, where its declaration is checked. One that lies in a static is had by everybody.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// static KEPT: OnceLock<PaymentGateway> = OnceLock::new();
    /// ```
    ///
    /// ## Instead
    ///
    /// Hand it to `App::effect` and take it from `cx.effect::<PaymentGateway>()`.
    FLOWX1187, "an effect is kept where anybody reaches it", Error firm, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    let tree = view.tree;
    if view.own.effects.is_empty() {
        return;
    }
    for module in tree.modules() {
        if tree.module(module).cfg.is_false() || !tree.source(module).statics {
            continue;
        }
        for item in tree.items(module) {
            let (types, span) = match item {
                Item::Static(s) => (s.ty.to_token_stream(), s.ident.span()),
                Item::Macro(m) if m.mac.path.segments.last().is_some_and(|s| s.ident == "thread_local" || s.ident == "lazy_static") => {
                    (m.mac.tokens.clone(), m.mac.path.span())
                }
                _ => continue,
            };
            let mut names = Vec::new();
            idents(types, &mut names);
            for name in names {
                let path = syn::Path::from(name.clone());
                let Ok(Resolved::Item(found)) = tree.resolver().resolve(module, &path, Ns::Type) else { continue };
                if view.own.effects.iter().any(|e| e.on == found) {
                    let message = format!("a static holds the effect `{name}`, where anybody reaches it, declared or not");
                    let help = "hand it to `App::effect`, and take it from the context of a capability that declares it";
                    sink(tree.finding(RULE.code(), module, span, message).help(help).into());
                    break;
                }
            }
        }
    }
}

fn idents(tokens: TokenStream, out: &mut Vec<syn::Ident>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => out.push(ident),
            TokenTree::Group(group) => idents(group.stream(), out),
            _ => {}
        }
    }
}
