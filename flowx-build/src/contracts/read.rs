//! From the source to what is on the wire: every type that a contract reaches, once.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use flowx_manifest::Direction;
use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

use super::attrs::{Both, ContainerAttrs, FieldAttrs, Reader, Through};
use super::case::Case;
use super::known::{self, Arg};
use super::notes;
use super::types::{
    Code, Finding, Item, ModuleKey, Present, REGISTER, Registered, Resolved, Sink, TypeItem, Types,
    Unresolved,
};
use super::wire::{
    Body, Content, Def, DefId, Enum, Field, Missing, Notes, Record, Tagging, Ty, Variant,
};

/// Instantiations longer than this come from a generic type that contains a bigger instance of itself.
const LONGEST_NAME: usize = 4096;

/// Every definition reached so far.
pub(crate) struct Graph<'a> {
    pub(crate) types: &'a dyn Types,
    pub(crate) sink: Sink,
    defs: RefCell<Vec<Option<Rc<Def>>>>,
    names: RefCell<Vec<String>>,
    ids: RefCell<HashMap<String, DefId>>,
    /// Aliases being followed, to see a cycle.
    aliases: RefCell<Vec<(String, ModuleKey, Span)>>,
}

/// Where a type stands: its module, and what its generic parameters are.
#[derive(Clone)]
pub(crate) struct Scope {
    pub(crate) module: ModuleKey,
    params: Rc<BTreeMap<String, Ty>>,
    constants: Rc<BTreeMap<String, u64>>,
    this: Option<DefId>,
}

impl Scope {
    pub(crate) fn module(module: ModuleKey) -> Self {
        Scope {
            module,
            params: Rc::default(),
            constants: Rc::default(),
            this: None,
        }
    }
}

impl<'a> Graph<'a> {
    pub(crate) fn new(types: &'a dyn Types) -> Self {
        Graph {
            types,
            sink: Sink::default(),
            defs: RefCell::default(),
            names: RefCell::default(),
            ids: RefCell::default(),
            aliases: RefCell::default(),
        }
    }

    /// The definition. Only during its own reading is it not there.
    pub(crate) fn def(&self, id: DefId) -> Rc<Def> {
        self.defs.borrow()[id]
            .clone()
            .expect("definitions are asked for after they have been read")
    }

    /// The name of a definition, also while it is being read.
    fn def_name(&self, id: DefId) -> String {
        self.names.borrow()[id].clone()
    }

    /// What a type is on the wire.
    pub(crate) fn ty(&self, scope: &Scope, ty: &syn::Type) -> Ty {
        let no_form = |what: &str| {
            refused(
                Code::NoForm,
                scope,
                ty.span(),
                format!("{what} has no JSON form"),
                "use a type that serde reads and writes",
            )
        };
        match ty {
            syn::Type::Path(path) => self.path(scope, path),
            syn::Type::Paren(inner) => self.ty(scope, &inner.elem),
            syn::Type::Group(inner) => self.ty(scope, &inner.elem),
            syn::Type::Reference(inner) => self.ty(scope, &inner.elem),
            syn::Type::Slice(inner) => Ty::Seq {
                item: Rc::new(self.ty(scope, &inner.elem)),
                set: false,
            },
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => Ty::Unit,
            syn::Type::Tuple(tuple) if tuple.elems.len() > 16 => {
                no_form("a tuple of more than 16 elements")
            }
            syn::Type::Tuple(tuple) => Ty::Tuple(Rc::new(
                tuple.elems.iter().map(|t| self.ty(scope, t)).collect(),
            )),
            syn::Type::Array(array) => match self.length(scope, &array.len) {
                Some(n) if n <= 32 => Ty::Array(Rc::new(self.ty(scope, &array.elem)), n),
                Some(_) => no_form("an array of more than 32 elements (serde implements none)"),
                None => refused(
                    Code::Length,
                    scope,
                    array.len.span(),
                    "the length of this array is not a literal, a constant or a const parameter"
                        .to_owned(),
                    "write the number, or use a Vec",
                ),
            },
            syn::Type::Macro(_) => refused(
                Code::Macro,
                scope,
                ty.span(),
                "this type is made by a macro, which the scan does not expand".to_owned(),
                "write the type out",
            ),
            syn::Type::Never(_) => no_form("`!`"),
            syn::Type::FnPtr(_) => no_form("a function pointer"),
            syn::Type::Ptr(_) => no_form("a raw pointer"),
            syn::Type::TraitObject(_) | syn::Type::ImplTrait(_) => no_form("a trait object"),
            _ => no_form("this type"),
        }
    }

    fn length(&self, scope: &Scope, expr: &syn::Expr) -> Option<u64> {
        match expr {
            syn::Expr::Lit(lit) => match &lit.lit {
                syn::Lit::Int(i) => i.base10_parse().ok(),
                _ => None,
            },
            syn::Expr::Paren(inner) => self.length(scope, &inner.expr),
            syn::Expr::Group(inner) => self.length(scope, &inner.expr),
            syn::Expr::Block(block) => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(inner, None)] => self.length(scope, inner),
                _ => None,
            },
            syn::Expr::Path(path) => match path.path.get_ident() {
                Some(ident) if scope.constants.contains_key(&ident.to_string()) => {
                    scope.constants.get(&ident.to_string()).copied()
                }
                _ => self.types.constant(scope.module, &path.path),
            },
            syn::Expr::Binary(op) => {
                let (a, b) = (
                    self.length(scope, &op.left)?,
                    self.length(scope, &op.right)?,
                );
                match op.op {
                    syn::BinOp::Add(_) => a.checked_add(b),
                    syn::BinOp::Sub(_) => a.checked_sub(b),
                    syn::BinOp::Mul(_) => a.checked_mul(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn path(&self, scope: &Scope, ty: &syn::TypePath) -> Ty {
        let path = &ty.path;
        if ty.qself.is_some() {
            return refused(
                Code::Generic,
                scope,
                ty.span(),
                "an associated type is known to the compiler only".to_owned(),
                "name the type itself",
            );
        }
        if let Some(ident) = path.get_ident() {
            let name = ident.unraw().to_string();
            if let Some(ty) = scope.params.get(&name) {
                return ty.clone();
            }
            if let (true, Some(this)) = (name == "Self", scope.this) {
                return Ty::Named(this);
            }
        }
        if path.segments.len() == 2
            && scope
                .params
                .contains_key(&path.segments[0].ident.unraw().to_string())
        {
            return refused(
                Code::Generic,
                scope,
                ty.span(),
                "an associated type is known to the compiler only".to_owned(),
                "name the type itself",
            );
        }
        match self.types.resolve(scope.module, path) {
            Ok(Resolved::Item(item)) => {
                let args = self.args(scope, path);
                self.item(scope, path.span(), item, args)
            }
            Ok(Resolved::External(canonical)) => self.external(scope, path, &canonical),
            Err(Unresolved::NotFound) if path.segments.len() == 1 => {
                let name = path.segments[0].ident.unraw().to_string();
                self.external(scope, path, &["std".to_owned(), name])
            }
            Err(Unresolved::NotFound) if path.segments.len() > 1 => {
                let names: Vec<String> = path
                    .segments
                    .iter()
                    .map(|s| s.ident.unraw().to_string())
                    .collect();
                self.external(scope, path, &names)
            }
            Err(why) => self.unresolved(scope, path, &why),
        }
    }

    fn unresolved(&self, scope: &Scope, path: &syn::Path, why: &Unresolved) -> Ty {
        let name = path_text(path);
        let (code, message) = match why {
            Unresolved::NotFound => (
                Code::Unresolved,
                format!("`{name}` is nothing that the scan can see"),
            ),
            Unresolved::Ambiguous(all) => (
                Code::Unresolved,
                format!("`{name}` could be {}", all.join(" or ")),
            ),
            Unresolved::Cfg(key) => (
                Code::Cfg,
                format!("whether `{name}` is there hangs on `{key}`, which the scan does not know"),
            ),
            Unresolved::Macro(mac) => (
                Code::Macro,
                format!("`{name}` comes out of the macro `{mac}`, which the scan does not expand"),
            ),
            Unresolved::Cycle(all) => (
                Code::Cycle,
                format!("`{name}` leads back to itself: {}", all.join(" -> ")),
            ),
        };
        refused(
            code,
            scope,
            path.span(),
            message,
            "name a type whose source the scan reads, or one of std",
        )
    }

    fn args(&self, scope: &Scope, path: &syn::Path) -> Vec<Arg> {
        let Some(syn::PathArguments::AngleBracketed(args)) =
            path.segments.last().map(|s| &s.arguments)
        else {
            return Vec::new();
        };
        args.args
            .iter()
            .filter_map(|arg| match arg {
                syn::GenericArgument::Type(syn::Type::Path(p))
                    if p.path
                        .get_ident()
                        .is_some_and(|i| scope.constants.contains_key(&i.to_string())) =>
                {
                    let name = p
                        .path
                        .get_ident()
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    Some(Arg::Const(scope.constants.get(&name).copied()))
                }
                syn::GenericArgument::Type(ty) => Some(Arg::Type(self.ty(scope, ty))),
                syn::GenericArgument::Const(expr) => Some(Arg::Const(self.length(scope, expr))),
                _ => None,
            })
            .collect()
    }

    fn external(&self, scope: &Scope, path: &syn::Path, canonical: &[String]) -> Ty {
        let args = self.args(scope, path);
        match known::lookup(canonical, &args, self.types.pointer_width()) {
            Some(Ok(ty)) => ty,
            Some(Err(why)) => refused(Code::Foreign, scope, path.span(), why, REGISTER),
            None => {
                let name = canonical.join("::");
                let given = self.arguments(&args);
                if let Some(one) = self.types.registered(&format!("{name}{given}")) {
                    return self.registered(scope.module, path.span(), one);
                }
                let (code, message) = if canonical.len() == 2 && canonical[0] == "std" {
                    (
                        Code::Unresolved,
                        format!(
                            "`{}` is nothing that the scan can see here",
                            path_text(path)
                        ),
                    )
                } else {
                    (
                        Code::Foreign,
                        format!(
                            "`{name}` is a type of another crate, whose wire form is not known"
                        ),
                    )
                };
                refused(code, scope, path.span(), message, REGISTER)
            }
        }
    }

    /// `<String,money::Cents>`, or nothing.
    fn arguments(&self, args: &[Arg]) -> String {
        let name = |arg: &Arg| match arg {
            Arg::Type(ty) => self.name(ty),
            Arg::Const(n) => n.map_or_else(|| "_".to_owned(), |n| n.to_string()),
        };
        match args {
            [] => String::new(),
            args => format!("<{}>", args.iter().map(name).collect::<Vec<_>>().join(",")),
        }
    }

    fn registered(&self, module: ModuleKey, span: Span, one: Registered) -> Ty {
        self.define(&one.name.clone(), || Def {
            name: one.name,
            module,
            span,
            notes: Notes::default(),
            body: Body::Registered {
                request: one.request,
                response: one.response,
            },
            refused: Both::default(),
        })
    }

    /// What the schema of a registered type refers to.
    pub(crate) fn registered_part(&self, name: &str, of: &Def) -> Option<DefId> {
        let one = self.types.registered(name)?;
        match self.registered(of.module, of.span, one) {
            Ty::Named(id) => Some(id),
            _ => None,
        }
    }

    /// The schema of a registered type.
    pub(crate) fn registered_schema(
        &self,
        name: &str,
        direction: Direction,
    ) -> Option<flowx_manifest::Json> {
        let one = self.types.registered(name)?;
        Some(match direction {
            Direction::Request => one.request,
            Direction::Response => one.response,
        })
    }

    /// Reads a definition once; a type that contains itself meets its own number.
    fn define(&self, name: &str, read: impl FnOnce() -> Def) -> Ty {
        if let Some(id) = self.ids.borrow().get(name) {
            return Ty::Named(*id);
        }
        let id = self.defs.borrow().len();
        self.defs.borrow_mut().push(None);
        self.names.borrow_mut().push(name.to_owned());
        self.ids.borrow_mut().insert(name.to_owned(), id);
        let def = read();
        self.defs.borrow_mut()[id] = Some(Rc::new(def));
        Ty::Named(id)
    }

    fn item(&self, scope: &Scope, span: Span, item: Item, args: Vec<Arg>) -> Ty {
        if let Some(one) = self.types.registered(&item.name) {
            return self.registered(scope.module, span, one);
        }
        let (generics, attrs) = match &item.item {
            TypeItem::Struct(s) => (&s.generics, &s.attrs),
            TypeItem::Enum(e) => (&e.generics, &e.attrs),
            TypeItem::Alias(a) => (&a.generics, &a.attrs),
            TypeItem::Other(what) => {
                return refused(
                    Code::NoForm,
                    scope,
                    span,
                    format!("`{}` is {what}", item.name),
                    "serde derives for structs and enums",
                );
            }
        };
        let bound = match self.bind(&item, generics, &args, scope, span) {
            Ok(bound) => bound,
            Err(ty) => return ty,
        };
        match &item.item {
            TypeItem::Alias(alias) => self.alias(&item, alias, &bound, span),
            TypeItem::Other(_) => unreachable!("returned above"),
            TypeItem::Struct(_) | TypeItem::Enum(_) => {
                let name = self.instance(&item.name, generics, &bound);
                if name.len() > LONGEST_NAME {
                    return refused(
                        Code::Cycle,
                        scope,
                        span,
                        format!(
                            "`{}` contains a bigger instance of itself, without end",
                            item.name
                        ),
                        "break the recursion with a type that does not grow",
                    );
                }
                let attrs = attrs.clone();
                self.define(&name.clone(), || self.definition(&item, name, attrs, bound))
            }
        }
    }

    fn alias(&self, item: &Item, alias: &syn::ItemType, bound: &Scope, span: Span) -> Ty {
        let seen = self.aliases.borrow().iter().any(|(n, ..)| *n == item.name);
        if seen {
            let chain: Vec<String> = self
                .aliases
                .borrow()
                .iter()
                .map(|(n, m, s)| format!("`{n}` ({}:{})", self.types.file(*m), s.start().line))
                .collect();
            let scope = Scope::module(item.module);
            return refused(
                Code::Cycle,
                &scope,
                span,
                format!(
                    "the alias `{}` leads back to itself through {}",
                    item.name,
                    chain.join(", ")
                ),
                "make one of them name a type",
            );
        }
        self.aliases
            .borrow_mut()
            .push((item.name.clone(), item.module, alias.ident.span()));
        let ty = self.ty(bound, &alias.ty);
        self.aliases.borrow_mut().pop();
        ty
    }

    /// The scope of an item's body: its parameters as they were given, or by their defaults.
    fn bind(
        &self,
        item: &Item,
        generics: &syn::Generics,
        args: &[Arg],
        outer: &Scope,
        span: Span,
    ) -> Result<Scope, Ty> {
        let mut params = BTreeMap::new();
        let mut constants = BTreeMap::new();
        let mut args = args.iter();
        for param in &generics.params {
            let scope = Scope {
                module: item.module,
                params: Rc::new(params.clone()),
                constants: Rc::new(constants.clone()),
                this: None,
            };
            let missing = |what: &str| {
                refused(
                    Code::Generic,
                    outer,
                    span,
                    format!("`{}` is generic, and `{what}` is not given", item.name),
                    "give the argument: a contract is one instance",
                )
            };
            match param {
                syn::GenericParam::Lifetime(_) => {}
                syn::GenericParam::Type(p) => {
                    let name = p.ident.unraw().to_string();
                    let ty = match (args.next(), &p.default) {
                        (Some(Arg::Type(ty)), _) => ty.clone(),
                        (None, Some((_, ty))) => self.ty(&scope, ty),
                        _ => return Err(missing(&name)),
                    };
                    params.insert(name, ty);
                }
                syn::GenericParam::Const(p) => {
                    let name = p.ident.unraw().to_string();
                    let value = match (args.next(), &p.default) {
                        (Some(Arg::Const(value)), _) => *value,
                        // A constant by its path looks like a type.
                        (Some(Arg::Type(_)), _) => None,
                        (None, Some((_, expr))) => self.length(&scope, expr),
                        _ => return Err(missing(&name)),
                    };
                    // Only array lengths need the value; another constant is part of the name as written.
                    if let Some(value) = value {
                        constants.insert(name, value);
                    }
                }
            }
        }
        Ok(Scope {
            module: item.module,
            params: Rc::new(params),
            constants: Rc::new(constants),
            this: None,
        })
    }

    /// `crate::Page<crate::Item>`.
    fn instance(&self, name: &str, generics: &syn::Generics, scope: &Scope) -> String {
        let args: Vec<String> = generics
            .params
            .iter()
            .filter_map(|p| match p {
                syn::GenericParam::Lifetime(_) => None,
                syn::GenericParam::Type(p) => scope
                    .params
                    .get(&p.ident.unraw().to_string())
                    .map(|t| self.name(t)),
                syn::GenericParam::Const(p) => Some(
                    scope
                        .constants
                        .get(&p.ident.unraw().to_string())
                        .map_or("_".to_owned(), u64::to_string),
                ),
            })
            .collect();
        if args.is_empty() {
            name.to_owned()
        } else {
            format!("{name}<{}>", args.join(","))
        }
    }

    /// The name of a type as contracts are named: qualified, std types by their short names.
    pub(crate) fn name(&self, ty: &Ty) -> String {
        match ty {
            Ty::Unit => "()".to_owned(),
            Ty::Bool => "bool".to_owned(),
            Ty::Char => "char".to_owned(),
            Ty::Str => "String".to_owned(),
            Ty::Int {
                signed,
                bits,
                nonzero,
            } => {
                format!(
                    "{}{}{bits}",
                    if *nonzero { "NonZero" } else { "" },
                    match (*nonzero, *signed) {
                        (true, true) => "I",
                        (true, false) => "U",
                        (false, true) => "i",
                        (false, false) => "u",
                    }
                )
            }
            Ty::Float => "f64".to_owned(),
            Ty::Any => "Value".to_owned(),
            Ty::Option(t) => format!("Option<{}>", self.name(t)),
            Ty::Seq { item, set: false } => format!("Vec<{}>", self.name(item)),
            Ty::Seq { item, set: true } => format!("Set<{}>", self.name(item)),
            Ty::Array(t, n) => format!("[{};{n}]", self.name(t)),
            Ty::AtMost(t, n) => format!("{}[..{n}]", self.name(t)),
            Ty::Tuple(all) => format!(
                "({})",
                all.iter()
                    .map(|t| self.name(t))
                    .collect::<Vec<_>>()
                    .join(",")
            ),
            Ty::Map { key, value } => format!("Map<{},{}>", self.name(key), self.name(value)),
            Ty::Named(id) => self.def_name(*id),
            Ty::Inline(def) => def.name.clone(),
            Ty::Leaf(leaf) => leaf.name.to_owned(),
            Ty::Sensitive(t) => format!("Sensitive<{}>", self.name(t)),
            Ty::Split { de, ser } => format!("{}|{}", self.name(de), self.name(ser)),
            Ty::Checked(t) => self.name(t),
            Ty::Refused(_) => "?".to_owned(),
        }
    }

    fn definition(
        &self,
        item: &Item,
        name: String,
        attrs: Vec<syn::Attribute>,
        mut scope: Scope,
    ) -> Def {
        scope.this = self.ids.borrow().get(&name).copied();
        let module = item.module;
        let active = self.types.attributes(module, &attrs);
        let span = match &item.item {
            TypeItem::Struct(s) => s.ident.span(),
            TypeItem::Enum(e) => e.ident.span(),
            _ => Span::call_site(),
        };
        let reader = Reader {
            sink: &self.sink,
            module,
        };
        let container = reader.container(&active.attrs);
        let mut said = notes::read(self.types, &self.sink, module, &active.attrs);
        let mut refused = self.derives(item, &active.attrs, &container, span);
        if let Some(computed) = said.computed.take() {
            let why = Rc::new(computed);
            refused = Both {
                ser: Some(why.clone()),
                de: Some(why),
            };
        }
        if let Present::Unknown(key) = &active.present {
            let why = Rc::new(Finding {
                code: Code::Cfg,
                module,
                span,
                message: format!(
                    "whether `{name}` is there hangs on `{key}`, which the scan does not know"
                ),
                help: "give the scan that cfg, or write the type without it".to_owned(),
            });
            refused = Both {
                ser: Some(why.clone()),
                de: Some(why),
            };
        }
        let own = match &item.item {
            TypeItem::Struct(s) => {
                let (body, inner) = self.structure(&scope, s, &container);
                // What is said about the only field of a transparent type is said about the type.
                for (key, value) in inner.keywords {
                    said.notes.keywords.entry(key).or_insert(value);
                }
                for (key, value) in inner.inner {
                    said.notes.inner.entry(key).or_insert(value);
                }
                said.notes.description = said.notes.description.or(inner.description);
                body
            }
            TypeItem::Enum(e) => Body::Enum(self.enumeration(&scope, e, &container)),
            _ => Body::Unit,
        };
        let body = self.converted(
            &scope,
            &container,
            own,
            span,
            &name,
            said.with.as_ref(),
            &said.notes,
        );
        Def {
            name,
            module,
            span,
            notes: said.notes,
            body,
            refused,
        }
    }

    /// `from`, `try_from` and `into` put another type in the place of the own one, per direction.
    #[allow(clippy::too_many_arguments)]
    fn converted(
        &self,
        scope: &Scope,
        container: &ContainerAttrs,
        own: Body,
        span: Span,
        name: &str,
        with: Option<&syn::Type>,
        notes: &Notes,
    ) -> Body {
        if let Some(with) = with {
            return Body::Same(self.ty(scope, with));
        }
        let de = match (&container.from, &container.try_from) {
            (Some(from), _) => Some(self.ty(scope, from)),
            (None, Some(from)) => Some(Ty::Checked(Rc::new(self.ty(scope, from)))),
            (None, None) => None,
        };
        let ser = container.into.as_ref().map(|t| self.ty(scope, t));
        if de.is_none() && ser.is_none() {
            return own;
        }
        let inner = Ty::Inline(Rc::new(Def {
            name: name.to_owned(),
            module: scope.module,
            span,
            notes: notes.clone(),
            body: own,
            refused: Both::default(),
        }));
        Body::Same(Ty::Split {
            de: Rc::new(de.unwrap_or_else(|| inner.clone())),
            ser: Rc::new(ser.unwrap_or(inner)),
        })
    }

    /// Which of serde's derives are there. A hand-written impl, or none, is known to the compiler only.
    fn derives(
        &self,
        item: &Item,
        attrs: &[syn::Attribute],
        container: &ContainerAttrs,
        span: Span,
    ) -> Both<Option<Rc<Finding>>> {
        let mut derived = Both {
            ser: false,
            de: false,
        };
        let mut rewritten = None;
        for attr in attrs {
            let last = attr
                .path()
                .segments
                .last()
                .map(|s| s.ident.to_string())
                .unwrap_or_default();
            if last == "derive" {
                let paths = attr.parse_args_with(
                    syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated,
                );
                for path in paths.into_iter().flatten() {
                    let named = match self.types.resolve(item.module, &path) {
                        Ok(Resolved::External(canonical)) => canonical.last().cloned(),
                        _ => path.segments.last().map(|s| s.ident.to_string()),
                    };
                    match named.as_deref() {
                        Some("Serialize") => derived.ser = true,
                        Some("Deserialize" | "DeserializeOwned") => derived.de = true,
                        _ => {}
                    }
                }
            } else if matches!(
                last.as_str(),
                "serde_as" | "skip_serializing_none" | "cfg_eval" | "derive_ex"
            ) || attr
                .path()
                .segments
                .first()
                .is_some_and(|s| s.ident == "serde_with")
            {
                rewritten = Some((last, attr.span()));
            }
        }
        let finding = |span, message: String| {
            Some(Rc::new(Finding {
                code: Code::NotDerived,
                module: item.module,
                span,
                message,
                help: REGISTER.to_owned(),
            }))
        };
        if let Some((by, span)) = rewritten {
            let why = finding(
                span,
                format!("`#[{by}]` rewrites `{}` before serde sees it", item.name),
            );
            return Both {
                ser: why.clone(),
                de: why,
            };
        }
        if container.identifier {
            let why = finding(
                span,
                format!(
                    "`{}` is a field or variant identifier, no type of values",
                    item.name
                ),
            );
            return Both {
                ser: why.clone(),
                de: why,
            };
        }
        let missing = |there: bool, of: &str| {
            (!there).then(|| {
                let how = if self.types.has_impl(&item.name, of) {
                    "implements"
                } else {
                    "does not derive"
                };
                let by_hand = if how == "implements" { " by hand" } else { "" };
                finding(
                    span,
                    format!(
                        "`{}` {how} {of}{by_hand}, so only the compiler knows its form",
                        item.name
                    ),
                )
            })
        };
        Both {
            ser: missing(derived.ser, "Serialize").flatten(),
            de: missing(derived.de, "Deserialize").flatten(),
        }
    }

    fn structure(
        &self,
        scope: &Scope,
        item: &syn::ItemStruct,
        container: &ContainerAttrs,
    ) -> (Body, Notes) {
        let fields = self.fields(
            scope,
            &item.fields,
            container.rename_all.clone(),
            container.default,
        );
        if container.transparent {
            return transparent(fields, scope, item.ident.span());
        }
        let body = match &item.fields {
            syn::Fields::Unit => Body::Unit,
            syn::Fields::Unnamed(all) if all.unnamed.len() == 1 && fields.len() == 1 => {
                let mut fields = fields;
                Body::Newtype(Box::new(fields.remove(0)))
            }
            syn::Fields::Unnamed(_) => Body::Tuple(fields),
            syn::Fields::Named(_) => Body::Struct(Record {
                fields,
                closed: container.deny_unknown_fields,
                tag: container.tag.clone().map(|tag| {
                    let name = container
                        .rename
                        .ser
                        .clone()
                        .unwrap_or_else(|| item.ident.unraw().to_string());
                    (tag, name)
                }),
            }),
        };
        (body, Notes::default())
    }

    fn enumeration(&self, scope: &Scope, item: &syn::ItemEnum, container: &ContainerAttrs) -> Enum {
        let tagging = match (&container.tag, &container.content, container.untagged) {
            (_, _, true) => Tagging::Untagged,
            (Some(tag), Some(content), _) => Tagging::Adjacent(tag.clone(), content.clone()),
            (Some(tag), None, _) => Tagging::Internal(tag.clone()),
            (None, ..) => Tagging::External,
        };
        let reader = Reader {
            sink: &self.sink,
            module: scope.module,
        };
        let mut variants = Vec::new();
        for variant in &item.variants {
            let active = self.types.attributes(scope.module, &variant.attrs);
            let unknown = match active.present {
                Present::No => continue,
                Present::Yes => None,
                Present::Unknown(key) => Some(key),
            };
            let attrs = reader.variant(&active.attrs);
            let said = notes::read(self.types, &self.sink, scope.module, &active.attrs);
            let ident = variant.ident.unraw().to_string();
            let named = |own: &Option<String>, all: Option<Case>| {
                own.clone()
                    .unwrap_or_else(|| all.map_or_else(|| ident.clone(), |c| c.variant(&ident)))
            };
            let fields_case = |own: Option<Case>, all: Option<Case>| own.or(all);
            let rename_fields = Both {
                ser: fields_case(attrs.rename_all.ser, container.rename_all_fields.ser),
                de: fields_case(attrs.rename_all.de, container.rename_all_fields.de),
            };
            let mut fields = self.fields(scope, &variant.fields, rename_fields, false);
            let mut content = match &variant.fields {
                syn::Fields::Unit => Content::Unit,
                syn::Fields::Unnamed(all) if all.unnamed.len() == 1 && fields.len() == 1 => {
                    Content::Newtype(Box::new(fields.remove(0)))
                }
                syn::Fields::Unnamed(_) => Content::Tuple(fields),
                syn::Fields::Named(_) => Content::Struct(Record {
                    fields,
                    closed: container.deny_unknown_fields,
                    tag: None,
                }),
            };
            let overriding = if let Some(with) = &said.with {
                Some(self.ty(scope, with))
            } else if let Some(key) = unknown {
                Some(refused(
                    Code::Cfg,
                    scope,
                    variant.ident.span(),
                    format!(
                        "whether `{ident}` is there hangs on `{key}`, which the scan does not know"
                    ),
                    "give the scan that cfg, or write the variant without it",
                ))
            } else if let Some(computed) = said.computed {
                Some(Ty::Refused(Rc::new(computed)))
            } else if attrs.with.ser.is_some() || attrs.with.de.is_some() {
                // A function over all fields of the variant at once: only a newtype's has a type of its own.
                let own = match &content {
                    Content::Newtype(field) => field.ty.clone(),
                    _ => Ty::Any,
                };
                Some(self.through(
                    scope,
                    own,
                    &attrs.with,
                    variant.ident.span(),
                    matches!(content, Content::Newtype(_)),
                ))
            } else {
                None
            };
            if let Some(ty) = overriding {
                content = Content::Newtype(Box::new(Field {
                    span: variant.ident.span(),
                    written: String::new(),
                    read: Vec::new(),
                    ty,
                    missing: Missing::Error,
                    skip_ser: false,
                    skip_de: false,
                    skip_if: false,
                    flatten: false,
                    notes: Notes::default(),
                }));
            }
            let mut read = vec![named(&attrs.rename.de, container.rename_all.de)];
            read.extend(attrs.aliases.iter().cloned());
            read.dedup();
            variants.push(Variant {
                span: variant.ident.span(),
                written: named(&attrs.rename.ser, container.rename_all.ser),
                read,
                content,
                skip_ser: attrs.skip.ser,
                skip_de: attrs.skip.de,
                other: attrs.other,
                untagged: attrs.untagged,
                notes: said.notes,
            });
        }
        Enum {
            tagging,
            variants,
            closed: container.deny_unknown_fields,
        }
    }

    fn fields(
        &self,
        scope: &Scope,
        fields: &syn::Fields,
        rename_all: Both<Option<Case>>,
        defaulted: bool,
    ) -> Vec<Field> {
        let reader = Reader {
            sink: &self.sink,
            module: scope.module,
        };
        let mut out = Vec::new();
        for field in fields {
            let active = self.types.attributes(scope.module, &field.attrs);
            let span = field
                .ident
                .as_ref()
                .map_or_else(|| field.ty.span(), syn::Ident::span);
            let unknown = match active.present {
                Present::No => continue,
                Present::Yes => None,
                Present::Unknown(key) => Some(key),
            };
            let attrs = reader.field(&active.attrs);
            let said = notes::read(self.types, &self.sink, scope.module, &active.attrs);
            let ident = field
                .ident
                .as_ref()
                .map(|i| i.unraw().to_string())
                .unwrap_or_default();
            let named = |own: &Option<String>, all: Option<Case>| {
                own.clone()
                    .unwrap_or_else(|| all.map_or_else(|| ident.clone(), |c| c.field(&ident)))
            };
            let ty = self.field_type(scope, field, &attrs, &said, unknown.as_deref(), span);
            let mut read = vec![named(&attrs.rename.de, rename_all.de)];
            for alias in &attrs.aliases {
                if !read.contains(alias) {
                    read.push(alias.clone());
                }
            }
            out.push(Field {
                span,
                written: named(&attrs.rename.ser, rename_all.ser),
                read,
                ty,
                missing: match (attrs.default || defaulted, attrs.with.de.is_some()) {
                    (true, _) => Missing::Default,
                    (false, true) => Missing::Error,
                    (false, false) => Missing::AskType,
                },
                skip_ser: attrs.skip.ser,
                skip_de: attrs.skip.de,
                skip_if: attrs.skip_if,
                flatten: attrs.flatten,
                notes: said.notes,
            });
        }
        out
    }

    fn field_type(
        &self,
        scope: &Scope,
        field: &syn::Field,
        attrs: &FieldAttrs,
        said: &notes::Said,
        unknown: Option<&str>,
        span: Span,
    ) -> Ty {
        // An only field without a name is asked even when it is skipped.
        if attrs.skip.ser && attrs.skip.de && field.ident.is_some() {
            return Ty::Unit;
        }
        if let Some(key) = unknown {
            return refused(
                Code::Cfg,
                scope,
                span,
                format!(
                    "whether this field is there hangs on `{key}`, which the scan does not know"
                ),
                "give the scan that cfg, or write the field without it",
            );
        }
        if let Some(computed) = &said.computed {
            return Ty::Refused(Rc::new(computed.clone()));
        }
        let own = self.ty(scope, &field.ty);
        if let Some(with) = &said.with {
            let said = self.ty(scope, with);
            // An `Option` that is described as what it holds is read from null all the same, and written as null unless that is left out.
            if attrs.with.de.is_some() || !matches!(own, Ty::Option(_)) {
                return said;
            }
            let said = Rc::new(said);
            let option = Rc::new(Ty::Option(said.clone()));
            let left_out = attrs.skip_if || attrs.with.ser.is_some();
            return Ty::Split {
                ser: if left_out { said } else { option.clone() },
                de: option,
            };
        }
        if attrs.with.ser.is_none() && attrs.with.de.is_none() {
            return own;
        }
        self.through(scope, own, &attrs.with, span, true)
    }

    /// A type that goes through functions in one direction or both.
    fn through(
        &self,
        scope: &Scope,
        own: Ty,
        with: &Both<Option<Through>>,
        span: Span,
        keep: bool,
    ) -> Ty {
        let side = |through: &Option<Through>, reading: bool| -> Ty {
            let Some(through) = through else {
                return own.clone();
            };
            if let Through::Module(path) = through {
                let remote = self.types.resolve(scope.module, path);
                // `with` may name the type that stands in for a remote one.
                if let Ok(Resolved::Item(item)) = remote {
                    let args = self.args(scope, path);
                    return self.item(scope, path.span(), item, args);
                }
                let canonical = match remote {
                    Ok(Resolved::External(canonical)) => canonical,
                    _ => path.segments.iter().map(|s| s.ident.to_string()).collect(),
                };
                if let Some(ty) = known::module(&canonical, &own, reading) {
                    return ty;
                }
            }
            if let Through::Function(path) = through {
                let names: Vec<String> =
                    path.segments.iter().map(|s| s.ident.to_string()).collect();
                if let Some((function, module)) = names.split_last()
                    && (function == "serialize" || function == "deserialize")
                {
                    let mut as_module = path.clone();
                    as_module.segments =
                        as_module.segments.into_iter().take(module.len()).collect();
                    as_module.segments.pop_punct();
                    if let Ok(Resolved::Item(item)) = self.types.resolve(scope.module, &as_module) {
                        let args = self.args(scope, &as_module);
                        return self.item(scope, path.span(), item, args);
                    }
                    if let Some(ty) = known::module(module, &own, reading) {
                        return ty;
                    }
                }
            }
            refused(
                Code::With,
                scope,
                span,
                format!(
                    "this goes through `{}`, whose form only the compiler knows",
                    path_text(through.path())
                ),
                "say the form with #[schemars(with = \"…\")], which the P4 test then holds against serde; or use a type of its own",
            )
        };
        let _ = keep;
        let (de, ser) = (side(&with.de, true), side(&with.ser, false));
        Ty::Split {
            de: Rc::new(de),
            ser: Rc::new(ser),
        }
    }
}

/// The one field that carries a transparent type: not skipped, and not a marker.
fn transparent(fields: Vec<Field>, scope: &Scope, span: Span) -> (Body, Notes) {
    let carries = |f: &&Field| !matches!(f.ty, Ty::Unit) && !f.skip_ser && !f.skip_de;
    match fields.iter().find(carries).or(fields.first()) {
        Some(field) => (Body::Same(field.ty.clone()), field.notes.clone()),
        None => {
            let why = "a transparent type without a field".to_owned();
            (
                Body::Same(refused(Code::NoForm, scope, span, why, "give it one")),
                Notes::default(),
            )
        }
    }
}

pub(crate) fn refused(code: Code, scope: &Scope, span: Span, message: String, help: &str) -> Ty {
    Ty::Refused(Rc::new(Finding {
        code,
        module: scope.module,
        span,
        message,
        help: help.to_owned(),
    }))
}

pub(crate) fn path_text(path: &syn::Path) -> String {
    path.segments
        .iter()
        .map(|s| s.ident.to_string())
        .collect::<Vec<_>>()
        .join("::")
}
