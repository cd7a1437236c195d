//! Input against its contract: every failing path at once, in words that a model can act on.

use flowx_manifest::{Category, Json};

use crate::refusal::{Refusal, codes};

/// One thing that is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Where, as an RFC 6901 pointer into the input.
    pub path: String,
    /// What, without the value.
    pub message: String,
}

/// `input.invalid` with everything that is wrong.
pub(crate) fn invalid(errors: Vec<InputError>) -> Refusal {
    let list = errors
        .into_iter()
        .map(|e| {
            Json::object([
                ("path", Json::from(e.path)),
                ("message", Json::from(e.message)),
            ])
        })
        .collect::<Vec<_>>();
    Refusal::new(
        codes::INPUT_INVALID,
        Category::Validation,
        "The input does not meet its contract.",
    )
    .with("errors", list)
}

/// An input that met its contract and that serde does not read all the same: the contract is wider than the type.
pub(crate) fn unreadable(error: &serde_json::Error) -> Refusal {
    invalid(vec![InputError {
        path: String::new(),
        message: error.to_string(),
    }])
}
