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
    anonymous: usize,
    per_caller: usize,
    lifetime: Duration,
}

/// Every open session.
pub(crate) struct Sessions {
    inner: LocalSessionManager,
    bound: Mutex<HashMap<SessionId, Bound>>,
    caps: Caps,
}

struct Bound {
    holder: Holder,
    since: Instant,
}

/// Whose a session is, and whose it counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Who may use it.
    pub(crate) owner: String,
    /// Whose limit it counts against: the owner's, and for somebody unknown that of where it comes from.
    pub(crate) counted_as: String,
    /// Whether it is somebody unknown.
    pub(crate) anonymous: bool,
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
            anonymous: options.max_anonymous_sessions,
            per_caller: options.max_sessions_per_caller,
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
    /// When all callers together have too many, or all that are unknown.
    pub(crate) async fn admit(&self, holder: &Holder) -> Result<(), SessionsError> {
        let now = Instant::now();
        let (ends, unknown) = {
            let bound = self.bound();
            let aged = bound
                .iter()
                .filter(|(_, b)| now.duration_since(b.since) >= self.caps.lifetime)
                .map(|(id, _)| id.clone());
            let mut ends: Vec<SessionId> = aged.collect();
            let mut own: Vec<_> = bound
                .iter()
                .filter(|(id, b)| b.holder.counted_as == holder.counted_as && !ends.contains(id))
                .collect();
            own.sort_by_key(|(_, b)| b.since);
            let over = (own.len() + 1).saturating_sub(self.caps.per_caller.max(1));
            ends.extend(own.into_iter().take(over).map(|(id, _)| id.clone()));
            let unknown = bound
                .iter()
                .filter(|(id, b)| b.holder.anonymous && !ends.contains(id));
            let unknown = unknown.count();
            (ends, unknown)
        };
        for id in ends {
            self.close_session(&id).await?;
        }
        let full = self.inner.sessions.read().await.len() >= self.caps.all;
        if full || holder.anonymous && unknown >= self.caps.anonymous {
            Err(SessionsError::Full)
        } else {
            Ok(())
        }
    }

    /// Binds a session that was just opened. Until then nobody knows its id.
    pub(crate) async fn bind(&self, id: &str, holder: Holder) {
        let id: SessionId = id.into();
        self.bound().insert(
            id.clone(),
            Bound {
                holder,
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
            Some(bound)
                if bound.holder.owner == owner && bound.since.elapsed() < self.caps.lifetime =>
            {
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
        let holder = Holder {
            owner: owner.to_owned(),
            counted_as: owner.to_owned(),
            anonymous: false,
        };
        open_as(sessions, holder).await
    }

    async fn open_as(sessions: &Sessions, holder: Holder) -> Result<SessionId, SessionsError> {
        sessions.admit(&holder).await?;
        let (id, _transport) = sessions.create_session().await?;
        sessions.bind(&id, holder).await;
        Ok(id)
    }

    #[tokio::test]
    async fn callers_who_are_nobody_cannot_take_the_room_of_those_who_are_known() {
        let sessions = Sessions::new(&McpOptions {
            max_anonymous_sessions: 3,
            max_sessions_per_caller: 2,
            ..McpOptions::default()
        });
        let nobody = |address: &str| Holder {
            owner: "nobody".to_owned(),
            counted_as: address.to_owned(),
            anonymous: true,
        };
        let first = open_as(&sessions, nobody("a")).await.expect("room");
        for _ in 0..2 {
            open_as(&sessions, nobody("a"))
                .await
                .expect("its oldest one ends");
        }
        assert_eq!(sessions.claim(&first, "nobody"), Claim::Unknown);
        open_as(&sessions, nobody("b"))
            .await
            .expect("another address");
        assert!(matches!(
            open_as(&sessions, nobody("c")).await,
            Err(SessionsError::Full)
        ));
        open(&sessions, "somebody")
            .await
            .expect("room for who is known");
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
