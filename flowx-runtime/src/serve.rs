//! Serving an application until it is told to stop, and stopping so that nothing is lost.

use std::future::Future;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::app::{App, StartError};
use crate::connections;
use crate::refusal::Refusal;

/// How long open requests may go on after the signal to stop; then their callers are left. Undoing goes on after that for as long again.
const GRACE: Duration = Duration::from_secs(20);

/// Why serving ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The listener broke.
    #[error("the listener broke: {0}")]
    Listener(#[from] std::io::Error),
    /// The token stands for nobody.
    #[error("the token is refused: {0}")]
    Token(Refusal),
    /// The conversation over standard input and output broke.
    #[error(transparent)]
    Stdio(#[from] crate::mcp::StdioError),
}

impl App {
    /// Serves until the process is told to stop (SIGINT or SIGTERM): no new calls, those that run may end, what was cut off is undone.
    ///
    /// # Errors
    /// When it does not start, or the listener breaks.
    pub async fn serve(self, listener: TcpListener) -> Result<(), ServeError> {
        self.serve_until(listener, told_to_stop()).await
    }

    /// The same until that future ends.
    ///
    /// # Errors
    /// When it does not start, or the listener breaks.
    pub async fn serve_until(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let (core, router) = self.into_router()?;
        let application = &core.manifest().application;
        tracing::info!(
            application = application.name,
            version = application.version,
            manifest = core.embedded().digest,
            flows = core.flows().len(),
            "serving"
        );
        let stopping = core.stopping().clone();
        let signal = stopping.clone();
        tokio::spawn(async move {
            stop.await;
            tracing::info!("stopping");
            signal.cancel();
        });
        let served = connections::serve(listener, router, core.limits(), &stopping, GRACE).await;
        core.tasks().close();
        if timeout(GRACE, core.tasks().wait()).await.is_err() {
            tracing::error!(
                tasks = core.tasks().len(),
                "work that outlives its callers did not end in time"
            );
        }
        served.map_err(ServeError::Listener)
    }
}

impl App {
    /// Serves one desktop host over standard input and output, as the principal of that token (anonymous without one), until the input
    /// ends or the process is told to stop. Nothing else may write to standard output.
    ///
    /// # Errors
    /// When it does not start, the token stands for nobody, or the conversation breaks.
    pub async fn serve_stdio(self, token: Option<&str>) -> Result<(), ServeError> {
        let options = self.mcp_options().clone();
        let core = self.into_core()?;
        let mut request = http::Request::new(());
        if let Some(token) = token {
            let mut value = http::HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| ServeError::Token(Refusal::not_authenticated()))?;
            value.set_sensitive(true);
            request
                .headers_mut()
                .insert(http::header::AUTHORIZATION, value);
        }
        let (parts, ()) = request.into_parts();
        let caller = core.authenticate(&parts).await.map_err(ServeError::Token)?;
        let streams = (tokio::io::stdin(), tokio::io::stdout());
        let stopping = core.stopping().clone();
        let signal = stopping.clone();
        tokio::spawn(async move {
            told_to_stop().await;
            signal.cancel();
        });
        let served =
            crate::mcp::stdio(core.clone(), &options, (*caller).clone(), streams, stopping).await;
        core.stopping().cancel();
        core.tasks().close();
        if timeout(GRACE, core.tasks().wait()).await.is_err() {
            tracing::error!(
                tasks = core.tasks().len(),
                "work that outlives its callers did not end in time"
            );
        }
        Ok(served?)
    }
}

async fn told_to_stop() {
    let interrupt = async {
        // Without a handler the signal ends the process, which is the default anyway.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
