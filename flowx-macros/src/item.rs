//! A function as its attribute sees it. The body stays tokens: it is rustc's to read, and half-written ones still give the
//! editor everything else.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Visibility};

/// Attributes, visibility, signature, body.
pub(crate) struct FnItem {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: syn::Signature,
    pub(crate) body: TokenStream,
}

impl Parse for FnItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(FnItem {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: input.parse()?,
        })
    }
}

/// A user's attributes, each where it belongs in what is generated.
#[derive(Default)]
pub(crate) struct Sorted {
    /// `cfg`: on everything generated, since everything goes or stays together.
    pub(crate) cfgs: Vec<Attribute>,
    /// Doc comments and `deprecated`: on the type that users name.
    pub(crate) docs: Vec<Attribute>,
    /// Everything else (`tracing::instrument`, lints, …): on the function.
    pub(crate) inner: Vec<Attribute>,
}

impl Sorted {
    pub(crate) fn of(attrs: &[Attribute]) -> Self {
        let mut sorted = Sorted::default();
        for attr in attrs {
            let path = attr.path();
            let list = if path.is_ident("cfg") {
                &mut sorted.cfgs
            } else if path.is_ident("doc") || path.is_ident("deprecated") {
                &mut sorted.docs
            } else {
                &mut sorted.inner
            };
            list.push(attr.clone());
        }
        sorted
    }
}

/// The function with whatever attributes are given, as it was written otherwise.
pub(crate) fn inner_fn(item: &FnItem, attrs: &[Attribute], sig: &syn::Signature) -> TokenStream {
    let body = &item.body;
    let mut tokens = TokenStream::new();
    for attr in attrs {
        attr.to_tokens(&mut tokens);
    }
    sig.to_tokens(&mut tokens);
    body.to_tokens(&mut tokens);
    tokens
}

/// All tokens of a function: a finding about it may stand at any of them.
pub(crate) fn all_tokens(item: &FnItem) -> TokenStream {
    let mut tokens = TokenStream::new();
    for attr in &item.attrs {
        attr.to_tokens(&mut tokens);
    }
    item.vis.to_tokens(&mut tokens);
    item.sig.to_tokens(&mut tokens);
    // Rules about bodies (ambient I/O) point into them.
    item.body.to_tokens(&mut tokens);
    tokens
}
