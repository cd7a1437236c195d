use super::{Sink, View, bodies};

rule! {
    /// ## What it catches
    ///
    /// A capability, a flow, or a helper of the package that one of them calls reads a clock of its own: `SystemTime::now`, `Instant::now`,
    /// `chrono::Utc::now`, `OffsetDateTime::now_utc`, under whatever name it was imported.
    ///
    /// ## Why it matters
    ///
    /// A retried or repeated call must come to the same decision. Time that comes with the invocation can be set in a test, is the same for all
    /// steps of a call, and stands in its record.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// async fn quote(cx: &Cx<quote>, order: Order) -> Result<Quote, No> {
    ///     Ok(Quote { at: OffsetDateTime::now_utc() })
    /// }
    /// ```
    ///
    /// ## Instead
    ///
    /// Ask the context: `cx.now()`.
    FLOWX1007, "a body reads an ambient clock", Warning, check
}

const CLOCKS: &[&str] = &[
    "std::time::SystemTime::now", "std::time::Instant::now", "std::time::UNIX_EPOCH", "tokio::time::Instant::now", "chrono::Utc::now",
    "chrono::Local::now", "chrono::offset::Utc::now", "chrono::offset::Local::now", "time::OffsetDateTime::now_utc",
    "time::OffsetDateTime::now_local", "time::UtcDateTime::now", "time::Instant::now", "jiff::Timestamp::now", "jiff::Zoned::now",
    "quanta::Instant::now", "coarsetime",
];

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    bodies::report(
        view,
        &RULE,
        sink,
        |named| bodies::lies_in(&named.path, CLOCKS),
        |kind, what| format!("this {kind} reads a clock of its own: `{what}`"),
        "take the time of the call: `cx.now()`",
    );
}
