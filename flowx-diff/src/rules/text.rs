//! Characters that a model reads and a person does not see.

/// The invisible characters of a text, each once, in order of first use.
pub(crate) fn hidden(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut seen = Vec::new();
    text.chars().filter(|c| is_hidden(*c)).filter(move |c| {
        let new = !seen.contains(c);
        if new {
            seen.push(*c);
        }
        new
    })
}

/// Whether nothing is drawn for it, or it turns the order of what is drawn (Unicode: default ignorable code points,
/// bidirectional controls, tags, and control characters other than line break and tab).
pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\r' | '\t' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' => true,
        '\u{fe00}'..='\u{fe0d}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// The text with every invisible character written out as `⟨U+200B⟩`.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.push_str(&format!("⟨U+{:04X}⟩", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}
