//! The FlowX scan: from sources to the manifest, for build scripts ([`emit`]) and for the command ([`scan_package`]).

pub mod cfg;
pub mod codes;
pub mod contracts;
pub mod files;
mod finding;
mod flowx_names;
pub mod package;
pub mod scan;

use std::path::{Path, PathBuf};

use flowx_manifest::Manifest;

pub use finding::{Anchor, Finding, Findings, Severity};

/// What a package is scanned with.
pub struct ScanOptions<'a> {
    /// Where to read: the disk, or a git revision.
    pub files: &'a dyn files::Files,
    /// The folder of the package's `Cargo.toml`.
    pub package: &'a Path,
    /// What is compiled.
    pub cfg: cfg::CfgSet,
    /// The features that are on; `None` for the package's default ones.
    pub features: Option<Vec<String>>,
    /// Manifests of libraries that the package depends on.
    pub libraries: Vec<PathBuf>,
}

/// What a scan found.
pub struct ScanOutput {
    /// Per target (`lib`, `bin-NAME`): what it and its libraries declare.
    pub targets: Vec<(String, Manifest)>,
    /// The package's manifest: the union over its targets.
    pub manifest: Manifest,
    /// What there is to say, sorted by file and line.
    pub findings: Vec<Finding>,
}

impl ScanOutput {
    /// Whether nothing stops a build.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Error)
    }
}
