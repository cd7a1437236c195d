//! The lexer against `syn`, on texts put together at random: whatever `syn` can parse has the same modules in both, and nothing
//! at all makes the scan panic.

use flowx_build::scan::Tree;
use proptest::prelude::*;

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

/// Pieces that a lexer trips over.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "mod a;",
        "pub mod b {",
        "}",
        "{",
        "(",
        ")",
        "mod r#type;",
        "fn f() {",
        "fn g<'a>(x: &'a str) -> &'a str { x }",
        "const A: char = '{';",
        "const B: char = '\\'';",
        "const C: &str = \"mod x; { \\\" \";",
        "const D: &str = r#\"mod y; \" }\"#;",
        "const E: u8 = b'}';",
        "// mod c;\n",
        "/* mod d; /* } */ { */",
        "/// mod e;\nfn h() {}",
        "#[cfg(x)]",
        "#![allow(y)]",
        "m! { mod z; }",
        "m!(mod z;);",
        "macro_rules! n { () => { mod q; } }",
        "use a::{b, c as d};",
        "extern crate e;",
        "static S: [u8; 3] = [1, 2, 3];",
        "impl X { fn i() { match y { _ => {} } } }",
        "struct T { a: u8 }",
        "struct U(u8);",
        "const K: T = T { a: 1 };",
        "type V = [u8; { 1 }];",
        "unsafe extern \"C\" { fn w(); }",
        "pub(crate) mod j;",
        "const L: &[u8] = b\"{\\\\\";",
        "const M: &CStr = c\"}\";",
        "fn l() -> impl Fn() -> ! { loop {} }",
        "\u{feff}",
        "é",
        "'",
        "\"",
        "r#",
        "#",
        "!",
        ";",
        "\\",
        "const N: f64 = 1.0e3 / 2.0;",
        "const O: bool = !true;",
        "enum Q { A { b: u8 }, C }",
    ]);
    prop_oneof![8 => fixed.prop_map(str::to_owned), 1 => "[ -~\\n]{0,8}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_outline_has_the_modules_that_syn_has(pieces in prop::collection::vec(piece(), 0..12)) {
        let text = pieces.join(" ");
        let tree = Tree::from_source(&text);
        if let Ok(ast) = syn::parse_file(&text) {
            prop_assert_eq!(tree.sources()[0].outline_names(), by_syn(&ast.items), "{}", text);
        }
    }
}
