//! What the cases under `cases/` share.

pub use flowx_runtime::NoInput;

/// Stands where `include_manifest!()` stands in a program: a manifest that publishes whatever is compiled, so that a case is about
/// the attributes alone. The scan's half has fixture crates of its own.
#[macro_export]
macro_rules! everything_is_published {
    () => {
        #[doc(hidden)]
        #[allow(missing_docs)]
        pub struct FlowxManifest;
        #[doc(hidden)]
        #[allow(missing_docs)]
        pub struct FlowxRaised<const KEY: u64>;
        impl<const KEY: u64> ::flowx_runtime::__private::Published<KEY> for FlowxManifest {}
    };
}
