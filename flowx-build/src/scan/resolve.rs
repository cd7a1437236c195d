//! From a path, where it is written, to what it means: `use`, renames, globs, re-exports, other crates, the prelude.

use std::cell::RefCell;

use proc_macro2::Span;
use syn::{Item, ItemType, Variant};

use crate::flowx_names;
use crate::scan::names::{Def, Import, Names, item_ident, plain};
use crate::scan::std_names;
use crate::scan::tree::{ModuleId, Tree};

/// Which of Rust's namespaces a path is looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ns {
    /// Types, traits and modules; also functions that carry a FlowX attribute, since the attribute makes a type of them.
    Type,
    /// Functions, constants and statics.
    Value,
    /// Macros, attributes and derives.
    Macro,
}

/// One item of a tree.
#[derive(Clone, Copy)]
pub struct ItemRef<'t> {
    /// The tree it stands in: of the library, where a binary names an item of its library.
    pub tree: &'t Tree,
    /// The module it stands in.
    pub module: ModuleId,
    /// The item.
    pub item: &'t Item,
}

impl ItemRef<'_> {
    /// Its qualified name: `crate::module::Type`.
    pub fn qualified(&self) -> String {
        let name = item_ident(self.item).map(plain).unwrap_or_default();
        format!("{}::{name}", self.tree.module(self.module).path)
    }
}

impl PartialEq for ItemRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.item, other.item)
    }
}

impl std::fmt::Debug for ItemRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.qualified())
    }
}

/// What a path means.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved<'t> {
    /// An item of this package. A type alias is an item like others: its generics are for the caller to fill in.
    Item(ItemRef<'t>),
    /// A variant of an enum of this package.
    Variant {
        /// The enum.
        of: ItemRef<'t>,
        /// The variant's name.
        variant: String,
    },
    /// A module of this package.
    Module(&'t str),
    /// Something of `std`, `core` or `alloc`, under its one path: `std::collections::HashMap`.
    Std(String),
    /// Something of another crate, by the crate's own name and the path as written.
    Foreign {
        /// The crate's own name (`serde_json`), whatever it is renamed to here.
        krate: String,
        /// The path in it, joined by `::`; empty for the crate itself.
        path: String,
    },
    /// A primitive type.
    Primitive(&'static str),
}

/// Why a path leads nowhere that the scan can see.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unresolved {
    /// There is no such name.
    #[error("there is no `{name}` in `{module}`{}", hint(.macros, .globs))]
    NotFound {
        /// The name.
        name: String,
        /// The module that was looked into.
        module: String,
        /// Item macros of that module, which may define it.
        macros: Vec<String>,
        /// Globs of other crates, which may bring it in.
        globs: Vec<String>,
        /// A name that is there and nearly the same.
        similar: Option<String>,
    },
    /// It has several meanings.
    #[error("`{name}` is ambiguous: {}", .candidates.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// What it may mean.
        candidates: Vec<String>,
    },
    /// It hangs on a cfg that nobody has told.
    #[error("what `{name}` means hangs on cfg({why})")]
    Cfg {
        /// The name.
        name: String,
        /// The cfg.
        why: String,
    },
    /// Names stand for each other in a circle.
    #[error("`{name}` stands for itself, by way of {}", .through.join(" and "))]
    Cycle {
        /// The name.
        name: String,
        /// `file:line` of each link.
        through: Vec<String>,
    },
    /// Something that has no such part.
    #[error("`{of}` has no `{name}`")]
    NoMember {
        /// What was looked into.
        of: String,
        /// The name.
        name: String,
    },
}

fn hint(macros: &[String], globs: &[String]) -> String {
    match (macros, globs) {
        ([], []) => String::new(),
        ([], globs) => format!(
            ", unless `use {}::*` brings it in, which the scan cannot see",
            globs.join("::*` or `use ")
        ),
        (macros, _) => format!(
            ", unless `{}!` defines it, which the scan cannot see",
            macros.join("!` or `")
        ),
    }
}

/// What is being looked up: a name of a kind in a module, for whoever wrote it there.
type Sought = (ModuleId, String, Ns, Option<Span>);

/// Follows paths in one tree.
pub struct Resolver<'t> {
    tree: &'t Tree,
    /// What is being looked up, to notice circles.
    busy: RefCell<Vec<Sought>>,
}

type Answer<'t> = Result<Resolved<'t>, Unresolved>;

impl<'t> Resolver<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Self {
        Self {
            tree,
            busy: RefCell::default(),
        }
    }

    /// What a path means in a module.
    ///
    /// # Errors
    /// When it leads nowhere, to several things, round in a circle, or hangs on an unknown cfg.
    pub fn resolve(&self, module: ModuleId, path: &syn::Path, ns: Ns) -> Answer<'t> {
        let segments: Vec<String> = path.segments.iter().map(|s| plain(&s.ident)).collect();
        self.path(module, &segments, path.leading_colon.is_some(), ns)
    }

    /// The FlowX attribute or derive that a path names in a module, by FlowX's own name for it. `None` when it is somebody else's.
    pub fn flowx(&self, module: ModuleId, path: &syn::Path) -> Option<&'static str> {
        let last = plain(&path.segments.last()?.ident);
        match self.resolve(module, path, Ns::Macro) {
            Ok(Resolved::Foreign { krate, path }) => flowx_names::macro_of(&krate, &path),
            Ok(_) => None,
            // `#[macro_use] extern crate` puts the macros of a crate everywhere.
            Err(_) if path.segments.len() == 1 => {
                let root = self.names(self.tree.root()?);
                root.macro_crates.iter().find_map(|krate| {
                    let krate = self.tree.externs.crate_of(krate)?;
                    flowx_names::macro_of(&krate, &last)
                })
            }
            Err(_) => None,
        }
    }

    /// Every name that a module offers to other crates and what it means: its own public items, and what it re-exports.
    pub(crate) fn public_names(&self, module: ModuleId) -> Vec<(String, Resolved<'t>)> {
        let mut names = Vec::new();
        self.gather_public(module, &mut names, &mut Vec::new());
        names.sort();
        names.dedup();
        let meaning = |name: String| {
            let resolved = self
                .path(module, &["self".to_owned(), name.clone()], false, Ns::Type)
                .ok()?;
            Some((name, resolved))
        };
        names.into_iter().filter_map(meaning).collect()
    }

    fn gather_public(&self, module: ModuleId, out: &mut Vec<String>, seen: &mut Vec<ModuleId>) {
        if seen.contains(&module) {
            return;
        }
        seen.push(module);
        let names = self.names(module);
        for (name, defs) in &names.defs {
            let public = |def: &Def| match def {
                Def::Item(place) => item_visibility(&self.tree.items(module)[*place])
                    .is_some_and(|v| matches!(v, syn::Visibility::Public(_))),
                Def::Import(import) => import.public,
                Def::Module(_) | Def::Crate(_) => false,
            };
            if defs.iter().any(public) {
                out.push(name.clone());
            }
        }
        for glob in names.globs.iter().filter(|g| g.public) {
            if let Ok(Step::Module(inner)) = self.import(module, glob, Ns::Type) {
                self.gather_public(inner, out, seen);
            }
        }
    }

    fn names(&self, module: ModuleId) -> &'t Names {
        self.tree
            .module(module)
            .names
            .get_or_init(|| Names::of(self.tree, module))
    }

    pub(crate) fn path(
        &self,
        module: ModuleId,
        segments: &[String],
        rooted: bool,
        ns: Ns,
    ) -> Answer<'t> {
        Ok(match self.walk(module, segments, rooted, ns)? {
            Step::Module(id) => Resolved::Module(&self.tree.module(id).path),
            Step::Elsewhere(tree, id) => Resolved::Module(&tree.module(id).path),
            Step::Other(other) => other,
        })
    }

    fn walk(
        &self,
        module: ModuleId,
        segments: &[String],
        rooted: bool,
        ns: Ns,
    ) -> Result<Step<'t>, Unresolved> {
        let Some((first, mut rest)) = segments.split_first() else {
            return Err(self.not_found("", module, &[]));
        };
        let first_ns = if rest.is_empty() { ns } else { Ns::Type };
        let mut at = if rooted {
            self.extern_crate(first)
                .ok_or_else(|| self.not_found(first, module, &[]))?
        } else {
            match first.as_str() {
                "crate" | "$crate" => Step::Module(ModuleId(0)),
                "self" => Step::Module(module),
                "super" => {
                    let mut at = self.parent(module)?;
                    while let Some((next, tail)) = rest.split_first() {
                        if next != "super" {
                            break;
                        }
                        at = self.parent(at)?;
                        rest = tail;
                    }
                    Step::Module(at)
                }
                _ => self.lexical(module, first, first_ns)?,
            }
        };
        while let Some((name, tail)) = rest.split_first() {
            at = self.member(at, name, if tail.is_empty() { ns } else { Ns::Type })?;
            rest = tail;
        }
        Ok(at)
    }

    fn parent(&self, module: ModuleId) -> Result<ModuleId, Unresolved> {
        self.tree
            .module(module)
            .parent
            .ok_or_else(|| Unresolved::NoMember {
                of: "crate".to_owned(),
                name: "super".to_owned(),
            })
    }

    /// A name that stands alone or first: the module, then other crates, then the prelude, then primitives.
    fn lexical(&self, module: ModuleId, name: &str, ns: Ns) -> Result<Step<'t>, Unresolved> {
        match self.in_module(module, name, ns) {
            Ok(step) => Ok(step),
            Err(error @ Unresolved::NotFound { .. }) => {
                if ns == Ns::Type {
                    if let Some(step) = self.extern_crate(name) {
                        return Ok(step);
                    }
                    if let Some(path) = std_names::prelude(name) {
                        return Ok(Step::Other(Resolved::Std(path.to_owned())));
                    }
                    if let Some(primitive) = std_names::PRIMITIVES.iter().find(|p| **p == name) {
                        return Ok(Step::Other(Resolved::Primitive(primitive)));
                    }
                }
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    fn extern_crate(&self, name: &str) -> Option<Step<'t>> {
        if let Some(root) = self.tree.root() {
            // `extern crate a as b` at the root adds to the names of crates everywhere.
            for def in self.names(root).defs.get(name).into_iter().flatten() {
                if let Def::Crate(krate) = def {
                    return self.crate_named(krate);
                }
            }
        }
        self.crate_named(name)
    }

    fn crate_named(&self, name: &str) -> Option<Step<'t>> {
        if name == "self" {
            return Some(Step::Module(ModuleId(0)));
        }
        if matches!(name, "std" | "core" | "alloc") {
            return Some(Step::Other(Resolved::Std("std".to_owned())));
        }
        if let Some(tree) = self.tree.externs.own_library(name) {
            return Some(Step::Elsewhere(tree, tree.root()?));
        }
        let krate = self.tree.externs.crate_of(name)?;
        Some(Step::Other(Resolved::Foreign {
            krate,
            path: String::new(),
        }))
    }

    /// What a path continues to.
    fn member(&self, at: Step<'t>, name: &str, ns: Ns) -> Result<Step<'t>, Unresolved> {
        match at {
            Step::Module(module) => self.in_module(module, name, ns),
            Step::Elsewhere(tree, module) => match tree.resolver().in_module(module, name, ns)? {
                Step::Module(inner) => Ok(Step::Elsewhere(tree, inner)),
                step => Ok(step),
            },
            Step::Other(Resolved::Std(path)) => {
                let segments: Vec<String> = path
                    .split("::")
                    .map(str::to_owned)
                    .chain([name.to_owned()])
                    .collect();
                Ok(Step::Other(Resolved::Std(std_names::canonical(&segments))))
            }
            Step::Other(Resolved::Foreign { krate, path }) => {
                let path = if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}::{name}")
                };
                Ok(Step::Other(Resolved::Foreign { krate, path }))
            }
            Step::Other(Resolved::Item(of)) => match of.item {
                Item::Enum(e) if e.variants.iter().any(|v: &Variant| plain(&v.ident) == name) => {
                    Ok(Step::Other(Resolved::Variant {
                        of,
                        variant: name.to_owned(),
                    }))
                }
                Item::Type(ItemType { ty, .. }) => match &**ty {
                    syn::Type::Path(p) if p.qself.is_none() => {
                        let resolver = of.tree.resolver();
                        let target = resolver.resolve(of.module, &p.path, Ns::Type)?;
                        self.member(Step::Other(target), name, ns)
                    }
                    _ => Err(Unresolved::NoMember {
                        of: of.qualified(),
                        name: name.to_owned(),
                    }),
                },
                _ => Err(Unresolved::NoMember {
                    of: of.qualified(),
                    name: name.to_owned(),
                }),
            },
            Step::Other(other) => Err(Unresolved::NoMember {
                of: format!("{other:?}"),
                name: name.to_owned(),
            }),
        }
    }

    /// A name in a module: its own definitions and imports, then its globs.
    fn in_module(&self, module: ModuleId, name: &str, ns: Ns) -> Result<Step<'t>, Unresolved> {
        let key = (module, name.to_owned(), ns);
        if self
            .busy
            .borrow()
            .iter()
            .any(|(m, n, s, _)| (*m, n, *s) == (key.0, &key.1, key.2))
        {
            // A circle of imports defines nothing; another way to the name may still exist.
            return Err(self.not_found(name, module, &[]));
        }
        self.busy.borrow_mut().push((key.0, key.1, key.2, None));
        let answer = self.in_module_inner(module, name, ns);
        self.busy.borrow_mut().pop();
        answer
    }

    fn in_module_inner(
        &self,
        module: ModuleId,
        name: &str,
        ns: Ns,
    ) -> Result<Step<'t>, Unresolved> {
        let names = self.names(module);
        let mut found: Vec<(Step<'t>, Option<String>)> = Vec::new();
        let mut failed = None;
        for def in names.defs.get(name).into_iter().flatten() {
            match def {
                Def::Item(place) => {
                    let item = &self.tree.items(module)[*place];
                    if in_namespace(item, ns) {
                        let why = unknown(self.tree, item);
                        found.push((
                            Step::Other(Resolved::Item(ItemRef {
                                tree: self.tree,
                                module,
                                item,
                            })),
                            why,
                        ));
                    }
                }
                Def::Module(id) if ns == Ns::Type => {
                    let why = match &self.tree.module(*id).cfg {
                        crate::cfg::Cfg3::Unknown(why) => Some(why.clone()),
                        _ => None,
                    };
                    found.push((Step::Module(*id), why));
                }
                Def::Crate(krate) if ns == Ns::Type => {
                    found.extend(self.crate_named(krate).map(|step| (step, None)));
                }
                Def::Import(import) => match self.import(module, import, ns) {
                    Ok(step) => {
                        let why = match &import.cfg {
                            crate::cfg::Cfg3::Unknown(why) => Some(why.clone()),
                            _ => None,
                        };
                        found.push((step, why));
                    }
                    Err(error) => failed = Some(error),
                },
                Def::Module(_) | Def::Crate(_) => {}
            }
        }
        // A function is a type only where a FlowX attribute makes it one: a real type of the name comes first.
        if ns == Ns::Type && found.len() > 1 {
            let types = |(step, _): &(Step<'t>, _)| !matches!(step, Step::Other(Resolved::Item(i)) if matches!(i.item, Item::Fn(_)));
            if found.iter().any(types) {
                found.retain(types);
            }
        }
        if found.is_empty() {
            return match self.in_globs(module, name, ns) {
                // An import that leads nowhere says more than that there is no such name.
                Err(Unresolved::NotFound { .. }) if failed.is_some() => {
                    Err(failed.take().expect("just looked at"))
                }
                other => other,
            };
        }
        if let Some(why) = found.iter().find_map(|(_, why)| why.clone()) {
            return Err(Unresolved::Cfg {
                name: name.to_owned(),
                why,
            });
        }
        found.dedup_by(|a, b| a.0 == b.0);
        if found.len() > 1 {
            let candidates = found
                .iter()
                .map(|(step, _)| step.describe(self.tree))
                .collect();
            return Err(Unresolved::Ambiguous {
                name: name.to_owned(),
                candidates,
            });
        }
        Ok(found.remove(0).0)
    }

    fn import(&self, module: ModuleId, import: &Import, ns: Ns) -> Result<Step<'t>, Unresolved> {
        // Before 2018 the paths of `use` start at the root of the crate.
        let from = if self.tree.externs.rooted_uses {
            ModuleId(0)
        } else {
            module
        };
        self.walk(
            from,
            &import.path,
            import.rooted && !self.tree.externs.rooted_uses,
            ns,
        )
    }

    fn in_globs(&self, module: ModuleId, name: &str, ns: Ns) -> Result<Step<'t>, Unresolved> {
        let names = self.names(module);
        let mut found: Vec<Step<'t>> = Vec::new();
        let mut opaque = Vec::new();
        for glob in &names.globs {
            let Ok(from) = self.import(module, glob, Ns::Type) else {
                continue;
            };
            let step = match &from {
                Step::Module(inner) => self.in_module(*inner, name, ns).ok(),
                Step::Elsewhere(tree, inner) => match tree.resolver().in_module(*inner, name, ns) {
                    Ok(Step::Module(m)) => Some(Step::Elsewhere(tree, m)),
                    Ok(step) => Some(step),
                    Err(_) => None,
                },
                Step::Other(Resolved::Std(path)) if ns == Ns::Type => {
                    std_names::in_glob(path, name).map(|p| Step::Other(Resolved::Std(p)))
                }
                Step::Other(Resolved::Foreign { krate, path }) => {
                    let full = if path.is_empty() {
                        name.to_owned()
                    } else {
                        format!("{path}::{name}")
                    };
                    if self.tree.externs.exports(krate, &full, ns) {
                        Some(Step::Other(Resolved::Foreign {
                            krate: krate.clone(),
                            path: full,
                        }))
                    } else {
                        if !self.tree.externs.is_known(krate) {
                            opaque.push(if path.is_empty() {
                                krate.clone()
                            } else {
                                format!("{krate}::{path}")
                            });
                        }
                        None
                    }
                }
                Step::Other(Resolved::Item(of)) if ns == Ns::Value => {
                    self.member(Step::Other(Resolved::Item(*of)), name, ns).ok()
                }
                Step::Other(_) => None,
            };
            if let Some(step) = step {
                if let crate::cfg::Cfg3::Unknown(why) = &glob.cfg {
                    return Err(Unresolved::Cfg {
                        name: name.to_owned(),
                        why: why.clone(),
                    });
                }
                if !found.contains(&step) {
                    found.push(step);
                }
            }
        }
        match found.len() {
            0 => Err(self.not_found(name, module, &opaque)),
            1 => Ok(found.remove(0)),
            _ => Err(Unresolved::Ambiguous {
                name: name.to_owned(),
                candidates: found.iter().map(|step| step.describe(self.tree)).collect(),
            }),
        }
    }

    fn not_found(&self, name: &str, module: ModuleId, globs: &[String]) -> Unresolved {
        let names = self.tree.module(module).names.get();
        Unresolved::NotFound {
            name: name.to_owned(),
            module: self.tree.module(module).path.clone(),
            macros: names.map(|n| n.macro_calls.clone()).unwrap_or_default(),
            globs: globs.to_vec(),
            similar: None,
        }
    }
}

/// Where a path has got to.
#[derive(Clone, Debug, PartialEq)]
enum Step<'t> {
    Module(ModuleId),
    Elsewhere(&'t Tree, ModuleId),
    Other(Resolved<'t>),
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tree of {} modules", self.modules.len())
    }
}

impl Step<'_> {
    fn describe(&self, tree: &Tree) -> String {
        match self {
            Step::Module(id) => tree.module(*id).path.clone(),
            Step::Elsewhere(tree, id) => tree.module(*id).path.clone(),
            Step::Other(Resolved::Item(item)) => item.qualified(),
            Step::Other(Resolved::Std(path)) => path.clone(),
            Step::Other(Resolved::Foreign { krate, path }) => format!("{krate}::{path}"),
            Step::Other(other) => format!("{other:?}"),
        }
    }
}

fn item_visibility(item: &Item) -> Option<&syn::Visibility> {
    Some(match item {
        Item::Enum(i) => &i.vis,
        Item::Fn(i) => &i.vis,
        Item::Struct(i) => &i.vis,
        Item::Type(i) => &i.vis,
        Item::Union(i) => &i.vis,
        Item::Trait(i) => &i.vis,
        _ => return None,
    })
}

fn unknown(tree: &Tree, item: &Item) -> Option<String> {
    match tree.cfg(crate::scan::names::item_attrs(item)) {
        Ok(crate::cfg::Cfg3::Unknown(why)) => Some(why),
        _ => None,
    }
}

fn in_namespace(item: &Item, ns: Ns) -> bool {
    match item {
        Item::Enum(_) | Item::Union(_) | Item::Trait(_) | Item::TraitAlias(_) | Item::Type(_) => {
            ns == Ns::Type
        }
        Item::Struct(s) => {
            ns == Ns::Type || (ns == Ns::Value && !matches!(s.fields, syn::Fields::Named(_)))
        }
        Item::Fn(_) => ns != Ns::Macro,
        Item::Const(_) | Item::Static(_) => ns == Ns::Value,
        Item::Macro(_) => ns == Ns::Macro,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(tree: &Tree, module: &str, path: &str) -> Result<String, Unresolved> {
        let module = tree
            .modules()
            .find(|m| tree.module(*m).path == module)
            .expect("the module is there");
        let path: syn::Path = syn::parse_str(path).expect("a path");
        tree.resolver()
            .resolve(module, &path, Ns::Type)
            .map(|resolved| match resolved {
                Resolved::Item(item) => item.qualified(),
                Resolved::Std(path) => path,
                Resolved::Foreign { krate, path } => format!("{krate}::{path}"),
                Resolved::Module(path) => path.to_owned(),
                Resolved::Primitive(name) => name.to_owned(),
                Resolved::Variant { of, variant } => format!("{}::{variant}", of.qualified()),
            })
    }

    #[test]
    fn uses_renames_globs_and_re_exports_lead_to_the_item() {
        let tree = Tree::from_source(
            "pub mod inner { pub struct Real; pub enum E { V } pub mod deep { pub struct D; } }
             pub mod front { pub use super::inner::*; pub use crate::inner::Real as Shown; pub use self::deep::D as DD; }
             mod user { use crate::front::{Shown as S, E, self as f}; use std::collections as c; use super::front::*; }",
        );
        let at = |path| resolve(&tree, "crate::user", path).unwrap();
        assert_eq!(at("S"), "crate::inner::Real");
        assert_eq!(at("E"), "crate::inner::E");
        assert_eq!(at("E::V"), "crate::inner::E::V");
        assert_eq!(at("f::Real"), "crate::inner::Real");
        assert_eq!(at("DD"), "crate::inner::deep::D");
        assert_eq!(at("super::front::deep::D"), "crate::inner::deep::D");
        assert_eq!(at("c::HashMap"), "std::collections::HashMap");
        assert_eq!(at("c::hash_map::HashMap"), "std::collections::HashMap");
        assert_eq!(at("String"), "std::string::String");
        assert_eq!(at("::serde::Serialize"), "serde::Serialize");
        assert_eq!(at("u8"), "u8");
    }

    #[test]
    fn a_name_of_the_module_comes_before_the_prelude() {
        let tree = Tree::from_source(
            "mod a { pub struct String; pub type Vec<T> = T; } use a::*; struct Option;",
        );
        assert_eq!(
            resolve(&tree, "crate", "String").unwrap(),
            "crate::a::String"
        );
        assert_eq!(resolve(&tree, "crate", "Vec").unwrap(), "crate::a::Vec");
        assert_eq!(resolve(&tree, "crate", "Option").unwrap(), "crate::Option");
    }

    #[test]
    fn two_globs_of_one_name_are_ambiguous_unless_they_mean_the_same() {
        let tree = Tree::from_source(
            "mod a { pub struct X; pub struct Y; } mod b { pub struct X; pub use super::a::Y; } use a::*; use b::*;",
        );
        assert!(matches!(
            resolve(&tree, "crate", "X"),
            Err(Unresolved::Ambiguous { .. })
        ));
        assert_eq!(resolve(&tree, "crate", "Y").unwrap(), "crate::a::Y");
    }

    #[test]
    fn a_circle_of_globs_ends() {
        let tree = Tree::from_source(
            "pub mod a { pub use super::b::*; pub struct A; } pub mod b { pub use super::a::*; }",
        );
        assert_eq!(resolve(&tree, "crate::b", "A").unwrap(), "crate::a::A");
        assert!(matches!(
            resolve(&tree, "crate::b", "B"),
            Err(Unresolved::NotFound { .. })
        ));
    }

    #[test]
    fn a_name_under_an_unknown_cfg_is_unknown_and_one_that_is_off_is_not_there() {
        let tree = Tree::from_source(
            "#[cfg(has_thing)] struct A; #[cfg(windows)] struct B; #[cfg(unix)] struct C;",
        );
        assert!(matches!(
            resolve(&tree, "crate", "A"),
            Err(Unresolved::Cfg { .. })
        ));
        assert!(matches!(
            resolve(&tree, "crate", "B"),
            Err(Unresolved::NotFound { .. })
        ));
        assert_eq!(resolve(&tree, "crate", "C").unwrap(), "crate::C");
    }

    #[test]
    fn an_attribute_is_flowx_s_only_when_its_path_leads_there() {
        let tree = Tree::from_source(
            "mod a { use flowx_runtime::flow as f; use flowx_runtime::prelude::*; }
             mod b { use rusty_capability_attr::capability; }
             mod c {}",
        );
        let at = |module: &str, path: &str| {
            let module = tree
                .modules()
                .find(|m| tree.module(*m).path == module)
                .unwrap();
            tree.resolver()
                .flowx(module, &syn::parse_str(path).unwrap())
        };
        assert_eq!(at("crate::a", "f"), Some("flow"));
        assert_eq!(at("crate::a", "capability"), Some("capability"));
        assert_eq!(at("crate::a", "derive"), None);
        assert_eq!(at("crate::b", "capability"), None);
        assert_eq!(at("crate::c", "capability"), None);
        assert_eq!(
            at("crate::c", "flowx_runtime::capability"),
            Some("capability")
        );
        assert_eq!(
            at("crate::c", "::flowx_runtime::capability"),
            Some("capability")
        );
    }
}
