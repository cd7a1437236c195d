//! The operator's side over HTTP: proposals, standing rules, the audit trail. Every answer depends on who asks; what is not for them is
//! not there.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::http::header::CONTENT_TYPE;
use ::http::request::Parts;
use ::http::{HeaderValue, StatusCode};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use flowx_manifest::{Category, Json};

use super::decide::Always;
use super::{Gate, events, is_agent, page, visible_short};
use crate::agents::{ReachOfRule, StandingRule};
use crate::audit::export;
use crate::http::{Caller, Web, body, query};
use crate::identity::Principal;
use crate::input::{InputError, invalid};
use crate::proposals::{DECIDE_PERMISSION, Outcome, Proposal, Status, shown_fingerprint};
use crate::refusal::{Refusal, codes};

/// The permission to read the audit trail.
pub(crate) const AUDIT_READ: &str = "flowx.audit.read";
/// Rows in one answer at most.
const MOST: usize = 500;

/// Adds the operator's addresses.
pub(crate) fn router(router: Router<Web>) -> Router<Web> {
    let router = router
        .route("/flowx/proposals", get(list))
        .route("/flowx/proposals/{id}", get(one))
        .route("/flowx/proposals/{id}/approve", post(approve))
        .route("/flowx/proposals/{id}/reject", post(reject))
        .route("/flowx/proposals/{id}/withdraw", post(withdraw))
        .route("/flowx/rules", get(rules))
        .route("/flowx/rules/{id}/revoke", post(revoke))
        .route("/flowx/audit", get(audit))
        .route("/flowx/audit/head", get(audit_head))
        .route("/flowx/events", get(events::stream));
    page::add(router)
}

/// A request of somebody who is known, with its body.
pub(super) struct Asked {
    pub(super) who: Arc<Principal>,
    pub(super) caller: Caller,
    pub(super) parts: Parts,
    pub(super) body: BTreeMap<String, Json>,
}

impl Asked {
    /// Reads it. Somebody unknown is refused. An agent is let in and finds nothing: every proposal, rule and link of the trail is for a person.
    pub(super) async fn read(web: &Web, request: Request) -> Result<Asked, Response> {
        let (parts, content) = request.into_parts();
        let caller = Caller::establish(web, &parts).await?;
        let who = Arc::clone(&caller.principal);
        if who.is_anonymous() {
            return Err(caller.problem(&Refusal::not_authenticated()));
        }
        let read = body(&parts, content, web.core.limits()).await;
        let body = match read {
            Ok(None) => BTreeMap::new(),
            Ok(Some(Json::Object(members))) => members,
            Ok(Some(_)) => return Err(caller.problem(&wrong("", "an object is expected"))),
            Err(refusal) => return Err(caller.problem(&refusal)),
        };
        Ok(Asked {
            who,
            caller,
            parts,
            body,
        })
    }

    /// The text of a member, and no other members than those.
    fn text(&self, name: &str, allowed: &[&str]) -> Result<&str, Refusal> {
        if let Some(unknown) = self.body.keys().find(|k| !allowed.contains(&k.as_str())) {
            return Err(wrong(&format!("/{unknown}"), "there is no such member"));
        }
        self.body
            .get(name)
            .and_then(Json::as_str)
            .ok_or_else(|| wrong(&format!("/{name}"), "a text is expected here"))
    }

    /// The words of the query by name: no name that is not known here, and none twice, since two readers could take two values.
    fn query(&self, allowed: &[&str]) -> Result<BTreeMap<String, String>, Refusal> {
        let mut words = BTreeMap::new();
        for (name, value) in query(self.parts.uri.query().unwrap_or(""))? {
            if !allowed.contains(&name.as_str()) {
                return Err(wrong(&format!("/{name}"), "there is no such parameter"));
            }
            if words.insert(name.clone(), value).is_some() {
                return Err(wrong(
                    &format!("/{name}"),
                    "the parameter stands there twice",
                ));
            }
        }
        Ok(words)
    }

    pub(super) fn answer(&self, result: Result<Json, Refusal>) -> Response {
        match result {
            Ok(value) => json(&value),
            Err(refusal) => self.caller.problem(&refusal),
        }
    }
}

async fn list(State(web): State<Web>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    let words = match asked.query(&["status", "after"]) {
        Ok(words) => words,
        Err(refusal) => return asked.answer(Err(refusal)),
    };
    let status = match words.get("status").map(String::as_str) {
        None | Some("") => None,
        Some(word) => match Status::parse(word) {
            Some(status) => Some(status),
            None => return asked.answer(Err(wrong("/status", "there is no such status"))),
        },
    };
    if words
        .get("after")
        .is_some_and(|after| !after.is_empty() && uuid::Uuid::try_parse(after).is_err())
    {
        return asked.answer(Err(wrong(
            "/after",
            "the id of a proposal is expected here",
        )));
    }
    let gate = web.core.gate();
    let found = gate
        .proposals_for(
            &asked.who,
            status,
            words.get("after").map(String::as_str),
            MOST,
        )
        .await;
    asked.answer(found.map(|found| {
        let rows = found.iter().map(|p| written(gate, p, &asked.who)).collect();
        Json::object([("proposals", Json::Array(rows))])
    }))
}

async fn one(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    let gate = web.core.gate();
    let found = gate.proposal_for(&asked.who, &id).await;
    asked.answer(found.map(|p| written(gate, &p, &asked.who)))
}

async fn approve(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    match Asked::read(&web, request).await {
        Ok(asked) => asked.answer(approved(&web, &asked, &id).await),
        Err(response) => response,
    }
}

pub(super) async fn approved(web: &Web, asked: &Asked, id: &str) -> Result<Json, Refusal> {
    let gate = web.core.gate();
    let shown = asked.text("fingerprint", &["fingerprint", "always", "everybody"])?;
    let always = always(asked)?;
    let rule = match always {
        // Before the yes, so that a person who may not say it hears so before anything runs.
        Some(always) => {
            let proposal = gate.proposal_for(&asked.who, id).await?;
            if shown != shown_fingerprint(&proposal) {
                return Err(super::approvals::refused(&crate::proposals::No::ShownOther));
            }
            Some((always, proposal))
        }
        None => None,
    };
    if let Some((always, proposal)) = &rule {
        gate.may_allow_alone(&asked.who, proposal, *always)?;
    }
    let decided = gate.approve(&web.core, &asked.who, id, shown).await?;
    let mut out = written(gate, &decided, &asked.who);
    if let Some((always, proposal)) = rule {
        // The yes has had its effect whatever becomes of the rule, so the answer tells of both.
        let (member, value) = match decided.status {
            Status::Done | Status::Approved => {
                match gate.allow_alone(&asked.who, &proposal, always).await {
                    Ok(rule) => ("rule", rule.id.into()),
                    Err(refusal) => ("ruleRefused", Json::from(&*refusal.code)),
                }
            }
            // What did not work once is not let go on alone.
            _ => ("ruleRefused", super::gate_codes::RULE_REFUSED.into()),
        };
        if let Some(members) = out.as_object_mut() {
            members.insert(member.to_owned(), value);
        }
    }
    Ok(out)
}

fn always(asked: &Asked) -> Result<Option<Always>, Refusal> {
    let for_everybody = match asked.body.get("everybody") {
        None => false,
        Some(Json::Bool(everybody)) => *everybody,
        Some(_) => return Err(wrong("/everybody", "true or false is expected here")),
    };
    match asked.body.get("always").map(Json::as_str) {
        None if for_everybody => Err(wrong("/everybody", "this goes with \"always\"")),
        None => Ok(None),
        Some(Some("like_this")) => Ok(Some(Always {
            exactly_these_arguments: false,
            for_everybody,
        })),
        Some(Some("exactly_this")) => Ok(Some(Always {
            exactly_these_arguments: true,
            for_everybody,
        })),
        Some(_) => Err(wrong(
            "/always",
            "\"like_this\" or \"exactly_this\" is expected here",
        )),
    }
}

async fn reject(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    match Asked::read(&web, request).await {
        Ok(asked) => asked.answer(rejected(&web, &asked, &id).await),
        Err(response) => response,
    }
}

pub(super) async fn rejected(web: &Web, asked: &Asked, id: &str) -> Result<Json, Refusal> {
    let gate = web.core.gate();
    let reason = asked.text("reason", &["reason"])?;
    gate.reject(&asked.who, id, reason)
        .await
        .map(|p| written(gate, &p, &asked.who))
}

async fn withdraw(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    let gate = web.core.gate();
    let withdrawn = gate.withdraw(&asked.who, &id).await;
    asked.answer(withdrawn.map(|p| written(gate, &p, &asked.who)))
}

async fn rules(State(web): State<Web>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    let found = web.core.gate().rules_for(&asked.who).await;
    asked.answer(found.map(|rules| {
        Json::object([(
            "rules",
            Json::Array(rules.iter().map(written_rule).collect()),
        )])
    }))
}

async fn revoke(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    let revoked = match asked.text("why", &["why"]) {
        Ok(why) => web.core.gate().revoke_rule(&asked.who, &id, why).await,
        Err(refusal) => Err(refusal),
    };
    asked.answer(revoked.map(|()| Json::object([("revoked", Json::from(id.as_str()))])))
}

/// Links as JSON lines, in the form that `flowx audit verify` reads. `after` goes on after a link.
async fn audit(State(web): State<Web>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    if !may_read_trail(&asked.who) {
        return asked.answer(Err(Refusal::permission_denied(AUDIT_READ)));
    }
    let words = match asked.query(&["after"]) {
        Ok(words) => words,
        Err(refusal) => return asked.answer(Err(refusal)),
    };
    let after = match words.get("after").map(|text| text.parse::<u64>()) {
        None => 0,
        Some(Ok(after)) => after,
        Some(Err(_)) => {
            return asked.answer(Err(wrong(
                "/after",
                "the number of a link is expected here",
            )));
        }
    };
    match export(&**web.core.gate().store(), after, 1_000).await {
        Ok((links, head)) => {
            let text: String = links.iter().map(|l| l.to_line() + "\n").collect();
            let mut response = Response::new(Body::from(text));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
            if let Ok(head) = HeaderValue::from_str(&format!("{}:{}", head.seq, head.hash)) {
                headers.insert("flowx-audit-head", head);
            }
            response
        }
        Err(error) => asked.answer(Err(super::store_refusal(&error))),
    }
}

/// The trail is one chain over all tenants, and names proposals: it is for nobody of one tenant, and for no agent, whatever they hold.
fn may_read_trail(who: &Principal) -> bool {
    who.holds(AUDIT_READ) && who.tenant.is_none() && !is_agent(who)
}

async fn audit_head(State(web): State<Web>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    if !may_read_trail(&asked.who) {
        return asked.answer(Err(Refusal::permission_denied(AUDIT_READ)));
    }
    let found = export(&**web.core.gate().store(), 0, 0).await;
    asked.answer(
        found
            .map_err(|e| super::store_refusal(&e))
            .map(|(_, head)| {
                Json::object([
                    ("seq", Json::from(head.seq)),
                    ("hash", head.hash.as_str().into()),
                ])
            }),
    )
}

/// A proposal as a person reads it. `fingerprint` is what a decision has to carry back.
pub(super) fn written(gate: &Gate, proposal: &Proposal, who: &Principal) -> Json {
    let text = |s: &str| Json::from(s);
    let optional = |s: Option<&str>| s.map_or(Json::Null, Json::from);
    let at = |ms: Option<i64>| ms.map_or(Json::Null, |ms| timestamp(ms).into());
    let shown = &proposal.shown;
    let list = |l: &[String]| Json::from(l.to_vec());
    let fields = shown
        .fields
        .iter()
        .map(|f| Json::object([("name", text(&f.name)), ("value", text(&f.value))]));
    let outcome = match &proposal.outcome {
        None => Json::Null,
        // What the flow gave is for whoever asked; that person can call it up as the caller.
        Some(Outcome::Done { at: when, .. }) => {
            Json::object([("kind", text("done")), ("at", timestamp(*when).into())])
        }
        Some(Outcome::Failed {
            at: when,
            code,
            message,
            ..
        }) => Json::object([
            ("kind", text("failed")),
            ("at", timestamp(*when).into()),
            ("code", text(code)),
            // A flow's own words about a caller's input.
            ("message", visible_short(message).into()),
        ]),
    };
    let decision = proposal.decision.as_ref().map_or(Json::Null, |d| {
        Json::object([
            ("by", text(&d.by)),
            ("yes", d.yes.into()),
            (
                "reason",
                optional(d.reason.as_deref().map(super::visible).as_deref()),
            ),
            ("at", timestamp(d.at).into()),
            ("useBefore", at(d.use_before)),
        ])
    });
    Json::object([
        ("id", text(&proposal.id)),
        ("status", text(proposal.status.as_str())),
        ("flow", text(&proposal.flow)),
        ("fingerprint", shown_fingerprint(proposal).into()),
        ("title", text(&shown.title)),
        ("askedBy", text(&shown.asked_by)),
        ("effects", list(&shown.effects)),
        ("permissions", list(&shown.permissions)),
        ("arguments", Json::Array(fields.collect())),
        ("withheld", list(&shown.withheld)),
        (
            "subjectVersion",
            optional(
                proposal
                    .subject_version
                    .as_deref()
                    .map(visible_short)
                    .as_deref(),
            ),
        ),
        ("finish", text(proposal.finish.as_str())),
        ("askedAt", timestamp(proposal.asked_at).into()),
        ("decideBefore", at(proposal.decide_before)),
        ("decision", decision),
        ("outcome", outcome),
        ("mayDecide", gate.may_decide(who, proposal).into()),
        // A yes runs with what the asker and whoever says it both hold: with one of these missing it can only fail.
        (
            "missingPermissions",
            Json::Array(
                shown
                    .permissions
                    .iter()
                    .filter(|permission| !who.holds(permission))
                    .map(|permission| text(permission))
                    .collect(),
            ),
        ),
        ("correlationId", text(&proposal.correlation_id)),
    ])
}

fn written_rule(rule: &StandingRule) -> Json {
    let reach = match &rule.reach {
        ReachOfRule::Everybody => "everybody".to_owned(),
        ReachOfRule::Person { subject, .. } => visible_short(subject),
    };
    Json::object([
        ("id", Json::from(rule.id.as_str())),
        ("agent", rule.agent.as_str().into()),
        ("flow", rule.flow.as_str().into()),
        (
            "skill",
            rule.skill.as_deref().map_or(Json::Null, Json::from),
        ),
        ("for", reach.into()),
        ("exactArguments", rule.input_digest.is_some().into()),
        ("saidAt", timestamp(rule.said_at).into()),
        ("used", rule.used.into()),
        (
            "lastUsed",
            rule.last_used.map_or(Json::Null, |at| timestamp(at).into()),
        ),
    ])
}

/// RFC 3339, in UTC.
pub(super) fn timestamp(millis: i64) -> String {
    let nanos = i128::from(millis) * 1_000_000;
    time::OffsetDateTime::from_unix_timestamp_nanos(nanos)
        .ok()
        .and_then(|at| {
            at.format(&time::format_description::well_known::Rfc3339)
                .ok()
        })
        .unwrap_or_else(|| millis.to_string())
}

pub(super) fn json(value: &Json) -> Response {
    let mut response = Response::new(Body::from(value.to_canonical()));
    *response.status_mut() = StatusCode::OK;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
        .headers_mut()
        .insert("cache-control", HeaderValue::from_static("no-store"));
    response
}

pub(super) fn wrong(path: &str, message: &str) -> Refusal {
    invalid(vec![InputError {
        path: path.to_owned(),
        message: message.to_owned(),
    }])
}

/// Whether that person hears of everything in their tenant.
pub(super) fn is_supervisor(who: &Principal) -> bool {
    who.holds(DECIDE_PERMISSION)
}

/// There is no such address for this caller.
pub(super) fn nowhere() -> Refusal {
    Refusal::new(
        codes::UNKNOWN_ROUTE,
        Category::NotFound,
        "There is nothing at this address.",
    )
}
