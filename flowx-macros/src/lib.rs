//! The attributes and the derive of FlowX: declarations to trait impls, proofs, and errors at their place.
//!
//! Users name them through `flowx_runtime`, whose documentation says what each takes.

mod agent;
mod allow;
mod capability;
mod common;
mod effect;
mod error;
mod findings;
mod flow;
mod include;
mod item;
mod shell;

use proc_macro::TokenStream;

/// Declares a handle to something outside the program: `#[effect(id = "payment-gateway", class = spends)]` on a struct or an enum.
///
/// `class` is `reads`, `changes`, `sends`, `spends` or `reaches_out`. The doc comment is published as the effect's description.
#[proc_macro_attribute]
pub fn effect(args: TokenStream, item: TokenStream) -> TokenStream {
    effect::expand(args.into(), item.into()).into()
}

/// Declares a unit of authority and effect on an `async fn name(cx: &Cx<name>, input: Input) -> Result<Output, Error>`.
///
/// `id`, `version`, `authorization = permission("…") | authenticated | internal | public(approved_by = "…")`,
/// `effects(Ledger, …)`, `idempotent = true`. A type of the function's name takes its place.
#[proc_macro_attribute]
pub fn capability(args: TokenStream, item: TokenStream) -> TokenStream {
    shell::expand::<flowx_syntax::CapabilityDecl>(args.into(), item.into()).into()
}

/// Declares what a caller can ask for on an `async fn name(cx: &FlowCx<name>, input: Input) -> Result<Output, Error>`.
///
/// `id`, `version`, `steps(name: capability { timeout = "PT2S", attempts = 3, backoff = "PT0.2S", compensate = capability })`, and where
/// wanted `title`, `owner`, `deadline`, `http(POST, "/route", idempotent)`, `agent(name = "…", description = "…", confirmation = …, risk = …)`,
/// `approval(…)`, `renamed_from`. A type of the function's name takes its place.
#[proc_macro_attribute]
pub fn flow(args: TokenStream, item: TokenStream) -> TokenStream {
    shell::expand::<flowx_syntax::FlowDecl>(args.into(), item.into()).into()
}

/// Declares an agent on a unit struct: `id`, `purpose`, `sponsor`, its leave by class (`spends = never`) and by flow (`alone(path)`), skills.
#[proc_macro_attribute]
pub fn agent(args: TokenStream, item: TokenStream) -> TokenStream {
    agent::expand(args.into(), item.into()).into()
}

/// Quiets one rule at one item, with a reason: `#[flowx::allow(FLOWX1103, reason = "reads the build's own version file")]`.
#[proc_macro_attribute]
pub fn allow(args: TokenStream, item: TokenStream) -> TokenStream {
    allow::expand(args.into(), item.into()).into()
}

/// Gives an error type its codes: `#[flow_error(code = "refund.already_issued", category = Conflict)]` on each variant, or
/// `#[flow_error(transparent)]` on one that holds another such error.
#[proc_macro_derive(FlowError, attributes(flow_error))]
pub fn flow_error(item: TokenStream) -> TokenStream {
    error::expand(item.into()).into()
}

/// Stands once in the root of the library or binary: brings in `MANIFEST`, the registry and the test that compares contracts with serde.
#[proc_macro]
pub fn include_manifest(args: TokenStream) -> TokenStream {
    include::expand(args.into()).into()
}
