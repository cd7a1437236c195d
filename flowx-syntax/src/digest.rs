//! What was read, as one number: the macro and the scan digest the same declaration to the same value, or one of them read something
//! else (proof P2). Spans, spacing, comments and the spelling of literals play no part; neither does which parser of tokens ran.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

use crate::args::ungroup;
use crate::{
    AgentDecl, CapabilityDecl, Doc, DocPart, EffectDecl, FlowDecl, FlowErrorDecl, FlowErrorKind,
    Signature,
};

/// The number that stands for one entry in `impl FlowEntry<KEY>`: of its kind (`capability`, `flow`, `effect`, `agent`) and its
/// `id@major` (`payment.refund@1`; of an effect or agent the id alone). Two entries of one key are a compiler error.
pub fn key(kind: &str, id: &str) -> u64 {
    let mut sink = Sink::new("key");
    sink.text(kind);
    sink.text(id);
    sink.finish()
}

/// The number under which the macro on an item says that it has raised an error, so that the generated code need not raise one more: made
/// of the item's name and of its line (from 1) and column (from 0).
pub fn raised_key(name: &proc_macro2::Ident, line: usize, column: usize) -> u64 {
    key("raised", &format!("{name} {line}:{column}"))
}

/// The digest of a declaration.
pub fn digest<D: Digest + ?Sized>(decl: &D) -> u64 {
    let mut sink = Sink::new("declaration");
    decl.feed(&mut sink);
    sink.finish()
}

/// What can be digested.
pub trait Digest {
    /// Feeds everything that is published.
    fn feed(&self, sink: &mut Sink);
}

/// Takes fields in; each is told from its neighbours by its length.
pub struct Sink(Vec<u8>);

impl Sink {
    fn new(domain: &str) -> Self {
        let mut sink = Self(Vec::with_capacity(512));
        sink.text(domain);
        sink
    }

    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn flag(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    fn option<T>(&mut self, value: Option<T>, feed: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            feed(self, value);
        }
    }

    fn list<T>(&mut self, items: &[T], mut feed: impl FnMut(&mut Self, &T)) {
        self.0
            .extend_from_slice(&(items.len() as u64).to_le_bytes());
        for item in items {
            feed(self, item);
        }
    }

    fn tokens(&mut self, tokens: &impl ToTokens) {
        self.stream(ungroup(tokens.to_token_stream()));
    }

    fn stream(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => self.text(&format!("i{ident}")),
                // One by one, so that it does not matter who joined them.
                TokenTree::Punct(punct) => self.text(&format!("p{}", punct.as_char())),
                TokenTree::Literal(literal) => self.text(&format!("l{}", plain_literal(literal))),
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.text(open);
                    self.stream(group.stream());
                    self.text(close);
                }
            }
        }
        self.text("end");
    }

    fn finish(self) -> u64 {
        let hex = flowx_manifest::digest(&self.0);
        // The digest is `blake3:` or bare hexadecimal; its last sixteen digits are sixty-four bits.
        let digits = hex.get(hex.len().saturating_sub(16)..).unwrap_or_default();
        u64::from_str_radix(digits, 16).expect("a blake3 digest ends in sixteen hexadecimal digits")
    }
}

/// A literal by its value, where spelling could differ.
fn plain_literal(literal: proc_macro2::Literal) -> String {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(s) => format!("{:?}", s.value()),
        syn::Lit::Char(c) => format!("{:?}", c.value()),
        syn::Lit::Byte(b) => format!("b{}", b.value()),
        syn::Lit::ByteStr(b) => format!("b{:?}", b.value()),
        syn::Lit::Int(i) => format!("{}{}", i.base10_digits(), i.suffix()),
        syn::Lit::Float(f) => format!("{}{}", f.base10_digits(), f.suffix()),
        _ => literal.to_string(),
    }
}

impl Digest for Doc {
    fn feed(&self, sink: &mut Sink) {
        match self {
            Doc::Text(text) => {
                sink.text("text");
                sink.text(text);
            }
            Doc::Parts(parts) => {
                sink.text("parts");
                sink.list(parts, |sink, part| match part {
                    DocPart::Line(line) => sink.text(&line.replace("\r\n", "\n")),
                    DocPart::Expr(expr) => sink.tokens(expr),
                });
            }
        }
    }
}

impl Digest for Signature {
    fn feed(&self, sink: &mut Sink) {
        sink.text(&self.ident.to_string());
        sink.option(self.input.as_ref(), |sink, ty| sink.tokens(ty));
        sink.tokens(&self.returns);
    }
}

impl Digest for EffectDecl {
    fn feed(&self, sink: &mut Sink) {
        sink.text("effect");
        sink.text(&self.ident.to_string());
        sink.text(self.id.value.as_str());
        sink.text(self.class.value.as_str());
        sink.option(self.doc.as_ref(), |sink, doc| doc.feed(sink));
    }
}

impl Digest for CapabilityDecl {
    fn feed(&self, sink: &mut Sink) {
        sink.text("capability");
        self.signature.feed(sink);
        sink.text(self.id.value.as_str());
        sink.text(&self.version.value.to_string());
        match &self.authorization.value {
            flowx_manifest::Authorization::Public { approved_by } => {
                sink.text("public");
                sink.option(approved_by.as_deref(), Sink::text);
            }
            flowx_manifest::Authorization::Authenticated {} => sink.text("authenticated"),
            flowx_manifest::Authorization::Permission { permission } => {
                sink.text("permission");
                sink.text(permission.as_str());
            }
            flowx_manifest::Authorization::Internal {} => sink.text("internal"),
        }
        sink.list(&self.effects, |sink, path| sink.tokens(path));
        sink.flag(self.idempotent);
        sink.option(self.doc.as_ref(), |sink, doc| doc.feed(sink));
        sink.option(self.deprecated.as_deref(), Sink::text);
    }
}

impl Digest for FlowDecl {
    fn feed(&self, sink: &mut Sink) {
        sink.text("flow");
        self.signature.feed(sink);
        sink.text(self.id.value.as_str());
        sink.text(&self.version.value.to_string());
        sink.option(self.title.as_ref(), |sink, t| sink.text(&t.value));
        sink.option(self.owner.as_ref(), |sink, t| sink.text(&t.value));
        sink.option(self.deadline.as_ref(), |sink, t| {
            sink.text(t.value.as_str())
        });
        sink.list(&self.http, |sink, http| {
            sink.text(&http.method.value);
            sink.text(&http.route.value);
            sink.flag(http.idempotent);
        });
        sink.option(self.agent.as_ref(), |sink, agent| {
            sink.option(agent.name.as_ref(), |sink, t| sink.text(t.value.as_str()));
            sink.option(agent.description.as_ref(), |sink, t| sink.text(&t.value));
            sink.text(agent.confirmation.value.as_str());
            sink.text(agent.risk.as_str());
        });
        sink.option(self.approval.as_ref(), |sink, approval| {
            sink.flag(approval.required);
            sink.text(&format!("{:?}", approval.decided_by));
            sink.flag(approval.self_approval);
            sink.text(approval.finish.as_str());
            sink.option(approval.expires.as_ref(), |sink, t| {
                sink.text(t.value.as_str())
            });
            sink.option(approval.grant_expires.as_ref(), |sink, t| {
                sink.text(t.value.as_str())
            });
            sink.flag(approval.subject_version);
        });
        sink.list(&self.steps, |sink, step| {
            sink.text(step.name.value.as_str());
            sink.tokens(&step.target);
            sink.flag(step.is_flow);
            sink.option(step.timeout.as_ref(), |sink, t| sink.text(t.value.as_str()));
            sink.option(step.attempts.as_ref(), |sink, n| {
                sink.text(&n.value.to_string())
            });
            sink.option(step.backoff.as_ref(), |sink, t| sink.text(t.value.as_str()));
            sink.option(step.compensate.as_ref(), |sink, path| sink.tokens(path));
        });
        sink.option(self.renamed_from.as_ref(), |sink, t| {
            sink.text(t.value.as_str())
        });
        sink.option(self.doc.as_ref(), |sink, doc| doc.feed(sink));
        sink.option(self.deprecated.as_deref(), Sink::text);
    }
}

impl Digest for FlowErrorDecl {
    fn feed(&self, sink: &mut Sink) {
        sink.text("error");
        sink.text(&self.ident.to_string());
        sink.list(&self.variants, |sink, variant| {
            sink.option(variant.ident.as_ref(), |sink, ident| {
                sink.text(&ident.to_string())
            });
            match &variant.kind {
                FlowErrorKind::Code { code, category } => {
                    sink.text("code");
                    sink.text(code.value.as_str());
                    sink.text(category.as_str());
                }
                FlowErrorKind::Transparent { ty, .. } => {
                    sink.text("transparent");
                    sink.tokens(ty);
                }
            }
        });
    }
}

impl Digest for AgentDecl {
    fn feed(&self, sink: &mut Sink) {
        sink.text("agent");
        sink.text(&self.ident.to_string());
        sink.text(self.id.value.as_str());
        sink.text(&self.purpose.value);
        sink.text(&self.sponsor.value);
        for leave in [self.changes, self.sends, self.spends, self.reaches_out] {
            sink.text(leave.as_str());
        }
        let tools =
            |sink: &mut Sink,
             (leave, path): &(crate::Spanned<flowx_manifest::Leave>, syn::Path)| {
                sink.text(leave.value.as_str());
                sink.tokens(path);
            };
        sink.list(&self.tools, tools);
        sink.list(&self.skills, |sink, skill| {
            sink.text(&skill.name.value);
            sink.text(&skill.purpose.value);
            sink.list(&skill.uses, |sink, path| sink.tokens(path));
            sink.list(&skill.tools, tools);
        });
        sink.option(self.widened_by.as_ref(), |sink, t| {
            sink.text(t.value.as_str())
        });
    }
}
