//! What all expansions share: the way to the runtime, and the entry that proves a declaration to be in the manifest.

use flowx_syntax::{Problems, key};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Attribute;

use crate::findings::Found;

/// `::flowx_runtime::__private`, or under the name that the package gave the runtime: `flowx_build::emit()` sets `FLOWX_RUNTIME` when its
/// `Cargo.toml` renames it.
pub(crate) fn private() -> TokenStream {
    let name = std::env::var("FLOWX_RUNTIME").unwrap_or_else(|_| "flowx_runtime".to_owned());
    let name = syn::parse_str::<Ident>(&name)
        .unwrap_or_else(|_| Ident::new("flowx_runtime", Span::call_site()));
    quote!(::#name::__private)
}

/// The entry of one declaration: the compiled half of P1, with what P2 compares, and the demand for the scan's half.
pub(crate) struct Entry<'a> {
    /// `capability`, `flow`, `effect` or `agent`.
    pub(crate) kind: &'static str,
    /// `id@major`, or the id alone.
    pub(crate) id: String,
    /// `flowx_syntax::digest` of the declaration.
    pub(crate) digest: u64,
    /// The value of `EFFECTS`.
    pub(crate) effects: TokenStream,
    /// The member `register` of the entry, with its name.
    pub(crate) register: TokenStream,
    /// The declaration's place.
    pub(crate) span: Span,
    /// The declaration's own `cfg`s.
    pub(crate) cfgs: &'a [Attribute],
}

impl Entry<'_> {
    pub(crate) fn tokens(&self, found: &Found) -> TokenStream {
        if found.no_manifest {
            return TokenStream::new();
        }
        let rt = private();
        let Entry {
            kind,
            id,
            digest,
            effects,
            register,
            span,
            cfgs,
        } = self;
        let key = key(kind, id);
        // One impl with one constant: rustc takes time for each item and each body. That the scan has seen it too is what the trait itself
        // demands of the type.
        quote_spanned! {*span=>
            #(#cfgs)*
            #[automatically_derived]
            #[allow(deprecated)]
            impl #rt::FlowEntry<#key> for crate::FlowxManifest {
                const ENTRY: #rt::Entry = #rt::Entry { digest: #digest, effects: #effects, #register };
            }
        }
    }
}

/// Says that an error of the declaration of that name has been raised, so that the generated code need not raise one more
/// (`flowx_build`'s `Broken`).
pub(crate) fn raised(name: &Ident, attrs: &[Attribute]) -> TokenStream {
    if crate::findings::no_manifest() {
        return TokenStream::new();
    }
    let at = name.span().start();
    let key = flowx_syntax::raised_key(name, at.line, at.column);
    let cfgs = crate::item::Sorted::of(attrs).cfgs;
    quote! {
        #(#cfgs)*
        #[allow(missing_docs)]
        impl crate::FlowxRaised<#key> {
            #[doc(hidden)]
            pub const RAISED: bool = true;
        }
    }
}

/// All problems as compiler errors, at their spans.
pub(crate) fn errors(problems: Problems) -> TokenStream {
    syn::Error::from(problems).into_compile_error()
}
