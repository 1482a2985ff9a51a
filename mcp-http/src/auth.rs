//! Who is calling: a bearer token becomes a [`Principal`], or the request goes no further (design section 9).
//!
//! Two kinds of token exist: JWTs of configured issuers ([`jwt`], [`keys`], [`ring`]) and personal access tokens that an
//! operator made ([`personal`]). Nothing a client says about itself is an identity.

mod cache;
pub mod challenge;
pub mod fetch;
pub mod jwt;
pub mod keys;
mod object;
pub mod personal;
mod principal;
pub mod ring;

use std::sync::Arc;

use domain::Clock;
use http::HeaderMap;
use http::header::AUTHORIZATION;

pub use principal::{Credential, Principal};

use cache::VerifiedTokens;
use jwt::{Issuer, TokenError};
use personal::PersonalTokens;
use ring::{KeyRing, KeysUnavailable};

/// The longest token that is looked at. Tokens with long group lists are about 5,000 bytes; what is longer is not one of ours.
pub const TOKEN_BYTES: usize = 8 * 1024;

/// Why a request has no identity.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// No token came.
    #[error("no token")]
    Missing,
    /// A token came that does not enter.
    #[error("token refused")]
    Refused(#[source] TokenError),
    /// Whether the token is right can't be told now; the answer is 503, never a guess (promise N-3).
    #[error("identity cannot be checked")]
    Unavailable(#[source] CheckUnavailable),
}

/// What a check needed and did not get.
#[derive(Debug, thiserror::Error)]
pub enum CheckUnavailable {
    /// An issuer's keys.
    #[error("no usable keys of the issuer")]
    Keys(#[from] KeysUnavailable),
    /// The table of personal access tokens.
    #[error("the table of personal access tokens cannot be read")]
    Tokens(#[from] personal::TokensUnavailable),
}

/// A configured issuer and the keys it signs with.
pub struct TrustedIssuer {
    /// What its tokens have to look like.
    pub rules: Issuer,
    /// Its keys.
    pub keys: KeyRing,
}

/// Turns tokens into principals.
pub struct Authenticator {
    issuers: Vec<TrustedIssuer>,
    personal: Option<Arc<dyn PersonalTokens>>,
    verified: VerifiedTokens,
    clock: Arc<dyn Clock>,
}

impl Authenticator {
    /// Trusts these issuers, and personal access tokens where a table of them is given.
    pub fn new(
        issuers: Vec<TrustedIssuer>,
        personal: Option<Arc<dyn PersonalTokens>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            issuers,
            personal,
            verified: VerifiedTokens::default(),
            clock,
        }
    }

    /// Whether any token can enter at all.
    pub fn is_configured(&self) -> bool {
        !self.issuers.is_empty() || self.personal.is_some()
    }

    /// Whether the keys of every issuer are at hand.
    pub fn keys_are_ready(&self) -> bool {
        self.issuers.iter().all(|issuer| issuer.keys.is_ready())
    }

    /// Reads the keys of every issuer, and names those that can't be read now.
    pub async fn load_keys(&self) -> Vec<(&str, ring::RenewError)> {
        let mut failed = Vec::new();
        for issuer in &self.issuers {
            if let Err(error) = issuer.keys.load().await {
                failed.push((issuer.rules.issuer.as_str(), error));
            }
        }
        failed
    }

    /// The principal of a request: exactly one `Authorization` header with a bearer token, nowhere else.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Principal, Denied> {
        let Some(token) = bearer(headers)? else {
            return Err(Denied::Missing);
        };
        match personal::digest_of(token) {
            Some(digest) => self.check_personal(&digest).await,
            None => self.check_jwt(token).await,
        }
    }

    async fn check_personal(&self, digest: &[u8; 32]) -> Result<Principal, Denied> {
        let refused = |error| Err(Denied::Refused(error));
        let Some(tokens) = &self.personal else {
            return refused(TokenError::UnknownToken);
        };
        let found = tokens
            .find(digest)
            .await
            .map_err(|error| Denied::Unavailable(error.into()))?;
        let Some(token) = found else {
            return refused(TokenError::UnknownToken);
        };
        let now = self.clock.now();
        if token.revoked {
            return refused(TokenError::Revoked);
        }
        if token.expires_at <= now {
            return refused(TokenError::Expired);
        }
        let principal = token.into_principal();
        tokens.note_use(&principal);
        Ok(principal)
    }

    async fn check_jwt(&self, token: &str) -> Result<Principal, Denied> {
        if let Some(principal) = self.verified.get(token, self.clock.now()) {
            return Ok(principal);
        }
        let unverified = jwt::Unverified::parse(token).map_err(Denied::Refused)?;
        let issuer = self
            .issuers
            .iter()
            .find(|issuer| issuer.rules.issuer == unverified.issuer())
            .ok_or(Denied::Refused(TokenError::UnknownIssuer))?;
        unverified
            .check_header(&issuer.rules)
            .map_err(Denied::Refused)?;
        let candidates = issuer
            .keys
            .candidates(unverified.key_id(), unverified.algorithm())
            .await
            .map_err(|error| Denied::Unavailable(error.into()))?;
        let now = self.clock.now();
        let principal = unverified
            .verify(&issuer.rules, &candidates, now)
            .map_err(Denied::Refused)?;
        self.verified.put(token, &principal, now);
        Ok(principal)
    }
}

/// The one bearer token of a request. Two `Authorization` headers are refused: a proxy and this server could read different ones.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Denied> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = all.next() else {
        return Ok(None);
    };
    let malformed = || Denied::Refused(TokenError::Malformed("the `Authorization` header"));
    if all.next().is_some() {
        return Err(malformed());
    }
    let text = value.to_str().map_err(|_not_ascii| malformed())?;
    let (scheme, token) = text.split_once(' ').ok_or_else(malformed)?;
    let is_token_text = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if !scheme.eq_ignore_ascii_case("bearer")
        || token.is_empty()
        || !token.bytes().all(is_token_text)
    {
        return Err(malformed());
    }
    if token.len() > TOKEN_BYTES {
        return Err(Denied::Refused(TokenError::TooLong));
    }
    Ok(Some(token))
}

#[cfg(test)]
mod tests;
