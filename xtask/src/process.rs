//! Running programs: what they print goes on at once, and is kept to be counted afterwards.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

/// How a program ended, and all that it printed.
pub(crate) struct Outcome {
    /// Whether it exited with 0.
    pub(crate) success: bool,
    /// Standard output and standard error, each in order.
    pub(crate) text: String,
}

/// Runs the program, printing what it prints.
pub(crate) fn run(command: &mut Command) -> Outcome {
    println!("$ {}", shown(command));
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("could not be started: {error}");
            return Outcome {
                success: false,
                text: error.to_string(),
            };
        }
    };
    let stderr = child
        .stderr
        .take()
        .map(|pipe| thread::spawn(move || tee(pipe)));
    let mut text = child.stdout.take().map(tee).unwrap_or_default();
    if let Some(Ok(more)) = stderr.map(thread::JoinHandle::join) {
        text.push_str(&more);
    }
    Outcome {
        success: child.wait().is_ok_and(|status| status.success()),
        text,
    }
}

/// Runs the program silently; whether it is there and exits with 0.
pub(crate) fn works(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn tee(pipe: impl Read) -> String {
    let mut all = String::new();
    let mut line = Vec::new();
    let mut reader = BufReader::new(pipe);
    while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line);
        // One lock per line keeps the lines of both streams whole.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
        all.push_str(&text);
        line.clear();
    }
    all
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}
