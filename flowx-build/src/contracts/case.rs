//! `rename_all`: the conversions of serde, which are not those of any case crate: they look at ASCII only, at underscores
//! in fields and at capitals in variants.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    pub(crate) fn parse(text: &str) -> Option<Case> {
        Some(match text {
            "lowercase" => Case::Lower,
            "UPPERCASE" => Case::Upper,
            "PascalCase" => Case::Pascal,
            "camelCase" => Case::Camel,
            "snake_case" => Case::Snake,
            "SCREAMING_SNAKE_CASE" => Case::ScreamingSnake,
            "kebab-case" => Case::Kebab,
            "SCREAMING-KEBAB-CASE" => Case::ScreamingKebab,
            _ => return None,
        })
    }

    pub(crate) fn variant(self, name: &str) -> String {
        let snake = || {
            let mut out = String::new();
            for (i, c) in name.char_indices() {
                if i > 0 && c.is_uppercase() {
                    out.push('_');
                }
                out.push(c.to_ascii_lowercase());
            }
            out
        };
        match self {
            Case::Pascal => name.to_owned(),
            Case::Lower => name.to_ascii_lowercase(),
            Case::Upper => name.to_ascii_uppercase(),
            Case::Camel => first_lower(name),
            Case::Snake => snake(),
            Case::ScreamingSnake => snake().to_ascii_uppercase(),
            Case::Kebab => snake().replace('_', "-"),
            Case::ScreamingKebab => snake().to_ascii_uppercase().replace('_', "-"),
        }
    }

    pub(crate) fn field(self, name: &str) -> String {
        let pascal = || {
            let mut out = String::new();
            let mut start = true;
            for c in name.chars() {
                match (c, start) {
                    ('_', _) => start = true,
                    (c, true) => {
                        out.push(c.to_ascii_uppercase());
                        start = false;
                    }
                    (c, false) => out.push(c),
                }
            }
            out
        };
        match self {
            Case::Lower | Case::Snake => name.to_owned(),
            Case::Upper | Case::ScreamingSnake => name.to_ascii_uppercase(),
            Case::Pascal => pascal(),
            Case::Camel => first_lower(&pascal()),
            Case::Kebab => name.replace('_', "-"),
            Case::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn first_lower(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + chars.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::Case;

    #[test]
    fn acronyms_and_underscores_go_as_serde_takes_them() {
        assert_eq!(Case::Snake.variant("HTTPProxy"), "h_t_t_p_proxy");
        assert_eq!(Case::Camel.variant("HTTPProxy"), "hTTPProxy");
        assert_eq!(Case::Kebab.variant("A1B"), "a1-b");
        assert_eq!(Case::Camel.field("http_2_url"), "http2Url");
        assert_eq!(Case::Camel.field("_leading"), "leading");
        assert_eq!(Case::Pascal.field("a__b"), "AB");
        assert_eq!(Case::Upper.field("a_b"), "A_B");
        assert_eq!(Case::Lower.field("a_B"), "a_B");
        assert_eq!(Case::Snake.variant("ÄÖ"), "Ä_Ö");
        assert_eq!(Case::parse("Camel"), None);
    }
}
