//! Who works here beside people.

use flowx_runtime::agent;

use crate::repairs::{note, scrap};

/// Estimates repairs: writes notes by itself, proposes every other change, and never gives a repair up.
#[agent(id = "estimator", purpose = "estimates repairs and prepares their prices", sponsor = "kim@workshop",
        changes = propose, alone(note), never(scrap), widened_by = "workshop.widen")]
pub struct Estimator;
