//! The common shape of every FlowX attribute: `key`, `key = value` and `key(…)`, separated by commas. A segment that cannot be
//! read spoils itself only, so that all mistakes are found at once.

use std::fmt::Display;
use std::str::FromStr;

use flowx_manifest::NameError;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::Parser;

use crate::Spanned;
use crate::problem::{Problems, codes};
use crate::words::{closest, suggestion};

/// What stands after a key.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Nothing.
    Flag,
    /// `= tokens`.
    Is(TokenStream),
    /// `(tokens)`.
    List(TokenStream),
}

/// One `key…` of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Arg {
    /// The key.
    pub(crate) key: String,
    /// The key's place.
    pub(crate) span: Span,
    /// What stands after it.
    pub(crate) value: Value,
}

/// Splits at the commas of the top level. The grammar has no generics, so no comma hides between `<` and `>`.
pub(crate) fn segments(tokens: TokenStream) -> Vec<TokenStream> {
    let mut all = Vec::new();
    let mut current = TokenStream::new();
    for token in ungroup(tokens) {
        match token {
            TokenTree::Punct(p) if p.as_char() == ',' => all.push(std::mem::take(&mut current)),
            other => current.extend([other]),
        }
    }
    all.push(current);
    all.retain(|segment| !segment.is_empty());
    all
}

/// Without the invisible groups that macros leave around what they pass on, at every depth.
pub(crate) fn ungroup(tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                ungroup(group.stream())
            }
            TokenTree::Group(group) => {
                let mut plain = proc_macro2::Group::new(group.delimiter(), ungroup(group.stream()));
                plain.set_span(group.span());
                TokenTree::Group(plain).into()
            }
            other => other.into(),
        })
        .collect()
}

/// The place of a few tokens: the first one's, which rustc and the fallback both know.
pub(crate) fn span_of(tokens: &TokenStream, otherwise: Span) -> Span {
    tokens
        .clone()
        .into_iter()
        .next()
        .map_or(otherwise, |t| t.span())
}

/// The arguments of one attribute or list, to be taken key by key.
pub(crate) struct Args<'p> {
    /// How the place is called in messages: `` `#[flow]` ``, `` `agent(…)` ``.
    pub(crate) place: &'static str,
    /// Where a missing key is reported.
    pub(crate) span: Span,
    args: Vec<Arg>,
    /// Known keys that unknown ones were most likely meant to be: not missed a second time.
    meant: Vec<String>,
    pub(crate) problems: &'p mut Problems,
}

impl<'p> Args<'p> {
    /// Reads all segments; `keys` is the closed vocabulary, `repeated` those of it that may stand more than once.
    pub(crate) fn read(
        tokens: TokenStream,
        place: &'static str,
        span: Span,
        keys: &[&'static str],
        repeated: &[&str],
        problems: &'p mut Problems,
    ) -> Self {
        let mut args: Vec<Arg> = Vec::new();
        let mut meant = Vec::new();
        for segment in segments(tokens) {
            let Some(arg) = read_arg(segment, place, keys, problems) else {
                continue;
            };
            if !keys.contains(&arg.key.as_str()) {
                let hint = suggestion(&arg.key, keys);
                meant.extend(closest(&arg.key, keys.iter().copied()).map(str::to_owned));
                problems.push(
                    codes::UNKNOWN_WORD,
                    arg.span,
                    format!("{place} has no key `{}`; {hint}", arg.key),
                );
            } else if !repeated.contains(&arg.key.as_str()) && args.iter().any(|a| a.key == arg.key)
            {
                problems.push(
                    codes::TWICE,
                    arg.span,
                    format!("{place} has `{}` twice", arg.key),
                );
            } else {
                args.push(arg);
            }
        }
        Self {
            place,
            span,
            args,
            meant,
            problems,
        }
    }

    /// Whether an unknown key was most likely meant to be this one.
    pub(crate) fn was_meant(&self, key: &str) -> bool {
        self.meant.iter().any(|m| m == key)
    }

    /// The argument of that key.
    pub(crate) fn take(&mut self, key: &str) -> Option<Arg> {
        let at = self.args.iter().position(|a| a.key == key)?;
        Some(self.args.remove(at))
    }

    /// A key that must be there, with an example for the message when it is not.
    pub(crate) fn demand(&mut self, key: &str, example: &str) -> Option<Arg> {
        let arg = self.take(key);
        if arg.is_none() && !self.was_meant(key) {
            let (place, span) = (self.place, self.span);
            self.problems.push(
                codes::MISSING,
                span,
                format!("{place} needs `{key}`, as in `{example}`"),
            );
        }
        arg
    }

    /// A demanded string of some form.
    pub(crate) fn demand_name<T>(&mut self, key: &str, example: &str) -> Option<Spanned<T>>
    where
        T: FromStr<Err = NameError>,
    {
        let arg = self.demand(key, example)?;
        self.parse_name(&arg)
    }

    /// A string of some form, if it is there.
    pub(crate) fn name<T>(&mut self, key: &str) -> Option<Spanned<T>>
    where
        T: FromStr<Err = NameError>,
    {
        let arg = self.take(key)?;
        self.parse_name(&arg)
    }

    fn parse_name<T>(&mut self, arg: &Arg) -> Option<Spanned<T>>
    where
        T: FromStr<Err = NameError>,
    {
        let text = arg.string(self.problems)?;
        name_of(&text, self.problems)
    }

    /// A string for people, if it is there: not blank.
    pub(crate) fn text(&mut self, key: &str) -> Option<Spanned<String>> {
        let arg = self.take(key)?;
        arg.text(self.problems)
    }

    /// A demanded string for people.
    pub(crate) fn demand_text(&mut self, key: &str, example: &str) -> Option<Spanned<String>> {
        let arg = self.demand(key, example)?;
        arg.text(self.problems)
    }

    /// `key`, `key = true` or `key = false`; `None` when it is not there or is wrong.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        let arg = self.take(key)?;
        arg.bool(self.problems)
    }

    /// One word of a vocabulary, if it is there.
    pub(crate) fn word<T: Copy + Display>(&mut self, key: &str, all: &[T]) -> Option<Spanned<T>> {
        let arg = self.take(key)?;
        arg.word(all, self.problems)
    }
}

/// A string parsed into its kind, with the form in the message when it has another.
pub(crate) fn name_of<T>(text: &Spanned<String>, problems: &mut Problems) -> Option<Spanned<T>>
where
    T: FromStr<Err = NameError>,
{
    match text.value.parse() {
        Ok(value) => Some(Spanned {
            value,
            span: text.span,
        }),
        Err(error) => {
            let message = format!("{:?} is no {}: {}", error.text, error.kind, error.expected);
            problems.push(codes::FORM, text.span, message);
            None
        }
    }
}

fn read_arg(
    segment: TokenStream,
    place: &str,
    keys: &[&str],
    problems: &mut Problems,
) -> Option<Arg> {
    let at = span_of(&segment, Span::call_site());
    let mut tokens = segment.into_iter();
    let key = match tokens.next() {
        Some(TokenTree::Ident(key)) => key,
        _ => {
            let known = crate::words::listed(keys);
            problems.push(
                codes::SYNTAX,
                at,
                format!("{place} takes keys here: {known}"),
            );
            return None;
        }
    };
    let (name, span) = (key.unraw().to_string(), key.span());
    let rest: Vec<TokenTree> = tokens.collect();
    let value = match rest.as_slice() {
        [] => Value::Flag,
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
            Value::List(group.stream())
        }
        [TokenTree::Punct(equals), value @ ..] if equals.as_char() == '=' && !value.is_empty() => {
            Value::Is(value.iter().cloned().collect())
        }
        [first, ..] => {
            problems.push(
                codes::SYNTAX,
                first.span(),
                format!("`{name}` is followed by `= value`, by `(…)` or by a comma"),
            );
            return None;
        }
    };
    Some(Arg {
        key: name,
        span,
        value,
    })
}

impl Arg {
    fn wrong(&self, expected: &str, problems: &mut Problems) {
        let span = match &self.value {
            Value::Is(tokens) => span_of(tokens, self.span),
            Value::Flag | Value::List(_) => self.span,
        };
        problems.push(
            codes::SYNTAX,
            span,
            format!("`{}` takes {expected}", self.key),
        );
    }

    /// `key = "literal"`.
    pub(crate) fn string(&self, problems: &mut Problems) -> Option<Spanned<String>> {
        let literal = match &self.value {
            Value::Is(tokens) => syn::parse2::<syn::LitStr>(tokens.clone()).ok(),
            Value::Flag | Value::List(_) => None,
        };
        match literal {
            Some(literal) => Some(Spanned {
                value: literal.value(),
                span: literal.span(),
            }),
            None => {
                let expected = format!(
                    "a string literal, as in `{} = \"…\"`: it is read without compiling",
                    self.key
                );
                self.wrong(&expected, problems);
                None
            }
        }
    }

    /// A string that is not blank.
    pub(crate) fn text(&self, problems: &mut Problems) -> Option<Spanned<String>> {
        let text = self.string(problems)?;
        if text.value.trim().is_empty() {
            problems.push(
                codes::FORM,
                text.span,
                format!("`{}` says nothing", self.key),
            );
            return None;
        }
        Some(text)
    }

    /// `key`, `key = true` or `key = false`.
    pub(crate) fn bool(&self, problems: &mut Problems) -> Option<bool> {
        let value = match &self.value {
            Value::Flag => Some(true),
            Value::Is(tokens) => syn::parse2::<syn::LitBool>(tokens.clone())
                .ok()
                .map(|b| b.value),
            Value::List(_) => None,
        };
        if value.is_none() {
            self.wrong("`true` or `false`", problems);
        }
        value
    }

    /// `key = 3`.
    pub(crate) fn number(&self, problems: &mut Problems) -> Option<Spanned<u32>> {
        let literal = match &self.value {
            Value::Is(tokens) => syn::parse2::<syn::LitInt>(tokens.clone()).ok(),
            Value::Flag | Value::List(_) => None,
        };
        let number = literal.and_then(|l| {
            let value = l.base10_parse().ok().filter(|_| l.suffix().is_empty())?;
            Some(Spanned {
                value,
                span: l.span(),
            })
        });
        if number.is_none() {
            self.wrong(
                &format!("a whole number, as in `{} = 3`", self.key),
                problems,
            );
        }
        number
    }

    /// `key = word`, of a closed vocabulary.
    pub(crate) fn word<T: Copy + Display>(
        &self,
        all: &[T],
        problems: &mut Problems,
    ) -> Option<Spanned<T>> {
        let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        let words: Vec<&str> = texts.iter().map(String::as_str).collect();
        let ident = match &self.value {
            Value::Is(tokens) => Ident::parse_any.parse2(tokens.clone()).ok(),
            Value::Flag | Value::List(_) => None,
        };
        let Some(ident) = ident else {
            let said = match &self.value {
                Value::Is(tokens) => syn::parse2::<syn::LitStr>(tokens.clone())
                    .ok()
                    .map(|l| l.value()),
                Value::Flag | Value::List(_) => None,
            };
            match said {
                Some(said) if words.contains(&said.as_str()) => {
                    self.wrong(
                        &format!("a word without quotes: `{} = {said}`", self.key),
                        problems,
                    );
                }
                _ => self.wrong(
                    &format!("one of {}", crate::words::listed(&words)),
                    problems,
                ),
            }
            return None;
        };
        let said = ident.unraw().to_string();
        match all.iter().find(|v| v.to_string() == said) {
            Some(value) => Some(Spanned {
                value: *value,
                span: ident.span(),
            }),
            None => {
                let hint = suggestion(&said, &words);
                problems.push(
                    codes::UNKNOWN_WORD,
                    ident.span(),
                    format!("`{said}` is not a value of `{}`; {hint}", self.key),
                );
                None
            }
        }
    }

    /// `key = path`.
    pub(crate) fn path(&self, problems: &mut Problems) -> Option<syn::Path> {
        let path = match &self.value {
            Value::Is(tokens) => syn::Path::parse_mod_style.parse2(tokens.clone()).ok(),
            Value::Flag | Value::List(_) => None,
        };
        if path.is_none() {
            self.wrong(
                &format!(
                    "a path without generics, as in `{} = module::name`",
                    self.key
                ),
                problems,
            );
        }
        path
    }

    /// `key(…)`.
    pub(crate) fn list(&self, example: &str, problems: &mut Problems) -> Option<TokenStream> {
        match &self.value {
            Value::List(tokens) => Some(tokens.clone()),
            Value::Flag | Value::Is(_) => {
                self.wrong(&format!("a list, as in `{example}`"), problems);
                None
            }
        }
    }

    /// `key(path, path)`: paths without generics, each once.
    pub(crate) fn paths(&self, example: &str, problems: &mut Problems) -> Vec<syn::Path> {
        let Some(tokens) = self.list(example, problems) else {
            return Vec::new();
        };
        let mut paths: Vec<syn::Path> = Vec::new();
        for segment in segments(tokens) {
            let at = span_of(&segment, self.span);
            match syn::Path::parse_mod_style.parse2(segment) {
                Ok(path) if paths.contains(&path) => {
                    let text = path_text(&path);
                    problems.push(
                        codes::LISTED_TWICE,
                        at,
                        format!("`{}` lists `{text}` twice", self.key),
                    );
                }
                Ok(path) => paths.push(path),
                Err(_) => problems.push(
                    codes::SYNTAX,
                    at,
                    format!(
                        "`{}` lists paths without generics, as in `{example}`",
                        self.key
                    ),
                ),
            }
        }
        paths
    }
}

/// `a::b::c`.
pub fn path_text(path: &syn::Path) -> String {
    let joined = path
        .segments
        .iter()
        .map(|s| s.ident.to_string())
        .collect::<Vec<_>>()
        .join("::");
    if path.leading_colon.is_some() {
        format!("::{joined}")
    } else {
        joined
    }
}
