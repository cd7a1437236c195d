//! One of the two documents of a comparison: its references, and its schemas as interned terms.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use flowx_manifest::{Json, contract_of_ref};
use regex::Regex;

use super::decimal::Decimal;
use super::shape::Shape;

/// Admits everything.
pub(crate) static TRUE: Json = Json::Bool(true);
/// Admits nothing.
pub(crate) static FALSE: Json = Json::Bool(false);

/// A schema document, or one contract among those of a manifest.
#[derive(Clone, Copy)]
pub(crate) struct Doc<'a> {
    /// The schema that is compared.
    pub(crate) root: &'a Json,
    /// What references name, when the root does not hold it itself.
    pub(crate) contracts: Option<&'a BTreeMap<String, &'a Json>>,
    /// Names whose meaning, through all that they refer to, is the same in the other document.
    pub(crate) same: Option<&'a BTreeSet<String>>,
}

impl<'a> Doc<'a> {
    /// A document that stands alone.
    pub(crate) fn alone(root: &'a Json) -> Doc<'a> {
        Doc {
            root,
            contracts: None,
            same: None,
        }
    }

    /// The schema that a `$ref` names, and the name.
    pub(crate) fn resolve(&self, reference: &str) -> Option<(&'a Json, Option<String>)> {
        let name = contract_of_ref(reference);
        if let (Some(contracts), Some(name)) = (self.contracts, &name)
            && let Some(schema) = contracts.get(name)
        {
            return Some((schema, Some(name.clone())));
        }
        if let Some(name) = name
            && let Some(schema) = self.root.get("$defs").and_then(|d| d.get(&name))
        {
            return Some((schema, Some(name)));
        }
        let pointer = reference.strip_prefix('#')?;
        let schema = self.root.pointer(&percent_decoded(pointer)?)?;
        Some((
            schema,
            pointer
                .rsplit('/')
                .next()
                .filter(|n| !n.is_empty())
                .map(str::to_owned),
        ))
    }

    /// Whether every reference inside means the same in both documents.
    pub(crate) fn refs_are_same(&self, node: &Json) -> bool {
        let mut refs = BTreeSet::new();
        flowx_manifest::references(node, &mut refs);
        match self.same {
            Some(same) => {
                refs.iter().all(|r| same.contains(r))
                    && !node.to_canonical().contains("\"$dynamicRef\"")
            }
            None => {
                let text = node.to_canonical();
                !["\"$ref\"", "\"$dynamicRef\"", "\"$recursiveRef\""]
                    .iter()
                    .any(|word| text.contains(word))
            }
        }
    }
}

/// A pattern as JSON Schema means it, ECMA-262, in the syntax of this engine. `None` when it has no such form.
pub(crate) fn ecma(pattern: &str) -> Option<String> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    Some(translated.into_owned())
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        if b == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(rest.get(..2)?).ok()?, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(b);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A conjunction of schemas, interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term(pub(crate) u32);

/// A term as a union of shapes.
pub(crate) struct Flat<'a> {
    pub(crate) shapes: Vec<Shape<'a>>,
    /// Why the shapes do not say it all.
    pub(crate) gave_up: Option<String>,
}

/// A document with everything computed of it.
pub(crate) struct Side<'a> {
    pub(crate) doc: Doc<'a>,
    /// Tells the two sides apart where something of one can never equal something of the other.
    pub(crate) tag: &'static str,
    terms: Vec<Vec<&'a Json>>,
    ids: HashMap<Vec<usize>, Term>,
    flats: Vec<Option<Rc<Flat<'a>>>>,
    /// One node for all of the same text, by address: what is written twice is looked at once.
    alike: HashMap<usize, &'a Json>,
    texts: HashMap<String, &'a Json>,
    regexes: HashMap<String, Option<Rc<Regex>>>,
    /// Terms that are being taken apart right now.
    busy: Vec<Term>,
    /// Units of work done.
    pub(crate) steps: u64,
    /// Values that may still be made of it.
    pub(crate) making: u32,
}

impl<'a> Side<'a> {
    pub(crate) fn new(doc: Doc<'a>, tag: &'static str) -> Self {
        Side {
            doc,
            tag,
            terms: Vec::new(),
            ids: HashMap::new(),
            flats: Vec::new(),
            alike: HashMap::new(),
            texts: HashMap::new(),
            regexes: HashMap::new(),
            busy: Vec::new(),
            steps: 0,
            making: crate::sample::WORK_OF_A_SIDE,
        }
    }

    /// The conjunction of those schemas. Which address a schema has decides identity only, never order.
    pub(crate) fn term(&mut self, nodes: &[&'a Json]) -> Term {
        let mut kept: Vec<&'a Json> = Vec::new();
        for node in nodes {
            let node = self.representative(node);
            let trivial = *node == TRUE || node.as_object().is_some_and(BTreeMap::is_empty);
            if !trivial && !kept.iter().any(|k| std::ptr::eq(*k, node)) {
                kept.push(node);
            }
        }
        let key: Vec<usize> = kept
            .iter()
            .map(|n| std::ptr::from_ref::<Json>(n) as usize)
            .collect();
        if let Some(term) = self.ids.get(&key) {
            return *term;
        }
        let term = Term(u32::try_from(self.terms.len()).unwrap_or(u32::MAX));
        self.terms.push(kept);
        self.flats.push(None);
        self.ids.insert(key, term);
        term
    }

    /// The first node that was seen with the same text. Within one document the same text means the same.
    fn representative(&mut self, node: &'a Json) -> &'a Json {
        let address = std::ptr::from_ref::<Json>(node) as usize;
        if let Some(known) = self.alike.get(&address) {
            return known;
        }
        let first = *self.texts.entry(node.to_canonical()).or_insert(node);
        self.alike.insert(address, first);
        first
    }

    pub(crate) fn root(&mut self) -> Term {
        let root = self.doc.root;
        self.term(&[root])
    }

    /// The schemas that the term joins.
    pub(crate) fn nodes(&self, term: Term) -> &[&'a Json] {
        &self.terms[term.0 as usize]
    }

    /// The union of shapes, computed once.
    pub(crate) fn flat(&mut self, term: Term) -> Rc<Flat<'a>> {
        if let Some(flat) = &self.flats[term.0 as usize] {
            return Rc::clone(flat);
        }
        self.busy.push(term);
        let flat = Rc::new(super::expand::flatten(self, term));
        self.busy.pop();
        self.steps += 1 + flat.shapes.len() as u64;
        self.flats[term.0 as usize] = Some(Rc::clone(&flat));
        flat
    }

    /// The same, unless it is being computed further up, or the search went too deep: then nothing is known yet.
    pub(crate) fn flat_unless_busy(&mut self, term: Term) -> Option<Rc<Flat<'a>>> {
        if self.busy.contains(&term) || self.busy.len() > 32 {
            return None;
        }
        Some(self.flat(term))
    }

    /// Whether no value fits, as far as the shapes alone tell.
    pub(crate) fn is_void(&mut self, term: Term) -> bool {
        let flat = self.flat(term);
        flat.shapes.is_empty() && flat.gave_up.is_none()
    }

    /// Whether every value fits.
    pub(crate) fn is_any(&self, term: Term) -> bool {
        self.nodes(term).is_empty()
    }

    /// A compiled pattern. `None` when this engine does not know its syntax.
    pub(crate) fn regex(&mut self, pattern: &str) -> Option<Rc<Regex>> {
        if let Some(known) = self.regexes.get(pattern) {
            return known.clone();
        }
        let regex = ecma(pattern).and_then(|pattern| {
            let built = regex::RegexBuilder::new(&pattern)
                .size_limit(1 << 20)
                .build();
            built.ok().map(Rc::new)
        });
        self.regexes.insert(pattern.to_owned(), regex.clone());
        regex
    }

    /// What a member of that name must be, and whether it is declared (by name or pattern). `None` for a pattern that
    /// cannot be read.
    pub(crate) fn member(&mut self, shape: &Shape<'a>, key: &str) -> Option<(Term, bool)> {
        let mut nodes = Vec::new();
        let mut declared = false;
        for layer in &shape.layers {
            let mut hit = false;
            if let Some(node) = layer.props.get(key) {
                nodes.push(*node);
                hit = true;
            }
            for (pattern, node) in &layer.patterns {
                if self.regex(pattern)?.is_match(key) {
                    nodes.push(*node);
                    hit = true;
                }
            }
            declared |= hit;
            if !hit {
                nodes.push(layer.rest);
            }
        }
        Some((self.term(&nodes), declared))
    }

    /// What a member must be that no layer knows by name or pattern.
    pub(crate) fn rest(&mut self, shape: &Shape<'a>) -> Term {
        let nodes: Vec<&'a Json> = shape.layers.iter().map(|l| l.rest).collect();
        self.term(&nodes)
    }

    /// What a member must be whose name is not declared and matches exactly those of the patterns.
    pub(crate) fn matching(&mut self, shape: &Shape<'a>, patterns: &[&str]) -> Term {
        let mut nodes = Vec::new();
        for layer in &shape.layers {
            let before = nodes.len();
            let hits = layer.patterns.iter().filter(|(p, _)| patterns.contains(p));
            nodes.extend(hits.map(|(_, node)| *node));
            if nodes.len() == before {
                nodes.push(layer.rest);
            }
        }
        self.term(&nodes)
    }

    /// What a member's name must be.
    pub(crate) fn names(&mut self, shape: &Shape<'a>) -> Term {
        let nodes = shape.names.clone();
        self.term(&nodes)
    }

    /// What the element at an index must be.
    pub(crate) fn element(&mut self, shape: &Shape<'a>, index: usize) -> Term {
        let nodes: Vec<&'a Json> = shape
            .rows
            .iter()
            .map(|r| r.prefix.get(index).copied().unwrap_or(r.items))
            .collect();
        self.term(&nodes)
    }
}

/// The value with every number in its shortest spelling, since `1` is `1.0` to JSON Schema.
pub(crate) fn plain(value: &Json) -> Json {
    match value {
        Json::Number(n) if n.as_i128().is_none() => {
            match Decimal::of(n).and_then(Decimal::as_i128) {
                Some(whole) => Json::from(whole),
                None => Json::from_f64(n.as_f64()),
            }
        }
        Json::Array(items) => Json::Array(items.iter().map(plain).collect()),
        Json::Object(map) => Json::Object(map.iter().map(|(k, v)| (k.clone(), plain(v))).collect()),
        other => other.clone(),
    }
}
