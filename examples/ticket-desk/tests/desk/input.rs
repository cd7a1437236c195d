//! Bad input of every sort at the edge.

use crate::support::{Answer, Desk, REFUND};

fn post(desk: &Desk, body: &[u8]) -> Answer {
    let headers = [
        ("authorization", "Bearer support-token"),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    desk.send("POST", "/api/v1/refunds", &headers, body)
}

fn with(member: &str) -> String {
    format!("{{{member},\"amount_cents\":500,\"cardholder_reference\":\"DE-7\"}}")
}

#[test]
fn bytes_that_are_no_trustworthy_json_are_refused_and_nothing_happens() {
    let desk = Desk::unasked();
    let deep = format!("{}{}", "[".repeat(70), "]".repeat(70));
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", b"".to_vec()),
        ("not JSON", b"{".to_vec()),
        ("two documents", format!("{REFUND}{REFUND}").into_bytes()),
        (
            "a byte order mark",
            format!("\u{feff}{REFUND}").into_bytes(),
        ),
        (
            "a duplicate key",
            with(r#""ticket_id":"T-1001","ticket_id":"T-1002""#).into_bytes(),
        ),
        (
            "a duplicate key in disguise",
            with(r#""ticket_id":"T-1001","ticket\u005fid":"T-1002""#).into_bytes(),
        ),
        ("a NUL", with(r#""ticket_id":"T-1001\u0000""#).into_bytes()),
        (
            "half a surrogate pair",
            with(r#""ticket_id":"\ud800""#).into_bytes(),
        ),
        (
            "invalid UTF-8",
            [br#"{"ticket_id":""#.as_slice(), b"\xff\"}"].concat(),
        ),
        (
            "a huge exponent",
            REFUND.replace("500", "5e999999999").into_bytes(),
        ),
        (
            "a huge number",
            REFUND.replace("500", &"9".repeat(100)).into_bytes(),
        ),
        ("too deep", REFUND.replace("500", &deep).into_bytes()),
    ];
    for (what, body) in cases {
        let answer = post(&desk, &body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "input.invalid"),
            "{what}: {answer:?}"
        );
    }
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn a_body_that_is_too_large_is_refused_by_its_head_or_while_it_comes() {
    let desk = Desk::unasked();
    let large = format!("{{\"ticket_id\":\"{}\"}}", "x".repeat(2 << 20));
    let declared = post(&desk, large.as_bytes());
    assert_eq!(
        (declared.status, declared.code().as_str()),
        (413, "input.too_large")
    );
    let mut chunked = format!(
        "POST /api/v1/refunds HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer support-token\r\n\
         content-type: application/json\r\nidempotency-key: k\r\ntransfer-encoding: chunked\r\n\r\n",
        desk.address()
    )
    .into_bytes();
    chunked.extend(format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len()).into_bytes());
    let chunked = desk.raw(&chunked);
    assert_eq!(
        (chunked.status, chunked.code().as_str()),
        (413, "input.too_large")
    );
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn an_input_beside_its_contract_is_refused_with_every_failing_path() {
    let desk = Desk::unasked();
    let cases: [(&str, &[&str]); 8] = [
        (
            r#"{"ticket_id":"T-1001","amount_cents":500,"cardholder_reference":"x","note":"y"}"#,
            &["/note"],
        ),
        (
            r#"{"ticket_id":"T-1001","amount_cents":"500","cardholder_reference":"x"}"#,
            &["/amount_cents"],
        ),
        (
            r#"{"ticket_id":"T-1001","amount_cents":5.5,"cardholder_reference":"x"}"#,
            &["/amount_cents"],
        ),
        (
            r#"{"ticket_id":"T-1001","amount_cents":-5,"cardholder_reference":"x"}"#,
            &["/amount_cents"],
        ),
        (
            r#"{"ticket_id":"T-1001","amount_cents":0,"cardholder_reference":"x"}"#,
            &["/amount_cents"],
        ),
        (
            r#"{"ticket_id":7,"amount_cents":null,"cardholder_reference":[]}"#,
            &["/amount_cents", "/cardholder_reference", "/ticket_id"],
        ),
        (
            r#"{"amount_cents":true}"#,
            &["/amount_cents", "/cardholder_reference", "/ticket_id"],
        ),
        (r#"["T-1001"]"#, &[""]),
    ];
    for (body, paths) in cases {
        let answer = post(&desk, body.as_bytes());
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "input.invalid"),
            "{body}: {answer:?}"
        );
        let mut found = answer.paths();
        found.sort();
        assert_eq!(found, paths, "{body}: {answer:?}");
    }
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn a_secret_that_was_sent_is_in_no_answer() {
    let desk = Desk::unasked();
    for body in [
        r#"{"ticket_id":"T-1001","amount_cents":"x","cardholder_reference":"SWORDFISH"}"#,
        r#"{"ticket_id":"T-1001","amount_cents":5,"cardholder_reference":{"a":"SWORDFISH"}}"#,
        r#"{"ticket_id":"T-0000","amount_cents":5,"cardholder_reference":"SWORDFISH"}"#,
    ] {
        let answer = post(&desk, body.as_bytes());
        assert!(answer.status >= 400);
        assert!(
            !String::from_utf8_lossy(&answer.body).contains("SWORDFISH"),
            "{answer:?}"
        );
    }
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn another_media_type_and_an_unknown_parameter_are_refused() {
    let desk = Desk::unasked();
    let form = [
        ("authorization", "Bearer support-token"),
        ("content-type", "text/plain"),
        ("idempotency-key", "k"),
    ];
    let answer = desk.send("POST", "/api/v1/refunds", &form, REFUND.as_bytes());
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (415, "input.unsupported_media_type")
    );
    let json = [
        ("authorization", "Bearer support-token"),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let answer = desk.send(
        "POST",
        "/api/v1/refunds?dry_run=true",
        &json,
        REFUND.as_bytes(),
    );
    assert_eq!(
        (answer.status, answer.paths()),
        (400, vec!["/dry_run".to_owned()])
    );
    let answer = desk.send(
        "POST",
        "/api/v1/refunds?ticket_id=T-1002",
        &json,
        REFUND.as_bytes(),
    );
    assert_eq!(
        (answer.status, answer.paths()),
        (400, vec!["/ticket_id".to_owned()]),
        "given twice"
    );
    assert_eq!(desk.effects(), (0, 0));
}

#[test]
fn query_parameters_are_read_as_the_contract_says() {
    let desk = Desk::unasked();
    let found = |query: &str| {
        let answer = desk.get(&format!("/api/v1/tickets{query}"), Some("agent-token"));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["tickets"].as_array().unwrap().len()
    };
    assert_eq!(found(""), 10);
    assert_eq!(found("?text=kettle"), 1);
    assert_eq!(found("?text=t-1003"), 1);
    assert_eq!(found("?text=%C3%A4"), 0);
    for wrong in ["?text=%ff", "?text=%", "?text=a&text=b", "?page=1"] {
        let answer = desk.get(&format!("/api/v1/tickets{wrong}"), Some("agent-token"));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "input.invalid"),
            "{wrong}"
        );
    }
}

/// `500.0` and `5e2` are five hundred: to the contract, to the handler, and to the key that a repeated call comes under.
#[test]
fn a_whole_number_is_the_same_number_however_it_is_written() {
    let desk = Desk::unasked();
    let mut first = None;
    for amount in ["500.0", "5e2", "500", "0.5e3"] {
        let answer = post(&desk, REFUND.replace("500", amount).as_bytes());
        assert_eq!(answer.status, 200, "{amount}: {answer:?}");
        let body = first.get_or_insert_with(|| answer.body.clone());
        assert_eq!(answer.body, *body, "the recorded answer, {amount}");
    }
    assert_eq!(desk.effects(), (1, 1));
    let half = desk.refund("support-token", "k2", &REFUND.replace("500", "500.5"));
    assert_eq!(
        (half.code().as_str(), half.paths()),
        ("input.invalid", vec!["/amount_cents".to_owned()])
    );
    assert_eq!(desk.effects(), (1, 1));
}
