//! Any tokens are a predicate or an error, and a predicate and its negation agree.
#![no_main]

use flowx_build::cfg::CfgSet;
use proc_macro2::TokenStream;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(tokens) = text.parse::<TokenStream>() else { return };
    let mut set = CfgSet::builtin();
    set.set("unix", true);
    set.set("target_os=\"linux\"", true);
    if let Ok(value) = set.eval(tokens.clone())
        && let Ok(negated) = format!("not({tokens})").parse::<TokenStream>()
    {
        // A comma at the end is allowed inside of `all` and `not`, and nowhere else; the text stays one predicate.
        assert_eq!(set.eval(negated), Ok(value.not()), "{text}");
    }
});
