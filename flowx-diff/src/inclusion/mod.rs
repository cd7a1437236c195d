//! Whether every value of one schema is a value of another, with the direction in which it is read.
//!
//! The answer is a greatest fixpoint: every pair of terms that the question leads to is assumed included, and a pair
//! falls when one of its requirements falls, until nothing falls any more. So recursion needs no special case, no answer
//! depends on the order of questions, and no answer that was only assumed is kept. Work is counted; beyond the budget
//! the answer is undecided, never included.
//!
//! **Undeclared members.** A program that reads an open object is sent what the object declares; nobody sends a member
//! that no version declared. So, for requests, a member that the old side leaves undeclared and open is not held against
//! a new declaration of it ("emitted values"). A response is held to the letter: an open object may carry anything.

mod decide;
mod explain;

use std::collections::BTreeMap;

use flowx_manifest::{Direction, Json};

pub(crate) use explain::{Fail, Reason, Seg, pointer};

use crate::schema::Doc;
use decide::Engine;

/// How much work a question may take, in steps of roughly a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { steps: 2_000_000 }
    }
}

/// Yes, not known, no. Order is descent: requirements are joined by the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tri {
    Yes,
    Maybe,
    No,
}

impl From<Option<bool>> for Tri {
    fn from(answer: Option<bool>) -> Tri {
        match answer {
            Some(true) => Tri::Yes,
            Some(false) => Tri::No,
            None => Tri::Maybe,
        }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every value of the one is a value of the other.
    Included,
    /// Some value is not.
    Not {
        /// Where in the schema, members by their names.
        pointer: String,
        /// A value that the one side accepts and the other refuses, checked with a validator on both. Missing only where every
        /// such value is longer than anybody would read: 64 KiB.
        witness: Option<Json>,
        /// What refuses it.
        reason: String,
    },
    /// Not known.
    Undecided {
        /// What stands in the way.
        why: String,
    },
}

/// Whether `new` can stand in for `old`. A request: everything that `old` accepted must be accepted by `new`. A response:
/// everything that `new` writes must be allowed by `old`.
pub fn check(old: &Json, new: &Json, direction: Direction, budget: Budget) -> Verdict {
    let (sub, sup) = match direction {
        Direction::Request => (old, new),
        Direction::Response => (new, old),
    };
    let question = Question {
        sub: Doc::alone(sub),
        sup: Doc::alone(sup),
        emitted: direction == Direction::Request,
        budget,
        witnesses: true,
    };
    let fails = question.ask();
    match fails.iter().max_by_key(|f| f.tri) {
        None => Verdict::Included,
        Some(worst) => {
            // The first of the worst: the order is that of the schema.
            let worst = fails.iter().find(|f| f.tri == worst.tri).unwrap_or(worst);
            match worst.tri {
                Tri::No => Verdict::Not {
                    pointer: worst.pointer(),
                    witness: worst.witness.clone(),
                    reason: worst.reason.to_string(),
                },
                _ => Verdict::Undecided {
                    why: worst.reason.to_string(),
                },
            }
        }
    }
}

/// One question to the engine.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) sub: Doc<'a>,
    pub(crate) sup: Doc<'a>,
    /// Whether undeclared members of the subset's open objects are left out of account.
    pub(crate) emitted: bool,
    pub(crate) budget: Budget,
    /// Whether to look for witnesses.
    pub(crate) witnesses: bool,
}

impl Question<'_> {
    /// Everything that stands between the two; empty when included. In the order of the schema.
    pub(crate) fn ask(&self) -> Vec<Fail> {
        // One document is included in itself, whatever is in it that this model cannot take apart.
        if self.sub.contracts.is_none() && self.sub.root == self.sup.root {
            return Vec::new();
        }
        let mut engine = Engine::new(self);
        let root = engine.decide();
        if root == Tri::Yes {
            return Vec::new();
        }
        let mut fails = engine.explain(root);
        if self.witnesses {
            self.verify(&mut engine, &mut fails);
        } else {
            fails.iter_mut().for_each(|f| f.witness = None);
        }
        fails
    }

    /// Holds every witness against a validator that knows nothing of this engine. What breaks is shown by a value: where none
    /// can be found, or the validator cannot read the schemas, nothing more is known than that.
    fn verify<'a>(&'a self, engine: &mut Engine<'a>, fails: &mut [Fail]) {
        let (sub_doc, sup_doc) = (self.sub.standalone(), self.sup.standalone());
        let (Ok(sub), Ok(sup)) = (validator(&sub_doc), validator(&sup_doc)) else {
            for fail in fails {
                fail.witness = None;
                fail.tri = fail.tri.min(Tri::Maybe);
            }
            return;
        };
        let shows = |value: &serde_json::Value| sub.is_valid(value) && !sup.is_valid(value);
        // A counterexample settles what the algebra left open; only a pattern in place of another stays a matter for
        // people, who see the example.
        let settles = |reason: &Reason| {
            !matches!(
                reason,
                Reason::Pattern { changed: true, .. } | Reason::Budget
            )
        };
        for fail in fails.iter_mut() {
            let shown = fail.witness.as_ref().is_some_and(|w| shows(&w.to_value()));
            if !shown {
                fail.witness = None;
            } else if settles(&fail.reason) {
                fail.tri = Tri::No;
            }
        }
        let any = fails.iter().any(|f| f.witness.is_some());
        if !any
            || fails
                .iter()
                .any(|f| f.tri == Tri::No && f.witness.is_none())
        {
            self.search(engine, fails, &sup, &shows, !any);
        }
        for fail in fails.iter_mut() {
            match &fail.witness {
                None => fail.tri = fail.tri.min(Tri::Maybe),
                Some(witness) => {
                    if settles(&fail.reason) {
                        fail.tri = Tri::No;
                    }
                    if witness.to_canonical().len() > LONGEST_WITNESS {
                        fail.witness = None;
                    }
                }
            }
        }
    }

    /// Values at random, for obstacles whose own value did not show them: one that is refused at the obstacle's place shows it.
    fn search<'a>(
        &'a self,
        engine: &mut Engine<'a>,
        fails: &mut [Fail],
        sup: &jsonschema::Validator,
        shows: &dyn Fn(&serde_json::Value) -> bool,
        alone: bool,
    ) {
        let found: Vec<(Json, Vec<Vec<Step>>)> = engine
            .samples(48)
            .into_iter()
            .filter_map(|sample| {
                let value = sample.to_value();
                let places =
                    |value: &serde_json::Value| sup.iter_errors(value).map(|e| steps(&e)).collect();
                shows(&value).then(|| (sample, places(&value)))
            })
            .collect();
        for fail in fails
            .iter_mut()
            .filter(|f| f.tri == Tri::No && f.witness.is_none())
        {
            fail.witness = found
                .iter()
                .find(|(_, places)| places.iter().any(|place| leads_to(&fail.path, place)))
                .map(|(value, _)| value.clone());
        }
        if alone
            && let Some((value, _)) = found.first()
            && let Some(open) = fails.iter_mut().find(|f| f.reason != Reason::Budget)
        {
            open.witness.get_or_insert_with(|| value.clone());
        }
    }
}

/// Bytes of a witness that is told.
const LONGEST_WITNESS: usize = 64 << 10;

/// One step into a value.
enum Step {
    Member(String),
    Element(usize),
}

fn steps(error: &jsonschema::ValidationError<'_>) -> Vec<Step> {
    error
        .instance_path()
        .iter()
        .map(|segment| match segment {
            jsonschema::paths::LocationSegment::Property(name) => Step::Member(name.into_owned()),
            jsonschema::paths::LocationSegment::Index(at) => Step::Element(at),
        })
        .collect()
}

/// Whether one of the two leads to the other: a validator reports what a union refuses at the union.
fn leads_to(path: &[Seg], place: &[Step]) -> bool {
    path.iter()
        .filter(|seg| !matches!(seg, Seg::Ref(_)))
        .zip(place)
        .all(|pair| match pair {
            (Seg::Prop(name), Step::Member(member)) => name == member,
            (Seg::Pattern(_) | Seg::Rest | Seg::Names, Step::Member(_)) => true,
            (Seg::Item(at), Step::Element(index)) => at == index,
            (Seg::Items, Step::Element(_)) => true,
            _ => false,
        })
}

fn validator(schema: &Json) -> Result<jsonschema::Validator, String> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(false)
        .build(&schema.to_value())
        .map_err(|e| e.to_string())
}

impl Doc<'_> {
    /// The document with everything it refers to inside it.
    pub(crate) fn standalone(&self) -> Json {
        let mut root = self.root.clone();
        let Some(contracts) = self.contracts else {
            return root;
        };
        let mut defs = BTreeMap::new();
        let mut todo = std::collections::BTreeSet::new();
        flowx_manifest::references(&root, &mut todo);
        while let Some(next) = todo.pop_first() {
            if let (false, Some(schema)) = (defs.contains_key(&next), contracts.get(&next)) {
                flowx_manifest::references(schema, &mut todo);
                defs.insert(next, (*schema).clone());
            }
        }
        if !defs.is_empty() {
            if let Json::Bool(_) = root {
                return root;
            }
            if let Some(map) = root.as_object_mut() {
                map.insert("$defs".to_owned(), Json::Object(defs));
            }
        }
        root
    }
}
