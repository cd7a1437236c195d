//! Cards, and what can be asked for about them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use flowx_runtime::{Cx, FlowCx, FlowError, capability, effect, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cards by id, and how often each was archived.
#[derive(Clone, Default)]
pub struct Board(Arc<Mutex<BTreeMap<String, u32>>>);

impl Board {
    /// With three cards.
    pub fn open() -> Board {
        let cards = ["c-1", "c-2", "c-3"].map(|id| (id.to_owned(), 0));
        Board(Arc::new(Mutex::new(cards.into())))
    }

    /// How often a card was archived; `None` when there is no such card.
    #[cfg(test)]
    pub fn archived(&self, id: &str) -> Option<u32> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .copied()
    }

    fn archive(&self, id: &str) -> bool {
        let mut cards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cards.get_mut(id).map(|times| *times += 1).is_some()
    }
}

/// The cards of the board.
#[effect(id = "cards", class = changes)]
pub struct Cards(pub Board);

/// Why it was not done.
#[derive(Debug, thiserror::Error, FlowError)]
pub enum CardError {
    /// No such card.
    #[error("there is no card {0}")]
    #[flow_error(code = "card.not_found", category = NotFound)]
    NotFound(String),
}

/// Which card.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// The card's id.
    pub card_id: String,
}

/// What was archived.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Archived {
    /// The card's id.
    pub card_id: String,
}

/// Puts a card away.
#[capability(id = "card.put_away", version = "1.0.0", authorization = authenticated, effects(Cards), idempotent = false)]
async fn put_away(cx: &Cx<put_away>, which: Which) -> Result<Archived, CardError> {
    let Which { card_id } = which;
    if cx.effect::<Cards>().0.archive(&card_id) {
        Ok(Archived { card_id })
    } else {
        Err(CardError::NotFound(card_id))
    }
}

/// Archive a card of the board. Somebody who leads the board has to agree first; then call it again, with exactly the same arguments.
#[flow(id = "card.archive", version = "1.0.0", owner = "board", deadline = "PT5S",
       http(POST, "/cards/archive"),
       agent(confirmation = required_for_side_effects),
       approval(required, decided_by = queue("board.lead"), finish = redeem, expires = "P7D", grant_expires = "PT1H"),
       steps(put_away: put_away))]
async fn archive(cx: &FlowCx<archive>, input: Which) -> Result<Archived, CardError> {
    cx.step::<put_away>(input).await
}
