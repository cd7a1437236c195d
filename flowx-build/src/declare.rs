//! From a module tree to the declarations in it, and to findings about those that cannot be read.

use flowx_syntax::{
    AgentDecl, CapabilityDecl, Doc, DocPart, EffectDecl, FlowDecl, FlowErrorDecl, On, Problems,
    digest, parse_agent, parse_capability, parse_effect, parse_flow, parse_flow_error,
};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Item};

use crate::cfg::Cfg3;
use crate::codes;
use crate::files::{Files, normalise};
use crate::finding::{Anchor, Finding, Findings, Severity};
use crate::flowx_names::WORDS;
use crate::scan::{ItemRef, ModuleId, Ns, Resolved, Tree, item_attrs};

/// One declaration and where it stands.
#[derive(Clone, Debug)]
pub struct Declared<'t, T> {
    /// What is declared.
    pub decl: T,
    /// On what.
    pub on: ItemRef<'t>,
    /// Where the attribute stands.
    pub span: Span,
    /// The digest of what was read.
    pub digest: u64,
}

/// An item that carries an attribute of FlowX.
#[derive(Debug)]
pub(crate) struct Carrier<'t> {
    /// FlowX's own name of the attribute.
    pub(crate) word: &'static str,
    pub(crate) attr: Attribute,
    pub(crate) on: ItemRef<'t>,
    /// What it hangs on, where the scan cannot tell whether it is compiled.
    pub(crate) hangs_on: Option<String>,
}

impl Carrier<'_> {
    /// A finding at the attribute, about what is declared there.
    pub(crate) fn finding(&self, code: codes::Code, message: impl Into<String>) -> Finding {
        let span = self.attr.path().span();
        let finding = self.on.tree.finding(code, self.on.module, span, message);
        finding.subject(self.subject())
    }

    /// `flow ticket.refund@1`, as the attribute has it; with the item's name where it does not say.
    pub(crate) fn subject(&self) -> String {
        let tokens = match &self.attr.meta {
            syn::Meta::List(list) if self.word != "FlowError" => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let value = |key: &str| {
            trees.windows(3).find_map(|part| match part {
                [
                    TokenTree::Ident(name),
                    TokenTree::Punct(eq),
                    TokenTree::Literal(value),
                ] if name == key && eq.as_char() == '=' => {
                    let value = syn::parse_str::<syn::LitStr>(&value.to_string()).ok()?;
                    Some(value.value())
                }
                _ => None,
            })
        };
        let kind = match self.word {
            "FlowError" => "error",
            word => word,
        };
        let Some(id) = value("id") else {
            let name = match self.on.item {
                Item::Fn(f) => f.sig.ident.to_string(),
                Item::Struct(s) => s.ident.to_string(),
                Item::Enum(e) => e.ident.to_string(),
                _ => String::new(),
            };
            return format!("{kind} {name}");
        };
        match value("version")
            .as_deref()
            .and_then(|v| v.split('.').next())
        {
            Some(major) => format!("{kind} {id}@{major}"),
            None => format!("{kind} {id}"),
        }
    }

    /// Of everything but the body of a function.
    pub(crate) fn digest(&self) -> u64 {
        let said = match self.on.item {
            Item::Fn(f) => {
                let (attrs, sig) = (&f.attrs, &f.sig);
                quote::quote!(#(#attrs)* #sig)
            }
            item => quote::quote!(#item),
        };
        flowx_syntax::key("declaration", &said.to_string())
    }
}

/// One declaration, as its macro can be told from others of the same id.
#[derive(Debug)]
pub(crate) struct Witness {
    /// The key under which its macro says that it has raised what was found.
    pub(crate) key: u64,
    pub(crate) file: String,
    pub(crate) lines: std::ops::RangeInclusive<usize>,
}

/// The key under which the macro on an item says that it has raised an error: its name and where that stands, which the macro knows as well.
fn witness(item: &Item) -> Option<u64> {
    let name = match item {
        Item::Fn(f) => &f.sig.ident,
        Item::Struct(s) => &s.ident,
        Item::Enum(e) => &e.ident,
        _ => return None,
    };
    let at = name.span().start();
    Some(flowx_syntax::raised_key(name, at.line, at.column))
}

/// Everything that one target declares.
#[derive(Debug, Default)]
pub struct Declarations<'t> {
    /// `#[effect]`.
    pub effects: Vec<Declared<'t, EffectDecl>>,
    /// `#[capability]`.
    pub capabilities: Vec<Declared<'t, CapabilityDecl>>,
    /// `#[flow]`.
    pub flows: Vec<Declared<'t, FlowDecl>>,
    /// `#[agent]`.
    pub agents: Vec<Declared<'t, AgentDecl>>,
    /// `#[derive(FlowError)]`.
    pub errors: Vec<Declared<'t, FlowErrorDecl>>,
    /// Items whose attribute could not be read: they have been reported, and what names them need not be.
    pub(crate) unread: Vec<*const Item>,
    /// Every item that carries an attribute of FlowX, whether it could be read or not.
    pub(crate) carriers: Vec<Carrier<'t>>,
    /// Whether the root calls `include_manifest!()`.
    pub includes_manifest: bool,
    /// Whether something could not be read, so that the rest is not the whole.
    pub broken: bool,
}

impl<T> Declared<'_, T> {
    /// The finding of a code at a span of the declaration.
    pub fn finding(&self, code: codes::Code, span: Span, message: impl Into<String>) -> Finding {
        self.on.tree.finding(code, self.on.module, span, message)
    }
}

macro_rules! anchored {
    ($($decl:ty, $kind:literal, |$d:ident| $id:expr;)*) => {$(
        impl Declared<'_, $decl> {
            /// What KEY is made of.
            pub fn anchor(&self) -> Anchor {
                let $d = &self.decl;
                Anchor { kind: $kind.to_owned(), id: $id }
            }

            /// `flow ticket.refund@1`.
            pub fn subject(&self) -> String {
                let anchor = self.anchor();
                format!("{} {}", anchor.kind, anchor.id)
            }

            /// A finding about the declaration, to be shown at it.
            pub fn error(&self, code: codes::Code, span: Span, message: impl Into<String>) -> Finding {
                self.finding(code, span, message).subject(self.subject()).anchor(Some(self.anchor()))
            }
        }
    )*};
}
anchored! {
    EffectDecl, "effect", |d| d.id.value.to_string();
    CapabilityDecl, "capability", |d| format!("{}@{}", d.id.value, d.version.value.major);
    FlowDecl, "flow", |d| format!("{}@{}", d.id.value, d.version.value.major);
    AgentDecl, "agent", |d| d.id.value.to_string();
}

impl Declarations<'_> {
    /// Every anchor with the subject and the place of its declaration.
    fn anchors(&self) -> impl Iterator<Item = (Anchor, ItemRef<'_>, Span)> {
        let effects = self.effects.iter().map(|d| (d.anchor(), d.on, d.span));
        let capabilities = self.capabilities.iter().map(|d| (d.anchor(), d.on, d.span));
        let flows = self.flows.iter().map(|d| (d.anchor(), d.on, d.span));
        let agents = self.agents.iter().map(|d| (d.anchor(), d.on, d.span));
        effects.chain(capabilities).chain(flows).chain(agents)
    }

    /// By anchor, the keys under which the macros of its declarations say that they have raised what was found.
    pub(crate) fn witnesses(&self) -> std::collections::BTreeMap<Anchor, Vec<Witness>> {
        let mut all: std::collections::BTreeMap<Anchor, Vec<Witness>> = Default::default();
        for (anchor, on, _) in self.anchors() {
            let (start, end) = (on.item.span().start().line, on.item.span().end().line);
            let witness = witness(on.item).map(|key| Witness {
                key,
                file: on.tree.source(on.module).shown.clone(),
                lines: start..=end,
            });
            all.entry(anchor).or_default().extend(witness);
        }
        all
    }

    /// Notes where each declaration stands, by subject.
    pub(crate) fn places(&self, out: &mut std::collections::BTreeMap<String, (String, u32, u32)>) {
        for (anchor, on, span) in self.anchors() {
            let at = on.tree.finding(codes::SYNTAX, on.module, span, "");
            out.entry(format!("{} {}", anchor.kind, anchor.id))
                .or_insert((at.file, at.line, at.column));
        }
    }

    /// A finding at the first declaration.
    pub(crate) fn first(&self, code: codes::Code, message: String) -> Option<Finding> {
        let (anchor, on, span) = self
            .anchors()
            .min_by_key(|(_, on, span)| (on.module, span.start().line, span.start().column))?;
        let subject = format!("{} {}", anchor.kind, anchor.id);
        Some(
            on.tree
                .finding(code, on.module, span, message)
                .subject(subject)
                .anchor(Some(anchor)),
        )
    }

    /// Those of the entries that are declared here.
    pub(crate) fn own_entries(
        &self,
        all: &[crate::assemble::Entry],
    ) -> Vec<crate::assemble::Entry> {
        let mine: std::collections::BTreeSet<(String, String)> = self
            .anchors()
            .map(|(anchor, _, _)| (anchor.kind, anchor.id))
            .collect();
        let mut own: Vec<_> = all
            .iter()
            .filter(|e| mine.contains(&(e.kind.to_owned(), e.id.clone())))
            .cloned()
            .collect();
        own.dedup_by(|a, b| (a.kind, &a.id) == (b.kind, &b.id));
        own
    }
}

/// Reads every declaration of a tree.
pub fn declarations<'t>(
    tree: &'t Tree,
    files: &dyn Files,
    findings: &Findings,
) -> Declarations<'t> {
    let mut reader = Reader {
        tree,
        files,
        findings,
        out: Declarations::default(),
    };
    for module in tree.modules() {
        if !tree.may_declare(module) {
            continue;
        }
        match tree.source(module).ast() {
            Ok(_) => reader.module(module),
            Err(error) => {
                let message = format!("this file declares something and cannot be parsed: {error}");
                let finding = tree.finding(codes::NOT_RUST, module, error.span(), message);
                reader.report(finding);
            }
        }
    }
    reader.out
}

/// The FlowX attributes on one item.
struct Ours {
    word: &'static str,
    attr: Attribute,
}

struct Reader<'t, 'a> {
    tree: &'t Tree,
    files: &'a dyn Files,
    findings: &'a Findings,
    out: Declarations<'t>,
}

impl<'t> Reader<'t, '_> {
    fn report(&mut self, finding: Finding) {
        self.out.broken |= finding.severity == Severity::Error;
        self.findings.push(finding);
    }

    fn module(&mut self, module: ModuleId) {
        for item in self.tree.items(module) {
            if let Item::Mod(m) = item {
                self.stray_module(module, m);
                continue;
            }
            let attrs = item_attrs(item);
            let active = match self.tree.active(attrs) {
                Ok(active) => active,
                Err(error) => {
                    let span = attrs.first().map_or_else(Span::call_site, Attribute::span);
                    self.report(self.tree.finding(
                        codes::CFG_MALFORMED,
                        module,
                        span,
                        error.to_string(),
                    ));
                    continue;
                }
            };
            if active.cfg.is_false() {
                self.under_test(module, item);
                continue;
            }
            let cfg = self.tree.module(module).cfg.clone().and(active.cfg.clone());
            let mut ours = Vec::new();
            for attr in &active.attrs {
                let before = ours.len();
                self.flowx_attrs(module, attr, &mut ours);
                for Ours { word, attr } in &ours[before..] {
                    let why = match &cfg {
                        Cfg3::Unknown(why) => Some(why.clone()),
                        _ => None,
                    };
                    self.carrier(module, item, word, attr, why);
                }
                if ours.len() == before
                    && let Some((word, why)) = self.perhaps(module, attr)
                {
                    self.carrier(module, item, word, attr, Some(why.clone()));
                    self.report(self.tree.finding(
                        codes::CFG_UNKNOWN,
                        module,
                        attr.span(),
                        format!("whether this is FlowX's `#[{word}]` hangs on cfg({why})"),
                    ));
                }
            }
            let mut hanging = Vec::new();
            for (attr, why) in &active.unknown {
                self.flowx_attrs(module, attr, &mut hanging);
                if let Some(Ours { word, .. }) = hanging.pop() {
                    self.carrier(module, item, word, attr, Some(why.clone()));
                    self.report(self.tree.finding(
                        codes::CFG_UNKNOWN,
                        module,
                        attr.span(),
                        format!("whether this carries `#[{word}]` hangs on cfg({why})"),
                    ));
                } else if !ours.is_empty() && attr.path().is_ident("doc") {
                    self.report(self.tree.finding(
                        codes::CFG_UNKNOWN,
                        module,
                        attr.span(),
                        format!(
                            "what the description of this `{}` says hangs on cfg({why})",
                            ours[0].word
                        ),
                    ));
                }
            }
            if let (Cfg3::Unknown(why), Some(first)) = (&cfg, ours.first()) {
                let message = format!(
                    "whether this `#[{}]` is compiled hangs on cfg({why})",
                    first.word
                );
                self.report(self.tree.finding(
                    codes::CFG_UNKNOWN,
                    module,
                    first.attr.span(),
                    message,
                ));
                continue;
            }
            if !ours.is_empty() {
                self.declaration(module, item, &active.attrs, &ours);
            }
            self.strays(module, item);
        }
    }

    /// Notes an item that carries an attribute of FlowX.
    fn carrier(
        &mut self,
        module: ModuleId,
        item: &'t Item,
        word: &'static str,
        attr: &Attribute,
        hangs_on: Option<String>,
    ) {
        self.out.carriers.push(Carrier {
            word,
            attr: attr.clone(),
            on: ItemRef {
                tree: self.tree,
                module,
                item,
            },
            hangs_on,
        });
    }

    /// The word of FlowX that an attribute goes by, where what that name means here hangs on a cfg.
    fn perhaps(&self, module: ModuleId, attr: &Attribute) -> Option<(&'static str, String)> {
        let last = attr.path().segments.last()?;
        let word = WORDS.iter().find(|word| last.ident == **word)?;
        match self.tree.resolver().resolve(module, attr.path(), Ns::Macro) {
            Err(crate::scan::Unresolved::Cfg { why, .. }) => Some((word, why)),
            _ => None,
        }
    }

    /// Appends the FlowX attributes that one attribute is, or, of a derive, holds.
    fn flowx_attrs(&self, module: ModuleId, attr: &Attribute, out: &mut Vec<Ours>) {
        let Some(last) = attr.path().segments.last() else {
            return;
        };
        let resolver = self.tree.resolver();
        if attr.path().is_ident("derive") {
            let Ok(list) = attr.meta.require_list() else {
                return;
            };
            let parse = syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
            let Ok(paths) = syn::parse::Parser::parse2(parse, list.tokens.clone()) else {
                return;
            };
            for path in paths {
                if let Some(word @ "FlowError") = resolver.flowx(module, &path) {
                    out.push(Ours {
                        word,
                        attr: attr.clone(),
                    });
                }
            }
        } else if last.ident != "serde"
            && last.ident != "doc"
            && let Some(word) = resolver
                .flowx(module, attr.path())
                .filter(|w| *w != "FlowError")
        {
            out.push(Ours {
                word,
                attr: attr.clone(),
            });
        }
    }

    fn declaration(
        &mut self,
        module: ModuleId,
        item: &'t Item,
        attrs: &[Attribute],
        ours: &[Ours],
    ) {
        // What the macro is given: `cfg_attr`s expanded, what is switched off gone, and its own attribute gone.
        let mut seen = item.clone();
        for Ours { word, attr } in ours {
            let rest = attrs
                .iter()
                .filter(|a| *a != attr || *word == "FlowError")
                .cloned()
                .collect();
            set_attrs(&mut seen, rest);
            if let Err(why) = self.prune(&mut seen) {
                let message = format!("the shape of this `{word}` hangs on cfg({why})");
                self.report(
                    self.tree
                        .finding(codes::CFG_UNKNOWN, module, item.span(), message),
                );
                continue;
            }
            let args = match &attr.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                _ => TokenStream::new(),
            };
            let span = attr.path().span();
            let on = ItemRef {
                tree: self.tree,
                module,
                item,
            };
            macro_rules! read {
                ($list:ident, $parsed:expr) => {
                    match $parsed {
                        Ok(mut decl) => {
                            let digest = digest(&decl);
                            read!(@doc $list, decl);
                            self.out.$list.push(Declared { decl, on, span, digest });
                        }
                        Err(problems) => self.problems(on, problems),
                    }
                };
                (@doc errors, $decl:ident) => { let _ = &mut $decl; };
                (@doc agents, $decl:ident) => { let _ = &mut $decl; };
                (@doc $list:ident, $decl:ident) => { self.resolve_doc(module, &mut $decl.doc) };
            }
            match *word {
                "effect" => read!(effects, parse_effect(span, args, On::from(&seen))),
                "capability" => read!(capabilities, parse_capability(span, args, On::from(&seen))),
                "flow" => read!(flows, parse_flow(span, args, On::from(&seen))),
                "agent" => read!(agents, parse_agent(span, args, On::from(&seen))),
                "FlowError" => read!(errors, parse_flow_error(span, On::from(&seen))),
                word => self.report(self.tree.finding(
                    codes::NOT_READ,
                    module,
                    span,
                    format!("this version of FlowX does not read `#[{word}]`"),
                )),
            }
        }
    }

    fn problems(&mut self, on: ItemRef<'t>, problems: Problems) {
        self.out.unread.push(std::ptr::from_ref(on.item));
        for problem in problems.0 {
            let code = codes::Code {
                id: problem.code,
                ..codes::SYNTAX
            };
            let mut finding = self
                .tree
                .finding(code, on.module, problem.span, problem.message);
            finding.of_grammar = true;
            finding.raised_by = witness(on.item).into_iter().collect();
            self.report(finding);
        }
    }

    /// Takes out variants and fields that are switched off, and expands `cfg_attr` on the others.
    fn prune(&self, item: &mut Item) -> Result<(), String> {
        let tree = self.tree;
        let settle = |attrs: &mut Vec<Attribute>| -> Result<bool, String> {
            let active = tree.active(attrs).map_err(|e| e.to_string())?;
            // Only FlowX's own attributes shape a declaration; those of others are for the contracts to judge.
            if let Some((_, why)) = active
                .unknown
                .iter()
                .find(|(a, _)| a.path().is_ident("flow_error"))
            {
                return Err(why.clone());
            }
            if let Cfg3::Unknown(why) = active.cfg {
                return Err(why);
            }
            *attrs = active.attrs;
            Ok(active.cfg.is_true())
        };
        let fields = |fields: &mut syn::Fields| -> Result<(), String> {
            let list = match fields {
                syn::Fields::Named(f) => &mut f.named,
                syn::Fields::Unnamed(f) => &mut f.unnamed,
                syn::Fields::Unit => return Ok(()),
            };
            let mut kept = syn::punctuated::Punctuated::new();
            for mut field in std::mem::take(list) {
                if settle(&mut field.attrs)? {
                    kept.push(field);
                }
            }
            *list = kept;
            Ok(())
        };
        match item {
            Item::Enum(e) => {
                let mut kept = syn::punctuated::Punctuated::new();
                for mut variant in std::mem::take(&mut e.variants) {
                    if settle(&mut variant.attrs)? {
                        fields(&mut variant.fields)?;
                        kept.push(variant);
                    }
                }
                e.variants = kept;
            }
            Item::Struct(s) => fields(&mut s.fields)?,
            Item::Fn(f) => {
                let mut kept = syn::punctuated::Punctuated::new();
                for mut input in std::mem::take(&mut f.sig.inputs) {
                    let attrs = match &mut input {
                        syn::FnArg::Receiver(r) => &mut r.attrs,
                        syn::FnArg::Typed(t) => &mut t.attrs,
                    };
                    if settle(attrs)? {
                        kept.push(input);
                    }
                }
                f.sig.inputs = kept;
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts the text of `include_str!` and `concat!` in place of the expression.
    fn resolve_doc(&mut self, module: ModuleId, doc: &mut Option<Doc>) {
        let Some(Doc::Parts(parts)) = doc else { return };
        let mut lines = Vec::new();
        for part in parts {
            match part {
                DocPart::Line(text) => lines.push(text.clone()),
                DocPart::Expr(expr) => match self.text_of(module, expr) {
                    Ok(text) => lines.push(text),
                    Err(why) => {
                        let message =
                            format!("the text of this description is not known to the scan: {why}");
                        self.report(self.tree.finding(codes::DOC, module, expr.span(), message));
                    }
                },
            }
        }
        let text = flowx_syntax::join_doc(&lines);
        *doc = (!text.is_empty()).then_some(Doc::Text(text));
    }

    fn text_of(&self, module: ModuleId, expr: &syn::Expr) -> Result<String, String> {
        match expr {
            syn::Expr::Lit(syn::ExprLit { lit, .. }) => match lit {
                syn::Lit::Str(s) => Ok(s.value()),
                syn::Lit::Int(i) => Ok(i.base10_digits().to_owned()),
                syn::Lit::Bool(b) => Ok(b.value.to_string()),
                syn::Lit::Char(c) => Ok(c.value().to_string()),
                _ => Err("a literal that is not text".to_owned()),
            },
            syn::Expr::Group(g) => self.text_of(module, &g.expr),
            syn::Expr::Macro(m) if m.mac.path.is_ident("include_str") => {
                let path = m.mac.parse_body::<syn::Expr>().map_err(|e| e.to_string())?;
                let path = self.text_of(module, &path)?;
                self.tree.include_str(self.files, module, &path)
            }
            syn::Expr::Macro(m) if m.mac.path.is_ident("concat") => {
                let parse =
                    syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
                let parts = m.mac.parse_body_with(parse).map_err(|e| e.to_string())?;
                parts
                    .iter()
                    .map(|part| self.text_of(module, part))
                    .collect()
            }
            _ => Err("only literals, concat! and include_str! are read".to_owned()),
        }
    }

    /// An item that only tests compile and that carries a FlowX attribute.
    fn under_test(&mut self, module: ModuleId, item: &Item) {
        let attrs = item_attrs(item);
        if !self.tree.cfg_with_test(attrs) {
            return;
        }
        let mut strays = Strays::new(self.tree, module);
        strays.visit_item(item);
        for (span, word, _) in strays.found {
            let message = format!(
                "this `#[{word}]` stands under cfg(test), so the manifest does not have it"
            );
            self.report(self.tree.finding(codes::CFG_TEST, module, span, message));
        }
    }

    /// A `mod` item: its own items are another module's, unless only tests compile it.
    fn stray_module(&mut self, module: ModuleId, item: &syn::ItemMod) {
        if self.tree.cfg(&item.attrs).is_ok_and(|c| c.is_false()) && item.content.is_some() {
            self.under_test(module, &Item::Mod(item.clone()));
        }
    }

    /// FlowX attributes at places where they cannot declare anything.
    fn strays(&mut self, module: ModuleId, item: &Item) {
        if let Item::Macro(mac) = item
            && module == ModuleId(0)
            && mac
                .mac
                .path
                .segments
                .last()
                .is_some_and(|s| s.ident == "include_manifest")
        {
            let resolved = self
                .tree
                .resolver()
                .resolve(module, &mac.mac.path, Ns::Macro);
            if let Ok(Resolved::Foreign { krate, .. }) = resolved
                && krate == crate::flowx_names::RUNTIME
            {
                self.out.includes_manifest = true;
                return;
            }
        }
        let mut strays = Strays::new(self.tree, module);
        strays.inside_item(item);
        for (span, word, place) in strays.found {
            let (code, message) = match place {
                Place::Body => (
                    codes::IN_BODY,
                    format!(
                        "this `#[{word}]` stands inside a function body, where no module can name it"
                    ),
                ),
                Place::Member => (
                    codes::NOT_A_FREE_FN,
                    format!(
                        "`#[{word}]` declares a free item of a module, and this is part of another item"
                    ),
                ),
                Place::MacroCall(name) => (
                    codes::IN_MACRO_CALL,
                    format!(
                        "this `#[{word}]` stands inside `{name}!`, and what a macro makes of it the scan cannot see"
                    ),
                ),
                Place::MacroRules(name) => (
                    codes::IN_MACRO_RULES,
                    format!(
                        "`{name}!` writes `#[{word}]`, and the scan does not see what macros write"
                    ),
                ),
            };
            self.report(self.tree.finding(code, module, span, message));
        }
    }
}

/// Where a stray attribute stands.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    Body,
    Member,
    MacroCall(String),
    MacroRules(String),
}

/// Finds FlowX attributes at any depth.
struct Strays<'t> {
    tree: &'t Tree,
    module: ModuleId,
    place: Place,
    found: Vec<(Span, &'static str, Place)>,
}

impl<'t> Strays<'t> {
    fn new(tree: &'t Tree, module: ModuleId) -> Self {
        Self {
            tree,
            module,
            place: Place::Member,
            found: Vec::new(),
        }
    }

    /// Everything but the item's own attributes, which have been read.
    fn inside_item(&mut self, item: &Item) {
        match item {
            Item::Fn(f) => self.visit_block(&f.block),
            item => {
                let mut item = item.clone();
                set_attrs(&mut item, Vec::new());
                self.visit_item(&item);
            }
        }
    }

    fn check(&mut self, path: &syn::Path, span: Span, certain: bool) {
        let Some(last) = path.segments.last() else {
            return;
        };
        let Some(word) = WORDS.iter().copied().find(|w| last.ident == w) else {
            // A renamed one is found only by its path.
            if let Some(word) = self.tree.resolver().flowx(self.module, path) {
                self.found.push((span, word, self.place.clone()));
            }
            return;
        };
        match self.tree.resolver().resolve(self.module, path, Ns::Macro) {
            Ok(_) => {
                if let Some(word) = self.tree.resolver().flowx(self.module, path) {
                    self.found.push((span, word, self.place.clone()));
                }
            }
            // Where a macro is used, the name may well be FlowX's.
            Err(_) if !certain || path.segments[0].ident == "$crate" => {
                if self.tree.resolver().flowx(self.module, path).is_some()
                    || path.segments.len() == 1
                {
                    self.found.push((span, word, self.place.clone()));
                }
            }
            Err(_) => {
                if let Some(word) = self.tree.resolver().flowx(self.module, path) {
                    self.found.push((span, word, self.place.clone()));
                }
            }
        }
    }

    /// Attributes among the tokens of a macro: `#`, then brackets that begin with a path.
    fn tokens(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (i, tree) in trees.iter().enumerate() {
            let TokenTree::Group(group) = tree else {
                continue;
            };
            let hash = |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == '#');
            let bang = |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == '!');
            let before = |n: usize| i.checked_sub(n);
            let is_attr = group.delimiter() == proc_macro2::Delimiter::Bracket
                && (before(1).is_some_and(hash)
                    || (before(1).is_some_and(bang) && before(2).is_some_and(hash)));
            if is_attr {
                self.attribute_tokens(group.stream());
            } else {
                self.tokens(group.stream());
            }
        }
    }

    /// The inside of `#[…]`: a path, and for `cfg_attr` and `derive` more of them in its brackets.
    fn attribute_tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut span = None;
        let mut rest = tokens.into_iter().peekable();
        while let Some(tree) = rest.peek() {
            match tree {
                TokenTree::Ident(ident) => {
                    path.push(ident.to_string());
                    span = Some(ident.span());
                }
                TokenTree::Punct(p) if matches!(p.as_char(), ':' | '$') => {}
                _ => break,
            }
            rest.next();
        }
        let Some(span) = span else { return };
        let last = path.last().map(String::as_str).unwrap_or_default();
        if last == "cfg_attr" || last == "derive" {
            if let Some(TokenTree::Group(group)) = rest.next() {
                let mut part = TokenStream::new();
                for tree in group.stream() {
                    match tree {
                        TokenTree::Punct(p) if p.as_char() == ',' => {
                            self.attribute_tokens(std::mem::take(&mut part));
                        }
                        tree => part.extend([tree]),
                    }
                }
                self.attribute_tokens(part);
            }
            return;
        }
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        if let Ok(path) = syn::parse_str::<syn::Path>(&path.join("::")) {
            self.check(&path, span, false);
        }
    }

    fn within(&mut self, place: Place, f: impl FnOnce(&mut Self)) {
        // A macro inside of a function stays a macro; a body inside of a member is a body.
        let keep = matches!(self.place, Place::MacroCall(_) | Place::MacroRules(_));
        let before = if keep {
            self.place.clone()
        } else {
            std::mem::replace(&mut self.place, place)
        };
        f(self);
        self.place = before;
    }
}

impl<'ast> Visit<'ast> for Strays<'_> {
    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        if attr.path().is_ident("cfg_attr") || attr.path().is_ident("derive") {
            if let syn::Meta::List(list) = &attr.meta {
                let path = &list.path;
                let tokens = &list.tokens;
                self.attribute_tokens(quote::quote!(#path(#tokens)));
            }
        } else {
            self.check(attr.path(), attr.path().span(), true);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.within(Place::Body, |this| visit::visit_block(this, block));
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = mac
            .path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default();
        self.within(Place::MacroCall(name), |this| {
            this.tokens(mac.tokens.clone())
        });
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        match &item.ident {
            Some(name) => {
                self.within(Place::MacroRules(name.to_string()), |this| {
                    this.tokens(item.mac.tokens.clone())
                });
            }
            None => self.visit_macro(&item.mac),
        }
    }
}

/// Puts other attributes on an item.
fn set_attrs(item: &mut Item, attrs: Vec<Attribute>) {
    match item {
        Item::Const(i) => i.attrs = attrs,
        Item::Enum(i) => i.attrs = attrs,
        Item::ExternCrate(i) => i.attrs = attrs,
        Item::Fn(i) => i.attrs = attrs,
        Item::ForeignMod(i) => i.attrs = attrs,
        Item::Impl(i) => i.attrs = attrs,
        Item::Macro(i) => i.attrs = attrs,
        Item::Mod(i) => i.attrs = attrs,
        Item::Static(i) => i.attrs = attrs,
        Item::Struct(i) => i.attrs = attrs,
        Item::Trait(i) => i.attrs = attrs,
        Item::TraitAlias(i) => i.attrs = attrs,
        Item::Type(i) => i.attrs = attrs,
        Item::Union(i) => i.attrs = attrs,
        Item::Use(i) => i.attrs = attrs,
        _ => {}
    }
}

impl Tree {
    /// The text of a file that a module's source includes.
    pub(crate) fn include_str(
        &self,
        files: &dyn Files,
        module: ModuleId,
        path: &str,
    ) -> Result<String, String> {
        let from = self
            .source(module)
            .path
            .parent()
            .unwrap_or(std::path::Path::new(""))
            .to_path_buf();
        let path = normalise(&from.join(path));
        let shown = crate::files::display(&self.package, &path);
        let bytes = files.read(&path).map_err(|e| format!("{shown}: {e}"))?;
        self.note_read(&path);
        String::from_utf8(bytes)
            .map(|t| t.replace("\r\n", "\n"))
            .map_err(|_| format!("{shown} is not UTF-8"))
    }

    /// Whether tests compile a thing with these attributes.
    fn cfg_with_test(&self, attrs: &[Attribute]) -> bool {
        let mut set = (*self.cfg).clone();
        set.set("test", true);
        set.of_attributes(attrs).is_ok_and(|c| !c.is_false())
    }
}
