//! The scan, as the command drives it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use flowx_build::cfg::CfgSet;
use flowx_build::files::Files;
use flowx_build::{Features, Finding, Libraries, ScanOptions, Severity, scan_package};
use flowx_manifest::Manifest;

use super::{Places, shown};
use crate::context::Context;

/// What a scan found.
pub struct Scanned {
    /// The package's manifest.
    pub manifest: Manifest,
    /// What there is to say.
    pub findings: Vec<Finding>,
    /// Where things are declared.
    pub places: Places,
    /// What the configuration switches off, by subject, with a digest of what it says.
    pub off: BTreeMap<String, u64>,
}

impl Scanned {
    /// How many findings stop a build.
    pub fn errors(&self) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .count()
    }
}

/// Scans the package in that folder with the features, target and cfgs of the command line.
///
/// # Errors
/// When its Cargo.toml cannot be read, or names no such feature.
pub fn scan(context: &Context, files: &dyn Files, folder: &Path) -> Result<Scanned, String> {
    let common = context.common();
    let features = if common.all_features {
        Features::All
    } else {
        Features::Asked {
            names: context.features(),
            default: !common.no_default_features,
        }
    };
    let options = ScanOptions {
        files,
        package: folder,
        cfg: context.configuration(|| configuration(context))?,
        features,
        libraries: Libraries::Scan,
        look_beyond: true,
    };
    let output = scan_package(&options).map_err(|error| error.to_string())?;
    if output.targets.is_empty() {
        // An empty manifest would read as "nothing is published".
        return Err(
            "the package has neither a library nor a program that these features build".to_owned(),
        );
    }
    let places = output
        .places
        .into_iter()
        .map(|(subject, (file, line, _))| (subject, (shown(&folder.join(&file)), line)))
        .collect();
    let mut findings = output.findings;
    for finding in findings
        .iter_mut()
        .filter(|finding| !finding.file.is_empty())
    {
        finding.file = shown(&folder.join(&finding.file));
    }
    let off = findings
        .iter()
        .filter_map(|finding| Some((finding.subject.clone()?, finding.off?)))
        .collect();
    Ok(Scanned {
        manifest: output.manifest,
        findings,
        places,
        off,
    })
}

/// What rustc would say of the target; without rustc, what is false unless said.
fn configuration(context: &Context) -> Result<CfgSet, String> {
    let mut set = match print_cfg(context.common().target.as_deref())? {
        Some(lines) => CfgSet::from_rustc(&lines, BTreeSet::new()),
        None => {
            context.note("there is no rustc here: conditions on the target are unknown, and declarations that hang on them are reported");
            CfgSet::builtin()
        }
    };
    for cfg in &context.common().cfg {
        match cfg.strip_prefix('!') {
            Some(off) => set.set(off, false),
            None => set.set(cfg, true),
        }
    }
    Ok(set)
}

/// `rustc --print cfg`, `None` without a rustc.
fn print_cfg(target: Option<&str>) -> Result<Option<String>, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--print", "cfg"]).stdin(Stdio::null());
    if let Some(target) = target {
        if target.starts_with('-') {
            return Err(format!("{target:?} is no target"));
        }
        command.args(["--target", target]);
    }
    let Ok(output) = command.output() else {
        return Ok(None);
    };
    if output.status.success() {
        return Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    match target {
        Some(target) => Err(format!("rustc knows no target {target:?}")),
        None => Ok(None),
    }
}
