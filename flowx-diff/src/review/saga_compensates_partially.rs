//! See the rule's page.

use flowx_manifest::{Capability, EffectClass, Manifest, StepTarget};

use super::{ReviewFinding, review_rule};
use crate::rules::cx::effect_class;

review_rule! {
    /// # A saga undoes only some of its steps
    ///
    /// ## What it catches
    ///
    /// A flow that compensates at least one step and leaves a step with side effects uncompensated although something
    /// after it can fail. The order counts: a last step needs no undoing, since nothing follows that could fail.
    ///
    /// ## Why it matters
    ///
    /// Whoever compensates one step means the flow to be all or nothing. The uncompensated one stays done when a later
    /// step fails, and nobody is told.
    ///
    /// ## Example
    ///
    /// `steps(reserve: stock::reserve { compensate = stock::release }, pay: payment::take, ship: parcel::book)`: when
    /// `ship` fails the stock is released and the payment stays taken.
    ///
    /// ## Instead
    ///
    /// Give `pay` a compensation, or move it to the end.
    "ai.saga_compensates_partially" "saga-compensates-partially" Warning check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    let effectful = |c: &Capability| {
        c.effects
            .iter()
            .any(|e| effect_class(manifest, e.as_str()) != EffectClass::Reads)
    };
    for flow in &manifest.flows {
        if !flow.steps.iter().any(|s| s.compensation.is_some()) {
            continue;
        }
        let mut exposed = Vec::new();
        for (i, step) in flow.steps.iter().enumerate() {
            let acts = match &step.calls {
                StepTarget::Capability(id) => manifest
                    .capabilities
                    .iter()
                    .any(|c| c.id == id.id.as_str() && c.version == id.version && effectful(c)),
                StepTarget::Flow(id) => manifest.flows.iter().any(|f| {
                    f.id == id.id.as_str()
                        && f.version == id.version
                        && f.effects
                            .iter()
                            .any(|e| effect_class(manifest, e.as_str()) != EffectClass::Reads)
                }),
            };
            if let (true, None, Some(next)) = (acts, &step.compensation, flow.steps.get(i + 1)) {
                exposed.push(format!(
                    "`{}` stays done when `{}` or a later step fails",
                    step.name, next.name
                ));
            }
        }
        if !exposed.is_empty() {
            out.push(RULE.finding(
                format!("flow {}", flow.key()),
                format!(
                    "some steps are undone on failure, others are not: {}",
                    exposed.join("; ")
                ),
                "Give the step a compensation, or move it behind every step that can fail.",
            ));
        }
    }
}
