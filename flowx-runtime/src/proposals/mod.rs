//! One exact call waiting for a person: what it is, how it changes, who may decide it, and what a person reads of it.

mod decider;
mod fingerprint;
mod machine;
mod model;

pub use decider::{DECIDE_PERMISSION, NotYours, may_decide, may_see};
pub use fingerprint::{Covered, call_key, fingerprint, shown_fingerprint};
pub use machine::{LONGEST_REASON, No, Step, Verdict, step};
pub use model::{Decision, Execution, Outcome, Proposal, Requester, Shown, ShownField, Status};
