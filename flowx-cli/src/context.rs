//! What every verb knows: the common flags, and what is worth finding out once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use flowx_build::cfg::CfgSet;

use crate::cli::Common;
use crate::failure::Failure;
use crate::output::{Styles, visible};
use crate::source::{Repository, find_manifest, folder_of};

/// The common flags, and what follows from them. Shared by the threads that load two sides at once.
pub struct Context {
    common: Common,
    repository: OnceLock<Arc<Repository>>,
    configuration: OnceLock<Result<CfgSet, String>>,
}

impl Context {
    /// Of those flags.
    pub fn new(common: Common) -> Self {
        Context {
            common,
            repository: OnceLock::new(),
            configuration: OnceLock::new(),
        }
    }

    /// The flags themselves.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// `--manifest-path`.
    pub fn manifest_path(&self) -> Option<&Path> {
        self.common.manifest_path.as_deref()
    }

    /// `--package`.
    pub fn package(&self) -> Option<&str> {
        self.common.package.as_deref()
    }

    /// `--features`, split.
    pub fn features(&self) -> Vec<String> {
        let words = self
            .common
            .features
            .iter()
            .flat_map(|text| text.split([',', ' ']));
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// What rustc says of the target, asked once: with the cfgs of the command line.
    ///
    /// # Errors
    /// When rustc knows no such target.
    pub fn configuration(
        &self,
        ask: impl FnOnce() -> Result<CfgSet, String>,
    ) -> Result<CfgSet, String> {
        self.configuration.get_or_init(ask).clone()
    }

    /// How to colour standard output.
    pub fn styles(&self) -> Styles {
        Styles::choose(self.common.color)
    }

    /// The bearer token for running servers.
    pub fn token(&self) -> Option<String> {
        std::env::var("FLOWX_TOKEN")
            .ok()
            .filter(|token| !token.is_empty())
    }

    /// How long a running server may take in all.
    pub fn server_time(&self) -> Duration {
        Duration::from_secs(self.common.timeout)
    }

    /// Something worth knowing that is no finding.
    pub fn note(&self, text: &str) {
        if !self.common.quiet {
            eprintln!("note: {}", visible(text, true));
        }
    }

    /// The git repository of the crate, or of the working folder.
    ///
    /// # Errors
    /// When there is none.
    pub fn repository(&self) -> Result<Arc<Repository>, Failure> {
        if let Some(repository) = self.repository.get() {
            return Ok(Arc::clone(repository));
        }
        let here = PathBuf::from(".");
        let folder = match self.manifest_path() {
            // In a bare repository the path is one inside of a tree, not on the disk.
            Some(path) if path.exists() => {
                find_manifest(Some(path)).map(|manifest| folder_of(&manifest))?
            }
            _ => here,
        };
        let repository =
            Repository::discover(&folder).map_err(|error| Failure::Load(error.to_string()))?;
        Ok(Arc::clone(
            self.repository.get_or_init(|| Arc::new(repository)),
        ))
    }

    /// Where the crate stands in its repository.
    pub fn folder_in_repository(&self, repository: &Repository) -> PathBuf {
        if repository.is_bare() {
            let named = self.manifest_path().map(Path::to_owned).unwrap_or_default();
            return if named.ends_with("Cargo.toml") {
                folder_of(&named)
            } else {
                named
            };
        }
        // The repository was found from the crate's folder, or from the working folder, above which the crate may stand.
        let prefix = PathBuf::from(repository.prefix());
        match find_manifest(self.manifest_path()) {
            Ok(manifest) if self.manifest_path().is_none() => {
                flowx_build::files::normalise(&prefix.join(folder_of(&manifest)))
            }
            _ => prefix,
        }
    }
}
