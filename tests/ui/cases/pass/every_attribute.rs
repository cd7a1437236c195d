//! Everything that can be declared, under lints that a strict crate switches on.
#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations, clippy::pedantic)]

flowx_ui::everything_is_published!();

/// What is sold.
mod shop {
    use flowx_runtime::{Cx, FlowCx, FlowError, agent, capability, effect, flow, flowx};
    use serde::{Deserialize, Serialize};

    /// The books.
    #[effect(id = "ledger", class = changes)]
    #[derive(Debug)]
    pub(crate) struct Ledger;

    /// A look at the stock.
    #[effect(id = "stock", class = reads)]
    #[derive(Debug)]
    pub(crate) struct Stock;

    #[derive(Debug, Clone, Deserialize, Serialize)]
    pub(crate) struct Order {
        pub(crate) article: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(crate) struct Receipt {
        pub(crate) number: u64,
    }

    #[derive(Debug, thiserror::Error, FlowError)]
    pub(crate) enum OutOfStock {
        #[error("none left")]
        #[flow_error(code = "stock.none", category = Conflict)]
        None,
    }

    #[derive(Debug, thiserror::Error, FlowError)]
    #[allow(dead_code)]
    pub(crate) enum OrderError {
        #[error(transparent)]
        #[flow_error(transparent)]
        Stock(#[from] OutOfStock),
        #[error("article {article} is unknown")]
        #[flow_error(code = "order.unknown_article", category = NotFound)]
        Unknown { article: String },
    }

    /// An error in one piece.
    #[derive(Debug, thiserror::Error, FlowError)]
    #[error("closed")]
    #[flow_error(code = "shop.closed", category = Unavailable)]
    pub(crate) struct Closed;

    type Answer<T> = Result<T, OrderError>;

    /// Looks whether it is there.
    #[capability(id = "stock.look", version = "1.0.0", authorization = authenticated, effects(Stock), idempotent = true)]
    async fn look(cx: &Cx<look>, order: Order) -> Result<Order, OutOfStock> {
        let _ = cx.effect::<Stock>();
        if order.article.is_empty() { Err(OutOfStock::None) } else { Ok(order) }
    }

    /// Books it.
    #[tracing::instrument(skip_all)]
    #[capability(id = "order.book", version = "1.0.0", authorization = permission("order.book"), effects(Ledger))]
    #[allow(clippy::similar_names)]
    async fn book(cx: &Cx<book>, Order { article }: Order) -> Answer<Receipt> {
        let _ = (cx.effect::<Ledger>(), article);
        Ok(Receipt { number: 1 })
    }

    #[capability(id = "order.unbook", version = "1.0.0", authorization = internal, effects(Ledger), idempotent)]
    async fn unbook(_: &Cx<unbook>, _receipt: Receipt) -> Result<(), std::convert::Infallible> {
        Ok(())
    }

    /// Says hello.
    #[capability(id = "shop.hello", version = "1.2.3", authorization = public(approved_by = "support"))]
    #[flowx::allow(FLOWX1103, reason = "shown here")]
    async fn hello(cx: &Cx<hello>) -> Result<String, Closed> {
        Ok(cx.correlation_id().to_owned())
    }

    /// Order one article.
    #[flow(
        id = "order.place", version = "1.0.0", title = "Place an order", owner = "sales", deadline = "PT30S",
        profile = ephemeral, renamed_from = "order.make",
        http(POST, "/api/v1/orders", idempotent),
        http(PUT, "/api/v1/articles/{article}/order", idempotent = true),
        agent(name = "order", description = "Order one article.", confirmation = required_for_side_effects, risk = high),
        approval(required, decided_by = queue("treasury"), finish = redeem, expires = "P1D", grant_expires = "PT1H"),
        steps(
            look: look { timeout = "PT2S", attempts = 3, backoff = "PT0.1S" },
            book: super::shop::book { timeout = "PT5S", compensate = unbook },
            greet: flow greet,
        )
    )]
    async fn place(cx: &FlowCx<place>, input: Order) -> Result<Receipt, OrderError> {
        let order = cx.step::<look>(input).await?;
        let _ = cx.call::<greet>(flowx_runtime::NoInput {}).await;
        cx.step::<book>(order).await
    }

    /// Say hello.
    #[flow(id = "shop.greet", version = "1.0.0", agent, steps(hello: hello))]
    async fn greet(cx: &FlowCx<greet>) -> Result<String, Closed> {
        cx.step::<hello>(()).await
    }

    /// Old ways.
    #[flow(id = "shop.old", version = "1.0.0", steps(hello: hello))]
    #[deprecated(note = "greet instead")]
    #[cfg(not(feature = "none"))]
    async fn old(cx: &FlowCx<old>) -> Result<String, Closed> {
        cx.step::<hello>(()).await
    }

    #[cfg(feature = "none")]
    #[flow(id = "shop.gone", version = "1.0.0", steps(hello: not_there))]
    async fn gone(cx: &FlowCx<gone>) -> Result<Missing, Closed> {}

    /// Gone too, though the `cfg` stands below.
    #[capability(id = "shop.gone", version = "1.0.0", authorization = internal, effects(NotThere))]
    #[cfg(feature = "none")]
    async fn gone_too(cx: &Cx<gone_too>) -> Result<Missing, Closed> {}

    #[agent(
        id = "clerk", purpose = "takes orders", sponsor = "anna", spends = never, alone(greet), propose_every_time(place),
        skill(name = "greeting", purpose = "greets", uses(greet)), widened_by = "agents.widen"
    )]
    struct Clerk;
}


