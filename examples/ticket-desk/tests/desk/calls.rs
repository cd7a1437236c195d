//! Who may, once, and with which answer.

use crate::support::{Desk, REFUND};

#[test]
fn a_caller_without_the_permission_is_refused_by_the_same_code_whoever_it_is() {
    let desk = Desk::unasked();
    let agent = desk.refund("agent-token", "k", REFUND);
    assert_eq!(
        (agent.status, agent.code().as_str()),
        (403, "authorization.permission_denied")
    );
    let challenge = agent.header("www-authenticate").unwrap();
    assert!(
        challenge.contains(r#"error="insufficient_scope""#)
            && challenge.contains(r#"scope="payment.refund""#),
        "{challenge}"
    );
    assert_eq!(desk.effects(), (0, 0));
}

/// Who may not call hears that, and not what else would be wrong with the call.
#[test]
fn a_caller_who_may_not_hears_so_before_anything_about_the_call() {
    let desk = Desk::unasked();
    let json = ("content-type", "application/json");
    for (token, status, code) in [
        (
            Some("Bearer agent-token"),
            403,
            "authorization.permission_denied",
        ),
        (None, 401, "authorization.not_authenticated"),
    ] {
        for body in [REFUND, "{}", "{", r#"{"amount_cents":"many"}"#] {
            let bearer = token.map(|t| ("authorization", t));
            let headers: Vec<_> = [json].into_iter().chain(bearer).collect();
            let answer = desk.send("POST", "/api/v1/refunds", &headers, body.as_bytes());
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (status, code),
                "{body}"
            );
        }
        let call = desk.mcp_call(token, "ticket_refund", "{}");
        assert!(call.contains(code), "{call}");
    }
    let permitted = [json, ("authorization", "Bearer support-token")];
    let answer = desk.send("POST", "/api/v1/refunds", &permitted, REFUND.as_bytes());
    assert_eq!(answer.code(), "http.idempotency_key_required");
    let call = desk.mcp_call(Some("Bearer support-token"), "ticket_refund", "{}");
    assert!(call.contains("input.invalid"), "{call}");
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn nobody_and_a_bad_token_are_told_how_to_become_somebody() {
    let desk = Desk::unasked();
    let json = ("content-type", "application/json");
    let key = ("idempotency-key", "k");
    let nobody = desk.send("POST", "/api/v1/refunds", &[json, key], REFUND.as_bytes());
    assert_eq!(
        (nobody.status, nobody.code().as_str()),
        (401, "authorization.not_authenticated")
    );
    let challenge = nobody.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("resource_metadata=\"http://") && !challenge.contains("error="),
        "{challenge}"
    );
    for authorization in [
        "Bearer refund-agent-toke",
        "Bearer refund-agent-token2",
        "Basic c3VwcG9ydC10b2tlbg==",
        "Bearer",
    ] {
        let answer = desk.send(
            "POST",
            "/api/v1/refunds",
            &[json, key, ("authorization", authorization)],
            REFUND.as_bytes(),
        );
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "authorization.not_authenticated"),
            "{authorization}"
        );
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .contains(r#"error="invalid_token""#)
        );
    }
    let twice = [
        json,
        key,
        ("authorization", "Bearer support-token"),
        ("authorization", "Bearer agent-token"),
    ];
    assert_eq!(
        desk.send("POST", "/api/v1/refunds", &twice, REFUND.as_bytes())
            .code(),
        "http.head_malformed"
    );
    let in_query = desk.send(
        "POST",
        "/api/v1/refunds?access_token=support-token",
        &[json, key, ("authorization", "Bearer support-token")],
        REFUND.as_bytes(),
    );
    assert_eq!(
        in_query.status, 401,
        "a token in the address is refused, whatever else came"
    );
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn a_refund_is_issued_once() {
    let desk = Desk::unasked();
    let first = desk.refund("refund-agent-token", "k1", REFUND);
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(first.json()["ticket_id"], "T-1001");
    assert!(first.json()["refund_reference"].is_string());
    assert_eq!(desk.effects(), (1, 1));
    let again = desk.refund("support-token", "k2", REFUND);
    assert_eq!(
        (again.status, again.code().as_str()),
        (409, "refund.already_issued")
    );
    assert_eq!(desk.effects(), (1, 1));
}

#[test]
fn a_restart_forgets_no_refund() {
    let desk = Desk::unasked();
    let first = desk.refund("support-token", "k1", REFUND);
    assert_eq!(first.status, 200, "{first:?}");
    let desk = desk.again(&["--confirmation", "annotate"]);
    let repeated = desk.refund("support-token", "k1", REFUND);
    assert_eq!((repeated.status, &repeated.body), (200, &first.body));
    let again = desk.refund("support-token", "k2", REFUND);
    assert_eq!(
        (again.status, again.code().as_str()),
        (409, "refund.already_issued")
    );
    assert_eq!(desk.effects(), (0, 0), "nothing has happened since");
    let other = desk.refund("support-token", "k3", &REFUND.replace("T-1001", "T-1002"));
    assert_ne!(
        other.json()["refund_reference"],
        first.json()["refund_reference"]
    );
}

#[cfg(unix)]
#[test]
fn what_callers_have_sent_is_read_by_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::unasked();
    assert_eq!(desk.refund("support-token", "k1", REFUND).status, 200);
    for name in ["ticket-desk.db", "ticket-desk.db-wal", "ticket-desk.db-shm"] {
        let rights = std::fs::metadata(desk.file(name)).unwrap().permissions();
        assert_eq!(rights.mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_the_desk_refuses_itself_has_its_own_code() {
    let desk = Desk::unasked();
    for (body, status, code) in [
        (REFUND.replace("T-1001", "T-9999"), 404, "ticket.not_found"),
        (
            REFUND.replace("T-1001", "T-1001\u{202e}"),
            404,
            "ticket.not_found",
        ),
        (
            REFUND.replace("500", "12901"),
            400,
            "refund.amount_out_of_range",
        ),
        (REFUND.replace("DE-7", " "), 400, "refund.no_cardholder"),
    ] {
        let answer = desk.refund("support-token", "k", &body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{body}"
        );
    }
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn the_same_key_and_input_is_answered_with_the_recorded_answer() {
    let desk = Desk::unasked();
    let first = desk.refund("support-token", "k1", REFUND);
    let spaced = REFUND.replace(",", " , ");
    let again = desk.refund("support-token", "k1", &spaced);
    assert_eq!((first.status, again.status), (200, 200));
    assert_eq!(first.body, again.body);
    assert_eq!(
        (
            first.header("idempotency-replayed"),
            again.header("idempotency-replayed")
        ),
        (None, Some("true"))
    );
    let other = desk.refund("support-token", "k1", &REFUND.replace("500", "501"));
    assert_eq!(
        (other.status, other.code().as_str()),
        (422, "idempotency.key_reused")
    );
    let somebody_else = desk.refund("manager-token", "k1", &REFUND.replace("T-1001", "T-1002"));
    assert_eq!(somebody_else.status, 200, "a key is its caller's alone");
    assert_eq!(desk.effects(), (2, 2));
}

#[test]
fn a_key_is_demanded_and_has_to_be_one() {
    let desk = Desk::unasked();
    let known = ("authorization", "Bearer support-token");
    let json = ("content-type", "application/json");
    let long = "k".repeat(300);
    for (keys, code) in [
        (vec![], "http.idempotency_key_required"),
        (
            vec![("idempotency-key", "")],
            "http.idempotency_key_invalid",
        ),
        (
            vec![("idempotency-key", long.as_str())],
            "http.idempotency_key_invalid",
        ),
        (
            vec![("idempotency-key", "a"), ("idempotency-key", "b")],
            "http.idempotency_key_invalid",
        ),
    ] {
        let headers: Vec<_> = [known, json].into_iter().chain(keys).collect();
        let answer = desk.send("POST", "/api/v1/refunds", &headers, REFUND.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (400, code));
    }
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn a_refused_call_gives_its_key_back() {
    let desk = Desk::unasked();
    let refused = desk.refund("support-token", "k", &REFUND.replace("T-1001", "T-9999"));
    assert_eq!(refused.status, 404);
    assert_eq!(
        desk.refund("support-token", "k", REFUND).status,
        200,
        "nothing had been done under it"
    );
    assert_eq!(desk.effects(), (1, 1));
}

#[test]
fn twenty_identical_calls_at_once_are_one_refund() {
    let desk = Desk::unasked();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..20)
            .map(|_| scope.spawn(|| desk.refund("support-token", "k", REFUND).status))
            .collect();
        calls.into_iter().map(|c| c.join().unwrap()).collect()
    });
    assert!(
        statuses.iter().all(|s| [200, 409].contains(s)) && statuses.contains(&200),
        "{statuses:?}"
    );
    assert_eq!(desk.effects(), (1, 1));
}

#[test]
fn an_agent_that_cannot_be_asked_is_refused_and_a_person_is_not_asked() {
    let desk = Desk::start(&[]);
    let agent = desk.refund("refund-agent-token", "k", REFUND);
    assert_eq!(
        (agent.status, agent.code().as_str()),
        (403, "mcp.confirmation_refused"),
        "{agent:?}"
    );
    let unpermitted = desk.refund("agent-token", "k", REFUND);
    assert_eq!(
        unpermitted.code(),
        "authorization.permission_denied",
        "nobody is asked about what would be refused"
    );
    assert_eq!(desk.effects(), (0, 0));
    assert_eq!(desk.refund("support-token", "k", REFUND).status, 200);
    assert_eq!(desk.effects(), (1, 1));
}

#[test]
fn the_surface_is_reviewed_for_whoever_may_and_a_caller_without_a_model_is_told_so() {
    let desk = Desk::start(&[]);
    let review = |token: &str, body: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        desk.send("POST", "/api/v1/review", &headers, body.as_bytes())
    };
    assert_eq!(
        review("support-token", "{}").code(),
        "authorization.permission_denied"
    );
    let plain = review("manager-token", "{}").json();
    let narrated = review("manager-token", r#"{"narrate":true}"#).json();
    assert!(
        plain["report"].as_str().is_some_and(|r| !r.is_empty()),
        "{plain}"
    );
    assert_eq!(plain["report"], narrated["report"]);
    assert_eq!(plain.get("not_narrated"), None);
    assert_eq!(
        narrated["not_narrated"],
        "the caller has no model that can be asked in the middle of a call"
    );
    assert_eq!(desk.effects(), (0, 0));
}
