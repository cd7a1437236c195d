//! Serves what it and its libraries declare, and does not know that there is something to know of one.

flowx_runtime::include_manifest!();

fn main() {
    payments::link();
}
