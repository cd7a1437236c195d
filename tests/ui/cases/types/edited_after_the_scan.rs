//! P2: what the compiler read is not what the scan read; and P3's other half: a flow reaches what it publishes.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, capability, effect};
use std::convert::Infallible;

#[effect(id = "ledger", class = changes)]
pub struct Ledger;

#[capability(id = "pay.once", version = "1.0.0", authorization = internal, effects(Ledger))]
pub async fn once(_cx: &Cx<once>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

const KEY: u64 = 13_187_620_890_629_433_543;

const _: fn(&mut flowx_runtime::__private::Registry) =
    flowx_runtime::__private::entry::<FlowxManifest, KEY>(0, &["ledger"], "edited [FLOWX1167]", "reaches [FLOWX1168]");

const DIGEST: u64 = <FlowxManifest as flowx_runtime::__private::FlowEntry<KEY>>::ENTRY.digest;

const _: fn(&mut flowx_runtime::__private::Registry) =
    flowx_runtime::__private::entry::<FlowxManifest, KEY>(DIGEST, &["mail"], "edited [FLOWX1167]", "reaches [FLOWX1168]");

const _: fn(&mut flowx_runtime::__private::Registry) =
    flowx_runtime::__private::entry::<FlowxManifest, KEY>(DIGEST, &["ledger"], "edited [FLOWX1167]", "reaches [FLOWX1168]");
