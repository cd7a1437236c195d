use syn::spanned::Spanned as _;
use syn::{Item, Type};

use crate::scan::{Ns, Resolved};

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
    let tree = view.tree;
    for module in tree.modules() {
        // Before anything is parsed.
        let text = &tree.source(module).text;
        if tree.module(module).cfg.is_false() || !text.contains("impl") || !SEALED.iter().any(|name| text.contains(name)) {
            continue;
        }
        for item in tree.items(module) {
            let Item::Impl(block) = item else { continue };
            let Some((path, _)) = &block.trait_ else { continue };
            let name = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            let resolved = tree.resolver().resolve(module, path, Ns::Type);
            let Ok(Resolved::Foreign { krate, path: full }) = resolved else { continue };
            let original = full.rsplit("::").next().unwrap_or(&full).to_owned();
            if krate != "flowx_runtime" || !SEALED.contains(&original.as_str()) {
                continue;
            }
            let of = match &*block.self_ty {
                Type::Path(path) => flowx_syntax::path_text(&path.path),
                _ => "a type".to_owned(),
            };
            let message = format!("`impl {name} for {of}` is written by hand, and only FlowX's attributes may write it");
            let finding = tree
                .finding(RULE.code(), module, path.span(), message)
                .help("declare it with the attribute, so that it stands in the manifest");
            sink(finding.into());
        }
    }
}
