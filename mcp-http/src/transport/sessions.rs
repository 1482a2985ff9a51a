//! Sessions of the older revision: capped, and bound to the principal that opened them (promise T-3).
//!
//! The MCP service keeps them in a map without bounds or owners, so both are kept here. A session that is not the caller's
//! is answered like one that never was: 404 on GET, POST and DELETE, after which clients open a new one (field report 38).

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::time::Instant;

use super::answer::{Refused, refusal, wait};

/// The header that names a session.
pub const SESSION_HEADER: &str = "mcp-session-id";

/// How many sessions there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Of everybody.
    pub total: usize,
    /// Of one principal. Who opens more loses the one that was idle longest: clients that crash don't say goodbye.
    pub each: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            total: 1024,
            each: 32,
        }
    }
}

struct Bound {
    owner: String,
    used_at: Instant,
}

/// The sessions of this instance.
pub struct Sessions {
    manager: Arc<LocalSessionManager>,
    caps: Caps,
    bound: Mutex<HashMap<String, Bound>>,
    opening: AtomicUsize,
}

/// Counts a session that is being opened, until it is in the manager's map or failed.
pub struct Opening<'a>(&'a AtomicUsize);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Sessions {
    /// Sessions that end when nothing happened for `idle`. It has to be longer than any call takes, waiting for a person
    /// included: the MCP service counts an open call as idle and drops its answer.
    pub fn new(caps: Caps, idle: Duration) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(idle);
        Self {
            manager: Arc::new(manager),
            caps,
            bound: Mutex::default(),
            opening: AtomicUsize::new(0),
        }
    }

    /// The manager that the MCP service uses.
    pub fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// How many there are.
    pub async fn count(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// Whether a request may use the session that it names; a request that names none may.
    pub fn check(&self, headers: &HeaderMap, owner: &str) -> Result<(), Refused> {
        let mut named = headers.get_all(SESSION_HEADER).iter();
        let (first, second) = (named.next(), named.next());
        let Some(first) = first else {
            return Ok(());
        };
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let session = first.to_str().ok().and_then(|id| bound.get_mut(id));
        match session {
            Some(session) if second.is_none() && session.owner == owner => {
                session.used_at = Instant::now();
                Ok(())
            }
            Some(_) | None => Err(refusal(
                StatusCode::NOT_FOUND,
                "session_not_found",
                "there is no such session; open a new one with `initialize`",
            )
            .into()),
        }
    }

    /// Makes room for one more session of this principal, or says that there is none.
    pub async fn admit(&self, owner: &str) -> Result<Opening<'_>, Refused> {
        // Counted before the map is read, so that a session is seen in one place or the other at any time.
        let before = self.opening.fetch_add(1, Ordering::SeqCst);
        let opening = Opening(&self.opening);
        for id in self.forget_ended_and_surplus(owner).await {
            if let Err(error) = self.manager.close_session(&id.into()).await {
                tracing::warn!("a surplus session could not be closed: {error}");
            }
        }
        if self.count().await + before >= self.caps.total {
            return Err(wait(
                StatusCode::SERVICE_UNAVAILABLE,
                "too_many_sessions",
                "the server holds as many sessions as it takes",
                30,
            )
            .into());
        }
        Ok(opening)
    }

    /// Forgets sessions that ended by themselves, and names those that the owner has to give up.
    async fn forget_ended_and_surplus(&self, owner: &str) -> Vec<String> {
        let live = self.manager.sessions.read().await;
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        bound.retain(|id, _| live.contains_key(id.as_str()));
        let mut own: Vec<_> = bound
            .iter()
            .filter(|(_, session)| session.owner == owner)
            .map(|(id, session)| (session.used_at, id.clone()))
            .collect();
        own.sort();
        let surplus = (own.len() + 1).saturating_sub(self.caps.each);
        let surplus: Vec<_> = own.into_iter().take(surplus).map(|(_, id)| id).collect();
        for id in &surplus {
            bound.remove(id);
        }
        surplus
    }

    /// Remembers whose session an answer opened.
    pub fn bind(&self, response: &Response, owner: &str) {
        let id = response
            .headers()
            .get(SESSION_HEADER)
            .and_then(|id| id.to_str().ok());
        if let Some(id) = id {
            let session = Bound {
                owner: owner.to_owned(),
                used_at: Instant::now(),
            };
            let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
            bound.insert(id.to_owned(), session);
        }
    }
}
