//! The crates that a target can name.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::flowx_names;
use crate::package::Package;
use crate::scan::{Ns, Tree};

/// The crates that a target can name, by their names in the source.
#[derive(Default)]
pub struct Externs {
    /// The name in the source, and the crate's own.
    crates: BTreeMap<String, String>,
    /// The package's library, where the target is not itself the library.
    library: Option<(String, Rc<Tree>)>,
    /// Whether `use` starts at the crate's root (2015).
    pub(crate) rooted_uses: bool,
}

impl Externs {
    /// The dependencies of a package. `own` gives a library's own crate name where it is known and not the package's.
    pub fn of(package: &Package, own: &BTreeMap<String, String>) -> Self {
        let crate_of = |p: &str| own.get(p).cloned().unwrap_or_else(|| p.replace('-', "_"));
        let crates = package
            .dependencies
            .iter()
            .map(|(name, d)| (name.clone(), crate_of(&d.package)))
            .collect();
        Self {
            crates,
            library: None,
            rooted_uses: package.edition < 2018,
        }
    }

    /// The same with the package's own library.
    pub fn with_library(&self, name: String, tree: Rc<Tree>) -> Self {
        Self {
            crates: self.crates.clone(),
            library: Some((name, tree)),
            rooted_uses: self.rooted_uses,
        }
    }

    /// FlowX and serde alone.
    pub(crate) fn for_tests() -> Self {
        let crates = [
            "flowx_runtime",
            "serde",
            "schemars",
            "serde_json",
            "rusty_capability_attr",
        ];
        let crates = crates
            .iter()
            .map(|c| ((*c).to_owned(), (*c).to_owned()))
            .collect();
        Self {
            crates,
            library: None,
            rooted_uses: false,
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
