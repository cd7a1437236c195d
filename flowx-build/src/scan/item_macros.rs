//! The two kinds of item macro whose modules can be followed without expanding anything: `cfg_if!`, and macros by example that
//! hand every item on with attributes in front (`cfg_rt! { mod runtime; }`).

use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// One branch of `cfg_if!`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// Its predicate; none for the last `else`.
    pub(crate) cfg: Option<String>,
    /// What stands in its braces.
    pub(crate) body: Range<usize>,
}

/// The branches of a `cfg_if!`, whose tokens stand at a range of a text.
pub(crate) fn branches(text: &str, range: Range<usize>) -> Vec<Branch> {
    let Ok(tokens) = text[range.clone()].parse::<TokenStream>() else {
        return Vec::new();
    };
    let mut cfg = None;
    let mut all = Vec::new();
    // `byte_range` counts from the start of the parsed text where the first token stands; tokens are found by their order.
    let start = range.start;
    for tree in tokens {
        let TokenTree::Group(group) = tree else {
            continue;
        };
        match group.delimiter() {
            Delimiter::Bracket => {
                let mut inside = group.stream().into_iter();
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(predicate))) =
                    (inside.next(), inside.next())
                    && name == "cfg"
                {
                    cfg = Some(predicate.stream().to_string());
                }
            }
            Delimiter::Brace => {
                let open = group.span_open().byte_range();
                let close = group.span_close().byte_range();
                all.push(Branch {
                    cfg: cfg.take(),
                    body: start + open.end..start + close.start,
                });
            }
            _ => {}
        }
    }
    all
}

/// What is known of a macro by example: the attributes it puts before items that it hands on unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arms(Option<String>);

impl Arms {
    /// Reads the rules of a macro.
    pub(crate) fn read(rules: &str) -> Arms {
        // Cheap to say no: nearly every macro has no such fragment.
        if !rules.contains(":item")
            && !rules.contains(": item")
            && !rules.contains(":tt")
            && !rules.contains(": tt")
        {
            return Arms(None);
        }
        let Ok(tokens) = rules.parse::<TokenStream>() else {
            return Arms(None);
        };
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let arms: Vec<&[TokenTree]> = trees
            .split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ';'))
            .filter(|a| !a.is_empty())
            .collect();
        let [
            [
                TokenTree::Group(matcher),
                TokenTree::Punct(_),
                TokenTree::Punct(_),
                TokenTree::Group(transcriber),
            ],
        ] = arms[..]
        else {
            return Arms(None);
        };
        let Some(name) = only_repetition(matcher.stream()) else {
            return Arms(None);
        };
        Arms(attributes_of(transcriber.stream(), &name))
    }

    /// The attributes it puts before every item, when it hands on all of them and does nothing else.
    pub(crate) fn passes_items(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// The name in `$($name:item)*` or `$($name:tt)*`, when that is the whole matcher.
fn only_repetition(tokens: TokenStream) -> Option<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let (TokenTree::Punct(dollar), TokenTree::Group(group), TokenTree::Punct(star)) =
        (trees.first()?, trees.get(1)?, trees.get(2)?)
    else {
        return None;
    };
    if trees.len() != 3 || dollar.as_char() != '$' || !matches!(star.as_char(), '*' | '+') {
        return None;
    }
    let inner: Vec<String> = group.stream().into_iter().map(|t| t.to_string()).collect();
    match &inner.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["$", name, ":", "item" | "tt"] => Some((*name).to_owned()),
        _ => None,
    }
}

/// The attributes in `$( #[a] #[b] $name )*`, when that is the whole transcriber; also of `$( $name )*`.
fn attributes_of(tokens: TokenStream, name: &str) -> Option<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let [
        TokenTree::Punct(dollar),
        TokenTree::Group(group),
        TokenTree::Punct(star),
    ] = &trees[..]
    else {
        return None;
    };
    if dollar.as_char() != '$' || !matches!(star.as_char(), '*' | '+') {
        return None;
    }
    let mut attrs = TokenStream::new();
    let mut inner = group.stream().into_iter().peekable();
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
        let passes = |rules: &str| Arms::read(rules).passes_items().map(str::to_owned);
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
    fn the_branches_of_cfg_if_have_predicates_and_bodies() {
        let text = "cfg_if! { if #[cfg(unix)] { mod a; } else if #[cfg(all(windows, x))] { mod b; } else { mod c; } }";
        let found = branches(text, 9..text.len() - 1);
        let shown: Vec<(Option<String>, &str)> = found
            .into_iter()
            .map(|b| (b.cfg.map(|c| c.replace(' ', "")), text[b.body].trim()))
            .collect();
        assert_eq!(
            shown,
            [
                (Some("unix".to_owned()), "mod a;"),
                (Some("all(windows,x)".to_owned()), "mod b;"),
                (None, "mod c;")
            ]
        );
    }
}
