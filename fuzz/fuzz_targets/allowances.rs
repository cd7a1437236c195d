//! The allowance file: no panic, and an entry that counts has a reason.
#![no_main]

use flowx_diff::{Allowances, Date};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Allowances::parse(text, Date::new(2026, 11, 30));
});
