//! The pages of docs/diff/ are the rules' own words.

use flowx_diff::{RuleKind, rules};

use crate::fresh;

#[test]
fn every_rule_has_its_page_and_the_index_lists_all() {
    let mut index = String::from(
        "# Rules\n\nGenerated from the rules themselves (`flowx explain ID` prints a page). `FXD` rules compare two documents, `ai.`\n\
         rules look at one, `FXA` rules look at the allowance file. Numbers up to 022, and 100 to 108 and 200 to 207, mean what\n\
         they meant in FlowX for .NET.\n",
    );
    for (kind, title) in [
        (RuleKind::Diff, "Comparing two documents"),
        (RuleKind::Review, "Reviewing one document"),
        (RuleKind::Allowance, "The allowance file"),
    ] {
        index.push_str(&format!(
            "\n## {title}\n\n| id | what | class |\n|---|---|---|\n"
        ));
        for rule in rules().iter().filter(|r| r.kind == kind) {
            let class: Vec<String> = match rule.severity {
                Some(s) => vec![s.to_string()],
                None => rule.classes.iter().map(ToString::to_string).collect(),
            };
            index.push_str(&format!(
                "| [{}](rules/{}.md) | {} | {} |\n",
                rule.id,
                rule.id,
                rule.title(),
                class.join(", ")
            ));
            let lines: Vec<&str> = rule
                .doc
                .trim()
                .lines()
                .map(|l| l.strip_prefix(' ').unwrap_or(l))
                .collect();
            let page = format!(
                "{}\n\n*{} · {}*\n{}\n",
                lines[0],
                rule.id,
                rule.name,
                lines[1..].join("\n")
            );
            fresh(&format!("../docs/diff/rules/{}.md", rule.id), &page);
        }
    }
    fresh("../docs/diff/README.md", &index);
}
