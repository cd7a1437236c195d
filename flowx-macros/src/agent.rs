//! `#[agent]`: the unit struct as it is, the proof that what it names are flows, the entry.

use flowx_syntax::{On, digest, parse_agent};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::common::{Entry, errors, private};
use crate::findings;
use crate::item::Sorted;

pub(crate) fn expand(args: TokenStream, tokens: TokenStream) -> TokenStream {
    let item: syn::Item = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let decl = match parse_agent(Span::call_site(), args.clone(), On::from(&item)) {
        Ok(decl) => decl,
        Err(problems) => {
            let errors = errors(problems);
            let raised = raised(&item);
            return quote!(#errors #raised #item);
        }
    };
    let rt = private();
    let id = decl.id.value.as_str();
    let found = findings::about("agent", id, &decl.ident, || {
        [args.clone(), item.to_token_stream()]
    });
    let raised_here = &found.tokens;
    if found.fatal {
        let raised = raised(&item);
        return quote!(#raised_here #raised #item);
    }
    let attrs = match &item {
        syn::Item::Struct(s) => s.attrs.as_slice(),
        _ => &[],
    };
    let cfgs = Sorted::of(attrs).cfgs;
    let paths = decl.tools.iter().map(|(_, path)| path);
    let paths = paths.chain(
        decl.skills
            .iter()
            .flat_map(|s| s.uses.iter().chain(s.tools.iter().map(|(_, path)| path))),
    );
    let flows = paths.map(|path| {
        quote_spanned! {path.span()=>
            #(#cfgs)*
            #[allow(deprecated)]
            const _: #rt::FlowInfo = <#path as #rt::Flow>::INFO;
        }
    });
    let entry = Entry {
        kind: "agent",
        id: id.to_owned(),
        digest: digest(&decl),
        effects: quote!(&[]),
        register: quote!(register: |registry| registry.agent(#id)),
        span: decl.ident.span(),
        cfgs: &cfgs,
    };
    let entry = entry.tokens(&found);
    quote! {
        #raised_here
        // The struct is a name for a declaration; nothing need ever make one.
        #[allow(dead_code)]
        #item
        #(#flows)*
        #entry
    }
}

/// Says so, where the item has a name.
fn raised(item: &syn::Item) -> TokenStream {
    match On::from(item) {
        On::Type { attrs, ident, .. } => crate::common::raised(ident, attrs),
        On::Fn { attrs, sig } => crate::common::raised(&sig.ident, attrs),
        On::Other(_) => TokenStream::new(),
    }
}
