use flowx_manifest::Authorization;

use super::view::quoted;
use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A flow that can be called from outside, has side effects, and whose every step is `internal`.
    ///
    /// ## Why it matters
    ///
    /// `internal` says: other steps decide who may. Where there are no others, nobody decides, and the flow is open to everybody who can reach it.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[capability(id = "ledger.write", …, authorization = internal, effects(Ledger))]
    /// #[flow(id = "ledger.correct", …, http(POST, "/ledger"), steps(write: write))]
    /// ```
    ///
    /// ## Instead
    ///
    /// Give one of its steps a stance that asks for somebody: `authenticated` or `permission("…")`.
    FLOWX1191, "a flow with side effects where nobody decides who may", Error, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let reached = view.reached(flow);
        let open = !reached.is_empty() && reached.iter().all(|c| matches!(c.authorization, Authorization::Internal {}));
        let effects = view.side_effects(&flow.effects);
        if !flow.triggers.is_empty() && open && !effects.is_empty() {
            let message = format!("every step of this flow is internal: nobody decides who may reach {}", quoted(effects));
            let help = "give one of its steps `authenticated` or `permission(\"…\")`";
            sink(declared.error(RULE.code(), declared.decl.id.span, message).help(help).into());
        }
    }
}
