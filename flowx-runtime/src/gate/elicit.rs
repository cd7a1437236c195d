//! Asking in the caller's client: on the call's own stream where the client has a session, by ending the call with a sealed state where it
//! has none. Either way the yes is for exactly this call, by exactly this caller, once.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use flowx_manifest::{Category, Json, digest};

use super::confirm::{Said, form, said};
use super::facts::Facts;
use super::seal::{Bound, Opened};
use super::shown::{prompt, shown};
use super::{Gate, Pass, gate_codes, millis, unreachable};
use crate::channel::{Ask, AskKind, Asking, Channel};
use crate::invocation::{CallOutcome, Invocation};
use crate::refusal::Refusal;

/// The name of the question.
pub(super) const QUESTION: &str = "confirm";

impl Gate {
    pub(super) async fn confirmed_in_client(
        self: &Arc<Self>,
        facts: &Facts<'_>,
        channel: &Arc<dyn Channel>,
    ) -> Result<Pass, CallOutcome> {
        let names = self
            .hooks
            .names_of(&facts.flow.reference, &facts.input)
            .await
            .map_err(CallOutcome::Refused)?;
        let shown = shown(
            &self.surface.manifest,
            &facts.flow.published,
            &facts.invocation.principal,
            facts.json(),
            &names,
        );
        let ask = form(&shown);
        let shown_digest = digest(prompt(&shown).as_bytes());
        match channel.asking(AskKind::Form) {
            Asking::Cannot => Err(cannot_ask(AskKind::Form)),
            Asking::InCall => {
                let record = self.record("confirmation.asked", facts.invocation, []);
                self.auditor.write(record).await.map_err(unreachable)?;
                match said(&channel.ask(ask).await) {
                    Said::Yes => self.confirmed(facts, None).await,
                    Said::No(outcome) => Err(CallOutcome::Refused(refused(outcome))),
                    Said::Nothing => Err(CallOutcome::Refused(refused("not_an_answer"))),
                }
            }
            Asking::ByRetry => {
                let Some(given) = channel.given() else {
                    return Err(self
                        .input_required(facts, ask, QUESTION, &shown_digest)
                        .await);
                };
                // The state first: nothing else that was brought along counts before it opens.
                let opened = self
                    .open(&given.state, facts, QUESTION, &shown_digest)
                    .await?;
                match given.replies.get(QUESTION).map(said) {
                    None | Some(Said::Nothing) => Err(self
                        .input_required(facts, ask, QUESTION, &shown_digest)
                        .await),
                    Some(Said::Yes) => self.confirmed(facts, Some(&opened)).await,
                    Some(Said::No(outcome)) => {
                        // A no is spent too, so that it cannot be turned into a yes later.
                        self.spend(facts, &opened, "confirmation.declined").await?;
                        Err(CallOutcome::Refused(refused(outcome)))
                    }
                }
            }
        }
    }

    /// The yes, written down (and its nonce spent) in the same step, then the pass.
    async fn confirmed(
        self: &Arc<Self>,
        facts: &Facts<'_>,
        state: Option<&Opened>,
    ) -> Result<Pass, CallOutcome> {
        match state {
            Some(opened) => self.spend(facts, opened, "confirmation.accepted").await?,
            None => {
                let record = self.record("confirmation.accepted", facts.invocation, []);
                self.auditor.write(record).await.map_err(unreachable)?;
            }
        }
        self.pass(facts, true).await.map_err(unreachable)
    }

    async fn spend(
        &self,
        facts: &Facts<'_>,
        opened: &Opened,
        kind: &str,
    ) -> Result<(), CallOutcome> {
        self.spend_of(facts.invocation, opened, kind).await
    }

    /// Uses a state up, and writes down what for, in one step.
    pub(super) async fn spend_of(
        &self,
        invocation: &Invocation,
        opened: &Opened,
        kind: &str,
    ) -> Result<(), CallOutcome> {
        let record = self.record(
            kind,
            invocation,
            [("nonce", Json::from(opened.nonce.as_str()))],
        );
        let spent = self
            .store
            .nonce_consume(&opened.nonce, opened.expires, self.now(), &[record])
            .await;
        if spent.map_err(unreachable)? {
            Ok(())
        } else {
            Err(CallOutcome::Refused(not_ours()))
        }
    }

    /// Ends the call with a question and a fresh state.
    pub(super) async fn input_required(
        &self,
        facts: &Facts<'_>,
        ask: Ask,
        purpose: &str,
        shown_digest: &str,
    ) -> CallOutcome {
        let bound = self.bound(facts, purpose, shown_digest);
        self.question(&bound, QUESTION, ask).await
    }

    /// The same for that binding, under that name.
    pub(super) async fn question(&self, bound: &Bound<'_>, name: &str, ask: Ask) -> CallOutcome {
        let nonce = self.ids.new_id().to_string();
        let expires = self.now().saturating_add(millis(self.options.question_ttl));
        let sealed = self.keyring().seal(bound, &nonce, expires);
        let sealed = match sealed {
            Some(sealed) => Some(sealed),
            // The first key is still on its way from the store.
            None => {
                if let Err(error) = self.refresh_keys().await {
                    return unreachable(error);
                }
                self.keyring().seal(bound, &nonce, expires)
            }
        };
        match sealed {
            Some(state) => CallOutcome::InputRequired {
                asks: BTreeMap::from([(name.to_owned(), ask)]),
                state,
            },
            None => CallOutcome::Refused(Refusal::internal(
                crate::refusal::codes::INTERNAL,
                "there is no sealing key",
            )),
        }
    }

    pub(super) async fn open(
        &self,
        state: &str,
        facts: &Facts<'_>,
        purpose: &str,
        shown_digest: &str,
    ) -> Result<Opened, CallOutcome> {
        self.open_of(state, &self.bound(facts, purpose, shown_digest))
            .await
    }

    pub(super) async fn open_of(
        &self,
        state: &str,
        bound: &Bound<'_>,
    ) -> Result<Opened, CallOutcome> {
        let keys = self.keyring();
        if keys.lacks_key_of(state) {
            // Another instance may have begun a new key a moment ago.
            self.refresh_keys().await.map_err(unreachable)?;
        }
        self.keyring()
            .open(state, bound, self.now())
            .map_err(|_| CallOutcome::Refused(not_ours()))
    }

    fn bound<'a>(&'a self, facts: &'a Facts<'_>, purpose: &'a str, shown: &'a str) -> Bound<'a> {
        Bound {
            principal: &facts.caller,
            purpose,
            flow: &facts.flow.reference,
            input: &facts.input_digest,
            manifest: self.surface.digest,
            shown,
        }
    }

    pub(super) fn keyring(&self) -> super::Keyring {
        self.keys
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

pub(super) fn cannot_ask(needs: AskKind) -> CallOutcome {
    CallOutcome::CannotAsk {
        needs,
        refusal: refused("cannot_ask"),
    }
}

/// No person confirmed; `outcome` says how so.
pub(super) fn refused(outcome: &'static str) -> Refusal {
    let message = match outcome {
        "cannot_ask" => {
            "A person has to confirm this call, and this client cannot ask one. It was not run."
        }
        "declined" => "A person was asked and said no. The call was not run.",
        "cancelled" => "A person was asked and closed the question. The call was not run.",
        "timed_out" => "A person was asked and did not answer in time. The call was not run.",
        _ => "A person has to confirm this call, and no confirmation came. It was not run.",
    };
    Refusal::new(
        gate_codes::CONFIRMATION_REFUSED,
        Category::Forbidden,
        message,
    )
    .with("outcome", outcome)
}

/// The one answer to every state that does not count, whatever the reason.
fn not_ours() -> Refusal {
    refused("state_refused")
}
