//! What can go wrong in the store, split by what a caller can do about it.

use domain::{EntityKind, Version};

/// Why a storage method gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such row.
    #[error("there is no {entity} with the number {id}")]
    NotFound {
        /// The kind of thing.
        entity: EntityKind,
        /// Its number.
        id: i64,
    },
    /// The row has changed since the caller read it; read it again.
    #[error("the record has moved on: version {expected} was expected and {found} was found")]
    Stale {
        /// The version that the caller named.
        expected: Version,
        /// The version that the row has.
        found: Version,
    },
    /// Another customer has this address.
    #[error("another customer has this e-mail address")]
    DuplicateEmail,
    /// The category table has no such slug for this kind of thing.
    #[error("`{given}` is not a category; valid are: {}", allowed.join(", "))]
    UnknownCategory {
        /// What was given, cut.
        given: String,
        /// Every slug that would do.
        allowed: Vec<String>,
    },
    /// Another process holds the database; a later try may do.
    #[error("the database is busy")]
    Busy,
    /// The disk or the database file is full; nothing was written.
    #[error("the storage is full")]
    Full,
    /// The commit's outcome can't be known; read the record before trying again.
    #[error("the connection was lost during the commit")]
    OutcomeUnknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database can't be used; the cause is for the log.
    #[error("the storage is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A stored row breaks the domain's rules, or a job panicked; the cause is for the log.
    #[error("the storage failed")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}
