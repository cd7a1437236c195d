//! Objects under construction: members, what else may stand beside them, and alternatives that `flatten` and tags bring in.

use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::Json;

/// An object schema in parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) members: BTreeMap<String, Json>,
    pub(crate) required: BTreeSet<String>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) rest: Rest,
    pub(crate) parts: Vec<Part>,
    pub(crate) description: Option<String>,
    pub(crate) deprecated: bool,
}

/// A member that goes by several names.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// Exactly one of them is there.
    One(Vec<String>),
    /// None, or one of them.
    AtMostOne(Vec<String>),
}

impl Rule {
    fn render(&self, out: &mut Vec<Json>) {
        match self {
            Rule::One(names) => out.push(Json::object([(
                "oneOf",
                Json::Array(names.iter().map(|n| needs(&[n])).collect()),
            )])),
            Rule::AtMostOne(names) => {
                for (i, a) in names.iter().enumerate() {
                    for b in &names[i + 1..] {
                        out.push(Json::object([("not", needs(&[a, b]))]));
                    }
                }
            }
        }
    }
}

fn needs(names: &[&String]) -> Json {
    let names = names.iter().map(|n| n.as_str().into()).collect();
    Json::object([("required", Json::Array(names))])
}

/// What may stand beside the named members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Anything.
    #[default]
    Open,
    /// Nothing.
    Closed,
    /// Members of that form, whose names satisfy the key.
    Values { key: Option<Json>, value: Json },
}

/// Alternatives, one of which holds beside the rest of the object.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) forms: Vec<Object>,
    pub(crate) exclusive: bool,
    /// The members that this part never gets to see, because others take them first.
    pub(crate) unseen: BTreeSet<String>,
}

impl Object {
    /// Every name that is spoken of.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let mut all: BTreeSet<String> = self.members.keys().cloned().collect();
        for part in &self.parts {
            part.forms.iter().for_each(|f| all.extend(f.names()));
        }
        all
    }

    /// Whether the empty object is one.
    pub(crate) fn takes_nothing(&self) -> bool {
        self.required.is_empty()
            && self.rules.iter().all(|r| matches!(r, Rule::AtMostOne(_)))
            && self
                .parts
                .iter()
                .all(|p| p.forms.iter().any(Object::takes_nothing))
    }

    /// Adds a member that the rest of the object does not see. False when the name is taken.
    pub(crate) fn tag(&mut self, name: &str, schema: Json) -> bool {
        let taken = self.names().contains(name);
        for part in &mut self.parts {
            part.unseen.insert(name.to_owned());
        }
        self.required.insert(name.to_owned());
        self.members.insert(name.to_owned(), schema);
        !taken
    }

    /// What is left of it when others take these members first. `None`: nothing that is left can satisfy it.
    pub(crate) fn without(mut self, taken: &BTreeSet<String>) -> Option<Object> {
        if !self.required.is_disjoint(taken) {
            return None;
        }
        self.members.retain(|n, _| !taken.contains(n));
        let mut rules = Vec::new();
        let left = |names: Vec<String>| -> Vec<String> {
            names.into_iter().filter(|n| !taken.contains(n)).collect()
        };
        for rule in self.rules {
            match rule {
                Rule::One(names) => match left(names) {
                    names if names.is_empty() => return None,
                    names if names.len() == 1 => self.required.extend(names),
                    names => rules.push(Rule::One(names)),
                },
                Rule::AtMostOne(names) => match left(names) {
                    names if names.len() < 2 => {}
                    names => rules.push(Rule::AtMostOne(names)),
                },
            }
        }
        self.rules = rules;
        for part in &mut self.parts {
            let forms = std::mem::take(&mut part.forms);
            part.forms = forms.into_iter().filter_map(|f| f.without(taken)).collect();
            if part.forms.is_empty() {
                return None;
            }
            part.unseen.extend(taken.iter().cloned());
        }
        Some(self)
    }

    /// Whether members of other names matter to it.
    pub(crate) fn minds_others(&self) -> bool {
        let part = |p: &Part| p.forms.iter().any(Object::minds_others);
        self.rest != Rest::Open || self.parts.iter().any(part)
    }

    /// Takes in another object whose members stand beside these. The names that both have are returned.
    pub(crate) fn merge(&mut self, other: Object) -> Vec<String> {
        let mut clashes = Vec::new();
        for (name, schema) in other.members {
            if self.members.contains_key(&name) {
                clashes.push(name);
            } else {
                if other.required.contains(&name) {
                    self.required.insert(name.clone());
                }
                self.members.insert(name, schema);
            }
        }
        self.rules.extend(other.rules);
        self.parts.extend(other.parts);
        clashes
    }

    /// The alternatives written out, each a closed object of its own. `None` when there are too many.
    fn distributed(&self) -> Option<Vec<Object>> {
        let mut all = vec![Object {
            parts: Vec::new(),
            ..self.clone()
        }];
        for part in &self.parts {
            let mut next = Vec::new();
            for base in &all {
                for form in &part.forms {
                    let mut one = base.clone();
                    one.merge(Object {
                        parts: Vec::new(),
                        ..form.clone()
                    });
                    next.push(one);
                }
            }
            if next.len() > 256 {
                return None;
            }
            all = next;
        }
        Some(all)
    }

    pub(crate) fn render(&self) -> Json {
        self.render_beside(&BTreeSet::new())
    }

    fn render_beside(&self, unseen: &BTreeSet<String>) -> Json {
        if self.rest == Rest::Closed
            && !self.parts.is_empty()
            && let Some(all) = self.distributed()
        {
            let forms = all.iter().map(|o| o.render_beside(unseen)).collect();
            return alternatives(forms, self.parts.iter().all(|p| p.exclusive));
        }
        let mut out = BTreeMap::new();
        out.insert("type".to_owned(), Json::from("object"));
        let mut members = self.members.clone();
        if self.rest != Rest::Open {
            for name in unseen {
                members.entry(name.clone()).or_insert_with(Json::empty);
            }
        }
        match &self.rest {
            Rest::Open => {}
            Rest::Closed => drop(out.insert("additionalProperties".to_owned(), false.into())),
            Rest::Values { key, value } => {
                // Said even when it says nothing: what is written has other members, too.
                let value = if *value == Json::empty() {
                    true.into()
                } else {
                    value.clone()
                };
                out.insert("additionalProperties".to_owned(), value);
                if let Some(key) = key {
                    let names = if members.is_empty() {
                        key.clone()
                    } else {
                        let named: Vec<Json> = members.keys().map(|k| k.as_str().into()).collect();
                        Json::object([(
                            "anyOf",
                            Json::Array(vec![
                                Json::object([("enum", Json::Array(named))]),
                                key.clone(),
                            ]),
                        )])
                    };
                    out.insert("propertyNames".to_owned(), names);
                }
            }
        }
        if !members.is_empty() {
            out.insert("properties".to_owned(), Json::Object(members));
        }
        if !self.required.is_empty() {
            out.insert(
                "required".to_owned(),
                self.required.iter().cloned().collect::<Vec<_>>().into(),
            );
        }
        if let Some(text) = &self.description {
            out.insert("description".to_owned(), text.as_str().into());
        }
        if self.deprecated {
            out.insert("deprecated".to_owned(), true.into());
        }
        let mut rules = Vec::new();
        self.rules.iter().for_each(|r| r.render(&mut rules));
        for part in &self.parts {
            let forms: Vec<Json> = part
                .forms
                .iter()
                .map(|f| f.render_beside(&part.unseen))
                .collect();
            rules.push(alternatives(forms, part.exclusive));
        }
        // One rule of one keyword stands in the object itself; more are joined.
        if let [Json::Object(only)] = rules.as_slice()
            && only.keys().all(|k| !out.contains_key(k))
        {
            out.extend(only.clone());
        } else if !rules.is_empty() {
            out.insert("allOf".to_owned(), Json::Array(rules));
        }
        Json::Object(out)
    }
}

/// One of several schemas. `exclusive`: at most one can hold.
pub(crate) fn alternatives(mut forms: Vec<Json>, exclusive: bool) -> Json {
    match forms.len() {
        0 => Json::object([("not", Json::empty())]),
        1 => forms.remove(0),
        _ => Json::object([(
            if exclusive { "oneOf" } else { "anyOf" },
            Json::Array(forms),
        )]),
    }
}
