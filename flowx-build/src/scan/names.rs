//! The names that a module defines or brings in, before they are followed.

use std::collections::HashMap;

use syn::ext::IdentExt;
use syn::{Item, UseTree, Visibility};

use crate::cfg::Cfg3;
use crate::scan::tree::{ModuleId, Tree};

/// What a name is, where it is written.
#[derive(Clone, Debug)]
pub(crate) enum Def {
    /// An item of the module, by its place.
    Item(usize),
    /// A module inside of this one.
    Module(ModuleId),
    /// `use path as name`.
    Import(Import),
    /// `extern crate name`.
    Crate(String),
}

/// A path that `use` brings in.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// The segments.
    pub(crate) path: Vec<String>,
    /// Whether `::` stands in front.
    pub(crate) rooted: bool,
    /// Whether it is there.
    pub(crate) cfg: Cfg3,
    /// Whether it is visible from outside of the module.
    pub(crate) public: bool,
}

/// The names of one module.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By name; several where namespaces or `cfg`s differ.
    pub(crate) defs: HashMap<String, Vec<Def>>,
    /// `use path::*`.
    pub(crate) globs: Vec<Import>,
    /// Crates of `#[macro_use] extern crate`.
    pub(crate) macro_crates: Vec<String>,
    /// Names of item macro calls, any of which may define something.
    pub(crate) macro_calls: Vec<String>,
}

pub(crate) fn plain(ident: &syn::Ident) -> String {
    ident.unraw().to_string()
}

/// The name under which an item can be found, where it has one.
pub(crate) fn item_ident(item: &Item) -> Option<&syn::Ident> {
    Some(match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::TraitAlias(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        Item::Macro(i) => i.ident.as_ref()?,
        _ => return None,
    })
}

/// The attributes of an item.
pub(crate) fn item_attrs(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ExternCrate(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::TraitAlias(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

impl Names {
    pub(crate) fn of(tree: &Tree, module: ModuleId) -> Names {
        let mut names = Names::default();
        for child in &tree.module(module).children {
            let name = tree.module(*child).name.clone();
            names
                .defs
                .entry(name)
                .or_default()
                .push(Def::Module(*child));
        }
        for (place, item) in tree.items(module).iter().enumerate() {
            // A malformed cfg is reported where the tree is walked.
            let Ok(cfg) = tree.cfg(item_attrs(item)) else {
                continue;
            };
            if cfg.is_false() {
                continue;
            }
            match item {
                Item::Use(item) => {
                    let rooted = item.leading_colon.is_some();
                    let public = matches!(item.vis, Visibility::Public(_));
                    names.walk(&item.tree, &mut Vec::new(), rooted, public, &cfg);
                }
                Item::ExternCrate(item) => {
                    let krate = plain(&item.ident);
                    let name = item
                        .rename
                        .as_ref()
                        .map_or_else(|| krate.clone(), |(_, name)| plain(name));
                    if item.attrs.iter().any(|a| a.path().is_ident("macro_use")) {
                        names.macro_crates.push(krate.clone());
                    }
                    names.defs.entry(name).or_default().push(Def::Crate(krate));
                }
                Item::Macro(item) if item.ident.is_none() => {
                    let path = item
                        .mac
                        .path
                        .segments
                        .iter()
                        .map(|s| plain(&s.ident))
                        .collect::<Vec<_>>();
                    // Ours brings nothing that a declaration could name.
                    if path.last().is_none_or(|name| name != "include_manifest") {
                        names.macro_calls.push(path.join("::"));
                    }
                }
                item => {
                    if let Some(ident) = item_ident(item) {
                        names
                            .defs
                            .entry(plain(ident))
                            .or_default()
                            .push(Def::Item(place));
                    }
                }
            }
        }
        names
    }

    fn walk(
        &mut self,
        tree: &UseTree,
        prefix: &mut Vec<String>,
        rooted: bool,
        public: bool,
        cfg: &Cfg3,
    ) {
        let import = |path: Vec<String>| Import {
            path,
            rooted,
            cfg: cfg.clone(),
            public,
        };
        match tree {
            UseTree::Path(p) => {
                prefix.push(plain(&p.ident));
                self.walk(&p.tree, prefix, rooted, public, cfg);
                prefix.pop();
            }
            UseTree::Name(n) => {
                let mut path = prefix.clone();
                // `use a::{self}` brings in `a`.
                if n.ident != "self" || path.is_empty() {
                    path.push(plain(&n.ident));
                }
                if let Some(name) = path.last().cloned() {
                    self.defs
                        .entry(name)
                        .or_default()
                        .push(Def::Import(import(path)));
                }
            }
            UseTree::Rename(r) => {
                let mut path = prefix.clone();
                if r.ident != "self" || path.is_empty() {
                    path.push(plain(&r.ident));
                }
                if r.rename != "_" {
                    self.defs
                        .entry(plain(&r.rename))
                        .or_default()
                        .push(Def::Import(import(path)));
                }
            }
            UseTree::Glob(_) => self.globs.push(import(prefix.clone())),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.walk(tree, prefix, rooted, public, cfg);
                }
            }
        }
    }
}
