//! A page for every code that a user can meet, whoever finds it: the rules, the grammar, the types, the scan, the contracts.

use crate::codes;
use crate::finding::Severity;

use super::ALL;

/// What `flowx explain` prints.
#[derive(Clone, Debug)]
pub struct Page {
    /// `FLOWX1104`.
    pub id: &'static str,
    /// How bad its findings usually are.
    pub severity: Severity,
    /// What it catches, in a few words.
    pub title: &'static str,
    /// Who finds it.
    pub found_by: &'static str,
    /// Markdown, beginning with the title.
    pub markdown: String,
}

/// Who finds a code that is no rule's, and what a page says about it.
struct Entry {
    id: &'static str,
    title: &'static str,
    severity: Severity,
    found_by: &'static str,
    page: &'static str,
}

macro_rules! entries {
    ($($found_by:literal { $($id:literal $severity:ident $title:literal;)* })*) => {
        const ENTRIES: &[Entry] = &[$($(
            Entry {
                id: $id,
                title: $title,
                severity: Severity::$severity,
                found_by: $found_by,
                page: include_str!(concat!("pages/", $id, ".md")),
            },
        )*)*];
    };
}

entries! {
    "the attribute" {
        "FLOWX1010" Error "a capability without a stance";
        "FLOWX1023" Error "a flow without steps";
        "FLOWX1028" Error "a profile that no engine keeps";
        "FLOWX1030" Error "a permission that names nothing";
        "FLOWX1037" Error "a stance that cannot be enforced";
        "FLOWX1104" Error "a word outside its vocabulary";
        "FLOWX1105" Error "a key that stands twice";
        "FLOWX1106" Error "an id, version, duration, route or name of another form";
        "FLOWX1107" Error "an item or signature of another shape";
        "FLOWX1108" Error "a key that is missing";
        "FLOWX1109" Error "two steps of one name";
        "FLOWX1162" Error "something listed twice";
        "FLOWX1163" Error "arguments that cannot be read";
        "FLOWX1164" Error "a part that takes effect only with another";
    }
    "rustc" {
        "FLOWX1165" Error "compiled and not in the manifest";
        "FLOWX1166" Error "in the manifest and not compiled";
        "FLOWX1167" Error "edited after the scan";
        "FLOWX1168" Error "other effects than published";
    }
    "the contracts" {
        "FLOWX1300" Error "a path in a type that names nothing the scan can see";
        "FLOWX1301" Error "a serde or schemars attribute that cannot be read";
        "FLOWX1302" Error "a type that cannot be read or written";
        "FLOWX1303" Error "a `with` through a module that is not known";
        "FLOWX1304" Error "a part of a schema that only the compiler can know";
        "FLOWX1305" Error "a type of another crate whose form is not known";
        "FLOWX1306" Error "a type that has no JSON form";
        "FLOWX1307" Error "types that lead back to themselves";
        "FLOWX1308" Error "a part that hangs on an unknown cfg";
        "FLOWX1309" Error "a map with keys that are no strings";
        "FLOWX1310" Error "a sensitive value in an answer";
        "FLOWX1311" Error "an input that can never be read";
        "FLOWX1312" Error "a part that serde cannot read once it has buffered it";
        "FLOWX1313" Error "two members of one name";
        "FLOWX1314" Warning "a description that only the compiler knows";
        "FLOWX1315" Error "a `flatten` that depends on the order of members";
        "FLOWX1316" Error "an array whose length only the compiler knows";
        "FLOWX1317" Error "a generic parameter without an argument";
        "FLOWX1318" Error "a type that comes out of a macro";
    }
    "the test in your crate" {
        "FLOWX1320" Error "a published contract that is not what the type does";
        "FLOWX1321" Error "a published contract of which nothing was shown";
    }
    "the contracts" {
        "FLOWX1390" Note "a descriptor that offers less than the contract takes";
        "FLOWX1391" Note "a descriptor that offers more than the contract takes";
        "FLOWX1392" Note "a type cut to a plain object";
        "FLOWX1393" Error "an input that cannot be told";
        "FLOWX1394" Note "a part of the output that is not described";
        "FLOWX1395" Error "a tool whose input or output is no object";
    }
}

/// Ids that are not given any more, and what took their place.
const RETIRED: &[(&str, &str)] = &[(
    "FLOWX1040",
    "FLOWX1310 refuses sensitive members in answers altogether, so none can be kept for repetitions; of an input a digest is kept",
)];

/// What is known of a code that no rule gives.
pub(super) struct Platform {
    pub(super) severity: Severity,
    pub(super) title: &'static str,
    pub(super) found_by: &'static str,
}

/// A code that no rule gives.
pub(super) fn entry(id: &str) -> Option<Platform> {
    let entry = ENTRIES.iter().find(|e| e.id == id).map(|e| Platform {
        severity: e.severity,
        title: e.title,
        found_by: e.found_by,
    });
    entry.or_else(|| {
        codes::ALL.iter().find(|c| c.id == id).map(|c| Platform {
            severity: c.severity,
            title: c.title,
            found_by: SCAN,
        })
    })
}

/// What took the place of a code that is not given any more.
pub(super) fn retired(id: &str) -> Option<&'static str> {
    RETIRED
        .iter()
        .find(|(was, _)| *was == id)
        .map(|(_, why)| *why)
}

/// Who finds the codes of [`codes::ALL`].
const SCAN: &str = "the scan";

/// Every page, by id.
pub fn pages() -> Vec<Page> {
    let mut all: Vec<Page> = ALL
        .iter()
        .map(|rule| Page {
            id: rule.id,
            severity: rule.severity,
            title: rule.title,
            found_by: "a rule of the scan",
            markdown: whole(
                rule.id,
                rule.title,
                rule.severity,
                "a rule of the scan",
                rule.firm,
                rule.page().trim(),
            ),
        })
        .collect();
    all.extend(ENTRIES.iter().map(|e| Page {
        id: e.id,
        severity: e.severity,
        title: e.title,
        found_by: e.found_by,
        markdown: whole(
            e.id,
            e.title,
            e.severity,
            e.found_by,
            e.severity == Severity::Error,
            e.page.trim(),
        ),
    }));
    all.extend(
        codes::ALL
            .iter()
            .zip(codes::PAGES)
            .map(|(code, page)| Page {
                id: code.id,
                severity: code.severity,
                title: code.title,
                found_by: SCAN,
                markdown: whole(
                    code.id,
                    code.title,
                    code.severity,
                    SCAN,
                    code.severity == Severity::Error,
                    page.trim(),
                ),
            }),
    );
    all.sort_by_key(|page| page.id);
    all
}

fn whole(
    id: &str,
    title: &str,
    severity: Severity,
    found_by: &str,
    firm: bool,
    body: &str,
) -> String {
    let firm = if firm {
        ", and cannot be lowered or allowed"
    } else {
        ""
    };
    format!(
        "# {id}: {title}\n\nFound by {found_by}; usually {}{firm}.\n\n{body}\n",
        match severity {
            Severity::Error => "an error",
            Severity::Warning => "a warning",
            Severity::Note => "a note",
        }
    )
}

/// The table of all pages, for `docs/rules/README.md`.
pub fn index() -> String {
    let mut out = String::from(
        "# Rules\n\nGenerated from the rules (`FLOWX_BLESS=1 cargo nextest run -p flowx-build --test rules`). An id is never used again for something else.\n\n\
         | id | what it catches | usually | found by |\n|---|---|---|---|\n",
    );
    for page in pages() {
        out.push_str(&format!(
            "| [{}]({}.md) | {} | {} | {} |\n",
            page.id,
            page.id,
            page.title,
            page.severity.as_str(),
            page.found_by
        ));
    }
    out.push_str("\n## Retired\n\n| id | why |\n|---|---|\n");
    for (id, why) in RETIRED {
        out.push_str(&format!("| {id} | {why} |\n"));
    }
    out
}
