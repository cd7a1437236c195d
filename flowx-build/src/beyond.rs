//! Declarations that this configuration switches off and another build of the package would have. They are in no manifest of this run;
//! that they are there is said all the same.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::cfg::CfgSet;
use crate::codes;
use crate::declare::{Carrier, Declarations, declarations};
use crate::files::Files;
use crate::finding::{Finding, Findings};
use crate::package::{Package, Target};
use crate::scan::{Externs, Tree, TreeOptions};

/// The library of the package, with everything open.
type Opened<'a> = Option<(&'a Target, Rc<Tree>)>;

/// Where a carrier stands, and what it is.
type Spot = (String, u32, u32, &'static str);

fn spot(carrier: &Carrier<'_>) -> Spot {
    let at = carrier.finding(codes::CFG_OFF, "");
    (at.file, at.line, at.column, carrier.word)
}

/// Looks at a package once more, with everything open that a build may set.
pub(crate) struct Beyond<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) package: &'a Package,
    pub(crate) cfg: &'a CfgSet,
    /// The names of other crates, given the opened tree of the library.
    pub(crate) externs: &'a dyn Fn(Opened<'_>) -> Externs,
}

impl Beyond<'_> {
    /// Whether what was read could say more under another configuration; where it could not, nothing need be read again.
    pub(crate) fn needed<'t>(&self, trees: impl Iterator<Item = &'t Tree>) -> bool {
        let optional = self
            .package
            .binaries
            .iter()
            .any(|binary| !binary.required_features.is_empty());
        optional
            || trees
                .flat_map(Tree::sources)
                .any(|source| has_cfg(&source.text))
    }

    /// Notes for what is there beyond the declarations that were read.
    pub(crate) fn notes(&self, read: &[Declarations<'_>]) -> Vec<Finding> {
        let mut known: BTreeSet<Spot> = read
            .iter()
            .flat_map(|d| d.carriers.iter())
            .map(spot)
            .collect();
        let cfg = Rc::new(self.cfg.opened());
        let mut library: Opened<'_> = None;
        let mut notes = Vec::new();
        for target in self.package.library.iter().chain(&self.package.binaries) {
            // What is wrong with the sources has been said where they are compiled, and is not known where they are not.
            let unsaid = Findings::new();
            let tree = Rc::new(Tree::load(
                &TreeOptions {
                    files: self.files,
                    package: &self.package.root,
                    root: &target.path,
                    cfg: cfg.clone(),
                    externs: Rc::new((self.externs)(library.clone())),
                },
                &unsaid,
            ));
            if target.stem == "lib" {
                library = Some((target, tree.clone()));
            }
            for carrier in &declarations(&tree, self.files, &unsaid).carriers {
                if known.insert(spot(carrier)) {
                    notes.push(note(carrier, target));
                }
            }
        }
        notes
    }
}

fn note(carrier: &Carrier<'_>, target: &Target) -> Finding {
    let why = match &carrier.hangs_on {
        Some(why) => format!("cfg({why})"),
        None if !target.required_features.is_empty() => {
            format!("required-features = {:?}", target.required_features)
        }
        None => "a cfg".to_owned(),
    };
    let message = format!(
        "{} hangs on {why}, which this configuration does not meet: the manifest does not have it, and no rule has looked at it",
        carrier.subject()
    );
    let mut note = carrier.finding(codes::CFG_OFF, message);
    note.off = Some(carrier.digest());
    note
}

/// Whether a text says `cfg` of anything but tests.
fn has_cfg(text: &str) -> bool {
    text.match_indices("cfg")
        .any(|(at, _)| !text[at..].starts_with("cfg(test)"))
}

#[cfg(test)]
mod tests {
    use super::has_cfg;

    #[test]
    fn only_what_can_be_set_otherwise_asks_for_another_look() {
        assert!(has_cfg("#[cfg(feature = \"x\")] fn f() {}"));
        assert!(has_cfg("#[cfg (test)]"), "spelt otherwise it costs a look");
        assert!(has_cfg("cfg_if! {}"));
        assert!(!has_cfg("#[cfg(test)]\nmod tests {}"));
        assert!(!has_cfg("fn config() { let x = 1; }"));
    }
}
