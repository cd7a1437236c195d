//! The desk's review of itself, and what the caller's own model is asked about it.

use serde_json::{Value, json};

use crate::support::Desk;

const MANAGER: Option<&str> = Some("Bearer manager-token");
const SAMPLING: &str = r#"{"sampling":{}}"#;

/// The result of the review, asked to narrate.
fn review(desk: &Desk, more: &str, capabilities: &str) -> Value {
    let params = format!(r#""arguments":{{"narrate":true}}{more}"#);
    let text = desk.mcp_call_with(MANAGER, "ops_review", &params, capabilities);
    serde_json::from_str::<Value>(&text).unwrap()["result"].clone()
}

#[test]
fn what_a_model_is_asked_follows_from_the_manifest_byte_for_byte() {
    // Two processes with two stores, each asked twice.
    let desks = [Desk::start(&[]), Desk::start(&["--confirmation", "gate"])];
    let mut asked = Vec::new();
    for desk in &desks {
        for _ in 0..2 {
            let result = review(desk, "", SAMPLING);
            assert_eq!(result["resultType"], "input_required", "{result}");
            asked.push(result["inputRequests"]["model"].to_string());
        }
    }
    assert!(asked.iter().all(|a| *a == asked[0]), "{asked:?}");

    let manifest = desks[0].get("/flowx/manifest", Some("manager-token")).body;
    let manifest = flowx_manifest::Manifest::read(&manifest).unwrap();
    let prompt = flowx_diff::review(&manifest).to_prompt();
    let expected = json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
            "maxTokens": 1000,
            "includeContext": "none",
        },
    });
    assert_eq!(serde_json::from_str::<Value>(&asked[0]).unwrap(), expected);
    for desk in &desks {
        assert_eq!(desk.effects(), (0, 0));
    }
}

#[test]
fn an_answer_of_the_callers_model_stands_beside_the_report_and_never_in_it() {
    let desk = Desk::start(&[]);
    let state = review(&desk, "", SAMPLING)["requestState"].clone();
    let answer = json!({ "model": { "role": "assistant", "model": "m", "content": { "type": "text", "text": "All is well." } } });
    let more = format!(r#","inputResponses":{answer},"requestState":{state}"#);
    let done = review(&desk, &more, SAMPLING);
    assert_eq!(
        done["structuredContent"]["narration"], "All is well.",
        "{done}"
    );

    // A caller without a model gets the same report, and is told why there is nothing beside it.
    let plain = review(&desk, "", "{}");
    assert_eq!(
        plain["structuredContent"]["report"],
        done["structuredContent"]["report"]
    );
    assert_eq!(
        plain["structuredContent"]["not_narrated"],
        "the caller has no model that can be asked in the middle of a call"
    );
    assert_eq!(desk.effects(), (0, 0));
}
