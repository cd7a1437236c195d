//! `cfg` in three values. What cargo and rustc tell is true or false; what neither tells is unknown, and never guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

/// The value of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cfg3 {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It hangs on something neither cargo nor rustc has told; the text names it.
    Unknown(String),
}

impl Cfg3 {
    /// Both.
    pub fn and(self, other: Cfg3) -> Cfg3 {
        match (self, other) {
            (Cfg3::False, _) | (_, Cfg3::False) => Cfg3::False,
            (Cfg3::Unknown(a), _) | (_, Cfg3::Unknown(a)) => Cfg3::Unknown(a),
            _ => Cfg3::True,
        }
    }

    /// Either.
    pub fn or(self, other: Cfg3) -> Cfg3 {
        match (self, other) {
            (Cfg3::True, _) | (_, Cfg3::True) => Cfg3::True,
            (Cfg3::Unknown(a), _) | (_, Cfg3::Unknown(a)) => Cfg3::Unknown(a),
            _ => Cfg3::False,
        }
    }

    /// The opposite.
    #[expect(
        clippy::should_implement_trait,
        reason = "`!` on three values would read as if it were two"
    )]
    pub fn not(self) -> Cfg3 {
        match self {
            Cfg3::True => Cfg3::False,
            Cfg3::False => Cfg3::True,
            unknown => unknown,
        }
    }

    /// Whether it certainly does not hold.
    pub fn is_false(&self) -> bool {
        matches!(self, Cfg3::False)
    }

    /// Whether it certainly holds.
    pub fn is_true(&self) -> bool {
        matches!(self, Cfg3::True)
    }
}

/// Why a predicate could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CfgError(String);

/// What is known of the configuration that is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CfgSet {
    /// Names that stand for themselves (`unix`) and whether they hold.
    flags: BTreeMap<String, bool>,
    /// Keys all of whose values are known (`target_os`, `feature`), with the values that hold.
    keys: BTreeMap<String, BTreeSet<String>>,
}

/// Flags whose absence means false: rustc or cargo would have told.
const FLAGS: &[&str] = &[
    "unix",
    "windows",
    "target_thread_local",
    "relocation_model",
    "sanitize",
    "ub_checks",
    "fmt_debug",
    "miri",
];
/// Keys all of whose values rustc tells.
const KEYS: &[&str] = &[
    "target_os",
    "target_arch",
    "target_family",
    "target_env",
    "target_endian",
    "target_pointer_width",
    "target_vendor",
    "target_abi",
    "target_has_atomic",
    "target_has_atomic_equal_alignment",
    "target_has_atomic_load_store",
    "target_has_reliable_f128",
    "target_has_reliable_f16",
    "target_feature",
];
/// Flags of another way to compile than the one a manifest is about.
const OTHER_COMPILATIONS: &[&str] = &["test", "doc", "doctest", "proc_macro"];
/// What cargo asks rustc about without the profile, so that its answer is worth nothing.
const MISLEADING: &[&str] = &["debug_assertions", "overflow_checks", "panic"];

impl CfgSet {
    /// From the variables that cargo gives a build script (`CARGO_CFG_*`, `CARGO_FEATURE_*`). `features` are the names in
    /// `Cargo.toml`, since the variables do not keep their spelling.
    pub fn from_cargo(vars: &BTreeMap<String, String>, features: &BTreeSet<String>) -> Self {
        let mut set = Self::builtin();
        for (name, value) in vars {
            let Some(name) = name.strip_prefix("CARGO_CFG_") else {
                continue;
            };
            let key = name.to_lowercase();
            if MISLEADING.contains(&key.as_str()) || key == "feature" {
                continue;
            }
            if set.keys.contains_key(&key) || !value.is_empty() {
                set.keys
                    .entry(key)
                    .or_default()
                    .extend(value.split(',').map(str::to_owned));
            } else {
                set.flags.insert(key, true);
            }
        }
        let on = features
            .iter()
            .filter(|f| {
                vars.contains_key(&format!(
                    "CARGO_FEATURE_{}",
                    f.to_uppercase().replace('-', "_")
                ))
            })
            .cloned();
        set.keys.insert("feature".to_owned(), on.collect());
        set
    }

    /// From the lines of `rustc --print cfg` and the features that are on.
    pub fn from_rustc(lines: &str, features: impl IntoIterator<Item = String>) -> Self {
        let mut set = Self::builtin();
        for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let key = line.split('=').next().unwrap_or(line).trim();
            if !MISLEADING.contains(&key) {
                set.set(line, true);
            }
        }
        set.keys
            .insert("feature".to_owned(), features.into_iter().collect());
        set
    }

    /// Whether a key is known to have a value.
    pub(crate) fn has(&self, key: &str, value: &str) -> bool {
        self.keys
            .get(key)
            .is_some_and(|values| values.contains(value))
    }

    /// Says which features are on; every other one is off.
    pub fn set_features(&mut self, on: impl IntoIterator<Item = String>) {
        self.keys
            .insert("feature".to_owned(), on.into_iter().collect());
    }

    /// Nothing but the names whose absence means false.
    pub fn builtin() -> Self {
        let flags = FLAGS
            .iter()
            .chain(OTHER_COMPILATIONS)
            .map(|f| ((*f).to_owned(), false))
            .collect();
        Self {
            flags,
            keys: KEYS
                .iter()
                .map(|k| ((*k).to_owned(), BTreeSet::new()))
                .collect(),
        }
    }

    /// Says of one flag (`name`) or one value (`name = "value"`) whether it holds.
    pub fn set(&mut self, cfg: &str, holds: bool) {
        match cfg.split_once('=') {
            Some((key, value)) => {
                let value = value.trim().trim_matches('"').to_owned();
                let values = self.keys.entry(key.trim().to_owned()).or_default();
                if holds {
                    values.insert(value);
                } else {
                    values.remove(&value);
                }
            }
            None => {
                self.flags.insert(cfg.trim().to_owned(), holds);
            }
        }
    }

    /// The same with everything unknown that another build of the package may set otherwise: its features, the target, and
    /// what is told by hand. What only tests and documentation compile stays off.
    pub(crate) fn opened(&self) -> Self {
        let flags = OTHER_COMPILATIONS
            .iter()
            .map(|flag| ((*flag).to_owned(), false))
            .collect();
        Self {
            flags,
            keys: BTreeMap::new(),
        }
    }

    /// The value of one predicate: the tokens inside of `cfg(…)`.
    ///
    /// # Errors
    /// When it is not a predicate.
    pub fn eval(&self, tokens: TokenStream) -> Result<Cfg3, CfgError> {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        self.predicate(&trees)
    }

    /// The value of one predicate, with its text told where it is unknown.
    fn predicate(&self, trees: &[TokenTree]) -> Result<Cfg3, CfgError> {
        let fail = |what: &str| Err(CfgError(format!("a cfg predicate holds {what}")));
        match trees {
            // Behind `r#` the two literals are names like any other, but nobody sets those.
            [TokenTree::Ident(name)] => match name.to_string().as_str() {
                "true" => Ok(Cfg3::True),
                "false" => Ok(Cfg3::False),
                name => Ok(self.flag(name.trim_start_matches("r#"))),
            },
            [
                TokenTree::Ident(name),
                TokenTree::Punct(eq),
                TokenTree::Literal(value),
            ] if eq.as_char() == '=' => match syn::parse_str::<syn::LitStr>(&value.to_string()) {
                Ok(value) => {
                    Ok(self.value(name.to_string().trim_start_matches("r#"), &value.value()))
                }
                Err(_) => fail("a value that is not a string"),
            },
            [TokenTree::Ident(name), TokenTree::Group(group)]
                if group.delimiter() == Delimiter::Parenthesis =>
            {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut parts: Vec<&[TokenTree]> = inner
                    .split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ','))
                    .collect();
                if parts.last().is_some_and(|last| last.is_empty()) {
                    parts.pop();
                }
                let mut values = Vec::with_capacity(parts.len());
                match name.to_string().as_str() {
                    "all" | "any" | "not" => {
                        for part in &parts {
                            values.push(self.predicate(part)?);
                        }
                    }
                    // `version(…)`, `accessible(…)`, `target(…)`: the compiler's own, and unstable.
                    _ => return Ok(Cfg3::Unknown(text(trees))),
                }
                match name.to_string().as_str() {
                    "all" => Ok(values.into_iter().fold(Cfg3::True, Cfg3::and)),
                    "any" => Ok(values.into_iter().fold(Cfg3::False, Cfg3::or)),
                    _ if values.len() == 1 => Ok(values.remove(0).not()),
                    _ => fail("a `not` of other than one"),
                }
            }
            [] => fail("nothing"),
            _ => fail(&format!("`{}`", text(trees))),
        }
    }

    fn flag(&self, name: &str) -> Cfg3 {
        match self.flags.get(name) {
            Some(true) => Cfg3::True,
            Some(false) => Cfg3::False,
            // A key that has a value is not a flag: `#[cfg(feature)]` never holds.
            None if self.keys.contains_key(name) && name != "target_has_atomic" => Cfg3::False,
            None => Cfg3::Unknown(name.to_owned()),
        }
    }

    fn value(&self, key: &str, value: &str) -> Cfg3 {
        match self.keys.get(key) {
            Some(values) if values.contains(value) => Cfg3::True,
            Some(_) => Cfg3::False,
            None => Cfg3::Unknown(format!("{key} = {value:?}")),
        }
    }

    /// Whether everything with these attributes is compiled: the conjunction of its `cfg`s, those inside `cfg_attr` too.
    pub fn of_attributes(&self, attrs: &[Attribute]) -> Result<Cfg3, CfgError> {
        Ok(self.active(attrs)?.cfg)
    }

    /// The attributes with `cfg_attr` expanded, and whether the thing they stand on is compiled.
    ///
    /// # Errors
    /// When a `cfg` or `cfg_attr` cannot be parsed.
    pub fn active(&self, attrs: &[Attribute]) -> Result<ActiveAttrs, CfgError> {
        let mut out = ActiveAttrs {
            cfg: Cfg3::True,
            attrs: Vec::new(),
            unknown: Vec::new(),
        };
        for attr in attrs {
            self.expand(attr.clone(), Cfg3::True, &mut out)?;
        }
        Ok(out)
    }

    fn expand(&self, attr: Attribute, when: Cfg3, out: &mut ActiveAttrs) -> Result<(), CfgError> {
        let is = |name: &str| attr.path().is_ident(name);
        if is("cfg") {
            let syn::Meta::List(list) = &attr.meta else {
                return Err(CfgError("`cfg` holds its predicate in brackets".to_owned()));
            };
            let value = self.eval(list.tokens.clone())?;
            // `cfg_attr(unknown, cfg(false))` may switch the thing off: then that is unknown as well.
            out.cfg = std::mem::replace(&mut out.cfg, Cfg3::True).and(when.not().or(value));
        } else if is("cfg_attr") {
            let syn::Meta::List(list) = &attr.meta else {
                return Err(CfgError(
                    "`cfg_attr` holds its predicate in brackets".to_owned(),
                ));
            };
            let trees: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
            let mut parts = trees.splitn(
                2,
                |t| matches!(t, TokenTree::Punct(p) if p.as_char() == ','),
            );
            let value = when.and(self.predicate(parts.next().unwrap_or_default())?);
            if value.is_false() {
                return Ok(());
            }
            let rest: TokenStream = parts.next().unwrap_or_default().iter().cloned().collect();
            let metas = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated
                .parse2(rest)
                .map_err(|e| {
                    CfgError(format!(
                        "the attributes of a `cfg_attr` cannot be parsed: {e}"
                    ))
                })?;
            for meta in metas {
                let inner = Attribute {
                    meta,
                    ..attr.clone()
                };
                self.expand(inner, value.clone(), out)?;
            }
        } else {
            match when {
                Cfg3::Unknown(why) => out.unknown.push((attr, why)),
                _ => out.attrs.push(attr),
            }
        }
        Ok(())
    }
}

/// Attributes with every `cfg_attr` expanded and every `cfg` evaluated.
#[derive(Clone, Debug)]
pub struct ActiveAttrs {
    /// Whether the thing they stand on is compiled.
    pub cfg: Cfg3,
    /// The attributes that are certainly there; no `cfg`, no `cfg_attr`.
    pub attrs: Vec<Attribute>,
    /// Attributes of a `cfg_attr` whose predicate is unknown, and what it hangs on.
    pub unknown: Vec<(Attribute, String)>,
}

fn text(trees: &[TokenTree]) -> String {
    trees.iter().cloned().collect::<TokenStream>().to_string()
}

impl fmt::Display for Cfg3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cfg3::True => f.write_str("true"),
            Cfg3::False => f.write_str("false"),
            Cfg3::Unknown(why) => write!(f, "unknown ({why})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> CfgSet {
        let vars = [
            ("CARGO_CFG_UNIX", ""),
            ("CARGO_CFG_TARGET_OS", "linux"),
            ("CARGO_CFG_TARGET_FEATURE", "sse,sse2"),
            ("CARGO_CFG_PANIC", "unwind"),
            ("CARGO_CFG_FOO", ""),
            ("CARGO_FEATURE_FAST_PATH", "1"),
        ];
        let vars = vars
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        CfgSet::from_cargo(&vars, &["fast-path".to_owned(), "slow".to_owned()].into())
    }

    fn eval(text: &str) -> Cfg3 {
        set().eval(text.parse().unwrap()).unwrap()
    }

    fn unknown(what: &str) -> Cfg3 {
        Cfg3::Unknown(what.to_owned())
    }

    #[test]
    fn what_cargo_tells_is_true_or_false_and_the_rest_is_unknown() {
        assert_eq!(eval("unix"), Cfg3::True);
        assert_eq!(eval("windows"), Cfg3::False);
        assert_eq!(eval("target_os = \"linux\""), Cfg3::True);
        assert_eq!(eval("target_os = \"macos\""), Cfg3::False);
        assert_eq!(eval("target_feature = \"sse2\""), Cfg3::True);
        assert_eq!(eval("feature = \"fast-path\""), Cfg3::True);
        assert_eq!(eval("feature = \"slow\""), Cfg3::False);
        assert_eq!(eval("feature = \"undeclared\""), Cfg3::False);
        assert_eq!(
            eval("foo"),
            Cfg3::True,
            "RUSTFLAGS=\"--cfg foo\" reaches the build script"
        );
        assert_eq!(eval("has_thing"), unknown("has_thing"));
        assert_eq!(eval("backend = \"x\""), unknown("backend = \"x\""));
        assert_eq!(eval("test"), Cfg3::False);
        assert_eq!(eval("true"), Cfg3::True);
        assert_eq!(eval("false"), Cfg3::False);
    }

    #[test]
    fn the_profile_is_not_known_to_a_build_script() {
        assert_eq!(eval("debug_assertions"), unknown("debug_assertions"));
        assert_eq!(eval("panic = \"unwind\""), unknown("panic = \"unwind\""));
    }

    #[test]
    fn an_unknown_part_matters_only_where_the_rest_does_not_decide() {
        assert_eq!(eval("all(windows, has_thing)"), Cfg3::False);
        assert_eq!(eval("any(unix, has_thing)"), Cfg3::True);
        assert_eq!(eval("all(unix, has_thing)"), unknown("has_thing"));
        assert_eq!(eval("not(has_thing)"), unknown("has_thing"));
        assert_eq!(eval("any()"), Cfg3::False);
        assert_eq!(eval("all()"), Cfg3::True);
        assert_eq!(eval("all(unix,)"), Cfg3::True);
    }

    #[test]
    fn what_is_not_a_predicate_is_an_error() {
        for bad in [
            "",
            "not()",
            "not(unix, windows)",
            "a b",
            "a = 1",
            "\"x\"",
            "all(,)",
        ] {
            assert!(set().eval(bad.parse().unwrap()).is_err(), "{bad}");
        }
    }

    #[test]
    fn cfg_attr_is_expanded_nested_and_in_three_values() {
        let item: syn::ItemStruct = syn::parse_quote! {
            #[cfg_attr(unix, cfg_attr(feature = "fast-path", serde(rename = "a"), doc = "x"))]
            #[cfg_attr(windows, serde(rename = "b"))]
            #[cfg_attr(has_thing, serde(rename = "c"))]
            struct S;
        };
        let active = set().active(&item.attrs).unwrap();
        assert_eq!(active.cfg, Cfg3::True);
        assert_eq!(active.attrs.len(), 2);
        assert_eq!(active.unknown.len(), 1);
        let item: syn::ItemStruct =
            syn::parse_quote! { #[cfg_attr(has_thing, cfg(windows))] struct S; };
        assert_eq!(set().active(&item.attrs).unwrap().cfg, unknown("has_thing"));
        let item: syn::ItemStruct =
            syn::parse_quote! { #[cfg_attr(has_thing, cfg(unix))] struct S; };
        assert_eq!(
            set().active(&item.attrs).unwrap().cfg,
            Cfg3::True,
            "either way it is there"
        );
    }
}
