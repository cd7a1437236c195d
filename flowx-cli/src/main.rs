//! The `flowx` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    flowx_cli::run(std::env::args_os())
}
