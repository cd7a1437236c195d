//! Two schemas: no panic, and the same answer for the same texts.
#![no_main]

use flowx_diff::inclusion::{Budget, check};
use flowx_manifest::json::{Limits, parse};
use flowx_manifest::{Direction, Json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(Json::Array(pair)) = parse(data, Limits { depth: 16, bytes: 4096, ..Limits::DOCUMENT }) else { return };
    let [old, new] = pair.as_slice() else { return };
    for direction in [Direction::Request, Direction::Response] {
        let first = check(old, new, direction, Budget { steps: 20_000 });
        assert_eq!(first, check(&old.clone(), &new.clone(), direction, Budget { steps: 20_000 }));
    }
});
