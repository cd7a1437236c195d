//! The same desk over standard input and output.

use flowx_runtime::Visibility;
use flowx_runtime::mcp::{self, McpOptions};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio_util::sync::CancellationToken;

use crate::support::{Desk, desk, person};

struct Pipe {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: tokio::task::JoinHandle<Result<(), mcp::StdioError>>,
}

fn pipe(desk: &Desk, token: &str) -> Pipe {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    let core = desk.core.clone();
    let caller = person(token).unwrap();
    let served = tokio::spawn(async move {
        mcp::stdio(
            core,
            &McpOptions::default(),
            caller,
            (input, output),
            CancellationToken::new(),
        )
        .await
    });
    let (output, input) = tokio::io::split(ours);
    Pipe {
        input,
        output: BufReader::new(output).lines(),
        served,
    }
}

impl Pipe {
    async fn say(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn hear(&mut self) -> String {
        let line =
            tokio::time::timeout(std::time::Duration::from_secs(10), self.output.next_line());
        line.await.unwrap().unwrap().unwrap()
    }

    async fn ask(&mut self, method: &str, params: Value) -> (String, Value) {
        self.say(
            &json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string(),
        )
        .await;
        let line = self.hear().await;
        let value = serde_json::from_str(&line).unwrap();
        (line, value)
    }
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    params
}

async fn open(pipe: &mut Pipe, is_modern: bool) {
    if is_modern {
        let (_, discovered) = pipe.ask("server/discover", modern(json!({}))).await;
        assert_eq!(
            discovered["result"]["supportedVersions"],
            json!(["2025-11-25", "2026-07-28"])
        );
    } else {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let (_, opened) = pipe.ask("initialize", params).await;
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
        pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
    }
}

#[tokio::test]
async fn the_same_bytes_go_out_over_stdio() {
    let desk = desk(Visibility::All, McpOptions::default());
    for is_modern in [false, true] {
        let with = |params: Value| if is_modern { modern(params) } else { params };
        let mut pipe = pipe(&desk, "manager");
        open(&mut pipe, is_modern).await;
        let (line, _) = pipe.ask("tools/list", with(json!({}))).await;
        let all = desk
            .descriptors()
            .iter()
            .map(|d| d.1)
            .collect::<Vec<_>>()
            .join(",");
        assert!(line.contains(&format!(r#""tools":[{all}]"#)), "{line}");
        let (_, read) = pipe
            .ask("resources/read", with(json!({ "uri": "flowx://manifest" })))
            .await;
        assert_eq!(read["result"]["contents"][0]["text"], desk.text);
        let (_, called) = pipe
            .ask(
                "tools/call",
                with(json!({ "name": "desk_echo", "arguments": { "a": 1 } })),
            )
            .await;
        assert_eq!(called["result"]["structuredContent"], json!({ "a": 1 }));
        let Pipe {
            input,
            output,
            served,
        } = pipe;
        drop((input, output));
        tokio::time::timeout(std::time::Duration::from_secs(10), served)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
    }
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_and_the_next_is_served() {
    let desk = desk(Visibility::All, McpOptions::default());
    let mut pipe = pipe(&desk, "manager");
    open(&mut pipe, false).await;
    for (line, code) in [
        ("{".to_owned(), -32700),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ticket_refund","arguments":{"a":1,"a":2}}}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ticket_refund","arguments":[]}}"#.to_owned(), -32602),
        (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{}"}}}}"#, "x".repeat(2 << 20)), -32600),
    ] {
        pipe.say(&line).await;
        let answer: Value = serde_json::from_str(&pipe.hear().await).unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    assert_eq!(desk.ledger.count(), 0);
    let (_, called) = pipe
        .ask(
            "tools/call",
            json!({ "name": "ticket_refund", "arguments": {} }),
        )
        .await;
    assert_ne!(called["result"]["isError"], json!(true));
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn the_caller_over_stdio_is_the_one_that_was_configured() {
    let desk = desk(Visibility::Permitted, McpOptions::default());
    let mut pipe = pipe(&desk, "clerk");
    open(&mut pipe, false).await;
    let (_, called) = pipe
        .ask(
            "tools/call",
            json!({ "name": "ticket_refund", "arguments": {} }),
        )
        .await;
    assert_eq!(called["error"]["code"], -32602);
    assert_eq!(desk.ledger.count(), 0);
}
