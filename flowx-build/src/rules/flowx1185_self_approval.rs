use flowx_manifest::EffectClass;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// `approval(…, self_approval)` on a flow that can spend.
    ///
    /// ## Why it matters
    ///
    /// Four eyes are two people. An approval that whoever asked may give is a second click.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(id = "payment.pay_out", …, approval(required, self_approval), …)]
    /// ```
    ///
    /// ## Instead
    ///
    /// Leave `self_approval` out.
    FLOWX1185, "whoever asks to spend may approve it", Error, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let Some(approval) = declared.decl.approval.as_ref().filter(|a| a.self_approval) else { continue };
        if view.any_of(&flow.effects, &[EffectClass::Spends]) {
            let message = "this flow spends, and whoever asked for it may approve it";
            sink(declared.error(RULE.code(), approval.span, message).help("leave `self_approval` out").into());
        }
    }
}
