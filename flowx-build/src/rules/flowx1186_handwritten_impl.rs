use super::impls::by_hand;
use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A hand-written `impl` of a trait that only FlowX's attributes implement: `Declares`, `HasStep`, `HasFlow`, `Capability`, `Flow`, `Effect`,
    /// `FlowEntry`, `Published`.
    ///
    /// ## Why it matters
    ///
    /// Those impls are what the proofs are made of. Written by hand, `Declares<Ledger>` gives a capability an effect that stands in no manifest.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// impl flowx_runtime::Declares<Ledger> for search {}
    /// ```
    ///
    /// ## Instead
    ///
    /// Declare it: `effects(Ledger)`.
    FLOWX1186, "a proof is written by hand", Error firm, check
}

const SEALED: &[&str] = &["Declares", "HasStep", "HasFlow", "Capability", "Flow", "Effect", "FlowEntry", "Published"];

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for found in by_hand(view.tree, SEALED) {
        let message = format!(
            "`impl {} for {}` is written by hand, and only FlowX's attributes may write it",
            found.name, found.of
        );
        let finding = view
            .tree
            .finding(RULE.code(), found.module, found.span, message)
            .help("declare it with the attribute, so that it stands in the manifest");
        sink(finding.into());
    }
}
