//! `include_manifest!()`: what the scan wrote for this target, and what it found wrong that belongs to no declaration.

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::findings;

pub(crate) fn expand(args: TokenStream) -> TokenStream {
    let here = Span::call_site();
    let refuse = |text: &str| {
        // The type that every declaration names, so that this one error stands alone.
        let rt = crate::common::private();
        quote_spanned! {here=>
            ::core::compile_error!(#text);
            #[doc(hidden)]
            pub struct FlowxManifest;
            impl<const KEY: u64> #rt::Published<KEY> for FlowxManifest {}
            #[doc(hidden)]
            pub struct FlowxRaised<const KEY: u64>;
        }
    };
    if let Some(token) = args.into_iter().next() {
        let error = quote_spanned!(token.span()=> ::core::compile_error!("`include_manifest!()` takes nothing"););
        return error;
    }
    let Some(out) = std::env::var_os("OUT_DIR") else {
        return refuse(
            "no scan has run: this package has no build script; put `fn main() { flowx_build::emit() }` into `build.rs` \
             and `flowx-build` among the build-dependencies [FLOWX1169]",
        );
    };
    if std::env::var_os("CARGO_TARGET_TMPDIR").is_some() {
        return refuse(
            "`include_manifest!()` stands in a library or a binary; tests and benches use the library's `MANIFEST` [FLOWX1169]",
        );
    }
    let folder = Path::new(&out).join("flowx");
    let file = folder.join(format!("{}.rs", findings::target()));
    if !file.is_file() {
        let text = if folder.is_dir() {
            format!(
                "the scan wrote nothing for this target (`{}`): `include_manifest!()` stands in the root of the library or \
                 of a binary, not in an example [FLOWX1169]",
                findings::target()
            )
        } else {
            "no scan has run: put `flowx_build::emit()` into the `main` of `build.rs` [FLOWX1169]"
                .to_owned()
        };
        return refuse(&text);
    }
    let found = findings::unanchored(here);
    // By environment, not by the path that is known here: the expansion stays the same on every machine.
    let name = format!("/flowx/{}.rs", findings::target());
    quote! {
        #found
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), #name));
    }
}
