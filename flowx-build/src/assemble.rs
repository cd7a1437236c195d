//! From declarations to the manifest: paths become ids, and a flow gets what its steps can reach.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flowx_manifest as m;
use flowx_manifest::{
    EffectId, Manifest, PermissionName, StepTarget, Trigger, TypeRef, VersionedId,
};
use flowx_syntax::{CapabilityDecl, Doc, FlowDecl, FlowErrorKind, Signature};
use proc_macro2::Span;
use syn::Item;

use crate::codes;
use crate::declare::{Declarations, Declared};
use crate::finding::{Finding, Findings};
use crate::library::{Exported, Library};
use crate::scan::{ItemRef, ModuleId, Ns, Resolved, Tree};
use crate::types::{Place, result_of};

/// One entry of a target as the compiler has to confirm it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `effect`, `capability`, `flow` or `agent`.
    pub kind: &'static str,
    /// `payment.refund@1`; of effects and agents the bare id.
    pub id: String,
    /// The digest of what the scan read.
    pub digest: u64,
    /// The ids of the effects it declares or can reach, sorted.
    pub effects: Vec<String>,
}

/// What a target declares, put together.
#[derive(Debug)]
pub struct Assembled {
    /// The manifest, not yet canonical: contracts and tools are added by the caller.
    pub manifest: Manifest,
    /// What the compiler has to confirm, in the order of the declarations.
    pub entries: Vec<Entry>,
}

/// What a path in a declaration leads to.
enum Meaning {
    Effect(EffectId),
    Capability(VersionedId),
    Flow(VersionedId),
    Other(String),
    /// Its own attribute could not be read, which has been reported there.
    Unread,
}

pub(crate) struct Assembler<'a, 't> {
    /// What is declared, the library's declarations first where there is one.
    pub(crate) declared: &'a [&'a Declarations<'t>],
    pub(crate) libraries: &'a [Library],
    pub(crate) findings: &'a Findings,
}

/// Turns types into references, and keeps the contracts they need.
pub(crate) trait TypeRefs {
    /// For whom the next ones are asked.
    fn on_behalf_of(&mut self, anchor: crate::Anchor);
    /// A flow's input.
    fn request(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef;
    /// A flow's output.
    fn response(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef;
    /// A capability's input or output: named, without a contract.
    fn named(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef;
}

impl<'t> Assembler<'_, 't> {
    /// Everything but contracts and tools.
    pub(crate) fn assemble(
        &self,
        application: m::Application,
        types: &mut dyn TypeRefs,
    ) -> Assembled {
        let index = self.index();
        let mut manifest = empty(application);
        self.duplicates();
        let mut entries = Vec::new();
        for declared in self.declared {
            for effect in &declared.effects {
                manifest.effects.push(m::Effect {
                    id: effect.decl.id.value.clone(),
                    class: effect.decl.class.value,
                    description: text(&effect.decl.doc),
                });
                entries.push(entry("effect", effect.anchor().id, effect.digest, []));
            }
        }
        for declared in self.declared {
            for capability in &declared.capabilities {
                types.on_behalf_of(capability.anchor());
                let built = self.capability(capability, &index, types);
                entries.push(entry(
                    "capability",
                    capability.anchor().id,
                    capability.digest,
                    &built.effects,
                ));
                manifest.capabilities.push(built);
            }
        }
        let mut flows = Vec::new();
        for declared in self.declared {
            for flow in &declared.flows {
                types.on_behalf_of(flow.anchor());
                flows.push((flow, self.flow(flow, &index, types)));
            }
        }
        self.reach(&manifest, &mut flows);
        for (flow, built) in flows {
            entries.push(entry("flow", flow.anchor().id, flow.digest, &built.effects));
            manifest.flows.push(built);
        }
        for declared in self.declared {
            for agent in &declared.agents {
                manifest.agents.push(self.agent(agent, &index));
                entries.push(entry("agent", agent.anchor().id, agent.digest, []));
            }
        }
        Assembled { manifest, entries }
    }

    fn index(&self) -> HashMap<*const Item, Meaning> {
        let mut index = HashMap::new();
        for declared in self.declared {
            for item in &declared.unread {
                index.insert(*item, Meaning::Unread);
            }
            for e in &declared.effects {
                index.insert(
                    std::ptr::from_ref(e.on.item),
                    Meaning::Effect(e.decl.id.value.clone()),
                );
            }
            for c in &declared.capabilities {
                index.insert(
                    std::ptr::from_ref(c.on.item),
                    Meaning::Capability(reference(&c.decl)),
                );
            }
            for f in &declared.flows {
                let id = VersionedId::new(f.decl.id.value.as_str(), f.decl.version.value);
                index.insert(std::ptr::from_ref(f.on.item), Meaning::Flow(id));
            }
        }
        index
    }

    /// Two declarations of one id, in this target, its library, or the libraries it depends on.
    fn duplicates(&self) {
        let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
        for library in self.libraries {
            for entry in &library.exports.entries {
                seen.insert(
                    (entry.kind.clone(), entry.id.clone()),
                    format!("crate `{}`", library.exports.krate),
                );
            }
        }
        let mut check = |anchor: crate::Anchor,
                         at: &ItemRef<'_>,
                         span: Span,
                         finding: &dyn Fn(String) -> Finding| {
            let start = span.start();
            let place = format!(
                "{}:{}:{}",
                at.tree.source(at.module).shown,
                start.line,
                start.column + 1
            );
            let subject = format!("{} `{}`", anchor.kind, anchor.id);
            match seen.get(&(anchor.kind.clone(), anchor.id.clone())) {
                Some(other) => self.findings.push(finding(format!(
                    "{subject} is declared twice: at {place} and in {other}"
                ))),
                None => {
                    seen.insert((anchor.kind, anchor.id), place);
                }
            }
        };
        for declared in self.declared {
            for d in &declared.effects {
                let at = d.decl.id.span;
                check(d.anchor(), &d.on, at, &|message| {
                    d.error(codes::DUPLICATE, at, message)
                });
            }
            for d in &declared.capabilities {
                let at = d.decl.id.span;
                check(d.anchor(), &d.on, at, &|message| {
                    d.error(codes::DUPLICATE, at, message)
                });
            }
            for d in &declared.flows {
                let at = d.decl.id.span;
                check(d.anchor(), &d.on, at, &|message| {
                    d.error(codes::DUPLICATE, at, message)
                });
            }
            for d in &declared.agents {
                let at = d.decl.id.span;
                check(d.anchor(), &d.on, at, &|message| {
                    d.error(codes::DUPLICATE, at, message)
                });
            }
        }
    }

    fn meaning(
        &self,
        on: &ItemRef<'t>,
        path: &syn::Path,
        index: &HashMap<*const Item, Meaning>,
    ) -> Result<Meaning, (codes::Code, String)> {
        let shown = flowx_syntax::path_text(path);
        let resolved = self.follow(on.tree, on.module, path, 0)?;
        Ok(match resolved {
            Resolved::Item(item) => match index.get(&std::ptr::from_ref(item.item)) {
                Some(Meaning::Effect(id)) => Meaning::Effect(id.clone()),
                Some(Meaning::Capability(id)) => Meaning::Capability(id.clone()),
                Some(Meaning::Flow(id)) => Meaning::Flow(id.clone()),
                Some(Meaning::Unread) => Meaning::Unread,
                Some(Meaning::Other(_)) | None => Meaning::Other(format!("`{}`", item.qualified())),
            },
            Resolved::Foreign { krate, path } => {
                let full = format!("{krate}::{path}");
                let library = self.libraries.iter().find(|l| l.exports.krate == krate);
                match library.map(|l| l.exports.names.get(&full)) {
                    Some(Some(Exported { kind, id })) => {
                        let bad = || {
                            (
                                codes::LIBRARY_UNREADABLE,
                                format!("`{full}` has the id {id:?} there"),
                            )
                        };
                        match kind.as_str() {
                            "effect" => Meaning::Effect(id.parse().map_err(|_| bad())?),
                            "capability" => Meaning::Capability(id.parse().map_err(|_| bad())?),
                            "flow" => Meaning::Flow(id.parse().map_err(|_| bad())?),
                            other => Meaning::Other(format!("the {other} `{full}`")),
                        }
                    }
                    Some(None) => {
                        return Err((
                            codes::UNRESOLVED,
                            format!(
                                "crate `{krate}` declares nothing that can be named `{full}` from here"
                            ),
                        ));
                    }
                    None => {
                        return Err((
                            codes::UNRESOLVED,
                            format!(
                                "`{shown}` is of crate `{krate}`, which has told nothing about itself: it needs a build.rs that calls \
                                 flowx_build::emit() and `links = \"flowx-{}\"` in its Cargo.toml",
                                krate.replace('_', "-")
                            ),
                        ));
                    }
                }
            }
            Resolved::Std(path) => Meaning::Other(format!("`{path}`")),
            Resolved::Module(path) => Meaning::Other(format!("the module `{path}`")),
            Resolved::Variant { variant, .. } => Meaning::Other(format!("the variant `{variant}`")),
            Resolved::Primitive(name) => Meaning::Other(format!("`{name}`")),
        })
    }

    /// A path to its item, through type aliases.
    fn follow(
        &self,
        tree: &'t Tree,
        module: ModuleId,
        path: &syn::Path,
        depth: usize,
    ) -> Result<Resolved<'t>, (codes::Code, String)> {
        let resolved = tree
            .resolver()
            .resolve(module, path, Ns::Type)
            .map_err(|error| {
                let code = match &error {
                    crate::scan::Unresolved::Ambiguous { .. } => codes::AMBIGUOUS,
                    crate::scan::Unresolved::Cfg { .. } => codes::CFG_UNKNOWN,
                    crate::scan::Unresolved::Cycle { .. } => codes::NAME_CYCLE,
                    _ => codes::UNRESOLVED,
                };
                (code, error.to_string())
            })?;
        if let Resolved::Item(item) = &resolved
            && let Item::Type(alias) = item.item
            && let syn::Type::Path(target) = &*alias.ty
            && target.qself.is_none()
        {
            if depth > 64 {
                let message = format!("the alias `{}` stands for itself", item.qualified());
                return Err((codes::NAME_CYCLE, message));
            }
            return self.follow(item.tree, item.module, &target.path, depth + 1);
        }
        Ok(resolved)
    }

    fn capability(
        &self,
        declared: &Declared<'t, CapabilityDecl>,
        index: &HashMap<*const Item, Meaning>,
        types: &mut dyn TypeRefs,
    ) -> m::Capability {
        let decl = &declared.decl;
        let mut effects = BTreeSet::new();
        for path in &decl.effects {
            let span = path_span(path);
            match self.meaning(&declared.on, path, index) {
                Ok(Meaning::Effect(id)) => {
                    effects.insert(id);
                }
                Ok(Meaning::Unread) => {}
                Ok(other) => {
                    let message = format!(
                        "{} is no effect: it carries no `#[effect]`",
                        other.describe()
                    );
                    self.findings
                        .push(declared.error(codes::WRONG_KIND, span, message));
                }
                Err((code, message)) => self.findings.push(declared.error(code, span, message)),
            }
        }
        let error = |code, span, message: String| declared.error(code, span, message);
        let (input, output, errors) =
            self.signature(&declared.on, &decl.signature, &error, false, types);
        m::Capability {
            id: decl.id.value.clone(),
            version: decl.version.value,
            description: text(&decl.doc),
            input,
            output,
            authorization: decl.authorization.value.clone(),
            effects,
            idempotent: decl.idempotent,
            errors,
            deprecated: decl.deprecated.clone(),
        }
    }

    fn signature(
        &self,
        on: &ItemRef<'t>,
        signature: &Signature,
        error: &dyn Fn(codes::Code, Span, String) -> Finding,
        contract: bool,
        types: &mut dyn TypeRefs,
    ) -> (TypeRef, TypeRef, Option<Vec<m::ErrorSpec>>) {
        let nothing = || TypeRef {
            name: "()".to_owned(),
            sensitive: BTreeSet::new(),
        };
        let here = Place {
            tree: on.tree,
            module: on.module,
        };
        let input = match &signature.input {
            None => nothing(),
            Some(ty) if contract => types.request(here, ty),
            Some(ty) => types.named(here, ty),
        };
        match result_of(here, &signature.returns) {
            Ok((output, failure)) => {
                let output = if contract {
                    types.response(output.0, &output.1)
                } else {
                    types.named(output.0, &output.1)
                };
                let errors = self.catalogue(failure.0, &failure.1, &mut Vec::new());
                (input, output, errors)
            }
            Err(message) => {
                self.findings.push(error(
                    codes::UNRESOLVED,
                    syn::spanned::Spanned::span(&signature.returns),
                    message,
                ));
                (input, nothing(), None)
            }
        }
    }

    /// The catalogue of a type of the package, when it is an error type that says it.
    pub(crate) fn errors_of(&self, item: ItemRef<'t>) -> Option<Vec<m::ErrorSpec>> {
        self.declared
            .iter()
            .flat_map(|d| &d.errors)
            .find(|d| d.on == item)?;
        self.catalogue_of(item, &mut Vec::new())
    }

    /// Every code that an error type can have. `None` when that cannot be established: another crate's type, or one that
    /// implements `FlowError` by hand.
    fn catalogue(
        &self,
        at: Place<'t>,
        ty: &syn::Type,
        stack: &mut Vec<*const Item>,
    ) -> Option<Vec<m::ErrorSpec>> {
        let syn::Type::Path(path) = crate::types::ungroup(ty) else {
            return None;
        };
        if path.qself.is_some() {
            return None;
        }
        let item = match self.follow(at.tree, at.module, &path.path, 0).ok()? {
            Resolved::Std(path) if path == "std::convert::Infallible" => return Some(Vec::new()),
            Resolved::Foreign { krate, path } => {
                let library = self.libraries.iter().find(|l| l.exports.krate == krate)?;
                let errors = library.exports.errors.get(&format!("{krate}::{path}"))?;
                let spec = |(code, category): (&String, &String)| {
                    Some(m::ErrorSpec {
                        code: code.parse().ok()?,
                        category: m::Category::parse(category)?,
                    })
                };
                return errors.iter().map(spec).collect();
            }
            Resolved::Item(item) => item,
            _ => return None,
        };
        self.catalogue_of(item, stack)
    }

    fn catalogue_of(
        &self,
        item: ItemRef<'t>,
        stack: &mut Vec<*const Item>,
    ) -> Option<Vec<m::ErrorSpec>> {
        let key = std::ptr::from_ref(item.item);
        if stack.contains(&key) {
            return Some(Vec::new());
        }
        let declared = self
            .declared
            .iter()
            .flat_map(|d| &d.errors)
            .find(|d| d.on == item)?;
        stack.push(key);
        let mut all = Vec::new();
        for variant in &declared.decl.variants {
            match &variant.kind {
                FlowErrorKind::Code { code, category } => {
                    all.push(m::ErrorSpec {
                        code: code.value.clone(),
                        category: *category,
                    });
                }
                FlowErrorKind::Transparent { ty: inner, .. } => {
                    let here = Place {
                        tree: item.tree,
                        module: item.module,
                    };
                    all.extend(self.catalogue(here, inner, stack)?);
                }
            }
        }
        stack.pop();
        all.sort();
        all.dedup();
        Some(all)
    }

    fn flow(
        &self,
        declared: &Declared<'t, FlowDecl>,
        index: &HashMap<*const Item, Meaning>,
        types: &mut dyn TypeRefs,
    ) -> m::Flow {
        let decl = &declared.decl;
        let mut steps = Vec::new();
        for step in &decl.steps {
            let span = path_span(&step.target);
            let calls = match (
                self.meaning(&declared.on, &step.target, index),
                step.is_flow,
            ) {
                (Ok(Meaning::Capability(id)), false) => Some(StepTarget::Capability(id)),
                (Ok(Meaning::Flow(id)), true) => Some(StepTarget::Flow(id)),
                (Ok(Meaning::Flow(id)), false) => {
                    let message = format!(
                        "`{id}` is a flow; to run it as a step write `{}: flow {}`",
                        step.name.value,
                        flowx_syntax::path_text(&step.target)
                    );
                    self.findings
                        .push(declared.error(codes::NOT_A_STEP, span, message));
                    None
                }
                (Ok(Meaning::Unread), _) => None,
                (Ok(other), is_flow) => {
                    let kind = if is_flow { "flow" } else { "capability" };
                    let message = format!(
                        "{} is no {kind}: it carries no `#[{kind}]`",
                        other.describe()
                    );
                    self.findings
                        .push(declared.error(codes::NOT_A_STEP, span, message));
                    None
                }
                (Err((code, message)), _) => {
                    self.findings.push(declared.error(code, span, message));
                    None
                }
            };
            let compensation = step.compensate.as_ref().and_then(|path| {
                match self.meaning(&declared.on, path, index) {
                    Ok(Meaning::Capability(id)) => Some(id),
                    Ok(Meaning::Unread) => None,
                    Ok(other) => {
                        let message = format!(
                            "{} is no capability: it carries no `#[capability]`",
                            other.describe()
                        );
                        self.findings.push(declared.error(
                            codes::NOT_A_STEP,
                            path_span(path),
                            message,
                        ));
                        None
                    }
                    Err((code, message)) => {
                        self.findings
                            .push(declared.error(code, path_span(path), message));
                        None
                    }
                }
            });
            if let Some(calls) = calls {
                steps.push(m::Step {
                    name: step.name.value.clone(),
                    calls,
                    timeout: step.timeout.as_ref().map(|t| t.value.clone()),
                    attempts: step.attempts.as_ref().map(|a| a.value),
                    backoff: step.backoff.as_ref().map(|b| b.value.clone()),
                    compensation,
                });
            }
        }
        let error = |code, span, message: String| declared.error(code, span, message);
        let (input, output, errors) =
            self.signature(&declared.on, &decl.signature, &error, true, types);
        let mut triggers = Vec::new();
        for http in &decl.http {
            triggers.push(Trigger::Http {
                method: http.method.value.clone(),
                route: http.route.value.clone(),
                idempotent: http.idempotent,
            });
        }
        if let Some(agent) = &decl.agent {
            let default = || decl.id.value.as_str().replace('.', "_");
            let name = match &agent.name {
                Some(name) => Ok(name.value.clone()),
                None => m::ToolName::new(default()),
            };
            match name {
                Ok(name) => triggers.push(Trigger::Agent {
                    name,
                    description: agent.description.as_ref().map(|d| d.value.clone()),
                    confirmation: agent.confirmation.value,
                    risk: agent.risk,
                }),
                Err(error) => self.findings.push(
                    declared
                        .error(
                            codes::TOOL_NAME,
                            agent.span,
                            format!("the id of this flow makes no tool name: {error}"),
                        )
                        .help("give the tool a name of its own: agent(name = \"…\")"),
                ),
            }
        }
        m::Flow {
            id: decl.id.value.clone(),
            version: decl.version.value,
            title: decl.title.as_ref().map(|t| t.value.clone()),
            description: text(&decl.doc),
            owner: decl.owner.as_ref().map(|o| o.value.clone()),
            deadline: decl.deadline.as_ref().map(|d| d.value.clone()),
            profile: m::Profile::Ephemeral,
            input,
            output,
            triggers,
            steps,
            effects: BTreeSet::new(),
            permissions: BTreeSet::new(),
            errors,
            approval: decl.approval.as_ref().map(|a| m::Approval {
                required: a.required,
                decided_by: a.decided_by.clone(),
                self_approval: a.self_approval,
                finish: a.finish,
                expires: a.expires.as_ref().map(|e| e.value.clone()),
                grant_expires: a.grant_expires.as_ref().map(|e| e.value.clone()),
                subject_version: a.subject_version,
            }),
            deprecated: decl.deprecated.clone(),
            renamed_from: decl.renamed_from.as_ref().map(|r| r.value.clone()),
        }
    }

    /// Fills in what each flow can reach: through its steps, their compensations and its sub-flows.
    fn reach(&self, manifest: &Manifest, flows: &mut [(&Declared<'t, FlowDecl>, m::Flow)]) {
        let mut capabilities: HashMap<VersionedId, (BTreeSet<EffectId>, Option<PermissionName>)> =
            HashMap::new();
        let theirs = self.libraries.iter().flat_map(|l| &l.manifest.capabilities);
        for c in manifest.capabilities.iter().chain(theirs) {
            let permission = match &c.authorization {
                m::Authorization::Permission { permission } => Some(permission.clone()),
                _ => None,
            };
            capabilities.insert(c.reference(), (c.effects.clone(), permission));
        }
        let mut known: HashMap<VersionedId, (BTreeSet<EffectId>, BTreeSet<PermissionName>)> =
            HashMap::new();
        for f in self.libraries.iter().flat_map(|l| &l.manifest.flows) {
            known.insert(f.reference(), (f.effects.clone(), f.permissions.clone()));
        }
        let mut own: HashMap<VersionedId, usize> = HashMap::new();
        for (i, (_, flow)) in flows.iter().enumerate() {
            own.entry(flow.reference()).or_insert(i);
        }
        for start in 0..flows.len() {
            let mut effects = BTreeSet::new();
            let mut permissions = BTreeSet::new();
            let mut seen = BTreeSet::new();
            let mut todo = vec![start];
            while let Some(at) = todo.pop() {
                if !seen.insert(at) {
                    continue;
                }
                for step in &flows[at].1.steps {
                    let called = match &step.calls {
                        StepTarget::Capability(id) => Some(id),
                        StepTarget::Flow(id) => {
                            if let Some(inner) = own.get(id) {
                                if *inner == start {
                                    let declared = flows[start].0;
                                    let message = format!(
                                        "flow `{id}` calls itself, through its step `{}`",
                                        step.name
                                    );
                                    self.findings.push(declared.error(
                                        codes::FLOW_CYCLE,
                                        declared.decl.id.span,
                                        message,
                                    ));
                                }
                                todo.push(*inner);
                            } else if let Some((e, p)) = known.get(id) {
                                effects.extend(e.iter().cloned());
                                permissions.extend(p.iter().cloned());
                            }
                            None
                        }
                    };
                    for id in called.into_iter().chain(&step.compensation) {
                        if let Some((e, p)) = capabilities.get(id) {
                            effects.extend(e.iter().cloned());
                            permissions.extend(p.clone());
                        }
                    }
                }
            }
            flows[start].1.effects = effects;
            flows[start].1.permissions = permissions;
        }
    }

    fn agent(
        &self,
        declared: &Declared<'t, flowx_syntax::AgentDecl>,
        index: &HashMap<*const Item, Meaning>,
    ) -> m::Agent {
        let decl = &declared.decl;
        let flow = |path: &syn::Path| match self.meaning(&declared.on, path, index) {
            Ok(Meaning::Flow(id)) => id.id.parse::<m::FlowId>().ok(),
            Ok(Meaning::Unread) => None,
            Ok(other) => {
                let message = format!("{} is no flow: it carries no `#[flow]`", other.describe());
                self.findings
                    .push(declared.error(codes::WRONG_KIND, path_span(path), message));
                None
            }
            Err((code, message)) => {
                self.findings
                    .push(declared.error(code, path_span(path), message));
                None
            }
        };
        let leaves = |list: &[(flowx_syntax::Spanned<m::Leave>, syn::Path)]| {
            let mut tools: BTreeMap<m::FlowId, m::Leave> = BTreeMap::new();
            for (leave, path) in list {
                if let Some(id) = flow(path) {
                    // In two lists the stricter holds.
                    let held = tools.entry(id).or_insert(leave.value);
                    *held = (*held).max(leave.value);
                }
            }
            tools
        };
        m::Agent {
            id: decl.id.value.clone(),
            purpose: decl.purpose.value.clone(),
            sponsor: decl.sponsor.value.clone(),
            changes: decl.changes,
            sends: decl.sends,
            spends: decl.spends,
            reaches_out: decl.reaches_out,
            tools: leaves(&decl.tools),
            skills: decl
                .skills
                .iter()
                .map(|skill| m::Skill {
                    name: skill.name.value.clone(),
                    purpose: skill.purpose.value.clone(),
                    uses: skill.uses.iter().filter_map(&flow).collect(),
                    tools: leaves(&skill.tools),
                })
                .collect(),
            widened_by: decl.widened_by.as_ref().map(|w| w.value.clone()),
        }
    }
}

/// A manifest that publishes nothing.
pub(crate) fn empty(application: m::Application) -> Manifest {
    Manifest {
        schema: m::SCHEMA_ID.to_owned(),
        schema_version: m::SCHEMA_VERSION.to_owned(),
        application,
        effects: Vec::new(),
        capabilities: Vec::new(),
        flows: Vec::new(),
        events: Vec::new(),
        agents: Vec::new(),
        entities: Vec::new(),
        contracts: Vec::new(),
        tools: Vec::new(),
    }
}

impl Meaning {
    fn describe(&self) -> String {
        match self {
            Meaning::Effect(id) => format!("the effect `{id}`"),
            Meaning::Capability(id) => format!("the capability `{id}`"),
            Meaning::Flow(id) => format!("the flow `{id}`"),
            Meaning::Other(what) => what.clone(),
            Meaning::Unread => "what could not be read".to_owned(),
        }
    }
}

fn entry<'a>(
    kind: &'static str,
    id: String,
    digest: u64,
    effects: impl IntoIterator<Item = &'a EffectId>,
) -> Entry {
    Entry {
        kind,
        id,
        digest,
        effects: effects.into_iter().map(ToString::to_string).collect(),
    }
}

fn reference(decl: &CapabilityDecl) -> VersionedId {
    VersionedId::new(decl.id.value.as_str(), decl.version.value)
}

fn path_span(path: &syn::Path) -> Span {
    path.segments
        .first()
        .map_or_else(Span::call_site, |s| s.ident.span())
}

fn text(doc: &Option<Doc>) -> Option<String> {
    match doc {
        Some(Doc::Text(text)) => Some(text.clone()),
        // Already reported; nothing is published in its stead.
        Some(Doc::Parts(_)) | None => None,
    }
}
