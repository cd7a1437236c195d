//! See the rule's page.

use std::collections::BTreeSet;

use flowx_manifest::{Authorization, Manifest, PermissionName};

use super::{ReviewFinding, review_rule};
use crate::rules::cx::reach;

review_rule! {
    /// # A permission opens nothing
    ///
    /// ## What it catches
    ///
    /// A permission that a capability demands while no flow reaches the capability, or that an entity's operation
    /// demands and no capability knows, or that a flow publishes and none of its steps needs.
    ///
    /// ## Why it matters
    ///
    /// Somebody grants it and believes that it means something; the day a flow begins to use it, everybody who was ever
    /// given it is in.
    ///
    /// ## Example
    ///
    /// `payment.refund` guards `payment::refund`, and no flow has it as a step any more.
    ///
    /// ## Instead
    ///
    /// Remove the capability, or use it.
    "ai.permission_is_unused" "permission-is-unused" Note check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    let needed = |a: &Authorization| match a {
        Authorization::Permission { permission } => Some(permission.clone()),
        _ => None,
    };
    let mut reached: BTreeSet<PermissionName> = BTreeSet::new();
    for flow in &manifest.flows {
        let own: BTreeSet<PermissionName> = reach(manifest, flow)
            .iter()
            .filter_map(|r| needed(&r.capability.authorization))
            .collect();
        for permission in flow.permissions.difference(&own) {
            out.push(RULE.finding(
                format!("flow {}", flow.key()),
                format!(
                    "it publishes that a call can need `{permission}`, and none of its steps does"
                ),
                "Write the manifest anew with `flowx manifest --write`.",
            ));
        }
        reached.extend(own);
    }
    let mut known: BTreeSet<PermissionName> = BTreeSet::new();
    for capability in &manifest.capabilities {
        let Some(permission) = needed(&capability.authorization) else {
            continue;
        };
        if !reached.contains(&permission) && known.insert(permission.clone()) {
            out.push(RULE.finding(
                format!("capability {}@{}", capability.id, capability.version.major),
                format!("it demands `{permission}`, and no flow reaches it"),
                "Use it in a flow, or remove it.",
            ));
        }
        known.insert(permission);
    }
    for entity in &manifest.entities {
        for operation in &entity.operations {
            if let Some(permission) = operation
                .permission
                .as_ref()
                .filter(|p| !known.contains(*p))
            {
                out.push(RULE.finding(
                    format!("entity {}@{}", entity.id, entity.version.major),
                    format!("the operation `{}` demands `{permission}`, which no capability knows", operation.name),
                    "Guard the capability that performs it with the same permission, or correct the name.",
                ));
            }
        }
    }
}
