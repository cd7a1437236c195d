//! Whatever stands in `flowx.contracts.json`: it is refused with a finding, or its types are found, and the scan never panics.
#![no_main]

use std::path::Path;

use flowx_build::cfg::CfgSet;
use flowx_build::files::Memory;
use flowx_build::{Features, Libraries, ScanOptions, scan_package};
use libfuzzer_sys::fuzz_target;

const TOML: &str = "[package]\nname = 'desk'\nversion = '1.0.0'\nedition = '2024'\n[dependencies]\nflowx-runtime = '0.1'\ncash = '1'\n";
const MAIN: &str = r#"
use flowx_runtime::{Cx, FlowCx, FlowError, capability, flow};
flowx_runtime::include_manifest!();
#[derive(Debug, FlowError)]
pub enum No { #[flow_error(code = "no.no", category = Conflict)] No }
#[capability(id = "c.look", version = "1.0.0", authorization = authenticated, idempotent = true)]
async fn look(_cx: &Cx<look>, x: u8) -> Result<u8, No> { Ok(x) }
/// Buys.
#[flow(id = "till.buy", version = "1.0.0", agent(), steps(look: look))]
async fn buy(cx: &FlowCx<buy>, order: cash::Order) -> Result<cash::Page<cash::Bill>, No> { todo!() }
fn main() {}
"#;

fuzz_target!(|data: &[u8]| {
    let mut files = Memory::new([("app/Cargo.toml", TOML), ("app/src/main.rs", MAIN)]);
    files.insert("app/flowx.contracts.json", data);
    let scanned = scan_package(&ScanOptions {
        files: &files,
        package: Path::new("app"),
        cfg: CfgSet::builtin(),
        features: Features::Asked { names: Vec::new(), default: true },
        libraries: Libraries::Scan,
        look_beyond: false,
    });
    if let Ok(scanned) = scanned {
        let known = String::from_utf8_lossy(data).contains("cash::Order");
        assert!(known || !scanned.findings.is_empty(), "an order that nobody knows");
    }
});
