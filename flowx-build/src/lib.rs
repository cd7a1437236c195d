//! The FlowX scan: from sources to the manifest, for build scripts ([`emit`]) and for the command ([`scan_package`]).

pub mod assemble;
mod beyond;
mod bridge;
pub mod cfg;
pub mod codes;
pub mod contracts;
mod contracts_file;
pub mod declare;
mod driver;
mod emit;
pub mod files;
mod finding;
mod flowx_names;
mod glue;
mod library;
pub mod package;
pub mod project;
mod registered;
pub mod rules;
pub mod scan;
mod stamp;
mod survey;
mod tools;
mod types;
mod untold;

pub use driver::{Features, Libraries, ScanOptions, ScanOutput, TargetOutput, scan_package};
pub use emit::{Emit, emit};
pub use finding::{Anchor, Finding, Findings, Severity};
pub use library::{Exported, ExportedEntry, Exports, Library};
#[cfg(any(test, feature = "schemars"))]
pub use registered::contract;
pub use survey::{Surveyed, survey};
pub use types::Place;
