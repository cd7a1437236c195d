//! `#[capability]`: the type of the function's name, `impl Capability` with the body, `impl Declares` per effect, the entry.

use flowx_manifest::Authorization;
use flowx_syntax::{CapabilityDecl, On, Problems, digest, parse_capability};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::common::{Entry, private};
use crate::findings::Found;
use crate::item::{FnItem, Sorted, inner_fn};
use crate::shell::{OnFn, Shell};

impl OnFn for CapabilityDecl {
    const WORD: &'static str = "capability";

    fn read(args: TokenStream, on: On<'_>) -> Result<Self, Problems> {
        parse_capability(Span::call_site(), args, on)
    }

    fn id(&self) -> String {
        format!("{}@{}", self.id.value, self.version.value.major)
    }

    fn name(&self) -> &Ident {
        &self.signature.ident
    }

    fn shell(item: &FnItem) -> Shell<'_> {
        Shell::capability(item)
    }

    fn expand(&self, item: &FnItem, id: &str, found: &Found) -> TokenStream {
        healthy(item, self, id, found)
    }
}

fn healthy(item: &FnItem, decl: &CapabilityDecl, id: &str, found: &Found) -> TokenStream {
    let rt = private();
    let Sorted { cfgs, docs, inner } = Sorted::of(&item.attrs);
    let (vis, name) = (&item.vis, &decl.signature.ident);
    let input = match &decl.signature.input {
        Some(ty) => quote!(#ty),
        None => quote!(()),
    };
    let (output, error) = answer(&rt, &decl.signature);
    let info = info(&rt, decl);
    let body = run(&rt, item, &inner, "Cx", decl.signature.input.is_some());
    let declares = decl.effects.iter().map(|effect| {
        quote_spanned! {effect.span()=>
            #(#cfgs)*
            #[automatically_derived]
            #[allow(deprecated)]
            impl #rt::Declares<#effect> for #name {}
        }
    });
    let entry = Entry {
        kind: "capability",
        id: id.to_owned(),
        digest: digest(decl),
        effects: quote!(&[<#name as #rt::Capability>::INFO.effects]),
        register: quote!(register: #rt::Registry::capability::<#name>),
        span: name.span(),
        cfgs: &cfgs,
    };
    let entry = entry.tokens(found);
    let warnings = &found.tokens;
    quote! {
        #warnings
        #(#cfgs)*
        #(#docs)*
        #[allow(non_camel_case_types, clippy::empty_enum, clippy::empty_enums)]
        #vis enum #name {}

        #(#cfgs)*
        #[automatically_derived]
        #[allow(deprecated)]
        impl #rt::Capability for #name {
            type Input = #input;
            type Output = #output;
            type Error = #error;
            const INFO: #rt::CapabilityInfo = #info;
            #body
        }

        #(#declares)*
        #entry
    }
}

/// Output and error: as written where the return type is a `Result`, else through the compiler, which knows the alias.
pub(crate) fn answer(
    rt: &TokenStream,
    signature: &flowx_syntax::Signature,
) -> (TokenStream, TokenStream) {
    match signature.result() {
        Some((output, error)) => (quote!(#output), quote!(#error)),
        None => {
            let ty = &signature.returns;
            let of = |part: TokenStream| quote_spanned!(ty.span()=> <#ty as #rt::Returns>::#part);
            (of(quote!(Output)), of(quote!(Error)))
        }
    }
}

/// `fn run`, with the user's function inside it: their attributes, their names and their places stay as they are.
pub(crate) fn run(
    rt: &TokenStream,
    item: &FnItem,
    attrs: &[syn::Attribute],
    context: &str,
    takes_input: bool,
) -> TokenStream {
    let context = proc_macro2::Ident::new(context, Span::call_site());
    let name = &item.sig.ident;
    let inner = inner_fn(item, attrs, &item.sig);
    let call = if takes_input {
        quote!(#name(cx, input))
    } else {
        quote!(#name(cx))
    };
    let ignore = if takes_input {
        quote!()
    } else {
        quote!(let _ = input;)
    };
    // At the name, so that a future that cannot be sent between threads is an error there.
    let answer = quote_spanned! {name.span()=>
        impl ::core::future::Future<Output = ::core::result::Result<Self::Output, Self::Error>> + ::core::marker::Send
    };
    quote! {
        fn run(cx: &#rt::#context<Self>, input: Self::Input) -> #answer {
            #[allow(clippy::unused_async)]
            #inner
            #ignore
            #call
        }
    }
}

fn info(rt: &TokenStream, decl: &CapabilityDecl) -> TokenStream {
    let id = decl.id.value.as_str();
    let version = decl.version.value.to_string();
    let stance = match &decl.authorization.value {
        Authorization::Public { .. } => quote!(Public),
        Authorization::Authenticated {} => quote!(Authenticated),
        Authorization::Permission { permission } => {
            let permission = permission.as_str();
            quote!(Permission(#permission))
        }
        Authorization::Internal {} => quote!(Internal),
    };
    let ids = decl
        .effects
        .iter()
        .map(|e| quote_spanned!(e.span()=> <#e as #rt::Effect>::ID));
    let classes = decl
        .effects
        .iter()
        .map(|e| quote_spanned!(e.span()=> <#e as #rt::Effect>::CLASS));
    let idempotent = decl.idempotent;
    quote! {
        #rt::CapabilityInfo {
            id: #id,
            version: #version,
            stance: #rt::Stance::#stance,
            effects: &#rt::sorted([#(#ids),*]),
            side_effects: #rt::any_side_effect(&[#(#classes),*]),
            idempotent: #idempotent,
        }
    }
}
