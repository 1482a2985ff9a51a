//! Tokens that were verified a moment ago: a signature check takes 50 to 150 microseconds, a hash takes one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::Timestamp;
use sha2::{Digest as _, Sha256};

use super::principal::Principal;

/// How long a check counts. A key that its issuer withdraws stops being honoured within this time.
const KEPT_MICROS: i64 = 60_000_000;
/// How many are kept; only valid tokens get here, so this is a bound on memory and not a defence.
const KEPT_MAX: usize = 4096;

#[derive(Default)]
pub(super) struct VerifiedTokens(Mutex<HashMap<[u8; 32], (Principal, Timestamp)>>);

impl VerifiedTokens {
    /// The principal of a token that was verified at most a minute ago and has not expired since.
    pub(super) fn get(&self, token: &str, now: Timestamp) -> Option<Principal> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (principal, verified_at) = kept.get(&digest(token))?;
        is_current(principal, *verified_at, now).then(|| principal.clone())
    }

    pub(super) fn put(&self, token: &str, principal: &Principal, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.retain(|_, (principal, verified_at)| is_current(principal, *verified_at, now));
        }
        if kept.len() < KEPT_MAX {
            kept.insert(digest(token), (principal.clone(), now));
        }
    }
}

/// A clock that was set back makes a check count as old.
fn is_current(principal: &Principal, verified_at: Timestamp, now: Timestamp) -> bool {
    let age = now.micros().saturating_sub(verified_at.micros());
    (0..KEPT_MICROS).contains(&age) && now < principal.expires_at
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
