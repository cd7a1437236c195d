//! What stands in for a declaration that has errors: the type and impls that allow everything, so that the rest of the crate is
//! still checked and says nothing about this mistake. It never runs, since the build fails.

use flowx_syntax::{On, Problems};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{FnArg, ReturnType, Type};

use crate::common::{errors, private, raised};
use crate::findings::{self, Found};
use crate::item::{FnItem, Sorted, all_tokens, inner_fn};

/// A function whose declaration has errors.
pub(crate) struct Shell<'a> {
    item: &'a FnItem,
    flow: bool,
    /// Whether the body is left out: it names what the declaration names wrongly.
    bodiless: bool,
}

impl<'a> Shell<'a> {
    pub(crate) fn capability(item: &'a FnItem) -> Self {
        Self {
            item,
            flow: false,
            bodiless: false,
        }
    }

    pub(crate) fn flow(item: &'a FnItem) -> Self {
        Self {
            item,
            flow: true,
            bodiless: false,
        }
    }

    /// Without a body, where what was found says that a path of the declaration leads to something else.
    pub(crate) fn after(mut self, found: &Found) -> Self {
        self.bodiless = found.misled;
        self
    }

    pub(crate) fn tokens(&self) -> TokenStream {
        let rt = private();
        let Sorted { cfgs, docs, inner } = Sorted::of(&self.item.attrs);
        let (vis, name) = (&self.item.vis, &self.item.sig.ident);
        let context = if self.flow { "FlowCx" } else { "Cx" };
        let salvaged = Salvaged::of(&self.item.sig, context);
        let Salvaged {
            input,
            output,
            error,
            ..
        } = &salvaged;
        let kind = if self.flow { "Flow" } else { "Capability" };
        let (context, kind) = (
            Ident::new(context, Span::call_site()),
            Ident::new(kind, Span::call_site()),
        );
        // A body under a signature that is wrong would only repeat what is wrong; one that merely lacks `async` is given it.
        let body = match &salvaged.sig {
            Some(sig) => {
                let inner = if self.bodiless {
                    // The signature alone, so that what it imports is used.
                    quote!(#[allow(unused_variables, clippy::unimplemented)] #sig { ::core::unreachable!() })
                } else {
                    inner_fn(self.item, &inner, sig)
                };
                let call = if sig.inputs.len() == 2 {
                    quote!(#name(cx, input))
                } else {
                    quote!(#name(cx))
                };
                quote! {
                    #[allow(clippy::unused_async)]
                    #inner
                    let _ = &input;
                    #call
                }
            }
            None => quote! {
                let _ = (cx, input);
                #[allow(clippy::diverging_sub_expression, unreachable_code)]
                async { ::core::unreachable!() }
            },
        };
        let constants = if self.flow {
            quote! {
                const INFO: #rt::FlowInfo = #rt::FlowInfo { id: "", version: "", deadline_ms: 0 };
                const EFFECTS: &'static [&'static [&'static str]] = &[];
                const SIDE_EFFECTS: bool = false;
            }
        } else {
            quote! {
                const INFO: #rt::CapabilityInfo = #rt::CapabilityInfo {
                    id: "", version: "", stance: #rt::Stance::Internal, effects: &[], side_effects: false, idempotent: true,
                };
            }
        };
        let allowances = if self.flow {
            quote! {
                #(#cfgs)*
                impl<C: #rt::Capability> #rt::HasStep<C> for #name {
                    const STEP: #rt::StepInfo = #rt::StepInfo { name: "", timeout_ms: 0, attempts: 1, backoff_ms: 0 };
                    type Undo = #rt::NoUndo;
                    fn again(_: &C::Input) -> ::core::option::Option<C::Input> { ::core::option::Option::None }
                }
                #(#cfgs)*
                impl<F: #rt::Flow> #rt::HasFlow<F> for #name {
                    const STEP: #rt::StepInfo = #rt::StepInfo { name: "", timeout_ms: 0, attempts: 1, backoff_ms: 0 };
                }
            }
        } else {
            quote! {
                #(#cfgs)*
                impl<E: #rt::Effect> #rt::Declares<E> for #name {}
            }
        };
        let raised = raised(name, &self.item.attrs);
        quote! {
            #raised
            #(#cfgs)*
            #(#docs)*
            #[allow(non_camel_case_types)]
            #vis enum #name {}

            #(#cfgs)*
            #[allow(deprecated)]
            impl #rt::#kind for #name {
                type Input = #input;
                type Output = #output;
                type Error = #error;
                #constants
                fn run(cx: &#rt::#context<Self>, input: Self::Input)
                    -> impl ::core::future::Future<Output = ::core::result::Result<Self::Output, Self::Error>> + ::core::marker::Send
                {
                    #body
                }
            }
            #allowances
        }
    }
}

/// What can still be read of a signature.
struct Salvaged {
    input: TokenStream,
    output: TokenStream,
    error: TokenStream,
    /// The signature to compile the body under, when there is one.
    sig: Option<syn::Signature>,
}

impl Salvaged {
    fn of(sig: &syn::Signature, context: &str) -> Self {
        let plain = |ty: &Type| {
            !matches!(
                ty,
                Type::Reference(_) | Type::ImplTrait(_) | Type::Infer(_) | Type::Macro(_)
            )
        };
        let generic = !sig.generics.params.is_empty();
        let second = match sig.inputs.iter().nth(1) {
            Some(FnArg::Typed(typed)) if plain(&typed.ty) && !generic => Some(&*typed.ty),
            _ => None,
        };
        let unit = quote!(());
        let never = quote!(::core::convert::Infallible);
        let returns = match &sig.output {
            ReturnType::Type(_, ty) if plain(ty) && !generic => Some(&**ty),
            _ => None,
        };
        let rt = private();
        let parts = returns.map(|ty| {
            let signature = flowx_syntax::Signature {
                ident: sig.ident.clone(),
                input: None,
                returns: ty.clone(),
            };
            (
                signature.result().is_some(),
                crate::capability::answer(&rt, &signature),
            )
        });
        let written = parts.as_ref().is_some_and(|(written, _)| *written);
        let (output, error) = match (parts, returns) {
            (Some((true, parts)), _) => parts,
            (_, Some(ty)) => (ty.to_token_stream(), never),
            _ => (unit.clone(), never),
        };
        let context_first = matches!(
            sig.inputs.first(),
            Some(FnArg::Typed(first)) if is_context(&first.ty, context, &sig.ident)
        );
        let shaped = written
            && context_first
            && !generic
            && sig.generics.where_clause.is_none()
            && sig.inputs.len() <= 2
            && (sig.inputs.len() < 2 || second.is_some())
            && sig.constness.is_none()
            && sig.abi.is_none()
            && matches!(sig.safety, syn::Safety::Default);
        let sig = shaped.then(|| {
            let mut sig = sig.clone();
            sig.asyncness
                .get_or_insert(syn::Token![async](Span::call_site()));
            sig
        });
        Self {
            input: second.map_or(unit, ToTokens::to_token_stream),
            output,
            error,
            sig,
        }
    }
}

/// `&Cx<name>`, as it has to be.
fn is_context(ty: &Type, context: &str, name: &Ident) -> bool {
    let Type::Reference(reference) = ty else {
        return false;
    };
    let Type::Path(path) = &*reference.elem else {
        return false;
    };
    path.path.segments.last().is_some_and(|last| {
        let of = last.arguments.to_token_stream().to_string();
        let of = of.trim_matches(|c: char| c == '<' || c == '>' || c.is_whitespace());
        last.ident == context && (*name == of.rsplit("::").next().unwrap_or(of).trim())
    })
}

/// A declaration on a free function: how its attribute is read, and what becomes of both.
pub(crate) trait OnFn: Sized {
    /// The attribute.
    const WORD: &'static str;
    fn read(args: TokenStream, on: On<'_>) -> Result<Self, Problems>;
    /// `id@major`.
    fn id(&self) -> String;
    /// The function's name.
    fn name(&self) -> &Ident;
    /// What stands for it where it cannot be read or what was found is fatal.
    fn shell(item: &FnItem) -> Shell<'_>;
    /// What it becomes otherwise.
    fn expand(&self, item: &FnItem, id: &str, found: &Found) -> TokenStream;
}

/// Expands the attribute of such a declaration.
pub(crate) fn expand<D: OnFn>(args: TokenStream, tokens: TokenStream) -> TokenStream {
    let Ok(item) = syn::parse2::<FnItem>(tokens.clone()) else {
        return not_a_function(&format!("`#[{}]`", D::WORD), tokens);
    };
    let on = On::Fn {
        attrs: &item.attrs,
        sig: &item.sig,
    };
    match D::read(args.clone(), on) {
        Ok(decl) => {
            let id = decl.id();
            let place = || [args.clone(), all_tokens(&item)];
            let found = findings::about(D::WORD, &id, decl.name(), place);
            if found.fatal {
                let shell = D::shell(&item).after(&found).tokens();
                let errors = found.tokens;
                return quote!(#errors #shell);
            }
            decl.expand(&item, &id, &found)
        }
        Err(problems) => {
            let errors = errors(problems);
            let shell = D::shell(&item).tokens();
            quote!(#errors #shell)
        }
    }
}

/// Something that is no function at all: the error, and the item as it is.
fn not_a_function(place: &str, tokens: TokenStream) -> TokenStream {
    let span = match syn::parse2::<syn::Item>(tokens.clone()) {
        Ok(item) => name_of(&item),
        Err(error) => {
            // It does not parse as anything: rustc's own words for that are better than ours.
            let error = error.into_compile_error();
            return quote!(#error);
        }
    };
    let message = format!(
        "{place} stands on an async fn [{}]",
        flowx_syntax::codes::SHAPE
    );
    let error = quote_spanned!(span=> ::core::compile_error!(#message););
    quote!(#error #tokens)
}

fn name_of(item: &syn::Item) -> Span {
    match item {
        syn::Item::Struct(i) => i.ident.span(),
        syn::Item::Enum(i) => i.ident.span(),
        syn::Item::Mod(i) => i.ident.span(),
        syn::Item::Trait(i) => i.ident.span(),
        syn::Item::Type(i) => i.ident.span(),
        syn::Item::Const(i) => i.ident.span(),
        syn::Item::Static(i) => i.ident.span(),
        other => other.span(),
    }
}
