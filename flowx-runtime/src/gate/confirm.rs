//! Whether a person is asked before a call runs, and what counts as a yes. Pure.

use flowx_manifest::{Confirmation, EffectClass, Flow, Json, Manifest, Risk, Trigger};

use crate::channel::{Ask, Reply};
use crate::identity::{Principal, PrincipalKind};
use crate::invocation::Transport;
use crate::mcp::ConfirmationPolicy;
use crate::proposals::Shown;

use super::shown::prompt;

/// How a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Not at all.
    No,
    /// By a form in the caller's client.
    InClient,
    /// On this server's own page, since a client's yes is only the client's word.
    OnOwnPage,
    /// As a stored proposal.
    OutOfBand,
}

/// Whether, and how, a person is asked about that call.
pub(super) fn asked(
    policy: ConfirmationPolicy,
    manifest: &Manifest,
    flow: &Flow,
    principal: &Principal,
    transport: Transport,
) -> Asked {
    let (confirmation, risk) = match flow.agent_trigger() {
        Some(Trigger::Agent {
            confirmation, risk, ..
        }) => (*confirmation, *risk),
        // No agent calls it as a tool; one that calls its route meets the default of a tool.
        _ => (Confirmation::RequiredForSideEffects, Risk::Normal),
    };
    // A model decides what comes over MCP, whoever's token it carries; elsewhere it depends on who calls.
    let by_model = matches!(transport, Transport::Mcp | Transport::Stdio) || is_agent(principal);
    let wanted = match confirmation {
        Confirmation::Never => false,
        Confirmation::RequiredForSideEffects => has_side_effects(manifest, flow),
        Confirmation::Always => true,
    };
    if !by_model || !wanted {
        return Asked::No;
    }
    match (policy, risk) {
        (ConfirmationPolicy::Annotate, _) => Asked::No,
        (ConfirmationPolicy::Elicit, Risk::Normal) => Asked::InClient,
        (ConfirmationPolicy::Elicit, Risk::High) => Asked::OnOwnPage,
        (ConfirmationPolicy::Gate, _) => Asked::OutOfBand,
    }
}

/// Whether an AI agent calls, by its credential.
pub fn is_agent(principal: &Principal) -> bool {
    principal.kind == PrincipalKind::Agent || principal.agent.is_some()
}

/// Whether a call can reach more than reads. An effect that the manifest does not describe counts.
pub(super) fn has_side_effects(manifest: &Manifest, flow: &Flow) -> bool {
    flow.effects.iter().any(|id| {
        manifest
            .effects
            .iter()
            .find(|e| e.id == *id)
            .is_none_or(|e| e.class != EffectClass::Reads)
    })
}

/// The question, as a form in the client.
pub(super) fn form(shown: &Shown) -> Ask {
    let text = |s: &str| Json::from(s);
    Ask::Form {
        message: prompt(shown),
        schema: Json::object([
            ("type", text("object")),
            (
                "properties",
                Json::object([(
                    "approve",
                    Json::object([
                        ("type", text("boolean")),
                        ("title", text("Run it")),
                        ("description", text("Yes runs exactly this call, once.")),
                    ]),
                )]),
            ),
            ("required", Json::from(vec!["approve"])),
        ]),
    }
}

/// What a reply comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Yes.
    Yes,
    /// Not yes; the word says why (`declined`, `cancelled`, …).
    No(&'static str),
    /// Nothing that is an answer; to be asked again where that is possible.
    Nothing,
}

/// Reads a reply. A yes is an accepted form that says `true`, and nothing else is.
pub(super) fn said(reply: &Reply) -> Said {
    match reply {
        Reply::Accept(content) => match content.get("approve") {
            Some(Json::Bool(true)) => Said::Yes,
            Some(Json::Bool(false)) => Said::No("declined"),
            _ => Said::No("not_an_answer"),
        },
        Reply::Decline => Said::No("declined"),
        Reply::Cancel => Said::No("cancelled"),
        Reply::TimedOut => Said::No("timed_out"),
        Reply::Gone => Said::No("gone"),
        Reply::Invalid => Said::Nothing,
    }
}
