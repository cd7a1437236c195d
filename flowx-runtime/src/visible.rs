//! The one predicate that says what a caller can see, for lists, calls, resources and routes alike.

use flowx_manifest::{Authorization, Flow, Manifest, StepTarget};

use crate::identity::Principal;
use crate::refusal::Refusal;

/// What callers see of tools that they lack the permissions for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Nothing: what a caller cannot use is not there.
    #[default]
    Permitted,
    /// Everything: what a caller cannot use is listed, and refused at its step.
    All,
}

/// What a flow demands of whoever calls it, from the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Every permission a call can need, sorted.
    pub permissions: Vec<String>,
    /// Whether the caller must be known.
    pub authenticated: bool,
}

impl Demands {
    /// Of that flow, sub-flows included.
    pub fn of(manifest: &Manifest, flow: &Flow) -> Demands {
        let permissions: Vec<String> = flow.permissions.iter().map(ToString::to_string).collect();
        let authenticated = !permissions.is_empty() || any_step_authenticates(manifest, flow, 0);
        Demands {
            permissions,
            authenticated,
        }
    }

    /// The refusal of a caller who does not meet them, naming everything at once; `None` for one who does. For those who decide before
    /// the steps do, so that nobody is asked about a call that will be refused.
    pub fn refusal(&self, principal: &Principal) -> Option<Refusal> {
        if self.met_by(principal) {
            return None;
        }
        if principal.is_anonymous() {
            return Some(Refusal::not_authenticated());
        }
        let missing: Vec<&str> = self
            .permissions
            .iter()
            .map(String::as_str)
            .filter(|p| !principal.holds(p))
            .collect();
        Some(Refusal::permission_denied(&missing.join(" ")))
    }

    /// Whether that caller meets all of them.
    pub fn met_by(&self, principal: &Principal) -> bool {
        (!self.authenticated || !principal.is_anonymous())
            && self.permissions.iter().all(|p| principal.holds(p))
    }
}

/// Sub-flows cannot be nested without end, since the build refuses cycles; the depth is bounded all the same, and what is deeper
/// counts as demanding.
fn any_step_authenticates(manifest: &Manifest, flow: &Flow, depth: usize) -> bool {
    depth > 32
        || flow.steps.iter().any(|step| match &step.calls {
            StepTarget::Capability(reference) => manifest
                .capabilities
                .iter()
                .find(|c| c.reference() == *reference)
                .is_none_or(|c| {
                    matches!(
                        c.authorization,
                        Authorization::Authenticated {} | Authorization::Permission { .. }
                    )
                }),
            StepTarget::Flow(reference) => manifest
                .flows
                .iter()
                .find(|f| f.reference() == *reference)
                .is_none_or(|f| any_step_authenticates(manifest, f, depth + 1)),
        })
}
