//! Whether a pattern is an ECMAScript expression under the `u` flag, so that every client can compile it.

/// A conservative answer: what is taken compiles and means the same; what is not may still do.
pub(crate) fn is_portable(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    let mut class = false;
    let mut groups = 0usize;
    let mut repeatable = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let Some(next) = chars.next() else {
                    return false;
                };
                match next {
                    'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'n' | 'r' | 't' | 'f' | 'v' => {}
                    'b' | 'B' if !class => {
                        repeatable = false;
                        continue;
                    }
                    '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{'
                    | '}' | '|' | '/' => {}
                    '-' if class => {}
                    _ => return false,
                }
                repeatable = true;
            }
            '[' if !class => {
                class = true;
                if chars.peek() == Some(&'^') {
                    chars.next();
                }
                // A bracket first in a class is a member to some and its end to others.
                if matches!(chars.peek(), Some(']' | '[')) {
                    return false;
                }
            }
            '[' => return false,
            ']' if class => {
                class = false;
                repeatable = true;
            }
            ']' | '}' => return false,
            '&' | '~' if class && chars.peek() == Some(&c) => return false,
            '-' if class && chars.peek() == Some(&'-') => return false,
            _ if class => {}
            '(' => {
                groups += 1;
                if chars.peek() == Some(&'?') {
                    chars.next();
                    if !matches!(chars.next(), Some(':' | '=' | '!')) {
                        return false;
                    }
                }
                repeatable = false;
            }
            ')' => {
                if groups == 0 {
                    return false;
                }
                groups -= 1;
                repeatable = true;
            }
            '*' | '+' | '?' => {
                if !repeatable {
                    return false;
                }
                if chars.peek() == Some(&'?') {
                    chars.next();
                }
                repeatable = false;
            }
            '{' => {
                let mut inside = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some(c) if c.is_ascii_digit() || c == ',' => inside.push(c),
                        _ => return false,
                    }
                }
                let (low, high) = inside.split_once(',').unwrap_or((&inside, &inside));
                let ordered = match (low.parse::<u32>(), high.parse::<u32>()) {
                    (Ok(low), Ok(high)) => low <= high,
                    (Ok(_), Err(_)) => high.is_empty(),
                    _ => false,
                };
                if !repeatable || !ordered {
                    return false;
                }
                if chars.peek() == Some(&'?') {
                    chars.next();
                }
                repeatable = false;
            }
            '^' | '$' | '|' => repeatable = false,
            _ => repeatable = true,
        }
    }
    !class && groups == 0
}

#[cfg(test)]
mod tests {
    use super::is_portable;

    #[test]
    fn what_javascript_refuses_is_not_portable() {
        for pattern in [
            "(?i)a",
            "(?P<n>a)",
            r"\Aa",
            r"a\z",
            "[[:alpha:]]",
            r"\-",
            "a{2,1}",
            "*a",
            "a**",
            "[a",
            "(a",
            "a)",
            "]",
            "}",
            r"\h",
            r"\",
            "a{,3}",
            "[]a]",
            "[a&&b]",
            "(?#x)",
            r"\u{110000}",
        ] {
            assert!(!is_portable(pattern), "{pattern}");
        }
    }

    #[test]
    fn plain_patterns_are_portable() {
        for pattern in [
            "^[a-z]+$",
            r"^\d{3}-\d{4}$",
            "^(?:a|b)*$",
            r"[\-.]",
            "a?",
            "^a{2,}$",
            r"\bword\b",
            "(?=a)b",
            r"a\.b",
            "ä",
            "[^a]",
            "",
        ] {
            assert!(is_portable(pattern), "{pattern}");
        }
    }
}
