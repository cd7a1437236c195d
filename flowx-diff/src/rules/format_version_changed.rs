//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # The manifest's format is another
    ///
    /// ## What it catches
    ///
    /// `schemaVersion` differs. A reader refuses another major altogether.
    ///
    /// ## Why it matters
    ///
    /// The rest of the comparison is right, as far as both formats can say it.
    ///
    /// ## Example
    ///
    /// `1.0.0` became `1.1.0`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD200" "format-version-changed" [Neutral]
    cells &[(Area::Document, "schemaVersion", Action::Change)];
    consequence "Tools of the older format may not read it.";
    fix "Use matching versions of FlowX.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let (was, is) = (&cx.old.schema_version, &cx.new.schema_version);
    if was != is {
        sink.add(super::text_change(
            &RULE,
            "document".to_owned(),
            "/schemaVersion",
            Some(was),
            Some(is),
        ));
    }
}
