//! The operator's side: proposals decided by the fingerprint that was read, and the audit chain checked link by link.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "../../flowx-runtime/tests/common/postgres.rs"]
#[allow(dead_code, unreachable_pub)]
mod postgres;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use common::Sandbox;
use flowx_manifest::audit_chain::{Head, Link};
use sqlx::Connection;

type Requests = Arc<Mutex<Vec<(String, String)>>>;

/// A server that answers by path; gives its address and what came (request line, body).
fn serve(
    answers: &'static [(&'static str, u16, &'static str)],
    trail: Vec<String>,
) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen: Requests = Arc::default();
    let log = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                lines.push(line.trim_end().to_owned());
            }
            let Some(first) = lines.first().cloned() else {
                continue;
            };
            let length: usize = lines
                .iter()
                .find_map(|l| {
                    l.to_lowercase()
                        .strip_prefix("content-length: ")
                        .map(|n| n.parse().unwrap())
                })
                .unwrap_or(0);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            log.lock()
                .unwrap()
                .push((first.clone(), String::from_utf8(body).unwrap()));
            let request = first.rsplit_once(' ').unwrap().0;
            let (status, text) = match request.strip_prefix("GET /flowx/audit?after=") {
                // Pages of two lines.
                Some(after) => (
                    200,
                    trail
                        .iter()
                        .skip(after.parse().unwrap())
                        .take(2)
                        .map(|l| format!("{l}\n"))
                        .collect(),
                ),
                None => answers
                    .iter()
                    .find(|(path, ..)| *path == request)
                    .map_or((404, "{}".to_owned()), |(_, status, text)| {
                        (*status, (*text).to_owned())
                    }),
            };
            let answer = format!(
                "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, seen)
}

const PROPOSAL: &str = r#"{"id":"p1","status":"waiting","flow":"ticket.refund@1.0.0","fingerprint":"f00d","title":"Refund\u202e T-1","askedBy":"refund-bot"}"#;

fn desk() -> (String, Requests) {
    serve(
        &[
            (
                "GET /flowx/proposals?status=waiting",
                200,
                r#"{"proposals":[{"id":"p1","status":"waiting","flow":"ticket.refund@1.0.0","title":"Refund T-1","askedBy":"refund-bot"}]}"#,
            ),
            (
                "GET /flowx/proposals?status=done",
                200,
                r#"{"proposals":[]}"#,
            ),
            ("GET /flowx/proposals/p1", 200, PROPOSAL),
            (
                "POST /flowx/proposals/p1/approve",
                200,
                r#"{"id":"p1","status":"done"}"#,
            ),
            (
                "POST /flowx/proposals/p1/reject",
                200,
                r#"{"id":"p1","status":"rejected"}"#,
            ),
            (
                "POST /flowx/proposals/late/approve",
                409,
                r#"{"code":"approval.stale","detail":"It has changed."}"#,
            ),
            (
                "GET /flowx/proposals/secret",
                403,
                r#"{"code":"authorization.permission_denied","detail":"No."}"#,
            ),
        ],
        Vec::new(),
    )
}

fn posts(seen: &Requests) -> Vec<(String, String)> {
    seen.lock()
        .unwrap()
        .iter()
        .filter(|(line, _)| line.starts_with("POST"))
        .cloned()
        .collect()
}

#[test]
fn proposals_are_listed_and_shown_as_text_and_as_json() {
    let sandbox = Sandbox::empty();
    let (server, seen) = desk();
    let run = sandbox
        .flowx(&["proposals", "list", "--server", &server])
        .ok();
    assert!(
        run.stdout.contains("p1") && run.stdout.contains("refund-bot"),
        "{}",
        run.stdout
    );
    let run = sandbox
        .flowx(&["proposals", "list", "--status", "done", "--server", &server])
        .ok();
    assert_eq!(run.stdout, "no proposal is done\n");
    let run = sandbox
        .flowx_with(
            "",
            &["proposals", "show", "p1"],
            "",
            &[("FLOWX_SERVER", &server)],
        )
        .ok();
    assert!(run.stdout.contains("Refund\\u{202e} T-1"), "{}", run.stdout);
    let run = sandbox
        .flowx(&[
            "proposals",
            "show",
            "p1",
            "--format",
            "json",
            "--server",
            &server,
        ])
        .ok();
    assert_eq!(run.json()["fingerprint"], "f00d");
    assert!(posts(&seen).is_empty());
}

#[test]
fn a_yes_carries_the_fingerprint_that_was_read_and_never_another() {
    let sandbox = Sandbox::empty();
    let (server, seen) = desk();
    // Nobody is there to ask, so nothing is decided.
    sandbox
        .flowx(&["proposals", "approve", "p1", "--server", &server])
        .refused(2, "--fingerprint");
    sandbox
        .flowx(&["proposals", "approve", "p1", "--yes", "--server", &server])
        .refused(2, "--fingerprint");
    sandbox
        .flowx(&[
            "proposals",
            "approve",
            "p1",
            "--fingerprint",
            "beef",
            "--server",
            &server,
        ])
        .refused(3, "not the one you read");
    assert!(posts(&seen).is_empty());
    let run = sandbox
        .flowx(&[
            "proposals",
            "approve",
            "p1",
            "--fingerprint",
            "f00d",
            "--yes",
            "--server",
            &server,
        ])
        .ok();
    assert_eq!(run.stdout, "done\n");
    assert_eq!(
        posts(&seen),
        [(
            "POST /flowx/proposals/p1/approve HTTP/1.1".to_owned(),
            "{\"fingerprint\":\"f00d\"}".to_owned()
        )]
    );
    let run = sandbox
        .flowx(&[
            "proposals",
            "approve",
            "late",
            "--fingerprint",
            "f00d",
            "--yes",
            "--server",
            &server,
        ])
        .exits(1);
    assert!(run.stdout.contains("approval.stale"), "{}", run.stdout);
}

#[test]
fn a_no_needs_a_reason_and_an_id_cannot_leave_its_place() {
    let sandbox = Sandbox::empty();
    let (server, seen) = desk();
    sandbox
        .flowx(&["proposals", "reject", "p1", "--server", &server])
        .refused(2, "--reason");
    sandbox
        .flowx(&[
            "proposals",
            "reject",
            "p1",
            "--reason",
            "",
            "--server",
            &server,
        ])
        .refused(2, "reason");
    assert!(posts(&seen).is_empty());
    sandbox
        .flowx(&[
            "proposals",
            "reject",
            "p1",
            "--reason",
            "too much",
            "--server",
            &server,
        ])
        .ok();
    assert_eq!(posts(&seen)[0].1, "{\"reason\":\"too much\"}");
    sandbox
        .flowx(&["proposals", "show", "../../manifest", "--server", &server])
        .refused(3, "404");
    assert!(
        seen.lock()
            .unwrap()
            .iter()
            .any(|(line, _)| line.contains("/proposals/..%2F..%2Fmanifest"))
    );
    sandbox
        .flowx(&["proposals", "show", "secret", "--server", &server])
        .refused(3, "authorization.permission_denied");
}

fn chain(length: i64) -> Vec<Link> {
    let mut head = Head::default();
    (0..length)
        .map(|n| {
            let link = head.link(1_000 + n, format!("{{\"kind\":\"call\",\"n\":{n}}}"));
            head = link.head();
            link
        })
        .collect()
}

fn lines(links: &[Link]) -> String {
    links.iter().map(|link| link.to_line() + "\n").collect()
}

#[test]
fn an_exported_trail_is_whole_or_says_what_is_wrong() {
    let sandbox = Sandbox::empty();
    let links = chain(5);
    let kept = format!("{}:{}", links[2].seq, links[2].hash);
    sandbox.write("whole", &lines(&links));
    let run = sandbox.flowx(&["audit", "verify", "whole"]).ok();
    assert!(
        run.stdout
            .contains(&format!("5 links, head 5:{}", links[4].hash)),
        "{}",
        run.stdout
    );
    sandbox
        .flowx(&["audit", "verify", "whole", "--head", &kept])
        .ok();
    let json = sandbox
        .flowx(&["audit", "verify", "whole", "--format", "json"])
        .ok()
        .json();
    assert!(common::schema_errors("flowx.audit-verify.schema.json", &json).is_empty());
    assert_eq!(
        (json["whole"].as_bool(), json["head"]["seq"].as_u64()),
        (Some(true), Some(5))
    );

    let mut edited = links.clone();
    edited[1].record = edited[1].record.replace("\"n\":1", "\"n\":9");
    let mut moved = links.clone();
    moved.swap(1, 2);
    let mut other = chain(3);
    other[2] = other[1].head().link(7, "{}".to_owned());
    for (name, text, args, reason) in [
        (
            "edited",
            lines(&edited),
            vec![],
            "line 2: link 2 has been edited",
        ),
        (
            "gap",
            lines(&[&links[..1], &links[2..]].concat()),
            vec![],
            "line 2: expected link 2",
        ),
        ("moved", lines(&moved), vec![], "line 2: expected link 2"),
        (
            "cut",
            lines(&links[..2]),
            vec!["--head", &kept],
            "the end is missing",
        ),
        ("anew", lines(&other), vec!["--head", &kept], "written anew"),
        ("words", "hello\n".to_owned(), vec![], "line 1: not JSON"),
    ] {
        sandbox.write(name, &text);
        let mut all = vec!["audit", "verify", name];
        all.extend(&args);
        let run = sandbox.flowx(&all).exits(1);
        assert!(run.stdout.contains(reason), "{name}: {}", run.stdout);
        all.extend(["--format", "json"]);
        let json = sandbox.flowx(&all).exits(1).json();
        assert!(common::schema_errors("flowx.audit-verify.schema.json", &json).is_empty());
        assert_eq!(json["whole"], false);
    }
    sandbox
        .flowx(&["audit", "verify", "missing"])
        .refused(3, "missing");
    // What a failed export leaves behind is no chain that was checked.
    sandbox.write("empty", "");
    sandbox
        .flowx(&["audit", "verify", "empty"])
        .refused(3, "no link");
    sandbox
        .flowx(&["audit", "verify", "whole", "--head", "5"])
        .refused(2, "SEQ:HASH");
}

#[test]
fn a_servers_trail_is_read_page_by_page_and_held_against_its_head() {
    let sandbox = Sandbox::empty();
    let links = chain(5);
    let trail: Vec<String> = links.iter().map(Link::to_line).collect();
    let head: &'static str =
        Box::leak(format!("{{\"seq\":5,\"hash\":\"{}\"}}", links[4].hash).into_boxed_str());
    let answers: &'static [(&str, u16, &str)] =
        Box::leak(Box::new([("GET /flowx/audit/head", 200, head)]));
    let (server, _) = serve(answers, trail.clone());
    let run = sandbox
        .flowx(&["audit", "verify", "--server", &server])
        .ok();
    assert!(run.stdout.contains("5 links"), "{}", run.stdout);
    assert_eq!(
        sandbox
            .flowx(&["audit", "export", "--server", &server])
            .ok()
            .stdout,
        lines(&links)
    );
    let (server, _) = serve(answers, trail[..3].to_vec());
    let run = sandbox
        .flowx(&["audit", "verify", "--server", &server])
        .exits(1);
    assert!(run.stdout.contains("the end is missing"), "{}", run.stdout);
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let sandbox = Sandbox::empty();
    for verb in ["verify", "export"] {
        sandbox
            .flowx(&["audit", verb, "--server", "sqlite:none.db"])
            .refused(3, "none.db");
    }
    assert!(!sandbox.path("none.db").exists());
}

/// Runs statements on a connection of one of the two kinds, as the runtime would that made the store.
macro_rules! execute {
    ($connection:expr, $statements:expr) => {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(async {
                sqlx::raw_sql(sqlx::AssertSqlSafe($statements))
                    .execute(&mut $connection.await.unwrap())
                    .await
                    .unwrap();
            })
    };
}

#[test]
fn an_sqlite_store_is_read_and_never_changed() {
    let sandbox = Sandbox::empty();
    let address = format!("sqlite:{}", sandbox.path("desk.db").display());
    let migration = include_str!("../../flowx-runtime/migrations/sqlite/0001_first.sql");
    a_store_is_read_and_never_changed(&sandbox, &address, migration, &|statements| {
        let options: sqlx::sqlite::SqliteConnectOptions = address.parse().unwrap();
        let options = options.create_if_missing(true);
        execute!(
            sqlx::SqliteConnection::connect_with(&options),
            statements.to_owned()
        );
    });
}

#[test]
fn a_postgresql_store_is_read_and_never_changed() {
    let sandbox = Sandbox::empty();
    let postgres = postgres::Postgres::start();
    let address = postgres.database("desk");
    let migration = include_str!("../../flowx-runtime/migrations/postgres/0001_first.sql");
    a_store_is_read_and_never_changed(&sandbox, &address, migration, &|statements| {
        execute!(sqlx::PgConnection::connect(&address), statements.to_owned());
    });
}

fn a_store_is_read_and_never_changed(
    sandbox: &Sandbox,
    address: &str,
    migration: &str,
    run_sql: &dyn Fn(&str),
) {
    let links = chain(3);
    let mut statements = migration.to_owned();
    for link in &links {
        statements.push_str(&format!(
            "INSERT INTO audit VALUES ({}, {}, '{}', '{}', '{}');",
            link.seq, link.at, link.record, link.prev, link.hash
        ));
    }
    statements.push_str(&format!(
        "UPDATE audit_head SET seq = 3, hash = '{}';",
        links[2].hash
    ));
    statements.push_str("INSERT INTO audit_inbox (at, body) VALUES (1, '{}');");
    statements.push_str(&format!(
        "INSERT INTO proposals VALUES ('p1', 'k', 'waiting', 1, 'refund-bot', NULL, NULL, '{}');",
        PROPOSAL.replace("\\u202e", "")
    ));
    run_sql(&statements);
    let verify = || sandbox.flowx(&["audit", "verify", "--server", address]);
    let run = verify().ok();
    assert!(
        run.stdout.contains("3 links") && run.stderr.contains("1 record not chained"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    let run = sandbox
        .flowx(&["audit", "export", "--server", address])
        .ok();
    assert_eq!(run.stdout, lines(&links));
    assert!(
        run.stderr.contains("1 record not chained"),
        "{}",
        run.stderr
    );
    let run = sandbox
        .flowx(&["proposals", "list", "--server", address])
        .ok();
    assert!(run.stdout.contains("p1"), "{}", run.stdout);
    sandbox
        .flowx(&["proposals", "show", "p1", "--server", address])
        .ok();
    sandbox
        .flowx(&["proposals", "show", "p2", "--server", address])
        .refused(3, "p2");
    sandbox
        .flowx(&[
            "proposals",
            "approve",
            "p1",
            "--fingerprint",
            "f00d",
            "--yes",
            "--server",
            address,
        ])
        .refused(2, "made by the server");
    run_sql("DELETE FROM audit WHERE seq = 3;");
    assert!(verify().exits(1).stdout.contains("the end is missing"));
    run_sql("UPDATE audit SET record = '{}' WHERE seq = 1;");
    assert!(verify().exits(1).stdout.contains("link 1 has been edited"));
    // An export is what stands there; whether that is whole, `verify` says.
    let run = sandbox
        .flowx(&["audit", "export", "--server", address])
        .ok();
    assert_eq!(run.stdout.lines().count(), 2);
}
