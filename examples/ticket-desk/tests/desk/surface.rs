//! The platform's own addresses, and stopping.

use crate::support::{Desk, REFUND};

#[test]
fn the_manifest_is_for_whoever_may_read_it_byte_for_byte() {
    let desk = Desk::unasked();
    let nobody = desk.get("/flowx/manifest", None);
    assert_eq!(
        (nobody.status, nobody.code().as_str()),
        (401, "authorization.not_authenticated")
    );
    let agent = desk.get("/flowx/manifest", Some("refund-agent-token"));
    assert_eq!(
        (agent.status, agent.code().as_str()),
        (403, "authorization.permission_denied")
    );
    let manager = desk.get("/flowx/manifest", Some("manager-token"));
    assert_eq!(manager.status, 200);
    let digest = manager.header("flowx-manifest-digest").unwrap();
    assert_eq!(
        manager.header("etag"),
        Some(format!("\"{digest}\"").as_str())
    );
    assert_eq!(desk.get("/flowx/health", None).json()["manifest"], digest);
    assert!(manager.body.ends_with(b"\n") && manager.json()["flows"].is_array());
    let tag = format!("\"{digest}\"");
    let headers = [
        ("authorization", "Bearer manager-token"),
        ("if-none-match", tag.as_str()),
    ];
    let unchanged = desk.send("GET", "/flowx/manifest", &headers, b"");
    assert_eq!((unchanged.status, unchanged.body.len()), (304, 0));
}

#[test]
fn clients_find_the_protected_resource_metadata() {
    let desk = Desk::unasked();
    let base = format!("http://{}", desk.address());
    for (path, resource) in [("", base.clone()), ("/mcp", format!("{base}/mcp"))] {
        let answer = desk.get(
            &format!("/.well-known/oauth-protected-resource{path}"),
            None,
        );
        assert_eq!(
            (answer.status, answer.json()["resource"].as_str()),
            (200, Some(resource.as_str()))
        );
        assert_eq!(
            answer.json()["bearer_methods_supported"],
            serde_json::json!(["header"])
        );
    }
}

#[test]
fn what_is_not_there_is_a_problem_as_well() {
    let desk = Desk::unasked();
    let missing = desk.get("/nope", None);
    assert_eq!(
        (missing.status, missing.code().as_str()),
        (404, "http.not_found")
    );
    let method = desk.send("DELETE", "/api/v1/refunds", &[], b"");
    assert_eq!(
        (method.status, method.code().as_str()),
        (405, "http.method_not_allowed")
    );
    let correlated = desk.send("GET", "/nope", &[("x-correlation-id", "case-7")], b"");
    assert_eq!(correlated.json()["correlationId"], "case-7");
    let hostile = desk.send("GET", "/nope", &[("x-correlation-id", "a b<script>")], b"");
    assert_ne!(hostile.json()["correlationId"], "a b<script>");
}

/// What a caller may not use is told from what nobody has by nothing: not by the status, not by a header, not by the body.
#[test]
fn what_a_caller_may_not_use_is_absent_when_only_the_permitted_is_visible() {
    let desk = Desk::start(&["--confirmation", "annotate", "--visibility", "permitted"]);
    for authorization in [
        Some("Bearer agent-token"),
        Some("Bearer nobodys-token"),
        Some("Basic x"),
        None,
    ] {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
            let answer = |path: &str| {
                let mut headers = vec![
                    ("content-type", "application/json"),
                    ("idempotency-key", "k"),
                ];
                headers.extend(authorization.map(|a| ("authorization", a)));
                desk.send(method, path, &headers, REFUND.as_bytes())
                    .telling()
            };
            let (hidden, absent) = (answer("/api/v1/refunds"), answer("/api/v1/nothing"));
            assert_eq!(hidden, absent, "{method} as {authorization:?}");
            let known = authorization == Some("Bearer agent-token");
            assert_eq!(hidden.0, if known { 404 } else { 401 });
        }
    }
    assert_eq!(
        desk.send(
            "POST",
            "/mcp",
            &[("content-type", "application/json")],
            b"{}"
        )
        .status,
        401
    );
    let metadata = desk
        .get("/.well-known/oauth-protected-resource", None)
        .json();
    assert!(metadata.get("scopes_supported").is_none(), "{metadata}");
    assert_eq!(desk.effects(), (0, 0));
    // Whoever may use it sees it, and which methods it has.
    let permitted = [("authorization", "Bearer refund-agent-token")];
    let method = desk.send("DELETE", "/api/v1/refunds", &permitted, b"");
    assert_eq!(
        (method.code().as_str(), method.header("allow")),
        ("http.method_not_allowed", Some("POST"))
    );
    let read = desk.send("HEAD", "/api/v1/tickets", &permitted, b"");
    assert_eq!((read.status, read.body.len()), (200, 0));
    let written = desk.send("POST", "/api/v1/tickets", &permitted, b"");
    assert_eq!(
        (written.status, written.header("allow")),
        (405, Some("GET, HEAD"))
    );
    assert_eq!(desk.refund("refund-agent-token", "k", REFUND).status, 200);
}

/// A page that has rebound its name to this machine sends that name; a page from elsewhere sends its origin. Neither gets anywhere.
#[test]
fn no_address_answers_to_a_foreign_name_or_a_foreign_page() {
    let desk = Desk::unasked();
    let bearer = ("authorization", "Bearer manager-token");
    let json = ("content-type", "application/json");
    let key = ("idempotency-key", "k");
    let addresses = [
        ("POST", "/api/v1/refunds"),
        ("GET", "/api/v1/tickets"),
        ("GET", "/flowx/manifest"),
        ("GET", "/flowx/proposals"),
        ("POST", "/flowx/proposals/1/approve"),
        ("GET", "/flowx/confirm/1"),
        ("GET", "/flowx/events"),
        ("GET", "/flowx/audit"),
        ("GET", "/.well-known/oauth-protected-resource"),
        ("GET", "/.well-known/oauth-protected-resource/mcp"),
        ("GET", "/desk/counters"),
        ("POST", "/mcp"),
        ("GET", "/nope"),
    ];
    let port = desk.address().rsplit_once(':').unwrap().1.to_owned();
    for (method, path) in addresses {
        for host in [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            format!("127.0.0.1:{port}.evil.example"),
        ] {
            let answer = desk.send_to(&host, method, path, &[bearer, json, key], REFUND.as_bytes());
            let code = answer.code();
            assert!(
                ["http.host_not_allowed", "http.head_malformed"].contains(&code.as_str()),
                "{path} {host} {code}"
            );
            assert!(answer.header("www-authenticate").is_none());
        }
        let origin = ("origin", "http://evil.example");
        let answer = desk.send(
            method,
            path,
            &[bearer, json, key, origin],
            REFUND.as_bytes(),
        );
        assert_eq!(answer.code(), "http.origin_not_allowed", "{path}");
    }
    assert_eq!(desk.effects(), (0, 0));
    // Whatever watches over the server asks by address, and a page of its own may do what its user may.
    let health = desk.send_to("10.0.0.7:1", "GET", "/flowx/health", &[], b"");
    assert_eq!(health.status, 200);
    let own = format!("http://{}", desk.address());
    let refund = desk.send(
        "POST",
        "/api/v1/refunds",
        &[bearer, json, key, ("origin", &own)],
        REFUND.as_bytes(),
    );
    assert_eq!(refund.status, 200, "{refund:?}");
    assert_eq!(desk.effects(), (1, 1));
}

#[test]
fn a_desk_that_is_told_to_stop_ends_well() {
    let desk = Desk::unasked();
    assert_eq!(desk.refund("support-token", "k", REFUND).status, 200);
    assert_eq!(desk.terminate(), Some(0));
}
