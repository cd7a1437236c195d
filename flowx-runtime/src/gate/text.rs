//! Text from a caller, made safe to show to the person who decides about it.
//!
//! What cannot be seen, what moves other text about and what could end a line is written as an escape, so that nothing in an argument can
//! look like another argument, like another field of the prompt, or like nothing at all.

/// At most so many characters of one value are shown; the rest is counted.
const LONGEST: usize = 1_000;

/// The text with everything invisible, reordering or line-breaking written as `\u{…}`, and a backslash as `\\`.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        // One combining mark over a letter is how many languages are written; a pile of them covers what stands around it.
        marks = if is_combining(c) { marks + 1 } else { 0 };
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) || marks > 2 => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// [`visible`], cut after a thousand characters with the number of those left out. The hash of a call covers all of them.
pub fn visible_short(text: &str) -> String {
    let total = text.chars().count();
    if total <= LONGEST {
        return visible(text);
    }
    let head: String = text.chars().take(LONGEST * 4 / 5).collect();
    let tail: String = text.chars().skip(total - LONGEST / 5).collect();
    let left_out = total - LONGEST * 4 / 5 - LONGEST / 5;
    format!(
        "{} … ({left_out} characters left out) … {}",
        visible(&head),
        visible(&tail)
    )
}

/// Whether a character leaves something on the page.
pub(crate) fn is_seen(c: char) -> bool {
    c != ' ' && !is_hidden(c) && !is_combining(c)
}

fn is_combining(c: char) -> bool {
    matches!(u32::from(c),
        0x0300..=0x036F | 0x0483..=0x0489 | 0x0591..=0x05BD | 0x0610..=0x061A | 0x064B..=0x065F
        | 0x0E31 | 0x0E34..=0x0E3A | 0x0E47..=0x0E4E | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F)
}

/// Control characters, format characters (zero width, bidi, tags), variation selectors, fillers that look like nothing, line and
/// paragraph separators, spaces that are not the space, private use and non-characters.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(u32::from(c),
            0x00AD | 0x034F | 0x061C | 0x070F | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFF
            | 0xE000..=0xF8FF | 0x13430..=0x1345F | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF | 0xF0000..=0x10FFFF)
        || u32::from(c) & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(visible("rm\u{200b} -rf /"), "rm\\u{200b} -rf /");
        assert_eq!(visible("\u{202e}txt.exe"), "\\u{202e}txt.exe");
        assert_eq!(
            visible("a\nApproved by: manager"),
            "a\\nApproved by: manager"
        );
        assert_eq!(
            visible("a\u{2028}b\u{85}c\u{a0}d"),
            "a\\u{2028}b\\u{85}c\\u{a0}d"
        );
        assert_eq!(
            visible("\u{e0041}\u{fe0f}\u{0}"),
            "\\u{e0041}\\u{fe0f}\\u{0}"
        );
    }

    #[test]
    fn plain_text_of_many_languages_stays_as_it_is() {
        for text in [
            "Straße 12, 3. Stock",
            "東京 ticket",
            "e\u{301}te",
            "שלום",
            "مرحبا",
            "T-1001: €20.50 (50%)",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn an_escape_in_the_text_is_not_taken_for_one_of_ours() {
        assert_ne!(visible("\\u{202e}"), visible("\u{202e}"));
        assert_ne!(visible("\\n"), visible("\n"));
    }

    #[test]
    fn no_two_texts_are_shown_alike() {
        // The escape of every character that is escaped differs from the character, and no plain text yields it.
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let shown = visible(&c.to_string());
            assert!(shown == c.to_string() || shown.starts_with('\\'), "{c:?}");
        }
    }

    #[test]
    fn a_pile_of_combining_marks_is_written_out() {
        assert_eq!(
            visible("a\u{301}\u{302}\u{303}\u{304}"),
            "a\u{301}\u{302}\\u{303}\\u{304}"
        );
    }

    #[test]
    fn a_long_text_says_how_much_of_it_is_missing() {
        let shown = visible_short(&format!("{}{}", "a".repeat(5_000), "the end"));
        assert!(
            shown.contains("(4007 characters left out)") && shown.ends_with("the end"),
            "{shown}"
        );
    }
}
