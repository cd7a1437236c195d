//! What an agent reads is what a person reviewed, byte for byte.

use flowx_manifest::Kind;
use flowx_runtime::Visibility;
use flowx_runtime::mcp::McpOptions;
use serde_json::json;

use crate::support::{Answer, Desk, ERAS, Era, desk};

/// The bytes between `"tools":[` and its `]`, found without reading JSON: a reader could hide a difference.
fn listed(answer: &Answer) -> Vec<String> {
    let message = answer.messages().pop().unwrap();
    let start = message.find(r#""tools":["#).unwrap() + r#""tools":["#.len();
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let (mut items, mut from) = (Vec::new(), start);
    for (at, c) in message[start..].char_indices().map(|(i, c)| (start + i, c)) {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => depth += 1,
            ']' if depth == 0 => {
                items.extend((at > from).then(|| message[from..at].to_owned()));
                return items;
            }
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                items.push(message[from..at].to_owned());
                from = at + 1;
            }
            _ => {}
        }
    }
    panic!("the list does not end: {message}");
}

fn expected(desk: &Desk, names: &[&str]) -> Vec<String> {
    desk.descriptors()
        .into_iter()
        .filter(|(name, _)| names.contains(name))
        .map(|(_, text)| text.to_owned())
        .collect()
}

#[tokio::test]
async fn every_descriptor_on_the_wire_stands_in_the_embedded_document() {
    let desk = desk(Visibility::All, McpOptions::default());
    for era in ERAS {
        let answer = desk.ask(era, "clerk", "tools/list", json!({})).await;
        assert_eq!(answer.is_stream(), era == Era::Legacy);
        let listed = listed(&answer);
        assert_eq!(listed.len(), 8, "{era:?}");
        for descriptor in &listed {
            assert!(
                desk.text.contains(descriptor.as_str()),
                "{era:?} {descriptor}"
            );
        }
        assert_eq!(
            listed,
            desk.descriptors().iter().map(|d| d.1).collect::<Vec<_>>(),
            "{era:?}"
        );
        assert!(
            !answer.messages().concat().contains("flowx:"),
            "a mark was sent"
        );
    }
}

#[tokio::test]
async fn what_a_caller_may_not_use_is_not_listed_and_the_rest_keeps_its_bytes() {
    let desk = desk(Visibility::Permitted, McpOptions::default());
    for era in ERAS {
        let clerk = listed(&desk.ask(era, "clerk", "tools/list", json!({})).await);
        assert_eq!(
            clerk,
            expected(
                &desk,
                &[
                    "desk_echo",
                    "desk_echo_1",
                    "desk_count",
                    "desk_wide",
                    "desk_narrate"
                ]
            )
        );
        let manager = listed(&desk.ask(era, "manager", "tools/list", json!({})).await);
        assert_eq!(
            manager,
            desk.descriptors().iter().map(|d| d.1).collect::<Vec<_>>()
        );
    }
}

#[tokio::test]
async fn every_resource_is_the_document_or_a_slice_of_it() {
    let desk = desk(Visibility::All, McpOptions::default());
    for era in ERAS {
        let list = desk
            .ask(era, "manager", "resources/list", json!({}))
            .await
            .result();
        let uris: Vec<&str> = list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["uri"].as_str().unwrap())
            .collect();
        assert_eq!(
            uris,
            [
                "flowx://manifest",
                "flowx://flow/desk.count",
                "flowx://flow/desk.echo@1",
                "flowx://flow/desk.echo",
                "flowx://flow/desk.narrate",
                "flowx://flow/desk.wide",
                "flowx://flow/ticket.asked",
                "flowx://flow/ticket.narrated",
                "flowx://flow/ticket.refund"
            ]
        );
        for (resource, uri) in list["resources"].as_array().unwrap().iter().zip(&uris) {
            let read = desk
                .ask(era, "manager", "resources/read", json!({ "uri": uri }))
                .await
                .result();
            let text = read["contents"][0]["text"].as_str().unwrap();
            assert_eq!(read["contents"][0]["uri"], *uri);
            assert_eq!(resource["size"], text.len());
            let slice = match *uri {
                "flowx://manifest" => desk.text,
                "flowx://flow/desk.echo@1" => desk
                    .core
                    .embedded()
                    .entry(Kind::Flow, "desk.echo@1.0.0")
                    .unwrap(),
                "flowx://flow/desk.echo" => desk
                    .core
                    .embedded()
                    .entry(Kind::Flow, "desk.echo@2.0.0")
                    .unwrap(),
                uri => desk
                    .core
                    .embedded()
                    .entry(
                        Kind::Flow,
                        &format!("{}@1.0.0", &uri["flowx://flow/".len()..]),
                    )
                    .unwrap(),
            };
            assert_eq!(text, slice, "{era:?} {uri}");
        }
    }
}

#[tokio::test]
async fn a_resource_follows_the_rule_that_its_tool_follows() {
    for (visibility, token, refund, manifest) in [
        (Visibility::Permitted, "clerk", false, false),
        (Visibility::Permitted, "manager", true, true),
        (Visibility::All, "clerk", true, false),
        (Visibility::All, "manager", true, true),
    ] {
        let desk = desk(visibility, McpOptions::default());
        for era in ERAS {
            let list = desk
                .ask(era, token, "resources/list", json!({}))
                .await
                .result();
            let listed = |uri: &str| {
                list["resources"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|r| r["uri"] == uri)
            };
            for (uri, expected) in [
                ("flowx://flow/ticket.refund", refund),
                ("flowx://manifest", manifest),
            ] {
                assert_eq!(listed(uri), expected, "{visibility:?} {token} {uri}");
                let answer = desk
                    .ask(era, token, "resources/read", json!({ "uri": uri }))
                    .await;
                assert_eq!(
                    answer.last().get("result").is_some(),
                    expected,
                    "{visibility:?} {token} {uri}"
                );
                if !expected {
                    let unknown = desk
                        .ask(
                            era,
                            token,
                            "resources/read",
                            json!({ "uri": "flowx://flow/no.such" }),
                        )
                        .await;
                    assert_eq!(
                        answer.error_code(),
                        unknown.error_code(),
                        "what is hidden is told from what is not there"
                    );
                    assert_eq!(
                        answer.error_code(),
                        if era == Era::Modern { -32602 } else { -32002 }
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_list_is_kept_for_one_caller_when_it_depends_on_the_caller() {
    for (visibility, scope) in [
        (Visibility::Permitted, "private"),
        (Visibility::All, "public"),
    ] {
        let desk = desk(visibility, McpOptions::default());
        let list = desk.modern("clerk", "tools/list", json!({})).await.result();
        assert_eq!(list["cacheScope"], scope);
        assert_eq!(list["ttlMs"], 60_000);
        assert_eq!(
            desk.modern("clerk", "resources/list", json!({}))
                .await
                .result()["cacheScope"],
            "private"
        );
    }
}

#[tokio::test]
async fn the_digest_of_what_was_reviewed_is_told_in_both_eras() {
    let desk = desk(Visibility::All, McpOptions::default());
    let digest = desk.core.embedded().digest;
    let discovered = desk
        .modern("clerk", "server/discover", json!({}))
        .await
        .result();
    assert_eq!(
        discovered["supportedVersions"],
        json!(["2025-11-25", "2026-07-28"])
    );
    assert_eq!(discovered["_meta"]["dev.flowx/manifestDigest"], digest);
    assert_eq!(
        discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "desk"
    );
    let initialized = desk.initialize("clerk", json!({})).await.result();
    assert_eq!(initialized["_meta"]["dev.flowx/manifestDigest"], digest);
    assert!(
        initialized["serverInfo"]["description"]
            .as_str()
            .unwrap()
            .contains(digest)
    );
}

#[tokio::test]
async fn a_cursor_is_refused_since_every_list_is_one_page() {
    let desk = desk(Visibility::All, McpOptions::default());
    for era in ERAS {
        for method in ["tools/list", "resources/list", "resources/templates/list"] {
            let answer = desk
                .ask(era, "clerk", method, json!({ "cursor": "x" }))
                .await;
            assert_eq!(answer.error_code(), -32602, "{era:?} {method}");
        }
    }
}
