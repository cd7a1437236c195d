//! Runs flows: the driver of a call, its steps under their policies, and the undoing of what was done.
//!
//! A step that fails for a reason of the platform leaves its refusal with the [`Call`] and stays pending; [`drive`] sees it after the
//! poll and drops the body (decision 001). So no body can swallow a denial, and no error type has to speak of one.

mod call;
mod drive;
mod step;
mod undo;

#[cfg(test)]
mod tests;

pub(crate) use call::{Call, Effects};
pub(crate) use drive::{Runner, sub_flow};
pub(crate) use step::{Declared, step};
#[cfg(test)]
pub(crate) use tests::call_over;
pub use undo::Compensation;
pub(crate) use undo::Kept;

/// A future that leaves its result where it was told to, its type out of sight: what polls it is compiled once.
type Pinned<'a> = std::pin::Pin<&'a mut (dyn Future<Output = ()> + Send + 'a)>;
