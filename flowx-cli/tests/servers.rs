//! Running MCP servers as sources: both eras, both transports, FlowX or not, and servers that are wrong or hostile.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use common::Sandbox;
use serde_json::{Value, json};

/// How a fake server behaves.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Manner {
    /// Knows `server/discover` and wants `_meta` in every request.
    Modern,
    /// Knows `initialize` and a session only.
    Legacy,
    /// As legacy, and answers on an event stream.
    LegacyStream,
    /// Ends at a message that is not its own.
    LegacyImpatient,
    /// Wants a token.
    Guarded,
    /// Lists without end, every page under another cursor.
    Endless,
    /// Lists a page that leads to itself.
    Circle,
    /// Takes what it is sent and says nothing.
    Silent,
    /// Sends a byte now and then.
    Dripping,
    /// Sends one answer that does not end.
    Flooding,
    /// Says that the answer is longer than it is.
    CutOff,
    /// Lists what is no tool.
    Nameless,
    /// Is not MCP.
    Other,
}

/// What it answers to a message; `None` for no answer.
fn answer(
    manner: Manner,
    message: &Value,
    manifest: Option<&str>,
    pages: &mut usize,
) -> Option<Value> {
    let id = message.get("id")?;
    let method = message["method"].as_str().unwrap();
    let result = |result: Value| Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    let error = |code: i64, text: &str| {
        Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }))
    };
    let modern = !matches!(
        manner,
        Manner::Legacy | Manner::LegacyStream | Manner::LegacyImpatient
    );
    if modern
        && message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] != "2026-07-28"
    {
        return error(-32602, "no _meta");
    }
    match method {
        "server/discover" if modern => {
            result(json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} }))
        }
        "initialize" if !modern => result(
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "x", "version": "1" } }),
        ),
        "tools/list" if manner == Manner::Endless => {
            *pages += 1;
            result(json!({ "tools": [], "nextCursor": pages.to_string() }))
        }
        "tools/list" if manner == Manner::Circle => {
            result(json!({ "tools": [], "nextCursor": "again" }))
        }
        "tools/list" if manner == Manner::Nameless => {
            result(json!({ "tools": [{ "title": "x" }, 3] }))
        }
        "tools/list" => {
            *pages += 1;
            let cursor = message["params"]["cursor"].as_str();
            let tool = |name: &str| json!({ "name": name, "description": "d", "inputSchema": { "type": "object" } });
            match cursor {
                None => result(json!({ "tools": [tool("first")], "nextCursor": "2" })),
                Some(_) => result(json!({ "tools": [tool("second")] })),
            }
        }
        "resources/read" => match manifest {
            Some(text) => result(
                json!({ "contents": [{ "uri": "flowx://manifest", "mimeType": "application/json", "text": text }] }),
            ),
            None => error(-32602, "no such resource"),
        },
        _ => error(-32601, "no such method"),
    }
}

/// Serves on a port of its own until the test ends; gives the address and what was asked.
fn serve(manner: Manner, manifest: Option<String>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut pages = 0;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                head.push_str(&line.to_lowercase());
            }
            let header = |name: &str| {
                head.lines().find_map(|line| {
                    line.strip_prefix(&format!("{name}: "))
                        .map(|value| value.trim().to_owned())
                })
            };
            let length: usize = header("content-length").map_or(0, |l| l.parse().unwrap());
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let respond = |stream: &mut std::net::TcpStream,
                           status: &str,
                           kind: &str,
                           more: &str,
                           body: &str| {
                let text = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(text.as_bytes());
            };
            if head.starts_with("delete ") {
                log.lock().unwrap().push("DELETE".to_owned());
                respond(&mut stream, "200 OK", "text/plain", "", "");
                continue;
            }
            if manner == Manner::Other {
                respond(&mut stream, "200 OK", "text/html", "", "<html>hello</html>");
                continue;
            }
            let text =
                |stream: &mut std::net::TcpStream, text: &[u8]| stream.write_all(text).is_ok();
            let head_of = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
            match manner {
                Manner::Silent => {
                    std::thread::spawn(move || {
                        std::thread::sleep(std::time::Duration::from_secs(60));
                        drop(stream);
                    });
                    continue;
                }
                Manner::Dripping => {
                    std::thread::spawn(move || {
                        text(&mut stream, format!("{head_of}\r\n{{").as_bytes());
                        while text(&mut stream, b" ") {
                            std::thread::sleep(std::time::Duration::from_millis(100));
                        }
                    });
                    continue;
                }
                Manner::Flooding => {
                    text(&mut stream, format!("{head_of}\r\n[0").as_bytes());
                    while text(&mut stream, &b",0".repeat(1 << 19)) {}
                    continue;
                }
                Manner::CutOff => {
                    let start = format!("{head_of}content-length: 5000\r\n\r\n{{");
                    text(&mut stream, start.as_bytes());
                    continue;
                }
                _ => {}
            }
            if manner == Manner::Guarded
                && header("authorization").as_deref() != Some("bearer secret")
            {
                respond(&mut stream, "401 Unauthorized", "text/plain", "", "");
                continue;
            }
            let message: Value = serde_json::from_slice(&body).unwrap();
            let method = message["method"].as_str().unwrap().to_owned();
            log.lock().unwrap().push(method.clone());
            let legacy = matches!(manner, Manner::Legacy | Manner::LegacyStream);
            if legacy && method != "initialize" && header("mcp-session-id").as_deref() != Some("s1")
            {
                respond(
                    &mut stream,
                    "400 Bad Request",
                    "application/json",
                    "",
                    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"no session\"}}",
                );
                continue;
            }
            if !legacy
                && (header("mcp-method").as_deref() != Some(&method.to_lowercase())
                    || header("mcp-protocol-version").as_deref() != Some("2026-07-28"))
            {
                respond(&mut stream, "400 Bad Request", "text/plain", "", "");
                continue;
            }
            match answer(manner, &message, manifest.as_deref(), &mut pages) {
                None => respond(&mut stream, "202 Accepted", "text/plain", "", ""),
                Some(answer) => {
                    let session = if method == "initialize" {
                        "mcp-session-id: s1\r\n"
                    } else {
                        ""
                    };
                    if manner == Manner::LegacyStream {
                        let stream_text = format!(
                            ": hello\n\nevent: message\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}}\n\nevent: message\nid: 1\ndata: {answer}\n\n"
                        );
                        respond(
                            &mut stream,
                            "200 OK",
                            "text/event-stream",
                            session,
                            &stream_text,
                        );
                    } else {
                        respond(
                            &mut stream,
                            "200 OK",
                            "application/json",
                            session,
                            &answer.to_string(),
                        );
                    }
                }
            }
        }
    });
    (address, asked)
}

fn names(text: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(text).unwrap();
    list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_foreign_server_is_read_in_both_eras_page_by_page() {
    let sandbox = Sandbox::empty();
    for manner in [Manner::Modern, Manner::Legacy, Manner::LegacyStream] {
        let (address, asked) = serve(manner, None);
        let run = sandbox.flowx(&["generate", "mcp", &address]).ok();
        assert_eq!(names(&run.stdout), ["first", "second"], "{manner:?}");
        let asked = asked.lock().unwrap().clone();
        assert!(
            !asked.iter().any(|method| method == "tools/call"),
            "{asked:?}"
        );
        // A session that was opened is ended.
        assert_eq!(
            asked.last().map(String::as_str) == Some("DELETE"),
            manner != Manner::Modern,
            "{asked:?}"
        );
    }
}

#[test]
fn two_foreign_servers_are_compared_by_their_tools() {
    let sandbox = Sandbox::empty();
    let (address, _) = serve(Manner::Modern, None);
    sandbox.write(
        "one.json",
        r#"[{"name":"first","description":"d","inputSchema":{"type":"object"}}]"#,
    );
    sandbox.flowx(&["diff", &address, &address]).ok();
    let run = sandbox.flowx(&["diff", &address, "one.json"]).exits(1);
    assert!(run.stdout.contains("tool second"), "{}", run.stdout);
}

#[test]
fn of_a_flowx_server_the_whole_manifest_is_compared() {
    let sandbox = Sandbox::desk();
    let manifest = sandbox.read("flowx.manifest.json");
    let (address, _) = serve(Manner::Modern, Some(manifest.clone()));
    sandbox.flowx(&["diff", &address]).ok();
    assert_eq!(
        sandbox
            .flowx(&["show", &address, "--format", "json"])
            .ok()
            .stdout,
        manifest
    );
    // Permissions are in no tool list, and are seen all the same.
    sandbox.edit(
        "src/main.rs",
        "authorization = permission(\"payment.refund\")",
        "authorization = authenticated",
    );
    let run = sandbox.flowx(&["diff", &address]).exits(1);
    assert!(run.stdout.contains("security"), "{}", run.stdout);
}

#[test]
fn a_guarded_server_is_read_with_a_token_that_is_never_shown() {
    let sandbox = Sandbox::empty();
    let (address, _) = serve(Manner::Guarded, None);
    sandbox
        .flowx(&["generate", "mcp", &address])
        .refused(3, "FLOWX_TOKEN");
    let run = sandbox
        .flowx_with(
            "",
            &["generate", "mcp", &address],
            "",
            &[("FLOWX_TOKEN", "secret")],
        )
        .ok();
    assert_eq!(names(&run.stdout).len(), 2);
    let secret = address.replace("http://", "http://user:hunter2@") + "?key=hunter2";
    let run = sandbox.flowx(&["generate", "mcp", &secret]).exits(3);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
}

#[test]
fn a_server_that_is_wrong_is_an_error_and_never_an_empty_surface() {
    let sandbox = Sandbox::empty();
    for (manner, why) in [
        (Manner::Endless, "does not end within 1000 pages"),
        (Manner::Circle, "leads to one that was read already"),
        (Manner::Other, "is not MCP"),
        (Manner::CutOff, "error: http://"),
        (Manner::Nameless, "a tool without a name"),
    ] {
        let (address, _) = serve(manner, None);
        sandbox
            .flowx(&["generate", "mcp", &address])
            .refused(3, why);
    }
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    sandbox
        .flowx(&["generate", "mcp", &format!("http://{closed}/mcp")])
        .refused(3, "error: http://");
    sandbox
        .flowx(&["generate", "mcp", "stdio:no-such-program-here"])
        .refused(3, "could not be started");
    sandbox
        .flowx(&["generate", "mcp", "stdio:true"])
        .refused(3, "stdio:true");
    sandbox
        .flowx(&[
            "generate",
            "mcp",
            "http://127.0.0.1:1/mcp",
            "--timeout",
            "0",
        ])
        .refused(2, "--timeout");
}

#[test]
fn a_server_that_takes_too_long_or_sends_too_much_is_given_up() {
    let sandbox = Sandbox::empty();
    let begun = std::time::Instant::now();
    for (manner, why) in [
        (Manner::Silent, "within 1 s; give it longer with --timeout"),
        (
            Manner::Dripping,
            "within 1 s; give it longer with --timeout",
        ),
        (Manner::Flooding, "more than 64 MiB"),
    ] {
        let (address, _) = serve(manner, None);
        let time = if manner == Manner::Flooding {
            "60"
        } else {
            "1"
        };
        sandbox
            .flowx(&["diff", &address, &address, "--timeout", time])
            .refused(3, why);
    }
    // A program on its standard streams has the same rations, and is ended when they are used up.
    for (manner, time, why) in [
        ("silent", "1", "within 1 s"),
        ("chattering", "1", "within 1 s"),
        ("flooding", "60", "more than 64 MiB"),
        ("circle", "60", "leads to one that was read already"),
    ] {
        sandbox
            .flowx_with(
                "",
                &["generate", "mcp", &this_program(), "--timeout", time],
                "",
                &[("FLOWX_TEST_STDIO", manner)],
            )
            .refused(3, why);
    }
    // A server behind a program that started it, as package runners do, is ended as well.
    let mark = sandbox.path("server-is-up");
    let wrapped = format!(
        "stdio:sh -c 'sleep 600 & echo $! > {}; wait'",
        mark.display()
    );
    sandbox
        .flowx(&["generate", "mcp", &wrapped, "--timeout", "1"])
        .refused(3, "within 1 s");
    let pid = std::fs::read_to_string(&mark).unwrap();
    // What has ended has no command line, also while nobody has asked for its exit code.
    let command = std::path::Path::new("/proc")
        .join(pid.trim())
        .join("cmdline");
    assert_eq!(std::fs::read_to_string(command).unwrap_or_default(), "");
    assert!(begun.elapsed() < std::time::Duration::from_secs(60));
}

/// Not a test: what the tests below start as a server on its standard streams, since every test binary can run itself.
#[test]
fn stdio_server() {
    let Ok(manner) = std::env::var("FLOWX_TEST_STDIO") else {
        return;
    };
    let manner = match manner.as_str() {
        "modern" => Manner::Modern,
        "impatient" => Manner::LegacyImpatient,
        "circle" => Manner::Circle,
        "silent" => loop {
            std::thread::park();
        },
        "chattering" => loop {
            println!("still busy");
            std::thread::sleep(std::time::Duration::from_millis(20));
        },
        "flooding" => loop {
            print!("{}", "x".repeat(1 << 20));
        },
        _ => Manner::Legacy,
    };
    println!("a program that talks on the wrong stream");
    let mut pages = 0;
    for line in std::io::stdin().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if manner == Manner::LegacyImpatient && message["method"] == "server/discover" {
            std::process::exit(3);
        }
        if let Some(answer) = answer(manner, &message, None, &mut pages) {
            println!("{answer}");
        }
    }
}

/// The source that starts `stdio_server`.
fn this_program() -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "stdio:'{}' --exact stdio_server --nocapture",
        program.display()
    )
}

#[test]
fn a_program_on_its_standard_streams_is_read_in_both_eras_and_ended() {
    let sandbox = Sandbox::empty();
    let source = this_program();
    for manner in ["modern", "legacy", "impatient"] {
        let run = sandbox
            .flowx_with(
                "",
                &["generate", "mcp", &source],
                "",
                &[("FLOWX_TEST_STDIO", manner)],
            )
            .ok();
        assert_eq!(names(&run.stdout), ["first", "second"], "{manner}");
    }
}
