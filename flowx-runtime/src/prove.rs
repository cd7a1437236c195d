//! What generated code computes and compares at compile time.

use flowx_manifest::EffectClass;
use serde::{Deserialize, Serialize};

use crate::embedded::{FlowEntry, Kind, Registry, Slice};

/// One published entry, proven to be the compiled one (P1, P2), as the function that registers it.
///
/// The scan generates one constant of this per entry: `M` without the entry does not compile, and a digest or effects other than
/// the published ones stop the build with the text given.
pub const fn entry<M: FlowEntry<KEY>, const KEY: u64>(
    digest: u64,
    effects: &[&str],
    edited: &'static str,
    reaches: &'static str,
) -> fn(&mut Registry) {
    assert!(M::ENTRY.digest == digest, "{}", edited);
    assert!(same_ids(M::ENTRY.effects, effects), "{}", reaches);
    M::ENTRY.register
}

/// The index of the embedded document from the two files that the scan writes: per entry its kind's place in [`Kind::ALL`], the length
/// of its id, its start and its end, each as four bytes with the lowest first; and all ids without anything between them. As an
/// expression of 1,200 entries it would cost the compiler more than reading it here.
///
/// # Panics
/// At compile time, when the two are not of each other.
pub const fn index<const N: usize>(numbers: &[u8], mut ids: &'static str) -> [Slice; N] {
    assert!(numbers.len() == N * 16, "not the index of this manifest");
    let mut all = [Slice {
        kind: Kind::Effect,
        id: "",
        start: 0,
        end: 0,
    }; N];
    let mut i = 0;
    while i < N {
        let (id, rest) = ids.split_at(number(numbers, i * 16 + 4));
        all[i] = Slice {
            kind: Kind::ALL[number(numbers, i * 16)],
            id,
            start: number(numbers, i * 16 + 8),
            end: number(numbers, i * 16 + 12),
        };
        ids = rest;
        i += 1;
    }
    assert!(ids.is_empty(), "not the index of this manifest");
    all
}

const fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

/// Whether two collections hold the same ids, however often each.
pub const fn same_ids(compiled: &[&[&str]], published: &[&str]) -> bool {
    let mut i = 0;
    while i < compiled.len() {
        let mut j = 0;
        while j < compiled[i].len() {
            if !contains(published, compiled[i][j]) {
                return false;
            }
            j += 1;
        }
        i += 1;
    }
    let mut p = 0;
    while p < published.len() {
        let mut found = false;
        let mut i = 0;
        while i < compiled.len() {
            found = found || contains(compiled[i], published[p]);
            i += 1;
        }
        if !found {
            return false;
        }
        p += 1;
    }
    true
}

const fn contains(all: &[&str], one: &str) -> bool {
    let mut i = 0;
    while i < all.len() {
        if order(all[i], one) == 0 {
            return true;
        }
        i += 1;
    }
    false
}

/// -1, 0 or 1, as `Ord::cmp` would say; that one is not const.
const fn order(a: &str, b: &str) -> i8 {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return if a[i] < b[i] { -1 } else { 1 };
        }
        i += 1;
    }
    if a.len() == b.len() {
        0
    } else if a.len() < b.len() {
        -1
    } else {
        1
    }
}

/// Ids in order, as the manifest lists them.
pub const fn sorted<const N: usize>(mut ids: [&'static str; N]) -> [&'static str; N] {
    let mut i = 1;
    while i < N {
        let mut j = i;
        while j > 0 && order(ids[j - 1], ids[j]) > 0 {
            let earlier = ids[j - 1];
            ids[j - 1] = ids[j];
            ids[j] = earlier;
            j -= 1;
        }
        i += 1;
    }
    ids
}

/// Whether any of them does more than look.
pub const fn any_side_effect(classes: &[EffectClass]) -> bool {
    let mut i = 0;
    while i < classes.len() {
        if !matches!(classes[i], EffectClass::Reads) {
            return true;
        }
        i += 1;
    }
    false
}

/// All lists one after the other; `N` is how many they hold together.
pub const fn join<const N: usize>(
    lists: &[&[&'static [&'static str]]],
) -> [&'static [&'static str]; N] {
    let mut all: [&'static [&'static str]; N] = [&[]; N];
    let (mut list, mut at) = (0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[at] = lists[list][i];
            at += 1;
            i += 1;
        }
        list += 1;
    }
    all
}

/// The two halves of a `Result`, for return types that are written through an alias.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result<Output, Error>` [FLOWX1107]",
    label = "a capability or flow says yes or no",
    note = "the return type is `Result<Output, Error>` or an alias of one"
)]
pub trait Returns {
    /// What is given on yes.
    type Output;
    /// What is said on no.
    type Error;
}

impl<T, E> Returns for Result<T, E> {
    type Output = T;
    type Error = E;
}

/// What can be given to a second attempt.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a second attempt",
    label = "`attempts` needs a copy of the step's input",
    note = "derive `Clone` for `{Self}`, or take `attempts` away"
)]
pub trait Repeat {
    /// The copy.
    #[must_use]
    fn again(&self) -> Self;
}

impl<T: Clone> Repeat for T {
    fn again(&self) -> Self {
        self.clone()
    }
}

/// A copy for a further attempt.
pub fn again<T: Repeat>(input: &T) -> T {
    input.again()
}

/// The input of a flow that takes none: `{}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoInput {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_agree_as_sets_and_a_missing_or_extra_one_does_not() {
        assert!(same_ids(&[&["a", "b"], &["b"]], &["a", "b"]));
        assert!(same_ids(&[], &[]));
        assert!(!same_ids(&[&["a"]], &["a", "b"]));
        assert!(!same_ids(&[&["a", "b"]], &["a"]));
        assert!(!same_ids(&[&["ab"]], &["a"]));
    }

    #[test]
    fn ids_come_out_in_the_order_of_the_manifest() {
        const IDS: [&str; 4] = sorted(["payment-gateway", "ledger", "mail", "ledge"]);
        assert_eq!(IDS, ["ledge", "ledger", "mail", "payment-gateway"]);
        let mut same = IDS;
        same.sort_unstable();
        assert_eq!(IDS, same);
    }

    #[test]
    fn lists_are_joined_in_order() {
        const ALL: [&[&str]; 3] = join(&[&[&["a"], &["b", "c"]], &[&["d"]]]);
        assert_eq!(ALL, [&["a"] as &[&str], &["b", "c"], &["d"]]);
    }

    #[test]
    fn reading_is_no_side_effect_and_everything_else_is() {
        assert!(!any_side_effect(&[EffectClass::Reads]));
        for class in EffectClass::ALL {
            assert_eq!(
                any_side_effect(&[EffectClass::Reads, *class]),
                *class != EffectClass::Reads
            );
        }
    }

    #[test]
    fn no_input_is_read_from_an_empty_object() {
        assert_eq!(serde_json::from_str::<NoInput>("{}").unwrap(), NoInput {});
        assert!(serde_json::from_str::<NoInput>("null").is_err());
    }
}
