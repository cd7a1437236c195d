//! See the rule's page.

use flowx_manifest::{Flow, Manifest, StepTarget};

use super::{ReviewFinding, review_rule};

/// The first wait where a step with retries declares none, as the manifest's format says.
const DEFAULT_BACKOFF_MS: u64 = 200;

review_rule! {
    /// # A flow's deadline is shorter than its worst case
    ///
    /// ## What it catches
    ///
    /// A flow whose steps, each using all its attempts, timeouts and waits, take longer than the deadline. The wait before
    /// the first retry is at most the backoff, and doubles. Steps without a timeout are named and counted as nothing, so
    /// the number is the least that can be proven.
    ///
    /// ## Why it matters
    ///
    /// The retries that somebody wrote down cannot all happen: the deadline cuts them off, and what had been done is
    /// undone, or is not.
    ///
    /// ## Example
    ///
    /// A deadline of `PT5S` over `pay: payment::refund { timeout = "PT2S", attempts = 3 }`: 3 × 2 s + 0.6 s of waits.
    ///
    /// ## Instead
    ///
    /// Fewer attempts, shorter timeouts, or a longer deadline.
    "ai.deadline_is_shorter_than_worst_case" "deadline-is-shorter-than-worst-case" Warning check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for flow in &manifest.flows {
        let Some(deadline) = &flow.deadline else {
            continue;
        };
        let mut parts = Vec::new();
        let mut total: u64 = 0;
        for (what, millis) in worst_case(manifest, flow, 0) {
            total = total.saturating_add(millis);
            parts.push(format!("{what} {}", seconds(millis)));
        }
        if total > deadline.millis() {
            out.push(RULE.finding(
                format!("flow {}", flow.key()),
                format!(
                    "its steps can take {} ({}), its deadline is {}",
                    seconds(total),
                    parts.join(", "),
                    seconds(deadline.millis())
                ),
                "Lower attempts or timeouts, or allow more time.",
            ));
        }
    }
}

/// What each step can take at most, where a timeout bounds it.
pub(crate) fn worst_case(manifest: &Manifest, flow: &Flow, depth: usize) -> Vec<(String, u64)> {
    let mut out = Vec::new();
    for step in &flow.steps {
        let attempts = u64::from(step.attempts.unwrap_or(1).max(1));
        let inner = match (&step.timeout, &step.calls) {
            (Some(timeout), _) => Some(timeout.millis()),
            (None, StepTarget::Flow(id)) if depth < 8 => manifest
                .flows
                .iter()
                .find(|f| f.id == id.id.as_str() && f.version == id.version)
                .map(|f| {
                    let sum = worst_case(manifest, f, depth + 1)
                        .iter()
                        .map(|(_, m)| *m)
                        .fold(0, u64::saturating_add);
                    f.deadline.as_ref().map_or(sum, |d| d.millis().min(sum))
                })
                .filter(|m| *m > 0),
            _ => None,
        };
        let Some(once) = inner else { continue };
        let first = step
            .backoff
            .as_ref()
            .map_or(DEFAULT_BACKOFF_MS, |b| b.millis());
        // 1 + 2 + 4 + …: one wait fewer than attempts.
        let waits = (1..attempts.min(64)).fold(0_u64, |sum, i| {
            sum.saturating_add(first.saturating_mul(1 << (i - 1).min(62)))
        });
        let total = once.saturating_mul(attempts).saturating_add(waits);
        let what = if attempts > 1 {
            format!("`{}` {attempts} times", step.name)
        } else {
            format!("`{}`", step.name)
        };
        out.push((what, total));
    }
    out
}

fn seconds(millis: u64) -> String {
    if millis.is_multiple_of(1000) {
        format!("{} s", millis / 1000)
    } else {
        format!("{:.1} s", millis as f64 / 1000.0)
    }
}
