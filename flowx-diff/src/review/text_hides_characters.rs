//! See the rule's page.

use flowx_manifest::Manifest;

use super::{ReviewFinding, review_rule};
use crate::rules::text::{hidden, visible};

review_rule! {
    /// # What a model reads hides characters
    ///
    /// ## What it catches
    ///
    /// Zero-width, bidirectional, tag and other invisible characters in the title, the description or the schemas of a
    /// tool, or in an agent's purpose.
    ///
    /// ## Why it matters
    ///
    /// A model reads them, a reviewer does not see them. That is how instructions are hidden in a description.
    ///
    /// ## Example
    ///
    /// A description with U+200B in the middle of a word.
    ///
    /// ## Instead
    ///
    /// Remove them.
    "ai.text_hides_characters" "text-hides-characters" Warning check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for tool in &manifest.tools {
        let text = crate::surface::descriptor(tool).to_canonical();
        if hidden(&text).next().is_some() {
            let codes: Vec<String> = hidden(&text)
                .map(|c| format!("U+{:04X}", c as u32))
                .collect();
            out.push(RULE.finding(
                format!("tool {}", tool.name),
                format!("its descriptor holds {}", codes.join(", ")),
                "Remove the invisible characters.",
            ));
        }
    }
    for agent in &manifest.agents {
        if hidden(&agent.purpose).next().is_some() {
            out.push(RULE.finding(
                format!("agent {}", agent.id),
                format!(
                    "its purpose holds invisible characters: {}",
                    visible(&agent.purpose)
                ),
                "Remove the invisible characters.",
            ));
        }
    }
}
