//! `#[derive(FlowError)]`: code, category and catalogue of an error type.

use flowx_manifest::Category;
use flowx_syntax::{FlowErrorDecl, FlowErrorKind, On, parse_flow_error};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::common::{errors, private};

pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let input: syn::DeriveInput = match syn::parse2(tokens) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let rt = private();
    match parse_flow_error(input.ident.span(), On::from(&input)) {
        Ok(decl) => healthy(&rt, &decl),
        Err(problems) => {
            let errors = errors(problems);
            let shell = shell(&rt, &input);
            quote!(#errors #shell)
        }
    }
}

fn healthy(rt: &TokenStream, decl: &FlowErrorDecl) -> TokenStream {
    let name = &decl.ident;
    let mut codes = Vec::new();
    let mut categories = Vec::new();
    let mut catalogue = Vec::new();
    for variant in &decl.variants {
        let path = match &variant.ident {
            Some(ident) => quote!(Self::#ident),
            None => quote!(Self),
        };
        match &variant.kind {
            FlowErrorKind::Code {
                code,
                category: kind,
            } => {
                let (code, kind) = (code.value.as_str(), category(*kind));
                codes.push(quote!(#path { .. } => #code,));
                categories.push(quote!(#path { .. } => #rt::Category::#kind,));
                catalogue.push(quote!(all.push((#code, #rt::Category::#kind));));
            }
            FlowErrorKind::Transparent { member, ty } => {
                let inside = quote_spanned!(ty.span()=> <#ty as #rt::FlowError>);
                codes.push(quote!(#path { #member: inner } => #inside::code(inner),));
                categories.push(quote!(#path { #member: inner } => #inside::category(inner),));
                catalogue.push(quote!(all.extend(#inside::catalogue());));
            }
        }
    }
    // A match on a reference to an enum without variants needs a place that has none.
    let (code, category) = if decl.variants.is_empty() {
        (quote!(match *self {}), quote!(match *self {}))
    } else {
        (
            quote!(match self { #(#codes)* }),
            quote!(match self { #(#categories)* }),
        )
    };
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #rt::FlowError for #name {
            fn code(&self) -> &'static str {
                #code
            }
            fn category(&self) -> #rt::Category {
                #category
            }
            fn catalogue() -> #rt::Vec<(&'static str, #rt::Category)> {
                #[allow(unused_mut)]
                let mut all = #rt::Vec::new();
                #(#catalogue)*
                all
            }
        }
    }
}

fn category(category: Category) -> Ident {
    let name = match category {
        Category::Validation => "Validation",
        Category::NotFound => "NotFound",
        Category::Conflict => "Conflict",
        Category::Forbidden => "Forbidden",
        Category::Unavailable => "Unavailable",
        Category::Internal => "Internal",
    };
    Ident::new(name, Span::call_site())
}

/// An impl without codes, so that whatever returns this error is still checked.
fn shell(rt: &TokenStream, input: &syn::DeriveInput) -> TokenStream {
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let raised = crate::common::raised(name, &input.attrs);
    quote! {
        #raised
        #[automatically_derived]
        impl #impl_generics #rt::FlowError for #name #type_generics #where_clause {
            fn code(&self) -> &'static str { "" }
            fn category(&self) -> #rt::Category { #rt::Category::Internal }
            fn catalogue() -> #rt::Vec<(&'static str, #rt::Category)> { #rt::Vec::new() }
        }
    }
}
