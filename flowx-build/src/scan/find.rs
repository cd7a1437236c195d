//! Finding a word in a text, in a build script that nobody optimised.
//!
//! `str::contains` is compiled into whoever calls it, and costs over thirty instructions a byte there; the search for one character is
//! compiled into the standard library, and costs about one. So the rarest character of a word is looked for, and then the word around it.

/// Every place of a word in a text, in order. Words that stand in each other are all found.
pub(crate) fn places(text: &str, word: &str) -> impl Iterator<Item = usize> {
    let rarest = word.char_indices().min_by_key(|(_, c)| commonness(*c));
    rarest.into_iter().flat_map(move |(offset, rare)| {
        text.match_indices(rare).filter_map(move |(at, _)| {
            let start = at.checked_sub(offset)?;
            text.as_bytes()[start..]
                .starts_with(word.as_bytes())
                .then_some(start)
        })
    })
}

/// Whether a word stands in a text.
pub(crate) fn holds(text: &str, word: &str) -> bool {
    places(text, word).next().is_some()
}

/// How common a character is in Rust sources, roughly.
fn commonness(c: char) -> u8 {
    match c {
        'j' | 'q' | 'x' | 'z' | 'A'..='Z' => 0,
        'k' | 'v' | 'w' | 'y' | 'b' | 'g' | 'h' => 1,
        'a'..='z' | '_' => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn it_finds_what_the_standard_library_finds(text in "[FlowXé as]{0,40}", word in "[FlowXé as]{1,3}") {
            proptest::prop_assert_eq!(holds(&text, &word), text.contains(&word));
            let first = places(&text, &word).next();
            proptest::prop_assert_eq!(first, text.find(&word));
        }
    }
}
