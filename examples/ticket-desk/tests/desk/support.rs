//! The built program, started on a free port, and a client that sends exactly the bytes it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A running desk; killed when dropped.
pub struct Desk {
    child: Child,
    address: String,
    folder: tempfile::TempDir,
}

impl Desk {
    /// With those switches, an own store, and port 0.
    pub fn start(switches: &[&str]) -> Desk {
        Desk::start_in(tempfile::tempdir().unwrap(), switches)
    }

    /// Kills it, and starts another in its folder.
    pub fn again(mut self, switches: &[&str]) -> Desk {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        drop(self);
        Desk::start_in(folder, switches)
    }

    /// A file in its folder.
    pub fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn start_in(folder: tempfile::TempDir, switches: &[&str]) -> Desk {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ticket-desk"))
            .args(["--listen", "127.0.0.1:0"])
            .args(switches)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .expect(&line)
            .to_owned();
        Desk {
            child,
            address,
            folder,
        }
    }

    /// Without questions to anybody, so that a call is the call alone.
    pub fn unasked() -> Desk {
        Desk::start(&["--confirmation", "annotate"])
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends the bytes on a connection of their own and reads the answer to its end.
    pub fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // A server that has refused by the head may close while the body is still being sent.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::read(&bytes)
    }

    /// A request of that method, path, headers and body.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.send_to(&self.address, method, path, headers, body)
    }

    /// The same, addressed to that host.
    pub fn send_to(
        &self,
        host: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method == "POST" {
            request.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        request.push_str("\r\n");
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
    }

    pub fn get(&self, path: &str, token: Option<&str>) -> Answer {
        let bearer = token.map(|t| format!("Bearer {t}"));
        let headers: Vec<_> = bearer
            .iter()
            .map(|b| ("authorization", b.as_str()))
            .collect();
        self.send("GET", path, &headers, b"")
    }

    /// A refund by that token under that key.
    pub fn refund(&self, token: &str, key: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        self.send("POST", "/api/v1/refunds", &headers, body.as_bytes())
    }

    /// The body of the answer to a tool's call, as a client of 2026-07-28 makes it.
    pub fn mcp_call(&self, authorization: Option<&str>, tool: &str, arguments: &str) -> String {
        self.mcp_call_with(
            authorization,
            tool,
            &format!(r#""arguments":{arguments}"#),
            "{}",
        )
    }

    /// The same with those parameters, from a client of those capabilities.
    pub fn mcp_call_with(
        &self,
        authorization: Option<&str>,
        tool: &str,
        params: &str,
        capabilities: &str,
    ) -> String {
        let mut headers = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        headers.extend(authorization.map(|a| ("authorization", a)));
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}",{params},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
        );
        let answer = self.send("POST", "/mcp", &headers, body.as_bytes());
        String::from_utf8(answer.body).unwrap()
    }

    /// How often the ledger and the gateway have been used.
    pub fn effects(&self) -> (u64, u64) {
        let counters = self.get("/desk/counters", None).json();
        (
            counters["ledger"].as_u64().unwrap(),
            counters["payment-gateway"].as_u64().unwrap(),
        )
    }

    /// Tells it to stop and gives its exit code.
    pub fn terminate(mut self) -> Option<i32> {
        Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()
            .unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Answer {
    fn read(bytes: &[u8]) -> Answer {
        let end = bytes
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .expect("an answer has a head");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer {
            status,
            head,
            body: bytes[end + 4..].to_vec(),
        }
    }

    /// Everything that a caller can tell answers by, but what differs in every answer.
    pub fn telling(&self) -> (u16, Vec<String>, Value) {
        let mut headers: Vec<String> = self
            .head
            .lines()
            .skip(1)
            .filter(|l| !l.starts_with("date:") && !l.starts_with("x-correlation-id:"))
            .map(str::to_owned)
            .collect();
        headers.sort();
        let mut body = serde_json::from_slice(&self.body).unwrap_or_default();
        if let Some(id) = Value::as_object_mut(&mut body).and_then(|b| b.get_mut("correlationId")) {
            assert_eq!(id.as_str().map(str::len), Some(36));
            *id = Value::Null;
        }
        (self.status, headers, body)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|l| l.split_once(": "))
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, v)| v)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The code of a problem; checks that it is one.
    pub fn code(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        assert!(
            problem["correlationId"].is_string() && problem["category"].is_string(),
            "{problem}"
        );
        problem["code"].as_str().unwrap().to_owned()
    }

    /// The failing paths of an `input.invalid`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<_> = self.json()["errors"]
            .as_array()
            .unwrap_or_else(|| panic!("no errors in {self:?}"))
            .iter()
            .map(|e| e["path"].as_str().unwrap().to_owned())
            .collect();
        paths.sort();
        paths
    }
}

pub const REFUND: &str =
    r#"{"ticket_id":"T-1001","amount_cents":500,"cardholder_reference":"DE-7"}"#;
