//! Two processes on one PostgreSQL, behind a proxy that gives every connection to the other one: nothing is kept in a process that the next
//! step of a call needs, and every effect happens exactly as often as it was approved.
//!
//! The processes are this test's own program, started again. Each effect is a line in a file that both append to. `FLOWX_CALLS` sets how many
//! calls are made.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowx_runtime::{ConfirmationPolicy, GateOptions};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use crate::common::postgres::Postgres;
use crate::lab::{Lab, Setup, Watch, World};

const CHILD: &str = "FLOWX_SERVING_CHILD";

/// What a child does until it is killed.
#[tokio::test(flavor = "multi_thread")]
async fn child_that_serves() {
    let Ok(child) = std::env::var(CHILD) else {
        return;
    };
    let (address, log) = child.split_once(' ').unwrap();
    let mut setup = Setup::new(address);
    setup.watch = Watch::real();
    setup.world = World::logging(Path::new(log));
    setup.policy = ConfirmationPolicy::Elicit;
    setup.options = GateOptions {
        max_waiting: 1_000,
        ..GateOptions::default()
    };
    let lab = Lab::start(setup).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("\nlistening on {}", listener.local_addr().unwrap());
    axum::serve(listener, lab.router).await.unwrap();
}

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(store: &str, log: &Path) -> Served {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["processes::child_that_serves", "--exact", "--nocapture"])
            .env(CHILD, format!("{store} {}", log.display()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended by itself");
            if let Some(address) = line.trim().strip_prefix("listening on ") {
                break address.to_owned();
            }
        };
        Served { child, address }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes each connection on to the next address in turn, and counts them.
async fn proxy(to: [String; 2]) -> (String, Arc<[AtomicUsize; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let counted: Arc<[AtomicUsize; 2]> = Arc::default();
    let counts = Arc::clone(&counted);
    tokio::spawn(async move {
        for turn in (0..2).cycle() {
            let (mut near, _) = listener.accept().await.unwrap();
            let to = to[turn].clone();
            counts[turn].fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                if let Ok(mut far) = TcpStream::connect(to).await {
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                }
            });
        }
    });
    (address, counted)
}

/// Somebody's client. Every request is a connection of its own, and so goes to the other process than the one before it.
#[derive(Clone)]
struct Web {
    client: reqwest::Client,
    base: String,
}

impl Web {
    fn to(address: &str) -> Web {
        // Another test of this program may have chosen it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().pool_max_idle_per_host(0);
        Web {
            client: client.build().unwrap(),
            base: format!("http://{address}"),
        }
    }

    async fn send(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        let request = self.client.post(format!("{}{path}", self.base));
        let request = request.bearer_auth(token).json(body);
        let request = if path == "/mcp" {
            request
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/call")
                .header("mcp-name", "ticket_refund")
        } else {
            request
        };
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// The waiting proposal that names that number.
    async fn waiting(&self, mark: &str) -> Value {
        let mut after = String::new();
        loop {
            let url = format!("{}/flowx/proposals?status=waiting&after={after}", self.base);
            let request = self.client.get(url).bearer_auth("lead");
            let text = request.send().await.unwrap().text().await.unwrap();
            let page: Value = serde_json::from_str(&text).unwrap();
            let page = page["proposals"].as_array().unwrap();
            let named = |p: &&Value| {
                let value = p["arguments"][0]["value"].as_str().unwrap_or_default();
                value.trim_matches('"') == mark
            };
            let found = page.iter().find(named);
            if let Some(found) = found {
                return found.clone();
            }
            let last = page.last().expect("what was asked is listed");
            after = last["id"].as_str().unwrap().to_owned();
        }
    }

    async fn refund(&self, mark: &str, more: &Value) -> (u16, Value) {
        let mut params = json!({
            "name": "ticket_refund",
            "arguments": { "n": mark },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            },
        });
        let members = more.as_object().unwrap().clone();
        params.as_object_mut().unwrap().extend(members);
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        self.send("bob", "/mcp", &call).await
    }
}

/// Proposed on one, decided on the other, redeemed on both at once; or said no to. Gives the calls made and the effects approved.
async fn redeemed(web: &Web, mark: &str, no: bool) -> (usize, usize) {
    let call = json!({ "n": mark });
    let archive = || web.send("bob", "/card/archive", &call);
    let (status, problem) = archive().await;
    assert_eq!(status, 428, "{problem}");
    let proposal = web.waiting(mark).await;
    let path = |what| {
        format!(
            "/flowx/proposals/{}/{what}",
            proposal["id"].as_str().unwrap()
        )
    };
    if no {
        let (status, answer) = web
            .send("lead", &path("reject"), &json!({ "reason": "not now" }))
            .await;
        assert_eq!(status, 200, "{answer}");
        let (_, problem) = archive().await;
        assert_eq!(problem["code"], "approval.rejected");
        return (2, 0);
    }
    let (path, shown) = (
        path("approve"),
        json!({ "fingerprint": proposal["fingerprint"] }),
    );
    let yes = || web.send("lead", &path, &shown);
    let (a, b) = tokio::join!(yes(), yes());
    let taken = [a.0, b.0].iter().filter(|s| **s == 200).count();
    assert_eq!(taken, 1, "{a:?} {b:?}");
    let (a, b) = tokio::join!(archive(), archive());
    for (status, answer) in [&a, &b] {
        let running = answer["code"] == "approval.running";
        assert!(*status == 200 || running, "{status} {answer}");
    }
    (3, 1)
}

/// Asked on one, answered on the other, then the same answer on both again.
async fn elicited(web: &Web, mark: &str) -> (usize, usize) {
    let (_, asked) = web.refund(mark, &json!({})).await;
    let state = &asked["result"]["requestState"];
    assert!(state.is_string(), "{asked}");
    let yes = json!({
        "requestState": state,
        "inputResponses": { "confirm": { "action": "accept", "content": { "approve": true } } },
    });
    let (_, first) = web.refund(mark, &yes).await;
    let mut answers = vec![first];
    for (_, answer) in join_all((0..2).map(|_| web.refund(mark, &yes))).await {
        answers.push(answer);
    }
    let ran = answers
        .iter()
        .filter(|a| a["result"]["structuredContent"]["done"].is_string())
        .count();
    assert_eq!(ran, 1, "{answers:?}");
    (4, 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_behind_a_proxy_do_everything_exactly_as_often_as_it_was_approved() {
    let calls: usize = std::env::var("FLOWX_CALLS")
        .ok()
        .map_or(320, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("effects.log");
    let postgres = Postgres::start();
    let store = postgres.database("processes");
    let served = [Served::start(&store, &log), Served::start(&store, &log)];
    let (address, counted) = proxy([served[0].address.clone(), served[1].address.clone()]).await;
    let web = Web::to(&address);
    let clients = (0..64).map(|client| {
        let web = web.clone();
        tokio::spawn(async move {
            let (mut made, mut approved) = (0, 0);
            for n in 0.. {
                if made >= calls.div_ceil(64) {
                    break;
                }
                let mark = format!("{client}-{n}");
                let (calls, yes) = if n % 2 == 0 {
                    redeemed(&web, &mark, n % 3 == 2).await
                } else {
                    elicited(&web, &mark).await
                };
                made += calls;
                approved += yes;
            }
            (made, approved)
        })
    });
    let results: Vec<(usize, usize)> = join_all(clients)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let made: usize = results.iter().map(|r| r.0).sum();
    let approved: usize = results.iter().map(|r| r.1).sum();
    let effects = std::fs::read_to_string(&log).unwrap().lines().count();
    let turns: Vec<_> = counted.iter().map(|c| c.load(Ordering::Relaxed)).collect();
    println!(
        "{made} calls of 64 clients over {turns:?} connections, {approved} approved, {effects} effects"
    );
    assert!(made >= calls && approved > 0 && turns.iter().all(|t| *t > calls / 2));
    assert_eq!(effects, approved);
}
