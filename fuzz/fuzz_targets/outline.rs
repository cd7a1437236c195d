//! Any text has an outline, and what `syn` can parse has the same modules in both.
#![no_main]

use flowx_build::scan::Tree;

fn by_syn(items: &[syn::Item]) -> String {
    let mut out = String::new();
    for item in items {
        if let syn::Item::Mod(m) = item {
            out.push_str(m.ident.to_string().trim_start_matches("r#"));
            if let Some((_, inner)) = &m.content {
                out.push_str(&format!("{{{}}}", by_syn(inner)));
            }
            out.push(' ');
        }
    }
    out
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let tree = Tree::from_source(text);
    if let (Some(source), Ok(ast)) = (tree.sources().first(), syn::parse_file(text)) {
        assert_eq!(source.outline_names(), by_syn(&ast.items), "{text}");
    }
});
