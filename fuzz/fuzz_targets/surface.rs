//! A saved list of tools, compared with itself: no panic, nothing to say but names that stand twice.
#![no_main]

use flowx_diff::{DiffOptions, Surface, diff_surfaces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(surface) = Surface::read(data) {
        let report = diff_surfaces(&surface, &surface, &DiffOptions::default());
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }
});
