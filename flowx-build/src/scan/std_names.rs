//! What the standard library calls things: the prelude, and the paths that are the same thing under several names.

/// Types and traits of the prelude (2024), with where they live.
const PRELUDE: &[(&str, &str)] = &[
    ("Box", "std::boxed::Box"),
    ("String", "std::string::String"),
    ("Vec", "std::vec::Vec"),
    ("Option", "std::option::Option"),
    ("Result", "std::result::Result"),
    ("Clone", "std::clone::Clone"),
    ("Copy", "std::marker::Copy"),
    ("Default", "std::default::Default"),
    ("Debug", "std::fmt::Debug"),
    ("Eq", "std::cmp::Eq"),
    ("PartialEq", "std::cmp::PartialEq"),
    ("Ord", "std::cmp::Ord"),
    ("PartialOrd", "std::cmp::PartialOrd"),
    ("Hash", "std::hash::Hash"),
    ("Send", "std::marker::Send"),
    ("Sync", "std::marker::Sync"),
    ("Sized", "std::marker::Sized"),
    ("Unpin", "std::marker::Unpin"),
    ("Drop", "std::ops::Drop"),
    ("Fn", "std::ops::Fn"),
    ("FnMut", "std::ops::FnMut"),
    ("FnOnce", "std::ops::FnOnce"),
    ("AsRef", "std::convert::AsRef"),
    ("AsMut", "std::convert::AsMut"),
    ("Into", "std::convert::Into"),
    ("From", "std::convert::From"),
    ("TryFrom", "std::convert::TryFrom"),
    ("TryInto", "std::convert::TryInto"),
    ("Iterator", "std::iter::Iterator"),
    ("IntoIterator", "std::iter::IntoIterator"),
    ("Extend", "std::iter::Extend"),
    ("FromIterator", "std::iter::FromIterator"),
    ("DoubleEndedIterator", "std::iter::DoubleEndedIterator"),
    ("ExactSizeIterator", "std::iter::ExactSizeIterator"),
    ("ToOwned", "std::borrow::ToOwned"),
    ("ToString", "std::string::ToString"),
    ("Future", "std::future::Future"),
    ("IntoFuture", "std::future::IntoFuture"),
];

/// Other paths of the same things.
const SAME: &[(&str, &str)] = &[
    (
        "std::collections::hash_map::HashMap",
        "std::collections::HashMap",
    ),
    (
        "std::collections::hash_set::HashSet",
        "std::collections::HashSet",
    ),
    (
        "std::collections::btree_map::BTreeMap",
        "std::collections::BTreeMap",
    ),
    (
        "std::collections::btree_set::BTreeSet",
        "std::collections::BTreeSet",
    ),
    (
        "std::collections::vec_deque::VecDeque",
        "std::collections::VecDeque",
    ),
    (
        "std::collections::linked_list::LinkedList",
        "std::collections::LinkedList",
    ),
    (
        "std::collections::binary_heap::BinaryHeap",
        "std::collections::BinaryHeap",
    ),
];

/// What the names that a glob of a std module brings in stand for.
const GLOBS: &[(&str, &[&str])] = &[
    (
        "std::collections",
        &[
            "HashMap",
            "HashSet",
            "BTreeMap",
            "BTreeSet",
            "VecDeque",
            "LinkedList",
            "BinaryHeap",
        ],
    ),
    (
        "std::sync",
        &[
            "Arc", "Mutex", "RwLock", "Weak", "OnceLock", "LazyLock", "Condvar", "Barrier",
        ],
    ),
    ("std::rc", &["Rc", "Weak"]),
    (
        "std::cell",
        &["Cell", "RefCell", "OnceCell", "LazyCell", "UnsafeCell"],
    ),
    (
        "std::net",
        &[
            "IpAddr",
            "Ipv4Addr",
            "Ipv6Addr",
            "SocketAddr",
            "SocketAddrV4",
            "SocketAddrV6",
        ],
    ),
    (
        "std::num",
        &[
            "NonZero",
            "NonZeroU8",
            "NonZeroU16",
            "NonZeroU32",
            "NonZeroU64",
            "NonZeroU128",
            "NonZeroUsize",
            "NonZeroI8",
            "NonZeroI16",
            "NonZeroI32",
            "NonZeroI64",
            "NonZeroI128",
            "NonZeroIsize",
            "Wrapping",
            "Saturating",
        ],
    ),
    ("std::time", &["Duration", "Instant", "SystemTime"]),
    ("std::path", &["Path", "PathBuf"]),
    ("std::borrow", &["Cow"]),
    (
        "std::ops",
        &["Range", "RangeInclusive", "RangeFrom", "RangeTo", "Bound"],
    ),
    ("std::marker", &["PhantomData", "PhantomPinned"]),
];

/// The primitive types.
pub(crate) const PRIMITIVES: &[&str] = &[
    "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize", "f16", "f32", "f64", "f128",
];

/// Where a name of the prelude lives.
pub(crate) fn prelude(name: &str) -> Option<&'static str> {
    PRELUDE
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, path)| *path)
}

/// Where a name that `use module::*` of a std module brings in lives. `None` when the module has no such name, as far as
/// this table goes.
pub(crate) fn in_glob(module: &str, name: &str) -> Option<String> {
    if module == "std::prelude" || module.starts_with("std::prelude::") {
        return prelude(name).map(str::to_owned);
    }
    let names = GLOBS.iter().find(|(m, _)| *m == module)?.1;
    names.contains(&name).then(|| format!("{module}::{name}"))
}

/// The one path of a thing that has several: `alloc` and `core` are `std`, and what is re-exported stands under its
/// shortest path.
pub(crate) fn canonical(path: &[String]) -> String {
    let mut text = String::from("std");
    for segment in &path[1..] {
        text.push_str("::");
        text.push_str(segment);
    }
    match SAME.iter().find(|(other, _)| *other == text) {
        Some((_, one)) => (*one).to_owned(),
        None => text,
    }
}
