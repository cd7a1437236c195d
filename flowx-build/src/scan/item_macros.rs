//! The item macros whose modules can be followed without expanding anything: `cfg_if!` and `cfg_select!`, macros by example that
//! hand every item on with attributes in front (`cfg_rt! { mod runtime; }`), and those that take nothing and write items.

use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// One branch of `cfg_if!` or `cfg_select!`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// Its predicate; none for the last `else`.
    pub(crate) cfg: Option<String>,
    /// What stands in its braces.
    pub(crate) body: Range<usize>,
}

/// The branches of a `cfg_if!` or `cfg_select!`, whose tokens stand at a range of a text.
pub(crate) fn branches(text: &str, range: Range<usize>) -> Vec<Branch> {
    let Ok(tokens) = text[range.clone()].parse::<TokenStream>() else {
        return Vec::new();
    };
    let mut predicate = TokenStream::new();
    let mut all = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let cfg = std::mem::take(&mut predicate).to_string();
                let cfg = Some(cfg).filter(|c| !c.is_empty() && c != "_");
                all.push(Branch {
                    cfg,
                    body: inside(&group, range.start),
                });
            }
            // `cfg_if!`: `if #[cfg(…)] { … } else { … }`.
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let mut inner = group.stream().into_iter();
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(of))) =
                    (inner.next(), inner.next())
                    && name == "cfg"
                {
                    predicate = of.stream();
                }
            }
            TokenTree::Ident(word) if word == "if" || word == "else" => {}
            TokenTree::Punct(p) if matches!(p.as_char(), '#' | '>') => {}
            // `cfg_select!`: `predicate => { … }`, with a comma between two if one likes.
            TokenTree::Punct(p) if p.as_char() == '=' && p.spacing() == Spacing::Joint => {}
            TokenTree::Punct(p) if p.as_char() == ',' && predicate.is_empty() => {}
            tree => predicate.extend([tree]),
        }
    }
    all
}

/// What stands in braces among the tokens at a range of a text, at any depth.
pub(crate) fn bodies(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    fn walk(tokens: TokenStream, start: usize, out: &mut Vec<Range<usize>>) {
        let mut after_mod = false;
        for tree in tokens {
            if let TokenTree::Group(group) = &tree {
                // The body of a module has been looked at with the module.
                if group.delimiter() == Delimiter::Brace && !after_mod {
                    out.push(inside(group, start));
                }
                if !after_mod {
                    walk(group.stream(), start, out);
                }
                after_mod = false;
            }
            match &tree {
                TokenTree::Ident(word) if word == "mod" => after_mod = true,
                TokenTree::Punct(p) if p.as_char() == ';' => after_mod = false,
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    if let Ok(tokens) = text[range.clone()].parse() {
        walk(tokens, range.start, &mut all);
    }
    all
}

/// The range inside of a group's brackets, where its text starts at an offset.
fn inside(group: &proc_macro2::Group, start: usize) -> Range<usize> {
    start + group.span_open().byte_range().end..start + group.span_close().byte_range().start
}

/// What is known of a macro by example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arms {
    /// It hands every item on, with these attributes in front.
    Passes(String),
    /// It takes nothing, and writes what stands at this range.
    Writes(Range<usize>),
    /// Nothing.
    Other,
}

impl Arms {
    /// Reads the rules of a macro, which stand at a range of a text.
    pub(crate) fn read(text: &str, range: Range<usize>) -> Arms {
        let rules = &text[range.clone()];
        // Cheap to say no: nearly every macro is of neither kind.
        let may_pass = [":item", ": item", ":tt", ": tt"]
            .iter()
            .any(|f| rules.contains(f));
        let takes_nothing = rules.trim_start().starts_with("()") && rules.contains("mod ");
        if !(may_pass || takes_nothing) {
            return Arms::Other;
        }
        let Ok(tokens) = rules.parse::<TokenStream>() else {
            return Arms::Other;
        };
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let is_semicolon = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ';');
        let arms: Vec<&[TokenTree]> = trees
            .split(is_semicolon)
            .filter(|a| !a.is_empty())
            .collect();
        // With several rules another one may take the call.
        let [
            [
                TokenTree::Group(matcher),
                TokenTree::Punct(_),
                TokenTree::Punct(_),
                TokenTree::Group(transcriber),
            ],
        ] = arms[..]
        else {
            return Arms::Other;
        };
        if matcher.stream().is_empty() {
            return Arms::Writes(inside(transcriber, range.start));
        }
        let attributes = only_repetition(matcher.stream())
            .and_then(|name| attributes_of(transcriber.stream(), &name));
        attributes.map_or(Arms::Other, Arms::Passes)
    }

    /// The attributes it puts before every item, when it hands on all of them and does nothing else.
    pub(crate) fn passes_items(&self) -> Option<&str> {
        match self {
            Arms::Passes(attributes) => Some(attributes),
            _ => None,
        }
    }

    /// What it writes, when it takes nothing.
    pub(crate) fn writes(&self) -> Option<Range<usize>> {
        match self {
            Arms::Writes(range) => Some(range.clone()),
            _ => None,
        }
    }
}

/// What stands in `$(…)*` or `$(…)+`, when that is the whole.
fn repeated(tokens: TokenStream) -> Option<TokenStream> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    match &trees[..] {
        [
            TokenTree::Punct(dollar),
            TokenTree::Group(group),
            TokenTree::Punct(star),
        ] if dollar.as_char() == '$' && matches!(star.as_char(), '*' | '+') => Some(group.stream()),
        _ => None,
    }
}

/// The name in `$($name:item)*` or `$($name:tt)*`, when that is the whole matcher.
fn only_repetition(tokens: TokenStream) -> Option<String> {
    let inner = repeated(tokens)?;
    let inner: Vec<String> = inner.into_iter().map(|t| t.to_string()).collect();
    match &inner.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["$", name, ":", "item" | "tt"] => Some((*name).to_owned()),
        _ => None,
    }
}

/// The attributes in `$( #[a] #[b] $name )*`, when that is the whole transcriber; also of `$( $name )*`.
fn attributes_of(tokens: TokenStream, name: &str) -> Option<String> {
    let inner = repeated(tokens)?;
    let mut attrs = TokenStream::new();
    let mut inner = inner.into_iter();
    loop {
        match inner.next()? {
            TokenTree::Punct(hash) if hash.as_char() == '#' => {
                let bracket = inner.next()?;
                attrs.extend([
                    TokenTree::Punct(proc_macro2::Punct::new('#', Spacing::Alone)),
                    bracket,
                ]);
            }
            TokenTree::Punct(dollar) if dollar.as_char() == '$' => {
                let same = matches!(inner.next()?, TokenTree::Ident(i) if i == name);
                return (same && inner.next().is_none()).then(|| attrs.to_string());
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macro_that_hands_items_on_is_known_by_its_attributes() {
        let passes = |rules: &str| {
            Arms::read(rules, 0..rules.len())
                .passes_items()
                .map(str::to_owned)
        };
        let with = passes("($($item:item)*) => { $( #[cfg(feature = \"rt\")] #[cfg_attr(docsrs, doc(x))] $item )* }").unwrap();
        assert!(with.contains("cfg") && with.contains("\"rt\""), "{with}");
        assert_eq!(passes("($($x:item)*) => { $($x)* };").as_deref(), Some(""));
        assert_eq!(
            passes("($($x:item)*) => { $($x)* }; (y) => {}"),
            None,
            "the other rule may take the call"
        );
        assert_eq!(passes("($($x:item)*) => { $($y)* }"), None);
        assert_eq!(passes("($($x:item)*) => { mod z { $($x)* } }"), None);
        assert_eq!(passes("($a:ident) => { mod $a; }"), None);
    }

    #[test]
    fn a_macro_that_takes_nothing_writes_its_body() {
        let rules = "() => { mod a; };";
        assert_eq!(
            Arms::read(rules, 0..rules.len())
                .writes()
                .map(|r| rules[r].trim()),
            Some("mod a;")
        );
        let rules = "() => { mod a; }; (x) => {}";
        assert_eq!(Arms::read(rules, 0..rules.len()), Arms::Other);
    }

    fn shown(text: &str, range: Range<usize>) -> Vec<(Option<String>, &str)> {
        let cfg = |c: Option<String>| c.map(|c| c.replace(' ', ""));
        branches(text, range)
            .into_iter()
            .map(|b| (cfg(b.cfg), text[b.body].trim()))
            .collect()
    }

    #[test]
    fn the_branches_of_cfg_if_and_cfg_select_have_predicates_and_bodies() {
        let text = "cfg_if! { if #[cfg(unix)] { mod a; } else if #[cfg(all(windows, x))] { mod b; } else { mod c; } }";
        let expected = [
            (Some("unix".to_owned()), "mod a;"),
            (Some("all(windows,x)".to_owned()), "mod b;"),
            (None, "mod c;"),
        ];
        assert_eq!(shown(text, 9..text.len() - 1), expected);
        let text =
            "cfg_select! { unix => { mod a; } all(windows, x) => { mod b; }, _ => { mod c; } }";
        assert_eq!(shown(text, 13..text.len() - 1), expected);
        let text = "select! { a = \"b\" => { mod a; } }";
        assert_eq!(
            shown(text, 9..text.len() - 1),
            [(Some("a=\"b\"".to_owned()), "mod a;")]
        );
    }

    #[test]
    fn bodies_are_found_at_any_depth_but_not_those_of_modules() {
        let text = "x { mod a; y { mod b {} } } mod c { z }";
        let found: Vec<&str> = bodies(text, 0..text.len())
            .into_iter()
            .map(|r| text[r].trim())
            .collect();
        assert_eq!(found, ["mod a; y { mod b {} }", "mod b {}"]);
    }
}
