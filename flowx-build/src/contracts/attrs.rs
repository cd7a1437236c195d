//! The serde attributes of a container, a variant and a field, as data.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;

use super::case::Case;
use super::types::{Code, ModuleKey, Sink};

/// A pair of settings, one per direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Both<T> {
    pub(crate) ser: T,
    pub(crate) de: T,
}

/// The function that reads or writes in place of the type's own.
#[derive(Clone, Debug)]
pub(crate) enum Through {
    /// `with = "module"`.
    Module(syn::Path),
    /// `serialize_with` or `deserialize_with`.
    Function(syn::Path),
}

impl Through {
    pub(crate) fn path(&self) -> &syn::Path {
        match self {
            Through::Module(p) | Through::Function(p) => p,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ContainerAttrs {
    pub(crate) rename: Both<Option<String>>,
    pub(crate) rename_all: Both<Option<Case>>,
    pub(crate) rename_all_fields: Both<Option<Case>>,
    pub(crate) transparent: bool,
    pub(crate) deny_unknown_fields: bool,
    pub(crate) default: bool,
    pub(crate) untagged: bool,
    pub(crate) tag: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) from: Option<syn::Type>,
    pub(crate) try_from: Option<syn::Type>,
    pub(crate) into: Option<syn::Type>,
    pub(crate) remote: Option<syn::Path>,
    pub(crate) identifier: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct VariantAttrs {
    pub(crate) rename: Both<Option<String>>,
    pub(crate) aliases: Vec<String>,
    pub(crate) rename_all: Both<Option<Case>>,
    pub(crate) skip: Both<bool>,
    pub(crate) other: bool,
    pub(crate) with: Both<Option<Through>>,
    pub(crate) untagged: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FieldAttrs {
    pub(crate) rename: Both<Option<String>>,
    pub(crate) aliases: Vec<String>,
    pub(crate) default: bool,
    pub(crate) skip: Both<bool>,
    pub(crate) skip_if: bool,
    pub(crate) with: Both<Option<Through>>,
    pub(crate) flatten: bool,
}

/// Reads attributes, reporting what it cannot read.
pub(crate) struct Reader<'a> {
    pub(crate) sink: &'a Sink,
    pub(crate) module: ModuleKey,
}

impl Reader<'_> {
    pub(crate) fn container(&self, attrs: &[syn::Attribute]) -> ContainerAttrs {
        let mut out = ContainerAttrs::default();
        self.each(attrs, |meta| {
            match word(meta).as_str() {
                "rename" => both(meta, &mut out.rename, text)?,
                "rename_all" => both(meta, &mut out.rename_all, case)?,
                "rename_all_fields" => both(meta, &mut out.rename_all_fields, case)?,
                "transparent" => out.transparent = true,
                "deny_unknown_fields" => out.deny_unknown_fields = true,
                "default" => out.default = default(meta)?,
                "untagged" => out.untagged = true,
                "tag" => out.tag = Some(text(meta)?),
                "content" => out.content = Some(text(meta)?),
                "from" => out.from = Some(parsed(meta)?),
                "try_from" => out.try_from = Some(parsed(meta)?),
                "into" => out.into = Some(parsed(meta)?),
                "remote" => out.remote = Some(parsed(meta)?),
                "field_identifier" | "variant_identifier" => out.identifier = true,
                "bound" | "crate" | "expecting" => ignore(meta)?,
                _ => return Err(unknown(meta)),
            }
            Ok(())
        });
        out
    }

    pub(crate) fn variant(&self, attrs: &[syn::Attribute]) -> VariantAttrs {
        let mut out = VariantAttrs::default();
        self.each(attrs, |meta| {
            match word(meta).as_str() {
                "rename" => both(meta, &mut out.rename, text)?,
                "alias" => out.aliases.push(text(meta)?),
                "rename_all" => both(meta, &mut out.rename_all, case)?,
                "skip" => {
                    out.skip = Both {
                        ser: true,
                        de: true,
                    }
                }
                "skip_serializing" => out.skip.ser = true,
                "skip_deserializing" => out.skip.de = true,
                "other" => out.other = true,
                "with" => out.with = module(meta)?,
                "serialize_with" => out.with.ser = Some(Through::Function(parsed(meta)?)),
                "deserialize_with" => out.with.de = Some(Through::Function(parsed(meta)?)),
                "untagged" => out.untagged = true,
                "bound" | "borrow" => ignore(meta)?,
                _ => return Err(unknown(meta)),
            }
            Ok(())
        });
        out
    }

    pub(crate) fn field(&self, attrs: &[syn::Attribute]) -> FieldAttrs {
        let mut out = FieldAttrs::default();
        self.each(attrs, |meta| {
            match word(meta).as_str() {
                "rename" => both(meta, &mut out.rename, text)?,
                "alias" => out.aliases.push(text(meta)?),
                "default" => out.default = default(meta)?,
                "skip" => {
                    out.skip = Both {
                        ser: true,
                        de: true,
                    }
                }
                "skip_serializing" => out.skip.ser = true,
                "skip_deserializing" => out.skip.de = true,
                "skip_serializing_if" => {
                    text(meta)?;
                    out.skip_if = true;
                }
                "with" => out.with = module(meta)?,
                "serialize_with" => out.with.ser = Some(Through::Function(parsed(meta)?)),
                "deserialize_with" => out.with.de = Some(Through::Function(parsed(meta)?)),
                "flatten" => out.flatten = true,
                "bound" | "borrow" | "getter" => ignore(meta)?,
                _ => return Err(unknown(meta)),
            }
            Ok(())
        });
        out
    }

    fn each(
        &self,
        attrs: &[syn::Attribute],
        mut read: impl FnMut(&ParseNestedMeta<'_>) -> syn::Result<()>,
    ) {
        for attr in attrs.iter().filter(|a| a.path().is_ident("serde")) {
            if let Err(error) = attr.parse_nested_meta(|meta| read(&meta)) {
                self.bad(error.span(), &error);
            }
        }
    }

    fn bad(&self, span: Span, error: &syn::Error) {
        self.sink.report(
            Code::Attribute,
            self.module,
            span,
            format!("a serde attribute that cannot be read: {error}"),
            "write it as serde documents it; what the compiler accepts and this reader does not is a defect of FlowX",
        );
    }
}

fn word(meta: &ParseNestedMeta<'_>) -> String {
    meta.path
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn unknown(meta: &ParseNestedMeta<'_>) -> syn::Error {
    syn::Error::new(meta.path.span(), format!("unknown word `{}`", word(meta)))
}

fn text(meta: &ParseNestedMeta<'_>) -> syn::Result<String> {
    Ok(meta.value()?.parse::<syn::LitStr>()?.value())
}

fn case(meta: &ParseNestedMeta<'_>) -> syn::Result<Case> {
    let text = meta.value()?.parse::<syn::LitStr>()?;
    Case::parse(&text.value())
        .ok_or_else(|| syn::Error::new(text.span(), "not a case that serde knows"))
}

fn parsed<T: syn::parse::Parse>(meta: &ParseNestedMeta<'_>) -> syn::Result<T> {
    meta.value()?.parse::<syn::LitStr>()?.parse()
}

fn module(meta: &ParseNestedMeta<'_>) -> syn::Result<Both<Option<Through>>> {
    let path: syn::Path = parsed(meta)?;
    Ok(Both {
        ser: Some(Through::Module(path.clone())),
        de: Some(Through::Module(path)),
    })
}

/// `default` or `default = "path"`.
fn default(meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
    if meta.input.peek(syn::Token![=]) {
        parsed::<syn::ExprPath>(meta)?;
    }
    Ok(true)
}

/// `= "…"`, `(serialize = "…", …)` or nothing.
fn ignore(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(syn::Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        meta.parse_nested_meta(|inner| inner.value()?.parse::<syn::Expr>().map(drop))?;
    }
    Ok(())
}

/// `word = value` for both directions, or `word(serialize = value, deserialize = value)`.
fn both<T: Clone>(
    meta: &ParseNestedMeta<'_>,
    into: &mut Both<Option<T>>,
    read: impl Fn(&ParseNestedMeta<'_>) -> syn::Result<T>,
) -> syn::Result<()> {
    if meta.input.peek(syn::Token![=]) {
        let value = read(meta)?;
        *into = Both {
            ser: Some(value.clone()),
            de: Some(value),
        };
        return Ok(());
    }
    meta.parse_nested_meta(|inner| {
        if inner.path.is_ident("serialize") {
            into.ser = Some(read(&inner)?);
        } else if inner.path.is_ident("deserialize") {
            into.de = Some(read(&inner)?);
        } else {
            return Err(unknown(&inner));
        }
        Ok(())
    })
}
