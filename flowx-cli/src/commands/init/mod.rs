//! `flowx init`: adds FlowX to an existing crate. It shows every change first, asks, and changes nothing that is there already.

mod edit;
mod first_flow;
mod theirs;

use std::fs;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flowx_build::files::{display, normalise};

use crate::cli;
use crate::context::Context;
use crate::failure::{FINDINGS, Failure, OK};
use crate::source::{self, MANIFEST_FILE, Repository};

use super::print;
use theirs::{Root, Theirs};

/// One file before and after.
struct Edit {
    path: PathBuf,
    before: Option<String>,
    after: String,
}

pub(super) fn run(context: &Context, args: &cli::Init) -> Result<u8, Failure> {
    let theirs = Theirs::read(&args.dir)?;
    let (plan, notes) = plan(args, &theirs)?;
    if plan.is_empty() {
        context.note("FlowX is here already; nothing to do");
        return Ok(OK);
    }
    for edit in &plan {
        print(&shown(edit))?;
    }
    notes.iter().for_each(|note| context.note(note));
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

/// Every change, and what is worth knowing of it.
fn plan(args: &cli::Init, theirs: &Theirs) -> Result<(Vec<Edit>, Vec<String>), Failure> {
    let dir = &args.dir;
    let (mut plan, mut notes) = (Vec::new(), Vec::new());
    let mut push = |path: PathBuf, before: Option<String>, after: String| {
        if before.as_deref() != Some(after.as_str()) {
            plan.push(Edit {
                path,
                before,
                after,
            });
        }
    };
    let mut after = theirs.text.clone();
    let mut depend = |section: &str, krate: &str, requirement: &str| {
        if !theirs.has(section, krate) {
            after = edit::add_dependency(&after, section, krate, requirement);
        }
    };
    for (section, krate) in [
        ("dependencies", "flowx-runtime"),
        ("build-dependencies", "flowx-build"),
    ] {
        depend(section, krate, &requirement(args, theirs, krate)?);
    }

    let Root {
        file: root,
        module_path,
    } = theirs.root()?;
    let root_text =
        fs::read_to_string(&root).map_err(|error| Failure::load(root.display(), error))?;
    if !root_text.contains("include_manifest!") {
        let mut items = "flowx_runtime::include_manifest!();\n".to_owned();
        match first_flow::obstacle(theirs) {
            Some(why) => notes.push(format!("no first flow is written: {why}")),
            None => {
                for (krate, requirement) in first_flow::DEPENDENCIES {
                    depend("dependencies", krate, requirement);
                }
                let folder = normalise(&source::folder_of(&root).join(module_path));
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
                push(
                    folder.join(format!("{module}.rs")),
                    None,
                    first_flow::source(),
                );
                let place = if module_path.is_empty() {
                    String::new()
                } else {
                    format!("#[path = \"{module_path}/{module}.rs\"]\n")
                };
                items = format!("{place}mod {module};\n\n{items}");
            }
        }
        let with_items = edit::insert_items(&root_text, &items);
        push(root, Some(root_text), with_items);
    }

    let script = theirs.build_script()?;
    if theirs.script_is_off() {
        after = edit::without_build_false(&after);
        notes.push("`build = false` goes, since FlowX needs a build script".to_owned());
    }
    if let Some(least) = theirs.older_rust(env!("CARGO_PKG_RUST_VERSION")) {
        notes.push(format!(
            "the crate says that Rust {least} is enough; FlowX needs {}",
            env!("CARGO_PKG_RUST_VERSION")
        ));
    }
    push(theirs.cargo_toml.clone(), Some(theirs.text.clone()), after);
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
            push(
                workflow,
                None,
                first_flow::workflow(&folder, args.flowx_git.as_deref()),
            );
        }
    }
    // Cargo.toml first, since that is where a reader begins.
    plan.sort_by_key(|edit| (!edit.path.ends_with("Cargo.toml"), edit.path.clone()));
    Ok((plan, notes))
}

/// How to depend on a crate of FlowX: as the workspace says, from where `--flowx-path` or `--flowx-git` points, or released.
fn requirement(args: &cli::Init, theirs: &Theirs, krate: &str) -> Result<String, Failure> {
    // A JSON string is a TOML basic string.
    let quoted = |text: &str| flowx_manifest::Json::from(text).to_canonical();
    if theirs.workspace_has(krate) {
        return Ok("{ workspace = true }".to_owned());
    }
    if let Some(url) = &args.flowx_git {
        return Ok(format!("{{ git = {} }}", quoted(url)));
    }
    let Some(path) = &args.flowx_path else {
        return Ok(quoted(&release()));
    };
    let absolute =
        |path: &Path| fs::canonicalize(path).map_err(|error| Failure::load(path.display(), error));
    if !path.join("flowx-runtime/Cargo.toml").is_file() {
        return Err(Failure::load(path.display(), "holds no flowx-runtime"));
    }
    // Named relatively it stays relative, so that it holds wherever both are moved together.
    let path = absolute(path)?.join(krate);
    let path = if args.flowx_path.as_deref().is_some_and(Path::is_relative) {
        display(&absolute(&args.dir)?, &path)
    } else {
        path.display().to_string()
    };
    Ok(format!("{{ path = {} }}", quoted(&path)))
}

/// The version of FlowX to depend on: this command's own, to the minor.
fn release() -> String {
    env!("CARGO_PKG_VERSION").rsplit_once('.').map_or_else(
        || env!("CARGO_PKG_VERSION").to_owned(),
        |(minor, _)| minor.to_owned(),
    )
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
