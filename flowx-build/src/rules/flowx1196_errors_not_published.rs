use super::impls::by_hand;
use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// An error type that implements `FlowError` by hand.
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
    for found in by_hand(view.tree, &["FlowError"]) {
        let message = format!(
            "the codes of `{}` are not published: the scan reads them from `#[derive(FlowError)]` alone",
            found.of
        );
        let finding = view
            .tree
            .finding(RULE.code(), found.module, found.span, message)
            .help("derive `FlowError`, with `#[flow_error(code = \"…\", category = …)]` on each variant");
        sink(finding.into());
    }
}
