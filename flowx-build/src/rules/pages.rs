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
    why: &'static str,
    instead: &'static str,
}

macro_rules! entries {
    ($($found_by:literal { $($id:literal $severity:ident $title:literal, $why:literal, $instead:literal;)* })*) => {
        const ENTRIES: &[Entry] = &[$($(
            Entry { id: $id, title: $title, severity: Severity::$severity, found_by: $found_by, why: $why, instead: $instead },
        )*)*];
    };
}

entries! {
    "the attribute" {
        "FLOWX1010" Error "a capability without a stance", "Without one nobody has said who may use it.",
            "`authorization = permission(\"…\")`, `authenticated`, `internal` or `public(approved_by = \"…\")`.";
        "FLOWX1023" Error "a flow without steps", "A flow is a name for its steps; without any it does nothing.", "List them: `steps(name: capability)`.";
        "FLOWX1028" Error "a profile that no engine keeps", "`profile = durable` promises survival of a crash. Nothing here keeps that promise yet, so it is not made.",
            "Leave `profile` out, and let callers repeat a call with its idempotency key.";
        "FLOWX1030" Error "a permission that names nothing", "`permission(\"\")` looks like a guard and is none.", "Name what the caller must hold.";
        "FLOWX1037" Error "a stance that cannot be enforced", "A stance is what the engine checks; it knows four.", "One of the four, or a refusal of the capability's own.";
        "FLOWX1104" Error "a word outside its vocabulary", "Every vocabulary is closed, so that a typo can open nothing.", "The word that the message proposes.";
        "FLOWX1105" Error "a key that stands twice", "One of the two would be read and the other not.", "Take one away.";
        "FLOWX1106" Error "an id, version, duration, route or name of another form", "What stands in a manifest is compared and addressed by text.",
            "The form that the message gives.";
        "FLOWX1107" Error "an item or signature of another shape", "A capability is `async fn name(cx: &Cx<name>, input: Input) -> Result<Output, Error>`, a flow the same with `FlowCx`.",
            "Write it in that shape.";
        "FLOWX1108" Error "a key that is missing", "The declaration does not say enough to be published.", "Add the key that the message names.";
        "FLOWX1109" Error "two steps of one name", "A step's name tells its calls apart in records and policies.", "Give one another name.";
        "FLOWX1162" Error "something listed twice", "A list that says a thing twice was meant to say two things.", "Take one away, or write what was meant.";
        "FLOWX1163" Error "arguments that cannot be read", "Attributes are read without compiling, so they hold literals, words and paths.", "The form that the message gives.";
        "FLOWX1164" Error "a part that takes effect only with another", "What is written and does nothing is believed by its reader.", "Add the other part, or take this one away.";
    }
    "rustc" {
        "FLOWX1165" Error "compiled and not in the manifest", "What is not in the manifest was not reviewed (proof P1). The scan did not see the declaration: it stands in a macro or in generated code.",
            "Write it out in a module of the package, and call `flowx_build::emit()` and `include_manifest!()`.";
        "FLOWX1166" Error "in the manifest and not compiled", "The manifest would publish what is not there (proof P1).", "Build again; where it stays, a `cfg` is judged otherwise by the scan: report it.";
        "FLOWX1167" Error "edited after the scan", "What the scan read is not what the compiler read (proof P2).", "Build again.";
        "FLOWX1168" Error "other effects than published", "By its types the flow reaches other effects than the manifest says: a path means one thing to the scan and another to rustc.",
            "Write the path out from `crate::`; and report it.";
    }
    "the contracts" {
        "FLOWX1300" Error "a path in a type that names nothing the scan can see", "A schema is exact or there is none.", "Import the type by its path.";
        "FLOWX1301" Error "a serde or schemars attribute that cannot be read", "What it does to the schema is not known.", "Write it as this version reads it.";
        "FLOWX1302" Error "a type that cannot be read or written", "It derives neither what the direction needs, or implements it by hand.", "Derive `Deserialize` or `Serialize`.";
        "FLOWX1303" Error "a `with` through a module that is not known", "What that module accepts, no schema can say.", "A newtype with a derive, or a registered type.";
        "FLOWX1304" Error "a part of a schema that only the compiler can know", "An expression in an attribute is run, not read.", "Write the value out.";
        "FLOWX1305" Error "a type of another crate whose form is not known", "Its wire form is decided in code that the scan does not read.", "A type of your own with a `From` impl.";
        "FLOWX1306" Error "a type that has no JSON form", "A function pointer or trait object cannot be sent.", "Data.";
        "FLOWX1307" Error "types that lead back to themselves", "An alias of itself has no form.", "Break the circle.";
        "FLOWX1308" Error "a part that hangs on an unknown cfg", "Whether the field is there decides what callers may send.", "Tell the scan: `flowx_build::Emit::new().cfg(…)`.";
        "FLOWX1309" Error "a map with keys that are no strings", "JSON has string keys.", "A map by string, or a list of pairs.";
        "FLOWX1310" Error "a sensitive value in an answer", "What is written to a caller is in its logs, its screen and, over MCP, in a model's context.", "Answer with a masked form or a reference.";
        "FLOWX1311" Error "an input that can never be read", "serde refuses every value of this type.", "The combination that the message names, without one half.";
        "FLOWX1312" Error "a part that serde cannot read once it has buffered it", "Behind a tag or `flatten`, 128-bit integers and number keys are lost.", "Take it out of the tagged or flattened part.";
        "FLOWX1313" Error "two members of one name", "One of them is lost on the way.", "Rename one.";
        "FLOWX1314" Warning "a description that only the compiler knows", "It would be published empty.", "Write it as a literal.";
        "FLOWX1315" Error "a `flatten` that depends on the order of members", "JSON objects have no order.", "Write the members out.";
        "FLOWX1316" Error "an array whose length only the compiler knows", "The schema states the length.", "A literal.";
        "FLOWX1317" Error "a generic parameter without an argument", "A contract is of one type.", "Name the argument.";
        "FLOWX1318" Error "a type that comes out of a macro", "The scan does not expand macros.", "Write the type out.";
        "FLOWX1319" Error "schemars and serde say different things", "serde decides what is read.", "Make the two agree.";
        "FLOWX1390" Note "a descriptor that offers less than the contract takes", "Hosts know fewer schema words; nothing breaks.", "Nothing.";
        "FLOWX1391" Note "a descriptor that offers more than the contract takes", "The server refuses the rest with `input.invalid`.", "Nothing, or a simpler type.";
        "FLOWX1392" Note "a type cut to a plain object", "Recursive and very large types make hosts drop every tool.", "A flatter type.";
        "FLOWX1393" Error "an input that cannot be told", "A member is needed and the portable profile has no words for it.", "A simpler type.";
        "FLOWX1394" Note "a part of the output that is not described", "A model reads the answer without knowing its form.", "A simpler type.";
        "FLOWX1395" Error "a tool whose input or output is no object", "Every host demands one.", "A struct around it.";
    }
}

/// Ids that are not given any more, and what took their place.
const RETIRED: &[(&str, &str)] = &[(
    "FLOWX1040",
    "FLOWX1310 refuses sensitive members in answers altogether, so none can be kept for repetitions; of an input a digest is kept",
)];

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
    all.extend(ENTRIES.iter().map(|e| {
        let body = format!(
            "## Why it matters\n\n{}\n\n## Instead\n\n{}",
            e.why, e.instead
        );
        Page {
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
                &body,
            ),
        }
    }));
    all.extend(codes::ALL.iter().map(|code| {
        let body = match code.help {
            "" => "## Instead\n\nThe message says what is wrong and where.".to_owned(),
            help => format!("## Instead\n\n{}{}.", help[..1].to_uppercase(), &help[1..]),
        };
        Page {
            id: code.id,
            severity: code.severity,
            title: code.title,
            found_by: "the scan",
            markdown: whole(
                code.id,
                code.title,
                code.severity,
                "the scan",
                code.severity == Severity::Error,
                &body,
            ),
        }
    }));
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
