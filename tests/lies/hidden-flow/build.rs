fn main() {
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(
        std::path::Path::new(&out).join("hidden.rs"),
        r#"
        /// Says it back.
        #[flow(id = "echo.hidden", version = "1.0.0", agent(confirmation = never), steps(say: say))]
        async fn hidden(cx: &FlowCx<hidden>, ask: Ask) -> Result<Said, No> {
            Ok(Said { text: cx.step::<say>(ask.text).await? })
        }
        "#,
    )
    .expect("OUT_DIR can be written");
    flowx_build::emit();
}
