//! See the rule's page.

use flowx_manifest::{Authorization, EffectClass, Manifest};

use super::{ReviewFinding, listed, review_rule};
use crate::rules::cx::{effect_class, reached_from};

review_rule! {
    /// # A public capability has side effects
    ///
    /// ## What it catches
    ///
    /// A capability whose stance is `public` and that declares an effect which does more than read.
    ///
    /// ## Why it matters
    ///
    /// Anybody, without a name, can change, send or spend through it.
    ///
    /// ## Example
    ///
    /// `#[capability(id = "ticket.open", authorization = public(approved_by = "ada"), effects(Ledger), ..)]`
    ///
    /// ## Instead
    ///
    /// `authorization = authenticated`, or a permission.
    "ai.public_capability_has_side_effects" "public-capability-has-side-effects" Warning check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for capability in &manifest.capabilities {
        let Authorization::Public { approved_by } = &capability.authorization else {
            continue;
        };
        let effects: Vec<&str> = capability
            .effects
            .iter()
            .map(|e| e.as_str())
            .filter(|e| effect_class(manifest, e) != EffectClass::Reads)
            .collect();
        if effects.is_empty() {
            continue;
        }
        let key = format!("{}@{}", capability.id, capability.version.major);
        let by = approved_by
            .as_ref()
            .map_or_else(String::new, |a| format!(" (allowed by {a})"));
        let from = reached_from(manifest, &key);
        let reach = if from.is_empty() {
            String::new()
        } else {
            format!("; reached by {}", from.join(", "))
        };
        out.push(RULE.finding(
            format!("capability {key}"),
            format!("anybody may use it{by}, and it has the effects {}{reach}", listed(effects)),
            "Demand a name (`authenticated`) or a permission, or move the effect into a capability of its own.",
        ));
    }
}
