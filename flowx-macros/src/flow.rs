//! `#[flow]`: the type of the function's name, `impl Flow` with the body, one `HasStep` or `HasFlow` per step, the entry.

use flowx_manifest::Confirmation;
use flowx_syntax::{FlowDecl, On, Problems, StepDecl, digest, parse_flow};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::capability::{answer, run};
use crate::common::{Entry, private};
use crate::findings::Found;
use crate::item::{FnItem, Sorted};
use crate::shell::{OnFn, Shell};

impl OnFn for FlowDecl {
    const WORD: &'static str = "flow";

    fn read(args: TokenStream, on: On<'_>) -> Result<Self, Problems> {
        parse_flow(Span::call_site(), args, on)
    }

    fn id(&self) -> String {
        format!("{}@{}", self.id.value, self.version.value.major)
    }

    fn name(&self) -> &Ident {
        &self.signature.ident
    }

    fn shell(item: &FnItem) -> Shell<'_> {
        Shell::flow(item)
    }

    fn expand(&self, item: &FnItem, id: &str, found: &Found) -> TokenStream {
        healthy(item, self, id, found)
    }
}

fn healthy(item: &FnItem, decl: &FlowDecl, id: &str, found: &Found) -> TokenStream {
    let rt = private();
    let Sorted { cfgs, docs, inner } = Sorted::of(&item.attrs);
    let (vis, name) = (&item.vis, &decl.signature.ident);
    let input = match &decl.signature.input {
        Some(ty) => quote!(#ty),
        None => quote!(#rt::NoInput),
    };
    let (output, error) = answer(&rt, &decl.signature);
    let (flow_id, version) = (decl.id.value.as_str(), decl.version.value.to_string());
    let deadline = decl.deadline.as_ref().map_or(0, |d| d.value.millis());
    let body = run(&rt, item, &inner, "FlowCx", decl.signature.input.is_some());
    let steps = decl
        .steps
        .iter()
        .map(|step| step_impl(&rt, name, step, &cfgs));
    let effects = effects(&rt, decl);
    let side_effects = side_effects(&rt, decl);
    let proofs = proofs(&rt, decl, &cfgs);
    let entry = Entry {
        kind: "flow",
        id: id.to_owned(),
        digest: digest(decl),
        effects: quote!(<#name as #rt::Flow>::EFFECTS),
        // P4 looks at the types in tests only; elsewhere they would be compiled for nothing.
        register: quote! {
            #[cfg(not(test))]
            register: |registry| registry.flow_with::<#name>(#rt::sampled!(<#name as #rt::Flow>::Output)),
            #[cfg(test)]
            register: |registry| {
                registry.flow::<#name>();
                registry.probe::<#name>(#rt::probe!(<#name as #rt::Flow>::Input), #rt::probe!(<#name as #rt::Flow>::Output));
            },
        },
        span: name.span(),
        cfgs: &cfgs,
    };
    let entry = entry.tokens(found);
    let warnings = &found.tokens;
    quote! {
        #warnings
        #(#cfgs)*
        #(#docs)*
        #[allow(non_camel_case_types, clippy::empty_enum, clippy::empty_enums)]
        #vis enum #name {}

        #(#cfgs)*
        #[automatically_derived]
        #[allow(deprecated)]
        impl #rt::Flow for #name {
            type Input = #input;
            type Output = #output;
            type Error = #error;
            const INFO: #rt::FlowInfo = #rt::FlowInfo { id: #flow_id, version: #version, deadline_ms: #deadline };
            const EFFECTS: &'static [&'static [&'static str]] = #effects;
            const SIDE_EFFECTS: bool = #side_effects;
            #body
        }

        #(#steps)*
        #proofs
        #entry
    }
}

/// Every capability that a call can reach here, compensations included, with its place.
fn reached(decl: &FlowDecl) -> impl Iterator<Item = &syn::Path> {
    let steps = decl.steps.iter().filter(|s| !s.is_flow).map(|s| &s.target);
    steps.chain(decl.steps.iter().filter_map(|s| s.compensate.as_ref()))
}

fn sub_flows(decl: &FlowDecl) -> impl Iterator<Item = &syn::Path> {
    decl.steps.iter().filter(|s| s.is_flow).map(|s| &s.target)
}

/// The effects of everything reached; those of sub-flows are joined on in const.
fn effects(rt: &TokenStream, decl: &FlowDecl) -> TokenStream {
    let own: Vec<TokenStream> = reached(decl)
        .map(|path| quote_spanned!(path.span()=> <#path as #rt::Capability>::INFO.effects))
        .collect();
    let subs: Vec<TokenStream> = sub_flows(decl)
        .map(|path| quote_spanned!(path.span()=> <#path as #rt::Flow>::EFFECTS))
        .collect();
    if subs.is_empty() {
        return quote!(&[#(#own),*]);
    }
    let count = own.len();
    quote!({
        const COUNT: usize = #count #(+ #subs.len())*;
        const ALL: [&[&str]; COUNT] = #rt::join(&[&[#(#own),*], #(#subs),*]);
        &ALL
    })
}

fn side_effects(rt: &TokenStream, decl: &FlowDecl) -> TokenStream {
    let own = reached(decl)
        .map(|path| quote_spanned!(path.span()=> <#path as #rt::Capability>::INFO.side_effects));
    let subs = sub_flows(decl)
        .map(|path| quote_spanned!(path.span()=> <#path as #rt::Flow>::SIDE_EFFECTS));
    quote!(false #(|| #own)* #(|| #subs)*)
}

fn step_impl(
    rt: &TokenStream,
    name: &syn::Ident,
    step: &StepDecl,
    cfgs: &[syn::Attribute],
) -> TokenStream {
    let target = &step.target;
    let span = target.span();
    let step_name = step.name.value.as_str();
    let timeout = step.timeout.as_ref().map_or(0, |t| t.value.millis());
    let attempts = step.attempts.as_ref().map_or(1, |a| a.value);
    let backoff = step.backoff.as_ref().map_or(200, |b| b.value.millis());
    let info = quote! {
        const STEP: #rt::StepInfo =
            #rt::StepInfo { name: #step_name, timeout_ms: #timeout, attempts: #attempts, backoff_ms: #backoff };
    };
    if step.is_flow {
        return quote_spanned! {span=>
            #(#cfgs)*
            #[automatically_derived]
            #[allow(deprecated)]
            impl #rt::HasFlow<#target> for #name { #info }
        };
    }
    let undo = match &step.compensate {
        Some(path) => quote_spanned!(path.span()=> #rt::UndoBy<#path>),
        None => quote!(#rt::NoUndo),
    };
    let again = (attempts > 1).then(|| {
        let at = step.attempts.as_ref().map_or(span, |a| a.span);
        // The argument's own place must not be the number's, or rustc proposes to borrow the number.
        let input = quote!(input);
        let again = quote_spanned!(at=> ::core::option::Option::Some(#rt::again(#input)));
        quote_spanned! {span=>
            fn again(
                input: &<#target as #rt::Capability>::Input,
            ) -> ::core::option::Option<<#target as #rt::Capability>::Input> {
                #again
            }
        }
    });
    quote_spanned! {span=>
        #(#cfgs)*
        #[automatically_derived]
        #[allow(deprecated)]
        impl #rt::HasStep<#target> for #name {
            #info
            type Undo = #undo;
            #again
        }
    }
}

/// What the types know by themselves, across crates and through any alias: an agent never runs side effects unasked (1046), and nothing
/// is tried again that is not safe to repeat (1014). The scan finds both earlier, with more to say; this holds where no scan ran.
fn proofs(rt: &TokenStream, decl: &FlowDecl, cfgs: &[syn::Attribute]) -> TokenStream {
    let name = &decl.signature.ident;
    let mut all = TokenStream::new();
    if let Some(agent) = decl
        .agent
        .as_ref()
        .filter(|a| a.confirmation.value == Confirmation::Never)
    {
        let message = "`confirmation = never` over side effects: an agent would run them with nobody asked; leave \
                       `confirmation` out, or say `required_for_side_effects` [FLOWX1046]";
        all.extend(quote_spanned! {agent.confirmation.span=>
            #(#cfgs)*
            const _: () = ::core::assert!(!<#name as #rt::Flow>::SIDE_EFFECTS, #message);
        });
    }
    for step in &decl.steps {
        let Some(attempts) = step.attempts.as_ref().filter(|a| a.value > 1) else {
            continue;
        };
        let target = &step.target;
        let message = format!(
            "step `{}` may run its capability {} times, and the capability is not idempotent: declare `idempotent = true` there \
             and keep it, or take `attempts` away [FLOWX1014]",
            step.name.value, attempts.value
        );
        all.extend(quote_spanned! {attempts.span=>
            #(#cfgs)*
            const _: () = ::core::assert!(<#target as #rt::Capability>::INFO.idempotent, #message);
        });
    }
    all
}
