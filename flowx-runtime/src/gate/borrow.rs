//! Borrowing the caller's model where it is asked by ending the call (2026-07-28). The state is sealed as that of a confirmation is: an
//! answer counts for exactly this question, of exactly this call, by exactly this caller, once.

use std::sync::Arc;

use flowx_manifest::{Json, digest};

use super::Gate;
use super::pass::Pass;
use super::seal::Bound;
use crate::channel::{Ask, Channel, Reply};
use crate::invocation::{CallOutcome, Invocation};
use crate::model::ByRetry;

/// The name of the question, and what its state is for.
const MODEL: &str = "model";

impl Gate {
    /// What a call asks when its flow wants the caller's model.
    pub(crate) fn lender(
        self: &Arc<Self>,
        invocation: &Invocation,
        channel: &Arc<dyn Channel>,
    ) -> ByRetry {
        let (gate, invocation) = (Arc::clone(self), Arc::new(invocation.clone()));
        let channel = Arc::clone(channel);
        Box::new(move |asked| {
            let (gate, invocation) = (Arc::clone(&gate), Arc::clone(&invocation));
            let channel = Arc::clone(&channel);
            Box::pin(async move { gate.borrowed(&invocation, &*channel, asked).await })
        })
    }

    /// What came with the call for that question.
    async fn borrowed(
        &self,
        invocation: &Invocation,
        channel: &dyn Channel,
        asked: Json,
    ) -> Result<Reply, CallOutcome> {
        let caller = invocation.principal.key();
        let input = digest(invocation.input.to_canonical().as_bytes());
        let shown = digest(asked.to_canonical().as_bytes());
        let bound = Bound {
            principal: &caller,
            purpose: MODEL,
            flow: &invocation.flow,
            input: &input,
            manifest: self.surface.digest,
            shown: &shown,
        };
        let Some(given) = channel.given() else {
            return Err(self.question(&bound, MODEL, Ask::Model(asked)).await);
        };
        let opened = self.open_of(&given.state, &bound).await?;
        let Some(reply) = given.replies.get(MODEL) else {
            return Err(self.question(&bound, MODEL, Ask::Model(asked)).await);
        };
        self.spend_of(invocation, &opened, "model.answered").await?;
        Ok(reply.clone())
    }

    /// Writes down that a call ended with a question.
    pub(crate) async fn settle_with_question(&self, pass: Pass, question: &CallOutcome) {
        let invocation = pass.ended_with_a_question();
        self.note_outcome(&invocation, question).await;
    }
}
