//! The operator's side of a running server.

use std::time::Duration;

use flowx_manifest::Json;
use flowx_manifest::json::{self, Limits};

use crate::cli::Server;
use crate::failure::Failure;

/// A server and who we are to it.
pub(super) struct Operator {
    client: reqwest::blocking::Client,
    base: String,
    token: Option<String>,
}

/// An answer that is no success.
pub(super) struct Problem {
    pub(super) status: u16,
    pub(super) code: String,
    pub(super) detail: String,
}

impl Operator {
    pub(super) fn new(server: &Server) -> Result<Self, Failure> {
        let base = server.server.clone().ok_or_else(|| {
            Failure::Usage(
                "name the server: --server http://127.0.0.1:8080, or FLOWX_SERVER".to_owned(),
            )
        })?;
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(Failure::Usage(format!(
                "--server {base:?}: an address begins with http:// or https://"
            )));
        }
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::blocking::Client::builder()
            .timeout(Duration::from_secs(30))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Failure::Load(error.to_string()))?;
        let token = std::env::var(&server.token_env)
            .ok()
            .filter(|token| !token.is_empty());
        Ok(Operator {
            client,
            base: base.trim_end_matches('/').to_owned(),
            token,
        })
    }

    /// The body of a GET.
    pub(super) fn text(&self, path: &str) -> Result<Result<String, Problem>, Failure> {
        self.send(self.client.get(format!("{}{path}", self.base)))
    }

    /// The document of a GET.
    pub(super) fn get(&self, path: &str) -> Result<Result<Json, Problem>, Failure> {
        self.text(path)?
            .map(|text| self.parse(&text))
            .map_or_else(|problem| Ok(Err(problem)), |json| json.map(Ok))
    }

    /// The answer to a POST.
    pub(super) fn post(&self, path: &str, body: &Json) -> Result<Result<Json, Problem>, Failure> {
        let request = self
            .client
            .post(format!("{}{path}", self.base))
            .header("content-type", "application/json")
            .body(body.to_canonical());
        match self.send(request)? {
            Ok(text) if text.is_empty() => Ok(Ok(Json::Null)),
            Ok(text) => self.parse(&text).map(Ok),
            Err(problem) => Ok(Err(problem)),
        }
    }

    fn send(
        &self,
        mut request: reqwest::blocking::RequestBuilder,
    ) -> Result<Result<String, Problem>, Failure> {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request
            .send()
            .map_err(|error| Failure::load(&self.base, error.without_url()))?;
        let status = response.status();
        let text = response
            .text()
            .map_err(|error| Failure::load(&self.base, error.without_url()))?;
        if status.is_success() {
            return Ok(Ok(text));
        }
        let json = json::parse(text.as_bytes(), Limits::REQUEST).unwrap_or_default();
        let member = |name: &str| {
            json.get(name)
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Ok(Err(Problem {
            status: status.as_u16(),
            code: member("code"),
            detail: member("detail"),
        }))
    }

    fn parse(&self, text: &str) -> Result<Json, Failure> {
        json::parse(text.as_bytes(), Limits::DOCUMENT)
            .map_err(|error| Failure::load(&self.base, error))
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let hint = match problem.status {
            401 => "; put a token into FLOWX_TOKEN",
            404 => "; there is no such thing on this server, or you may not see it",
            _ => "",
        };
        let code = if problem.code.is_empty() {
            String::new()
        } else {
            format!(" {}", problem.code)
        };
        let detail = if problem.detail.is_empty() {
            String::new()
        } else {
            format!(": {}", problem.detail)
        };
        Failure::Load(format!(
            "the server refused (HTTP {}{code}){detail}{hint}",
            problem.status
        ))
    }
}

/// An id in a path.
pub(super) fn segment(text: &str) -> String {
    text.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~') {
                (b as char).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}
