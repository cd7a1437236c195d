//! Two FlowX manifests in, findings out.
//!
//! [`diff`] compares two surfaces, [`review`] looks at one. Both are pure functions of the documents: no file, no clock,
//! no network. [`inclusion`] decides whether every value of one JSON Schema is a value of another; [`sample`] makes
//! values of a schema; [`render`] turns findings into what people, editors and CI systems read.

mod allow;
mod compare;
pub mod inclusion;
mod registry;

mod report;
mod review;
mod rules;
pub mod sample;
mod schema;
mod surface;

pub use allow::{Allowance, AllowanceError, AllowanceFileError, Allowances, AllowedIn, Date};
pub use compare::{DiffOptions, OutOfSight, diff, diff_surfaces};
pub use registry::{RuleInfo, RuleKind, explain, rules};
pub use report::{Bump, Class, DEFAULT_FAIL_ON, Finding, REPORT_VERSION, Report, Source, Verdict};
pub use review::{Review, ReviewFinding, Severity, review};
pub use surface::{ForeignTool, Surface, SurfaceError, ToolList, from_tools_list};
