use flowx_manifest::Authorization;

use super::view::quoted;
use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A `public` capability with effects beyond reading and no `approved_by`.
    ///
    /// ## Why it matters
    ///
    /// Anybody on the network may use it. That can be right (a contact form), and then somebody has decided it; the manifest says who.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[capability(id = "contact.send", …, authorization = public, effects(Mail))]
    /// ```
    ///
    /// ## Instead
    ///
    /// `authorization = public(approved_by = "security board")`, or a stance that asks for somebody.
    FLOWX1175, "anybody may use side effects, and nobody has said so", Error, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, capability) in view.capabilities() {
        if !matches!(capability.authorization, Authorization::Public { approved_by: None }) {
            continue;
        }
        let effects = view.side_effects(&capability.effects);
        if !effects.is_empty() {
            let message = format!("anybody may use {} through this capability, and nobody has said so", quoted(effects));
            let help = "say who allowed it, `public(approved_by = \"…\")`, or demand a permission";
            sink(declared.error(RULE.code(), declared.decl.authorization.span, message).help(help).into());
        }
    }
}
