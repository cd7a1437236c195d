//! Contracts: the exact JSON Schema of every type, from its source, in the direction it is read or written in.
//!
//! The truth is what serde's derives do with the compiled type; `tests/contracts` runs them beside this. What cannot be
//! told from the source is refused with a [`Finding`], never guessed. The few places where a schema and serde differ on
//! purpose are the table of `flowx_verify::Deviation`.

mod attrs;
mod case;
mod digits;
mod known;
mod lower;
mod notes;
mod object;
mod read;
mod sensitive;
mod source;
mod types;
mod wire;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::{Contract, Direction, Json, TypeRef};
use syn::spanned::Spanned as _;

use self::lower::Lower;
use self::read::{Graph, Scope};
use self::wire::{DefId, Ty};

pub use self::source::SingleFile;
pub use self::types::{
    Attributes, Code, Finding, Item, ModuleKey, Present, Registered, Resolved, TypeItem, Types,
    Unresolved,
};

/// The text of a doc comment, `include_str!` and `concat!` resolved; `None` when there is none.
///
/// # Errors
/// The findings of texts that only the compiler knows.
pub fn doc(
    types: &dyn Types,
    module: ModuleKey,
    attrs: &[syn::Attribute],
) -> (Option<String>, Vec<Finding>) {
    let sink = types::Sink::default();
    let text = notes::doc(types, &sink, module, attrs);
    (text, sink.take())
}

/// Every contract that the flows of a target reach.
pub struct Contracts<'a> {
    graph: Graph<'a>,
    /// Schemas by name and direction.
    done: RefCell<BTreeMap<String, [Option<Json>; 2]>>,
}

impl<'a> Contracts<'a> {
    /// No contract yet.
    pub fn new(types: &'a dyn Types) -> Self {
        Contracts {
            graph: Graph::new(types),
            done: RefCell::default(),
        }
    }

    /// Takes in a type that is read (a flow's input) or written (its output), with all that it refers to.
    pub fn contract(&self, module: ModuleKey, ty: &syn::Type, direction: Direction) -> TypeRef {
        let wire = self.graph.ty(&Scope::module(module), ty);
        let name = self.graph.name(&wire);
        let sensitive = sensitive::pointers(&self.graph, &wire, direction);
        if direction == Direction::Response && !sensitive.is_empty() {
            self.graph.sink.report(
                Code::SensitiveOutput,
                module,
                ty.span(),
                format!(
                    "`{name}` is written to the caller with sensitive values at {}",
                    join(&sensitive)
                ),
                "leave them out of the output; a reference to them will do",
            );
        }
        if !matches!(wire, Ty::Unit) {
            self.lower(&name, &wire, direction);
        }
        TypeRef { name, sensitive }
    }

    /// The name and the sensitive members of a type that stays inside the program; it need not be one of serde's.
    pub fn type_ref(&self, module: ModuleKey, ty: &syn::Type) -> TypeRef {
        let wire = self.graph.ty(&Scope::module(module), ty);
        TypeRef {
            name: self.graph.name(&wire),
            sensitive: sensitive::pointers(&self.graph, &wire, Direction::Request),
        }
    }

    /// Whether anything was found so far; a caller that asks for one type compares before and after.
    pub fn findings_so_far(&self) -> usize {
        self.graph.sink.len()
    }

    /// Every contract, sorted by name, and everything that keeps one from being exact.
    pub fn finish(self) -> (Vec<Contract>, Vec<Finding>) {
        let contracts = self
            .done
            .into_inner()
            .into_iter()
            .map(|(id, [request, response])| {
                let same = request == response;
                Contract {
                    id,
                    schema: request.clone().filter(|_| same),
                    request: request.filter(|_| !same),
                    response: response.filter(|_| !same),
                    renamed_from: None,
                }
            })
            .collect();
        (contracts, self.graph.sink.take())
    }

    fn lower(&self, name: &str, ty: &Ty, direction: Direction) {
        let lower = Lower {
            graph: &self.graph,
            direction,
            reached: RefCell::default(),
        };
        let mut todo: BTreeSet<DefId> = BTreeSet::new();
        if let Ty::Named(id) = ty {
            todo.insert(*id);
        } else {
            self.put(name, direction, || lower.schema(ty));
            todo = lower.reached.take();
        }
        while let Some(id) = todo.pop_first() {
            let def = self.graph.def(id);
            if self.put(&def.name, direction, || lower.definition(&def)) {
                todo.extend(lower.reached.take());
            }
        }
    }

    /// Keeps a schema unless it is there. True when it was not.
    fn put(&self, name: &str, direction: Direction, schema: impl FnOnce() -> Json) -> bool {
        let place = usize::from(direction == Direction::Response);
        if self
            .done
            .borrow()
            .get(name)
            .is_some_and(|both| both[place].is_some())
        {
            return false;
        }
        let schema = schema();
        self.done.borrow_mut().entry(name.to_owned()).or_default()[place] = Some(schema);
        true
    }
}

fn join(all: &BTreeSet<String>) -> String {
    all.iter()
        .map(|p| format!("`{p}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
