//! Every code the scan itself can give, in one table. 1101 and 1102 belong to the traits of the runtime.

use crate::finding::Severity::{self, Error, Note, Warning};

/// One code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// `FLOWX1110`.
    pub id: &'static str,
    /// How bad it usually is.
    pub severity: Severity,
    /// What it catches, in a few words.
    pub title: &'static str,
    /// How it is mended, usually; empty where each finding says it.
    pub help: &'static str,
}

macro_rules! codes {
    ($($name:ident = $id:literal, $severity:ident, $title:literal, $help:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: Code = Code { id: $id, severity: $severity, title: $title, help: $help };
        )*
        /// Every code, in order.
        pub const ALL: &[Code] = &[$($name),*];
        /// The bodies of their pages, in the same order.
        pub(crate) const PAGES: &[&str] = &[$(include_str!(concat!("rules/pages/", $id, ".md"))),*];
    };
}

codes! {
    FILE_MISSING = "FLOWX1110", Error, "the file of a module is missing",
        "create the file, give the module a #[path], or switch the module off with a cfg";
    FILE_TWICE = "FLOWX1111", Error, "a module has two files",
        "keep one of the two, as rustc demands";
    FILE_UNREADABLE = "FLOWX1112", Error, "a source file cannot be read",
        "save it as UTF-8, and make sure that the build may read it";
    NOT_RUST = "FLOWX1113", Error, "a source file that declares something cannot be parsed",
        "";
    MODULE_CYCLE = "FLOWX1114", Error, "a module contains itself",
        "";
    CFG_UNKNOWN = "FLOWX1120", Error, "a declaration hangs on a cfg that the scan cannot evaluate",
        "use a feature or a built-in cfg (FLOWX1123 names what those switch off), or tell the scan: flowx_build::Emit::new().cfg(\"name\", true) in build.rs, --cfg on the command line";
    CFG_TEST = "FLOWX1121", Warning, "a declaration stands under cfg(test)",
        "tests are not part of the surface: declare it in the library, or leave it without its attribute";
    CFG_MALFORMED = "FLOWX1122", Error, "a cfg predicate cannot be parsed",
        "";
    CFG_OFF = "FLOWX1123", Note, "a declaration is switched off in this configuration",
        "a manifest is about one configuration: run the command with the features and the target under which it is compiled as well";
    IN_MACRO_CALL = "FLOWX1130", Error, "a FlowX attribute stands inside a macro call, where the scan cannot see what becomes of it",
        "write the declaration outside of the macro";
    IN_MACRO_RULES = "FLOWX1131", Error, "a macro writes FlowX attributes, and the scan does not expand macros",
        "write the declarations out, and let the macro write what they call";
    IN_BODY = "FLOWX1132", Error, "a FlowX attribute stands inside a function body, where other modules cannot name it",
        "move the declaration to a module";
    INCLUDE = "FLOWX1133", Note, "an include! brings in code that the scan does not read",
        "a FlowX declaration in it fails to compile, and so is never lost: declare in a file of the package";
    NOT_A_FREE_FN = "FLOWX1134", Error, "a FlowX attribute stands where it cannot be read",
        "";
    DOC = "FLOWX1135", Error, "the text of a description is not known to the scan",
        "write the description as a literal";
    NOT_READ = "FLOWX1136", Error, "an attribute that this version of FlowX does not read",
        "";
    UNRESOLVED = "FLOWX1140", Error, "a path does not lead to anything the scan can see",
        "";
    NOT_A_STEP = "FLOWX1002", Error, "a step calls something that is no capability and no flow",
        "";
    WRONG_KIND = "FLOWX1141", Error, "a path leads to something of another kind",
        "";
    NAME_CYCLE = "FLOWX1142", Error, "names that stand for each other in a circle",
        "";
    AMBIGUOUS = "FLOWX1143", Error, "a name has several meanings",
        "";
    DUPLICATE = "FLOWX1150", Error, "two declarations have one id",
        "give one of them another id, or another major version";
    FLOW_CYCLE = "FLOWX1021", Error, "a flow calls itself",
        "";
    TOOL_NAME_CLASH = "FLOWX1152", Error, "two flows would be one tool",
        "give one of them another name: agent(name = \"…\")";
    TOOL_NAME = "FLOWX1153", Error, "an id that makes no tool name",
        "";
    NO_MANIFEST = "FLOWX1154", Error, "a target has no manifest to include, since the scan found errors",
        "mend the errors";
    LIBRARY_UNTOLD = "FLOWX1155", Error, "a library that declares something does not tell the crates that depend on it",
        "";
    CONTRACTS_FILE = "FLOWX1156", Error, "flowx.contracts.json is not what build.rs registers",
        "write it with FLOWX_CONTRACTS=write cargo build, and commit it";
    LIBRARY_UNREADABLE = "FLOWX1160", Error, "the manifest of a library cannot be read",
        "build the library with the same version of FlowX";
    PACKAGE = "FLOWX1161", Error, "Cargo.toml cannot be understood",
        "";
    NO_INCLUDE = "FLOWX1169", Error, "a target declares something and does not include its manifest",
        "write flowx_runtime::include_manifest!(); in the target's root file";
    ALLOW_UNKNOWN = "FLOWX1188", Error, "an allowance or a configured level of a rule that cannot be set",
        "";
    ALLOW_UNUSED = "FLOWX1189", Error, "an allowance that allows nothing",
        "take the allowance away";
    SYNTAX = "FLOWX1001", Error, "a FlowX attribute is written wrongly",
        "";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn every_code_is_its_own() {
        for (i, code) in ALL.iter().enumerate() {
            assert!(
                ALL.iter().skip(i + 1).all(|other| other.id != code.id),
                "{} stands twice",
                code.id
            );
            assert!(
                code.id.starts_with("FLOWX1") && code.id.len() == 9,
                "{}",
                code.id
            );
        }
    }
}
