fn main() {
    flowx_build::emit();
}
