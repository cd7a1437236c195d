//! What a body names: paths, through `use`, renames and aliases; the helpers of the package that it calls; and what macros are given.
//!
//! Syntax alone knows no types, so a method on a value that somebody else made (`self.client.get()`) is not seen here. The threat
//! model says so; the typed handles (P3) are what makes it hard to come by such a value.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, Item};

use crate::scan::{ItemRef, ModuleId, Ns, Resolved, Tree};

use super::View;

/// Something of the world that a body names.
pub(crate) struct Named<'t> {
    /// Its one path: `std::fs::read`, `reqwest::Client::new`, or `crate::x::STATE` for a static of the package.
    pub(crate) path: String,
    /// Whether it is a static or thread-local of the package.
    pub(crate) state: bool,
    /// Where, in the body itself: the path, or the call of the helper that leads there.
    pub(crate) span: Span,
    /// The helpers in between, outermost first, with the place where each names the next.
    pub(crate) through: Vec<(String, String, u32)>,
    pub(crate) tree: &'t Tree,
}

/// A body of the target: whose, and where a finding about it goes.
pub(crate) struct Body<'a, 't> {
    pub(crate) on: ItemRef<'t>,
    pub(crate) function: &'t syn::ItemFn,
    pub(crate) kind: &'static str,
    pub(crate) report: Box<dyn Fn(crate::codes::Code, Span, String) -> crate::Finding + 'a>,
}

/// Every body of a capability or flow declared here.
pub(crate) fn all<'a, 't>(view: &View<'a, 't>) -> Vec<Body<'a, 't>> {
    let mut bodies = Vec::new();
    for declared in &view.own.capabilities {
        if let Item::Fn(function) = declared.on.item {
            let report =
                Box::new(move |code, span, message: String| declared.error(code, span, message));
            bodies.push(Body {
                on: declared.on,
                function,
                kind: "capability",
                report,
            });
        }
    }
    for declared in &view.own.flows {
        if let Item::Fn(function) = declared.on.item {
            let report =
                Box::new(move |code, span, message: String| declared.error(code, span, message));
            bodies.push(Body {
                on: declared.on,
                function,
                kind: "flow",
                report,
            });
        }
    }
    bodies
}

/// Everything that a body names, its helpers' names included.
pub(crate) fn named<'t>(body: &Body<'_, 't>) -> Vec<Named<'t>> {
    let mut walker = Walker {
        tree: body.on.tree,
        module: body.on.module,
        outer: None,
        through: Vec::new(),
        seen: BTreeSet::new(),
        out: Vec::new(),
    };
    walker.visit_block(&body.function.block);
    walker.out
}

struct Walker<'t> {
    tree: &'t Tree,
    module: ModuleId,
    /// Where in the outermost body the helper in hand is called.
    outer: Option<Span>,
    through: Vec<(String, String, u32)>,
    seen: BTreeSet<usize>,
    out: Vec<Named<'t>>,
}

impl<'t> Walker<'t> {
    fn path(&mut self, path: &syn::Path, span: Span) {
        let resolver = self.tree.resolver();
        let resolved = resolver.resolve(self.module, path, Ns::Value);
        match resolved {
            Ok(Resolved::Item(item)) => self.item(item, span),
            Ok(Resolved::Std(full)) => self.found(full, false, span),
            Ok(Resolved::Foreign { krate, path }) => {
                self.found(format!("{krate}::{path}"), false, span)
            }
            Ok(_) => {}
            // `Type::function`: the type by itself, and what stands after it.
            Err(_) if path.segments.len() > 1 => {
                let mut of = path.clone();
                let last = of.segments.pop().map(|p| p.ident);
                of.segments.pop_punct();
                match (resolver.resolve(self.module, &of, Ns::Type), last) {
                    (Ok(Resolved::Std(full)), Some(last)) => {
                        self.found(format!("{full}::{last}"), false, span)
                    }
                    (Ok(Resolved::Foreign { krate, path }), Some(last)) => {
                        self.found(format!("{krate}::{path}::{last}"), false, span);
                    }
                    (Ok(Resolved::Item(item)), Some(last)) => self.associated(item, &last, span),
                    _ => {}
                }
            }
            Err(_) => {
                if let Some(ident) = path.get_ident()
                    && self.is_thread_local(ident)
                {
                    let module = &self.tree.module(self.module).path;
                    self.found(format!("{module}::{ident}"), true, span);
                }
            }
        }
    }

    fn found(&mut self, path: String, state: bool, span: Span) {
        let mut through = self.through.clone();
        if let (Some(last), Some(_)) = (through.last_mut(), self.outer) {
            last.2 = u32::try_from(span.start().line).unwrap_or(u32::MAX);
        }
        let span = self.outer.unwrap_or(span);
        self.out.push(Named {
            path,
            state,
            span,
            through,
            tree: self.tree,
        });
    }

    fn item(&mut self, item: ItemRef<'t>, span: Span) {
        match item.item {
            Item::Static(_) => self.found(item.qualified(), true, span),
            Item::Fn(function) => {
                self.helper(item, function.sig.ident.to_string(), &function.block, span)
            }
            Item::Type(alias) => {
                if let syn::Type::Path(path) = &*alias.ty {
                    let (tree, module) = (self.tree, self.module);
                    (self.tree, self.module) = (item.tree, item.module);
                    self.path(&path.path, span);
                    (self.tree, self.module) = (tree, module);
                }
            }
            _ => {}
        }
    }

    /// `Type::name` in an `impl Type` of the type's own module.
    fn associated(&mut self, of: ItemRef<'t>, name: &syn::Ident, span: Span) {
        let ident = match of.item {
            Item::Struct(s) => &s.ident,
            Item::Enum(e) => &e.ident,
            Item::Type(alias) => {
                if let syn::Type::Path(path) = &*alias.ty {
                    let mut full = path.path.clone();
                    full.segments.push(name.clone().into());
                    let (tree, module) = (self.tree, self.module);
                    (self.tree, self.module) = (of.tree, of.module);
                    self.path(&full, span);
                    (self.tree, self.module) = (tree, module);
                }
                return;
            }
            _ => return,
        };
        for item in of.tree.items(of.module) {
            let Item::Impl(block) = item else { continue };
            let syn::Type::Path(path) = &*block.self_ty else {
                continue;
            };
            if path.path.segments.last().is_none_or(|s| s.ident != *ident) {
                continue;
            }
            for member in &block.items {
                if let syn::ImplItem::Fn(function) = member
                    && function.sig.ident == *name
                {
                    self.helper(of, format!("{ident}::{name}"), &function.block, span);
                }
            }
        }
    }

    /// Walks a helper of the package as if it stood in the body. A declaration is no helper: it answers for itself.
    fn helper(&mut self, item: ItemRef<'t>, name: String, block: &'t syn::Block, span: Span) {
        let declares = crate::scan::item_attrs(item.item).iter().any(|a| {
            matches!(
                item.tree.resolver().flowx(item.module, a.path()),
                Some("capability" | "flow")
            )
        });
        if declares || !self.seen.insert(std::ptr::from_ref(block) as usize) {
            return;
        }
        let here = (self.tree, self.module, self.outer);
        self.outer = Some(self.outer.unwrap_or(span));
        (self.tree, self.module) = (item.tree, item.module);
        let file = item.tree.source(item.module).shown.clone();
        self.through.push((
            name,
            file,
            u32::try_from(block.span().start().line).unwrap_or(0),
        ));
        self.visit_block(block);
        self.through.pop();
        (self.tree, self.module, self.outer) = here;
    }

    fn is_thread_local(&self, ident: &syn::Ident) -> bool {
        self.tree.items(self.module).iter().any(|item| match item {
            Item::Macro(m) => {
                m.mac
                    .path
                    .segments
                    .last()
                    .is_some_and(|s| s.ident == "thread_local" || s.ident == "lazy_static")
                    && mentions(&m.mac.tokens, ident)
            }
            _ => false,
        })
    }

    /// Paths among the tokens of a macro call: `a::b::c` as it stands.
    fn tokens(&mut self, tokens: TokenStream, at: Option<Span>) {
        if let Ok(exprs) = syn::parse::Parser::parse2(
            syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated,
            tokens.clone(),
        ) && at.is_none()
        {
            for expr in &exprs {
                self.visit_expr(expr);
            }
            return;
        }
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let mut i = 0;
        while i < all.len() {
            match &all[i] {
                TokenTree::Group(group) => self.tokens_inside(group.stream(), at),
                TokenTree::Ident(_) => {
                    let mut segments: Vec<proc_macro2::Ident> = Vec::new();
                    let start = i;
                    while let Some(TokenTree::Ident(ident)) = all.get(i) {
                        segments.push(ident.clone());
                        let colons = matches!(
                            (all.get(i + 1), all.get(i + 2)),
                            (Some(TokenTree::Punct(a)), Some(TokenTree::Punct(b))) if a.as_char() == ':' && b.as_char() == ':'
                        );
                        if !colons {
                            break;
                        }
                        i += 3;
                    }
                    if segments.len() > 1 {
                        let span = at.unwrap_or_else(|| all[start].span());
                        let path = syn::Path {
                            leading_colon: None,
                            segments: segments.into_iter().map(syn::PathSegment::from).collect(),
                        };
                        self.path(&path, span);
                    }
                }
                _ => {}
            }
            i += 1;
        }
    }

    fn tokens_inside(&mut self, tokens: TokenStream, at: Option<Span>) {
        self.tokens(tokens, at);
    }
}

fn mentions(tokens: &TokenStream, ident: &syn::Ident) -> bool {
    tokens.clone().into_iter().any(|t| match t {
        TokenTree::Ident(i) => i == *ident,
        TokenTree::Group(g) => mentions(&g.stream(), ident),
        _ => false,
    })
}

/// Macros of the standard library that print; everybody else's are looked at by what they are given.
const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

impl<'ast> Visit<'ast> for Walker<'_> {
    fn visit_expr_path(&mut self, expr: &'ast syn::ExprPath) {
        if expr.qself.is_none() {
            self.path(&expr.path, expr.path.span());
        }
        visit::visit_expr_path(self, expr);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        // `Path::new(p).metadata()`: what the standard library's path does by itself is done to the disk.
        const ON_PATHS: &[&str] = &[
            "metadata",
            "symlink_metadata",
            "read_dir",
            "read_link",
            "exists",
            "try_exists",
            "is_file",
            "is_dir",
            "is_symlink",
            "canonicalize",
        ];
        if ON_PATHS.contains(&call.method.to_string().as_str()) && self.is_std_path(&call.receiver)
        {
            let path = format!("std::path::Path::{}", call.method);
            self.found(path, false, call.method.span());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let Some(name) = mac.path.segments.last().map(|s| &s.ident) else {
            return;
        };
        if mac.path.segments.len() == 1 && PRINTING.contains(&name.to_string().as_str()) {
            self.found(format!("std::{name}!"), false, name.span());
        }
        // A macro of this file: what it writes is what the body holds.
        let defined = self
            .tree
            .items(self.module)
            .iter()
            .find_map(|item| match item {
                Item::Macro(m) if m.ident.as_ref() == Some(name) => Some(m.mac.tokens.clone()),
                _ => None,
            });
        if let Some(tokens) = defined
            && self.through.len() < 16
        {
            self.tokens(tokens, Some(name.span()));
        }
        self.tokens(mac.tokens.clone(), None);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        // `use` inside the body changes what its names mean, which is read along with the items of the block.
        if let Item::Use(tree) = item {
            self.use_in_body(&tree.tree, &mut Vec::new());
            return;
        }
        visit::visit_item(self, item);
    }
}

impl Walker<'_> {
    fn use_in_body(&mut self, tree: &syn::UseTree, prefix: &mut Vec<syn::Ident>) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.clone());
                self.use_in_body(&path.tree, prefix);
                prefix.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.use_in_body(tree, prefix);
                }
            }
            syn::UseTree::Name(syn::UseName { ident })
            | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                let mut segments: syn::punctuated::Punctuated<syn::PathSegment, syn::Token![::]> =
                    prefix.iter().cloned().map(syn::PathSegment::from).collect();
                if ident != "self" {
                    segments.push(ident.clone().into());
                }
                let path = syn::Path {
                    leading_colon: None,
                    segments,
                };
                for ns in [Ns::Value, Ns::Type] {
                    match self.tree.resolver().resolve(self.module, &path, ns) {
                        Ok(Resolved::Std(full)) => return self.found(full, false, ident.span()),
                        Ok(Resolved::Foreign { krate, path }) => {
                            return self.found(format!("{krate}::{path}"), false, ident.span());
                        }
                        _ => {}
                    }
                }
            }
            syn::UseTree::Glob(_) => {}
        }
    }

    fn is_std_path(&self, expr: &Expr) -> bool {
        match expr {
            Expr::MethodCall(call) => self.is_std_path(&call.receiver),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let mut of = path.path.clone();
                    of.segments.pop();
                    of.segments.pop_punct();
                    let resolved = self.tree.resolver().resolve(self.module, &of, Ns::Type);
                    matches!(resolved, Ok(Resolved::Std(full)) if full == "std::path::Path" || full == "std::path::PathBuf")
                }
                _ => false,
            },
            Expr::Reference(r) => self.is_std_path(&r.expr),
            Expr::Paren(p) => self.is_std_path(&p.expr),
            _ => false,
        }
    }
}

/// Raises one hit per thing a body names that `is` knows, in the words of `say(kind, what)`.
pub(crate) fn report(
    view: &View<'_, '_>,
    rule: &super::Rule,
    sink: &mut super::Sink<'_>,
    is: impl Fn(&Named<'_>) -> bool,
    say: impl Fn(&str, &str) -> String,
    help: &str,
) {
    for body in all(view) {
        let mut told: Vec<(usize, usize)> = Vec::new();
        for named in named(&body).iter().filter(|n| is(n)) {
            // One thing said once at one place.
            let start = named.span.start();
            if told.contains(&(start.line, start.column)) {
                continue;
            }
            told.push((start.line, start.column));
            let mut message = say(body.kind, &named.path);
            for (name, file, line) in &named.through {
                message.push_str(&format!(", through `{name}` ({file}:{line})"));
            }
            let finding = (body.report)(rule.code(), named.span, message).help(help);
            let also = named
                .through
                .iter()
                .map(|(_, file, line)| (file.clone(), *line))
                .collect();
            let _ = named.tree;
            sink(super::Hit { finding, also });
        }
    }
}

/// Whether a path is, or lies in, one of these.
pub(crate) fn lies_in(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| {
        path == *place
            || path
                .strip_prefix(place)
                .is_some_and(|rest| rest.starts_with("::"))
    })
}
