//! "From now on, alone": what a person said about one agent and one tool, counted, and revocable at once.

use flowx_manifest::Leave;
use serde::{Deserialize, Serialize};

use crate::identity::Principal;
use crate::store::Millis;

/// For whose work a rule holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReachOfRule {
    /// Work for one person: the one who said it, by issuer and subject.
    Person {
        /// Who vouches for them.
        issuer: String,
        /// Who.
        subject: String,
    },
    /// Work for anybody.
    Everybody,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRule {
    /// A UUID of version 7.
    pub id: String,
    /// The agent's id.
    pub agent: String,
    /// The digest of the agent's declaration when the rule was made: a rule outlives no change of what it widens.
    pub agent_declaration: String,
    /// The flow, as `id@version`.
    pub flow: String,
    /// The skill it holds under; under none when absent.
    pub skill: Option<String>,
    /// The tenant it holds in.
    pub tenant: Option<String>,
    /// For whose work.
    pub reach: ReachOfRule,
    /// The digest of the canonical input, when it holds for exactly those arguments.
    pub input_digest: Option<String>,
    /// Who said it.
    pub said_by: String,
    /// When.
    pub said_at: Millis,
    /// How often it was used.
    pub used: i64,
    /// When it was used last.
    pub last_used: Option<Millis>,
}

/// The call that a rule is held against.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Who calls.
    pub principal: &'a Principal,
    /// The digest of the agent's declaration now.
    pub agent_declaration: &'a str,
    /// The flow, as `id@version`.
    pub flow: &'a str,
    /// The skill.
    pub skill: Option<&'a str>,
    /// The digest of the canonical input.
    pub input_digest: &'a str,
}

/// The first rule that lets the agent do this call alone. Only [`Leave::Propose`] can be widened.
pub fn matching<'r>(
    leave: Leave,
    rules: &'r [StandingRule],
    asked: &Asked<'_>,
) -> Option<&'r StandingRule> {
    if leave != Leave::Propose {
        return None;
    }
    rules.iter().find(|rule| holds(rule, asked))
}

fn holds(rule: &StandingRule, asked: &Asked<'_>) -> bool {
    let principal = asked.principal;
    principal
        .agent
        .as_ref()
        .is_some_and(|a| a.as_str() == rule.agent)
        && rule.agent_declaration == asked.agent_declaration
        && rule.flow == asked.flow
        && rule.skill.as_deref() == asked.skill
        && rule.tenant == principal.tenant
        && rule
            .input_digest
            .as_deref()
            .is_none_or(|digest| digest == asked.input_digest)
        && match &rule.reach {
            ReachOfRule::Everybody => true,
            ReachOfRule::Person { issuer, subject } => {
                *issuer == principal.issuer && principal.on_behalf_of.as_ref() == Some(subject)
            }
        }
}
