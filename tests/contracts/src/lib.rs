//! Type shapes, each declared once: compiled here, and scanned as text by the tests.
#![allow(missing_docs, dead_code, clippy::all)]

/// Lists the shapes of a file: the type as text, and the compiled type.
macro_rules! shapes {
    ($($ty:ty),* $(,)?) => {
        pub fn shapes() -> Vec<(&'static str, flowx_verify::Probe)> {
            vec![$((stringify!($ty), flowx_verify::probe!($ty))),*]
        }
    };
}

macro_rules! files {
    ($($name:ident),*) => {
        $(pub mod $name;)*

        /// Every file: its name, its text, its shapes.
        pub fn files() -> Vec<(&'static str, &'static str, Vec<(&'static str, flowx_verify::Probe)>)> {
            vec![$((stringify!($name), include_str!(concat!(stringify!($name), ".rs")), $name::shapes())),*]
        }
    };
}

files!(
    structs, enums, flatten, standard, foreign, naming, generic, converted, limits, odd, numbers,
    corners
);
