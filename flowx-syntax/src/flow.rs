//! `#[flow(…)]`: triggers, approval and steps.

use flowx_manifest::{Confirmation, DecidedBy, Finish, IsoDuration, Profile, Risk, StepName};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};

use crate::args::{Arg, Args, Value, name_of, path_text, segments, span_of, ungroup};
use crate::item::{On, check_order, deprecated, doc, function};
use crate::problem::{Problems, codes};
use crate::words::{listed, suggestion};
use crate::{AgentTriggerDecl, ApprovalDecl, FlowDecl, HttpDecl, Spanned, StepDecl};

const FLOW_KEYS: &[&str] = &[
    "id",
    "version",
    "title",
    "owner",
    "deadline",
    "profile",
    "http",
    "agent",
    "approval",
    "steps",
    "renamed_from",
];

/// The most attempts a step may declare: beyond it, retries are a load test.
pub const MOST_ATTEMPTS: u32 = 20;

/// Reads `#[flow(…)]`; `span` is the attribute's own place.
///
/// # Errors
/// Everything that is wrong with the declaration.
pub fn parse_flow(span: Span, args: TokenStream, on: On<'_>) -> Result<FlowDecl, Problems> {
    let mut problems = Problems::default();
    let target = function(on, "`#[flow]`", "FlowCx", &mut problems);
    let mut args = Args::read(args, "`#[flow]`", span, FLOW_KEYS, &["http"], &mut problems);
    let id = args.demand_name("id", "id = \"ticket.refund\"");
    let version = args.demand_name("version", "version = \"1.0.0\"");
    let title = args.text("title");
    let owner = args.text("owner");
    let deadline = args.name("deadline");
    if let Some(arg) = args.take("profile") {
        profile(&arg, args.problems);
    }
    let mut routes = Vec::new();
    while let Some(arg) = args.take("http") {
        let read = http(&arg, args.problems);
        routes.extend(read);
    }
    let agent = args
        .take("agent")
        .and_then(|arg| agent_trigger(&arg, args.problems));
    let approval = args
        .take("approval")
        .and_then(|arg| approval(&arg, args.problems));
    let steps = match args.take("steps") {
        Some(arg) => steps(&arg, args.problems),
        None if args.was_meant("steps") => Vec::new(),
        None => {
            args.problems.push(codes::NO_STEPS, span, "`#[flow]` needs its `steps(name: capability, …)`: a flow without steps does nothing");
            Vec::new()
        }
    };
    let renamed_from = args.name("renamed_from");
    let decl = (|| {
        let (signature, attrs) = target?;
        check_order(attrs, "`#[flow]`", &mut problems);
        Some(FlowDecl {
            signature,
            id: id?,
            version: version?,
            title,
            owner,
            deadline,
            http: routes,
            agent,
            approval,
            steps,
            renamed_from,
            doc: doc(attrs),
            deprecated: deprecated(attrs),
        })
    })();
    problems.finish(decl)
}

fn profile(arg: &Arg, problems: &mut Problems) {
    let said = match &arg.value {
        Value::Is(tokens) => syn::parse2::<syn::Ident>(tokens.clone()).ok(),
        Value::Flag | Value::List(_) => None,
    };
    match said {
        Some(word) if word == "durable" || word == "streaming" => problems.push(
            codes::PROFILE,
            word.span(),
            format!(
                "`profile = {word}` promises what no engine here keeps; leave `profile` out, and let callers repeat a \
                 call with its idempotency key"
            ),
        ),
        _ => {
            arg.word(Profile::ALL, problems);
        }
    }
}

/// `http(POST, "/api/v1/refunds", idempotent)`.
fn http(arg: &Arg, problems: &mut Problems) -> Option<HttpDecl> {
    const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];
    const EXAMPLE: &str = "http(POST, \"/api/v1/refunds\", idempotent)";
    let parts = segments(arg.list(EXAMPLE, problems)?);
    let mut parts = parts.into_iter();
    let (Some(method), Some(route)) = (parts.next(), parts.next()) else {
        problems.push(
            codes::MISSING,
            arg.span,
            format!("`http` needs a method and a route, as in `{EXAMPLE}`"),
        );
        return None;
    };
    let at = span_of(&method, arg.span);
    let method = match syn::Ident::parse_any.parse2(method) {
        Ok(word) if METHODS.contains(&word.to_string().as_str()) => Some(Spanned {
            value: word.to_string(),
            span: at,
        }),
        Ok(word) => {
            let hint = suggestion(&word.to_string(), METHODS);
            problems.push(
                codes::UNKNOWN_WORD,
                at,
                format!("`{word}` is not a method of a route; {hint}"),
            );
            None
        }
        Err(_) => {
            problems.push(
                codes::SYNTAX,
                at,
                format!("the method is one of {}, without quotes", listed(METHODS)),
            );
            None
        }
    };
    let at = span_of(&route, arg.span);
    let route = match syn::parse2::<syn::LitStr>(route) {
        Ok(text) => match check_route(&text.value()) {
            Ok(()) => Some(Spanned {
                value: text.value(),
                span: at,
            }),
            Err(why) => {
                problems.push(
                    codes::FORM,
                    at,
                    format!("{:?} is not a route: {why}", text.value()),
                );
                None
            }
        },
        Err(_) => {
            problems.push(
                codes::SYNTAX,
                at,
                format!("the route is a string literal, as in `{EXAMPLE}`"),
            );
            None
        }
    };
    let mut idempotent = false;
    for flag in parts {
        let mut args = Args::read(
            flag,
            "`http(…)`",
            arg.span,
            &["idempotent"],
            &[],
            &mut *problems,
        );
        if let Some(value) = args.flag("idempotent") {
            if idempotent {
                problems.push(codes::TWICE, arg.span, "`http(…)` has `idempotent` twice");
            }
            idempotent = value;
        }
    }
    Some(HttpDecl {
        method: method?,
        route: route?,
        idempotent,
    })
}

/// `/segment/{name}`: unreserved characters and whole-segment parameters, each once.
fn check_route(route: &str) -> Result<(), String> {
    let Some(rest) = route.strip_prefix('/') else {
        return Err("it begins with `/`".to_owned());
    };
    if route.len() > 512 {
        return Err("it has at most 512 bytes".to_owned());
    }
    let mut names = Vec::new();
    for segment in rest.split('/') {
        if let Some(name) = segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
            let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !plain {
                return Err(format!("`{{{name}}}` is not the name of an input field"));
            }
            if names.contains(&name) {
                return Err(format!("`{{{name}}}` stands in it twice"));
            }
            names.push(name);
        } else if segment.is_empty() {
            return Err("it has no empty segments and no `/` at its end".to_owned());
        } else if segment == "." || segment == ".." {
            return Err("clients take `.` and `..` out of it before they send it".to_owned());
        } else if let Some(bad) = segment
            .chars()
            .find(|c| !(c.is_ascii_alphanumeric() || "-._~".contains(*c)))
        {
            return Err(format!(
                "`{bad}` needs escaping; it holds letters, digits, `-`, `.`, `_`, `~`, and `{{name}}` as a whole segment"
            ));
        }
    }
    Ok(())
}

/// `agent(name = "…", description = "…", confirmation = …, risk = …)`.
fn agent_trigger(arg: &Arg, problems: &mut Problems) -> Option<AgentTriggerDecl> {
    let tokens = match &arg.value {
        Value::Flag => TokenStream::new(),
        _ => arg.list("agent(confirmation = required_for_side_effects)", problems)?,
    };
    let before = problems.0.len();
    let mut args = Args::read(
        tokens,
        "`agent(…)`",
        arg.span,
        &["name", "description", "confirmation", "risk"],
        &[],
        &mut *problems,
    );
    let name = args.name("name");
    let description = args.text("description");
    let confirmation = args.word("confirmation", Confirmation::ALL);
    let risk = args
        .word("risk", Risk::ALL)
        .map_or(Risk::Normal, |r| r.value);
    if problems.0.len() > before {
        return None;
    }
    let confirmation = confirmation.unwrap_or(Spanned {
        value: Confirmation::RequiredForSideEffects,
        span: arg.span,
    });
    Some(AgentTriggerDecl {
        span: arg.span,
        name,
        description,
        confirmation,
        risk,
    })
}

/// `approval(required, decided_by = …, self_approval, finish = …, expires = "…", grant_expires = "…", subject_version)`.
fn approval(arg: &Arg, problems: &mut Problems) -> Option<ApprovalDecl> {
    let tokens = arg.list(
        "approval(required, decided_by = queue(\"treasury\"))",
        problems,
    )?;
    let before = problems.0.len();
    let keys = &[
        "required",
        "decided_by",
        "self_approval",
        "finish",
        "expires",
        "grant_expires",
        "subject_version",
    ];
    let mut args = Args::read(tokens, "`approval(…)`", arg.span, keys, &[], &mut *problems);
    let required = args.flag("required").unwrap_or(false);
    let decided_by = args
        .take("decided_by")
        .map(|arg| decided_by(&arg, args.problems));
    let self_approval = args.flag("self_approval").unwrap_or(false);
    let finish = args
        .word("finish", Finish::ALL)
        .map_or(Finish::Run, |f| f.value);
    let expires = args.name::<IsoDuration>("expires");
    let grant_expires = args.name("grant_expires");
    let subject_version = args.flag("subject_version").unwrap_or(false);
    if problems.0.len() > before {
        return None;
    }
    Some(ApprovalDecl {
        span: arg.span,
        required,
        decided_by: decided_by.flatten().unwrap_or(DecidedBy::Requester),
        self_approval,
        finish,
        expires,
        grant_expires,
        subject_version,
    })
}

/// `requester | sponsor | queue("…") | person("…")`.
fn decided_by(arg: &Arg, problems: &mut Problems) -> Option<DecidedBy> {
    const WORDS: &[&str] = &["requester", "sponsor", "queue", "person"];
    let tokens: Vec<TokenTree> = match &arg.value {
        Value::Is(tokens) => ungroup(tokens.clone()).into_iter().collect(),
        Value::Flag | Value::List(_) => Vec::new(),
    };
    let (word, named) = match tokens.as_slice() {
        [TokenTree::Ident(word)] => (word, None),
        [TokenTree::Ident(word), TokenTree::Group(group)]
            if group.delimiter() == Delimiter::Parenthesis =>
        {
            (word, Some(group.stream()))
        }
        other => {
            let span = other.first().map_or(arg.span, TokenTree::span);
            problems.push(
                codes::SYNTAX,
                span,
                "`decided_by` is `requester`, `sponsor`, `queue(\"…\")` or `person(\"…\")`",
            );
            return None;
        }
    };
    let mut one_name = |what: &str| {
        let text = named
            .clone()
            .and_then(|t| syn::parse2::<syn::LitStr>(t).ok())
            .map(|l| l.value());
        let text = text.filter(|t| !t.trim().is_empty());
        if text.is_none() {
            problems.push(
                codes::SYNTAX,
                word.span(),
                format!("`{what}` names one, as in `{what}(\"…\")`"),
            );
        }
        text
    };
    match word.to_string().as_str() {
        "queue" => one_name("queue").map(DecidedBy::Queue),
        "person" => one_name("person").map(DecidedBy::Person),
        plain @ ("requester" | "sponsor") => {
            if named.is_some() {
                problems.push(
                    codes::SYNTAX,
                    word.span(),
                    format!("`{plain}` takes no arguments"),
                );
                return None;
            }
            Some(if plain == "sponsor" {
                DecidedBy::Sponsor
            } else {
                DecidedBy::Requester
            })
        }
        other => {
            let hint = suggestion(other, WORDS);
            problems.push(
                codes::UNKNOWN_WORD,
                word.span(),
                format!("`{other}` cannot decide; {hint}"),
            );
            None
        }
    }
}

const STEP_EXAMPLE: &str = "pay: payment::refund { timeout = \"PT2S\" }";

/// `steps(name: path { … }, name: flow path)`.
fn steps(arg: &Arg, problems: &mut Problems) -> Vec<StepDecl> {
    let Some(tokens) = arg.list(&format!("steps({STEP_EXAMPLE})"), problems) else {
        return Vec::new();
    };
    let segments = segments(tokens);
    if segments.is_empty() {
        problems.push(
            codes::NO_STEPS,
            arg.span,
            "`steps()` is empty: a flow without steps does nothing",
        );
    }
    let mut all: Vec<StepDecl> = Vec::new();
    for segment in segments {
        let Some(step) = step(segment, arg.span, problems) else {
            continue;
        };
        if all.iter().any(|s| s.name.value == step.name.value) {
            problems.push(
                codes::STEP_TWICE,
                step.name.span,
                format!(
                    "a step `{}` stands above; a step's name tells its calls apart",
                    step.name.value
                ),
            );
        } else if all
            .iter()
            .any(|s| s.target == step.target && s.is_flow == step.is_flow)
        {
            let target = path_text(&step.target);
            problems.push(
                codes::LISTED_TWICE,
                step.name.span,
                format!("a step that calls `{target}` stands above; one step may be taken any number of times"),
            );
        } else {
            all.push(step);
        }
    }
    all
}

fn step(segment: TokenStream, otherwise: Span, problems: &mut Problems) -> Option<StepDecl> {
    let at = span_of(&segment, otherwise);
    let head = |input: ParseStream<'_>| -> syn::Result<(syn::Ident, bool, syn::Path, TokenStream)> {
        let name = input.call(syn::Ident::parse_any)?;
        input.parse::<syn::Token![:]>()?;
        // `flow` is a word of this grammar only where a path follows it; `flow::x` is a path of its own.
        let is_flow = input.peek(syn::Ident) && !input.peek2(syn::Token![::]) && {
            let fork = input.fork();
            fork.call(syn::Ident::parse_any).is_ok_and(|i| i == "flow")
                && fork.peek(syn::Ident::peek_any)
        };
        if is_flow {
            input.call(syn::Ident::parse_any)?;
        }
        let target = input.call(syn::Path::parse_mod_style)?;
        Ok((name, is_flow, target, input.parse()?))
    };
    let Ok((name, is_flow, target, rest)) = head.parse2(segment) else {
        problems.push(
            codes::SYNTAX,
            at,
            format!("a step is a name and a capability, as in `{STEP_EXAMPLE}`"),
        );
        return None;
    };
    let said = Spanned {
        value: name.unraw().to_string(),
        span: name.span(),
    };
    let name = name_of::<StepName>(&said, problems);
    let mut step = StepDecl {
        name: name?,
        target,
        is_flow,
        timeout: None,
        attempts: None,
        backoff: None,
        compensate: None,
    };
    let rest: Vec<TokenTree> = rest.into_iter().collect();
    match rest.as_slice() {
        [] => {}
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
            policies(&mut step, group.stream(), problems);
        }
        [first, ..] => problems.push(
            codes::SYNTAX,
            first.span(),
            format!("after a step's capability come its policies in braces or a comma, as in `{STEP_EXAMPLE}`"),
        ),
    }
    Some(step)
}

fn policies(step: &mut StepDecl, tokens: TokenStream, problems: &mut Problems) {
    const KEYS: &[&str] = &["timeout", "attempts", "backoff", "compensate"];
    let mut args = Args::read(tokens, "a step", step.name.span, KEYS, &[], &mut *problems);
    step.timeout = args.name("timeout");
    let attempts = args.take("attempts");
    let backoff_at = args.take("backoff");
    let compensate = args.take("compensate");
    if step.is_flow {
        for arg in [&attempts, &backoff_at, &compensate].into_iter().flatten() {
            problems.push(
                codes::IDLE,
                arg.span,
                format!("a sub-flow's steps have policies of their own; `{}` stands on them, not on the call", arg.key),
            );
        }
        return;
    }
    if let Some(arg) = &attempts {
        step.attempts = arg.number(problems).filter(|n| {
            let sensible = (1..=MOST_ATTEMPTS).contains(&n.value);
            if !sensible {
                problems.push(
                    codes::FORM,
                    n.span,
                    format!("`attempts` counts every try, from 1 to {MOST_ATTEMPTS}"),
                );
            }
            sensible
        });
    }
    if let Some(arg) = &backoff_at {
        if attempts.is_none() || step.attempts.as_ref().is_some_and(|n| n.value == 1) {
            problems.push(
                codes::IDLE,
                arg.span,
                "`backoff` is the wait before a second attempt; say `attempts = 2` or more",
            );
        }
        step.backoff = arg
            .string(problems)
            .and_then(|text| name_of(&text, problems));
    }
    step.compensate = compensate.and_then(|arg| arg.path(problems));
}
