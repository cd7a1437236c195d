//! The build script of a package that registers types; `tests/registered.rs` runs it as cargo would. Which ones, the environment says.
fn main() {
    let all = std::env::var("REGISTER").unwrap_or_default();
    if all.contains("cents") {
        flowx_build::contract::<flowx_ui::money::Cents>();
    }
    if all.contains("more") {
        flowx_build::contract::<flowx_ui::money::Category>();
    }
    if all.contains("remote") {
        flowx_build::contract::<flowx_ui::money::Remote>();
    }
    flowx_build::emit();
}
