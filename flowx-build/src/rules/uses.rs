//! What a body asks its context for: `cx.effect::<E>()`, `cx.step::<C>(…)`, `cx.call::<F>(…)`.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, GenericArgument, Item, Pat};

use crate::scan::{ItemRef, Ns, Resolved};

/// The calls of one body.
#[derive(Default)]
pub(crate) struct Uses<'t> {
    pub(crate) calls: Vec<Call<'t>>,
    /// Whether the context is handed on, so that helpers may use it too.
    pub(crate) handed_on: bool,
}

/// One call on the context with a type.
pub(crate) struct Call<'t> {
    pub(crate) method: String,
    /// What the type means; `None` where the scan cannot see it, which is rustc's to judge.
    pub(crate) target: Option<Target<'t>>,
    pub(crate) shown: String,
    pub(crate) span: Span,
}

/// A type by what it is, whatever it is called here.
#[derive(PartialEq)]
pub(crate) enum Target<'t> {
    Item(ItemRef<'t>),
    Foreign(String),
}

pub(crate) fn of<'t>(on: ItemRef<'t>) -> Uses<'t> {
    let Item::Fn(function) = on.item else {
        return Uses::default();
    };
    let context = match function.sig.inputs.first() {
        Some(FnArg::Typed(first)) => match &*first.pat {
            Pat::Ident(pat) => pat.ident.clone(),
            _ => return Uses::default(),
        },
        _ => return Uses::default(),
    };
    let mut reader = Reader {
        on,
        context,
        out: Uses::default(),
    };
    reader.visit_block(&function.block);
    reader.out
}

/// Whether a path in a declaration means the same type.
pub(crate) fn same<'t>(on: ItemRef<'t>, path: &syn::Path, target: &Target<'t>) -> bool {
    // A path that leads nowhere has been reported; nothing is to be said of its absence.
    resolve(on, path, 0).is_none_or(|found| found == *target)
}

fn resolve<'t>(on: ItemRef<'t>, path: &syn::Path, depth: usize) -> Option<Target<'t>> {
    match on.tree.resolver().resolve(on.module, path, Ns::Type).ok()? {
        Resolved::Item(item) => match item.item {
            Item::Type(alias) if depth < 16 => match &*alias.ty {
                syn::Type::Path(path) => resolve(item, &path.path, depth + 1),
                _ => None,
            },
            _ => Some(Target::Item(item)),
        },
        Resolved::Foreign { krate, path } => Some(Target::Foreign(format!("{krate}::{path}"))),
        _ => None,
    }
}

struct Reader<'t> {
    on: ItemRef<'t>,
    context: syn::Ident,
    out: Uses<'t>,
}

impl Reader<'_> {
    fn is_context(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(p) if p.path.is_ident(&self.context))
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.is_context(&call.receiver) {
            if let Some(turbofish) = &call.turbofish
                && let (Some(GenericArgument::Type(syn::Type::Path(ty))), 1) =
                    (turbofish.args.first(), turbofish.args.len())
            {
                self.out.calls.push(Call {
                    method: call.method.to_string(),
                    target: resolve(self.on, &ty.path, 0),
                    shown: flowx_syntax::path_text(&ty.path),
                    span: ty.path.span(),
                });
            } else if ["effect", "step", "call"].contains(&call.method.to_string().as_str()) {
                // The type is inferred: which one it is, only rustc knows.
                self.out.handed_on = true;
            }
            for argument in &call.args {
                self.visit_expr(argument);
            }
            return;
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.out.handed_on |= path.path.is_ident(&self.context);
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {
        self.out.handed_on = true;
    }
}
