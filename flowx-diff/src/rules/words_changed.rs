//! See the rule's page.

use flowx_manifest::{Flow, Trigger};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Words for people changed
    ///
    /// ## What it catches
    ///
    /// The description of an effect, capability or flow, the title of a flow, the purpose of an agent or of a skill,
    /// where no tool shows the same words to a model (then it is FXD070 or FXD072).
    ///
    /// ## Why it matters
    ///
    /// Reviewers, operators and documentation rely on them.
    ///
    /// ## Example
    ///
    /// The doc comment of a capability was edited.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD208" "words-changed" [Neutral]
    cells &[(Area::Document, "words", Action::Change)];
    consequence "People read something else.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let mut tell = |subject: String, pointer: &str, before: Option<&str>, after: Option<&str>| {
        if before != after {
            sink.add(super::text_change(&RULE, subject, pointer, before, after));
        }
    };
    for (id, before, after) in &cx.effects.both {
        tell(
            format!("effect {id}"),
            "/description",
            before.description.as_deref(),
            after.description.as_deref(),
        );
    }
    for (key, before, after) in &cx.capabilities.both {
        let subject = format!("capability {key}");
        tell(
            subject,
            "/description",
            before.description.as_deref(),
            after.description.as_deref(),
        );
    }
    let mut shown = Vec::new();
    for (_, before, after) in cx.tools_changed() {
        shown.push((
            Some(before.description.clone()),
            Some(after.description.clone()),
        ));
        shown.push((before.title.clone(), after.title.clone()));
        shown.push((
            before.annotations.title.clone(),
            after.annotations.title.clone(),
        ));
    }
    for (subject, before, after) in cx.flows_changed() {
        let agent = |f: &Flow| match f.agent_trigger() {
            Some(Trigger::Agent { description, .. }) => description.clone(),
            _ => None,
        };
        for (pointer, was, is) in [
            ("/title", before.title.clone(), after.title.clone()),
            (
                "/description",
                before.description.clone(),
                after.description.clone(),
            ),
            ("/triggers/agent/description", agent(before), agent(after)),
        ] {
            if !shown.contains(&(was.clone(), is.clone())) {
                tell(subject.clone(), pointer, was.as_deref(), is.as_deref());
            }
        }
    }
    for (id, before, after) in &cx.agents.both {
        let subject = format!("agent {id}");
        tell(
            subject.clone(),
            "/purpose",
            Some(&before.purpose),
            Some(&after.purpose),
        );
        for (b, a) in super::skills(before, after) {
            tell(
                subject.clone(),
                &format!("/skills/{}/purpose", a.name),
                Some(&b.purpose),
                Some(&a.purpose),
            );
        }
    }
}
