use flowx_manifest::{Flow, IsoDuration, StepTarget};

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A flow whose deadline is shorter than the worst case of its steps: attempts × timeout, the waits between attempts, and the undoing of what
    /// was done. Steps without a timeout count as nothing, so the sum is a floor.
    ///
    /// ## Why it matters
    ///
    /// A deadline that its own policies cannot keep cuts a flow off in the middle of a step, after earlier steps were done.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(…, deadline = "PT5S", steps(pay: pay { timeout = "PT2S", attempts = 3 }))]
    /// ```
    ///
    /// ## Instead
    ///
    /// Lengthen the deadline, or shorten the timeouts or attempts, until the sum in the message fits.
    FLOWX1019, "a deadline is shorter than its steps may take", Warning, check
}

/// The wait before the first retry where none is declared.
const FIRST_WAIT: u64 = 200;

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let Some(deadline) = &declared.decl.deadline else { continue };
        let (total, parts) = worst(view, flow, 0);
        if total > deadline.value.millis() {
            let message = format!(
                "the deadline is {}, and the steps may take {}: {}",
                deadline.value,
                seconds(total),
                parts.join(" + ")
            );
            sink(declared.error(RULE.code(), deadline.span, message).help("lengthen the deadline, or shorten timeouts or attempts").into());
        }
    }
}

/// The worst case of a flow in milliseconds, and its parts in words.
fn worst(view: &View<'_, '_>, flow: &Flow, depth: usize) -> (u64, Vec<String>) {
    let (mut total, mut parts) = (0u64, Vec::new());
    for step in &flow.steps {
        let timeout = step.timeout.as_ref().map_or(0, IsoDuration::millis);
        let attempts = u64::from(step.attempts.unwrap_or(1));
        if let StepTarget::Flow(id) = &step.calls {
            let inner = view.flow(id).filter(|_| depth < 16).map_or(0, |f| worst(view, f, depth + 1).0);
            let own = view.flow(id).and_then(|f| f.deadline.as_ref()).map_or(u64::MAX, IsoDuration::millis);
            let limit = if timeout > 0 { timeout } else { u64::MAX };
            let takes = inner.min(own).min(limit);
            if takes > 0 {
                total = total.saturating_add(takes);
                parts.push(format!("`{}` {}", step.name, seconds(takes)));
            }
            continue;
        }
        if timeout == 0 {
            continue;
        }
        let first = step.backoff.as_ref().map_or(FIRST_WAIT, IsoDuration::millis);
        let waits = (1..attempts).fold(0u64, |sum, n| sum.saturating_add(first.saturating_mul(1 << (n - 1).min(30))));
        let tries = timeout.saturating_mul(attempts);
        total = total.saturating_add(tries).saturating_add(waits);
        let mut part = format!("`{}` ", step.name);
        part.push_str(&if attempts > 1 {
            format!("{attempts} × {} and {} of waiting", seconds(timeout), seconds(waits))
        } else {
            seconds(timeout)
        });
        parts.push(part);
        // An undo runs under the timeout of the step that it undoes.
        if step.compensation.is_some() {
            total = total.saturating_add(timeout);
            parts.push(format!("its undoing {}", seconds(timeout)));
        }
    }
    (total, parts)
}

fn seconds(millis: u64) -> String {
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}
