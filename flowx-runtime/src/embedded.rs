//! What generated code hands to the runtime: the document, where its entries stand, and what the program has compiled in.
//!
//! `include_manifest!()` produces, in the user's crate:
//!
//! ```ignore
//! pub struct FlowxManifest;                                    // P1 is stated about this type
//! impl Published<0x12ab…> for FlowxManifest {}                  // per entry that the scan saw
//! const __FLOWX: [fn(&mut Registry); 420] = [entry::<FlowxManifest, 0x12ab…>(0x34cd…, &["ledger"], "…", "…"), …];      // P1, P2, per entry
//! pub static MANIFEST: Embedded = Embedded {
//!     text: include_str!("bin-desk.manifest.json"),
//!     digest: "<blake3 of the text, 64 hexadecimal digits>",
//!     index: &index::<1200>(include_bytes!("bin-desk.index"), include_str!("bin-desk.ids")),      // Document::index, same order
//!     register: |registry| for entry in __FLOWX { entry(registry) },                              // every entry, libraries' too
//! };
//! ```

use std::any::TypeId;

pub use flowx_manifest::Kind;
use flowx_manifest::{Category, EffectClass};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::Runner;
use crate::traits::{Capability, CapabilityInfo, Effect, Flow, FlowError, FlowInfo};

/// One entry of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The section.
    pub kind: Kind,
    /// `id@version` for capabilities, flows and events; the id or name otherwise.
    pub id: &'static str,
    /// Where its `{` stands, in bytes from the start of the text.
    pub start: usize,
    /// One past its `}`.
    pub end: usize,
}

/// The document that was reviewed, inside the program that was built. A `static` of it comes from `include_manifest!()`.
#[derive(Debug)]
pub struct Embedded {
    /// The canonical text, ending in a newline.
    pub text: &'static str,
    /// The blake3 digest of the text, as 64 hexadecimal digits.
    pub digest: &'static str,
    /// Every entry, in document order.
    pub index: &'static [Slice],
    /// Registers everything that is compiled in.
    pub register: fn(&mut Registry),
}

impl Embedded {
    /// The bytes of one entry, exactly as reviewed.
    pub fn entry(&self, kind: Kind, id: &str) -> Option<&'static str> {
        let slice = self.index.iter().find(|s| s.kind == kind && s.id == id)?;
        self.text.get(slice.start..slice.end)
    }

    /// The cross-flow review of the document: the same findings as `flowx review` on it.
    ///
    /// # Errors
    /// When the text is not a manifest, which an embedded one is.
    pub fn review(&self) -> Result<flowx_diff::Review, flowx_manifest::ReadError> {
        Ok(flowx_diff::review(&flowx_manifest::Manifest::read(
            self.text.as_bytes(),
        )?))
    }

    /// Every entry of a section, in document order.
    pub fn entries(&self, kind: Kind) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.index
            .iter()
            .filter(move |s| s.kind == kind)
            .filter_map(|s| Some((s.id, self.text.get(s.start..s.end)?)))
    }
}

/// The compiled half of P1: implemented for `crate::FlowxManifest` once per declaration, by the declaration's own attribute.
///
/// `KEY` is `flowx_syntax::key(kind, "id@major")`.
#[diagnostic::on_unimplemented(
    message = "the manifest publishes something that is not compiled here [FLOWX1166]",
    note = "the scan saw a declaration that rustc did not: it is switched off by a `cfg`, or was edited while the build ran"
)]
pub trait FlowEntry<const KEY: u64>: Published<KEY> {
    /// What the compiler read.
    const ENTRY: Entry;
}

/// What the compiler read of one declaration.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// `flowx_syntax::digest` of it.
    pub digest: u64,
    /// A flow's effects, a capability's effects; empty otherwise.
    pub effects: &'static [&'static [&'static str]],
    /// The method of [`Registry`] for its kind.
    pub register: fn(&mut Registry),
}

/// The scan's half of P1: implemented by `include_manifest!()` for every entry that the scan saw. [`FlowEntry`] demands it, so that a
/// missing impl is an error at the declaration.
#[diagnostic::on_unimplemented(
    message = "this declaration is compiled but not in the manifest [FLOWX1165]",
    note = "the scan did not see it: it stands inside a macro, or `flowx_runtime::include_manifest!()` or `flowx_build::emit()` is missing"
)]
pub trait Published<const KEY: u64> {}

/// What the program has compiled in. Filled by generated code, read once by [`App`](crate::App).
#[derive(Default)]
pub struct Registry {
    pub(crate) effects: Vec<EffectBinding>,
    pub(crate) capabilities: Vec<CapabilityInfo>,
    pub(crate) flows: Vec<FlowBinding>,
    pub(crate) probes: Vec<Probes>,
    pub(crate) catalogues: Vec<Catalogue>,
    pub(crate) agents: Vec<&'static str>,
    pub(crate) entities: Vec<&'static str>,
}

impl Registry {
    /// An effect type.
    pub fn effect<E: Effect>(&mut self) {
        self.effects.push(EffectBinding {
            id: E::ID,
            class: E::CLASS,
            type_id: TypeId::of::<E>(),
        });
    }

    /// A capability.
    pub fn capability<C: Capability>(&mut self) {
        self.capabilities.push(C::INFO);
        self.catalogues.push(Catalogue {
            kind: Kind::Capability,
            id: C::INFO.id,
            version: C::INFO.version,
            of: <C::Error as FlowError>::catalogue,
        });
    }

    /// What can be done with a flow's types; in test builds, for P4.
    pub fn probe<F: Flow>(&mut self, input: flowx_verify::Probe, output: flowx_verify::Probe) {
        self.probes.push(Probes {
            flow: format!("{}@{}", F::INFO.id, F::INFO.version),
            input,
            output,
        });
    }

    /// A flow.
    pub fn flow<F: Flow<Input: DeserializeOwned, Output: Serialize>>(&mut self) {
        self.flow_as::<F>(F::INFO);
    }

    /// A flow with the samples of its output, for [`App::verify`](crate::App::verify).
    pub fn flow_with<F: Flow<Input: DeserializeOwned, Output: Serialize>>(
        &mut self,
        samples: Option<flowx_verify::Sampled>,
    ) {
        self.flow::<F>();
        if let Some(binding) = self.flows.last_mut() {
            binding.samples = samples;
        }
    }

    /// A flow under another name, for measurements that need more flows than anybody writes.
    pub fn flow_as<F: Flow<Input: DeserializeOwned, Output: Serialize>>(&mut self, info: FlowInfo) {
        self.catalogues.push(Catalogue {
            kind: Kind::Flow,
            id: info.id,
            version: info.version,
            of: <F::Error as FlowError>::catalogue,
        });
        self.flows.push(FlowBinding {
            info,
            run: Runner::of::<F>(),
            input: flowx_verify::Probe::reads::<F::Input>(),
            samples: None,
        });
    }

    /// An agent, by id.
    pub fn agent(&mut self, id: &'static str) {
        self.agents.push(id);
    }

    /// An entity, by id.
    pub fn entity(&mut self, id: &'static str) {
        self.entities.push(id);
    }
}

/// An effect type that is compiled in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectBinding {
    pub(crate) id: &'static str,
    pub(crate) class: EffectClass,
    pub(crate) type_id: TypeId,
}

/// The probed types of one flow.
pub(crate) struct Probes {
    pub(crate) flow: String,
    pub(crate) input: flowx_verify::Probe,
    pub(crate) output: flowx_verify::Probe,
}

/// With which codes a compiled flow or capability can say no.
pub(crate) struct Catalogue {
    pub(crate) kind: Kind,
    pub(crate) id: &'static str,
    pub(crate) version: &'static str,
    pub(crate) of: fn() -> Vec<(&'static str, Category)>,
}

/// A flow that is compiled in.
#[derive(Clone, Copy)]
pub(crate) struct FlowBinding {
    pub(crate) info: FlowInfo,
    pub(crate) run: Runner,
    /// Reading of its input, for P4.
    pub(crate) input: flowx_verify::Probe,
    /// What its output is written as, for P4; where the type says so.
    pub(crate) samples: Option<flowx_verify::Sampled>,
}
