//! Input against its contract: every failing path at once, in words that a model can act on.

use flowx_manifest::{Category, Json};

use crate::contracts::Validator;
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

/// What a flow takes.
pub(crate) enum Contract {
    /// Nothing: `()`.
    Nothing,
    /// What the schema accepts.
    Schema(Validator),
}

impl Contract {
    /// Of the schema of a flow's input, standing alone.
    ///
    /// # Errors
    /// When it is not a JSON Schema that can be compiled; never fetches one that is referred to.
    pub(crate) fn new(schema: Option<&Json>) -> Result<Contract, String> {
        match schema {
            None => Ok(Contract::Nothing),
            Some(schema) => {
                let validator = Validator::new(schema.clone());
                validator.prepare().map_err(str::to_owned)?;
                Ok(Contract::Schema(validator))
            }
        }
    }

    /// The input as the flow is to read it.
    ///
    /// # Errors
    /// `input.invalid` with every failing path.
    pub(crate) fn read(&self, input: Json) -> Result<Json, Refusal> {
        let validator = match self {
            // A tool's arguments are always an object, and a request without a body is none: all of them say nothing.
            Contract::Nothing if input == Json::Null || input == Json::empty() => {
                return Ok(Json::empty());
            }
            Contract::Nothing => {
                return Err(invalid(vec![InputError {
                    path: String::new(),
                    message: "nothing is taken here".to_owned(),
                }]));
            }
            Contract::Schema(validator) => validator,
        };
        let errors = validator.errors(&input);
        if errors.is_empty() {
            Ok(input)
        } else {
            Err(invalid(errors))
        }
    }
}
