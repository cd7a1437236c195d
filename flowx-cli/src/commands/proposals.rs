//! `flowx proposals`: a person decides what agents have proposed. A decision carries the fingerprint of what was shown, so
//! that a yes never lands on something else.

use std::fmt::Write;
use std::io::{BufRead, IsTerminal, Write as _};

use flowx_manifest::Json;

use super::operator::{Operator, Problem, segment};
use super::{no_format, print, store};
use crate::cli::{self, OutputFormat, ProposalVerb};
use crate::context::Context;
use crate::failure::{FINDINGS, Failure, OK};
use crate::output::visible;

pub(super) fn run(context: &Context, args: &cli::Proposals) -> Result<u8, Failure> {
    let json = match context.common().format {
        None | Some(OutputFormat::Human) => false,
        Some(OutputFormat::Json) => true,
        Some(other) => return Err(no_format(other, "human and json")),
    };
    if let Some(address) = args
        .server
        .server
        .as_deref()
        .filter(|address| store::is_store(address))
    {
        return from_store(address, &args.verb, json);
    }
    let operator = Operator::new(&args.server)?;
    match &args.verb {
        ProposalVerb::List { status } => {
            let found = operator
                .get(&format!("/flowx/proposals?status={}", segment(status)))?
                .map_err(Failure::from)?;
            print(&if json {
                pretty(&found)
            } else {
                list(&found, status)
            })?;
        }
        ProposalVerb::Show { id } => {
            let found = one(&operator, id)?;
            print(&if json { pretty(&found) } else { whole(&found) })?;
        }
        ProposalVerb::Approve {
            id,
            fingerprint,
            yes,
        } => return approve(context, &operator, id, fingerprint.as_deref(), *yes, json),
        ProposalVerb::Reject { id, reason } => {
            if reason.trim().is_empty() {
                return Err(Failure::Usage(
                    "a no needs a reason; the agent is told it".to_owned(),
                ));
            }
            let body = Json::object([("reason", Json::from(reason.as_str()))]);
            let answer =
                operator.post(&format!("/flowx/proposals/{}/reject", segment(id)), &body)?;
            return decided(answer, json, "rejected");
        }
    }
    Ok(OK)
}

/// The same, read from the store itself. Decisions are the server's: it knows who is asking.
fn from_store(address: &str, verb: &ProposalVerb, json: bool) -> Result<u8, Failure> {
    let parse = |body: &String| {
        flowx_manifest::json::parse(body.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
            .map_err(|error| Failure::load("a proposal in the store", error))
    };
    match verb {
        ProposalVerb::List { status } => {
            let found = store::proposals(address, Some(status), None)?.iter().map(parse).collect::<Result<Vec<Json>, Failure>>()?;
            let found = Json::object([("proposals", Json::Array(found))]);
            print(&if json { pretty(&found) } else { list(&found, status) })?;
            Ok(OK)
        }
        ProposalVerb::Show { id } => {
            let found = store::proposals(address, None, Some(id))?;
            let found = found.first().ok_or_else(|| Failure::Load(format!("the store has no proposal {id:?}")))?;
            let found = parse(found)?;
            print(&if json { pretty(&found) } else { whole(&found) })?;
            Ok(OK)
        }
        ProposalVerb::Approve { .. } | ProposalVerb::Reject { .. } => Err(Failure::Usage(
            "a decision is made by the server, which knows who decides; name it with --server http://…".to_owned(),
        )),
    }
}

fn one(operator: &Operator, id: &str) -> Result<Json, Failure> {
    operator
        .get(&format!("/flowx/proposals/{}", segment(id)))?
        .map_err(Failure::from)
}

fn approve(
    context: &Context,
    operator: &Operator,
    id: &str,
    fingerprint: Option<&str>,
    yes: bool,
    json: bool,
) -> Result<u8, Failure> {
    let fingerprint = match fingerprint {
        Some(fingerprint) if yes => fingerprint.to_owned(),
        given => {
            let shown = one(operator, id)?;
            let current = member(&shown, "fingerprint");
            if let Some(given) = given
                && given != current
            {
                return Err(Failure::Load(format!(
                    "the proposal is not the one you read: its fingerprint is {current} now"
                )));
            }
            if !std::io::stdin().is_terminal() {
                return Err(Failure::Usage(
                    "nobody is there to ask; give --fingerprint of what was read, and --yes"
                        .to_owned(),
                ));
            }
            eprint!("{}", whole(&shown));
            eprint!("Approve exactly this? It grants no permission. [y/N] ");
            let _ = std::io::stderr().flush();
            let mut answer = String::new();
            std::io::stdin()
                .lock()
                .read_line(&mut answer)
                .map_err(|error| Failure::load("standard input", error))?;
            if !matches!(answer.trim(), "y" | "Y" | "yes") {
                context.note("nothing was decided");
                return Ok(FINDINGS);
            }
            current
        }
    };
    let body = Json::object([("fingerprint", Json::from(fingerprint))]);
    let answer = operator.post(&format!("/flowx/proposals/{}/approve", segment(id)), &body)?;
    decided(answer, json, "approved")
}

/// A decision that comes too late, or on something else, is an answer: exit 1, with the server's own words.
fn decided(answer: Result<Json, Problem>, json: bool, word: &str) -> Result<u8, Failure> {
    match answer {
        Ok(answer) => {
            let status = member(&answer, "status");
            print(&if json {
                pretty(&answer)
            } else {
                format!(
                    "{}\n",
                    if status.is_empty() {
                        word.to_owned()
                    } else {
                        status
                    }
                )
            })?;
            Ok(OK)
        }
        Err(problem) if matches!(problem.status, 409 | 410 | 412 | 422 | 428) => {
            print(&format!(
                "{} {}\n",
                visible(&problem.code, false),
                visible(&problem.detail, false)
            ))?;
            Ok(FINDINGS)
        }
        Err(problem) => Err(problem.into()),
    }
}

fn member(json: &Json, name: &str) -> String {
    match json.get(name) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Null) | None => String::new(),
        Some(other) => other.to_canonical(),
    }
}

fn pretty(json: &Json) -> String {
    format!("{}\n", json.to_pretty().trim_end())
}

fn list(found: &Json, status: &str) -> String {
    let items = found
        .get("proposals")
        .and_then(Json::as_array)
        .or_else(|| found.as_array())
        .unwrap_or_default();
    if items.is_empty() {
        return format!("no proposal is {}\n", visible(status, false));
    }
    let mut out = String::new();
    for item in items {
        let cell = |name: &str| visible(&member(item, name), false);
        // The server says `askedBy`; a record read from a store has the requester itself.
        let by = match cell("askedBy") {
            by if by.is_empty() => cell("requester"),
            by => by,
        };
        let _ = writeln!(
            out,
            "{}  {}  {}  by {by}  {}",
            cell("id"),
            cell("status"),
            cell("flow"),
            cell("title")
        );
    }
    out
}

/// Every member in its own line; what a person reads is made visible, never interpreted.
fn whole(found: &Json) -> String {
    let mut out = String::new();
    for (name, value) in found.as_object().into_iter().flatten() {
        match value {
            Json::Null => {}
            Json::String(text) => {
                let _ = writeln!(out, "{name}: {}", visible(text, false));
            }
            Json::Object(_) | Json::Array(_) => {
                let _ = writeln!(out, "{name}:");
                for line in value.to_pretty().trim_end().lines() {
                    let _ = writeln!(out, "  {}", visible(line, false));
                }
            }
            other => {
                let _ = writeln!(out, "{name}: {}", other.to_canonical());
            }
        }
    }
    out
}
