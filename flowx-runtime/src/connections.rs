//! Connections: how many there may be, how long one may take to say what it wants, and how they end.
//!
//! A server that waits for heads without an end is held by whoever opens connections and says nothing, and one that takes every
//! connection by whoever opens enough of them.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use flowx_manifest::Category;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::http::problem;
use crate::limits::{Limits, counted_as};
use crate::refusal::{Refusal, codes};

/// After this long without a sign of life of an HTTP/2 peer it is asked for one.
const ALIVE: Duration = Duration::from_secs(30);
/// What opens an HTTP/2 connection (RFC 9113, section 3.4).
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves until `stopping`; then no new connections, and `grace` for what runs.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    stopping: &CancellationToken,
    grace: Duration,
) -> io::Result<()> {
    let open = Arc::new(Open::new(limits));
    let ending = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.cancelled() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // Of that connection alone, or of too many open files, which passes.
            Err(error) if is_passing(&error) => {
                tracing::warn!(%error, "a connection was not taken");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
            Err(error) => return Err(error),
        };
        // Without it, Nagle's algorithm and delayed acknowledgements cost a small event of a stream some 40 ms.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        let Some(place) = open.take(peer.ip()) else {
            tracing::warn!(%peer, "too many connections");
            tokio::spawn(refuse(stream));
            continue;
        };
        let (router, watcher, head_time) = (router.clone(), ending.watcher(), limits.head_time);
        tokio::spawn(async move {
            let _place = place;
            let http2 = match timeout(head_time, speaks_http2(&stream)).await {
                Ok(Ok(http2)) => http2,
                Ok(Err(_)) | Err(_) => return,
            };
            let service = service_fn(move |request: Request<Incoming>| {
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(ConnectInfo(peer));
                router.clone().oneshot(request)
            });
            let io = TokioIo::new(stream);
            let mut builder = auto::Builder::new(TokioExecutor::new());
            builder = if http2 {
                builder.http2_only()
            } else {
                builder.http1_only()
            };
            builder
                .http1()
                .timer(TokioTimer::new())
                .header_read_timeout(head_time);
            builder
                .http2()
                .timer(TokioTimer::new())
                .keep_alive_interval(ALIVE)
                .keep_alive_timeout(head_time);
            let connection = builder.serve_connection_with_upgrades(io, service);
            let ended = watcher.watch(connection.into_owned()).await;
            if let Err(error) = ended {
                tracing::debug!(%peer, %error, "a connection ended");
            }
        });
    }
    drop(listener);
    if timeout(grace, ending.shutdown()).await.is_err() {
        tracing::warn!("callers who did not end in time are left");
    }
    Ok(())
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::ConnectionAborted
            | Kind::ConnectionReset
            | Kind::ConnectionRefused
            | Kind::Interrupted
            | Kind::OutOfMemory
    ) || matches!(error.raw_os_error(), Some(23 | 24)) // ENFILE, EMFILE
}

/// Waits until the first bytes say which protocol it is, for HTTP/2 all of its opening, and leaves them where they are.
async fn speaks_http2(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0; HTTP2.len()];
    loop {
        let seen = stream.peek(&mut first).await?;
        let (first, expected) = (&first[..seen], &HTTP2[..seen]);
        if seen == HTTP2.len() || seen == 0 || first != expected {
            return Ok(seen != 0 && first == expected);
        }
        // Some of it has come: a look gives the same at once, so the rest is waited for here.
        sleep(Duration::from_millis(5)).await;
    }
}

/// Tells one caller too many so, in the words of every refusal.
async fn refuse(mut stream: TcpStream) {
    let refusal = Refusal::new(
        codes::CONNECTIONS,
        Category::Unavailable,
        "Too many connections; wait a moment.",
    );
    let document = problem::document(&refusal, &uuid::Uuid::now_v7().to_string()).to_canonical();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\nretry-after: 1\r\n\
         connection: close\r\n\r\n{document}",
        document.len()
    );
    let told = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // A connection that is closed with something unread loses what was written.
        let mut rest = [0; 4096];
        while tokio::io::AsyncReadExt::read(&mut stream, &mut rest).await? > 0 {}
        Ok::<(), io::Error>(())
    };
    let _ = timeout(Duration::from_secs(1), told).await;
}

/// The open connections, in all and by address.
struct Open {
    most: usize,
    most_of_one: usize,
    now: Mutex<(usize, HashMap<IpAddr, usize>)>,
}

/// One connection's place among them; free again when dropped.
struct Place {
    open: Arc<Open>,
    of: IpAddr,
}

impl Open {
    fn new(limits: &Limits) -> Open {
        Open {
            most: limits.connections,
            most_of_one: limits.connections_per_address,
            now: Mutex::default(),
        }
    }

    fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let of = counted_as(address);
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, by_address) = &mut *now;
        let own = by_address.get(&of).copied().unwrap_or(0);
        if *all >= self.most || own >= self.most_of_one {
            return None;
        }
        *all += 1;
        by_address.insert(of, own + 1);
        Some(Place {
            open: Arc::clone(self),
            of,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut now = self.open.now.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, by_address) = &mut *now;
        *all = all.saturating_sub(1);
        let own = by_address.get(&self.of).copied().unwrap_or(0);
        if own <= 1 {
            by_address.remove(&self.of);
        } else {
            by_address.insert(self.of, own - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_ends_makes_room_and_one_address_does_not_take_all() {
        let open = Arc::new(Open::new(&Limits {
            connections: 3,
            connections_per_address: 2,
            ..Limits::default()
        }));
        let [a, b, c] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(|a| a.parse().unwrap());
        let first = open.take(a).expect("room");
        let _second = open.take(a).expect("room");
        assert!(open.take(a).is_none(), "one address has its share");
        let _third = open.take(b).expect("room");
        assert!(open.take(c).is_none(), "there is no more room");
        drop(first);
        let _fourth = open.take(c).expect("room again");
        assert_eq!(open.now.lock().unwrap().1.len(), 3);
    }
}
