//! Personal access tokens: made by an operator, shown once, stored as a hash, scoped, expiring, revocable.

use domain::{ScopeSet, Timestamp};
use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};

use super::principal::{Credential, OWN_ISSUER, Principal};

/// What every token starts with, so that secret scanners find one that leaked.
pub const PREFIX: &str = "dgt_";
/// 32 random bytes in hexadecimal: one spelling only, and a double click selects all of it.
const SECRET_CHARS: usize = 64;

/// A token as it is shown, once. It has no `Debug` and no `Display`: printing it takes [`NewToken::reveal`].
pub struct NewToken(String);

impl NewToken {
    /// A token from two times sixteen random bytes.
    pub fn from_random(a: [u8; 16], b: [u8; 16]) -> Self {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(PREFIX.len() + SECRET_CHARS);
        text.push_str(PREFIX);
        for byte in a.into_iter().chain(b) {
            // Writing to a text can't fail.
            write!(text, "{byte:02x}").unwrap_or_default();
        }
        Self(text)
    }

    /// The token itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it. A secret of 32 random bytes needs no slow hash.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

/// The hash of a text that has the form of a personal access token.
pub(super) fn digest_of(token: &str) -> Option<[u8; 32]> {
    let secret = token.strip_prefix(PREFIX)?;
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let has_form = secret.len() == SECRET_CHARS && secret.bytes().all(is_hex);
    has_form.then(|| Sha256::digest(token.as_bytes()).into())
}

/// A token as the table knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalToken {
    /// Its number.
    pub id: i64,
    /// Whose it is.
    pub subject: String,
    /// What it allows.
    pub scopes: ScopeSet,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Whether it was ended before.
    pub revoked: bool,
}

impl PersonalToken {
    pub(super) fn into_principal(self) -> Principal {
        Principal {
            issuer: OWN_ISSUER.to_owned(),
            subject: self.subject,
            client: format!("token:{}", self.id),
            scopes: self.scopes,
            expires_at: self.expires_at,
            credential: Credential::Personal(self.id),
        }
    }
}

/// The table can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the store does not answer")]
pub struct TokensUnavailable(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The table of personal access tokens. It is asked on every request, so a revoked token ends at once.
pub trait PersonalTokens: Send + Sync {
    /// The token with this hash.
    fn find<'a>(
        &'a self,
        digest: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<PersonalToken>, TokensUnavailable>>;

    /// Remembers that it was used. It may be written later and coarsely; a request does not wait for it.
    fn note_use(&self, principal: &Principal);
}
