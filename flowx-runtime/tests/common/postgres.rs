//! A PostgreSQL cluster of a test's own, on a free port, in a temporary folder, gone with the test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A running cluster.
pub struct Postgres {
    folder: Option<tempfile::TempDir>,
    port: u16,
}

impl Postgres {
    /// Starts one. The binaries are those in `FLOWX_TEST_PG_BIN`, or the newest under `/usr/lib/postgresql`.
    pub fn start() -> Postgres {
        let folder = tempfile::tempdir().unwrap();
        if is_root() {
            // The server refuses to run as root; its folder has to belong to whom it runs as.
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let postgres = Postgres {
            folder: Some(folder),
            port,
        };
        run(postgres
            .as_server_user("initdb")
            .args([
                "-U",
                "flowx",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-sync",
                "-D",
            ])
            .arg(postgres.data()));
        postgres.resume();
        postgres
    }

    /// The address of a database, which is made when it is not there.
    pub fn database(&self, name: &str) -> String {
        let mut psql = Command::new(bin("psql"));
        psql.args(["-h", "127.0.0.1", "-U", "flowx", "-d", "postgres", "-c"])
            .arg(format!("CREATE DATABASE {name}"));
        let _ = psql
            .arg("-p")
            .arg(self.port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        format!("postgres://flowx@127.0.0.1:{}/{name}", self.port)
    }

    /// Stops it at once, as a crash would.
    pub fn crash(&self) {
        run(self
            .as_server_user("pg_ctl")
            .args(["stop", "-m", "immediate", "-w", "-D"])
            .arg(self.data()));
    }

    /// Starts it (again), and waits until it answers.
    pub fn resume(&self) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200",
            self.port
        );
        let mut start = self.as_server_user("pg_ctl");
        start
            .args(["start", "-w", "-s", "-l"])
            .arg(self.data().join("log"))
            .arg("-o")
            .arg(options)
            .arg("-D");
        run(start.arg(self.data()));
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let mut ready = Command::new(bin("pg_isready"));
            ready
                .args(["-q", "-h", "127.0.0.1", "-p"])
                .arg(self.port.to_string());
            if ready.status().unwrap().success() {
                return;
            }
            assert!(Instant::now() < until, "PostgreSQL does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn data(&self) -> PathBuf {
        self.folder
            .as_ref()
            .expect("taken at drop only")
            .path()
            .join("data")
    }

    fn as_server_user(&self, program: &str) -> Command {
        if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(bin(program));
            command
        } else {
            Command::new(bin(program))
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let mut stop = self.as_server_user("pg_ctl");
        stop.args(["stop", "-m", "immediate", "-w", "-s", "-D"])
            .arg(self.data());
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
        drop(self.folder.take());
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

fn bin(program: &str) -> PathBuf {
    if let Ok(folder) = std::env::var("FLOWX_TEST_PG_BIN") {
        return Path::new(&folder).join(program);
    }
    let mut versions: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|e| e.path().join("bin")).collect())
        .unwrap_or_default();
    versions.sort();
    versions
        .pop()
        .map_or_else(|| PathBuf::from(program), |folder| folder.join(program))
}

fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}; set FLOWX_TEST_PG_BIN"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
