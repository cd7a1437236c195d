//! FlowX's own names, as a program sees them.

/// The crate that a program names.
pub(crate) const RUNTIME: &str = "flowx_runtime";
/// The crate that the macros live in; a program that names it directly means the same macros.
pub(crate) const MACROS: &str = "flowx_macros";

/// The package of the runtime.
pub(crate) const RUNTIME_PACKAGE: &str = "flowx-runtime";

/// Whether a package is one of FlowX's own.
pub(crate) fn is_own_package(package: &str) -> bool {
    matches!(
        package,
        "flowx-runtime" | "flowx-macros" | "flowx-build" | "flowx-manifest" | "flowx-syntax"
    )
}

/// The attributes and derives that declare something.
pub(crate) const WORDS: &[&str] = &[
    "effect",
    "capability",
    "flow",
    "agent",
    "entity",
    "event",
    "FlowError",
];

/// The macro that a path in a crate names.
pub(crate) fn macro_of(krate: &str, path: &str) -> Option<&'static str> {
    if krate != RUNTIME && krate != MACROS {
        return None;
    }
    let name = path.rsplit("::").next().unwrap_or(path);
    WORDS.iter().copied().find(|w| *w == name)
}

/// Whether FlowX's crate has a name, so that a glob of it brings it in.
pub(crate) fn exports(path: &str, macros: bool) -> bool {
    let name = path.rsplit("::").next().unwrap_or(path);
    if macros {
        WORDS.contains(&name) || name == "include_manifest"
    } else {
        TYPES.contains(&name)
    }
}

/// Types of the runtime that declarations mention.
const TYPES: &[&str] = &[
    "Cx",
    "FlowCx",
    "Sensitive",
    "FlowError",
    "Effect",
    "Capability",
    "Flow",
];
