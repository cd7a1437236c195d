//! Small changes to other people's files, which keep everything else as it stands: comments, order, line ends.

/// Adds `krate = requirement` at the end of a section, which is made when it is not there.
pub(super) fn add_dependency(text: &str, section: &str, krate: &str, requirement: &str) -> String {
    let end = line_end(text);
    let line = format!("{krate} = {requirement}{end}");
    let header = format!("[{section}]");
    let mut at = 0;
    let mut insert = None;
    let mut inside = false;
    for raw in text.split_inclusive('\n') {
        let trimmed = raw.trim();
        if trimmed.starts_with('[') && !inside_array(&text[..at]) {
            inside = trimmed.split('#').next().unwrap_or_default().trim() == header;
        }
        at += raw.len();
        // After the last line of the section that says something.
        if inside && !trimmed.is_empty() {
            insert = Some(at);
        }
    }
    match insert {
        Some(at) => {
            let gap = if text[..at].ends_with('\n') { "" } else { end };
            format!("{}{gap}{line}{}", &text[..at], &text[at..])
        }
        None => {
            let gap = if text.ends_with('\n') { "" } else { end };
            format!("{text}{gap}{end}{header}{end}{line}")
        }
    }
}

/// Whether a line that follows this text stands inside of a list that goes over several lines.
fn inside_array(before: &str) -> bool {
    let line = before.trim_end();
    line.ends_with(',') || line.ends_with("= [")
}

/// Puts items behind the inner attributes, inner comments and leading comments of a crate's root.
pub(super) fn insert_items(text: &str, items: &str) -> String {
    let end = line_end(text);
    let items = items.replace('\n', end);
    let mut at = 0;
    // Brackets of an attribute that goes over several lines, and block comments.
    let (mut open, mut comment) = (0i32, false);
    let mut insert = 0;
    for raw in text.split_inclusive('\n') {
        let trimmed = raw.trim();
        let skip = comment
            || open > 0
            || trimmed.starts_with("//!")
            || trimmed.starts_with("#![")
            || trimmed.starts_with("/*!")
            || trimmed.starts_with("#!/");
        let plain =
            trimmed.is_empty() || (trimmed.starts_with("//") && !trimmed.starts_with("///"));
        if !skip && !plain {
            break;
        }
        if trimmed.starts_with("/*!") || comment {
            comment = !trimmed.contains("*/");
        } else if skip && !trimmed.starts_with("//!") && !trimmed.starts_with("#!/") {
            let count = |c: char| i32::try_from(trimmed.matches(c).count()).unwrap_or_default();
            open += count('[') - count(']');
        }
        at += raw.len();
        if skip {
            insert = at;
        }
    }
    let (before, after) = text.split_at(insert);
    let above = if before.is_empty() { "" } else { end };
    let below = if after.starts_with(end) || after.is_empty() {
        ""
    } else {
        end
    };
    format!("{before}{above}{items}{below}{after}")
}

/// Takes the line `build = false` out.
pub(super) fn without_build_false(text: &str) -> String {
    let switch = |line: &str| {
        let words: String = line
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        words == "build=false"
    };
    text.split_inclusive('\n')
        .filter(|line| !switch(line))
        .collect()
}

/// Whether the text declares a module of that name.
pub(super) fn declares(text: &str, module: &str) -> bool {
    text.lines().any(|line| {
        let line = line
            .trim()
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ");
        line == format!("mod {module};") || line.starts_with(&format!("mod {module} {{"))
    })
}

/// Puts a statement at the beginning of `fn main`. `None` when there is none.
pub(super) fn call_first_in_main(text: &str, statement: &str) -> Option<String> {
    let mut at = 0;
    for raw in text.split_inclusive('\n') {
        let trimmed = raw.trim_start();
        if trimmed.starts_with("fn main(") || trimmed.starts_with("pub fn main(") {
            // The body's brace may stand on a later line, behind a return type.
            let open = at + text[at..].find('{')?;
            return Some(format!(
                "{}{{{}    {statement}{}",
                &text[..open],
                line_end(text),
                &text[open + 1..]
            ));
        }
        at += raw.len();
    }
    None
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_goes_to_the_end_of_its_section() {
        let text = "[package]\nname = \"a\"\n\n[dependencies] # ours\naxum = \"0.8\"\n\n[dev-dependencies]\nx = \"1\"\n";
        assert_eq!(
            add_dependency(text, "dependencies", "flowx-runtime", "\"0.1\""),
            "[package]\nname = \"a\"\n\n[dependencies] # ours\naxum = \"0.8\"\nflowx-runtime = \"0.1\"\n\n[dev-dependencies]\nx = \"1\"\n"
        );
    }

    #[test]
    fn a_missing_section_is_made_and_line_ends_are_kept() {
        assert_eq!(
            add_dependency(
                "[package]\r\nname = \"a\"\r\n",
                "build-dependencies",
                "flowx-build",
                "\"0.1\""
            ),
            "[package]\r\nname = \"a\"\r\n\r\n[build-dependencies]\r\nflowx-build = \"0.1\"\r\n"
        );
        assert_eq!(
            add_dependency("[dependencies]", "dependencies", "a", "\"1\""),
            "[dependencies]\na = \"1\"\n"
        );
    }

    #[test]
    fn items_go_behind_what_has_to_stand_first() {
        let text = "//! Doc.\n#![allow(\n    dead_code\n)]\n\n// About us.\nuse a::b;\n";
        assert_eq!(
            insert_items(text, "mod flows;\n"),
            "//! Doc.\n#![allow(\n    dead_code\n)]\n\nmod flows;\n\n// About us.\nuse a::b;\n"
        );
        assert_eq!(
            insert_items("fn main() {}\n", "mod flows;\n"),
            "mod flows;\n\nfn main() {}\n"
        );
    }

    #[test]
    fn a_statement_goes_first_into_main() {
        assert_eq!(
            call_first_in_main(
                "use a;\nfn main() -> Result<(), E> {\n    b();\n}\n",
                "c();"
            )
            .as_deref(),
            Some("use a;\nfn main() -> Result<(), E> {\n    c();\n    b();\n}\n")
        );
        assert_eq!(call_first_in_main("fn other() {}\n", "c();"), None);
    }
}
