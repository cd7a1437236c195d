//! Names within one file and its inline modules, for tests and tools that look at a single file.

use std::collections::HashMap;
use std::rc::Rc;

use syn::ext::IdentExt as _;

use super::types::{Attributes, Item, ModuleKey, Present, Resolved, TypeItem, Types, Unresolved};

/// One file, taken as the root of a crate. `cfg` is not evaluated: everything counts as compiled.
pub struct SingleFile {
    name: String,
    modules: Vec<Module>,
    texts: HashMap<String, String>,
}

#[derive(Default)]
struct Module {
    path: String,
    parent: Option<usize>,
    items: HashMap<String, TypeItem>,
    children: HashMap<String, usize>,
    uses: Vec<(String, Vec<String>)>,
    globs: Vec<Vec<String>>,
    constants: HashMap<String, u64>,
    impls: Vec<(String, String)>,
}

impl SingleFile {
    /// Reads the text of a file; the name is what findings call it.
    ///
    /// # Errors
    /// When it is no Rust.
    pub fn parse(name: &str, text: &str) -> syn::Result<Self> {
        let file = syn::parse_file(text)?;
        let mut out = SingleFile {
            name: name.to_owned(),
            modules: vec![Module {
                path: "crate".to_owned(),
                ..Module::default()
            }],
            texts: HashMap::new(),
        };
        out.fill(0, &file.items);
        Ok(out)
    }

    /// With a text that `include_str!(path)` gives.
    #[must_use]
    pub fn with_text(mut self, path: &str, text: &str) -> Self {
        self.texts.insert(path.to_owned(), text.to_owned());
        self
    }

    /// The root.
    pub const ROOT: ModuleKey = ModuleKey(0);

    /// Every type at the root or in an inline module, by its qualified name.
    pub fn types(&self) -> Vec<(ModuleKey, String)> {
        let mut all: Vec<_> = self
            .modules
            .iter()
            .enumerate()
            .flat_map(|(i, m)| {
                m.items
                    .keys()
                    .map(move |n| (ModuleKey(u32::try_from(i).unwrap_or(0)), n.clone()))
            })
            .collect();
        all.sort();
        all
    }

    fn fill(&mut self, at: usize, items: &[syn::Item]) {
        for item in items {
            match item {
                syn::Item::Struct(s) => {
                    self.modules[at].items.insert(
                        s.ident.unraw().to_string(),
                        TypeItem::Struct(Rc::new(s.clone())),
                    );
                }
                syn::Item::Enum(e) => {
                    self.modules[at].items.insert(
                        e.ident.unraw().to_string(),
                        TypeItem::Enum(Rc::new(e.clone())),
                    );
                }
                syn::Item::Type(t) => {
                    self.modules[at].items.insert(
                        t.ident.unraw().to_string(),
                        TypeItem::Alias(Rc::new(t.clone())),
                    );
                }
                syn::Item::Const(c) => {
                    if let syn::Expr::Lit(syn::ExprLit {
                        lit: syn::Lit::Int(i),
                        ..
                    }) = &*c.expr
                        && let Ok(n) = i.base10_parse()
                    {
                        self.modules[at].constants.insert(c.ident.to_string(), n);
                    }
                }
                syn::Item::Use(u) => self.import(at, &u.tree, Vec::new()),
                syn::Item::Mod(m) => {
                    if let Some((_, items)) = &m.content {
                        let name = m.ident.unraw().to_string();
                        let path = format!("{}::{name}", self.modules[at].path);
                        self.modules.push(Module {
                            path,
                            parent: Some(at),
                            ..Module::default()
                        });
                        let child = self.modules.len() - 1;
                        self.modules[at].children.insert(name, child);
                        self.fill(child, items);
                    }
                }
                syn::Item::Impl(i) => {
                    if let (Some((path, ..)), syn::Type::Path(ty)) = (&i.trait_, &*i.self_ty)
                        && let (Some(of), Some(ty)) =
                            (path.segments.last(), ty.path.segments.last())
                    {
                        self.modules[at]
                            .impls
                            .push((ty.ident.unraw().to_string(), of.ident.to_string()));
                    }
                }
                syn::Item::Fn(f) => {
                    // Types declared in a test function belong to nobody else.
                    let inner: Vec<syn::Item> = f
                        .block
                        .stmts
                        .iter()
                        .filter_map(|s| match s {
                            syn::Stmt::Item(i) => Some(i.clone()),
                            _ => None,
                        })
                        .collect();
                    self.fill(at, &inner);
                }
                _ => {}
            }
        }
    }

    fn import(&mut self, at: usize, tree: &syn::UseTree, mut prefix: Vec<String>) {
        match tree {
            syn::UseTree::Path(p) => {
                prefix.push(p.ident.unraw().to_string());
                self.import(at, &p.tree, prefix);
            }
            syn::UseTree::Name(n) => {
                let name = n.ident.unraw().to_string();
                let bound = if name == "self" {
                    prefix.last().cloned().unwrap_or_default()
                } else {
                    name.clone()
                };
                if name != "self" {
                    prefix.push(name);
                }
                self.modules[at].uses.push((bound, prefix));
            }
            syn::UseTree::Rename(r) => {
                prefix.push(r.ident.unraw().to_string());
                self.modules[at]
                    .uses
                    .push((r.rename.unraw().to_string(), prefix));
            }
            syn::UseTree::Glob(_) => self.modules[at].globs.push(prefix),
            syn::UseTree::Group(g) => g
                .items
                .iter()
                .for_each(|t| self.import(at, t, prefix.clone())),
        }
    }

    fn find(&self, at: usize, segments: &[String], depth: usize) -> Result<Resolved, Unresolved> {
        if depth > 32 {
            return Err(Unresolved::Cycle(segments.to_vec()));
        }
        let module = &self.modules[at];
        let [first, rest @ ..] = segments else {
            return Err(Unresolved::NotFound);
        };
        match first.as_str() {
            "crate" => return self.find(0, rest, depth + 1),
            "self" => return self.find(at, rest, depth + 1),
            "super" => {
                return module
                    .parent
                    .map_or(Err(Unresolved::NotFound), |p| self.find(p, rest, depth + 1));
            }
            _ => {}
        }
        if rest.is_empty()
            && let Some(item) = module.items.get(first)
        {
            return Ok(Resolved::Item(Item {
                module: ModuleKey(u32::try_from(at).unwrap_or(0)),
                name: format!("{}::{first}", module.path),
                item: item.clone(),
            }));
        }
        if let (false, Some(child)) = (rest.is_empty(), module.children.get(first)) {
            return self.find(*child, rest, depth + 1);
        }
        for (name, path) in &module.uses {
            if name == first {
                let full: Vec<String> = path.iter().chain(rest).cloned().collect();
                return self.find_use(at, &full, depth + 1);
            }
        }
        for glob in &module.globs {
            let full: Vec<String> = glob
                .iter()
                .cloned()
                .chain(segments.iter().cloned())
                .collect();
            if (matches!(
                glob.first().map(String::as_str),
                Some("crate" | "self" | "super")
            ) || glob
                .first()
                .is_some_and(|g| module.children.contains_key(g)))
                && let Ok(found) = self.find(at, &full, depth + 1)
            {
                return Ok(found);
            }
        }
        Err(Unresolved::NotFound)
    }

    /// A `use` path starts at a name in scope, or names another crate.
    fn find_use(&self, at: usize, path: &[String], depth: usize) -> Result<Resolved, Unresolved> {
        match self.find(at, path, depth) {
            Err(Unresolved::NotFound)
                if !matches!(
                    path.first().map(String::as_str),
                    Some("crate" | "self" | "super")
                ) && path.len() > 1 =>
            {
                Ok(Resolved::External(path.to_vec()))
            }
            other => other,
        }
    }
}

impl Types for SingleFile {
    fn resolve(&self, module: ModuleKey, path: &syn::Path) -> Result<Resolved, Unresolved> {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|s| s.ident.unraw().to_string())
            .collect();
        let at = module.0 as usize;
        if segments.len() > 1 {
            self.find_use(at, &segments, 0)
        } else {
            self.find(at, &segments, 0)
        }
    }

    fn attributes(&self, _: ModuleKey, attrs: &[syn::Attribute]) -> Attributes {
        Attributes {
            attrs: attrs.to_vec(),
            present: Present::Yes,
        }
    }

    fn file(&self, _: ModuleKey) -> String {
        self.name.clone()
    }

    fn include_str(&self, _: ModuleKey, path: &str) -> Option<String> {
        self.texts.get(path).cloned()
    }

    fn constant(&self, module: ModuleKey, path: &syn::Path) -> Option<u64> {
        self.modules[module.0 as usize]
            .constants
            .get(&path.get_ident()?.to_string())
            .copied()
    }

    fn has_impl(&self, qualified: &str, of: &str) -> bool {
        let name = qualified.rsplit("::").next().unwrap_or_default();
        self.modules
            .iter()
            .any(|m| m.impls.iter().any(|(ty, tr)| ty == name && tr == of))
    }
}
