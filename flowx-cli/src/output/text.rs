//! Text from a manifest or a foreign server, made safe to look at.

use std::fmt::Write;

/// The text with every character written out that would change what is seen of the rest: control characters, escape
/// sequences, bidirectional and zero-width characters. Newlines stay, where `lines` says so.
pub fn visible(text: &str, lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if (c == '\n' && lines) || !hidden(c) {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
    }
    out
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_hide_or_turn_text_is_written_out() {
        assert_eq!(
            visible("rm\u{200b} -rf\u{202e}", false),
            "rm\\u{200b} -rf\\u{202e}"
        );
        assert_eq!(visible("\u{1b}[2Ja\nb", false), "\\u{1b}[2Ja\\u{a}b");
        assert_eq!(visible("a\nb", true), "a\nb");
        assert_eq!(visible("Grüße, 世界", false), "Grüße, 世界");
    }
}
