//! `cargo xtask new-rule errors_not_published --title "…"`: the file of a rule, its two fixtures and its line in the registry.
//!
//! What it writes compiles and is red: the firing fixture says that the rule fires, and the checker finds nothing yet.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};

/// What the new rule is called and says.
#[derive(Args)]
pub(crate) struct Options {
    /// What it catches, as the end of a file's name: `errors_not_published`
    name: String,
    /// What it catches, in a few words, for people
    #[arg(long)]
    title: String,
    /// How bad it is where nothing else is configured
    #[arg(long, value_enum, default_value_t = Level::Warning)]
    severity: Level,
    /// Print what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Error,
    Warning,
    Note,
}

/// The first id that the project gave; those below keep meanings from elsewhere.
const FIRST: u32 = 1101;
/// The contracts' codes begin here.
const END: u32 = 1300;

pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    ensure!(
        !options.name.is_empty() && options.name.chars().all(ok),
        "`{}` is no end of a file's name: lower-case letters, digits and `_`",
        options.name
    );
    ensure!(
        !options.title.trim().is_empty() && !options.title.contains(['"', '\\', '\n']),
        "the title stands in a string of Rust: give it without quotes, backslashes and line ends"
    );
    let rules = root.join("flowx-build/src/rules");
    let number = free_number(root)?;
    let file = format!("flowx{number}_{}", options.name);
    let registry_at = rules.join("mod.rs");
    let registry = fs::read_to_string(&registry_at)?;
    let registry = registered(&registry, &file)?;
    let severity = format!("{:?}", options.severity);
    let rule = RULE
        .replace("NUMBER", &number.to_string())
        .replace("TITLE", options.title.trim())
        .replace("SEVERITY", &severity);
    let firing = FIXTURE.replace("MARK", &format!(" //~ FLOWX{number}"));
    let quiet = FIXTURE.replace("MARK", "");
    for (path, text) in [
        (rules.join(format!("{file}.rs")), rule),
        (rules.join(format!("fixtures/{file}.firing.rs")), firing),
        (rules.join(format!("fixtures/{file}.quiet.rs")), quiet),
        (registry_at, registry),
    ] {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        println!("{shown}");
        if !options.dry_run {
            fs::write(&path, text).with_context(|| format!("{shown} cannot be written"))?;
        }
    }
    println!(
        "\nFLOWX{number}. Next: write its page and its checker, make the two fixtures its own, then\n    \
         FLOWX_BLESS=1 cargo nextest run -p flowx-build --test rules   # docs/rules/ and fixtures/findings.txt\n    \
         cargo nextest run -p flowx-build --test rules"
    );
    Ok(())
}

/// One past the highest id that any rule, page or code has, or had.
fn free_number(root: &Path) -> anyhow::Result<u32> {
    let mut highest = FIRST;
    let mut look = |text: &str| {
        for (at, _) in text.match_indices("FLOWX1") {
            let digits = text.get(at + 5..at + 9).unwrap_or_default();
            if let Ok(number) = digits.parse::<u32>()
                && number < END
            {
                highest = highest.max(number);
            }
        }
    };
    // The table of pages holds every code, and below it those that are retired.
    look(&fs::read_to_string(root.join("docs/rules/README.md"))?);
    look(&fs::read_to_string(root.join("flowx-build/src/codes.rs"))?);
    for entry in fs::read_dir(root.join("flowx-build/src/rules"))? {
        let name = entry?.file_name().to_string_lossy().to_uppercase();
        look(&name);
    }
    ensure!(highest + 1 < END, "no id below {END} is free");
    Ok(highest + 1)
}

/// The registry with one line more, in order.
fn registered(text: &str, file: &str) -> anyhow::Result<String> {
    let Some((head, rest)) = text.split_once("registry! {\n") else {
        bail!("flowx-build/src/rules/mod.rs has no `registry! {{`");
    };
    let Some((lines, tail)) = rest.split_once("}\n") else {
        bail!("the registry of flowx-build/src/rules/mod.rs does not end");
    };
    let mut files: Vec<&str> = lines
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    ensure!(!files.contains(&file), "{file} is registered already");
    files.push(file);
    files.sort_unstable();
    let lines: String = files.iter().map(|f| format!("    {f}\n")).collect();
    Ok(format!("{head}registry! {{\n{lines}}}\n{tail}"))
}

const RULE: &str = r#"use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// Say it.
    ///
    /// ## Why it matters
    ///
    /// Say it.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(id = "shop.order", …)]
    /// ```
    ///
    /// ## Instead
    ///
    /// Say it.
    FLOWXNUMBER, "TITLE", SEVERITY, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, _flow) in view.flows() {
        let found = false;
        if found {
            let message = "say what is wrong here";
            sink(declared.error(RULE.code(), declared.span, message).help("say how it is mended").into());
        }
    }
}
"#;

const FIXTURE: &str = r#"#[capability(id = "shop.look", version = "1.0.0", authorization = authenticated, effects(Prices))]
async fn look(cx: &Cx<look>, order: Order) -> Result<Order, No> {
    let _ = cx.effect::<Prices>();
    Ok(order)
}

/// Shows what an order would cost.
#[flow(id = "shop.show", version = "1.0.0", agent, steps(look: look))]MARK
async fn show(cx: &FlowCx<show>, order: Order) -> Result<Order, No> {
    cx.step::<look>(order).await
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_put_in_order_and_never_twice() {
        let text = "a\nregistry! {\n    flowx1007_a\n    flowx1195_b\n}\nrest }\n";
        assert_eq!(
            registered(text, "flowx1019_c").unwrap(),
            "a\nregistry! {\n    flowx1007_a\n    flowx1019_c\n    flowx1195_b\n}\nrest }\n"
        );
        assert!(registered(text, "flowx1007_a").is_err());
        assert!(registered("nothing", "flowx1007_a").is_err());
    }

    #[test]
    fn an_id_that_was_ever_given_is_not_given_again() {
        let root = crate::root();
        let number = free_number(&root).unwrap();
        let table = fs::read_to_string(root.join("docs/rules/README.md")).unwrap();
        assert!((FIRST..END).contains(&number));
        assert!(!table.contains(&format!("FLOWX{number}")));
        assert!(table.contains("FLOWX1195"), "the table is not what it was");
    }
}
