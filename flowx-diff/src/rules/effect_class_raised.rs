//! See the rule's page.

use super::cx::tool_name;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An effect has a graver class
    ///
    /// ## What it catches
    ///
    /// The `class` of an effect went up in the order reads, changes, sends, spends, reaches_out. The tools that reach
    /// it are named.
    ///
    /// ## Why it matters
    ///
    /// Confirmation, hints and leave are decided by class.
    ///
    /// ## Example
    ///
    /// `class = changes` became `class = spends`.
    ///
    /// ## Instead
    ///
    /// A handle of its own for what spends.
    "FXD037" "effect-class-raised" [Security]
    cells &[(Area::Effect, "class", Action::Loosen)];
    consequence "Everything that reaches it does something graver than was reviewed.";
    fix "Declare a second effect for the graver part.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, before, after) in &cx.effects.both {
        if after.class > before.class {
            let tools = cx
                .new
                .flows
                .iter()
                .filter(|f| f.effects.iter().any(|e| e.as_str() == id))
                .flat_map(|f| {
                    let tool = tool_name(f).map(|t| format!("tool {t}"));
                    std::iter::once(format!("flow {}", f.key())).chain(tool)
                });
            sink.add(
                RULE.finding(format!("effect {id}"), "/class")
                    .says(format!("class: {} → {}", before.class, after.class))
                    .change(
                        Json::from(before.class.as_str()),
                        Json::from(after.class.as_str()),
                    )
                    .through(tools),
            );
        }
    }
}
