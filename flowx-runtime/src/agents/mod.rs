//! Autonomy: what a declared agent may do with a tool, and the standing rules by which people widen it.

mod leave;
mod rules;

pub use leave::{NoSkill, leave};
pub use rules::{Asked, ReachOfRule, StandingRule, matching};
