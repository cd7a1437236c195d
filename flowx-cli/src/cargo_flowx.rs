//! The same command as a subcommand of cargo, which puts `flowx` before the arguments.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "flowx") {
        args.remove(1);
    }
    flowx_cli::run(args)
}
