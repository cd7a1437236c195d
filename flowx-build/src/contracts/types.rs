//! What contracts need to know about names, and what they report.

use std::cell::RefCell;
use std::rc::Rc;

use flowx_manifest::Json;
use proc_macro2::Span;

/// A module of the scan, as the [`Types`] that handed it out numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleKey(pub u32);

/// Names and conditional compilation, as the compiler sees them. The scan implements it.
pub trait Types {
    /// What a path names in the type namespace, seen from a module. Generic arguments in the path are ignored.
    ///
    /// # Errors
    /// When it names nothing that can be seen; see [`Unresolved`].
    fn resolve(&self, module: ModuleKey, path: &syn::Path) -> Result<Resolved, Unresolved>;

    /// The attributes that apply once `cfg_attr` has been expanded, and whether the item that carries them is compiled.
    fn attributes(&self, module: ModuleKey, attrs: &[syn::Attribute]) -> Attributes;

    /// The file a module stands in, as findings name it.
    fn file(&self, module: ModuleKey) -> String;

    /// The text that `include_str!(path)` in that module gives.
    fn include_str(&self, module: ModuleKey, path: &str) -> Option<String> {
        let _ = (module, path);
        None
    }

    /// The value of an integer constant, for array lengths.
    fn constant(&self, module: ModuleKey, path: &syn::Path) -> Option<u64> {
        let _ = (module, path);
        None
    }

    /// Whether the type has an `impl Trait for Type` by hand that the scan has seen.
    fn has_impl(&self, qualified: &str, of: &str) -> bool {
        let _ = (qualified, of);
        false
    }

    /// A type registered with `flowx_build::contract::<T>()`, by the path that the source names it with.
    fn registered(&self, path: &str) -> Option<Registered> {
        let _ = path;
        None
    }

    /// The width of `usize` in bits.
    fn pointer_width(&self) -> u32 {
        64
    }
}

/// A type whose schemas were made by the compiler.
#[derive(Clone, Debug)]
pub struct Registered {
    /// Its own name, whatever path led to it.
    pub name: String,
    /// What is accepted. References name other registered types.
    pub request: Json,
    /// What is written.
    pub response: Json,
}

/// What a path names.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A type of the package, or of a workspace crate whose source is scanned.
    Item(Item),
    /// Something of another crate, by its canonical path: `["std", "collections", "HashMap"]`.
    External(Vec<String>),
}

/// A type and where it stands.
#[derive(Clone, Debug)]
pub struct Item {
    /// The module it stands in.
    pub module: ModuleKey,
    /// Its qualified name: `crate::module::Type`, `library::module::Type`.
    pub name: String,
    /// Its source.
    pub item: TypeItem,
}

/// The source of a type.
#[derive(Clone, Debug)]
pub enum TypeItem {
    /// A struct.
    Struct(Rc<syn::ItemStruct>),
    /// An enum.
    Enum(Rc<syn::ItemEnum>),
    /// `type A = B;`
    Alias(Rc<syn::ItemType>),
    /// A union, a trait, a function: nothing that serde derives for.
    Other(&'static str),
}

/// Why a path names nothing that can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// Nothing of that name is in scope.
    NotFound,
    /// More than one thing is, by globs.
    Ambiguous(Vec<String>),
    /// Whether it is there hangs on a `cfg` that cannot be evaluated.
    Cfg(String),
    /// It seems to come out of a macro.
    Macro(String),
    /// The names lead back to themselves.
    Cycle(Vec<String>),
}

/// Attributes in effect.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// With every `cfg_attr` expanded or dropped.
    pub attrs: Vec<syn::Attribute>,
    /// Whether the item is compiled.
    pub present: Present,
}

/// Whether an item is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Present {
    /// Yes.
    Yes,
    /// No.
    No,
    /// It hangs on something that the scan does not know; the text names it.
    Unknown(String),
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// What can be wrong with a contract. Each code means one thing, for good.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// `FLOWX13xx`.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Code::$name => $id,)*
                }
            }
        }
    };
}

codes! {
    /// A path in a type names nothing that the scan can see.
    Unresolved = "FLOWX1300",
    /// A `serde` or `schemars` attribute that does not parse, or that this version does not know.
    Attribute = "FLOWX1301",
    /// The type derives neither, or implements by hand, what the direction needs.
    NotDerived = "FLOWX1302",
    /// `with`, `serialize_with`, `deserialize_with` through a module that is not known.
    With = "FLOWX1303",
    /// `schema_with`, an expression, or anything else in a schemars attribute that only the compiler can know.
    Computed = "FLOWX1304",
    /// A type of another crate whose wire form is not known.
    Foreign = "FLOWX1305",
    /// A type that has no JSON form: a function pointer, a trait object, a raw pointer.
    NoForm = "FLOWX1306",
    /// Aliases or `from`/`into` types that lead back to themselves.
    Cycle = "FLOWX1307",
    /// Whether a part is there hangs on a `cfg` that cannot be evaluated.
    Cfg = "FLOWX1308",
    /// A map whose keys are not strings in JSON, or cannot be told.
    MapKey = "FLOWX1309",
    /// A sensitive value in what is written to a caller.
    SensitiveOutput = "FLOWX1310",
    /// No value can ever be read: serde refuses them all.
    NeverReadable = "FLOWX1311",
    /// A part that serde cannot read once it has buffered it (128-bit integers and number keys behind a tag or `flatten`).
    Buffered = "FLOWX1312",
    /// Two members of one object that go by one name.
    NameClash = "FLOWX1313",
    /// A doc attribute whose text only the compiler knows.
    Doc = "FLOWX1314",
    /// `flatten` of something whose reading depends on the order of members.
    Flatten = "FLOWX1315",
    /// The length of an array only the compiler knows.
    Length = "FLOWX1316",
    /// A generic parameter without an argument.
    Generic = "FLOWX1317",
    /// The type comes out of a macro.
    Macro = "FLOWX1318",
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

/// Something that keeps a contract from being exact.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Which.
    pub code: Code,
    /// The module whose file holds the span.
    pub module: ModuleKey,
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Collects findings; nobody fixes one error per build.
#[derive(Default, Debug)]
pub(crate) struct Sink(RefCell<Vec<Finding>>);

impl Sink {
    pub(crate) fn report(
        &self,
        code: Code,
        module: ModuleKey,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let finding = Finding {
            code,
            module,
            span,
            message: message.into(),
            help: help.into(),
        };
        let mut all = self.0.borrow_mut();
        let at = |f: &Finding| {
            (
                f.code,
                f.module,
                f.span.start().line,
                f.span.start().column,
                f.message.clone(),
            )
        };
        if !all.iter().any(|f| at(f) == at(&finding)) {
            all.push(finding);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    pub(crate) fn take(&self) -> Vec<Finding> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}

/// The help of every refusal whose way out is a registered type.
pub(crate) const REGISTER: &str = "derive it from plain serde attributes, or put the type into a crate that is also a build \
    dependency, derive schemars::JsonSchema there, and register it in build.rs with flowx_build::contract::<T>() (feature `schemars` of flowx-build; the build then keeps flowx.contracts.json)";
