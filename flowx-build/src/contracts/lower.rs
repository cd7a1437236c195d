//! From what is on the wire to JSON Schema, in one direction.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use flowx_manifest::{ANY_WORD, CONVERTED, Direction, Json, contract_ref, references};
use proc_macro2::Span;

use super::digits;
use super::object::{Object, Part, Rest, Rule, alternatives};
use super::read::Graph;
use super::types::{Code, ModuleKey};
use super::wire::{
    Body, Content, Def, DefId, Enum, Field, Missing, Notes, Record, Tagging, Ty, Variant,
};

/// `flatten` inside `flatten` deeper than this has no end.
const DEEPEST: usize = 32;

/// Lowers types in one direction, noting the definitions that are referred to.
pub(crate) struct Lower<'g, 'a> {
    pub(crate) graph: &'g Graph<'a>,
    pub(crate) direction: Direction,
    pub(crate) reached: RefCell<BTreeSet<DefId>>,
}

/// Where something stands, for findings.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) module: ModuleKey,
    pub(crate) span: Span,
}

/// How a type is given the members of an object it shares with others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// By `flatten`: it takes what it knows.
    Flat,
    /// As a whole map, the tag taken out: it sees everything.
    Whole,
}

/// What flattened fields before this one have taken out of the object.
struct Taken {
    /// By fields that take it whenever it is there: it never gets here.
    surely: BTreeSet<String>,
    /// By an `Option` that may have given up half way.
    perhaps: BTreeSet<String>,
}

/// The ways in which a type shares an object.
struct Forms {
    forms: Vec<Object>,
    exclusive: bool,
    /// It looks at every member that is left, rather than taking those it knows.
    sees_all: bool,
    /// Nothing at all will do as well.
    optional: bool,
}

impl Forms {
    fn one(object: Object, sees_all: bool) -> Self {
        Forms {
            forms: vec![object],
            exclusive: true,
            sees_all,
            optional: false,
        }
    }

    fn never() -> Self {
        Forms {
            forms: Vec::new(),
            exclusive: true,
            sees_all: true,
            optional: false,
        }
    }
}

impl Lower<'_, '_> {
    fn request(&self) -> bool {
        self.direction == Direction::Request
    }

    fn report(&self, code: Code, at: At, message: String, help: &str) {
        self.graph
            .sink
            .report(code, at.module, at.span, message, help);
    }

    /// The schema of a type where a value of its own stands.
    pub(crate) fn schema(&self, ty: &Ty) -> Json {
        match ty {
            Ty::Unit => kind("null"),
            Ty::Bool => kind("boolean"),
            Ty::Char => Json::object([
                ("type", "string".into()),
                ("minLength", 1u8.into()),
                ("maxLength", Json::from(1u8)),
            ]),
            Ty::Str => kind("string"),
            Ty::Int {
                signed,
                bits,
                nonzero,
            } => integer(*signed, *bits, *nonzero),
            Ty::Float if self.request() => kind("number"),
            Ty::Float => nullable(kind("number")),
            Ty::Any => Json::empty(),
            Ty::Option(inner) => nullable(self.schema(inner)),
            Ty::Seq { item, set } => {
                let mut out = array(self.schema(item));
                if *set && !self.request() && self.distinct(item) {
                    insert(&mut out, "uniqueItems", true.into());
                }
                out
            }
            Ty::Array(item, n) => {
                let mut out = array(self.schema(item));
                insert(&mut out, "minItems", (*n).into());
                insert(&mut out, "maxItems", (*n).into());
                out
            }
            Ty::AtMost(item, n) => {
                let mut out = array(self.schema(item));
                insert(&mut out, "maxItems", (*n).into());
                out
            }
            Ty::Tuple(all) => tuple(all.iter().map(|t| self.schema(t)).collect(), all.len()),
            Ty::Map { key, value } => self.map(key, value).render(),
            Ty::Named(id) => {
                self.reached.borrow_mut().insert(*id);
                Json::object([("$ref", contract_ref(&self.graph.def(*id).name).into())])
            }
            Ty::Inline(def) => self.definition(def),
            Ty::Leaf(leaf) => {
                if self.request() {
                    leaf.request.clone()
                } else {
                    leaf.response.clone()
                }
            }
            Ty::Sensitive(inner) => {
                let mut out = self.schema(inner);
                insert(&mut out, "writeOnly", true.into());
                out
            }
            Ty::Split { de, ser } => self.schema(if self.request() { de } else { ser }),
            Ty::Checked(inner) => {
                let mut out = self.schema(inner);
                if self.request() {
                    insert(&mut out, "$comment", CONVERTED.into());
                }
                out
            }
            Ty::Refused(why) => {
                self.report(
                    why.code,
                    At {
                        module: why.module,
                        span: why.span,
                    },
                    why.message.clone(),
                    &why.help,
                );
                Json::empty()
            }
        }
    }

    /// Two different values of the type are never written alike.
    fn distinct(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Bool | Ty::Char | Ty::Str | Ty::Int { .. })
    }

    fn map(&self, key: &Ty, value: &Ty) -> Object {
        let names = self.key(key, 0);
        if names.is_none() {
            let at = self.at(key);
            self.report(
                Code::MapKey,
                at,
                format!("the keys of this map, `{}`, are no strings in JSON", self.graph.name(key)),
                "use a key that is written as a string: a string, an integer, a fieldless enum, or a newtype of one",
            );
        }
        let key = names.filter(|k| *k != kind("string"));
        Object {
            rest: Rest::Values {
                key,
                value: self.schema(value),
            },
            ..Object::default()
        }
    }

    fn at(&self, ty: &Ty) -> At {
        match ty {
            Ty::Named(id) => {
                let def = self.graph.def(*id);
                At {
                    module: def.module,
                    span: def.span,
                }
            }
            Ty::Refused(why) => At {
                module: why.module,
                span: why.span,
            },
            _ => At {
                module: ModuleKey(0),
                span: Span::call_site(),
            },
        }
    }

    /// The schema of the names of a map with such keys.
    fn key(&self, ty: &Ty, depth: usize) -> Option<Json> {
        if depth > DEEPEST {
            return None;
        }
        match ty {
            Ty::Str => Some(kind("string")),
            Ty::Char => Some(Json::object([
                ("minLength", Json::from(1u8)),
                ("maxLength", Json::from(1u8)),
            ])),
            Ty::Bool => Some(Json::object([("enum", vec!["false", "true"].into())])),
            Ty::Int {
                signed,
                bits,
                nonzero,
            } => Some(Json::object([(
                "pattern",
                digits::integer(*signed, *bits, *nonzero).into(),
            )])),
            Ty::Leaf(leaf) if leaf.key => {
                let form = if self.request() {
                    &leaf.request
                } else {
                    &leaf.response
                };
                match form.get("anyOf") {
                    // A name is a string: of several forms, those that are.
                    Some(_) if leaf.name == "Decimal" || leaf.name == "BigDecimal" => {
                        Some(kind("string"))
                    }
                    _ => Some(form.clone()),
                }
            }
            Ty::Option(inner) | Ty::Sensitive(inner) | Ty::Checked(inner) => {
                self.key(inner, depth + 1)
            }
            Ty::Split { de, ser } => self.key(if self.request() { de } else { ser }, depth + 1),
            Ty::Named(id) => self.key_of(&self.graph.def(*id), depth),
            Ty::Inline(def) => self.key_of(def, depth),
            Ty::Refused(_) => {
                self.schema(ty);
                Some(kind("string"))
            }
            _ => None,
        }
    }

    fn key_of(&self, def: &Def, depth: usize) -> Option<Json> {
        self.check(def);
        let mut key = match &def.body {
            Body::Same(ty) => self.key(ty, depth + 1),
            Body::Newtype(field) => {
                let mut key = self.key(&field.ty, depth + 1)?;
                annotate(&mut key, &field.notes);
                Some(key)
            }
            Body::Enum(e)
                if e.tagging == Tagging::External && e.variants.iter().all(|v| !v.untagged) =>
            {
                let any_other = |v: &Variant| v.other && self.there(v);
                if self.request() && e.variants.iter().any(any_other) {
                    return Some(kind("string"));
                }
                let names: Vec<Json> = e
                    .variants
                    .iter()
                    .filter(|v| self.there(v) && self.unit(v))
                    .flat_map(|v| self.names(v))
                    .map(Json::from)
                    .collect();
                Some(Json::object([("enum", Json::Array(names))]))
            }
            _ => None,
        }?;
        annotate(
            &mut key,
            &Notes {
                keywords: def.notes.keywords.clone(),
                ..Notes::default()
            },
        );
        Some(key)
    }

    /// Reports what keeps a definition from being known in this direction. True when it is known.
    fn check(&self, def: &Def) -> bool {
        let why = if self.request() {
            &def.refused.de
        } else {
            &def.refused.ser
        };
        if let Some(why) = why {
            self.report(
                why.code,
                At {
                    module: why.module,
                    span: why.span,
                },
                why.message.clone(),
                &why.help,
            );
        }
        why.is_none()
    }

    /// The schema of a definition, with what is said about it.
    pub(crate) fn definition(&self, def: &Def) -> Json {
        if !self.check(def) {
            return Json::empty();
        }
        let at = At {
            module: def.module,
            span: def.span,
        };
        let mut out = match &def.body {
            Body::Same(ty) => self.schema(ty),
            Body::Newtype(field) => self.field(field),
            Body::Tuple(fields) => self.tuple(fields),
            Body::Unit => kind("null"),
            Body::Struct(record) => self.record(record, at, 0).render(),
            Body::Enum(e) => self.enumeration(e, at),
            Body::Registered { request, response } => {
                let schema = if self.request() { request } else { response };
                let mut names = BTreeSet::new();
                references(schema, &mut names);
                let parts = names
                    .iter()
                    .filter_map(|n| self.graph.registered_part(n, def));
                self.reached.borrow_mut().extend(parts);
                schema.clone()
            }
        };
        annotate(&mut out, &def.notes);
        out
    }

    fn field(&self, field: &Field) -> Json {
        let mut out = self.schema(&field.ty);
        annotate(&mut out, &field.notes);
        out
    }

    fn tuple(&self, fields: &[Field]) -> Json {
        let there: Vec<&Field> = fields
            .iter()
            .filter(|f| {
                if self.request() {
                    !f.skip_de
                } else {
                    !f.skip_ser
                }
            })
            .collect();
        if !self.request() && there.iter().any(|f| f.skip_if) {
            // What is left out moves the others up.
            return Json::object([
                ("type", Json::from("array")),
                ("maxItems", there.len().into()),
            ]);
        }
        let least = match self.request() {
            true => there
                .iter()
                .rposition(|f| f.missing != Missing::Default)
                .map_or(0, |i| i + 1),
            false => there.len(),
        };
        tuple(there.iter().map(|f| self.field(f)).collect(), least)
    }

    /// Whether a missing member of the type is read as one all the same.
    fn none_when_missing(&self, ty: &Ty, depth: usize) -> bool {
        match ty {
            Ty::Option(_) => true,
            Ty::Sensitive(inner) | Ty::Checked(inner) => self.none_when_missing(inner, depth),
            Ty::Split { de, .. } => self.none_when_missing(de, depth),
            Ty::Named(id) if depth < DEEPEST => match &self.graph.def(*id).body {
                Body::Same(ty) => self.none_when_missing(ty, depth + 1),
                Body::Registered { .. } => false,
                _ => false,
            },
            Ty::Inline(def) => match &def.body {
                Body::Same(ty) => self.none_when_missing(ty, depth + 1),
                _ => false,
            },
            _ => false,
        }
    }

    /// Named fields as an object.
    pub(crate) fn record(&self, record: &Record, at: At, depth: usize) -> Object {
        let mut object = Object {
            rest: if record.closed && self.request() {
                Rest::Closed
            } else {
                Rest::Open
            },
            ..Object::default()
        };
        if let (Some((tag, value)), false) = (&record.tag, self.request()) {
            object.members.insert(tag.clone(), constant(value));
            object.required.insert(tag.clone());
        }
        for field in record.fields.iter().filter(|f| !f.flatten) {
            if self.request() {
                self.read_field(&mut object, field, at)
            } else {
                self.written_field(&mut object, field, at)
            }
        }
        let mut taken = Taken {
            surely: object.members.keys().cloned().collect(),
            perhaps: BTreeSet::new(),
        };
        for field in record.fields.iter().filter(|f| f.flatten) {
            if if self.request() {
                field.skip_de
            } else {
                field.skip_ser
            } {
                continue;
            }
            self.flatten(
                &mut object,
                field,
                At {
                    span: field.span,
                    ..at
                },
                &mut taken,
                depth + 1,
            );
        }
        if !self.request() {
            self.widen_values(&mut object);
            let known = |o: &Object| o.rest == Rest::Open && o.parts.is_empty();
            if record.closed
                && object.rest == Rest::Open
                && object.parts.iter().all(|p| p.forms.iter().all(known))
            {
                object.rest = Rest::Closed;
            }
        }
        object
    }

    fn read_field(&self, object: &mut Object, field: &Field, at: At) {
        if field.skip_de {
            return;
        }
        let schema = self.field(field);
        for name in &field.read {
            if object
                .members
                .insert(name.clone(), schema.clone())
                .is_some()
            {
                self.report(
                    Code::NameClash,
                    At {
                        span: field.span,
                        ..at
                    },
                    format!(
                        "two fields are read from the member `{name}`, so one of them never is"
                    ),
                    "give each a name of its own",
                );
            }
        }
        let optional = match field.missing {
            Missing::Default => true,
            Missing::AskType => self.none_when_missing(&field.ty, 0),
            Missing::Error => false,
        };
        match (field.read.as_slice(), optional) {
            ([name], false) => drop(object.required.insert(name.clone())),
            ([_], true) => {}
            (names, false) => object.rules.push(Rule::One(names.to_vec())),
            (names, true) => object.rules.push(Rule::AtMostOne(names.to_vec())),
        }
    }

    fn written_field(&self, object: &mut Object, field: &Field, at: At) {
        if field.skip_ser {
            return;
        }
        if object
            .members
            .insert(field.written.clone(), self.field(field))
            .is_some()
        {
            self.report(
                Code::NameClash,
                At {
                    span: field.span,
                    ..at
                },
                format!("the member `{}` would be written twice", field.written),
                "give each a name of its own",
            );
        }
        if !field.skip_if {
            object.required.insert(field.written.clone());
        }
    }

    /// When written, a flattened map stands beside members that are none of its own.
    fn widen_values(&self, object: &mut Object) {
        let names = object.names();
        for part in &mut object.parts {
            if part.forms.iter().any(|f| f.rest != Rest::Open) {
                part.unseen.extend(names.iter().cloned());
            }
        }
        let carries = |p: &Part| {
            p.forms
                .iter()
                .any(|f| matches!(f.rest, Rest::Values { .. }))
        };
        if object.parts.iter().filter(|p| carries(p)).count() > 1 {
            // Each brings members that the other knows nothing of.
            for form in object.parts.iter_mut().flat_map(|p| &mut p.forms) {
                form.rest = Rest::Open;
            }
        }
        self.lift_only_map(object);
    }

    /// A single map beside known members is what stands in `additionalProperties`.
    fn lift_only_map(&self, object: &mut Object) {
        let names: BTreeSet<String> = object.members.keys().cloned().collect();
        if let [part] = object.parts.as_slice()
            && let [form] = part.forms.as_slice()
            && object.rest == Rest::Open
            && form.members.is_empty()
            && form.required.is_empty()
            && form.parts.is_empty()
            && form.rules.is_empty()
            && part.unseen.is_superset(&names)
            && let Rest::Values { .. } = form.rest
        {
            object.rest = form.rest.clone();
            object.parts.clear();
        }
    }

    fn flatten(&self, object: &mut Object, field: &Field, at: At, taken: &mut Taken, depth: usize) {
        let consumed = &mut taken.surely;
        if self.request() {
            self.unbuffered(&field.ty, at, "`flatten`");
        }
        let mut given = self.forms(&field.ty, Given::Flat, at, depth);
        if given.forms.is_empty() {
            self.report(
                Code::NeverReadable,
                at,
                format!(
                    "`{}` cannot be flattened: serde refuses it at run time",
                    self.graph.name(&field.ty)
                ),
                "flatten structs, maps and enums only",
            );
            return;
        }
        if self.request() {
            let names: BTreeSet<String> = given.forms.iter().flat_map(Object::names).collect();
            let minds = given.forms.iter().any(Object::minds_others);
            if (minds && !taken.perhaps.is_empty()) || !names.is_disjoint(&taken.perhaps) {
                self.report(
                    Code::Flatten,
                    at,
                    "a flattened Option before this field: when it is not read, the order of members decides which of them are left for this one"
                        .to_owned(),
                    "flatten the Option last, or give one of the two a name of its own",
                );
                return;
            }
            // Of several members, those before the first that cannot be read are gone.
            if given.optional && !given.sees_all && names.len() > 1 {
                taken.perhaps.extend(names);
            }
            let needed = given.forms.iter().flat_map(|f| &f.required);
            let mut missed = needed.filter(|n| consumed.contains(*n));
            let missed = missed.next().cloned();
            given.forms = given
                .forms
                .into_iter()
                .filter_map(|f| f.without(consumed))
                .collect();
            if given.forms.is_empty() && !given.optional {
                let missed = missed.map_or_else(
                    || "a member that is taken before".to_owned(),
                    |name| format!("the member `{name}`, which the outer type takes"),
                );
                self.report(
                    Code::NeverReadable,
                    at,
                    format!("this input can never be read: the flattened field needs {missed}"),
                    "rename one of the two",
                );
                return;
            }
            if object.rest == Rest::Closed {
                if given.optional {
                    self.report(
                        Code::Flatten,
                        at,
                        "a flattened Option in a type with deny_unknown_fields: what is refused depends on the order of members".to_owned(),
                        "leave out deny_unknown_fields, or the Option",
                    );
                    return;
                }
                if given.sees_all {
                    // What it looks at stays unknown to the outer type, which refuses it.
                    if !given.forms.iter().any(Object::takes_nothing) {
                        self.report(
                            Code::NeverReadable,
                            at,
                            "this input can never be read: deny_unknown_fields refuses the members that the flattened field needs"
                                .to_owned(),
                            "leave out deny_unknown_fields on the type that flattens",
                        );
                    }
                    return;
                }
            }
            if !given.sees_all && given.forms.len() == 1 && !given.optional {
                let mut inner = given.forms.remove(0);
                let unseen = consumed.clone();
                consumed.extend(inner.members.keys().cloned());
                inner.rest = Rest::Open;
                if inner.members.keys().any(|n| object.members.contains_key(n)) {
                    // Another flattened field looked at the member without taking it: both have their say.
                    object.parts.push(Part {
                        forms: vec![inner],
                        exclusive: true,
                        unseen,
                    });
                } else {
                    object.merge(inner);
                }
                return;
            }
        } else if given.forms.len() == 1 && !given.optional && given.forms[0].rest == Rest::Open {
            let inner = given.forms.remove(0);
            let inner = Object {
                required: if field.skip_if {
                    BTreeSet::new()
                } else {
                    inner.required.clone()
                },
                ..inner
            };
            for name in object.merge(inner) {
                self.report(
                    Code::NameClash,
                    at,
                    format!("the member `{name}` would be written twice"),
                    "rename one of the two",
                );
            }
            return;
        }
        let unseen = consumed.clone();
        if !given.sees_all {
            given
                .forms
                .iter()
                .for_each(|f| consumed.extend(f.members.keys().cloned()));
        }
        if given.optional || (!self.request() && field.skip_if) {
            // Whatever is wrong with them, or missing, is read as none.
            given.forms.push(Object::default());
            object.parts.push(Part {
                forms: given.forms,
                exclusive: false,
                unseen,
            });
            return;
        }
        if let ([form], true) = (given.forms.as_slice(), given.sees_all)
            && form.rest == Rest::Open
            && form
                .members
                .keys()
                .all(|k| !unseen.contains(k) && !object.members.contains_key(k))
        {
            let mut form = given.forms.remove(0);
            form.parts
                .iter_mut()
                .for_each(|p| p.unseen.extend(unseen.iter().cloned()));
            object.merge(form);
            return;
        }
        object.parts.push(Part {
            forms: given.forms,
            exclusive: given.exclusive,
            unseen,
        });
        self.lift_only_map(object);
    }

    /// The ways in which a type shares an object with others.
    fn forms(&self, ty: &Ty, given: Given, at: At, depth: usize) -> Forms {
        if depth > DEEPEST {
            self.report(
                Code::Cycle,
                at,
                "this is flattened into itself, without end".to_owned(),
                "give one of the fields a name of its own",
            );
            return Forms::one(Object::default(), true);
        }
        match ty {
            Ty::Unit => Forms::one(
                Object {
                    rest: if given == Given::Whole && self.request() {
                        Rest::Closed
                    } else {
                        Rest::Open
                    },
                    ..Object::default()
                },
                given == Given::Whole,
            ),
            Ty::Any if self.request() => Forms::one(Object::default(), true),
            Ty::Any => {
                let rest = Rest::Values {
                    key: None,
                    value: Json::empty(),
                };
                Forms::one(
                    Object {
                        rest,
                        ..Object::default()
                    },
                    true,
                )
            }
            Ty::Option(inner) => {
                let mut forms = self.forms(inner, given, at, depth + 1);
                forms.optional = given == Given::Flat && !forms.forms.is_empty();
                forms
            }
            Ty::Map { key, value } => Forms::one(self.map(key, value), true),
            Ty::Sensitive(inner) | Ty::Checked(inner) => self.forms(inner, given, at, depth + 1),
            Ty::Split { de, ser } => {
                self.forms(if self.request() { de } else { ser }, given, at, depth + 1)
            }
            Ty::Named(id) => self.forms_of(&self.graph.def(*id), given, at, depth),
            Ty::Inline(def) => self.forms_of(def, given, at, depth),
            Ty::Refused(_) => {
                self.schema(ty);
                Forms::one(Object::default(), true)
            }
            Ty::Bool
            | Ty::Char
            | Ty::Str
            | Ty::Int { .. }
            | Ty::Float
            | Ty::Seq { .. }
            | Ty::Tuple(_)
            | Ty::Array(..)
            | Ty::Leaf(_)
            | Ty::AtMost(..) => Forms::never(),
        }
    }

    fn forms_of(&self, def: &Rc<Def>, given: Given, at: At, depth: usize) -> Forms {
        if !self.check(def) {
            return Forms::one(Object::default(), true);
        }
        let here = At {
            module: def.module,
            span: def.span,
        };
        match &def.body {
            Body::Same(ty) => self.forms(ty, given, at, depth + 1),
            Body::Newtype(field) => self.forms(&field.ty, given, at, depth + 1),
            Body::Unit => self.forms(&Ty::Unit, given, at, depth),
            Body::Tuple(_) => Forms::never(),
            Body::Struct(record) => {
                let mut object = self.record(record, here, depth);
                let whole =
                    given == Given::Whole || record.fields.iter().any(|f| f.flatten && !f.skip_de);
                if !whole {
                    object.rest = Rest::Open;
                }
                Forms::one(object, whole)
            }
            Body::Enum(e) => self.forms_of_enum(e, given, here, depth),
            Body::Registered { .. } => {
                self.report(
                    Code::Flatten,
                    at,
                    format!(
                        "`{}` is registered with a schema of its own, which cannot be taken apart",
                        def.name
                    ),
                    "give the field a name of its own",
                );
                Forms::one(Object::default(), true)
            }
        }
    }

    fn forms_of_enum(&self, e: &Enum, given: Given, at: At, depth: usize) -> Forms {
        let mut out = Forms {
            forms: Vec::new(),
            exclusive: true,
            sees_all: true,
            optional: false,
        };
        let mixed = e.variants.iter().any(|v| v.untagged && self.there(v));
        for variant in e.variants.iter().filter(|v| self.there(v)) {
            let tagging = if variant.untagged {
                &Tagging::Untagged
            } else {
                &e.tagging
            };
            let forms = match tagging {
                // Beside untagged variants serde buffers the object, and a variant is its only member.
                Tagging::External => {
                    let whole = given == Given::Whole || (mixed && self.request());
                    self.external_forms(variant, at, depth, whole)
                }
                Tagging::Internal(tag) => self.internal_forms(e, variant, tag, at, depth),
                Tagging::Adjacent(tag, content) => {
                    self.adjacent_forms(e, variant, tag, content, at)
                }
                Tagging::Untagged => self.untagged_forms(variant, at, depth),
            };
            out.exclusive &= forms.exclusive && *tagging != Tagging::Untagged;
            out.forms.extend(forms.forms);
        }
        let takes = matches!(e.tagging, Tagging::External | Tagging::Adjacent(..))
            && given == Given::Flat
            && !mixed;
        if takes {
            out.sees_all = false;
            out.forms.iter_mut().for_each(|f| f.rest = Rest::Open);
        }
        out
    }

    /// The names of a variant in this direction.
    fn names(&self, variant: &Variant) -> Vec<String> {
        if self.request() {
            variant.read.clone()
        } else {
            vec![variant.written.clone()]
        }
    }

    fn there(&self, variant: &Variant) -> bool {
        if self.request() {
            !variant.skip_de
        } else {
            !variant.skip_ser
        }
    }

    /// Whether the variant carries nothing: as declared, or because its only field is skipped.
    fn unit(&self, variant: &Variant) -> bool {
        match &variant.content {
            Content::Unit => true,
            Content::Newtype(field) => {
                if self.request() {
                    field.skip_de
                } else {
                    field.skip_ser
                }
            }
            Content::Tuple(_) | Content::Struct(_) => false,
        }
    }

    /// The content of a variant as a value of its own; `None` for a unit.
    fn content(&self, variant: &Variant, at: At) -> Option<Json> {
        if self.unit(variant) {
            return None;
        }
        Some(match &variant.content {
            Content::Unit => return None,
            Content::Newtype(field) => self.field(field),
            Content::Tuple(fields) => self.tuple(fields),
            Content::Struct(record) => self
                .record(
                    record,
                    At {
                        span: variant.span,
                        ..at
                    },
                    0,
                )
                .render(),
        })
    }

    fn external_forms(&self, variant: &Variant, at: At, _depth: usize, closed: bool) -> Forms {
        let schema = self.content(variant, at).unwrap_or_else(|| kind("null"));
        let forms = self
            .names(variant)
            .into_iter()
            .map(|name| {
                let mut object = Object {
                    rest: if closed { Rest::Closed } else { Rest::Open },
                    description: variant.notes.description.clone(),
                    deprecated: variant.notes.deprecated,
                    ..Object::default()
                };
                object.tag(&name, schema.clone());
                object
            })
            .collect();
        Forms {
            forms,
            exclusive: true,
            sees_all: closed,
            optional: false,
        }
    }

    fn internal_forms(
        &self,
        e: &Enum,
        variant: &Variant,
        tag: &str,
        at: At,
        depth: usize,
    ) -> Forms {
        let here = At {
            span: variant.span,
            ..at
        };
        let mut inner = match &variant.content {
            _ if self.unit(variant) => Forms::one(Object::default(), true),
            Content::Unit => Forms::one(Object::default(), true),
            Content::Newtype(field) => {
                if self.request() {
                    self.unbuffered(&field.ty, here, "a tag among the members");
                }
                self.forms(&field.ty, Given::Whole, here, depth + 1)
            }
            Content::Struct(record) => {
                if self.request() {
                    record
                        .fields
                        .iter()
                        .for_each(|f| self.unbuffered(&f.ty, here, "a tag among the members"));
                }
                Forms::one(self.record(record, here, depth), true)
            }
            Content::Tuple(_) => Forms::never(),
        };
        if inner.forms.is_empty() {
            self.report(
                Code::NeverReadable,
                here,
                format!("the variant `{}` is no object, so it cannot carry the tag `{tag}` among its members: serde refuses it at run time", variant.written),
                "give the variant named fields, or the enum a content member",
            );
            return Forms::never();
        }
        let value = self.tag_value(e, variant);
        for object in &mut inner.forms {
            if !object.tag(tag, value.clone()) {
                self.report(
                    Code::NameClash,
                    here,
                    format!("the variant `{}` has a member of its own that is named as the tag, `{tag}`", variant.written),
                    "rename one of the two",
                );
            }
            object.description = variant
                .notes
                .description
                .clone()
                .or(object.description.take());
            object.deprecated |= variant.notes.deprecated;
        }
        inner
    }

    fn adjacent_forms(
        &self,
        e: &Enum,
        variant: &Variant,
        tag: &str,
        content: &str,
        at: At,
    ) -> Forms {
        let mut object = Object {
            rest: if e.closed { Rest::Closed } else { Rest::Open },
            description: variant.notes.description.clone(),
            deprecated: variant.notes.deprecated,
            ..Object::default()
        };
        object.tag(tag, self.tag_value(e, variant));
        let here = At {
            span: variant.span,
            ..at
        };
        if self.request() {
            self.buffered_content(variant, here, "a tag that may come after the content");
        }
        match self.content(variant, here) {
            Some(schema) => {
                object.members.insert(content.to_owned(), schema);
                let optional = match &variant.content {
                    Content::Newtype(field) if self.request() => {
                        field.missing != Missing::Error && self.none_when_missing(&field.ty, 0)
                    }
                    _ => false,
                };
                if !optional {
                    object.required.insert(content.to_owned());
                }
            }
            // A unit may have its content said, as null.
            None if self.request() => {
                object.members.insert(content.to_owned(), kind("null"));
                // Of a skipped field it is the field's type that is asked when the content is missing.
                if let Content::Newtype(field) = &variant.content
                    && !self.none_when_missing(&field.ty, 0)
                {
                    object.required.insert(content.to_owned());
                }
            }
            None => {}
        }
        Forms::one(object, true)
    }

    fn untagged_forms(&self, variant: &Variant, at: At, depth: usize) -> Forms {
        let here = At {
            span: variant.span,
            ..at
        };
        if self.request() {
            self.buffered_content(variant, here, "untagged variants");
        }
        let mut out = match &variant.content {
            _ if self.unit(variant) => Forms::never(),
            Content::Newtype(field) => self.forms(&field.ty, Given::Whole, here, depth + 1),
            Content::Struct(record) => Forms::one(self.record(record, here, depth), true),
            Content::Unit | Content::Tuple(_) => Forms::never(),
        };
        out.exclusive = false;
        out
    }

    /// What stands in the tag for this variant.
    fn tag_value(&self, e: &Enum, variant: &Variant) -> Json {
        let names = self.names(variant);
        if variant.other && self.request() {
            let others: Vec<Json> = e
                .variants
                .iter()
                .filter(|v| self.there(v) && !v.other && !v.untagged)
                .flat_map(|v| self.names(v))
                .map(Json::from)
                .collect();
            let mut out = kind("string");
            if !others.is_empty() {
                insert(
                    &mut out,
                    "not",
                    Json::object([("enum", Json::Array(others))]),
                );
            }
            return out;
        }
        match names.as_slice() {
            [only] => constant(only),
            names => Json::object([("type", "string".into()), ("enum", names.to_vec().into())]),
        }
    }

    fn enumeration(&self, e: &Enum, at: At) -> Json {
        let mut forms = Vec::new();
        let mut exclusive = true;
        // Variants without content, all in one `enum`.
        let mut words: Vec<Json> = Vec::new();
        let mut said: Vec<(String, String)> = Vec::new();
        let mut any_word = false;
        let mixed = e.variants.iter().any(|v| v.untagged && self.there(v));
        for variant in e.variants.iter().filter(|v| self.there(v)) {
            let here = At {
                span: variant.span,
                ..at
            };
            let tagging = if variant.untagged {
                &Tagging::Untagged
            } else {
                &e.tagging
            };
            match tagging {
                Tagging::External if self.unit(variant) => {
                    any_word |= variant.other && self.request();
                    for name in self.names(variant) {
                        if let Some(text) = &variant.notes.description {
                            said.push((name.clone(), text.clone()));
                        }
                        words.push(name.into());
                    }
                }
                Tagging::External => {
                    if mixed && self.request() {
                        self.buffered_content(variant, here, "untagged variants");
                    }
                    forms.extend(
                        self.external_forms(variant, here, 0, true)
                            .forms
                            .iter()
                            .map(Object::render),
                    );
                }
                Tagging::Internal(tag) => {
                    let found = self.internal_forms(e, variant, tag, here, 0);
                    exclusive &= found.exclusive;
                    forms.extend(found.forms.iter().map(Object::render));
                }
                Tagging::Adjacent(tag, content) => {
                    forms.extend(
                        self.adjacent_forms(e, variant, tag, content, here)
                            .forms
                            .iter()
                            .map(Object::render),
                    );
                }
                Tagging::Untagged => {
                    exclusive = false;
                    if self.request() {
                        self.buffered_content(variant, here, "untagged variants");
                    }
                    let mut schema = self.content(variant, here).unwrap_or_else(|| kind("null"));
                    annotate(&mut schema, &variant.notes);
                    if !forms.contains(&schema) {
                        forms.push(schema);
                    }
                }
            }
        }
        if !words.is_empty() || any_word {
            forms.insert(0, self.words(e, words, &said, any_word));
        }
        if self.request() && !e.variants.iter().any(|v| self.there(v)) {
            self.report(
                Code::NeverReadable,
                at,
                "an enum without a variant that can be read has no value".to_owned(),
                "give it a variant, or do not ask for it",
            );
        }
        alternatives(forms, exclusive)
    }

    fn words(&self, e: &Enum, words: Vec<Json>, said: &[(String, String)], any: bool) -> Json {
        let mut out = kind("string");
        if any {
            insert(&mut out, "$comment", ANY_WORD.into());
            let taken: Vec<Json> = e
                .variants
                .iter()
                .filter(|v| self.there(v) && !self.unit(v) && !v.untagged)
                .flat_map(|v| self.names(v))
                .map(Json::from)
                .collect();
            if !taken.is_empty() {
                insert(
                    &mut out,
                    "not",
                    Json::object([("enum", Json::Array(taken))]),
                );
            }
        } else {
            insert(&mut out, "enum", Json::Array(words));
        }
        if !said.is_empty() {
            let lines: Vec<String> = said
                .iter()
                .map(|(name, text)| {
                    format!(
                        "- `{name}`: {}",
                        text.split_whitespace().collect::<Vec<_>>().join(" ")
                    )
                })
                .collect();
            insert(&mut out, "description", lines.join("\n").into());
        }
        out
    }

    fn buffered_content(&self, variant: &Variant, at: At, by: &str) {
        match &variant.content {
            Content::Unit => {}
            Content::Newtype(field) => self.unbuffered(&field.ty, at, by),
            Content::Tuple(fields) | Content::Struct(Record { fields, .. }) => {
                fields.iter().for_each(|f| self.unbuffered(&f.ty, at, by));
            }
        }
    }

    /// Reports a part that serde cannot read out of its buffer.
    fn unbuffered(&self, ty: &Ty, at: At, by: &str) {
        if let Some(what) = self.hostile(ty, &mut BTreeSet::new()) {
            self.report(
                Code::Buffered,
                at,
                format!("{what} cannot be read here: {by} make serde read the value into a buffer first, which has no such thing"),
                "use a 64-bit integer, string keys, or another form of enum",
            );
        }
    }

    fn hostile(&self, ty: &Ty, seen: &mut BTreeSet<DefId>) -> Option<&'static str> {
        match ty {
            Ty::Int { bits: 128, .. } => Some("a 128-bit integer"),
            Ty::Option(t)
            | Ty::Seq { item: t, .. }
            | Ty::Array(t, _)
            | Ty::AtMost(t, _)
            | Ty::Sensitive(t)
            | Ty::Checked(t) => self.hostile(t, seen),
            Ty::Tuple(all) => all.iter().find_map(|t| self.hostile(t, seen)),
            Ty::Map { key, value } => {
                if self.number_key(key, 0) {
                    return Some("a map with keys that are numbers or booleans");
                }
                self.hostile(value, seen)
            }
            Ty::Split { de, .. } => self.hostile(de, seen),
            Ty::Named(id) => {
                if !seen.insert(*id) {
                    return None;
                }
                self.hostile_body(&self.graph.def(*id).body, seen)
            }
            Ty::Inline(def) => self.hostile_body(&def.body, seen),
            _ => None,
        }
    }

    fn hostile_body(&self, body: &Body, seen: &mut BTreeSet<DefId>) -> Option<&'static str> {
        let fields = |fields: &[Field], seen: &mut BTreeSet<DefId>| {
            fields
                .iter()
                .filter(|f| !f.skip_de)
                .find_map(|f| self.hostile(&f.ty, seen))
        };
        match body {
            Body::Same(ty) => self.hostile(ty, seen),
            Body::Newtype(field) => self.hostile(&field.ty, seen),
            Body::Tuple(all) | Body::Struct(Record { fields: all, .. }) => fields(all, seen),
            Body::Enum(e) => {
                e.variants
                    .iter()
                    .filter(|v| !v.skip_de)
                    .find_map(|v| match &v.content {
                        Content::Unit => None,
                        Content::Newtype(field) => self.hostile(&field.ty, seen),
                        Content::Tuple(all) | Content::Struct(Record { fields: all, .. }) => {
                            fields(all, seen)
                        }
                    })
            }
            Body::Unit | Body::Registered { .. } => None,
        }
    }

    fn number_key(&self, ty: &Ty, depth: usize) -> bool {
        match ty {
            Ty::Int { .. } | Ty::Bool | Ty::Float => true,
            Ty::Option(t) | Ty::Sensitive(t) | Ty::Checked(t) => self.number_key(t, depth),
            Ty::Split { de, .. } => self.number_key(de, depth),
            Ty::Named(id) if depth < DEEPEST => match &self.graph.def(*id).body {
                Body::Same(t) => self.number_key(t, depth + 1),
                Body::Newtype(f) => self.number_key(&f.ty, depth + 1),
                _ => false,
            },
            _ => false,
        }
    }
}

fn kind(name: &str) -> Json {
    Json::object([("type", name.into())])
}

fn array(items: Json) -> Json {
    let mut out = kind("array");
    if items != Json::empty() {
        insert(&mut out, "items", items);
    }
    out
}

fn tuple(items: Vec<Json>, least: usize) -> Json {
    let mut out = kind("array");
    insert(&mut out, "maxItems", items.len().into());
    if least > 0 {
        insert(&mut out, "minItems", least.into());
    }
    if !items.is_empty() {
        insert(&mut out, "prefixItems", Json::Array(items));
    }
    out
}

fn constant(text: &str) -> Json {
    Json::object([("type", "string".into()), ("const", Json::from(text))])
}

fn insert(schema: &mut Json, key: &str, value: Json) {
    if let Some(map) = schema.as_object_mut() {
        map.insert(key.to_owned(), value);
    }
}

fn integer(signed: bool, bits: u32, nonzero: bool) -> Json {
    let mut out = kind("integer");
    if signed {
        let min = i128::MIN >> (128 - bits);
        insert(&mut out, "minimum", min.into());
        insert(&mut out, "maximum", (!min).into());
        if nonzero {
            insert(&mut out, "not", Json::object([("const", Json::from(0u8))]));
        }
    } else {
        insert(&mut out, "minimum", u8::from(nonzero).into());
        insert(&mut out, "maximum", (u128::MAX >> (128 - bits)).into());
    }
    out
}

/// The schema or null.
pub(crate) fn nullable(schema: Json) -> Json {
    let Json::Object(map) = &schema else {
        return schema;
    };
    if map.is_empty() {
        return schema;
    }
    let null = || kind("null");
    match map.get("type") {
        Some(Json::String(t)) if t == "null" => return schema,
        Some(Json::String(t)) if !map.contains_key("enum") && !map.contains_key("const") => {
            let mut out = schema.clone();
            let both = vec![t.as_str().into(), "null".into()];
            insert(&mut out, "type", Json::Array(both));
            return out;
        }
        Some(Json::Array(types)) if types.contains(&"null".into()) => return schema,
        _ => {}
    }
    if let (1, Some(Json::Array(forms))) = (map.len(), map.get("anyOf")) {
        if forms.contains(&null()) {
            return schema;
        }
        let forms = forms.iter().cloned().chain([null()]).collect();
        return Json::object([("anyOf", Json::Array(forms))]);
    }
    Json::object([("anyOf", Json::Array(vec![schema, null()]))])
}

/// Adds what is said about a type or field to its schema.
pub(crate) fn annotate(schema: &mut Json, notes: &Notes) {
    if notes.is_empty() {
        return;
    }
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(title) = &notes.title {
        map.insert("title".to_owned(), title.as_str().into());
    }
    if let Some(text) = &notes.description {
        // The words of an enum stay below what is said about the enum.
        let joined = match map.get("description") {
            Some(Json::String(words)) if words.starts_with("- `") => format!("{text}\n\n{words}"),
            _ => text.clone(),
        };
        map.insert("description".to_owned(), joined.into());
    }
    if notes.deprecated {
        map.insert("deprecated".to_owned(), true.into());
    }
    if !notes.examples.is_empty() {
        map.insert("examples".to_owned(), Json::Array(notes.examples.clone()));
    }
    let is = |map: &std::collections::BTreeMap<String, Json>, kind: &str| match map.get("type") {
        Some(Json::String(t)) => t == kind,
        Some(Json::Array(all)) => all.contains(&kind.into()),
        _ => false,
    };
    for (key, value) in &notes.keywords {
        let key = match key.as_str() {
            "minLength" if is(map, "array") => "minItems",
            "maxLength" if is(map, "array") => "maxItems",
            "minLength" if is(map, "object") => "minProperties",
            "maxLength" if is(map, "object") => "maxProperties",
            other => other,
        };
        let stricter = match (map.get(key).and_then(Json::as_number), value.as_number()) {
            (Some(old), Some(new)) if key.starts_with("min") => old.as_f64() > new.as_f64(),
            (Some(old), Some(new)) if key.starts_with("max") => old.as_f64() < new.as_f64(),
            _ => false,
        };
        if !stricter {
            map.insert(key.to_owned(), value.clone());
        }
    }
    if !notes.inner.is_empty() {
        let items = map.entry("items".to_owned()).or_insert_with(Json::empty);
        annotate(
            items,
            &Notes {
                keywords: notes.inner.clone(),
                ..Notes::default()
            },
        );
    }
}
