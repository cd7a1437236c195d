fn main() {
    flowx_build::Emit::new().cfg("edited", false).run();
    println!("cargo::rustc-check-cfg=cfg(edited)");
    println!("cargo::rustc-cfg=edited");
}
