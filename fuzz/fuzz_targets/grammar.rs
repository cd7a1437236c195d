//! Whatever an attribute says, on whatever item, it is read or refused with a place and a code; and what was read is the same when its
//! tokens are written out and read again, as it is once by a macro and once by the scan.
#![no_main]

use flowx_syntax::{
    Digest, On, Problems, digest, parse_agent, parse_allow, parse_capability, parse_effect, parse_flow, parse_flow_error,
};
use proc_macro2::{Span, TokenStream};

/// Right items for each attribute, so that arguments are what is looked at; the text itself is tried as an item, too.
const ITEMS: &[&str] = &[
    "pub async fn book(cx: &Cx<book>, order: u64) -> Result<u64, No> { Ok(order) }",
    "/// Places an order.\npub async fn place(cx: &FlowCx<place>, order: u64) -> Result<u64, No> { Ok(order) }",
    "pub struct Ledger;",
    "pub enum No { #[flow_error(code = \"order.no\", category = Conflict)] Sold }",
];

fn same<D: Digest>(args: &TokenStream, read: impl Fn(TokenStream) -> Result<D, Problems>) {
    let written = args.to_string().parse::<TokenStream>();
    match read(args.clone()) {
        Ok(decl) => {
            let again = read(written.expect("tokens write themselves as tokens"));
            let again = again.unwrap_or_else(|e| panic!("{args}: read once, and then not: {e}"));
            assert_eq!(digest(&decl), digest(&again), "{args}");
        }
        Err(problems) => said(&problems),
    }
}

fn said(problems: &Problems) {
    assert!(!problems.is_empty());
    for problem in &problems.0 {
        assert!(problem.code.starts_with("FLOWX1") && !problem.message.is_empty());
    }
}

fn every(args: &TokenStream, item: &syn::Item) {
    let on = || On::from(item);
    let here = Span::call_site();
    same(args, |args| parse_effect(here, args, on()));
    same(args, |args| parse_capability(here, args, on()));
    same(args, |args| parse_flow(here, args, on()));
    same(args, |args| parse_agent(here, args, on()));
    if let Err(problems) = parse_flow_error(here, on()) {
        said(&problems);
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(args) = text.parse::<TokenStream>() else {
        return;
    };
    if let Err(problems) = parse_allow(Span::call_site(), args.clone()) {
        said(&problems);
    }
    for item in ITEMS {
        every(&args, &syn::parse_str(item).expect("the items above are items"));
    }
    if let Ok(item) = syn::parse2::<syn::Item>(args) {
        every(&TokenStream::new(), &item);
    }
});
