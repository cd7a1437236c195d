//! Scans the sources and puts the manifest where `include_manifest!` finds it.

fn main() {
    flowx_build::emit();
}
