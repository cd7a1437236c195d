//! P1: what is compiled and was not scanned does not compile, at its own place; what was scanned and is not compiled neither.
use flowx_runtime::{Cx, capability};
use std::convert::Infallible;

#[doc(hidden)]
pub struct FlowxManifest;

const _: fn(&mut flowx_runtime::__private::Registry) =
    flowx_runtime::__private::entry::<FlowxManifest, 1>(0, &[], "edited", "reaches");

mod private {
    use super::*;

    #[capability(id = "pay.hidden", version = "1.0.0", authorization = internal)]
    async fn hidden(_cx: &Cx<hidden>, order: u64) -> Result<u64, Infallible> {
        Ok(order)
    }
}
