//! `cargo xtask plant`: a test that cannot fail says nothing. Each guard of `flowx-runtime/tests/gate/guards.toml` is taken out of the source, its
//! test is run over SQLite and over PostgreSQL, both have to fail, and the source is put back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, bail};
use toml::Value;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the guards whose test's name holds this
    #[arg(long)]
    only: Option<String>,
    /// Not the first so many of those, which another run has seen
    #[arg(long, default_value_t = 0)]
    skip: usize,
}

/// Takes out one guard after another. 0 when every test failed without its guard.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<i32> {
    let list = fs::read_to_string(root.join("flowx-runtime/tests/gate/guards.toml"))?;
    let list: Value = toml::from_str(&list)?;
    let guards = list["guard"].as_array().context("no guards")?;
    let (mut seen, mut unseen) = (0, Vec::new());
    let wanted = |guard: &&Value| {
        let test = text(guard, "test").unwrap_or_default();
        options.only.as_ref().is_none_or(|o| test.contains(o))
    };
    for guard in guards.iter().filter(wanted).skip(options.skip) {
        let (test, what) = (text(guard, "test")?, text(guard, "what")?);
        let planted = Planted::new(root, guard)?;
        let said = [false, true].map(|postgres| fails(root, test, postgres));
        drop(planted);
        let (sqlite, postgres) = match said {
            [Ok(sqlite), Ok(postgres)] => (sqlite, postgres),
            // One guard that is listed wrongly keeps no other from being seen.
            [Err(error), _] | [_, Err(error)] => {
                println!("{test}: {what}: {error:#}");
                unseen.push(test);
                continue;
            }
        };
        println!(
            "{test}: {what}: {}",
            match (sqlite, postgres) {
                (true, true) => "red over both",
                (true, false) => "GREEN over PostgreSQL",
                (false, true) => "GREEN over SQLite",
                (false, false) => "GREEN over both",
            }
        );
        if sqlite && postgres {
            seen += 1;
        } else {
            unseen.push(test);
        }
    }
    println!("{seen} guards seen, {} not: {unseen:?}", unseen.len());
    Ok(i32::from(!unseen.is_empty() || seen == 0))
}

/// Files with a guard taken out; put back when it is dropped.
struct Planted(Vec<(PathBuf, String)>);

impl Planted {
    fn new(root: &Path, guard: &Value) -> anyhow::Result<Planted> {
        let mut planted = Planted(Vec::new());
        for edit in guard["edits"].as_array().context("no edits")? {
            let path = root.join(text(edit, "file")?);
            let source = fs::read_to_string(&path)?;
            let find = text(edit, "find")?;
            if source.matches(find).count() != 1 {
                bail!("{find:?} does not stand in {} once", path.display());
            }
            let without = source.replace(find, text(edit, "replace")?);
            planted.0.push((path.clone(), source));
            fs::write(&path, without)?;
        }
        Ok(planted)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        for (path, source) in self.0.drain(..) {
            if let Err(error) = fs::write(&path, source) {
                eprintln!("{} could not be put back: {error}", path.display());
            }
        }
    }
}

/// Whether the test fails over that store; not whether it compiles.
fn fails(root: &Path, test: &str, postgres: bool) -> anyhow::Result<bool> {
    let (module, name) = test.split_once("::").context("a test is MODULE::NAME")?;
    let exact = match (postgres, module) {
        (false, _) => format!("{module}::on_sqlite::{name}"),
        (true, "cases") => "every_reported_failure_is_absent_over_postgres_too".to_owned(),
        (true, "asker") => "the_asker_is_looked_up_over_postgres_too".to_owned(),
        (true, "vault") => "values_are_sealed_over_postgres_too".to_owned(),
        (true, "hostile") => "nothing_hostile_gets_through_over_postgres_either".to_owned(),
        (true, "stores") => "a_store_that_fails_refuses_over_postgres_too".to_owned(),
        (true, other) => bail!("no test runs {other} over PostgreSQL"),
    };
    let cargo = |more: &[&str]| -> anyhow::Result<Output> {
        let mut command = Command::new("cargo");
        command
            .args(["test", "-q", "-p", "flowx-runtime", "--test", "gate"])
            .args(more)
            .env("FLOWX_ONLY", name)
            .current_dir(root)
            .stdin(Stdio::null());
        Ok(command.output()?)
    };
    let built = cargo(&["--no-run"])?;
    if !built.status.success() {
        bail!(
            "{test} without its guard does not compile:\n{}",
            String::from_utf8_lossy(&built.stderr)
        );
    }
    let ran = cargo(&["--", "--exact", &exact])?;
    let said = String::from_utf8_lossy(&ran.stdout);
    if !said.contains("1 passed") && !said.contains("1 failed") {
        bail!("{exact} did not run:\n{said}");
    }
    Ok(!ran.status.success())
}

fn text<'a>(value: &'a Value, name: &str) -> anyhow::Result<&'a str> {
    value
        .get(name)
        .and_then(Value::as_str)
        .with_context(|| format!("no {name} in {value:?}"))
}
