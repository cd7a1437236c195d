//! `#[flowx::allow(FLOWX1103, reason = "…")]`: quiets one rule in one item. An allowance of no rule, or of nothing, is an error of its own.

use std::cell::Cell;

use flowx_syntax::parse_allow;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::codes;
use crate::finding::Finding;
use crate::scan::find::holds;
use crate::scan::{ModuleId, Ns, Resolved, Tree};

use super::explain;

/// One rule quieted in one item.
#[derive(Debug)]
struct Allowance {
    rule: &'static str,
    file: String,
    lines: std::ops::RangeInclusive<u32>,
    used: Cell<bool>,
    unused: Finding,
}

/// Every allowance of a target.
#[derive(Debug, Default)]
pub struct Allowances(Vec<Allowance>);

impl Allowances {
    /// Reads those of a tree; what is wrong with them is among the findings.
    pub(crate) fn of(tree: &Tree, findings: &mut Vec<Finding>) -> Self {
        let mut all = Vec::new();
        for module in tree.modules() {
            // Cheap, before anything is parsed: most files say nothing of the kind.
            if !holds(&tree.source(module).text, "allow(FLOWX")
                || tree.module(module).cfg.is_false()
            {
                continue;
            }
            let mut reader = Reader {
                tree,
                module,
                all: &mut all,
                findings,
            };
            for item in tree.items(module) {
                if !matches!(item, syn::Item::Mod(m) if m.content.is_some()) {
                    reader.visit_item(item);
                }
            }
        }
        Self(all)
    }

    /// Whether one of them quiets a rule at a place, which uses it.
    pub(crate) fn quiets(&self, rule: &str, file: &str, line: u32) -> bool {
        let mut any = false;
        for allowance in &self.0 {
            if allowance.rule == rule && allowance.file == file && allowance.lines.contains(&line) {
                allowance.used.set(true);
                any = true;
            }
        }
        any
    }

    /// Those that quieted nothing.
    pub(crate) fn unused(self) -> impl Iterator<Item = Finding> {
        self.0
            .into_iter()
            .filter(|a| !a.used.get())
            .map(|a| a.unused)
    }
}

struct Reader<'r> {
    tree: &'r Tree,
    module: ModuleId,
    all: &'r mut Vec<Allowance>,
    findings: &'r mut Vec<Finding>,
}

impl Reader<'_> {
    fn attrs(&mut self, attrs: &[syn::Attribute], whole: proc_macro2::Span) {
        for attr in attrs {
            let last = attr.path().segments.last();
            if attr.path().segments.len() < 2
                || last.is_none_or(|s| s.ident != "allow")
                || !self.is_ours(attr.path())
            {
                continue;
            }
            let tokens = match &attr.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                _ => proc_macro2::TokenStream::new(),
            };
            let decl = match parse_allow(attr.path().span(), tokens) {
                Ok(decl) => decl,
                Err(problems) => {
                    for problem in problems.0 {
                        let code = codes::Code {
                            id: problem.code,
                            ..codes::SYNTAX
                        };
                        let mut finding =
                            self.tree
                                .finding(code, self.module, problem.span, problem.message);
                        finding.of_grammar = true;
                        self.findings.push(finding);
                    }
                    continue;
                }
            };
            for id in decl.rules {
                let place =
                    |code, message: String| self.tree.finding(code, self.module, id.span, message);
                match explain(&id.value) {
                    Some(rule) if rule.firm => self.findings.push(place(
                        codes::ALLOW_UNKNOWN,
                        format!("{} cannot be allowed: {}", rule.id, rule.title),
                    )),
                    Some(rule) => {
                        let (start, end) = (whole.start().line, whole.end().line);
                        let line = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                        let unused = place(
                            codes::ALLOW_UNUSED,
                            format!(
                                "{} has nothing to say here, so this allowance allows nothing; take it away",
                                rule.id
                            ),
                        );
                        self.all.push(Allowance {
                            rule: rule.id,
                            file: unused.file.clone(),
                            lines: line(start)..=line(end),
                            used: Cell::new(false),
                            unused,
                        });
                    }
                    None => {
                        let message = super::not_settable(&id.value);
                        self.findings.push(place(codes::ALLOW_UNKNOWN, message));
                    }
                }
            }
        }
    }

    fn is_ours(&self, path: &syn::Path) -> bool {
        match self.tree.resolver().resolve(self.module, path, Ns::Macro) {
            Ok(Resolved::Foreign { krate, .. }) => {
                krate == "flowx_runtime" || krate == "flowx_macros"
            }
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.attrs(crate::scan::item_attrs(item), item.span());
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.attrs(&item.attrs, item.span());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {
        // Inline modules are modules of the tree and come by themselves.
    }
}
