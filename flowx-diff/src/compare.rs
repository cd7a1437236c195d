//! The comparison: pairs entries by `id@major`, runs every rule, applies allowances, concludes.

use std::collections::BTreeMap;

use flowx_manifest::Manifest;

use crate::allow::Allowances;
use crate::inclusion::Budget;
use crate::report::{Bump, REPORT_VERSION, Report, Source, Verdict};
use crate::rules::{self, Sink};
use crate::surface::{Surface, ToolList};

/// What a comparison needs besides the two documents.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// What the base is called in the report.
    pub base: String,
    /// What the head is called in the report.
    pub head: String,
    /// The allowances to apply.
    pub allowances: Allowances,
    /// Where subjects are declared, by subject; whoever scanned the sources knows.
    pub sources: BTreeMap<String, Source>,
    /// How much work one schema comparison may do before it is undecided.
    pub budget: Budget,
    /// What the sources of both sides declare out of the documents' sight; `None` where that is not known of both.
    pub out_of_sight: Option<OutOfSight>,
}

/// Declarations that the configuration of a scan switched off: by subject (`flow ops.purge@1`) a digest of what each says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutOfSight {
    /// Those of the base.
    pub base: BTreeMap<String, u64>,
    /// Those of the head.
    pub head: BTreeMap<String, u64>,
}

/// Compares two manifests.
pub fn diff(base: &Manifest, head: &Manifest, options: &DiffOptions) -> Report {
    let mut cx = rules::Cx::new(base, head, options.budget);
    cx.out_of_sight = options.out_of_sight.as_ref();
    let mut sink = Sink::default();
    for rule in rules::ALL {
        (rule.check)(&cx, &mut sink);
    }
    let declared = declared_bump(&base.application.version, &head.application.version);
    conclude(sink, declared, options)
}

/// Compares two surfaces: manifests whole, anything else by its tools.
pub fn diff_surfaces(base: &Surface, head: &Surface, options: &DiffOptions) -> Report {
    match (base, head) {
        (Surface::Manifest(base), Surface::Manifest(head)) => diff(base, head, options),
        _ => diff_tools(&base.to_tools(), &head.to_tools(), options),
    }
}

/// Compares two lists of tools.
fn diff_tools(base: &ToolList, head: &ToolList, options: &DiffOptions) -> Report {
    let mut sink = Sink::default();
    rules::foreign::compare(base, head, options.budget, &mut sink);
    conclude(sink, None, options)
}

fn conclude(sink: Sink, declared_bump: Option<Bump>, options: &DiffOptions) -> Report {
    let mut report = Report {
        schema_version: REPORT_VERSION,
        base: options.base.clone(),
        head: options.head.clone(),
        verdict: Verdict::Compatible,
        required_bump: Bump::None,
        declared_bump,
        findings: sink.finish(),
        allowance_errors: Vec::new(),
    };
    for finding in &mut report.findings {
        finding.source = options
            .sources
            .get(&finding.subject)
            .or_else(|| {
                finding
                    .reached_by
                    .iter()
                    .find_map(|r| options.sources.get(r.split(" input").next()?))
            })
            .cloned();
    }
    options.allowances.apply(&mut report);
    report.conclude();
    report
}

/// The bump between two versions; `None` when one is not `major.minor.patch` (pre-release parts are left out of it).
/// Below 1.0.0 cargo's reading holds: the minor number says what the major number says later.
pub(crate) fn declared_bump(base: &str, head: &str) -> Option<Bump> {
    let parse = |v: &str| -> Option<[u64; 3]> {
        let core = v.split(['-', '+']).next()?;
        let mut parts = core.split('.').map(str::parse::<u64>);
        let out = [
            parts.next()?.ok()?,
            parts.next()?.ok()?,
            parts.next()?.ok()?,
        ];
        parts.next().is_none().then_some(out)
    };
    let (b, h) = (parse(base)?, parse(head)?);
    Some(match (b, h) {
        _ if h <= b => Bump::None,
        _ if h[0] > b[0] => Bump::Major,
        _ if h[1] > b[1] && h[0] == 0 => Bump::Major,
        _ if h[1] > b[1] => Bump::Minor,
        _ if h[0] == 0 => Bump::Minor,
        _ => Bump::Patch,
    })
}
