use std::collections::BTreeSet;

use flowx_manifest::StepTarget;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// In a binary, a capability that no flow calls, neither as a step nor as a compensation.
    ///
    /// ## Why it matters
    ///
    /// A capability cannot be addressed by itself. One that nothing calls is authority that is reviewed, granted and never needed.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[capability(id = "payment.void", …)]
    /// async fn void(cx: &Cx<void>, receipt: Receipt) -> Result<(), No> { … }
    /// // and no flow has `void` among its steps
    /// ```
    ///
    /// ## Instead
    ///
    /// Call it from a flow, or take it away.
    FLOWX1172, "a capability that no flow calls", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    if view.is_library {
        return;
    }
    let mut called = BTreeSet::new();
    for flow in &view.manifest.flows {
        for step in &flow.steps {
            if let StepTarget::Capability(id) = &step.calls {
                called.insert(id.clone());
            }
            called.extend(step.compensation.clone());
        }
    }
    for (declared, capability) in view.capabilities() {
        if !called.contains(&capability.reference()) {
            let message = format!("no flow calls the capability `{}`", capability.reference());
            sink(declared.error(RULE.code(), declared.decl.id.span, message).help("call it from a flow, or take it away").into());
        }
    }
}
