//! Who may decide a proposal. Pure.

use flowx_manifest::DecidedBy;

use super::model::Proposal;
use crate::identity::{Principal, PrincipalKind};

/// The permission of supervisors: they may decide every proposal but their own.
pub const DECIDE_PERMISSION: &str = "flowx.proposals.decide";

/// Why somebody may not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotYours {
    /// Only a person decides.
    #[error("only a person can decide this")]
    NotAPerson,
    /// Whoever asked, or whom it is asked for, does not decide where the declaration puts it to somebody else.
    #[error("whoever asked cannot decide this")]
    Asker,
    /// It is put to somebody else.
    #[error("this is for somebody else to decide")]
    SomebodyElse,
    /// It belongs to another tenant.
    #[error("this is for somebody else to decide")]
    OtherTenant,
}

/// Whether that principal may decide that proposal.
///
/// # Errors
/// Why not.
pub fn may_decide(proposal: &Proposal, who: &Principal) -> Result<(), NotYours> {
    if who.kind != PrincipalKind::Person {
        return Err(NotYours::NotAPerson);
    }
    let requester = &proposal.requester;
    if requester.tenant != who.tenant {
        return Err(NotYours::OtherTenant);
    }
    let same_issuer = requester.issuer == who.issuer;
    let asked_it = same_issuer && requester.kind == "person" && requester.subject == who.subject;
    let works_for = requester.on_behalf_of.as_deref();
    let asked_for_it = same_issuer && works_for == Some(who.subject.as_str());
    // Nobody says yes to themselves unless the declaration lets them, whatever else they hold.
    if asked_it && !proposal.self_approval {
        return Err(NotYours::Asker);
    }
    let routed_elsewhere = proposal.decided_by != DecidedBy::Requester;
    if asked_for_it && routed_elsewhere && !proposal.self_approval {
        return Err(NotYours::Asker);
    }
    // A declaration names people by their subject, which is theirs within one issuer alone: whoever has the same name elsewhere is another.
    let is = |subject: &str| same_issuer && subject == who.subject;
    let addressed = match &proposal.decided_by {
        DecidedBy::Requester => match works_for {
            Some(_) => asked_for_it,
            None if requester.kind == "person" => asked_it,
            None => proposal.sponsor.as_deref().is_some_and(is),
        },
        DecidedBy::Sponsor => proposal.sponsor.as_deref().is_some_and(is),
        DecidedBy::Queue(role) => who.holds(role),
        DecidedBy::Person(subject) => is(subject),
    };
    if addressed || who.holds(DECIDE_PERMISSION) {
        Ok(())
    } else {
        Err(NotYours::SomebodyElse)
    }
}

/// Whether that principal may read that proposal: whoever may decide it, a supervisor of its tenant, and the person who asked or for whom it is.
pub fn may_see(proposal: &Proposal, who: &Principal) -> bool {
    if who.kind != PrincipalKind::Person || proposal.requester.tenant != who.tenant {
        return false;
    }
    let requester = &proposal.requester;
    let own = requester.key == who.key()
        || (requester.issuer == who.issuer
            && requester.on_behalf_of.as_deref() == Some(who.subject.as_str()));
    own || who.holds(DECIDE_PERMISSION) || may_decide(proposal, who).is_ok()
}
