//! Where surfaces come from: one grammar, one way to load each kind.

pub mod binary;
mod git;
mod grammar;
mod mcp;
mod package;
mod scan;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flowx_build::files::{Disk, Files, display, normalise};
use flowx_diff::Surface;
use flowx_manifest::Manifest;
use flowx_manifest::json::Limits;

pub use git::{GitError, GitTree, Repository};
pub use grammar::{GitSource, GrammarError, Source};
pub use package::{find_manifest, folder_of, package_name, workspace_above};
pub use scan::{Scanned, scan};

use crate::context::Context;
use crate::failure::Failure;

/// A surface, and where it stands in source when it came from there.
pub struct Loaded {
    /// What to call it.
    pub label: String,
    /// The surface.
    pub surface: Surface,
    /// Subjects (`flow ticket.refund@1`) and where they are declared.
    pub places: Places,
    /// The canonical text, where it is a manifest.
    pub text: Option<String>,
    /// What the configuration switches off (FLOWX1123), by subject, with a digest of what it says; where it was scanned.
    pub off: Option<BTreeMap<String, u64>>,
}

/// Subjects and where they are declared: file relative to the repository or workspace, line from 1.
pub type Places = BTreeMap<String, (String, u32)>;

impl Loaded {
    /// The manifest.
    ///
    /// # Errors
    /// When the source is a foreign server's tools, which have no flows, effects or permissions.
    pub fn manifest(&self) -> Result<&Manifest, Failure> {
        match &self.surface {
            Surface::Manifest(manifest) => Ok(manifest),
            Surface::Tools(_) => Err(Failure::load(
                &self.label,
                "holds tools only; this verb needs a FlowX manifest (a foreign server can be compared with `flowx diff`)",
            )),
        }
    }
}

/// Loads a source.
///
/// # Errors
/// When it cannot be read, or what it holds is no surface.
pub fn load(context: &Context, source: &Source) -> Result<Loaded, Failure> {
    let label = source.to_string();
    match source {
        Source::Path(path) if path.is_dir() => {
            scanned(context, &label, &Disk, &package_folder(context, path)?)
        }
        Source::Path(path) if path.file_name().is_some_and(|name| name == "Cargo.toml") => scanned(
            context,
            &label,
            &Disk,
            &package_folder(context, &folder_of(path))?,
        ),
        Source::Path(path) => {
            let file = std::fs::File::open(path).map_err(|error| Failure::load(&label, error))?;
            document(label.clone(), &bounded(&label, file)?)
        }
        Source::Stdin => {
            let label = "standard input";
            document(label.to_owned(), &bounded(label, std::io::stdin())?)
        }
        Source::Binary(path) => from_binary(&label, path),
        Source::Http(url) => served(
            context,
            label,
            mcp::read_http(url, context.token().as_deref(), context.server_time()),
        ),
        Source::Stdio(words) => served(
            context,
            label,
            mcp::read_stdio(words, context.server_time()),
        ),
        Source::Git(git) => from_git(context, label, git),
    }
}

/// The working tree's crate, by its sources.
///
/// # Errors
/// When there is no crate, or it cannot be scanned.
pub fn load_working_tree(context: &Context) -> Result<Loaded, Failure> {
    let folder = working_folder(context)?;
    scanned(context, "working tree", &Disk, &folder)
}

/// The folder of the crate that the command is about.
///
/// # Errors
/// When there is none, or it is one of several.
pub fn working_folder(context: &Context) -> Result<PathBuf, Failure> {
    let manifest = find_manifest(context.manifest_path())?;
    package_folder(context, &folder_of(&manifest))
}

/// Absolute, since a workspace's root may stand above the working folder.
fn package_folder(context: &Context, folder: &Path) -> Result<PathBuf, Failure> {
    let folder = package::locate(&Disk, folder, context.package()).map_err(Failure::Load)?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        &folder
    };
    let folder =
        std::path::absolute(folder).map_err(|error| Failure::load(folder.display(), error))?;
    Ok(normalise(&folder))
}

/// A path as it is found from the working folder, with `/` on every platform. One inside of a git tree stays as it is.
pub fn shown(path: &Path) -> String {
    let path = normalise(path);
    match std::env::current_dir() {
        Ok(here) if path.is_absolute() => display(&here, &path),
        _ => path
            .iter()
            .map(|part| part.to_string_lossy())
            .collect::<Vec<_>>()
            .join("/"),
    }
}

fn scanned(
    context: &Context,
    label: &str,
    files: &dyn Files,
    folder: &Path,
) -> Result<Loaded, Failure> {
    let scanned = scan(context, files, folder).map_err(|why| Failure::load(label, why))?;
    let errors = scanned.errors();
    if errors > 0 {
        for finding in scanned
            .findings
            .iter()
            .filter(|f| f.severity == flowx_build::Severity::Error)
        {
            eprintln!(
                "error[{}]: {}",
                finding.id,
                crate::output::visible(&finding.message, true)
            );
            if finding.line > 0 {
                eprintln!("  --> {}:{}:{}", finding.file, finding.line, finding.column);
            }
        }
        let advice = "what it publishes cannot be told; mend them first (`flowx check` shows them)";
        return Err(Failure::load(
            label,
            format!(
                "the sources have {}: {advice}",
                crate::output::plural(errors, "error")
            ),
        ));
    }
    let text = scanned.manifest.write().text;
    Ok(Loaded {
        label: label.to_owned(),
        surface: Surface::Manifest(Box::new(scanned.manifest)),
        places: scanned.places,
        text: Some(text),
        off: Some(scanned.off),
    })
}

/// What a file or stream holds. It may be a pipe, so that its size is known only when it ends, if it does.
fn bounded(label: &str, from: impl Read) -> Result<Vec<u8>, Failure> {
    // One byte more, so that the reader of the document sees that it is too large.
    let most = Limits::DOCUMENT.bytes as u64 + 1;
    let mut bytes = Vec::new();
    from.take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::load(label, error))?;
    Ok(bytes)
}

fn document(label: String, bytes: &[u8]) -> Result<Loaded, Failure> {
    if bytes.trim_ascii().is_empty() {
        return Err(Failure::load(&label, "is empty"));
    }
    let surface = Surface::read(bytes).map_err(|why| {
        let hint = match bytes {
            _ if looks_built(bytes) => "; to read a built program, write bin:PATH",
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                "; it is UTF-16, as some shells redirect to a file: write it with --out"
            }
            [0xef, 0xbb, 0xbf, ..] => "; it begins with a byte order mark: save it without one",
            _ => "",
        };
        Failure::load(&label, format!("{why}{hint}"))
    })?;
    let text = match &surface {
        Surface::Manifest(manifest) => Some(manifest.write().text),
        Surface::Tools(_) => None,
    };
    Ok(Loaded {
        label,
        surface,
        places: Places::new(),
        text,
        off: None,
    })
}

/// ELF, Mach-O or PE, by the first bytes.
fn looks_built(bytes: &[u8]) -> bool {
    [
        &b"\x7fELF"[..],
        b"MZ",
        b"\xcf\xfa\xed\xfe",
        b"\xce\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"\0asm",
    ]
    .iter()
    .any(|magic| bytes.starts_with(magic))
}

fn from_binary(label: &str, path: &Path) -> Result<Loaded, Failure> {
    let embedded = one_manifest(path)?;
    Ok(Loaded {
        label: label.to_owned(),
        surface: Surface::Manifest(Box::new(embedded.manifest)),
        places: Places::new(),
        text: Some(embedded.text),
        off: None,
    })
}

/// The one manifest inside of a program.
///
/// # Errors
/// When it cannot be read, holds none, or holds several.
pub fn one_manifest(path: &Path) -> Result<binary::Embedded, Failure> {
    let name = path.display().to_string();
    let bytes = std::fs::metadata(path)
        .and_then(|about| {
            // A device or a pipe may never end.
            if about.is_file() {
                std::fs::read(path)
            } else {
                Err(std::io::Error::other("is no file"))
            }
        })
        .map_err(|error| Failure::load(&name, error))?;
    let (mut found, damaged) = binary::find(&bytes);
    match found.len() {
        1 => Ok(found.remove(0)),
        0 if damaged > 0 => Err(Failure::load(
            &name,
            "holds a manifest that is damaged or of another FlowX version",
        )),
        0 => Err(Failure::load(
            &name,
            "holds no FlowX manifest: it was built without `flowx_runtime::include_manifest!()`, or has been packed or encrypted since",
        )),
        several => {
            let digests: Vec<String> = found
                .iter()
                .map(|m| {
                    format!(
                        "{} {} ({})",
                        m.digest, m.manifest.application.name, m.manifest.application.version
                    )
                })
                .collect();
            Err(Failure::load(
                &name,
                format!(
                    "holds {several} different manifests: {}",
                    digests.join(", ")
                ),
            ))
        }
    }
}

fn served(
    context: &Context,
    label: String,
    answer: Result<mcp::Served, mcp::McpError>,
) -> Result<Loaded, Failure> {
    let served = answer.map_err(|error| Failure::load(&label, error))?;
    if let Some(text) = served.manifest {
        return document(label, text.as_bytes());
    }
    let ours = served.tools.iter().any(|tool| {
        tool.get("_meta")
            .is_some_and(|meta| meta.get("dev.flowx/flowId").is_some())
    });
    if ours {
        context.note(&format!("{label} is a FlowX server that does not let this caller read its manifest: its tools alone are compared"));
    }
    let list = flowx_manifest::Json::object([("tools", flowx_manifest::Json::Array(served.tools))]);
    document(label, list.to_canonical().as_bytes())
}

fn from_git(context: &Context, label: String, git: &GitSource) -> Result<Loaded, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::load(&label, why);
    let repository = context.repository()?;
    let commit = if git.merge_base {
        repository.merge_base(&git.revision)
    } else {
        repository.commit(&git.revision)
    }
    .map_err(|error| failed(&error))?;
    let tree = repository.tree(&commit).map_err(|error| failed(&error))?;
    if let Some(path) = &git.path {
        let path = Path::new(path);
        let folder = match path.file_name() {
            _ if tree.is_dir(path) => Some(path.to_owned()),
            Some(name) if name == "Cargo.toml" && tree.is_file(path) => Some(folder_of(path)),
            _ => None,
        };
        if let Some(folder) = folder {
            let folder =
                package::locate(&tree, &folder, context.package()).map_err(|why| failed(&why))?;
            return scanned(context, &label, &tree, &folder);
        }
        let bytes = tree.read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => failed(&GitError::NoPath {
                path: path.display().to_string(),
                revision: git.revision.clone(),
            }),
            _ => failed(&error),
        })?;
        return document(label, &bytes);
    }
    let folder = folder_at(context, &repository, &tree).map_err(|why| failed(&why))?;
    scanned(context, &label, &tree, &folder)
}

/// Where the command's crate stands in a tree: where it stands today, or else wherever a package of its name does, since
/// crates move.
fn folder_at(
    context: &Context,
    repository: &Repository,
    tree: &GitTree,
) -> Result<PathBuf, String> {
    let here = context.folder_in_repository(repository);
    let name = context.package().map(str::to_owned).or_else(|| {
        let manifest = find_manifest(context.manifest_path()).ok()?;
        package_name(&Disk, &folder_of(&manifest))
    });
    let first = package::locate(tree, &here, context.package());
    let fits = |folder: &PathBuf| name.is_none() || package_name(tree, folder) == name;
    match (first, name.as_deref()) {
        (Ok(folder), _) if fits(&folder) => Ok(folder),
        (first, Some(name)) => {
            let moved: Vec<PathBuf> = tree
                .named("Cargo.toml")
                .map(folder_of)
                .filter(|folder| package_name(tree, folder).as_deref() == Some(name))
                .collect();
            match (moved.as_slice(), first) {
                ([folder], _) => Ok(folder.clone()),
                // Renamed in place is more likely than gone.
                ([], first) => first,
                (several, _) => Err(format!(
                    "{} packages are named {name}; write git:REV:FOLDER",
                    several.len()
                )),
            }
        }
        (first, None) => first,
    }
}

/// The manifest that a tag's commit has in it, or else the one its sources give.
///
/// # Errors
/// When neither can be had.
pub fn load_released(
    context: &Context,
    repository: &Arc<Repository>,
    tag: &str,
) -> Result<Loaded, Failure> {
    let label = format!("git:{tag}");
    let failed = |why: &dyn std::fmt::Display| Failure::load(&label, why);
    let commit = repository
        .commit(&format!("refs/tags/{tag}"))
        .map_err(|error| failed(&error))?;
    let tree = repository.tree(&commit).map_err(|error| failed(&error))?;
    let folder = folder_at(context, repository, &tree).map_err(|why| failed(&why))?;
    match tree.read(&folder.join(MANIFEST_FILE)) {
        Ok(bytes) => document(label, &bytes),
        Err(_) => scanned(context, &label, &tree, &folder),
    }
}

/// The committed manifest's file name.
pub const MANIFEST_FILE: &str = "flowx.manifest.json";
