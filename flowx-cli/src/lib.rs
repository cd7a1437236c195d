//! The `flowx` command. Thin: the scan is `flowx-build`'s, the comparison `flowx-diff`'s; here is what loads sources,
//! renders findings and decides the exit code. It never links the runtime.

pub mod cli;
mod commands;
mod context;
pub mod failure;
pub mod output;
mod rules;
pub mod source;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use cli::Cli;

/// Runs the command line and gives the exit code. Findings go to standard output, everything else to standard error.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // clap knows which stream its own text belongs to; help and version are no errors.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(failure::USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    match commands::run(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("error: {}", output::visible(&failure.to_string(), true));
            failure.into()
        }
    }
}
