//! How the command ends when it cannot do what it was asked.

use std::process::ExitCode;

/// Nothing at or above the fail level.
pub const OK: u8 = 0;
/// Findings at or above the fail level.
pub const FINDINGS: u8 = 1;
/// The command line makes no sense.
pub const USAGE: u8 = 2;
/// An input could not be loaded or compared.
pub const LOAD: u8 = 3;
/// The committed manifest is stale.
pub const STALE: u8 = 4;

/// Why the command ended without an answer. Each kind has its own exit code, so that a script can tell "no" from "could
/// not say".
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// An input could not be loaded or compared, or an output not written.
    #[error("{0}")]
    Load(String),
    /// The committed manifest is not what the sources say.
    #[error("{0}")]
    Stale(String),
}

impl Failure {
    /// With what was being done before the reason.
    pub fn load(doing: impl std::fmt::Display, why: impl std::fmt::Display) -> Self {
        Failure::Load(format!("{doing}: {why}"))
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => USAGE,
            Failure::Load(_) => LOAD,
            Failure::Stale(_) => STALE,
        }
    }
}

impl From<Failure> for ExitCode {
    fn from(failure: Failure) -> Self {
        ExitCode::from(failure.code())
    }
}
