//! The whole build script of a user's package; `tests/packages.rs` runs it as cargo would.
fn main() {
    flowx_build::emit();
}
