use super::{Sink, View, bodies};

rule! {
    /// ## What it catches
    ///
    /// A capability, a flow, or a helper that one of them calls makes ids or random numbers by itself: `Uuid::new_v4`, anything of `rand`,
    /// `getrandom`, `fastrand`, `Ulid::new`, `RandomState`.
    ///
    /// ## Why it matters
    ///
    /// An id that is new at every attempt makes a retry a second payment. Ids of the call can be reproduced in a test, and a downstream
    /// system can tell a repetition by `cx.idempotency_key()`.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// let reference = Uuid::new_v4();
    /// cx.effect::<Gateway>().pay(reference, amount).await
    /// ```
    ///
    /// ## Instead
    ///
    /// `cx.new_id()` for a new id, `cx.idempotency_key()` for one that stays the same over retries.
    FLOWX1008, "a body makes ids or randomness of its own", Warning, check
}

const SOURCES: &[&str] = &[
    "uuid::Uuid::new_v1", "uuid::Uuid::new_v4", "uuid::Uuid::new_v6", "uuid::Uuid::new_v7", "uuid::Uuid::now_v1", "uuid::Uuid::now_v6",
    "uuid::Uuid::now_v7", "rand", "rand_core", "rand_chacha", "getrandom", "fastrand", "oorandom", "nanoid", "ulid::Ulid::new", "ksuid",
    "std::hash::RandomState", "std::collections::hash_map::RandomState",
];

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    bodies::report(
        view,
        &RULE,
        sink,
        |named| bodies::lies_in(&named.path, SOURCES),
        |kind, what| format!("this {kind} makes ids or randomness of its own: `{what}`"),
        "take `cx.new_id()`, or `cx.idempotency_key()` where a retry must use the same",
    );
}
