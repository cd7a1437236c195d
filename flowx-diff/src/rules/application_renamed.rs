//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # The application has another name
    ///
    /// ## What it catches
    ///
    /// The two manifests name different applications: probably the wrong files are compared.
    ///
    /// ## Why it matters
    ///
    /// Every other finding may be about that.
    ///
    /// ## Example
    ///
    /// `ticket-desk` against `workshop`.
    ///
    /// ## Instead
    ///
    /// Compare the right files.
    "FXD201" "application-renamed" [Neutral]
    cells &[(Area::Document, "application", Action::Change)];
    consequence "The two may not be one application.";
    fix "Compare the right files.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let (was, is) = (&cx.old.application.name, &cx.new.application.name);
    if was != is {
        sink.add(super::text_change(
            &RULE,
            "application".to_owned(),
            "/application/name",
            Some(was),
            Some(is),
        ));
    }
}
