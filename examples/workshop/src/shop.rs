//! The workshop's repairs. Kept in memory here; a real one is a database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flowx_runtime::effect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A repair.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Repair {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub ticket: String,
    /// What is to be done.
    pub what: String,
    /// The price in cents, once it has one.
    pub price_cents: Option<u64>,
    /// What was noted.
    pub notes: Vec<String>,
    /// Grows with every change.
    pub revision: u64,
    /// Whether it was given up.
    pub scrapped: bool,
}

/// Every repair, by id.
#[derive(Clone, Default)]
pub struct Shop(Arc<Mutex<BTreeMap<String, Repair>>>);

impl Shop {
    /// With the repairs that are there from the start.
    pub fn open() -> Shop {
        let shop = Shop::default();
        for (id, ticket, what) in [
            ("r-81c2", "T-7", "gearbox of the van"),
            ("r-93d0", "T-8", "brakes of the bus"),
        ] {
            let repair = Repair {
                id: id.to_owned(),
                ticket: ticket.to_owned(),
                what: what.to_owned(),
                price_cents: None,
                notes: Vec::new(),
                revision: 1,
                scrapped: false,
            };
            shop.lock().insert(id.to_owned(), repair);
        }
        shop
    }

    /// The repair of that id.
    pub fn get(&self, id: &str) -> Option<Repair> {
        self.lock().get(id).cloned()
    }

    /// Every repair.
    pub fn all(&self) -> Vec<Repair> {
        self.lock().values().cloned().collect()
    }

    /// Changes a repair, which gives it a new revision.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut Repair)) -> Option<Repair> {
        let mut repairs = self.lock();
        let repair = repairs.get_mut(id)?;
        change(repair);
        repair.revision += 1;
        Some(repair.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Repair>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A look at the repairs.
#[effect(id = "shelf", class = reads)]
pub struct Shelf(pub Shop);

/// The book in which repairs are changed.
#[effect(id = "book", class = changes)]
pub struct Book(pub Shop);
