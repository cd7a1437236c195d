//! The grammar from outside: what is read, and what is said about what cannot be.
#![allow(clippy::unwrap_used)]

use flowx_manifest::{Authorization, Confirmation, DecidedBy, EffectClass, Finish, Leave, Risk};
use flowx_syntax::{
    CapabilityDecl, Doc, FlowDecl, FlowErrorDecl, FlowErrorKind, On, Problems, digest, key,
    parse_agent, parse_allow, parse_capability, parse_effect, parse_flow, parse_flow_error,
};
use proc_macro2::{Span, TokenStream};

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

fn capability_on(args: &str, item: &str) -> Result<CapabilityDecl, Problems> {
    let item: syn::Item = syn::parse_str(item).unwrap();
    parse_capability(Span::call_site(), tokens(args), On::from(&item))
}

fn capability(args: &str) -> Result<CapabilityDecl, Problems> {
    capability_on(
        args,
        "async fn refund(cx: &Cx<refund>, order: Order) -> Result<Receipt, RefundError> {}",
    )
}

fn flow_on(args: &str, item: &str) -> Result<FlowDecl, Problems> {
    let item: syn::Item = syn::parse_str(item).unwrap();
    parse_flow(Span::call_site(), tokens(args), On::from(&item))
}

fn flow(args: &str) -> Result<FlowDecl, Problems> {
    let args = format!("id = \"ticket.refund\", version = \"1.0.0\", {args}");
    flow_on(
        &args,
        "async fn issue(cx: &FlowCx<issue>, input: Issue) -> Result<Issued, Error> {}",
    )
}

fn steps(steps: &str) -> Result<FlowDecl, Problems> {
    flow(&format!("steps({steps})"))
}

fn error(item: &str) -> Result<FlowErrorDecl, Problems> {
    let item: syn::DeriveInput = syn::parse_str(item).unwrap();
    parse_flow_error(Span::call_site(), On::from(&item))
}

/// Every problem as `CODE message`, in order.
#[track_caller]
fn said<T: std::fmt::Debug>(result: Result<T, Problems>) -> Vec<String> {
    result
        .unwrap_err()
        .0
        .iter()
        .map(|p| format!("{} {}", p.code, p.message))
        .collect()
}

/// Exactly one problem, of that code, whose message holds all the texts.
#[track_caller]
fn one<T: std::fmt::Debug>(result: Result<T, Problems>, code: &str, texts: &[&str]) {
    let all = said(result);
    assert_eq!(all.len(), 1, "{all:#?}");
    assert!(all[0].starts_with(code), "{all:?}");
    for text in texts {
        assert!(all[0].contains(text), "{text:?} is not in {all:?}");
    }
}

const HEAD: &str = "id = \"payment.refund\", version = \"1.0.0\"";
const REST: &str = "authorization = permission(\"payment.refund\")";

#[test]
fn a_whole_capability_is_read() {
    let decl = capability(&format!(
        "{HEAD}, {REST}, effects(Ledger, crate::pay::Gateway), idempotent = true"
    ))
    .unwrap();
    assert_eq!(decl.id.value, "payment.refund");
    assert_eq!(decl.version.value.to_string(), "1.0.0");
    assert!(
        matches!(&decl.authorization.value, Authorization::Permission { permission } if *permission == "payment.refund")
    );
    let effects: Vec<String> = decl.effects.iter().map(flowx_syntax::path_text).collect();
    assert_eq!(effects, ["Ledger", "crate::pay::Gateway"]);
    assert!(decl.idempotent);
}

#[test]
fn idempotence_is_never_assumed() {
    assert!(!capability(&format!("{HEAD}, {REST}")).unwrap().idempotent);
    assert!(
        capability(&format!("{HEAD}, {REST}, idempotent"))
            .unwrap()
            .idempotent
    );
    assert!(
        !capability(&format!("{HEAD}, {REST}, idempotent = false"))
            .unwrap()
            .idempotent
    );
}

#[test]
fn every_stance_is_read_and_none_is_the_default() {
    let stance = |text: &str| {
        capability(&format!("{HEAD}, authorization = {text}"))
            .unwrap()
            .authorization
            .value
    };
    assert!(matches!(
        stance("authenticated"),
        Authorization::Authenticated {}
    ));
    assert!(matches!(stance("internal"), Authorization::Internal {}));
    assert!(matches!(
        stance("public"),
        Authorization::Public { approved_by: None }
    ));
    assert!(
        matches!(stance("public(approved_by = \"board\")"), Authorization::Public { approved_by: Some(b) } if b == "board")
    );
    one(capability(HEAD), "FLOWX1010", &["needs a stance"]);
}

#[test]
fn a_stance_that_nothing_enforces_is_refused() {
    one(
        capability(&format!("{HEAD}, authorization = policy(\"p\")")),
        "FLOWX1037",
        &["nothing here that could enforce"],
    );
    one(
        capability(&format!("{HEAD}, authorization = athenticated")),
        "FLOWX1037",
        &["did you mean `authenticated`?"],
    );
    one(
        capability(&format!("{HEAD}, authorization = \"internal\"")),
        "FLOWX1037",
        &["`authorization` is"],
    );
    one(
        capability(&format!("{HEAD}, authorization")),
        "FLOWX1037",
        &["`authorization` is"],
    );
    for empty in [
        "permission",
        "permission()",
        "permission(\"\")",
        "permission(\" \")",
    ] {
        one(
            capability(&format!("{HEAD}, authorization = {empty}")),
            "FLOWX1030",
            &["names nothing"],
        );
    }
    one(
        capability(&format!("{HEAD}, authorization = permission(\"a b\")")),
        "FLOWX1106",
        &["permission"],
    );
    one(
        capability(&format!("{HEAD}, authorization = permission(NAME)")),
        "FLOWX1163",
        &["string literal"],
    );
    one(
        capability(&format!(
            "{HEAD}, authorization = public(aproved_by = \"x\")"
        )),
        "FLOWX1104",
        &["did you mean `approved_by`?"],
    );
    one(
        capability(&format!(
            "{HEAD}, authorization = public(approved_by = \"\")"
        )),
        "FLOWX1106",
        &["says nothing"],
    );
    one(
        capability(&format!("{HEAD}, authorization = internal(\"x\")")),
        "FLOWX1163",
        &["no arguments"],
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let all = said(capability_on(
        "id = \"Payment\", versoin = \"1.0.0\", authorization = permision(\"x\"), effects(A, A), idempotent = yes",
        "fn refund(order: Order, more: u8, most: u8) -> u8 {}",
    ));
    let codes: Vec<&str> = all.iter().map(|p| &p[..9]).collect();
    let mut expected = vec![
        "FLOWX1107",
        "FLOWX1107",
        "FLOWX1107", // not async, no context, two inputs
        "FLOWX1104", // versoin
        "FLOWX1106", // id
        "FLOWX1037", // stance
        "FLOWX1162", // A twice
        "FLOWX1163", // yes
    ];
    let mut found = codes.clone();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{all:#?}");
}

#[test]
fn a_key_that_is_unknown_or_stands_twice_is_an_error_with_the_word_that_was_meant() {
    one(
        capability(&format!("{HEAD}, {REST}, effect(A)")),
        "FLOWX1104",
        &["no key `effect`", "did you mean `effects`?"],
    );
    one(
        flow("steps(a: b), flwo = \"x\""),
        "FLOWX1104",
        &["no key `flwo`"],
    );
    one(
        flow("steps(a: b), dedline = \"PT1S\""),
        "FLOWX1104",
        &["did you mean `deadline`?"],
    );
    one(
        capability(&format!("{HEAD}, {REST}, {REST}")),
        "FLOWX1105",
        &["`authorization` twice"],
    );
    one(
        flow("steps(a: b), steps(c: d)"),
        "FLOWX1105",
        &["`steps` twice"],
    );
    one(
        flow("steps(a: b), agent, agent"),
        "FLOWX1105",
        &["`agent` twice"],
    );
}

#[test]
fn a_segment_that_cannot_be_read_spoils_itself_only() {
    let all = said(capability(&format!(
        "{HEAD}, 5, {REST}, = , idempotent true"
    )));
    assert_eq!(all.len(), 3, "{all:#?}");
    assert!(all.iter().all(|p| p.starts_with("FLOWX1163")), "{all:#?}");
}

#[test]
fn values_are_literals_since_they_are_read_without_compiling() {
    one(
        capability(&format!("id = ID, version = \"1.0.0\", {REST}")),
        "FLOWX1163",
        &["string literal"],
    );
    one(
        capability(&format!(
            "id = concat!(\"a.b\"), version = \"1.0.0\", {REST}"
        )),
        "FLOWX1163",
        &["string literal"],
    );
    one(
        steps("a: b { attempts = N }"),
        "FLOWX1163",
        &["whole number"],
    );
}

#[test]
fn an_effect_is_read_and_its_class_is_of_a_closed_vocabulary() {
    let item: syn::Item = syn::parse_str("/// The books.\n struct Ledger;").unwrap();
    let read = |args: &str| parse_effect(Span::call_site(), tokens(args), On::from(&item));
    let decl = read("id = \"ledger\", class = changes").unwrap();
    assert_eq!(
        (decl.id.value.as_str(), decl.class.value),
        ("ledger", EffectClass::Changes)
    );
    assert!(matches!(decl.doc, Some(Doc::Text(text)) if text == "The books."));
    one(
        read("id = \"ledger\", class = chnages"),
        "FLOWX1104",
        &["did you mean `changes`?"],
    );
    one(
        read("id = \"ledger\", class = \"changes\""),
        "FLOWX1163",
        &["without quotes"],
    );
    one(read("id = \"ledger\""), "FLOWX1108", &["needs `class`"]);
    one(
        read("id = \"Ledger\", class = reads"),
        "FLOWX1106",
        &["effect id"],
    );
    let generic: syn::Item = syn::parse_str("struct Pool<T>(T);").unwrap();
    one(
        parse_effect(
            Span::call_site(),
            tokens("id = \"p\", class = reads"),
            On::from(&generic),
        ),
        "FLOWX1107",
        &["generics"],
    );
    let function: syn::Item = syn::parse_str("fn f() {}").unwrap();
    one(
        parse_effect(
            Span::call_site(),
            tokens("id = \"p\", class = reads"),
            On::from(&function),
        ),
        "FLOWX1107",
        &["struct"],
    );
}

#[test]
fn a_whole_flow_is_read() {
    let decl = flow(
        "title = \"Refund\", owner = \"support\", deadline = \"PT30S\", profile = ephemeral, renamed_from = \"ticket.pay_back\",
         http(POST, \"/api/v1/refunds\", idempotent), http(GET, \"/api/v1/refunds/{id}\"),
         agent(name = \"refund\", description = \"Pays back.\", confirmation = always, risk = high),
         approval(required, decided_by = person(\"anna\"), self_approval = true, finish = redeem, expires = \"P1D\",
                  grant_expires = \"PT1H\", subject_version),
         steps(find: ticket::find, pay: payment::refund { timeout = \"PT2S\", attempts = 3, backoff = \"PT0.2S\",
               compensate = payment::reverse }, mail: flow mail::send { timeout = \"PT1S\" },)",
    )
    .unwrap();
    assert_eq!(decl.http.len(), 2);
    assert!(decl.http[0].idempotent && !decl.http[1].idempotent);
    let agent = decl.agent.unwrap();
    assert_eq!(
        (agent.confirmation.value, agent.risk),
        (Confirmation::Always, Risk::High)
    );
    let approval = decl.approval.unwrap();
    assert!(approval.required && approval.self_approval && approval.subject_version);
    assert_eq!(
        (approval.decided_by, approval.finish),
        (DecidedBy::Person("anna".to_owned()), Finish::Redeem)
    );
    let pay = &decl.steps[1];
    assert_eq!(pay.attempts.as_ref().unwrap().value, 3);
    assert_eq!(pay.timeout.as_ref().unwrap().value.millis(), 2000);
    assert_eq!(
        flowx_syntax::path_text(pay.compensate.as_ref().unwrap()),
        "payment::reverse"
    );
    assert!(decl.steps[2].is_flow && !decl.steps[1].is_flow);
}

#[test]
fn an_agent_trigger_that_says_nothing_asks_for_side_effects() {
    for text in ["agent", "agent()"] {
        let agent = flow(&format!("steps(a: b), {text}"))
            .unwrap()
            .agent
            .unwrap();
        assert_eq!(
            agent.confirmation.value,
            Confirmation::RequiredForSideEffects
        );
        assert_eq!(agent.risk, Risk::Normal);
    }
}

#[test]
fn a_typo_in_a_confirmation_opens_nothing() {
    one(
        flow("steps(a: b), agent(confirmation = alwyas)"),
        "FLOWX1104",
        &["did you mean `always`?"],
    );
    one(
        flow("steps(a: b), agent(confirmaton = never)"),
        "FLOWX1104",
        &["did you mean `confirmation`?"],
    );
    one(
        flow("steps(a: b), agent(confirmation = \"never\")"),
        "FLOWX1163",
        &["`confirmation = never`"],
    );
    one(
        flow("steps(a: b), agent(confirmation)"),
        "FLOWX1163",
        &["one of"],
    );
    one(flow("steps(a: b), agent = never"), "FLOWX1163", &["a list"]);
}

#[test]
fn a_flow_without_steps_is_refused() {
    one(flow("owner = \"x\""), "FLOWX1023", &["without steps"]);
    one(steps(""), "FLOWX1023", &["without steps"]);
}

#[test]
fn a_profile_without_an_engine_is_refused() {
    one(
        flow("steps(a: b), profile = durable"),
        "FLOWX1028",
        &["promises what no engine here keeps"],
    );
    one(
        flow("steps(a: b), profile = durabel"),
        "FLOWX1104",
        &["not a value of `profile`"],
    );
}

#[test]
fn steps_are_told_apart_by_name_and_listed_once() {
    one(steps("a: b, a: c"), "FLOWX1109", &["`a` stands above"]);
    one(steps("a: b, c: b"), "FLOWX1162", &["calls `b`"]);
    one(steps("b"), "FLOWX1163", &["a name and a capability"]);
    one(steps("a: b<T>"), "FLOWX1163", &["policies in braces"]);
    one(steps("A: b"), "FLOWX1106", &["step name"]);
    one(
        steps("a: b { timeot = \"PT1S\" }"),
        "FLOWX1104",
        &["did you mean `timeout`?"],
    );
    one(
        steps("a: b { timeout = \"2s\" }"),
        "FLOWX1106",
        &["duration"],
    );
    one(
        steps("a: b { attempts = 0 }"),
        "FLOWX1106",
        &["from 1 to 20"],
    );
    one(
        steps("a: b { attempts = 21 }"),
        "FLOWX1106",
        &["from 1 to 20"],
    );
    one(
        steps("a: b { backoff = \"PT1S\" }"),
        "FLOWX1164",
        &["second attempt"],
    );
    one(
        steps("a: b { attempts = 1, backoff = \"PT1S\" }"),
        "FLOWX1164",
        &["second attempt"],
    );
    one(
        steps("a: flow b { attempts = 2 }"),
        "FLOWX1164",
        &["sub-flow"],
    );
    one(
        steps("a: flow b { compensate = c }"),
        "FLOWX1164",
        &["sub-flow"],
    );
    one(
        steps("a: b { compensate = \"c\" }"),
        "FLOWX1163",
        &["a path"],
    );
}

#[test]
fn flow_is_a_word_only_before_a_path() {
    let decl = steps("a: flow::find, b: flow mail, flow: c, d: flow").unwrap();
    let read: Vec<(String, bool)> = decl
        .steps
        .iter()
        .map(|s| (flowx_syntax::path_text(&s.target), s.is_flow))
        .collect();
    let expected = [
        ("flow::find", false),
        ("mail", true),
        ("c", false),
        ("flow", false),
    ];
    assert_eq!(
        read,
        expected.map(|(path, is_flow)| (path.to_owned(), is_flow))
    );
}

#[test]
fn a_route_has_the_form_of_a_route() {
    for good in ["/a", "/api/v1/x-y_z.~/{id}", "/{id}"] {
        flow(&format!("steps(a: b), http(GET, {good:?})")).unwrap();
    }
    for (bad, why) in [
        ("api", "begins with `/`"),
        ("", "begins with `/`"),
        ("/a/", "empty segments"),
        ("/", "empty segments"),
        ("/a//b", "empty segments"),
        ("/a/../b", "`..`"),
        ("/a b", "escaping"),
        ("/a?b=c", "escaping"),
        ("/ä", "escaping"),
        ("/{*rest}", "input field"),
        ("/{id}/{id}", "twice"),
        ("/x{id}", "escaping"),
        ("/{}", "input field"),
    ] {
        one(
            flow(&format!("steps(a: b), http(GET, {bad:?})")),
            "FLOWX1106",
            &[why],
        );
    }
    one(
        flow("steps(a: b), http(get, \"/a\")"),
        "FLOWX1104",
        &["did you mean `GET`?"],
    );
    one(
        flow("steps(a: b), http(\"GET\", \"/a\")"),
        "FLOWX1163",
        &["without quotes"],
    );
    one(
        flow("steps(a: b), http(GET)"),
        "FLOWX1108",
        &["method and a route"],
    );
    one(
        flow("steps(a: b), http(POST, \"/a\", idempotnt)"),
        "FLOWX1104",
        &["did you mean `idempotent`?"],
    );
}

#[test]
fn an_approval_is_of_closed_words() {
    one(
        flow("steps(a: b), approval(requird)"),
        "FLOWX1104",
        &["did you mean `required`?"],
    );
    one(
        flow("steps(a: b), approval(decided_by = anybody)"),
        "FLOWX1104",
        &["cannot decide"],
    );
    one(
        flow("steps(a: b), approval(decided_by = queue)"),
        "FLOWX1163",
        &["names one"],
    );
    one(
        flow("steps(a: b), approval(decided_by = queue(\"\"))"),
        "FLOWX1163",
        &["names one"],
    );
    one(
        flow("steps(a: b), approval(decided_by = sponsor(\"x\"))"),
        "FLOWX1163",
        &["no arguments"],
    );
    one(
        flow("steps(a: b), approval(finish = later)"),
        "FLOWX1104",
        &["not a value of `finish`"],
    );
    let approval = flow("steps(a: b), approval()").unwrap().approval.unwrap();
    assert!(!approval.self_approval && !approval.required);
}

#[test]
fn a_signature_of_another_shape_is_told_in_words() {
    let args = format!("{HEAD}, {REST}");
    let on = |item: &str| capability_on(&args, item);
    for (item, text) in [
        ("fn f(cx: &Cx<f>, x: X) -> Result<Y, E> {}", "async fn f"),
        (
            "async fn f() -> Result<Y, E> {}",
            "the first parameter is the context: `cx: &Cx<f>`",
        ),
        (
            "async fn f(x: X) -> Result<Y, E> {}",
            "the first parameter is the context",
        ),
        (
            "async fn f(cx: Cx<f>, x: X) -> Result<Y, E> {}",
            "the first parameter is the context",
        ),
        (
            "async fn f(cx: &mut Cx<f>, x: X) -> Result<Y, E> {}",
            "shared",
        ),
        (
            "async fn f(cx: &FlowCx<f>, x: X) -> Result<Y, E> {}",
            "the other kind",
        ),
        (
            "async fn f(cx: &Cx<g>, x: X) -> Result<Y, E> {}",
            "this context is `g`'s",
        ),
        (
            "async fn f(cx: &Cx, x: X) -> Result<Y, E> {}",
            "names whose it is",
        ),
        (
            "async fn f((a, b): &Cx<f>, x: X) -> Result<Y, E> {}",
            "one name",
        ),
        (
            "async fn f(cx: &Cx<f>, x: X, y: Y) -> Result<Y, E> {}",
            "one input",
        ),
        ("async fn f(cx: &Cx<f>, x: &X) -> Result<Y, E> {}", "owned"),
        (
            "async fn f(cx: &Cx<f>, x: impl X) -> Result<Y, E> {}",
            "impl",
        ),
        (
            "async fn f(cx: &Cx<f>, #[cfg(unix)] x: X) -> Result<Y, E> {}",
            "only sometimes",
        ),
        (
            "async fn f<T>(cx: &Cx<f>, x: X) -> Result<Y, E> {}",
            "without generics",
        ),
        ("async fn f(cx: &Cx<f>, x: X) {}", "returns nothing"),
        (
            "async fn f(cx: &Cx<f>, x: X) -> () {}",
            "`Result<Output, Error>`",
        ),
        (
            "async fn f(cx: &Cx<f>, x: X) -> impl Sized {}",
            "`Result<Output, Error>`",
        ),
        (
            "async unsafe fn f(cx: &Cx<f>, x: X) -> Result<Y, E> {}",
            "safe fn",
        ),
        (
            "async extern \"C\" fn f(cx: &Cx<f>, x: X) -> Result<Y, E> {}",
            "extern",
        ),
        ("struct S;", "async fn"),
        ("mod m {}", "async fn"),
    ] {
        one(on(item), "FLOWX1107", &[text]);
    }
    // What is more than one mistake is told as such.
    assert_eq!(
        said(on("async fn f(&self, x: X) -> Result<Y, E> {}")).len(),
        1
    );
    // Aliases of `Result`, a context of another path, patterns and no input at all are fine.
    for item in [
        "async fn f(cx: &flowx_runtime::Cx<f>) -> Answer<Y> {}",
        "async fn f(_: &Cx<self::f>, X { a, b }: X) -> io::Result<Y> {}",
        "async fn r#move(cx: &Cx<r#move>, mut x: Vec<X>) -> std::result::Result<Y, E> {}",
    ] {
        on(item).unwrap();
    }
}

#[test]
fn a_result_is_taken_apart_where_it_is_written_out() {
    let result = |returns: &str| {
        let item = format!("async fn refund(cx: &Cx<refund>) -> {returns} {{}}");
        let decl = capability_on(&format!("{HEAD}, {REST}"), &item).unwrap();
        decl.signature
            .result()
            .map(|(o, e)| (quote::quote!(#o).to_string(), quote::quote!(#e).to_string()))
    };
    assert_eq!(
        result("Result<A, B>"),
        Some(("A".to_owned(), "B".to_owned()))
    );
    assert_eq!(
        result("std::result::Result<A, B>"),
        Some(("A".to_owned(), "B".to_owned()))
    );
    assert_eq!(result("Result<A>"), None);
    assert_eq!(result("Answer<A>"), None);
}

#[test]
fn errors_have_a_code_and_a_category_each() {
    let decl = error(
        "enum E { #[flow_error(code = \"a.b\", category = NotFound)] A(u8), #[flow_error(transparent)] B(Other), \
         #[flow_error(transparent)] C { inner: Other } }",
    )
    .unwrap();
    assert!(
        matches!(&decl.variants[0].kind, FlowErrorKind::Code { code, .. } if code.value == "a.b")
    );
    assert!(matches!(
        &decl.variants[1].kind,
        FlowErrorKind::Transparent {
            member: syn::Member::Unnamed(_),
            ..
        }
    ));
    assert!(matches!(
        &decl.variants[2].kind,
        FlowErrorKind::Transparent {
            member: syn::Member::Named(_),
            ..
        }
    ));
    assert_eq!(
        error("#[flow_error(code = \"a.b\", category = Internal)] struct S;")
            .unwrap()
            .variants
            .len(),
        1
    );
    assert!(error("enum Never {}").unwrap().variants.is_empty());
    one(
        error("enum E { A }"),
        "FLOWX1108",
        &["`A` needs `#[flow_error"],
    );
    one(error("struct S;"), "FLOWX1108", &["`S` needs"]);
    one(
        error("enum E { #[flow_error(code = \"a.b\", category = Conflct)] A }"),
        "FLOWX1104",
        &["did you mean `Conflict`?"],
    );
    one(
        error("enum E { #[flow_error(code = \"ab\", category = Conflict)] A }"),
        "FLOWX1106",
        &["error code"],
    );
    one(
        error("enum E { #[flow_error(transparent, code = \"a.b\")] A(X) }"),
        "FLOWX1164",
        &["no place beside it"],
    );
    one(
        error("enum E { #[flow_error(transparent)] A(X, Y) }"),
        "FLOWX1107",
        &["one field"],
    );
    one(
        error("struct S<T>(T);").map(|_| ()).map_err(|p| {
            if p.0.len() == 2 {
                Problems(p.0[..1].to_vec())
            } else {
                p
            }
        }),
        "FLOWX1107",
        &["generics"],
    );
    one(
        error(
            "enum E { #[flow_error(code = \"a.b\", category = Conflict)] A, #[flow_error(code = \"a.b\", category = NotFound)] B }",
        ),
        "FLOWX1105",
        &["one code has one category"],
    );
}

#[test]
fn an_agents_leave_is_of_closed_words_and_each_flow_is_in_one_list() {
    let item: syn::Item = syn::parse_str("struct Clerk;").unwrap();
    let agent = |rest: &str| {
        let args = format!("id = \"clerk\", purpose = \"p\", sponsor = \"anna\", {rest}");
        parse_agent(Span::call_site(), tokens(&args), On::from(&item))
    };
    let decl = agent("spends = never, alone(a::b), never(c), skill(name = \"s\", purpose = \"p\", uses(a::b), never(d))").unwrap();
    assert_eq!((decl.changes, decl.spends), (Leave::Propose, Leave::Never));
    assert_eq!(decl.tools.len(), 2);
    assert_eq!(decl.skills[0].tools.len(), 1);
    one(
        agent("spends = alnoe"),
        "FLOWX1104",
        &["did you mean `alone`?"],
    );
    one(
        agent("spend = never"),
        "FLOWX1104",
        &["did you mean `spends`?"],
    );
    one(agent("alone(a), never(a)"), "FLOWX1162", &["say one"]);
    one(agent("alone(a, a)"), "FLOWX1162", &["twice"]);
    one(
        agent("skill(purpose = \"p\", uses(a))"),
        "FLOWX1108",
        &["needs `name`"],
    );
    let fields: syn::Item = syn::parse_str("struct Clerk(u8);").unwrap();
    let args = tokens("id = \"clerk\", purpose = \"p\", sponsor = \"anna\"");
    one(
        parse_agent(Span::call_site(), args, On::from(&fields)),
        "FLOWX1107",
        &["unit struct"],
    );
}

#[test]
fn an_allowance_names_its_rules_and_its_reason() {
    let allow = |text: &str| parse_allow(Span::call_site(), tokens(text));
    let decl = allow("FLOWX1103, FLOWX1170, reason = \"reads a version file\"").unwrap();
    assert_eq!(decl.rules.len(), 2);
    one(allow("FLOWX1103"), "FLOWX1108", &["needs `reason`"]);
    one(
        allow("FLOWX1103, reason = \"  \""),
        "FLOWX1106",
        &["says nothing"],
    );
    one(allow("reason = \"x\""), "FLOWX1108", &["names the rules"]);
    one(
        allow("FLOWX1103, FLOWX1103, reason = \"x\""),
        "FLOWX1162",
        &["twice"],
    );
    one(
        allow("FLOWX1103, reson = \"x\""),
        "FLOWX1104",
        &["did you mean `reason`?"],
    );
}

#[test]
fn a_doc_comment_comes_out_as_its_author_sees_it() {
    let doc = |item: &str| match capability_on(&format!("{HEAD}, {REST}"), item).unwrap().doc {
        Some(Doc::Text(text)) => text,
        other => panic!("{other:?}"),
    };
    let fun = "async fn f(cx: &Cx<f>) -> Result<A, B> {}";
    assert_eq!(
        doc(&format!("/// One.\n///\n///   - two\n/// three\n{fun}")),
        "One.\n\n  - two\nthree"
    );
    assert_eq!(
        doc(&format!("#[doc = r\"One.\"]\n#[doc = \"two\"]{fun}")),
        "One.\ntwo"
    );
    assert_eq!(
        doc(&format!("/** One.\n * two\n */ {fun}")),
        "One.\n two".replace("\n two", "\ntwo")
    );
    let unix = doc(&format!("/// One.\n/** two\n   three */\n{fun}"));
    let windows = doc(&format!("/// One.\r\n/** two\r\n   three */\r\n{fun}"));
    assert_eq!(unix, windows);
}

#[test]
fn a_description_that_could_be_hidden_below_the_attribute_is_refused() {
    let fun = "async fn f(cx: &Cx<f>) -> Result<A, B> {}";
    let args = format!("{HEAD}, {REST}");
    one(
        capability_on(&args, &format!("#[cfg_attr(x, doc = \"y\")] {fun}")),
        "FLOWX1107",
        &["put it above"],
    );
    one(
        capability_on(
            &args,
            &format!("#[cfg_attr(x, allow(y), deprecated)] {fun}"),
        ),
        "FLOWX1107",
        &["put it above"],
    );
    capability_on(&args, &format!("#[cfg_attr(x, allow(dead_code))] {fun}")).unwrap();
}

#[test]
fn the_digest_depends_on_what_is_said_and_on_nothing_else() {
    let one = |args: &str, item: &str| digest(&capability_on(args, item).unwrap());
    let args = format!("{HEAD}, {REST}, effects(a::B)");
    let item = "/// Doc.\nasync fn f(cx: &Cx<f>, x: Vec<Vec<u8>>) -> Result<A, B> {}";
    let base = one(&args, item);
    for (same_args, same_item) in [
        (args.replace(", ", "  ,\n /* c */ "), item.to_owned()),
        (format!("{args},"), item.to_owned()),
        (args.replace("\"1.0.0\"", "r#\"1.0.0\"#"), item.to_owned()),
        (
            args.replace("\"payment.refund\"", "\"payment\\x2Erefund\""),
            item.to_owned(),
        ),
        (
            format!("effects(a :: B), {HEAD}, {REST}, idempotent = false"),
            item.to_owned(),
        ),
        (
            args.clone(),
            item.replace("/// Doc.\n", "#[doc = \" Doc.\"]"),
        ),
        (
            args.clone(),
            item.replace(
                "/// Doc.\n",
                "#[allow(dead_code)]\r\n///   Doc.  \r\n#[inline]\n",
            ),
        ),
        (
            args.clone(),
            item.replace("Vec<Vec<u8>>", "Vec < Vec < u8 > >"),
        ),
        (
            args.clone(),
            item.replace("{}", "{ cx.anything().await }")
                .replace(", x:", ", Y { z }:"),
        ),
        (
            args.clone(),
            item.replace("async fn", "pub(crate) async fn"),
        ),
    ] {
        assert_eq!(
            one(&same_args, &same_item),
            base,
            "{same_args}\n{same_item}"
        );
    }
    for (other_args, other_item) in [
        (args.replace("1.0.0", "1.0.1"), item.to_owned()),
        (args.replace("a::B", "a::C"), item.to_owned()),
        (args.replace("a::B", "a::B, a::C"), item.to_owned()),
        (format!("{args}, idempotent"), item.to_owned()),
        (
            args.replace("permission(\"payment.refund\")", "internal"),
            item.to_owned(),
        ),
        (args.clone(), item.replace("Doc.", "Other.")),
        (args.clone(), item.replace("u8", "u16")),
        (args.clone(), item.replace("Result<A, B>", "Result<A, C>")),
        (
            args.clone(),
            item.replace("async fn f", "async fn g")
                .replace("Cx<f>", "Cx<g>"),
        ),
        (args.clone(), item.replace("async", "#[deprecated] async")),
    ] {
        assert_ne!(
            one(&other_args, &other_item),
            base,
            "{other_args}\n{other_item}"
        );
    }
}

#[test]
fn invisible_groups_around_tokens_change_nothing() {
    use proc_macro2::{Delimiter, Group, TokenTree};
    let item: syn::Item = syn::parse_str("async fn f(cx: &Cx<f>) -> Result<A, B> {}").unwrap();
    let plain = tokens(&format!("{HEAD}, {REST}, effects(a::B)"));
    // As `macro_rules!` leaves them around `$lit:literal` and `$path:path`.
    let grouped: TokenStream = plain
        .clone()
        .into_iter()
        .map(|t| match t {
            TokenTree::Literal(l) => {
                TokenTree::Group(Group::new(Delimiter::None, TokenTree::Literal(l).into()))
            }
            TokenTree::Group(g) => {
                let inner = TokenTree::Group(Group::new(Delimiter::None, g.stream()));
                TokenTree::Group(Group::new(g.delimiter(), inner.into()))
            }
            other => other,
        })
        .collect();
    let read = |args: TokenStream| {
        digest(&parse_capability(Span::call_site(), args, On::from(&item)).unwrap())
    };
    assert_eq!(read(plain), read(grouped));
}

#[test]
fn keys_tell_kinds_ids_and_majors_apart_and_stay_what_they_are() {
    let keys = [
        key("capability", "a.b@1"),
        key("flow", "a.b@1"),
        key("flow", "a.b@2"),
        key("flow", "a.c@1"),
        key("flowa", ".b@1"),
    ];
    for (i, one) in keys.iter().enumerate() {
        assert!(keys[i + 1..].iter().all(|other| one != other));
    }
    // Compiled libraries and scanned ones meet by this number: it changes with a new major of FlowX only.
    assert_eq!(key("flow", "ticket.refund@1"), 16_471_607_924_709_030_335);
}
