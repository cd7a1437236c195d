//! Text of others, as a part of Markdown.

use super::visible;

/// Text that is text only: no markup, no HTML, no link, nobody mentioned.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    // GitHub makes links of addresses by themselves.
    let text = visible(text, false)
        .replace("://", ":\u{0}")
        .replace("www.", "www\u{1}")
        .replace("WWW.", "WWW\u{1}");
    for c in text.chars() {
        match c {
            '\u{0}' => out.push_str("&#47;&#47;"),
            '\u{1}' => out.push_str("&#46;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Somebody's description: text only, but for names in single backticks.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An even number of backticks, and none beside another or beside nothing.
    if parts.len().is_multiple_of(2)
        || parts
            .iter()
            .skip(1)
            .step_by(2)
            .any(|part| part.trim().is_empty())
    {
        return escape(text);
    }
    let each = parts.iter().enumerate();
    each.map(|(i, part)| if i % 2 == 0 { escape(part) } else { code(part) })
        .collect()
}

/// A code span, fenced with more backticks than it holds.
pub fn code(text: &str) -> String {
    let text = visible(text, false);
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(
            escape("@all <img> [x](y) `z`"),
            "&#64;all &lt;img&gt; \\[x\\](y) \\`z\\`"
        );
        assert_eq!(
            escape("see https://evil.example or www.evil.example"),
            "see https:&#47;&#47;evil.example or www&#46;evil.example"
        );
        assert_eq!(code("a``b"), "``` a``b ```");
    }

    #[test]
    fn names_in_a_description_stay_names() {
        assert_eq!(prose("Call `a_b` *first*."), "Call `a_b` \\*first\\*.");
        assert_eq!(prose("One ` alone <b>"), "One \\` alone &lt;b&gt;");
        assert_eq!(prose("``x``"), "\\`\\`x\\`\\`");
    }
}
