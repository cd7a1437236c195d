//! A SOURCE that is read is shown as something that is read the same, and no revision can be taken for an option.
#![no_main]

use flowx_cli::source::Source;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(source) = text.parse::<Source>() else { return };
    match &source {
        Source::Git(git) => {
            assert!(!git.revision.is_empty() && !git.revision.starts_with('-'), "{text:?}");
            assert_eq!(source.to_string().parse::<Source>().as_ref(), Ok(&source), "{text:?}");
        }
        Source::Binary(_) | Source::Stdin => {
            assert_eq!(source.to_string().parse::<Source>().as_ref(), Ok(&source), "{text:?}");
        }
        // Shown without secrets and quotation marks, so not to be read again.
        Source::Http(_) | Source::Stdio(_) | Source::Path(_) => {}
    }
});
