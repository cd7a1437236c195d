//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An error has another category
    ///
    /// ## What it catches
    ///
    /// A code that stayed while its category changed.
    ///
    /// ## Why it matters
    ///
    /// The category decides the HTTP status and whether callers try again.
    ///
    /// ## Example
    ///
    /// `refund.already_issued` went from `conflict` to `unavailable`: callers start to retry.
    ///
    /// ## Instead
    ///
    /// A new code.
    "FXD018" "error-category-changed" [Breaking]
    cells &[(Area::Capability, "error category", Action::Change)];
    consequence "The status over HTTP, and whether a retry makes sense, are others.";
    fix "Add a new code with the new category.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in super::catalogues(cx) {
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        for (b, a) in before
            .iter()
            .filter_map(|b| Some((b, after.iter().find(|a| a.code == b.code)?)))
        {
            if a.category != b.category {
                sink.add(
                    RULE.finding(&subject, format!("/errors/{}/category", b.code))
                        .says(format!("`{}`: {} → {}", b.code, b.category, a.category))
                        .change(
                            Json::from(b.category.as_str()),
                            Json::from(a.category.as_str()),
                        ),
                );
            }
        }
    }
}
