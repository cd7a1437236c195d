//! A build holds `flowx.contracts.json` to what its script registers, writes it only when asked, and says how.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

const SOURCE: &str = r#"
flowx_runtime::include_manifest!();
"#;

struct Package {
    root: tempfile::TempDir,
}

impl Package {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "Cargo.toml",
            "[package]\nname = 'till'\nversion = '1.0.0'\nedition = '2024'\n[dependencies]\nflowx-runtime = '0.1'\nflowx-ui = '0.1'\n",
        );
        write("src/lib.rs", SOURCE);
        std::fs::create_dir(root.path().join("out")).unwrap();
        Self { root }
    }

    /// Runs the build script: whether it succeeded, and what it printed.
    fn build(&self, register: &str, write: bool) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_build-script-registered"));
        command
            .current_dir(self.root.path())
            .env("CARGO_MANIFEST_DIR", self.root.path())
            .env("OUT_DIR", self.root.path().join("out"))
            .env("CARGO_CFG_UNIX", "")
            .env("CARGO_CFG_TARGET_POINTER_WIDTH", "64")
            .env("REGISTER", register)
            .env_remove("FLOWX_CONTRACTS");
        if write {
            command.env("FLOWX_CONTRACTS", "write");
        }
        let output = command.output().unwrap();
        let text =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.success(), text)
    }

    fn file(&self) -> Option<String> {
        std::fs::read_to_string(self.root.path().join("flowx.contracts.json")).ok()
    }

    fn generated(&self) -> bool {
        Path::new(&self.root.path().join("out/flowx/lib.rs")).exists()
    }
}

#[track_caller]
fn refused(package: &Package, register: &str, why: &str) {
    let before = package.file();
    let (ok, text) = package.build(register, false);
    assert!(!ok, "{text}");
    for part in [
        "cargo::error=",
        "FLOWX1156",
        "FLOWX_CONTRACTS=write cargo build",
        why,
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    assert_eq!(package.file(), before, "a refusal writes nothing");
}

#[test]
fn a_registered_type_without_a_file_stops_the_build_with_the_way() {
    let package = Package::new();
    refused(
        &package,
        "cents",
        "`flowx_ui::money::Cents` is registered and not in the file",
    );
    assert!(!package.generated());
}

#[test]
fn the_file_is_written_when_asked_and_then_held() {
    let package = Package::new();
    assert!(package.build("cents more", true).0);
    let text = package.file().unwrap();
    assert!(text.contains("flowx_ui::money::Category"), "{text}");
    let (ok, printed) = package.build("cents more", false);
    assert!(ok, "{printed}");
    assert!(
        printed.contains("cargo::rerun-if-env-changed=FLOWX_CONTRACTS"),
        "{printed}"
    );
    assert!(printed.contains("flowx.contracts.json"), "{printed}");
    assert_eq!(package.file().unwrap(), text);
    // As git leaves it on Windows.
    let path = package.root.path().join("flowx.contracts.json");
    std::fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    assert!(package.build("cents more", false).0);
}

#[test]
fn a_stale_file_stops_the_build_and_says_what_is_stale() {
    let package = Package::new();
    assert!(package.build("cents more", true).0);
    refused(
        &package,
        "cents",
        "`flowx_ui::money::Category` is in the file and not registered",
    );
    let path = package.root.path().join("flowx.contracts.json");
    let text = package.file().unwrap();
    std::fs::write(&path, text.replace("4294967295", "4294967294")).unwrap();
    refused(
        &package,
        "cents more",
        "the schema of `flowx_ui::money::Cents` has changed",
    );
    std::fs::write(&path, "{").unwrap();
    refused(&package, "cents more", "flowx.contracts.json");
    assert!(package.build("cents more", true).0);
    assert_eq!(package.file().unwrap(), text);
    // With the last registration the file goes.
    refused(&package, "", "is in the file and not registered");
    assert!(package.build("", true).0);
    assert_eq!(package.file(), None);
    assert!(package.build("", false).0);
}

#[test]
fn a_schema_that_refers_elsewhere_stops_the_build() {
    let package = Package::new();
    let (ok, text) = package.build("remote", true);
    assert!(!ok && text.contains("FLOWX1156"), "{text}");
    assert!(text.contains("https://example.com/remote.json"), "{text}");
    assert_eq!(package.file(), None);
}
