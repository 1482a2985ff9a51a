//! Personal access tokens as the store knows them: whose, what for, how long; never the token itself.

use crate::{ScopeSet, Timestamp};

/// A token to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAccessToken {
    /// SHA-256 of the token. It has 32 random bytes, so its hash says nothing about it.
    pub digest: [u8; 32],
    /// The person or program that it stands for.
    pub subject: String,
    /// What it is for, in the words of whoever made it.
    pub label: String,
    /// What it allows.
    pub scopes: ScopeSet,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// A token as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// Its number.
    pub id: i64,
    /// The person or program that it stands for.
    pub subject: String,
    /// What it is for.
    pub label: String,
    /// What it allows.
    pub scopes: ScopeSet,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it was ended before that.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to within an hour.
    pub last_used_at: Option<Timestamp>,
}
