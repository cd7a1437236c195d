//! Between the scan's names and the contracts: which module a type is written in, and what its path means there.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use flowx_manifest::{Application, Contract, Direction, TypeRef, references};
use syn::Item;

use crate::assemble::{Assembled, Assembler, TypeRefs};
use crate::cfg::Cfg3;
use crate::codes::Code;
use crate::contracts::{
    self, Attributes, Contracts, ModuleKey, Present, Registered, TypeItem, Types,
};
use crate::contracts_file::ContractsFile;
use crate::files::Files;
use crate::finding::{Anchor, Finding, Findings, Severity};
use crate::library::Library;
use crate::scan::{ItemRef, ModuleId, Ns, Resolved, Tree, Unresolved, item_attrs};
use crate::types::Place;

/// The trees whose types the contracts of one target can reach, and the libraries beyond.
pub(crate) struct Bridge<'t> {
    /// The target's own, then its library's.
    trees: Vec<&'t Tree>,
    files: &'t dyn Files,
    libraries: &'t [Library],
    known: &'t ContractsFile,
    items: RefCell<HashMap<*const Item, TypeItem>>,
    impls: OnceCell<BTreeSet<(String, String)>>,
}

/// The bits of a [`ModuleKey`] that number the module; those above number the tree.
const MODULE_BITS: u32 = 24;

impl<'t> Bridge<'t> {
    pub(crate) fn new(
        own: &'t Tree,
        library: Option<&'t Tree>,
        files: &'t dyn Files,
        libraries: &'t [Library],
        known: &'t ContractsFile,
    ) -> Self {
        let trees = [own].into_iter().chain(library).collect();
        Self {
            trees,
            files,
            libraries,
            known,
            items: RefCell::default(),
            impls: OnceCell::new(),
        }
    }

    /// The manifest without contracts and tools, and the contracts.
    pub(crate) fn assemble(
        &self,
        assembler: &Assembler<'_, 't>,
        application: Application,
        findings: &Findings,
    ) -> (Assembled, Vec<Contract>) {
        let contracts = Contracts::new(self);
        let mut given = Given {
            bridge: self,
            contracts: &contracts,
            current: None,
            about: Vec::new(),
        };
        let assembled = assembler.assemble(application, &mut given);
        let about = given.about;
        let (mut all, found) = contracts.finish();
        for (i, finding) in found.into_iter().enumerate() {
            let anchor = about
                .iter()
                .find(|(from, to, _)| (*from..*to).contains(&i))
                .map(|(_, _, anchor)| anchor.clone());
            findings.push(self.finding(&finding, anchor));
        }
        self.complete(&mut all);
        (assembled, all)
    }

    /// The contracts of every public type of a library that serde derives for, in each direction that is exact.
    pub(crate) fn public_contracts(&self, types: &[ItemRef<'t>]) -> Vec<Contract> {
        let mut all: BTreeMap<String, Contract> = BTreeMap::new();
        for item in types {
            let (Item::Struct(syn::ItemStruct {
                ident, generics, ..
            })
            | Item::Enum(syn::ItemEnum {
                ident, generics, ..
            })) = item.item
            else {
                continue;
            };
            if !generics.params.is_empty() {
                continue;
            }
            let path: syn::Type = syn::parse_quote!(self::#ident);
            for direction in [Direction::Request, Direction::Response] {
                let contracts = Contracts::new(self);
                contracts.contract(self.key(item.tree, item.module), &path, direction);
                let (found, findings) = contracts.finish();
                if findings.iter().any(|f| severity(f.code) == Severity::Error) {
                    continue;
                }
                for contract in found {
                    let (request, response) = (
                        contract.request.or(contract.schema.clone()),
                        contract.response.or(contract.schema),
                    );
                    let held = all.entry(contract.id.clone()).or_insert_with(|| Contract {
                        id: contract.id,
                        schema: None,
                        request: None,
                        response: None,
                        renamed_from: None,
                    });
                    match direction {
                        Direction::Request => held.request = held.request.take().or(request),
                        Direction::Response => held.response = held.response.take().or(response),
                    }
                }
            }
        }
        all.into_values().collect()
    }

    /// Adds the contracts of libraries that those here refer to.
    fn complete(&self, all: &mut Vec<Contract>) {
        let mut have: BTreeSet<String> = all.iter().map(|c| c.id.clone()).collect();
        let mut todo = BTreeSet::new();
        let refer = |c: &Contract, out: &mut BTreeSet<String>| {
            [&c.schema, &c.request, &c.response]
                .into_iter()
                .flatten()
                .for_each(|s| references(s, out));
        };
        all.iter().for_each(|c| refer(c, &mut todo));
        while let Some(next) = todo.pop_first() {
            if have.contains(&next) {
                continue;
            }
            if let Some(contract) = self
                .libraries
                .iter()
                .flat_map(|l| &l.contracts)
                .find(|c| c.id == next)
            {
                refer(contract, &mut todo);
                all.push(contract.clone());
            }
            have.insert(next);
        }
    }

    pub(crate) fn key(&self, tree: &Tree, module: ModuleId) -> ModuleKey {
        let place = self
            .trees
            .iter()
            .position(|t| std::ptr::eq(*t, tree))
            .unwrap_or(0) as u32;
        ModuleKey(place << MODULE_BITS | module.0)
    }

    fn place(&self, key: ModuleKey) -> (&'t Tree, ModuleId) {
        (
            self.trees[(key.0 >> MODULE_BITS) as usize],
            ModuleId(key.0 & ((1 << MODULE_BITS) - 1)),
        )
    }

    fn finding(&self, found: &contracts::Finding, anchor: Option<Anchor>) -> Finding {
        let (tree, module) = self.place(found.module);
        let code = Code {
            id: found.code.id(),
            severity: severity(found.code),
            title: "",
            help: "",
        };
        let subject = anchor.as_ref().map(|a| format!("{} {}", a.kind, a.id));
        let mut finding = tree
            .finding(code, module, found.span, found.message.clone())
            .anchor(anchor);
        finding.help = (!found.help.is_empty()).then(|| found.help.clone());
        finding.subject = subject;
        finding
    }

    fn type_item(&self, item: &'t Item) -> TypeItem {
        let make = || match item {
            Item::Struct(s) => TypeItem::Struct(Rc::new(s.clone())),
            Item::Enum(e) => TypeItem::Enum(Rc::new(e.clone())),
            Item::Type(t) => TypeItem::Alias(Rc::new(t.clone())),
            Item::Union(_) => TypeItem::Other("a union"),
            Item::Trait(_) | Item::TraitAlias(_) => TypeItem::Other("a trait"),
            Item::Fn(_) => TypeItem::Other("a function"),
            _ => TypeItem::Other("no type"),
        };
        self.items
            .borrow_mut()
            .entry(std::ptr::from_ref(item))
            .or_insert_with(make)
            .clone()
    }

    /// Every `impl Trait for Type` of serde's and schemars' traits that is written by hand.
    fn impls(&self) -> BTreeSet<(String, String)> {
        const TRAITS: &[&str] = &["Serialize", "Deserialize", "JsonSchema"];
        let mut all = BTreeSet::new();
        for tree in &self.trees {
            for module in tree.modules() {
                let source = tree.source(module);
                if !source.impls {
                    continue;
                }
                let text = &source.text;
                if !TRAITS.iter().any(|t| {
                    text.contains(&format!("{t} for")) || text.contains(&format!("{t}<'de> for"))
                }) {
                    continue;
                }
                for item in tree.items(module) {
                    let Item::Impl(item) = item else { continue };
                    let (Some((path, ..)), syn::Type::Path(of)) = (&item.trait_, &*item.self_ty)
                    else {
                        continue;
                    };
                    let Some(name) = path.segments.last().map(|s| s.ident.to_string()) else {
                        continue;
                    };
                    if TRAITS.contains(&name.as_str())
                        && let Ok(Resolved::Item(of)) =
                            tree.resolver().resolve(module, &of.path, Ns::Type)
                    {
                        all.insert((of.qualified(), name));
                    }
                }
            }
        }
        all
    }
}

fn severity(code: contracts::Code) -> Severity {
    match code {
        contracts::Code::Doc => Severity::Warning,
        _ => Severity::Error,
    }
}

impl Types for Bridge<'_> {
    fn resolve(
        &self,
        module: ModuleKey,
        path: &syn::Path,
    ) -> Result<contracts::Resolved, contracts::Unresolved> {
        let (tree, module) = self.place(module);
        let split = |path: &str| path.split("::").map(str::to_owned).collect();
        match tree.resolver().resolve(module, path, Ns::Type) {
            Ok(Resolved::Item(item)) => Ok(contracts::Resolved::Item(contracts::Item {
                module: self.key(item.tree, item.module),
                name: item.qualified(),
                item: self.type_item(item.item),
            })),
            Ok(Resolved::Variant { .. } | Resolved::Module(_)) => {
                Err(contracts::Unresolved::NotFound)
            }
            Ok(Resolved::Std(path)) => Ok(contracts::Resolved::External(split(&path))),
            Ok(Resolved::Primitive(name)) => Ok(contracts::Resolved::External(vec![
                "std".to_owned(),
                name.to_owned(),
            ])),
            Ok(Resolved::Foreign { krate, path }) => {
                let full = format!("{krate}::{path}");
                let library = self.libraries.iter().find(|l| l.exports.krate == krate);
                let one = library
                    .and_then(|l| l.exports.types.get(&full))
                    .cloned()
                    .unwrap_or(full);
                Ok(contracts::Resolved::External(split(&one)))
            }
            Err(Unresolved::NotFound { macros, globs, .. }) => {
                Err(match (&macros[..], &globs[..]) {
                    ([], []) => contracts::Unresolved::NotFound,
                    ([], globs) => contracts::Unresolved::Macro(format!("`use {}::*`", globs[0])),
                    (macros, _) => contracts::Unresolved::Macro(format!("`{}!`", macros[0])),
                })
            }
            Err(Unresolved::NoMember { .. }) => Err(contracts::Unresolved::NotFound),
            Err(Unresolved::Ambiguous { candidates, .. }) => {
                Err(contracts::Unresolved::Ambiguous(candidates))
            }
            Err(Unresolved::Cfg { why, .. }) => Err(contracts::Unresolved::Cfg(why)),
            Err(Unresolved::Cycle { through, .. }) => Err(contracts::Unresolved::Cycle(through)),
        }
    }

    fn attributes(&self, module: ModuleKey, attrs: &[syn::Attribute]) -> Attributes {
        let (tree, _) = self.place(module);
        match tree.active(attrs) {
            Ok(active) => {
                // An attribute that may or may not be there shapes the type as much as a cfg on it would.
                let present = match (active.cfg, active.unknown.first()) {
                    (Cfg3::False, _) => Present::No,
                    (Cfg3::Unknown(why), _) => Present::Unknown(why),
                    (Cfg3::True, Some((_, why))) => Present::Unknown(why.clone()),
                    (Cfg3::True, None) => Present::Yes,
                };
                Attributes {
                    attrs: active.attrs,
                    present,
                }
            }
            Err(error) => Attributes {
                attrs: Vec::new(),
                present: Present::Unknown(error.to_string()),
            },
        }
    }

    fn file(&self, module: ModuleKey) -> String {
        let (tree, module) = self.place(module);
        tree.source(module).shown.clone()
    }

    fn include_str(&self, module: ModuleKey, path: &str) -> Option<String> {
        let (tree, module) = self.place(module);
        tree.include_str(self.files, module, path).ok()
    }

    fn constant(&self, module: ModuleKey, path: &syn::Path) -> Option<u64> {
        let (tree, module) = self.place(module);
        let Ok(Resolved::Item(item)) = tree.resolver().resolve(module, path, Ns::Value) else {
            return None;
        };
        let Item::Const(constant) = item.item else {
            return None;
        };
        if !tree.cfg(item_attrs(item.item)).is_ok_and(|c| c.is_true()) {
            return None;
        }
        match &*constant.expr {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Int(i),
                ..
            }) => i.base10_parse().ok(),
            _ => None,
        }
    }

    fn has_impl(&self, qualified: &str, of: &str) -> bool {
        self.impls
            .get_or_init(|| self.impls())
            .contains(&(qualified.to_owned(), of.to_owned()))
    }

    fn registered(&self, path: &str) -> Option<Registered> {
        if let Some((name, known)) = self.known.find(path) {
            return Some(Registered {
                name: name.to_owned(),
                request: known.request.clone(),
                response: known.response.clone(),
            });
        }
        let contract = self
            .libraries
            .iter()
            .flat_map(|l| &l.contracts)
            .find(|c| c.id == path)?;
        Some(Registered {
            name: contract.id.clone(),
            request: contract.in_direction(Direction::Request)?.clone(),
            response: contract.in_direction(Direction::Response)?.clone(),
        })
    }

    fn pointer_width(&self) -> u32 {
        let is = |width: &u32| {
            self.trees[0]
                .cfg
                .has("target_pointer_width", &width.to_string())
        };
        [16, 32, 64].into_iter().find(is).unwrap_or(64)
    }
}

/// Asks for contracts on behalf of the declarations, and remembers for which one a finding came up.
struct Given<'a, 't> {
    bridge: &'a Bridge<'t>,
    contracts: &'a Contracts<'a>,
    current: Option<Anchor>,
    about: Vec<(usize, usize, Anchor)>,
}

impl Given<'_, '_> {
    fn ask(&mut self, f: impl FnOnce(&Contracts<'_>) -> TypeRef) -> TypeRef {
        let before = self.contracts.findings_so_far();
        let answer = f(self.contracts);
        let after = self.contracts.findings_so_far();
        if let (true, Some(anchor)) = (after > before, &self.current) {
            self.about.push((before, after, anchor.clone()));
        }
        answer
    }
}

impl TypeRefs for Given<'_, '_> {
    fn on_behalf_of(&mut self, anchor: Anchor) {
        self.current = Some(anchor);
    }

    fn request(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef {
        let key = self.bridge.key(at.tree, at.module);
        self.ask(|c| c.contract(key, ty, Direction::Request))
    }

    fn response(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef {
        let key = self.bridge.key(at.tree, at.module);
        self.ask(|c| c.contract(key, ty, Direction::Response))
    }

    fn named(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef {
        let key = self.bridge.key(at.tree, at.module);
        self.ask(|c| c.type_ref(key, ty))
    }
}
