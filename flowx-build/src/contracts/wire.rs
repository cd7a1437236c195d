//! What a type is on the wire, before a direction is chosen: the types of the source, reduced to what serde can see.

use std::collections::BTreeMap;
use std::rc::Rc;

use flowx_manifest::Json;
use proc_macro2::Span;

use super::types::{Finding, ModuleKey};

/// A named type of the source, by its place in [`super::read::Graph`].
pub(crate) type DefId = usize;

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    /// `()`, `PhantomData`: null.
    Unit,
    Bool,
    Char,
    Str,
    /// An integer of that width; `nonzero` leaves out 0.
    Int {
        signed: bool,
        bits: u32,
        nonzero: bool,
    },
    /// `f32` and `f64`: NaN and the infinities are written as null.
    Float,
    /// Any JSON value.
    Any,
    Option(Rc<Ty>),
    /// `set`: no two elements are equal when written; reading takes repetitions.
    Seq {
        item: Rc<Ty>,
        set: bool,
    },
    Tuple(Rc<Vec<Ty>>),
    /// `[T; N]`.
    Array(Rc<Ty>, u64),
    Map {
        key: Rc<Ty>,
        value: Rc<Ty>,
    },
    /// A type of the source.
    Named(DefId),
    /// A type of std that serde derives for, in line.
    Inline(Rc<Def>),
    /// A leaf whose two forms are known, of std or another crate.
    Leaf(Rc<Leaf>),
    /// `Sensitive<T>`.
    Sensitive(Rc<Ty>),
    /// A type that reads as one and writes as another (`with`, `from` and `into`).
    Split {
        de: Rc<Ty>,
        ser: Rc<Ty>,
    },
    /// Read as that, and then checked further by the program (`try_from`).
    Checked(Rc<Ty>),
    /// A bound on how many elements: `ArrayVec`.
    AtMost(Rc<Ty>, u64),
    /// Cannot be told. Reported when a direction reaches it: what is skipped, or only written, is nobody's trouble.
    Refused(Rc<Finding>),
}

/// A leaf type by its two forms.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// `uuid::Uuid`.
    pub(crate) name: &'static str,
    pub(crate) request: Json,
    pub(crate) response: Json,
    /// Whether it is written as a string, and so can be the key of a map.
    pub(crate) key: bool,
}

/// A definition: a struct or an enum.
#[derive(Clone, Debug)]
pub(crate) struct Def {
    /// The qualified name with arguments: `crate::Page<crate::Item>`.
    pub(crate) name: String,
    pub(crate) module: ModuleKey,
    pub(crate) span: Span,
    pub(crate) notes: Notes,
    pub(crate) body: Body,
    /// Why a direction cannot be told: no derive, or something that only the compiler knows.
    pub(crate) refused: super::attrs::Both<Option<Rc<Finding>>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Named fields, a map on the wire.
    Struct(Record),
    /// `struct T(A, B);`
    Tuple(Vec<Field>),
    /// `struct T(A);`: serde asks for a newtype, so a missing member is missing even when `A` is an `Option`.
    Newtype(Box<Field>),
    /// `#[serde(transparent)]`, a remote type or a conversion: everything is asked of the inner type.
    Same(Ty),
    Unit,
    Enum(Enum),
    /// From `flowx_build::contract::<T>()`.
    Registered {
        request: Json,
        response: Json,
    },
}

/// Named fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) fields: Vec<Field>,
    /// `deny_unknown_fields`.
    pub(crate) closed: bool,
    /// `#[serde(tag = "…")]` on a struct: the member and the value that is written.
    pub(crate) tag: Option<(String, String)>,
}

/// A field, named or not.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) span: Span,
    /// The name it is written under; empty in tuples.
    pub(crate) written: String,
    /// The names it is read under: its own, then aliases.
    pub(crate) read: Vec<String>,
    pub(crate) ty: Ty,
    /// What happens when it is missing.
    pub(crate) missing: Missing,
    pub(crate) skip_ser: bool,
    pub(crate) skip_de: bool,
    pub(crate) skip_if: bool,
    pub(crate) flatten: bool,
    pub(crate) notes: Notes,
}

/// What reading does about a missing field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A default is taken.
    Default,
    /// The type is asked; only an `Option` says none.
    AskType,
    /// An error, whatever the type (`deserialize_with`).
    Error,
}

#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub(crate) tagging: Tagging,
    pub(crate) variants: Vec<Variant>,
    /// `deny_unknown_fields`.
    pub(crate) closed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tagging {
    External,
    Internal(String),
    Adjacent(String, String),
    Untagged,
}

#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) span: Span,
    pub(crate) written: String,
    pub(crate) read: Vec<String>,
    pub(crate) content: Content,
    pub(crate) skip_ser: bool,
    pub(crate) skip_de: bool,
    /// `#[serde(other)]`.
    pub(crate) other: bool,
    /// `#[serde(untagged)]` on the variant.
    pub(crate) untagged: bool,
    pub(crate) notes: Notes,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Unit,
    Newtype(Box<Field>),
    Tuple(Vec<Field>),
    Struct(Record),
}

/// What is said about a type, field or variant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) deprecated: bool,
    pub(crate) examples: Vec<Json>,
    /// Keywords of literal schemars attributes: `range`, `length`, `regex`, `inner`, `extend`.
    pub(crate) keywords: BTreeMap<String, Json>,
    /// The same for the elements of a sequence.
    pub(crate) inner: BTreeMap<String, Json>,
}

impl Notes {
    pub(crate) fn is_empty(&self) -> bool {
        self.title.is_none()
            && self.description.is_none()
            && !self.deprecated
            && self.examples.is_empty()
            && self.keywords.is_empty()
            && self.inner.is_empty()
    }
}
