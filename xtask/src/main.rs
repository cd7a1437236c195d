//! Set-up, tests, benchmarks and generated files of the FlowX workspace: `cargo xtask --help`.

mod bench;
mod deny;
mod plant;
mod process;
mod rule;
mod test;
mod tools;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Set-up, tests, benchmarks and generated files of the FlowX workspace"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Installs what the tests need and runs all of them
    Test(test::Options),
    /// Takes the gate's guards out, one after another, and sees their tests fail
    Plant(plant::Options),
    /// Begins a rule: its file, its fixtures and its line in the registry
    NewRule(rule::Options),
    /// Measures the budgets of the design and prints a table with ratios
    Bench(bench::Options),
}

fn main() {
    match Cli::parse().command {
        Command::Test(options) => std::process::exit(test::run(&root(), &options)),
        Command::Plant(options) => match plant::run(&root(), &options) {
            Ok(code) => std::process::exit(code),
            Err(error) => {
                eprintln!("{error:#}");
                std::process::exit(1);
            }
        },
        Command::NewRule(options) => {
            if let Err(error) = rule::run(&root(), &options) {
                eprintln!("{error:#}");
                std::process::exit(1);
            }
        }
        Command::Bench(options) => {
            if let Err(error) = bench::run(&root(), &options) {
                eprintln!("{error:#}");
                std::process::exit(1);
            }
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask stands in the workspace")
        .to_owned()
}
