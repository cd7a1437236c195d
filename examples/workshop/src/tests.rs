//! What the workshop promises its people, from outside.

use axum::body::Body;
use flowx_runtime::store;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::app;
use crate::shop::Shop;

const REPAIR: &str = "r-81c2";

/// A workshop that nobody has changed.
struct Workshop {
    router: axum::Router,
    shop: Shop,
}

impl Workshop {
    async fn open() -> Workshop {
        let shop = Shop::open();
        let store = store::open("sqlite::memory:").await.unwrap();
        let (_, router) = app(shop.clone(), store).unwrap().into_router().unwrap();
        Workshop { router, shop }
    }

    async fn send(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        let request = axum::http::Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:8081")
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
            .unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// The agent sets a price, for Mia unless it is another token.
    async fn price(&self, token: &str, cents: u64) -> (u16, Value) {
        self.send(
            token,
            "POST",
            "/repairs/price",
            Some(json!({ "repair_id": REPAIR, "cents": cents })),
        )
        .await
    }

    /// The only proposal that waits.
    async fn waiting(&self) -> Value {
        let (_, list) = self
            .send(
                "manager-token",
                "GET",
                "/flowx/proposals?status=waiting",
                None,
            )
            .await;
        assert_eq!(
            list["proposals"].as_array().map(Vec::len),
            Some(1),
            "{list}"
        );
        list["proposals"][0].clone()
    }

    /// Says yes to it.
    async fn yes(&self, token: &str, more: Value) -> (u16, Value) {
        let waiting = self.waiting().await;
        let mut body = json!({ "fingerprint": waiting["fingerprint"] });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap_or_default());
        let path = format!(
            "/flowx/proposals/{}/approve",
            waiting["id"].as_str().unwrap()
        );
        self.send(token, "POST", &path, Some(body)).await
    }

    async fn no(&self, token: &str, reason: &str) -> (u16, Value) {
        let path = format!(
            "/flowx/proposals/{}/reject",
            self.waiting().await["id"].as_str().unwrap()
        );
        self.send(token, "POST", &path, Some(json!({ "reason": reason })))
            .await
    }

    fn price_of(&self) -> Option<u64> {
        self.shop.get(REPAIR).unwrap().price_cents
    }
}

#[tokio::test]
async fn it_notes_alone_proposes_the_price_and_a_yes_runs_it_as_whoever_said_yes() {
    let workshop = Workshop::open().await;
    let note = json!({ "repair_id": REPAIR, "text": "second gear grinds" });
    assert_eq!(
        workshop
            .send("estimator-token", "POST", "/repairs/note", Some(note))
            .await
            .0,
        200
    );
    assert_eq!(
        workshop.shop.get(REPAIR).unwrap().notes,
        ["second gear grinds"]
    );

    let (status, problem) = workshop.price("estimator-token", 42_000).await;
    assert_eq!(
        (status, &problem["code"]),
        (428, &json!("approval.required"))
    );
    assert_eq!(workshop.price_of(), None);
    let waiting = workshop.waiting().await;
    assert_eq!(
        waiting["arguments"][1]["value"], "Ticket T-7 [\"r-81c2\"]",
        "{waiting}"
    );

    let (status, proposal) = workshop.yes("manager-token", json!({})).await;
    assert_eq!(
        (status, &proposal["status"]),
        (200, &json!("done")),
        "{proposal}"
    );
    assert_eq!(proposal["decision"]["by"], "kim@workshop");
    assert_eq!(workshop.price_of(), Some(42_000));
    let (status, repair) = workshop.price("estimator-token", 42_000).await;
    assert_eq!(
        (status, &repair["price_cents"]),
        (200, &json!(42_000)),
        "the agent gets what came of it"
    );
}

#[tokio::test]
async fn a_mechanics_yes_to_a_price_fails_and_changes_nothing() {
    let workshop = Workshop::open().await;
    workshop.price("estimator-token", 42_000).await;
    let missing = async |token| {
        let (_, list) = workshop
            .send(token, "GET", "/flowx/proposals?status=waiting", None)
            .await;
        list["proposals"][0]["missingPermissions"].clone()
    };
    assert_eq!(
        missing("mechanic-token").await,
        json!(["repair.price"]),
        "told before the yes"
    );
    assert_eq!(missing("manager-token").await, json!([]));
    let (_, proposal) = workshop.yes("mechanic-token", json!({})).await;
    assert_eq!(proposal["status"], "failed", "{proposal}");
    assert_eq!(workshop.price_of(), None);
    let (status, problem) = workshop.price("estimator-token", 42_000).await;
    assert_eq!(
        (status, &problem["code"]),
        (403, &json!("authorization.permission_denied")),
        "the agent is told"
    );
    // A new proposal, which the manager approves.
    assert_eq!(workshop.price("estimator-token", 42_000).await.0, 428);
    assert_eq!(
        workshop.yes("manager-token", json!({})).await.1["status"],
        "done"
    );
    assert_eq!(workshop.price_of(), Some(42_000));
}

#[tokio::test]
async fn a_no_gives_the_agent_the_reason_and_an_empty_reason_is_refused() {
    let workshop = Workshop::open().await;
    workshop.price("estimator-token", 42_000).await;
    assert_eq!(workshop.no("manager-token", " ").await.0, 400);
    assert_eq!(
        workshop
            .no("manager-token", "the customer has a contract")
            .await
            .0,
        200
    );
    let (status, problem) = workshop.price("estimator-token", 42_000).await;
    assert_eq!(
        (status, &problem["code"]),
        (403, &json!("approval.rejected"))
    );
    assert_eq!(problem["reason"], "the customer has a contract");
    assert_eq!(workshop.price_of(), None);
}

#[tokio::test]
async fn a_yes_does_not_cover_what_changed() {
    let workshop = Workshop::open().await;
    workshop.price("estimator-token", 42_000).await;
    workshop
        .shop
        .change(REPAIR, |repair| repair.what.push_str(" and clutch"));
    let (status, problem) = workshop.yes("manager-token", json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("approval.stale")));
    assert_eq!(workshop.price_of(), None);
}

#[tokio::test]
async fn from_now_on_alone_and_taken_back() {
    let workshop = Workshop::open().await;
    workshop.price("estimator-token", 10_000).await;
    let (status, proposal) = workshop
        .yes(
            "manager-token",
            json!({ "always": "like_this", "everybody": true }),
        )
        .await;
    assert_eq!(status, 200, "{proposal}");
    // As the agent, so with its permission; nobody is asked.
    assert_eq!(workshop.price("estimator-token", 20_000).await.0, 200);
    assert_eq!(workshop.price_of(), Some(20_000));
    let path = format!("/flowx/rules/{}/revoke", proposal["rule"].as_str().unwrap());
    assert_eq!(
        workshop
            .send(
                "manager-token",
                "POST",
                &path,
                Some(json!({ "why": "too dear" }))
            )
            .await
            .0,
        200
    );
    assert_eq!(workshop.price("estimator-token", 30_000).await.0, 428);
    assert_eq!(workshop.price_of(), Some(20_000));
}

#[tokio::test]
async fn what_it_never_does_takes_no_rule_and_is_not_offered() {
    let workshop = Workshop::open().await;
    let scrap = json!({ "repair_id": REPAIR });
    let (status, problem) = workshop
        .send("estimator-token", "POST", "/repairs/scrap", Some(scrap))
        .await;
    assert_eq!(status, 404, "{problem}");
    let (_, list) = workshop
        .send("manager-token", "GET", "/flowx/proposals", None)
        .await;
    assert_eq!(
        list["proposals"],
        json!([]),
        "there is nothing that could be approved, or ruled"
    );
    assert!(!workshop.shop.get(REPAIR).unwrap().scrapped);
    // Its tools, as its client lists them.
    let list = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
        } },
    });
    let request = axum::http::Request::post("/mcp")
        .header("authorization", "Bearer estimator-token")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("host", "127.0.0.1:8081")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/list")
        .body(Body::from(list.to_string()))
        .unwrap();
    let answer = workshop.router.clone().oneshot(request).await.unwrap();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes);
    assert!(
        text.contains("repair_note") && text.contains("fleet_price"),
        "{text}"
    );
    assert!(!text.contains("repair_scrap"), "{text}");
}

#[tokio::test]
async fn who_asked_for_the_fleet_price_cannot_decide_it() {
    let workshop = Workshop::open().await;
    let all = json!({ "cents": 9_900 });
    // The agent works for Kim, who is a manager: this one is for another manager to decide.
    assert_eq!(
        workshop
            .send("estimator-for-kim-token", "POST", "/fleet/price", Some(all))
            .await
            .0,
        428
    );
    let (status, problem) = workshop.yes("manager-token", json!({})).await;
    assert_eq!(
        (status, &problem["code"]),
        (403, &json!("authorization.permission_denied"))
    );
    assert_eq!(workshop.price_of(), None);
    assert_eq!(
        workshop.yes("second-manager-token", json!({})).await.1["status"],
        "done"
    );
    assert_eq!(workshop.price_of(), Some(9_900));
}
