//! See the rule's page.

use flowx_manifest::{Authorization, Json};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A stance says something else and means the same
    ///
    /// ## What it catches
    ///
    /// `public` became `internal` or the other way round (neither is a barrier in front of a step), or somebody else is
    /// named by `approved_by`.
    ///
    /// ## Why it matters
    ///
    /// Who allowed a public capability is part of what was reviewed.
    ///
    /// ## Example
    ///
    /// `public(approved_by = "ada")` became `public(approved_by = "grace")`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD212" "stance-words-changed" [Neutral]
    cells &[(Area::Capability, "stance words", Action::Change)];
    consequence "Nobody is let in or refused differently.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.capabilities.both {
        let same = super::barrier(&before.authorization) == super::barrier(&after.authorization);
        let permission = matches!(before.authorization, Authorization::Permission { .. });
        if same && !permission && before.authorization != after.authorization {
            let (was, is) = (
                super::stance(&before.authorization),
                super::stance(&after.authorization),
            );
            sink.add(
                RULE.finding(format!("capability {key}"), "/authorization")
                    .says(format!("{was} became {is}"))
                    .change(Json::from(was), Json::from(is)),
            );
        }
    }
}
