//! What the strict reader accepts is written back, read again the same, and read the same by another reader.
#![no_main]

use flowx_manifest::json::{JsonErrorKind, Limits, parse};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let theirs = serde_json::from_slice::<serde_json::Value>(bytes);
    match parse(bytes, Limits::REQUEST) {
        Ok(json) => {
            let canonical = json.to_canonical();
            assert_eq!(parse(canonical.as_bytes(), Limits::DOCUMENT).as_ref(), Ok(&json));
            if let Ok(theirs) = theirs {
                assert_eq!(json.to_value(), theirs);
            }
        }
        Err(error) => {
            let stricter = !matches!(error.kind, JsonErrorKind::Syntax(_) | JsonErrorKind::Utf8);
            assert!(theirs.is_err() || stricter, "{error}");
        }
    }
});
