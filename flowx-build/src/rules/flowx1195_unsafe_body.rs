use proc_macro2::Span;
use syn::visit::{self, Visit};

use super::{Sink, View, bodies};

rule! {
    /// ## What it catches
    ///
    /// An `unsafe` block in a capability or flow.
    ///
    /// ## Why it matters
    ///
    /// Inside it the types hold nothing: a handle can be made out of a number. What a capability cannot do is known only while its body is safe.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// async fn pay(cx: &Cx<pay>, order: Order) -> Result<Receipt, No> {
    ///     let gateway = unsafe { &*(ADDRESS as *const Gateway) };
    /// ```
    ///
    /// ## Instead
    ///
    /// Put what needs it behind an effect's methods, where it is reviewed as what it is.
    FLOWX1195, "a body is unsafe", Error, check
}

#[derive(Default)]
struct Finder(Vec<Span>);

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.0.push(block.unsafe_token.span);
        visit::visit_expr_unsafe(self, block);
    }
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for body in bodies::all(view) {
        let mut finder = Finder::default();
        finder.visit_block(&body.function.block);
        for span in finder.0 {
            let message = format!("this {} is unsafe: in here the types hold nothing", body.kind);
            let help = "put what needs it behind the methods of an effect";
            sink((body.report)(RULE.code(), span, message).help(help).into());
        }
    }
}
