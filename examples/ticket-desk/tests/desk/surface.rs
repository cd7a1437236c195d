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

#[test]
fn what_a_caller_may_not_use_is_absent_when_only_the_permitted_is_visible() {
    let desk = Desk::start(&["--confirmation", "annotate", "--visibility", "permitted"]);
    let agent = desk.refund("agent-token", "k", REFUND);
    assert_eq!((agent.status, agent.code().as_str()), (404, "flow.unknown"));
    let nobody = desk.get("/api/v1/tickets", None);
    assert_eq!(
        (nobody.status, nobody.code().as_str()),
        (401, "authorization.not_authenticated")
    );
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
    assert_eq!(desk.refund("refund-agent-token", "k", REFUND).status, 200);
}

#[test]
fn a_desk_that_is_told_to_stop_ends_well() {
    let desk = Desk::unasked();
    assert_eq!(desk.refund("support-token", "k", REFUND).status, 200);
    assert_eq!(desk.terminate(), Some(0));
}
