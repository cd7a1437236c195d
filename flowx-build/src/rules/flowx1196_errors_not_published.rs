use flowx_syntax::Signature;
use syn::spanned::Spanned as _;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A flow or capability whose error type implements `FlowError` by hand, or comes from a crate that does not tell its declarations.
    ///
    /// ## Why it matters
    ///
    /// The manifest lists every code with which a call can be refused, and `flowx diff` compares them. What a hand-written `impl` answers, only
    /// the compiled program knows: the codes are not in the manifest, and a change of them is in no diff.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// impl FlowError for Refused { /* … */ }
    /// ```
    ///
    /// ## Instead
    ///
    /// `#[derive(FlowError)]` with `#[flow_error(code = "…", category = …)]` on each variant. An error of another crate is wrapped: a variant
    /// of your own for each case that a caller can tell apart.
    FLOWX1196, "an error type whose codes are not published", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    let span = |of: &Signature| of.result().map_or_else(|| of.returns.span(), |(_, error)| error.span());
    let message = "the codes of this error type are not published: the scan reads them from `#[derive(FlowError)]` alone";
    let help = "derive `FlowError` for an error type of this package, with `#[flow_error(code = \"…\", category = …)]` on each variant";
    for (declared, flow) in view.flows() {
        if flow.errors.is_none() {
            sink(declared.error(RULE.code(), span(&declared.decl.signature), message).help(help).into());
        }
    }
    for (declared, capability) in view.capabilities() {
        if capability.errors.is_none() {
            sink(declared.error(RULE.code(), span(&declared.decl.signature), message).help(help).into());
        }
    }
}
