//! Closed vocabularies: what a word may be, and which word was meant.

/// The word of `words` that `text` was most likely meant to be.
pub fn closest<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace('-', "_");
    let wanted = plain(text);
    words
        .into_iter()
        .filter_map(|word| {
            let candidate = plain(word);
            let distance = distance(&wanted, &candidate);
            let allowed = (candidate.chars().count().max(wanted.chars().count()) / 3).max(1);
            let begins = wanted.len() >= 3
                && (candidate.starts_with(&wanted) || wanted.starts_with(&candidate));
            (distance <= allowed || begins).then_some((distance, word))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `; did you mean `x`?`, or the whole vocabulary when nothing is near.
pub fn suggestion(text: &str, words: &[&str]) -> String {
    match closest(text, words.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("it is one of {}", listed(words)),
    }
}

/// `` `a`, `b` or `c` ``.
pub fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Edits between two words: insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1)
                .min(rows[i][j - 1] + 1)
                .min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swapped_or_missing_letter_still_finds_the_word() {
        let words = ["never", "required_for_side_effects", "always"];
        assert_eq!(closest("alwyas", words), Some("always"));
        assert_eq!(closest("nevr", words), Some("never"));
        assert_eq!(closest("Never", words), Some("never"));
        assert_eq!(
            closest("required-for-side-effects", words),
            Some("required_for_side_effects")
        );
        assert_eq!(
            closest("required", words),
            Some("required_for_side_effects")
        );
    }

    #[test]
    fn nothing_near_names_the_whole_vocabulary() {
        assert_eq!(closest("xyz", ["never", "always"]), None);
        assert_eq!(
            suggestion("xyz", &["never", "always"]),
            "it is one of `never` or `always`"
        );
    }
}
