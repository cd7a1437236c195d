//! Every type of a crate that serde derives for, and whether it could be a contract: for trying the scan on real crates.

use std::collections::BTreeMap;

use flowx_manifest::{Contract, Direction};
use syn::Item;
use syn::ext::IdentExt as _;

use crate::bridge::Bridge;
use crate::contracts::{Contracts, Finding, Types as _};
use crate::files::Files;
use crate::scan::{Ns, Resolved, Tree};

/// One type in one direction.
#[derive(Debug)]
pub struct Surveyed {
    /// `crate::models::Issue`.
    pub name: String,
    /// A path by which other crates can name it, `crate::…`, where there is one.
    pub public: Option<String>,
    /// Read or written.
    pub direction: Direction,
    /// Its contract and those it refers to.
    pub contracts: Vec<Contract>,
    /// What keeps it from being exact; empty when it is.
    pub findings: Vec<Finding>,
}

/// Asks for the contract of every type without parameters that is `Deserialize` or `Serialize`, derived or by hand.
pub fn survey(tree: &Tree, files: &dyn Files) -> Vec<Surveyed> {
    let known = crate::contracts_file::ContractsFile::empty();
    let bridge = Bridge::new(tree, None, files, &[], &known);
    let mut out = Vec::new();
    let mut public: BTreeMap<String, String> = BTreeMap::new();
    for module in tree.modules().filter(|m| tree.is_public(*m)) {
        for (name, resolved) in tree.resolver().public_names(module) {
            let Resolved::Item(item) = resolved else {
                continue;
            };
            let path = format!("{}::{name}", tree.module(module).path);
            public.entry(item.qualified()).or_insert(path);
        }
    }
    // `mod generated; pub use generated::*;` makes the public modules of a private one modules of the crate.
    let shown = |module, ident: &str| -> Option<String> {
        let mut names = vec![ident.to_owned()];
        let mut at = Some(module);
        while let Some(id) = at {
            let one = tree.module(id);
            if one.public && one.parent.is_some() {
                names.insert(0, one.name.clone());
            }
            at = one.parent;
        }
        let root = tree.modules().next()?;
        names.insert(0, "self".to_owned());
        let found = tree.resolver().path(root, &names, false, Ns::Type).ok()?;
        let own = format!("{}::{ident}", tree.module(module).path);
        matches!(found, Resolved::Item(item) if item.qualified() == own)
            .then(|| format!("crate::{}", names[1..].join("::")))
    };
    for module in tree.modules() {
        let mut seen = BTreeMap::new();
        for item in tree.items(module) {
            let (ident, generics, attrs, vis) = match item {
                Item::Struct(s) => (&s.ident, &s.generics, &s.attrs, &s.vis),
                Item::Enum(e) => (&e.ident, &e.generics, &e.attrs, &e.vis),
                _ => continue,
            };
            let exported = matches!(vis, syn::Visibility::Public(_));
            let Ok(active) = tree.active(attrs) else {
                continue;
            };
            if !active.cfg.is_true() || !generics.params.is_empty() {
                continue;
            }
            let derives = |what: &str| {
                active
                    .attrs
                    .iter()
                    .filter(|a| a.path().is_ident("derive"))
                    .any(|a| {
                        quote::ToTokens::to_token_stream(a)
                            .to_string()
                            .split(|c: char| !c.is_alphanumeric())
                            .any(|w| w == what)
                    })
            };
            let path: syn::Type = syn::parse_quote!(self::#ident);
            for (direction, derive) in [
                (Direction::Request, "Deserialize"),
                (Direction::Response, "Serialize"),
            ] {
                let by_hand = || {
                    bridge.has_impl(
                        &format!("{}::{}", tree.module(module).path, ident.unraw()),
                        derive,
                    )
                };
                if !derives(derive) && !by_hand()
                    || seen.insert((ident.to_string(), direction), ()).is_some()
                {
                    continue;
                }
                let contracts = Contracts::new(&bridge);
                let name = contracts
                    .contract(bridge.key(tree, module), &path, direction)
                    .name;
                let (contracts, findings) = contracts.finish();
                let item = format!("{}::{}", tree.module(module).path, ident.unraw());
                out.push(Surveyed {
                    name,
                    public: public.get(&item).cloned().or_else(|| {
                        let name = ident.unraw().to_string();
                        exported.then(|| shown(module, &name)).flatten()
                    }),
                    direction,
                    contracts,
                    findings,
                });
            }
        }
    }
    out
}
