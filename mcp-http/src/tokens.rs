//! Personal access tokens out of the desk's store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use desk::{Caller, Desk};
use domain::{Clock, IdSource, Timestamp};
use futures::future::BoxFuture;

use crate::auth::personal::{NewToken, PersonalToken, PersonalTokens, TokensUnavailable};
use crate::auth::{Credential, Principal};

/// How often a token's use is written down.
const USE_MICROS: i64 = 3_600_000_000;

/// A new token from the machine's randomness.
pub fn new_token(ids: &dyn IdSource) -> NewToken {
    NewToken::from_random(ids.nonce(), ids.nonce())
}

/// The table, and what was written down of it lately.
pub struct StoredTokens {
    desk: Arc<Desk>,
    clock: Arc<dyn Clock>,
    noted: Mutex<HashMap<i64, Timestamp>>,
}

impl StoredTokens {
    /// The tokens of a desk.
    pub fn new(desk: Arc<Desk>, clock: Arc<dyn Clock>) -> Self {
        Self {
            desk,
            clock,
            noted: Mutex::default(),
        }
    }

    /// Whether a use is to be written down now.
    fn is_due(&self, id: i64) -> bool {
        let now = self.clock.now();
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let since = noted
            .get(&id)
            .map(|at| now.micros().saturating_sub(at.micros()));
        let is_due = since.is_none_or(|since| !(0..USE_MICROS).contains(&since));
        if is_due {
            noted.insert(id, now);
        }
        is_due
    }
}

impl PersonalTokens for StoredTokens {
    fn find<'a>(
        &'a self,
        digest: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<PersonalToken>, TokensUnavailable>> {
        Box::pin(async move {
            let found = self
                .desk
                .find_access_token(*digest)
                .await
                .map_err(|error| TokensUnavailable(error.into()))?;
            Ok(found.map(|token| PersonalToken {
                id: token.id,
                subject: token.subject,
                scopes: token.scopes,
                expires_at: token.expires_at,
                revoked: token.revoked_at.is_some(),
            }))
        })
    }

    fn note_use(&self, principal: &Principal) {
        let Credential::Personal(id) = principal.credential else {
            return;
        };
        if !self.is_due(id) {
            return;
        }
        let desk = Arc::clone(&self.desk);
        let caller = Caller {
            actor: principal.actor(),
            scopes: principal.scopes,
            request_id: desk.next_request_id(),
        };
        tokio::spawn(async move {
            if let Err(error) = desk.note_access_token_use(&caller, id).await {
                tracing::warn!("the use of a token was not noted: {error}");
            }
        });
    }
}
