//! A hand in the generated files: what was published of a `u8` gains a value.

use std::path::Path;

fn main() {
    flowx_build::emit();
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    let folder = Path::new(&out).join("flowx");
    let mut edited = 0;
    for entry in std::fs::read_dir(&folder).expect("generated").flatten() {
        if let Ok(text) = std::fs::read_to_string(entry.path())
            && text.contains("\"maximum\":255")
        {
            std::fs::write(entry.path(), text.replace("\"maximum\":255", "\"maximum\":256")).expect("written");
            edited += 1;
        }
    }
    assert!(edited > 0, "nothing to edit in {}", folder.display());
}
