//! Scans the sources and writes the manifest that the program embeds.

fn main() {
    flowx_build::emit();
}
