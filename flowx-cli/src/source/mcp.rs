//! A running MCP server as a source: its tools, and the whole manifest where it is a FlowX server that lets us read it.
//! Both eras of the protocol, over HTTP and over the standard streams of a program. Nothing is ever called.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use flowx_manifest::json::{self, Json, Limits};

/// How long a server may take to answer to the newer opening before the older is tried.
const OPENING: Duration = Duration::from_secs(5);
/// As long as the server's time lasts.
const WHOLE: Duration = Duration::MAX;
/// Bytes of all answers of one server.
const LARGEST: u64 = 64 << 20;
/// Pages of one tools/list. A server that never ends its list must not hold a CI job for ever.
const MOST_PAGES: usize = 1000;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// What a server showed.
pub(super) struct Served {
    /// The tool descriptors, in the order listed.
    pub tools: Vec<Json>,
    /// The bytes of `flowx://manifest`, when there is such a resource and we may read it.
    pub manifest: Option<String>,
}

/// Why a server could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum McpError {
    /// No connection, or none that lasted.
    #[error("{0}")]
    Transport(String),
    /// Answered, but not with what the protocol has.
    #[error("the server's answer to {method} is not MCP: {why}")]
    Protocol {
        /// The request.
        method: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// An error of the protocol.
    #[error("the server answered {method} with error {code}: {message}")]
    Refused {
        /// The request.
        method: String,
        /// The JSON-RPC code.
        code: i128,
        /// Its words.
        message: String,
    },
    /// Slower than it may be.
    #[error("the server has not answered in full within {0} s; give it longer with --timeout")]
    Slow(u64),
    /// More than a list of tools can be.
    #[error("the server sends more than {} MiB", LARGEST >> 20)]
    Large,
    /// Who are you?
    #[error(
        "the server wants a token (HTTP {0}); put one into the environment variable FLOWX_TOKEN"
    )]
    Unauthorised(u16),
}

/// Reads a server over streamable HTTP.
///
/// # Errors
/// When it cannot be reached, or does not speak MCP.
pub(super) fn read_http(
    url: &str,
    token: Option<&str>,
    time: Duration,
) -> Result<Served, McpError> {
    read(&mut Http::new(url, token, Rations::new(time))?)
}

/// Reads a program that serves on its standard streams, and ends it afterwards.
///
/// # Errors
/// When it cannot be started, or does not speak MCP.
pub(super) fn read_stdio(words: &[String], time: Duration) -> Result<Served, McpError> {
    let rations = Rations::new(time);
    let mut program = Program::start(words, rations.clone())?;
    match read(&mut program) {
        // Some servers of the older era end at the first message that is not theirs.
        Err(McpError::Transport(_)) if program.ended() => {
            let mut program = Program::start(words, rations)?;
            open_legacy(&mut program)?;
            list(&mut program, Era::Legacy)
        }
        answer => answer,
    }
}

/// What one server may take in all, however it spreads it over answers, pages, events and chatter.
#[derive(Clone)]
struct Rations {
    time: Duration,
    until: Instant,
    bytes: u64,
}

impl Rations {
    fn new(time: Duration) -> Self {
        Rations {
            time,
            until: Instant::now() + time,
            bytes: LARGEST,
        }
    }

    /// What is left of the time, and no more than `patience`.
    fn left(&self, patience: Duration) -> Result<Duration, McpError> {
        match self.until.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => Ok(left.min(patience)),
            _ => Err(self.slow()),
        }
    }

    fn slow(&self) -> McpError {
        McpError::Slow(self.time.as_secs())
    }

    fn take(&mut self, bytes: usize) -> Result<(), McpError> {
        self.bytes = self
            .bytes
            .checked_sub(bytes as u64)
            .ok_or(McpError::Large)?;
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    Modern,
    Legacy,
}

trait Transport {
    /// Sends a request and waits for its answer.
    fn request(
        &mut self,
        era: Era,
        method: &str,
        name: Option<&str>,
        message: &Json,
        patience: Duration,
    ) -> Result<Json, McpError>;
    /// Sends what has no answer.
    fn notify(&mut self, era: Era, method: &str, message: &Json) -> Result<(), McpError>;
    /// Ends the session, when there is one.
    fn close(&mut self) {}
}

fn read(transport: &mut impl Transport) -> Result<Served, McpError> {
    let served = match call(
        transport,
        Era::Modern,
        "server/discover",
        None,
        Json::empty(),
        OPENING,
    ) {
        Ok(_) => list(transport, Era::Modern),
        Err(error @ (McpError::Unauthorised(_) | McpError::Large)) => Err(error),
        Err(first) => match open_legacy(transport) {
            Ok(()) => list(transport, Era::Legacy),
            // A server that could not be reached is reported once, not as two errors.
            Err(McpError::Transport(_)) if matches!(first, McpError::Transport(_)) => Err(first),
            Err(second) => Err(second),
        },
    };
    transport.close();
    served
}

fn open_legacy(transport: &mut impl Transport) -> Result<(), McpError> {
    let params = Json::object([
        ("protocolVersion", Json::from(LEGACY)),
        ("capabilities", Json::empty()),
        ("clientInfo", client_info()),
    ]);
    call(transport, Era::Legacy, "initialize", None, params, WHOLE)?;
    let method = "notifications/initialized";
    transport.notify(
        Era::Legacy,
        method,
        &Json::object([("jsonrpc", Json::from("2.0")), ("method", method.into())]),
    )
}

fn list(transport: &mut impl Transport, era: Era) -> Result<Served, McpError> {
    let method = "tools/list";
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    let mut cursors = HashSet::new();
    for _ in 0..MOST_PAGES {
        let params = Json::object(cursor.take().map(|cursor| ("cursor", Json::from(cursor))));
        let result = call(transport, era, method, None, params, WHOLE)?;
        let page = result
            .get("tools")
            .and_then(Json::as_array)
            .ok_or_else(|| McpError::Protocol {
                method: method.to_owned(),
                why: "it has no `tools`".to_owned(),
            })?;
        tools.extend(page.iter().cloned());
        cursor = result
            .get("nextCursor")
            .and_then(Json::as_str)
            .map(str::to_owned);
        match &cursor {
            None => {
                return Ok(Served {
                    tools,
                    manifest: manifest(transport, era),
                });
            }
            Some(next) if !cursors.insert(next.clone()) => {
                return Err(McpError::Protocol {
                    method: method.to_owned(),
                    why: "its list does not end: a page leads to one that was read already"
                        .to_owned(),
                });
            }
            Some(_) => {}
        }
    }
    Err(McpError::Protocol {
        method: method.to_owned(),
        why: format!("its list does not end within {MOST_PAGES} pages"),
    })
}

/// The manifest of a FlowX server. Absence and refusal are answers: then the tools are all that is compared.
fn manifest(transport: &mut impl Transport, era: Era) -> Option<String> {
    let uri = "flowx://manifest";
    let params = Json::object([("uri", Json::from(uri))]);
    let result = call(transport, era, "resources/read", Some(uri), params, WHOLE).ok()?;
    let first = result.get("contents")?.as_array()?.first()?;
    first.get("text")?.as_str().map(str::to_owned)
}

fn call(
    transport: &mut impl Transport,
    era: Era,
    method: &str,
    name: Option<&str>,
    mut params: Json,
    patience: Duration,
) -> Result<Json, McpError> {
    if let (Era::Modern, Json::Object(members)) = (era, &mut params) {
        let meta = Json::object([
            (
                "io.modelcontextprotocol/protocolVersion",
                Json::from(MODERN),
            ),
            ("io.modelcontextprotocol/clientCapabilities", Json::empty()),
            ("io.modelcontextprotocol/clientInfo", client_info()),
        ]);
        members.insert("_meta".to_owned(), meta);
    }
    let message = Json::object([
        ("jsonrpc", Json::from("2.0")),
        ("id", Json::from(method)),
        ("method", Json::from(method)),
        ("params", params),
    ]);
    let answer = transport.request(era, method, name, &message, patience)?;
    if let Some(error) = answer.get("error") {
        let code = error
            .get("code")
            .and_then(Json::as_number)
            .and_then(json::Number::as_i128)
            .unwrap_or_default();
        let message = error
            .get("message")
            .and_then(Json::as_str)
            .unwrap_or("no message")
            .to_owned();
        return Err(McpError::Refused {
            method: method.to_owned(),
            code,
            message,
        });
    }
    answer
        .get("result")
        .cloned()
        .ok_or_else(|| McpError::Protocol {
            method: method.to_owned(),
            why: "neither result nor error".to_owned(),
        })
}

fn client_info() -> Json {
    Json::object([
        ("name", Json::from("flowx")),
        ("version", Json::from(env!("CARGO_PKG_VERSION"))),
    ])
}

fn parse(method: &str, text: &[u8]) -> Result<Json, McpError> {
    json::parse(
        text,
        Limits {
            bytes: LARGEST as usize,
            ..Limits::DOCUMENT
        },
    )
    .map_err(|error| McpError::Protocol {
        method: method.to_owned(),
        why: error.to_string(),
    })
}

/// Whether the message answers the request of that id (ids are the methods' names here: one request at a time).
fn answers(message: &Json, id: &str) -> bool {
    message.get("id").and_then(Json::as_str) == Some(id) && message.get("method").is_none()
}

struct Http {
    client: reqwest::blocking::Client,
    url: String,
    token: Option<String>,
    session: Option<String>,
    rations: Rations,
}

impl Http {
    fn new(url: &str, token: Option<&str>, rations: Rations) -> Result<Self, McpError> {
        // Fails when one is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::blocking::Client::builder()
            .timeout(rations.time)
            // A redirect could carry the token to somebody else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| McpError::Transport(error.to_string()))?;
        Ok(Http {
            client,
            url: url.to_owned(),
            token: token.map(str::to_owned),
            session: None,
            rations,
        })
    }

    fn post(
        &self,
        era: Era,
        method: &str,
        name: Option<&str>,
        body: String,
        patience: Duration,
    ) -> Result<reqwest::blocking::Response, McpError> {
        let mut request = self
            .client
            .post(&self.url)
            .timeout(self.rations.left(patience)?)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body);
        if era == Era::Modern {
            request = request
                .header("mcp-protocol-version", MODERN)
                .header("mcp-method", method);
            if let Some(name) = name {
                request = request.header("mcp-name", name);
            }
        } else if method != "initialize" {
            request = request.header("mcp-protocol-version", LEGACY);
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request
            .send()
            .map_err(|error| match self.rations.left(WHOLE) {
                Err(slow) if error.is_timeout() => slow,
                _ => McpError::Transport(chain(&error)),
            })?;
        match response.status().as_u16() {
            code @ (401 | 403) => Err(McpError::Unauthorised(code)),
            code @ 300..=399 => Err(McpError::Transport(format!(
                "the server redirects (HTTP {code}); name the address it redirects to"
            ))),
            _ => Ok(response),
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = inner.to_string();
        source = inner.source();
    }
    text
}

impl Transport for Http {
    fn request(
        &mut self,
        era: Era,
        method: &str,
        name: Option<&str>,
        message: &Json,
        patience: Duration,
    ) -> Result<Json, McpError> {
        let response = self.post(era, method, name, message.to_canonical(), patience)?;
        let status = response.status();
        let header = |name: &str| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let kind = header("content-type").unwrap_or_default();
        let session = header("mcp-session-id");
        if method == "initialize" {
            self.session = session;
        }
        let mut body = BufReader::new(Rationed {
            inner: response,
            rations: &mut self.rations,
            over: None,
        });
        let answer = if kind.starts_with("text/event-stream") {
            event_stream(&mut body, method)
        } else {
            whole(&mut body, method, status, &kind)
        };
        // What the body was cut off for is what went wrong, whatever the rest of it looked like.
        match body.into_inner().over {
            Some(over) => Err(over),
            None => answer,
        }
    }

    fn notify(&mut self, era: Era, method: &str, message: &Json) -> Result<(), McpError> {
        self.post(era, method, None, message.to_canonical(), WHOLE)
            .map(drop)
    }

    fn close(&mut self) {
        if let Some(session) = self.session.take() {
            let mut request = self
                .client
                .delete(&self.url)
                .timeout(OPENING)
                .header("mcp-session-id", session);
            if let Some(token) = &self.token {
                request = request.bearer_auth(token);
            }
            // Politeness only: the session ends by itself in the end.
            let _ = request.send();
        }
    }
}

/// An answer that is one document.
fn whole(
    body: &mut impl Read,
    method: &str,
    status: reqwest::StatusCode,
    kind: &str,
) -> Result<Json, McpError> {
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)
        .map_err(|error| McpError::Transport(error.to_string()))?;
    if !status.is_success() && !kind.starts_with("application/json") {
        return Err(McpError::Protocol {
            method: method.to_owned(),
            why: format!("HTTP {status}"),
        });
    }
    parse(method, &bytes)
}

/// A body that ends with an error where the server's rations do. Each single read has a time limit of its own, so that a
/// server which sends a byte now and then is given up as well.
struct Rationed<'a, R> {
    inner: R,
    rations: &'a mut Rations,
    over: Option<McpError>,
}

impl<R: Read> Read for Rationed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let answer = self.rations.left(WHOLE).and_then(|_| {
            let read = self.inner.read(buffer).map_err(|error| {
                let late = self.rations.left(WHOLE).err();
                late.unwrap_or_else(|| McpError::Transport(chain(&error)))
            })?;
            self.rations.take(read)?;
            Ok(read)
        });
        answer.map_err(|over| {
            self.over = Some(over);
            io::ErrorKind::Other.into()
        })
    }
}

/// The answer on a stream of server-sent events; other messages on it are not for us.
fn event_stream(reader: impl BufRead, method: &str) -> Result<Json, McpError> {
    let mut data = String::new();
    for line in reader.lines() {
        let line = line.map_err(|error| McpError::Transport(error.to_string()))?;
        if let Some(more) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
        } else if line.is_empty() && !data.is_empty() {
            let message = parse(method, std::mem::take(&mut data).as_bytes())?;
            if answers(&message, method) {
                return Ok(message);
            }
        }
    }
    Err(McpError::Protocol {
        method: method.to_owned(),
        why: "the stream ended without it".to_owned(),
    })
}

struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    rations: Rations,
}

impl Program {
    fn start(words: &[String], rations: Rations) -> Result<Self, McpError> {
        let (program, args) = words
            .split_first()
            .ok_or_else(|| McpError::Transport("no program named".to_owned()))?;
        let mut command = Command::new(program);
        // In a group of its own, so that what it starts in turn can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| {
                McpError::Transport(format!("{program} could not be started: {error}"))
            })?;
        // A program that writes faster than it is read has to wait.
        let (sender, lines) = sync_channel(16);
        let stdin = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut reader = BufReader::new(stdout);
                loop {
                    let mut line = Vec::new();
                    // One byte more than all rations, so that a line without an end is noticed.
                    match (&mut reader).take(LARGEST + 1).read_until(b'\n', &mut line) {
                        Ok(n) if n > 0 && sender.send(line).is_ok() => {}
                        _ => return,
                    }
                }
            });
        }
        Ok(Program {
            child,
            stdin,
            lines,
            rations,
        })
    }

    fn ended(&mut self) -> bool {
        // The end of its output comes a moment before the end of the program.
        thread::sleep(Duration::from_millis(50));
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    fn send(&mut self, message: &Json) -> Result<(), McpError> {
        let stdin = self
            .stdin
            .as_mut()
            .ok_or_else(|| McpError::Transport("the program's input is closed".to_owned()))?;
        let line = format!("{}\n", message.to_canonical());
        stdin
            .write_all(line.as_bytes())
            .and_then(|()| stdin.flush())
            .map_err(|error| {
                McpError::Transport(format!("the program does not read its input: {error}"))
            })
    }
}

impl Transport for Program {
    fn request(
        &mut self,
        _: Era,
        method: &str,
        _: Option<&str>,
        message: &Json,
        patience: Duration,
    ) -> Result<Json, McpError> {
        self.send(message)?;
        let until = Instant::now().checked_add(patience);
        loop {
            let rest = until.map_or(WHOLE, |until| {
                until.saturating_duration_since(Instant::now())
            });
            let line = self
                .lines
                .recv_timeout(self.rations.left(rest)?)
                .map_err(|error| match error {
                    RecvTimeoutError::Timeout => self.rations.slow(),
                    RecvTimeoutError::Disconnected => {
                        McpError::Transport(format!("the program ended without answering {method}"))
                    }
                })?;
            self.rations.take(line.len())?;
            // What is not JSON is a program's chatter on the wrong stream.
            let Ok(message) = parse(method, line.trim_ascii()) else {
                continue;
            };
            if answers(&message, method) {
                return Ok(message);
            }
        }
    }

    fn notify(&mut self, _: Era, _: &str, message: &Json) -> Result<(), McpError> {
        self.send(message)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A closed input asks it to end; it gets a moment to do so.
        self.stdin = None;
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        #[cfg(unix)]
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", self.child.id())])
            .stderr(Stdio::null())
            .status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
