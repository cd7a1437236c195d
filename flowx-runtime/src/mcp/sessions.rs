//! Sessions of 2025-11-25 clients: bound to who opened them, capped in number, ended by idleness and by age.
//!
//! The library's own table knows neither callers nor a limit. A session's id alone would let another caller, with a token of their
//! own, answer the question that the first one was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use super::options::McpOptions;

/// The limits of the table.
#[derive(Clone, Copy, Debug)]
struct Caps {
    all: usize,
    per_owner: usize,
    lifetime: Duration,
}

/// Every open session.
pub(crate) struct Sessions {
    inner: LocalSessionManager,
    bound: Mutex<HashMap<SessionId, Bound>>,
    caps: Caps,
}

struct Bound {
    owner: String,
    since: Instant,
}

/// What a caller may do with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It is this caller's.
    Own,
    /// Somebody else's, or too old: it does not exist for this caller.
    Not,
    /// Nobody's here.
    Unknown,
}

/// Why a session could not be used or opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionsError {
    /// As the library says.
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
    /// The table is full.
    #[error("too many sessions are open")]
    Full,
}

impl Sessions {
    pub(crate) fn new(options: &McpOptions) -> Arc<Sessions> {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(options.session_idle);
        let caps = Caps {
            all: options.max_sessions,
            per_owner: options.max_sessions_per_caller,
            lifetime: options.session_lifetime,
        };
        Arc::new(Sessions {
            inner,
            bound: Mutex::default(),
            caps,
        })
    }

    fn bound(&self) -> MutexGuard<'_, HashMap<SessionId, Bound>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more session of that caller, at the cost of its own oldest one.
    ///
    /// # Errors
    /// When all callers together have too many.
    pub(crate) async fn admit(&self, owner: &str) -> Result<(), SessionsError> {
        let now = Instant::now();
        let ends: Vec<SessionId> = {
            let bound = self.bound();
            let aged = bound
                .iter()
                .filter(|(_, b)| now.duration_since(b.since) >= self.caps.lifetime)
                .map(|(id, _)| id.clone());
            let mut ends: Vec<SessionId> = aged.collect();
            let mut own: Vec<_> = bound
                .iter()
                .filter(|(id, b)| b.owner == owner && !ends.contains(id))
                .collect();
            own.sort_by_key(|(_, b)| b.since);
            let over = (own.len() + 1).saturating_sub(self.caps.per_owner.max(1));
            ends.extend(own.into_iter().take(over).map(|(id, _)| id.clone()));
            ends
        };
        for id in ends {
            self.close_session(&id).await?;
        }
        if self.inner.sessions.read().await.len() >= self.caps.all {
            Err(SessionsError::Full)
        } else {
            Ok(())
        }
    }

    /// Binds a session that was just opened. Until then nobody knows its id.
    pub(crate) async fn bind(&self, id: &str, owner: String) {
        let id: SessionId = id.into();
        self.bound().insert(
            id.clone(),
            Bound {
                owner,
                since: Instant::now(),
            },
        );
        // The worker may have ended already; what is closed must not stay in the table.
        if !self.inner.sessions.read().await.contains_key(&id) {
            self.bound().remove(&id);
        }
    }

    /// What that caller may do with that session.
    pub(crate) fn claim(&self, id: &str, owner: &str) -> Claim {
        match self.bound().get(id) {
            None => Claim::Unknown,
            Some(bound) if bound.owner == owner && bound.since.elapsed() < self.caps.lifetime => {
                Claim::Own
            }
            Some(_) => Claim::Not,
        }
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        // `admit` has looked already; many at once could all have passed there.
        if self.inner.sessions.read().await.len() >= self.caps.all {
            return Err(SessionsError::Full);
        }
        Ok(self.inner.create_session().await?)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.bound().remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.resume(id, last_event_id).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(max: usize, per_caller: usize, lifetime: Duration) -> Arc<Sessions> {
        Sessions::new(&McpOptions {
            max_sessions: max,
            max_sessions_per_caller: per_caller,
            session_lifetime: lifetime,
            ..McpOptions::default()
        })
    }

    async fn open(sessions: &Sessions, owner: &str) -> Result<SessionId, SessionsError> {
        sessions.admit(owner).await?;
        let (id, _transport) = sessions.create_session().await?;
        sessions.bind(&id, owner.to_owned()).await;
        Ok(id)
    }

    #[tokio::test]
    async fn a_session_is_its_openers_alone() {
        let sessions = sessions(10, 10, Duration::from_secs(60));
        let id = open(&sessions, "a").await.expect("room");
        assert_eq!(sessions.claim(&id, "a"), Claim::Own);
        assert_eq!(sessions.claim(&id, "b"), Claim::Not);
        assert_eq!(sessions.claim("other", "a"), Claim::Unknown);
    }

    #[tokio::test]
    async fn one_caller_too_many_sessions_ends_its_own_oldest_and_no_other() {
        let sessions = sessions(10, 2, Duration::from_secs(60));
        let other = open(&sessions, "b").await.expect("room");
        let first = open(&sessions, "a").await.expect("room");
        let second = open(&sessions, "a").await.expect("room");
        let third = open(&sessions, "a").await.expect("room");
        assert_eq!(sessions.claim(&first, "a"), Claim::Unknown);
        for (id, owner) in [(&second, "a"), (&third, "a"), (&other, "b")] {
            assert_eq!(sessions.claim(id, owner), Claim::Own);
        }
    }

    #[tokio::test]
    async fn the_table_is_capped() {
        let sessions = sessions(2, 10, Duration::from_secs(60));
        open(&sessions, "a").await.expect("room");
        open(&sessions, "b").await.expect("room");
        assert!(matches!(
            open(&sessions, "c").await,
            Err(SessionsError::Full)
        ));
        assert!(matches!(
            sessions.create_session().await,
            Err(SessionsError::Full)
        ));
    }

    #[tokio::test]
    async fn an_aged_session_is_no_longer_there_and_makes_room() {
        let sessions = sessions(1, 10, Duration::ZERO);
        let id = open(&sessions, "a").await.expect("room");
        assert_eq!(sessions.claim(&id, "a"), Claim::Not);
        open(&sessions, "b").await.expect("the aged one has gone");
    }
}
