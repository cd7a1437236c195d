//! Whatever a program's bytes are: no panic, and what is found in them is a whole manifest that stands there verbatim.
#![no_main]

use flowx_cli::source::binary::find;
use flowx_manifest::Manifest;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (found, _) = find(bytes);
    for embedded in found {
        assert!(bytes.windows(embedded.text.len()).any(|w| w == embedded.text.as_bytes()));
        assert_eq!(Manifest::read(embedded.text.as_bytes()).as_ref(), Ok(&embedded.manifest));
        assert_eq!(embedded.manifest.write().text, embedded.text);
    }
});
