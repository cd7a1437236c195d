//! The module tree of one target and the names in it, as rustc sees them.

mod externs;
pub(crate) mod find;
mod item_macros;
mod load;
mod names;
mod outline;
mod resolve;
mod std_names;
mod tree;

pub use externs::Externs;
pub(crate) use names::item_attrs;
pub use resolve::{ItemRef, Ns, Resolved, Resolver, Unresolved};
pub use tree::{FileId, Module, ModuleId, SourceFile, Tree, TreeOptions};
