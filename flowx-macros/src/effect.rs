//! `#[effect]`: the type as it is, `impl Effect`, the entry.

use flowx_syntax::{On, digest, parse_effect};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::common::{Entry, errors, private};
use crate::findings;
use crate::item::Sorted;

pub(crate) fn expand(args: TokenStream, tokens: TokenStream) -> TokenStream {
    let item: syn::Item = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let rt = private();
    let decl = match parse_effect(Span::call_site(), args.clone(), On::from(&item)) {
        Ok(decl) => decl,
        Err(problems) => {
            let errors = errors(problems);
            let shell = shell(&rt, &item);
            return quote!(#errors #item #shell);
        }
    };
    let (id, class) = (decl.id.value.as_str(), class(decl.class.value));
    let found = findings::about("effect", id, &decl.ident, || {
        [args.clone(), item.to_token_stream()]
    });
    let raised = &found.tokens;
    if found.fatal {
        let shell = shell(&rt, &item);
        return quote!(#raised #item #shell);
    }
    let name = &decl.ident;
    let attrs = attrs(&item);
    let cfgs = Sorted::of(attrs).cfgs;
    let entry = Entry {
        kind: "effect",
        id: id.to_owned(),
        digest: digest(&decl),
        effects: quote!(&[]),
        register: quote!(register: #rt::Registry::effect::<#name>),
        span: name.span(),
        cfgs: &cfgs,
    };
    let entry = entry.tokens(&found);
    quote! {
        #raised
        #item
        #(#cfgs)*
        #[automatically_derived]
        #[allow(deprecated)]
        impl #rt::Effect for #name {
            const ID: &'static str = #id;
            const CLASS: #rt::EffectClass = #rt::EffectClass::#class;
        }
        #entry
    }
}

fn class(class: flowx_manifest::EffectClass) -> Ident {
    use flowx_manifest::EffectClass::{Changes, ReachesOut, Reads, Sends, Spends};
    let name = match class {
        Reads => "Reads",
        Changes => "Changes",
        Sends => "Sends",
        Spends => "Spends",
        ReachesOut => "ReachesOut",
    };
    Ident::new(name, Span::call_site())
}

fn attrs(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Struct(s) => &s.attrs,
        syn::Item::Enum(e) => &e.attrs,
        _ => &[],
    }
}

/// Whatever the class would be, so that capabilities which use it are still checked.
fn shell(rt: &TokenStream, item: &syn::Item) -> TokenStream {
    let On::Type {
        attrs,
        ident,
        generics,
        ..
    } = On::from(item)
    else {
        return TokenStream::new();
    };
    let raised = crate::common::raised(ident, attrs);
    let cfgs = Sorted::of(attrs).cfgs;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #raised
        #(#cfgs)*
        impl #impl_generics #rt::Effect for #ident #type_generics #where_clause {
            const ID: &'static str = "";
            const CLASS: #rt::EffectClass = #rt::EffectClass::Reads;
        }
    }
}
