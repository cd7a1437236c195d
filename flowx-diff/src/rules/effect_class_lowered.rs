//! See the rule's page.

use super::cx::tool_name;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An effect has a milder class
    ///
    /// ## What it catches
    ///
    /// The `class` of an effect went down in the order reads, changes, sends, spends, reaches_out. The tools that reach
    /// it are named.
    ///
    /// ## Why it matters
    ///
    /// A milder class makes tools look harmless: no confirmation, `readOnlyHint`.
    ///
    /// ## Example
    ///
    /// `class = spends` became `class = reads`.
    ///
    /// ## Instead
    ///
    /// Leave the class; give an agent leave instead.
    "FXD038" "effect-class-lowered" [Security]
    cells &[(Area::Effect, "class", Action::Tighten)];
    consequence "Confirmation and leave that depended on the graver class do not apply any more.";
    fix "Keep the graver class, unless the effect really became another.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, before, after) in &cx.effects.both {
        if after.class < before.class {
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
