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
fn a_tall_picture_shows_something_of_every_column_at_its_top_and_what_changed_first() {
    let sandbox = Sandbox::desk();
    let many: String = (0..80)
        .map(|i| format!("/// Does.\n#[capability(id = \"many.do{i:02}\", version = \"1.0.0\", authorization = internal, idempotent = true)]\nasync fn do{i}(cx: &Cx<do{i}>, id: IssueRefund) -> Result<IssueRefund, RefundError> {{ Ok(id) }}\n"))
        .collect();
    sandbox.write("src/main.rs", &format!("{}{many}", common::DESK));
    sandbox.commit("many");
    sandbox.edit(
        "src/main.rs",
        "\"many.do79\", version = \"1.0.0\", authorization = internal",
        "\"many.do79\", version = \"1.0.0\", authorization = authenticated",
    );
    let svg = sandbox
        .flowx(&["graph", "git:HEAD", ".", "--format", "svg"])
        .ok()
        .stdout;
    let top = |node: &str| -> f64 {
        let (_, rest) = svg.split_once(&format!("data-id=\"{node}\"")).unwrap();
        let (_, y) = rest.split_once(" y=\"").unwrap();
        y.split('"').next().unwrap().parse().unwrap()
    };
    for node in ["agent desk-bot", "flow ticket.refund@1", "effect ledger"] {
        assert!(top(node) < 500.0, "{node} at {}", top(node));
    }
    let changed = top("capability many.do79@1");
    assert!((0..79).all(|i| top(&format!("capability many.do{i:02}@1")) > changed));
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
