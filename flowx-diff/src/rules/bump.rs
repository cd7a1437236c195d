//! Whether the declared versions tell what the findings ask for.

use flowx_manifest::Version;

use super::{Cx, Rule, Sink, text_change};
use crate::compare::declared_bump;
use crate::report::{Bump, Class};

/// Runs after every other rule.
pub(crate) fn check(rule: &'static Rule, cx: &Cx<'_>, sink: &mut Sink) {
    let flows = cx.flows_kept().map(|(s, b, a)| (s, b.version, a.version));
    let capabilities = cx
        .capabilities
        .both
        .iter()
        .map(|(k, b, a)| (format!("capability {k}"), b.version, a.version));
    let events = cx
        .events
        .both
        .iter()
        .map(|(k, b, a)| (format!("event {k}"), b.version, a.version));
    let entities = cx
        .entities
        .both
        .iter()
        .map(|(k, b, a)| (format!("entity {k}"), b.version, a.version));
    let mut out = Vec::new();
    for (subject, was, is) in flows.chain(capabilities).chain(events).chain(entities) {
        let text = |v: Version| v.to_string();
        let change = text_change(
            rule,
            subject.clone(),
            "/version",
            Some(&text(was)),
            Some(&text(is)),
        );
        if is < was {
            out.push(change.says(format!("the version went down: {was} → {is}")));
            continue;
        }
        let needed = sink.needed(&subject);
        let declared = declared_bump(&text(was), &text(is)).unwrap_or(Bump::None);
        // A break inside a major is told by its own finding; raising the number would not mend it.
        if needed == Bump::Minor && declared < Bump::Minor {
            let next = Version {
                major: was.major,
                minor: was.minor + 1,
                patch: 0,
            };
            out.push(change.says(format!(
                "it gained something and is still {is}; {next} would tell"
            )));
        } else if was != is {
            out.push(
                change
                    .says(format!("the version is {is}, and was {was}"))
                    .so("Nobody is refused or surprised.")
                    .instead("Nothing, if that is meant."),
            );
        }
    }
    let (was, is) = (&cx.old.application.version, &cx.new.application.version);
    let change = || {
        text_change(
            rule,
            "application".to_owned(),
            "/application/version",
            Some(was),
            Some(is),
        )
    };
    let needed = sink
        .findings()
        .map(|f| f.class.bump())
        .max()
        .unwrap_or(Bump::None);
    match declared_bump(was, is) {
        _ if was == is => {}
        Some(declared) if declared < needed && needed > Bump::Patch => {
            out.push(change().says(format!(
                "{was} → {is} is a {declared} bump, the changes ask for a {needed} one"
            )));
        }
        _ => out.push(
            change()
                .says(format!("the version is {is}, and was {was}"))
                .so("Nobody is refused or surprised.")
                .instead("Nothing, if that is meant."),
        ),
    }
    out.into_iter()
        .for_each(|f| sink.add(f.class(Class::Neutral)));
}
