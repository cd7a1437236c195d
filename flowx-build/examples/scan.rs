//! Scans a package folder and prints its manifest, then its findings: `cargo run -p flowx-build --example scan -- DIR`.

use std::path::Path;

use flowx_build::cfg::CfgSet;
use flowx_build::files::Disk;
use flowx_build::{Features, Libraries, ScanOptions, scan_package};

fn main() {
    let dir = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let mut cfg = CfgSet::builtin();
    for on in [
        "unix",
        "target_os=\"linux\"",
        "target_family=\"unix\"",
        "target_pointer_width=\"64\"",
        "target_arch=\"x86_64\"",
    ] {
        cfg.set(on, true);
    }
    let started = std::time::Instant::now();
    let output = scan_package(&ScanOptions {
        files: &Disk,
        package: Path::new(&dir),
        cfg,
        features: Features::Asked {
            names: Vec::new(),
            default: true,
        },
        libraries: Libraries::Scan,
        look_beyond: true,
    });
    match output {
        Ok(output) => {
            print!("{}", output.manifest.write().text);
            for f in &output.findings {
                eprintln!(
                    "{}:{}:{}: {} {}: {}",
                    f.file,
                    f.line,
                    f.column,
                    f.severity.as_str(),
                    f.id,
                    f.message
                );
            }
            eprintln!("{} files, {:?}", output.read.len(), started.elapsed());
        }
        Err(error) => eprintln!("{error}"),
    }
}
