//! A throw-away folder with a crate in it, and the real command run inside.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

pub mod documents;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flowx_cli::failure;
use serde_json::Value;

/// The sources of the crate: two flows, three capabilities, two effects, one agent.
pub const DESK: &str = include_str!("desk.rs.txt");
pub const CARGO_TOML: &str = "[package]\nname = \"desk\"\nversion = \"1.2.0\"\nedition = \"2024\"\n\n[features]\nextra = []\n\n\
     [dependencies]\nflowx-runtime = \"0.1\"\nserde = \"1\"\n\n[build-dependencies]\nflowx-build = \"0.1\"\n";

pub struct Sandbox {
    folder: tempfile::TempDir,
}

pub struct Run {
    pub code: u8,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    #[track_caller]
    pub fn exits(self, code: u8) -> Run {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    #[track_caller]
    pub fn ok(self) -> Run {
        self.exits(failure::OK)
    }

    /// Nothing but the reason, and that on standard error.
    #[track_caller]
    pub fn refused(self, code: u8, reason: &str) -> Run {
        let run = self.exits(code);
        assert!(
            run.stdout.is_empty(),
            "standard output of a refusal:\n{}",
            run.stdout
        );
        assert!(
            run.stderr.contains(reason),
            "{reason:?} is not in:\n{}",
            run.stderr
        );
        run
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}:\n{}", self.stdout))
    }
}

impl Sandbox {
    /// A folder without anything.
    pub fn empty() -> Sandbox {
        Sandbox {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A crate with a fresh committed manifest, in a git repository with one commit.
    pub fn desk() -> Sandbox {
        let sandbox = Sandbox::empty();
        sandbox.crate_at("");
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.commit("first");
        sandbox
    }

    /// The crate in a folder, with a fresh manifest.
    pub fn crate_at(&self, folder: &str) {
        self.write(&format!("{folder}/Cargo.toml"), CARGO_TOML);
        self.write(
            &format!("{folder}/build.rs"),
            "fn main() {\n    flowx_build::emit();\n}\n",
        );
        self.write(&format!("{folder}/src/main.rs"), DESK);
        let manifest = format!("{}/Cargo.toml", self.path(folder).display());
        self.flowx(&["manifest", "--write", "--manifest-path", &manifest])
            .ok();
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.root().join(file.trim_start_matches('/'))
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    /// Replaces text that must be there.
    #[track_caller]
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{from:?} is not in {file}");
        self.write(file, &text.replace(from, to));
    }

    pub fn flowx(&self, args: &[&str]) -> Run {
        self.flowx_in("", args, "")
    }

    pub fn flowx_in(&self, folder: &str, args: &[&str], stdin: &str) -> Run {
        self.flowx_with(folder, args, stdin, &[])
    }

    pub fn flowx_with(
        &self,
        folder: &str,
        args: &[&str],
        stdin: &str,
        env: &[(&str, &str)],
    ) -> Run {
        // Timings are taken of a release build.
        let built = std::env::var_os("FLOWX_BIN").unwrap_or(env!("CARGO_BIN_EXE_flowx").into());
        let mut command = Command::new(built);
        command.args(args).current_dir(self.path(folder));
        command.env_remove("FLOWX_TOKEN").env_remove("FLOWX_SERVER");
        run(command.envs(env.iter().copied()), stdin)
    }

    pub fn git(&self, args: &[&str]) -> String {
        self.git_in("", args)
    }

    #[track_caller]
    pub fn git_in(&self, folder: &str, args: &[&str]) -> String {
        let run = run(
            Command::new("git")
                .args(args)
                .current_dir(self.path(folder)),
            "",
        );
        assert_eq!(run.code, 0, "git {args:?}: {}", run.stderr);
        run.stdout.trim().to_owned()
    }

    /// Commits everything; the commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }
}

fn run(command: &mut Command, stdin: &str) -> Run {
    use std::io::Write;
    command
        .env_remove("GIT_DIR")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_COUNT", "3")
        .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
        .env("GIT_CONFIG_VALUE_0", "always")
        .env("GIT_CONFIG_KEY_1", "commit.gpgsign")
        .env("GIT_CONFIG_VALUE_1", "false")
        .env("GIT_CONFIG_KEY_2", "safe.directory")
        .env("GIT_CONFIG_VALUE_2", "*");
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "Test")
            .env(format!("GIT_{who}_EMAIL"), "test@example.invalid");
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input closes it early, which is none of our business.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output
            .status
            .code()
            .map_or(255, |code| u8::try_from(code).unwrap()),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Every error of a document against one of the published schemas.
pub fn schema_errors(schema: &str, document: &Value) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../schemas")
        .join(schema);
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}
