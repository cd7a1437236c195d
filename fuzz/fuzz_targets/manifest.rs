//! A manifest that is read is written, read again the same, and every entry of its index is one line of JSON.
#![no_main]

use flowx_manifest::json::{Limits, parse};
use flowx_manifest::{Direction, Manifest, closure};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(mut manifest) = Manifest::read(bytes) else { return };
    manifest.canonicalise();
    let document = manifest.write();
    assert_eq!(Manifest::read(document.text.as_bytes()).as_ref(), Ok(&manifest));
    for entry in &document.index {
        let slice = &document.text[entry.range.clone()];
        assert!(!slice.contains('\n') && parse(slice.as_bytes(), Limits::DOCUMENT).is_ok());
    }
    for contract in &manifest.contracts {
        closure(&manifest, &contract.id, Direction::Request);
    }
});
