//! `#[flowx::allow(FLOWX1103, reason = "…")]`: checked for its form here, obeyed by the scan, which also reports one that allows nothing.

use flowx_syntax::parse_allow;
use proc_macro2::{Span, TokenStream};
use quote::quote;

use crate::common::errors;

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    match parse_allow(Span::call_site(), args) {
        Ok(_) => item,
        Err(problems) => {
            let errors = errors(problems);
            quote!(#errors #item)
        }
    }
}
