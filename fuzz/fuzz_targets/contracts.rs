//! Whatever Rust is written, contracts come out or are refused, and every descriptor keeps to the profile.
#![no_main]

use flowx_build::contracts::{Contracts, SingleFile};
use flowx_build::project::{complaints, portable};
use flowx_manifest::Direction;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(file) = SingleFile::parse("fuzz.rs", text) else {
        return;
    };
    for (module, name) in file.types() {
        let Ok(ty) = syn::parse_str::<syn::Type>(&name) else {
            continue;
        };
        for direction in [Direction::Request, Direction::Response] {
            let contracts = Contracts::new(&file);
            let id = contracts.contract(module, &ty, direction).name;
            let (contracts, _) = contracts.finish();
            let (schema, _) = portable(&contracts, &id, direction);
            assert_eq!(complaints(&schema), Vec::<String>::new(), "{schema}");
        }
    }
});
