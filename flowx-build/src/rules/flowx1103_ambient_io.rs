use super::{Sink, View, bodies};

rule! {
    /// ## What it catches
    ///
    /// A capability, a flow, or a helper that one of them calls touches the world around its declared effects: files, sockets, processes,
    /// the environment, threads and spawned tasks, the standard streams, HTTP clients, database drivers. Names are followed through `use`,
    /// renames, aliases, function pointers, closures and macros of the same file.
    ///
    /// ## Why it matters
    ///
    /// The list of effects is what a reviewer, an approver and an agent's host are shown. An effect that is not on it is done with
    /// nobody's leave.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// async fn export(cx: &Cx<export>, order: Order) -> Result<(), No> {
    ///     std::fs::write("/srv/orders.csv", order.line());
    ///     Ok(())
    /// }
    /// ```
    ///
    /// ## Instead
    ///
    /// Put the client or the folder into an `#[effect]` type with methods for what is done to it, declare it in `effects(…)`, and use
    /// `cx.effect::<Exports>()`. Where the world is really not touched, say why: `#[flowx::allow(FLOWX1103, reason = "…")]`.
    FLOWX1103, "a body touches the world around its effects", Error, check
}

const WORLD: &[&str] = &[
    "std::fs", "std::net", "std::process", "std::env", "std::thread", "std::os", "std::io::stdin", "std::io::stdout", "std::io::stderr",
    "std::path::Path", "std::path::PathBuf::metadata", "std::print!", "std::println!", "std::eprint!", "std::eprintln!", "std::dbg!",
    "tokio::fs", "tokio::net", "tokio::process", "tokio::spawn", "tokio::task::spawn", "tokio::task::spawn_blocking",
    "tokio::task::spawn_local", "tokio::signal", "tokio::io::stdin", "tokio::io::stdout", "tokio::io::stderr", "tokio::runtime",
    "async_std", "smol", "async_fs", "async_net", "async_process", "reqwest", "ureq", "hyper", "hyper_util", "isahc", "surf", "curl", "attohttpc",
    "minreq", "awc", "tonic", "sqlx", "diesel", "diesel_async", "sea_orm", "tokio_postgres", "postgres", "mysql", "mysql_async", "rusqlite",
    "redis", "fred", "mongodb", "sled", "rocksdb", "heed", "redb", "elasticsearch", "opensearch", "lettre", "rdkafka", "lapin", "async_nats",
    "nats", "rumqttc", "aws_config", "aws_sdk_s3", "aws_sdk_sqs", "aws_sdk_ses", "object_store", "stripe", "async_stripe", "dotenvy", "dotenv",
    "config", "libc", "nix", "rustix", "socket2", "mio", "rayon::spawn", "walkdir", "tempfile", "fs_err", "git2", "ssh2",
];

/// What lies there and touches nothing.
const HARMLESS: &[&str] = &[
    "std::path::Path::new", "std::net::IpAddr", "std::net::Ipv4Addr", "std::net::Ipv6Addr", "std::net::SocketAddr", "std::net::AddrParseError",
    "std::process::ExitCode", "std::env::VarError", "std::os::raw", "reqwest::Url", "reqwest::Method", "reqwest::StatusCode", "reqwest::header",
    "hyper::header", "hyper::Method", "hyper::StatusCode", "sqlx::Error", "reqwest::Error", "diesel::result", "tonic::Status", "tonic::Code",
];

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    bodies::report(
        view,
        &RULE,
        sink,
        |named| !named.state && touches(&named.path),
        |kind, what| format!("this {kind} touches the world around its declared effects: `{what}`"),
        "put it behind an `#[effect]` type, declare that in `effects(…)` and use `cx.effect::<…>()`; or say why not with \
         `#[flowx::allow(FLOWX1103, reason = \"…\")]`",
    );
}

fn touches(path: &str) -> bool {
    let on_disk = path.strip_prefix("std::path::Path::").or_else(|| path.strip_prefix("std::path::PathBuf::"));
    let harmless_path = on_disk.is_some_and(|method| {
        !["metadata", "symlink_metadata", "read_dir", "read_link", "exists", "try_exists", "is_file", "is_dir", "is_symlink", "canonicalize"]
            .contains(&method)
    });
    bodies::lies_in(path, WORLD) && !bodies::lies_in(path, HARMLESS) && !harmless_path && path != "std::path::Path"
}
