//! `flowx init`: adds FlowX to an existing crate. It shows every change first, asks, and changes nothing that is there already.

mod edit;
mod first_flow;

use std::fs;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli;
use crate::context::Context;
use crate::failure::{FINDINGS, Failure, OK};
use crate::source::{self, MANIFEST_FILE, Repository};

use super::print;

/// One file before and after.
struct Edit {
    path: PathBuf,
    before: Option<String>,
    after: String,
}

pub(super) fn run(context: &Context, args: &cli::Init) -> Result<u8, Failure> {
    let plan = plan(args)?;
    if plan.is_empty() {
        context.note("FlowX is here already; nothing to do");
        return Ok(OK);
    }
    for edit in &plan {
        print(&shown(edit))?;
    }
    let driver = diff_driver(&args.dir);
    if driver.is_some() {
        context.note("git will show flowx.manifest.json through `flowx show` (git config diff.flowx.textconv, in this clone only)");
    }
    if !args.yes && !asked()? {
        context.note("nothing was changed");
        return Ok(FINDINGS);
    }
    apply(&plan)?;
    if driver == Some(true) {
        let set = |key: &str, value: &str| {
            let mut command = Command::new("git");
            command
                .arg("-C")
                .arg(&args.dir)
                .args(["config", "--local", key, value])
                .stdin(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !(set("diff.flowx.textconv", "flowx show") && set("diff.flowx.cachetextconv", "true")) {
            context.note("git could not be told of the diff driver; `git config diff.flowx.textconv 'flowx show'` does it");
        }
    }
    write_manifest(context, args)?;
    context
        .note("next: `cargo build`, `flowx check`, and commit flowx.manifest.json with the rest");
    Ok(OK)
}

/// The committed manifest, as the changed sources say.
fn write_manifest(context: &Context, args: &cli::Init) -> Result<(), Failure> {
    let scanned =
        source::scan(context, &flowx_build::files::Disk, &args.dir).map_err(Failure::Load)?;
    if scanned.errors() > 0 {
        context.note("the sources have errors, so flowx.manifest.json is not written yet; `flowx check` shows them");
        return Ok(());
    }
    let path = args.dir.join(MANIFEST_FILE);
    fs::write(&path, scanned.manifest.write().text)
        .map_err(|error| Failure::load(path.display(), error))?;
    context.note(&format!("wrote {}", path.display()));
    Ok(())
}

fn plan(args: &cli::Init) -> Result<Vec<Edit>, Failure> {
    let dir = &args.dir;
    let cargo_toml = dir.join("Cargo.toml");
    let before = fs::read_to_string(&cargo_toml)
        .map_err(|error| Failure::load(cargo_toml.display(), error))?;
    let toml: toml::Table =
        toml::from_str(&before).map_err(|error| Failure::load(cargo_toml.display(), error))?;
    let Some(package) = toml.get("package").and_then(toml::Value::as_table) else {
        return Err(Failure::load(
            cargo_toml.display(),
            "is a workspace without a package; name the folder of the crate",
        ));
    };
    if let Some(path) = &args.flowx_path
        && !path.join("flowx-runtime/Cargo.toml").is_file()
    {
        return Err(Failure::load(path.display(), "holds no flowx-runtime"));
    }
    let mut plan = Vec::new();
    let mut push = |path: PathBuf, before: Option<String>, after: String| {
        if before.as_deref() != Some(after.as_str()) {
            plan.push(Edit {
                path,
                before,
                after,
            });
        }
    };

    let requirement = |krate: &str| match &args.flowx_path {
        Some(path) => {
            let path = fs::canonicalize(path)
                .unwrap_or_else(|_| path.clone())
                .join(krate);
            // A JSON string is a TOML basic string.
            format!(
                "{{ path = {} }}",
                flowx_manifest::Json::from(path.display().to_string())
            )
        }
        None => format!("\"{}\"", release()),
    };
    let has =
        |section: &str, krate: &str| toml.get(section).is_some_and(|s| s.get(krate).is_some());
    let mut after = before.clone();
    if !has("dependencies", "flowx-runtime") {
        after = edit::add_dependency(
            &after,
            "dependencies",
            "flowx-runtime",
            &requirement("flowx-runtime"),
        );
    }
    if !has("build-dependencies", "flowx-build") {
        after = edit::add_dependency(
            &after,
            "build-dependencies",
            "flowx-build",
            &requirement("flowx-build"),
        );
    }

    let root = crate_root(dir, &toml)?;
    let root_text =
        fs::read_to_string(&root).map_err(|error| Failure::load(root.display(), error))?;
    if !root_text.contains("include_manifest!") {
        let folder = source::folder_of(&root);
        let module = ["flows", "flowx_flows"]
            .into_iter()
            .find(|name| {
                !folder.join(format!("{name}.rs")).exists()
                    && !folder.join(name).exists()
                    && !edit::declares(&root_text, name)
            })
            .ok_or_else(|| {
                Failure::load(
                    root.display(),
                    "has modules `flows` and `flowx_flows` already",
                )
            })?;
        for (krate, requirement) in first_flow::DEPENDENCIES {
            if !has("dependencies", krate) {
                after = edit::add_dependency(&after, "dependencies", krate, requirement);
            }
        }
        push(
            folder.join(format!("{module}.rs")),
            None,
            first_flow::source(),
        );
        let with_module = edit::insert_items(
            &root_text,
            &format!("mod {module};\n\nflowx_runtime::include_manifest!();\n"),
        );
        push(root, Some(root_text), with_module);
    }
    push(cargo_toml, Some(before), after);

    // `build = false` and another name are Cargo.toml's to say.
    let script = match package.get("build") {
        Some(toml::Value::String(name)) => dir.join(name),
        Some(toml::Value::Boolean(false)) => {
            return Err(Failure::load(
                dir.join("Cargo.toml").display(),
                "switches build scripts off (build = false); FlowX needs one",
            ));
        }
        _ => dir.join("build.rs"),
    };
    match fs::read_to_string(&script) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            push(
                script,
                None,
                "fn main() {\n    flowx_build::emit();\n}\n".to_owned(),
            );
        }
        Err(error) => return Err(Failure::load(script.display(), error)),
        Ok(text) if text.contains("flowx_build::") => {}
        Ok(text) => {
            let after =
                edit::call_first_in_main(&text, "flowx_build::emit();").ok_or_else(|| {
                    Failure::load(
                        script.display(),
                        "has no `fn main` to call flowx_build::emit() from; add it by hand",
                    )
                })?;
            push(script, Some(text), after);
        }
    }

    if let Ok(repository) = Repository::discover(dir) {
        // Relative to the crate, so that it works wherever the clone stands.
        let up: PathBuf = repository
            .prefix()
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|_| "..")
            .collect();
        let top = dir.join(up);
        let attributes = top.join(".gitattributes");
        let line = "flowx.manifest.json diff=flowx\n";
        match fs::read_to_string(&attributes) {
            Ok(text) if text.contains("flowx.manifest.json") => {}
            Ok(text) => {
                let gap = if text.is_empty() || text.ends_with('\n') {
                    ""
                } else {
                    "\n"
                };
                let after = format!("{text}{gap}{line}");
                push(attributes, Some(text), after);
            }
            Err(_) => push(attributes, None, line.to_owned()),
        }
        let workflow = top.join(".github/workflows/flowx.yml");
        if !workflow.exists() {
            let folder = repository.prefix().trim_end_matches('/').to_owned();
            push(workflow, None, first_flow::workflow(&folder));
        }
    }
    // Cargo.toml first, since that is where a reader begins.
    plan.sort_by_key(|edit| (!edit.path.ends_with("Cargo.toml"), edit.path.clone()));
    Ok(plan)
}

/// The version of FlowX to depend on: this command's own, to the minor.
fn release() -> String {
    env!("CARGO_PKG_VERSION").rsplit_once('.').map_or_else(
        || env!("CARGO_PKG_VERSION").to_owned(),
        |(minor, _)| minor.to_owned(),
    )
}

/// The file of the crate that serves: the program's, or else the library's.
fn crate_root(dir: &Path, toml: &toml::Table) -> Result<PathBuf, Failure> {
    let binary = toml
        .get("bin")
        .and_then(|bins| bins.as_array()?.first()?.get("path")?.as_str())
        .map(PathBuf::from);
    let library = toml
        .get("lib")
        .and_then(|lib| lib.get("path")?.as_str())
        .map(PathBuf::from);
    let candidates = binary
        .into_iter()
        .chain(["src/main.rs".into()])
        .chain(library)
        .chain(["src/lib.rs".into()]);
    let mut found = candidates
        .map(|path| dir.join(path))
        .filter(|path| path.is_file());
    found
        .next()
        .ok_or_else(|| Failure::load(dir.display(), "has neither src/main.rs nor src/lib.rs"))
}

/// Whether git can be told of the diff driver: `Some(true)` when it has not been yet.
fn diff_driver(dir: &Path) -> Option<bool> {
    Repository::discover(dir).ok()?;
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(dir)
        .args(["config", "--get", "diff.flowx.textconv"])
        .stdin(Stdio::null());
    let set = command.output().ok()?.status.success();
    (!set).then_some(true)
}

fn shown(edit: &Edit) -> String {
    let name = edit.path.display().to_string();
    let name = name.strip_prefix("./").unwrap_or(&name);
    let before = edit.before.as_deref().unwrap_or_default();
    let old = if edit.before.is_some() {
        format!("a/{name}")
    } else {
        "/dev/null".to_owned()
    };
    similar::TextDiff::from_lines(before, &edit.after)
        .unified_diff()
        .context_radius(3)
        .header(&old, &format!("b/{name}"))
        .to_string()
}

fn asked() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(
            "nobody is there to ask; --yes makes these changes".to_owned(),
        ));
    }
    eprint!("Make these changes? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::load("standard input", error))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn apply(plan: &[Edit]) -> Result<(), Failure> {
    for edit in plan {
        // What was shown is what is done: a file that has changed since is left alone.
        let now = fs::read_to_string(&edit.path).ok();
        if now != edit.before {
            return Err(Failure::load(
                edit.path.display(),
                "has changed since it was read; run `flowx init` again",
            ));
        }
        if let Some(folder) = edit.path.parent() {
            fs::create_dir_all(folder).map_err(|error| Failure::load(folder.display(), error))?;
        }
        fs::write(&edit.path, &edit.after)
            .map_err(|error| Failure::load(edit.path.display(), error))?;
    }
    Ok(())
}
