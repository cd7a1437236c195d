//! See the rule's page.

use std::collections::BTreeSet;

use flowx_manifest::{Json, Manifest};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A declaration that neither document shows has changed
    ///
    /// ## What it catches
    ///
    /// A declaration that the features, target or cfgs of this run switch off (FLOWX1123), and that came, went or changed between two
    /// sources. It is asked of sources that were scanned on both sides, not of manifest files, programs or servers.
    ///
    /// ## Why it matters
    ///
    /// A manifest is about one configuration. What another one serves changes in the same commit, and this comparison does not see how.
    ///
    /// ## Example
    ///
    /// A pull request adds a flow under `#[cfg(feature = "ops")]`, and CI compares with the default features.
    ///
    /// ## Instead
    ///
    /// Run `flowx diff` with the features under which it is built as well, and compare there.
    "FXD221" "declaration-out-of-sight" [Undecided]
    cells &[(Area::Document, "declarations out of sight", Action::Change)];
    consequence "Whoever builds with that configuration gets something that this comparison has not looked at.";
    fix "Compare once more with the features or the target that switch it on.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let Some(out) = cx.out_of_sight else { return };
    let subjects: BTreeSet<&String> = out.base.keys().chain(out.head.keys()).collect();
    for subject in subjects {
        let (before, after) = (out.base.get(subject), out.head.get(subject));
        // Where it came into sight or left it, the rules about what is in sight say so.
        let seen = match (before, after) {
            (None, Some(_)) => in_sight(cx.old, subject),
            (Some(_), None) => in_sight(cx.new, subject),
            _ => before == after,
        };
        if seen {
            continue;
        }
        let what = match (before, after) {
            (None, _) => "is new",
            (_, None) => "is gone",
            _ => "has changed",
        };
        let digest = |digest: Option<&u64>| digest.map(|d| Json::from(format!("{d:016x}")));
        sink.add(
            RULE.finding(subject, "")
                .says(format!("what this configuration switches off {what}"))
                .change(digest(before), digest(after)),
        );
    }
}

/// Whether a manifest has the subject.
fn in_sight(manifest: &Manifest, subject: &str) -> bool {
    let Some((kind, id)) = subject.split_once(' ') else {
        return false;
    };
    match kind {
        "flow" => manifest.flows.iter().any(|f| f.key() == id),
        "capability" => manifest
            .capabilities
            .iter()
            .any(|c| format!("{}@{}", c.id, c.version.major) == id),
        "effect" => manifest.effects.iter().any(|e| e.id.as_str() == id),
        "agent" => manifest.agents.iter().any(|a| a.id.as_str() == id),
        _ => false,
    }
}
