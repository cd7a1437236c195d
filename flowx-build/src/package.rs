//! What `Cargo.toml` says: the targets of a package and the names of the crates it depends on.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::flowx_names;
use crate::scan::{Ns, Tree};

/// The crates that a target can name.
#[derive(Default)]
pub struct Externs {
    /// The name in the source, and the crate's own.
    crates: BTreeMap<String, String>,
    /// The package's library, where the target is not itself the library.
    library: Option<(String, Rc<Tree>)>,
}

impl Externs {
    /// FlowX and serde alone.
    pub(crate) fn for_tests() -> Self {
        let crates = ["flowx_runtime", "serde", "schemars", "serde_json"];
        Self {
            crates: crates
                .iter()
                .map(|c| ((*c).to_owned(), (*c).to_owned()))
                .collect(),
            library: None,
        }
    }

    /// The crate's own name, by its name in the source.
    pub fn crate_of(&self, name: &str) -> Option<String> {
        self.crates.get(name).cloned()
    }

    /// The tree of the package's own library, when that is what the name means.
    pub fn own_library(&self, name: &str) -> Option<&Tree> {
        self.library
            .as_ref()
            .filter(|(n, _)| n == name)
            .map(|(_, tree)| &**tree)
    }

    /// Whether everything that a crate exports is known here.
    pub(crate) fn is_known(&self, krate: &str) -> bool {
        krate == flowx_names::RUNTIME || krate == flowx_names::MACROS
    }

    /// Whether a crate is known to export a path.
    pub(crate) fn exports(&self, krate: &str, path: &str, ns: Ns) -> bool {
        self.is_known(krate) && flowx_names::exports(path, ns == Ns::Macro)
    }
}
