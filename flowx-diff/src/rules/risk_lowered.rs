//! See the rule's page.

use flowx_manifest::{Json, Trigger};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool's risk was lowered
    ///
    /// ## What it catches
    ///
    /// The `risk` of an agent trigger went from `high` to `normal`.
    ///
    /// ## Why it matters
    ///
    /// A high risk is confirmed on the server's own page, which a client cannot fake.
    ///
    /// ## Example
    ///
    /// `agent(risk = high)` became `agent(risk = normal)`.
    ///
    /// ## Instead
    ///
    /// Keep it for what cannot be taken back.
    "FXD039" "risk-lowered" [Security]
    cells &[(Area::Flow, "risk", Action::Loosen)];
    consequence "A person is asked inside the client, where the client draws the question.";
    fix "Keep `risk = high`.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (_, before, after) in cx.flows_changed() {
        if let (Some(Trigger::Agent { risk: was, .. }), Some(Trigger::Agent { risk: is, name, .. })) =
            (before.agent_trigger(), after.agent_trigger())
            && is < was
        {
            sink.add(
                RULE.finding(format!("tool {name}"), "/risk")
                    .says(format!("risk: {was} → {is}"))
                    .change(Json::from(was.as_str()), Json::from(is.as_str())),
            );
        }
    }
}
