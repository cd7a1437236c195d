fn main() {
    flowx_build::Emit::new().cfg("gone", false).run();
    println!("cargo::rustc-check-cfg=cfg(gone)");
    println!("cargo::rustc-cfg=gone");
}
