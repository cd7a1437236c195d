//! The graph in its four forms, and what two of them say about a change.
#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;

#[test]
fn every_form_names_every_node() {
    let sandbox = Sandbox::desk();
    for form in ["mermaid", "dot", "svg", "html"] {
        let run = sandbox.flowx(&["graph", "--format", form]).ok();
        for node in [
            "desk-bot",
            "ticket.refund@1",
            "ticket.search@1",
            "payment.reverse@1",
            "payment.refund",
            "ledger",
            "payment-gateway",
        ] {
            assert!(
                run.stdout.contains(node),
                "{form} has no {node}:\n{}",
                run.stdout
            );
        }
        // The ending of the file decides as well, and the bytes are the same.
        let ending = if form == "mermaid" { "mmd" } else { form };
        let file = format!("graph.{ending}");
        sandbox.flowx(&["graph", "--out", &file]).ok();
        assert_eq!(sandbox.read(&file), run.stdout);
        sandbox.flowx(&["graph", "--out", &file]).exits(3);
    }
    assert_eq!(
        sandbox.flowx(&["graph"]).ok().stdout,
        sandbox.read("graph.mmd")
    );
}

#[test]
fn the_page_fetches_nothing() {
    let page = Sandbox::desk()
        .flowx(&["graph", "--format", "html"])
        .ok()
        .stdout;
    assert!(page.contains("default-src 'none'"));
    for word in [
        "src=",
        "href=",
        "@import",
        "url(http",
        "fetch(",
        "XMLHttpRequest",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    let addresses: Vec<&str> = page
        .match_indices("http")
        .map(|(at, _)| &page[at..(at + 30).min(page.len())])
        .collect();
    // The name of the SVG namespace is no address that anything is fetched from; `http-equiv` is none at all.
    assert!(
        addresses
            .iter()
            .all(|a| a.starts_with("http://www.w3.org/2000/svg") || a.starts_with("http-equiv")),
        "{addresses:?}"
    );
}

#[test]
fn two_sources_colour_what_was_added_changed_and_removed() {
    let sandbox = Sandbox::desk();
    sandbox.edit(
        "src/main.rs",
        "authorization = permission(\"payment.refund\")",
        "authorization = permission(\"refund.issue\")",
    );
    sandbox.edit(
        "src/main.rs",
        "deadline = \"PT30S\"",
        "deadline = \"PT20S\"",
    );
    let page = sandbox
        .flowx(&["graph", "git:HEAD", ".", "--format", "html"])
        .ok()
        .stdout;
    for (node, change) in [
        ("permission refund.issue", "permission added"),
        ("permission payment.refund", "permission removed"),
        ("flow ticket.refund@1", "flow changed"),
        ("flow ticket.search@1", "flow same"),
    ] {
        assert!(
            page.contains(&format!("class=\"node {change}\" data-id=\"{node}\"")),
            "{node} is not {change}"
        );
    }
    assert!(page.contains("1 added") && page.contains("1 removed"));
    let mermaid = sandbox.flowx(&["graph", "git:HEAD", "."]).ok().stdout;
    assert!(mermaid.contains("classDef added") && mermaid.contains("classDef removed"));
    // Of one manifest nothing is new.
    assert!(!sandbox.flowx(&["graph"]).ok().stdout.contains("classDef"));
}

#[test]
fn text_from_a_manifest_stays_text() {
    let sandbox = Sandbox::desk();
    // A manifest from elsewhere holds what our own sources may not.
    let hostile =
        serde_json::to_string("</title><script>alert(1)</script>\" ' & %% \u{202e}").unwrap();
    sandbox.edit(
        "flowx.manifest.json",
        "\"purpose\":\"Answers tickets\"",
        &format!("\"purpose\":{hostile}"),
    );
    sandbox.edit(
        "flowx.manifest.json",
        "\"sponsor\":\"lead\"",
        &format!("\"sponsor\":{hostile}"),
    );
    for form in ["mermaid", "dot", "svg", "html"] {
        let text = sandbox
            .flowx(&["graph", "flowx.manifest.json", "--format", form])
            .ok()
            .stdout;
        // In DOT a label is a quoted string, and that is text.
        assert!(form == "dot" || !text.contains("<script>alert"), "{form}");
        assert!(!text.contains('\u{202e}'), "{form}");
    }
    let dot = sandbox
        .flowx(&["graph", "flowx.manifest.json", "--format", "dot"])
        .ok()
        .stdout;
    assert!(
        dot.contains("\\\" '"),
        "a quotation mark ends the label:\n{dot}"
    );
}
