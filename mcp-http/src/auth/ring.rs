//! The keys of one issuer over time: fetched, rotated, kept through outages, and given up when too old (promise N-3).

use std::sync::{Arc, Mutex, PoisonError};

use domain::{Clock, Timestamp};
use jsonwebtoken::Algorithm;

use super::fetch::{FetchError, FetchKeys};
use super::keys::{Key, KeySet, KeySetError};

/// The least time between two fetches, whatever is asked for: unknown key ids cost an attacker nothing.
const PAUSE_MICROS: i64 = 30_000_000;
/// After this time a set is fetched again although it still counts.
const FRESH_MICROS: i64 = 600_000_000;

/// There is no key set that counts. Requests are answered 503 until there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key set was never read or is older than its greatest age")]
pub struct KeysUnavailable;

/// Why a set could not be renewed.
#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    /// It could not be had.
    #[error("the key set could not be fetched")]
    Fetch(#[from] FetchError),
    /// It is none.
    #[error("what was fetched is refused")]
    Set(#[from] KeySetError),
}

#[derive(Default)]
struct State {
    keys: Arc<KeySet>,
    loaded_at: Option<Timestamp>,
    tried_at: Option<Timestamp>,
}

/// The keys of one issuer.
pub struct KeyRing {
    issuer: String,
    source: Box<dyn FetchKeys>,
    clock: Arc<dyn Clock>,
    max_age_micros: i64,
    state: Mutex<State>,
    renewing: tokio::sync::Mutex<()>,
}

impl KeyRing {
    /// Keys from a source; a set counts for `max_age_seconds` after it was read.
    pub fn new(
        issuer: &str,
        source: Box<dyn FetchKeys>,
        max_age_seconds: u32,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            issuer: issuer.to_owned(),
            source,
            clock,
            max_age_micros: i64::from(max_age_seconds) * 1_000_000,
            state: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
        }
    }

    /// Reads the set now, to see at the start whether the configuration is right.
    pub async fn load(&self) -> Result<(), RenewError> {
        let _one = self.renewing.lock().await;
        self.renew().await
    }

    /// Whether there is a set that counts.
    pub fn is_ready(&self) -> bool {
        self.current(self.clock.now()).is_ok()
    }

    /// Keys that may have signed a token. Looks for new ones if none is known, and now and then anyway.
    pub(super) async fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Vec<Arc<Key>>, KeysUnavailable> {
        let find = |keys: &KeySet| keys.candidates(id, algorithm);
        let known = self.current(self.clock.now()).map(|keys| find(&keys));
        match known {
            Ok(found) if !found.is_empty() => {
                // One request renews an ageing set; the others go on with it.
                if self.is_ageing()
                    && let Ok(_one) = self.renewing.try_lock()
                {
                    self.try_renewal().await;
                }
                Ok(found)
            }
            Ok(_) | Err(KeysUnavailable) => {
                let _one = self.renewing.lock().await;
                self.try_renewal().await;
                self.current(self.clock.now()).map(|keys| find(&keys))
            }
        }
    }

    fn current(&self, now: Timestamp) -> Result<Arc<KeySet>, KeysUnavailable> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.loaded_at {
            Some(at) if now.micros().saturating_sub(at.micros()) < self.max_age_micros => {
                Ok(Arc::clone(&state.keys))
            }
            Some(_) | None => Err(KeysUnavailable),
        }
    }

    fn is_ageing(&self) -> bool {
        let now = self.clock.now();
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .loaded_at
            .is_none_or(|at| now.micros().saturating_sub(at.micros()) >= FRESH_MICROS)
    }

    /// Renews the set unless that was tried a moment ago. The old set stays if it fails. Called under `renewing`.
    async fn try_renewal(&self) {
        let tried_at = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.tried_at
        };
        let now = self.clock.now();
        let is_due = tried_at.is_none_or(|at| {
            let since = now.micros().saturating_sub(at.micros());
            // A negative time means that the clock was set back.
            !(0..PAUSE_MICROS).contains(&since)
        });
        if is_due && let Err(error) = self.renew().await {
            tracing::warn!(
                auth.issuer = self.issuer,
                cause = std::error::Error::source(&error).map(tracing::field::display),
                "{error}"
            );
        }
    }

    async fn renew(&self) -> Result<(), RenewError> {
        let started = self.clock.now();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.tried_at = Some(started);
        }
        let keys = KeySet::parse(&self.source.fetch().await?)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.keys = Arc::new(keys);
        state.loaded_at = Some(started);
        Ok(())
    }
}
