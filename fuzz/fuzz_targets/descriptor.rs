//! Whatever schema a registered type brings: its descriptor keeps to the profile, and values of it can be made and changed.
#![no_main]

use flowx_build::project::{complaints, portable};
use flowx_manifest::json::{Limits, parse};
use flowx_manifest::{Contract, Direction};
use flowx_verify::{Deviation, Sampler};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(schema) = parse(data, Limits { depth: 24, bytes: 8192, ..Limits::DOCUMENT }) else { return };
    let contract = Contract {
        id: "x".to_owned(),
        schema: Some(schema.clone()),
        request: None,
        response: None,
        renamed_from: None,
    };
    for direction in [Direction::Request, Direction::Response] {
        let (told, _) = portable(std::slice::from_ref(&contract), "x", direction);
        assert_eq!(complaints(&told), Vec::<String>::new(), "{told}");
    }
    for deviation in Deviation::ALL {
        deviation.applied(&schema);
    }
    let mut sampler = Sampler::new(&schema, 1);
    for _ in 0..4 {
        let value = sampler.value();
        sampler.changed(&value);
    }
});
