//! See the rule's page.

use flowx_manifest::{Json, Trigger};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool's risk was raised
    ///
    /// ## What it catches
    ///
    /// The `risk` of an agent trigger went from `normal` to `high`.
    ///
    /// ## Why it matters
    ///
    /// A high risk is confirmed on the server's own page, which a client cannot fake.
    ///
    /// ## Example
    ///
    /// `agent(risk = normal)` became `agent(risk = high)`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD109" "risk-raised" [Additive]
    cells &[(Area::Flow, "risk", Action::Tighten)];
    consequence "A person is asked on the server's own page.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (_, before, after) in cx.flows_changed() {
        if let (Some(Trigger::Agent { risk: was, .. }), Some(Trigger::Agent { risk: is, name, .. })) =
            (before.agent_trigger(), after.agent_trigger())
            && is > was
        {
            sink.add(
                RULE.finding(format!("tool {name}"), "/risk")
                    .says(format!("risk: {was} → {is}"))
                    .change(Json::from(was.as_str()), Json::from(is.as_str())),
            );
        }
    }
}
