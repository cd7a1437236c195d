//! The `flowx` command.

use std::process::ExitCode;

/// Syntax trees and documents are millions of small allocations: a fifth of the time of a scan goes with the system's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    flowx_cli::run(std::env::args_os())
}
