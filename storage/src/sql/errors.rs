//! What a database error means. The meaning of "no row" is decided where the query is; everything else here.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error};

use crate::{OpenError, StoreError};

/// What a database's error means to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    DuplicateEmail,
    Busy,
    Full,
    OurFault,
    OutOfOrder,
}

/// Constraints that a caller's input can break, by what each engine reports of them. All others are checked before the
/// statement, in the same transaction, or can only be broken by a fault of ours.
const MEANINGS: [(&str, Meaning); 2] = [
    ("customers_email_unique", Meaning::DuplicateEmail),
    // SQLite names a UNIQUE constraint by its columns.
    ("customers.email_folded", Meaning::DuplicateEmail),
];

/// What is over when others are done: SQLite's lock, then PostgreSQL's time-outs, deadlock and limits of connections, then a
/// pooler's. A server that speaks another language than English is unavailable instead, which is no worse than a hint lost.
const BUSY: [&str; 10] = [
    "is locked",
    "canceling statement due to lock timeout",
    "canceling statement due to statement timeout",
    "deadlock detected",
    "too many clients",
    "too many connections",
    "remaining connection slots are reserved",
    "the database system is starting up",
    "no more connections allowed",
    "query_wait_timeout",
];

/// SQLite's words for a full disk, and the operating system's, which PostgreSQL passes on.
const FULL: [&str; 3] = ["is full", "No space left on device", "Disk quota exceeded"];

/// Sorts a database error. Diesel passes on neither engine's codes, and no constraint's name of
/// SQLite's, only the message.
pub(super) fn classify(error: Error) -> StoreError {
    let ours = matches!(
        error,
        Error::DeserializationError(_) | Error::SerializationError(_) | Error::NotFound
    );
    let meaning = if let Error::DatabaseError(kind, info) = &error {
        meaning(*kind, info.as_ref())
    } else if ours {
        Meaning::OurFault
    } else {
        Meaning::OutOfOrder
    };
    match meaning {
        Meaning::DuplicateEmail => StoreError::DuplicateEmail,
        Meaning::Busy => StoreError::Busy,
        Meaning::Full => StoreError::Full,
        Meaning::OurFault => StoreError::Internal(error.into()),
        Meaning::OutOfOrder => StoreError::Unavailable(error.into()),
    }
}

fn meaning(kind: DatabaseErrorKind, info: &dyn DatabaseErrorInformation) -> Meaning {
    let message = info.message();
    if matches!(kind, DatabaseErrorKind::UniqueViolation) {
        let broken = info
            .constraint_name()
            .or_else(|| message.rsplit(": ").next());
        return MEANINGS
            .iter()
            .find(|(name, _)| Some(*name) == broken)
            .map_or(Meaning::OurFault, |(_, meaning)| *meaning);
    }
    let broken = matches!(
        kind,
        DatabaseErrorKind::CheckViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::NotNullViolation
    );
    let says = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    if broken {
        Meaning::OurFault
    } else if matches!(kind, DatabaseErrorKind::SerializationFailure) || says(&BUSY) {
        Meaning::Busy
    } else if says(&FULL) {
        Meaning::Full
    } else {
        Meaning::OutOfOrder
    }
}

/// What it means to a caller that no connection could be made.
pub(super) fn unopened(error: OpenError) -> StoreError {
    let message = std::error::Error::source(&error).map(ToString::to_string);
    let meaning = message.map(|message| meaning(DatabaseErrorKind::Unknown, &message));
    if meaning == Some(Meaning::Busy) {
        StoreError::Busy
    } else {
        StoreError::Unavailable(error.into())
    }
}

/// A stored value that the domain does not know.
#[derive(Debug, thiserror::Error)]
#[error("the stored value `{value}` of `{column}` is not valid")]
pub(super) struct BadValue {
    /// The column or field.
    pub(super) column: &'static str,
    /// What it holds.
    pub(super) value: String,
}

impl From<BadValue> for StoreError {
    fn from(bad: BadValue) -> Self {
        Self::Internal(bad.into())
    }
}

/// Something that the store's own code must never let happen.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(pub(super) &'static str);

#[cfg(test)]
mod tests {
    //! The messages of SQLite 3.53 and PostgreSQL 15, as Diesel hands them on.

    use super::*;

    #[test]
    fn messages_are_told_apart() {
        use DatabaseErrorKind::{
            CheckViolation, ForeignKeyViolation, NotNullViolation, UniqueViolation, Unknown,
        };
        for (kind, message, expected) in [
            (Unknown, "database is locked", Meaning::Busy),
            (Unknown, "database table is locked", Meaning::Busy),
            (Unknown, "database or disk is full", Meaning::Full),
            (
                Unknown,
                "canceling statement due to lock timeout",
                Meaning::Busy,
            ),
            (
                Unknown,
                "FATAL:  sorry, too many clients already",
                Meaning::Busy,
            ),
            (
                DatabaseErrorKind::SerializationFailure,
                "could not serialize access due to concurrent update",
                Meaning::Busy,
            ),
            (
                Unknown,
                "could not extend file \"base/5/16388\": No space left on device",
                Meaning::Full,
            ),
            (
                DatabaseErrorKind::ReadOnlyTransaction,
                "cannot execute UPDATE in a read-only transaction",
                Meaning::OutOfOrder,
            ),
            (
                Unknown,
                "terminating connection due to administrator command",
                Meaning::OutOfOrder,
            ),
            (Unknown, "disk I/O error", Meaning::OutOfOrder),
            (Unknown, "audit_event_is_never_updated", Meaning::OutOfOrder),
            (
                UniqueViolation,
                "UNIQUE constraint failed: customers.email_folded",
                Meaning::DuplicateEmail,
            ),
            (
                UniqueViolation,
                "UNIQUE constraint failed: audit_event.event_id",
                Meaning::OurFault,
            ),
            (
                CheckViolation,
                "CHECK constraint failed: tickets_status_valid",
                Meaning::OurFault,
            ),
            (
                ForeignKeyViolation,
                "FOREIGN KEY constraint failed",
                Meaning::OurFault,
            ),
            (
                NotNullViolation,
                "NOT NULL constraint failed: tickets.subject",
                Meaning::OurFault,
            ),
        ] {
            assert_eq!(meaning(kind, &message.to_owned()), expected, "{message}");
        }
        assert!(matches!(classify(Error::NotFound), StoreError::Internal(_)));
        assert!(matches!(
            classify(Error::NotInTransaction),
            StoreError::Unavailable(_)
        ));
    }
}
