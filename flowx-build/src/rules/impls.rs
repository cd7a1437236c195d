//! Hand-written `impl`s of FlowX's traits, wherever they stand: in a module, in a body, under another name.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Item, ItemImpl, Type};

use crate::scan::find::places;
use crate::scan::{FileId, ModuleId, Ns, Resolved, Tree};

/// One of them.
pub(super) struct ByHand {
    pub(super) module: ModuleId,
    /// Of the trait's path.
    pub(super) span: Span,
    /// The trait as written, without its path.
    pub(super) name: String,
    /// For which type.
    pub(super) of: String,
}

/// Every `impl` of one of those traits of the runtime.
pub(super) fn by_hand(tree: &Tree, traits: &[&str]) -> Vec<ByHand> {
    let mentioning = mentioning(tree, traits);
    let mut all = Vec::new();
    for module in tree.modules() {
        // Before anything is parsed.
        if tree.module(module).cfg.is_false()
            || !mentioning.contains(&tree.module(module).file)
            || !tree.source(module).text.contains("impl")
        {
            continue;
        }
        let mut finder = Finder {
            tree,
            module,
            traits,
            all: &mut all,
        };
        for item in tree.items(module) {
            if !matches!(item, Item::Mod(_)) {
                finder.visit_item(item);
            }
        }
    }
    all
}

/// The files that mention one of the traits, under its own name or one that a `use … as …` gives it, or that name, anywhere.
fn mentioning(tree: &Tree, traits: &[&str]) -> BTreeSet<FileId> {
    // Where `HasFlow` stands `Flow` does too: one search for both.
    let alone = |name: &&str| !traits.iter().any(|t| t != name && name.contains(t));
    let mut names: BTreeSet<String> = traits
        .iter()
        .filter(|name| alone(name))
        .map(|name| (*name).to_owned())
        .collect();
    let mut todo: Vec<String> = names.iter().cloned().collect();
    let mut files = BTreeSet::new();
    while let Some(name) = todo.pop() {
        for (file, source) in (0..).map(FileId).zip(tree.sources()) {
            let text = &source.text;
            for at in places(text, &name) {
                files.insert(file);
                let alias = text[at + name.len()..]
                    .trim_start()
                    .strip_prefix("as ")
                    .map(|rest| rest.trim_start().chars());
                let alias: String = alias
                    .into_iter()
                    .flatten()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                if !alias.is_empty() && alias != "_" && names.insert(alias.clone()) {
                    todo.push(alias);
                }
            }
        }
    }
    files
}

struct Finder<'f> {
    tree: &'f Tree,
    module: ModuleId,
    traits: &'f [&'f str],
    all: &'f mut Vec<ByHand>,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        visit::visit_item_impl(self, block);
        let Some((path, _)) = &block.trait_ else {
            return;
        };
        let Ok(Resolved::Foreign { krate, path: full }) =
            self.tree.resolver().resolve(self.module, path, Ns::Type)
        else {
            return;
        };
        let original = full.rsplit("::").next().unwrap_or(&full);
        if krate != "flowx_runtime" || !self.traits.contains(&original) {
            return;
        }
        let last = path.segments.last();
        self.all.push(ByHand {
            module: self.module,
            span: path.span(),
            name: last.map(|s| s.ident.to_string()).unwrap_or_default(),
            of: match &*block.self_ty {
                Type::Path(path) => flowx_syntax::path_text(&path.path),
                _ => "a type".to_owned(),
            },
        });
    }
}
