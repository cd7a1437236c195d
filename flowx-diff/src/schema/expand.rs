//! From a schema to its union of shapes.

use std::collections::BTreeMap;

use flowx_manifest::Json;
use flowx_manifest::json::Number;

use super::shape::{Bound, Kind, Layer, Row, Shape};
use super::side::{FALSE, Flat, Side, TRUE, Term, plain};

/// Members of a union; beyond it the comparison is undecided.
const MAX_SHAPES: usize = 2048;
/// References and combinators inside one another without a member or element between them.
const MAX_DEPTH: usize = 64;

pub(crate) fn flatten<'a>(side: &mut Side<'a>, term: Term) -> Flat<'a> {
    let nodes = side.nodes(term).to_vec();
    let mut shapes: Vec<Shape<'a>> = Kind::ALL.map(Shape::any).to_vec();
    for node in nodes {
        match expand(side, node, &mut Vec::new()).and_then(|next| cross(&shapes, &next)) {
            Ok(next) => shapes = next,
            Err(why) => {
                return Flat {
                    shapes: Kind::ALL.map(Shape::any).to_vec(),
                    gave_up: Some(why),
                };
            }
        }
    }
    Flat {
        shapes,
        gave_up: None,
    }
}

fn cross<'a>(a: &[Shape<'a>], b: &[Shape<'a>]) -> Result<Vec<Shape<'a>>, String> {
    let mut out = Vec::new();
    for x in a {
        out.extend(b.iter().filter_map(|y| x.and(y)));
        if out.len() > MAX_SHAPES {
            return Err(format!("more than {MAX_SHAPES} alternatives"));
        }
    }
    Ok(out)
}

/// Keywords that say nothing about which values fit.
pub(crate) const ANNOTATIONS: &[&str] = &[
    "$id",
    "$schema",
    "$comment",
    "$defs",
    "definitions",
    "$anchor",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// Keywords that are taken as a whole, with those that mean nothing without them, and the type they are about.
const OPAQUE: &[(&str, &[&str], Option<Kind>)] = &[
    ("if", &["then", "else"], None),
    ("dependentRequired", &[], Some(Kind::Object)),
    ("dependentSchemas", &[], Some(Kind::Object)),
    ("dependencies", &[], Some(Kind::Object)),
    (
        "contains",
        &["minContains", "maxContains"],
        Some(Kind::Array),
    ),
];
/// Keywords under which more members may be evaluated than `properties` says.
const EVALUATING: [&str; 3] = ["if", "dependentSchemas", "dependencies"];

fn expand<'a>(
    side: &mut Side<'a>,
    node: &'a Json,
    stack: &mut Vec<usize>,
) -> Result<Vec<Shape<'a>>, String> {
    let map = match node {
        Json::Bool(true) => return Ok(Kind::ALL.map(Shape::any).to_vec()),
        Json::Bool(false) => return Ok(Vec::new()),
        Json::Object(map) => map,
        _ => return Err("a schema that is neither an object nor true or false".to_owned()),
    };
    let address = std::ptr::from_ref::<Json>(node) as usize;
    if stack.contains(&address) {
        return Err("a schema that refers to itself with nothing between".to_owned());
    }
    if stack.len() >= MAX_DEPTH {
        return Err(format!(
            "more than {MAX_DEPTH} references inside one another"
        ));
    }
    side.steps += 1;
    stack.push(address);
    let out = expand_object(side, map, stack);
    stack.pop();
    out
}

fn expand_object<'a>(
    side: &mut Side<'a>,
    map: &'a BTreeMap<String, Json>,
    stack: &mut Vec<usize>,
) -> Result<Vec<Shape<'a>>, String> {
    if map.contains_key("$id") && !std::ptr::eq(map, root_of(side)) {
        return Err("a schema with an identity of its own inside".to_owned());
    }
    let mut shapes = base(side, map)?;
    if let Some(reference) = map.get("$ref") {
        let reference = reference.as_str().ok_or("a $ref that is no string")?;
        let (target, name) = side
            .doc
            .resolve(reference)
            .ok_or_else(|| format!("a $ref that leads nowhere: {reference}"))?;
        let mut next = expand(side, target, stack)?;
        if let Some(name) = name {
            for shape in &mut next {
                shape.refs.insert(0, name.clone());
            }
        }
        shapes = cross(&shapes, &next)?;
    }
    if map.contains_key("$dynamicRef") || map.contains_key("$recursiveRef") {
        return Err("a dynamic reference".to_owned());
    }
    for part in list(map, "allOf")? {
        let next = expand(side, part, stack)?;
        shapes = cross(&shapes, &next)?;
    }
    for key in ["anyOf", "oneOf"] {
        if !map.contains_key(key) {
            continue;
        }
        let mut branches = Vec::new();
        for part in list(map, key)? {
            branches.push(expand(side, part, stack)?);
        }
        if key == "oneOf" && !super::admit::pairwise_disjoint(side, &branches) {
            let text = opaque(side, &Json::object([(key, map[key].clone())]));
            branches.iter_mut().flatten().for_each(|s| {
                s.opaque.insert(text.clone());
            });
        }
        shapes = cross(&shapes, &branches.concat())?;
    }
    if let Some(not) = map.get("not") {
        shapes = subtract(side, shapes, not, stack)?;
    }
    if let Some(unevaluated) = map.get("unevaluatedProperties") {
        let whole = opaque(side, &Json::Object(map.clone()));
        close(side, &mut shapes, unevaluated, &whole);
    }
    if let Some(unevaluated) = map.get("unevaluatedItems")
        && *unevaluated != TRUE
    {
        // Which elements are left depends on everything beside it.
        let whole = opaque(side, &Json::Object(map.clone()));
        for shape in shapes.iter_mut().filter(|s| s.kind == Kind::Array) {
            shape.opaque.insert(whole.clone());
        }
    }
    Ok(shapes)
}

/// `unevaluatedProperties`: what no layer inside knows. A value that fits several alternatives has the members of all of
/// them evaluated, so where they may overlap a shape is closed to what is known to any, which is too much, and marked with
/// the whole schema as something that is not taken apart.
fn close<'a>(side: &mut Side<'a>, shapes: &mut [Shape<'a>], unevaluated: &'a Json, whole: &str) {
    let objects: Vec<Shape<'a>> = shapes
        .iter()
        .filter(|s| s.kind == Kind::Object)
        .cloned()
        .collect();
    let evaluating = |s: &Shape<'_>| {
        let by = |o: &String| EVALUATING.iter().any(|k| o.contains(&format!("\"{k}\":")));
        s.opaque.iter().any(by)
    };
    let alone: Vec<Vec<Shape<'a>>> = objects.iter().map(|s| vec![s.clone()]).collect();
    let apart = super::admit::pairwise_disjoint(side, &alone);
    let all = |s: &Shape<'_>| s.layers.iter().any(|l| l.says_rest);
    for shape in shapes.iter_mut().filter(|s| s.kind == Kind::Object) {
        let unclear =
            evaluating(shape) || (!apart && objects.iter().any(|s| evaluating(s) || all(s)));
        if !unclear && all(shape) {
            continue;
        }
        if unclear || !apart {
            shape.opaque.insert(whole.to_owned());
        }
        if unclear {
            continue;
        }
        let mut layer = Layer {
            props: BTreeMap::new(),
            patterns: Vec::new(),
            rest: unevaluated,
            says_rest: true,
        };
        let own = shape.layers.clone();
        let others = objects.iter().filter(|_| !apart).flat_map(|s| &s.layers);
        for known in own.iter().chain(others) {
            layer.props.extend(known.props.keys().map(|k| (*k, &TRUE)));
            for (pattern, _) in &known.patterns {
                if !layer.patterns.iter().any(|(p, _)| p == pattern) {
                    layer.patterns.push((pattern, &TRUE));
                }
            }
        }
        shape.layers.push(layer);
    }
}

/// The members of the document's root, to be told apart by address.
fn root_of<'a>(side: &Side<'a>) -> *const BTreeMap<String, Json> {
    side.doc
        .root
        .as_object()
        .map_or(std::ptr::null(), std::ptr::from_ref)
}

fn list<'a>(map: &'a BTreeMap<String, Json>, key: &str) -> Result<&'a [Json], String> {
    match map.get(key) {
        None => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(_) => Err(format!("an {key} that is no list")),
    }
}

/// `not`: whole types and listed values are taken out; anything else stays as it is written.
fn subtract<'a>(
    side: &mut Side<'a>,
    mut shapes: Vec<Shape<'a>>,
    not: &'a Json,
    stack: &mut Vec<usize>,
) -> Result<Vec<Shape<'a>>, String> {
    for gone in expand(side, not, stack)? {
        let plain_values = gone.values.is_some() && {
            let mut rest = gone.clone();
            rest.values = None;
            rest.is_any()
        };
        if gone.is_any() {
            shapes.retain(|s| s.kind != gone.kind);
        } else if plain_values {
            for shape in shapes.iter_mut().filter(|s| s.kind == gone.kind) {
                for value in gone.values.iter().flatten() {
                    if let Some(values) = &mut shape.values {
                        values.retain(|v| v != value);
                    } else if !shape.excluded.contains(value) {
                        shape.excluded.push(value.clone());
                    }
                }
            }
            shapes.retain(|s| !s.is_void());
        } else {
            let text = opaque(side, &Json::object([("not", not.clone())]));
            shapes
                .iter_mut()
                .filter(|s| s.kind == gone.kind)
                .for_each(|s| {
                    s.opaque.insert(text.clone());
                });
        }
    }
    Ok(shapes)
}

/// Keywords as a whole. What refers to something that differs in the other document is equal to nothing there.
fn opaque(side: &Side<'_>, keywords: &Json) -> String {
    let own = if side.doc.refs_are_same(keywords) {
        String::new()
    } else {
        format!("{} ", side.tag)
    };
    format!("{own}{}", keywords.to_canonical())
}

/// The keywords of one schema object by themselves.
fn base<'a>(side: &Side<'a>, map: &'a BTreeMap<String, Json>) -> Result<Vec<Shape<'a>>, String> {
    let mut kinds: BTreeMap<Kind, bool> = BTreeMap::new();
    let mut named = |name: &str| -> Result<(), String> {
        let (kind, integer) = match name {
            "null" => (Kind::Null, false),
            "boolean" => (Kind::Bool, false),
            "integer" => (Kind::Number, true),
            "number" => (Kind::Number, false),
            "string" => (Kind::String, false),
            "array" => (Kind::Array, false),
            "object" => (Kind::Object, false),
            other => return Err(format!("an unknown type {other:?}")),
        };
        // A list of both is all numbers.
        kinds
            .entry(kind)
            .and_modify(|i| *i &= integer)
            .or_insert(integer);
        Ok(())
    };
    match map.get("type") {
        None => Kind::ALL.into_iter().for_each(|k| {
            kinds.insert(k, false);
        }),
        Some(Json::String(name)) => named(name)?,
        Some(Json::Array(names)) => {
            for name in names {
                named(name.as_str().ok_or("a type that is no string")?)?;
            }
        }
        Some(_) => return Err("a type that is neither a string nor a list".to_owned()),
    }
    let values: Option<Vec<Json>> = match (map.get("const"), map.get("enum")) {
        (None, None) => None,
        (Some(c), None) => Some(vec![plain(c)]),
        (None, Some(Json::Array(list))) => Some(list.iter().map(plain).collect()),
        (Some(c), Some(Json::Array(list))) => {
            Some(list.iter().map(plain).filter(|v| *v == plain(c)).collect())
        }
        _ => return Err("an enum that is no list".to_owned()),
    };
    let mut opaques: Vec<(String, Option<Kind>)> = Vec::new();
    for (key, beside, kind) in OPAQUE {
        if map.contains_key(*key) {
            let words = [key].into_iter().chain(*beside);
            let said = words.filter_map(|k| Some((*k, map.get(*k)?.clone())));
            opaques.push((opaque(side, &Json::object(said)), *kind));
        }
    }
    let mut shapes = Vec::new();
    for (kind, integer) in kinds {
        let mut shape = Shape::any(kind);
        shape.integer = integer;
        if let Some(values) = &values {
            let mut own: Vec<Json> = Vec::new();
            for value in values.iter().filter(|v| Kind::of(v) == kind) {
                if !own.contains(value) {
                    own.push(value.clone());
                }
            }
            shape.values = Some(own);
        }
        let about = opaques.iter().filter(|(_, k)| k.is_none_or(|k| k == kind));
        shape.opaque = about.map(|(text, _)| text.clone()).collect();
        match kind {
            Kind::Number => numbers(map, &mut shape)?,
            Kind::String => {
                sizes(map, "minLength", "maxLength", &mut shape)?;
                if let Some(pattern) = map.get("pattern") {
                    shape
                        .patterns
                        .insert(pattern.as_str().ok_or("a pattern that is no string")?);
                }
                shape.format = map.get("format").and_then(Json::as_str);
            }
            Kind::Array => arrays(map, &mut shape)?,
            Kind::Object => objects(map, &mut shape)?,
            Kind::Null | Kind::Bool => {}
        }
        if !shape.is_void() {
            shapes.push(shape);
        }
    }
    Ok(shapes)
}

fn number<'a>(map: &'a BTreeMap<String, Json>, key: &str) -> Result<Option<&'a Number>, String> {
    match map.get(key) {
        None => Ok(None),
        Some(Json::Number(n)) => Ok(Some(n)),
        Some(_) => Err(format!("a {key} that is no number")),
    }
}

fn numbers(map: &BTreeMap<String, Json>, shape: &mut Shape<'_>) -> Result<(), String> {
    let own = |low: bool, high: bool, at: &Number, exclusive: bool, shape: &mut Shape<'_>| {
        let mut only = Shape::any(Kind::Number);
        let bound = Some(Bound {
            at: at.clone(),
            exclusive,
        });
        only.min = bound.clone().filter(|_| low);
        only.max = bound.filter(|_| high);
        // Two bounds on one side: the stricter counts. A void result is seen by the caller.
        match shape.and(&only) {
            Some(next) => *shape = next,
            None => shape.values = Some(Vec::new()),
        }
    };
    for (key, low, exclusive) in [
        ("minimum", true, false),
        ("exclusiveMinimum", true, true),
        ("maximum", false, false),
        ("exclusiveMaximum", false, true),
    ] {
        if let Some(at) = number(map, key)? {
            own(low, !low, at, exclusive, shape);
        }
    }
    if let Some(m) = number(map, "multipleOf")? {
        shape.multiples.push(m.clone());
    }
    Ok(())
}

fn size(map: &BTreeMap<String, Json>, key: &str) -> Result<Option<u64>, String> {
    match number(map, key)? {
        None => Ok(None),
        // `3.0` is a size too; what is negative or has a fraction is none.
        Some(n) => match plain(&Json::Number(n.clone())) {
            Json::Number(n) => n
                .as_u128()
                .map(|n| Some(u64::try_from(n).unwrap_or(u64::MAX)))
                .ok_or_else(|| format!("a {key} that is no size")),
            _ => Err(format!("a {key} that is no size")),
        },
    }
}

fn sizes(
    map: &BTreeMap<String, Json>,
    min: &str,
    max: &str,
    shape: &mut Shape<'_>,
) -> Result<(), String> {
    shape.size_min = size(map, min)?.unwrap_or(0);
    shape.size_max = size(map, max)?;
    Ok(())
}

fn arrays<'a>(map: &'a BTreeMap<String, Json>, shape: &mut Shape<'a>) -> Result<(), String> {
    sizes(map, "minItems", "maxItems", shape)?;
    shape.unique = map
        .get("uniqueItems")
        .and_then(Json::as_bool)
        .unwrap_or(false);
    let mut row = Row {
        prefix: list(map, "prefixItems")?.iter().collect(),
        items: &TRUE,
    };
    match map.get("items") {
        None => {}
        // Before 2020-12 a list here was what prefixItems is now.
        Some(Json::Array(prefix)) => {
            row.prefix = prefix.iter().collect();
            row.items = map.get("additionalItems").unwrap_or(&TRUE);
        }
        Some(items) => row.items = items,
    }
    if *row.items == FALSE {
        let most = row.prefix.len() as u64;
        shape.size_max = Some(shape.size_max.map_or(most, |m| m.min(most)));
    }
    if !row.prefix.is_empty() || *row.items != TRUE {
        shape.rows.push(row);
    }
    Ok(())
}

fn objects<'a>(map: &'a BTreeMap<String, Json>, shape: &mut Shape<'a>) -> Result<(), String> {
    sizes(map, "minProperties", "maxProperties", shape)?;
    let members = |key: &str| -> Result<Vec<(&'a str, &'a Json)>, String> {
        match map.get(key) {
            None => Ok(Vec::new()),
            Some(Json::Object(m)) => Ok(m.iter().map(|(k, v)| (k.as_str(), v)).collect()),
            Some(_) => Err(format!("a {key} that is no object")),
        }
    };
    let props: BTreeMap<_, _> = members("properties")?.into_iter().collect();
    let patterns = members("patternProperties")?;
    let rest = map.get("additionalProperties");
    if !props.is_empty() || !patterns.is_empty() || rest.is_some() {
        shape.layers.push(Layer {
            props,
            patterns,
            rest: rest.unwrap_or(&TRUE),
            says_rest: rest.is_some(),
        });
    }
    for name in list(map, "required")? {
        shape
            .required
            .insert(name.as_str().ok_or("a required name that is no string")?);
    }
    shape.names.extend(map.get("propertyNames"));
    Ok(())
}
