//! What can go wrong in the store, split by what a caller can do about it.

use std::path::PathBuf;

use domain::{EntityKind, SecurityFlag, TicketId, Version};

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
    /// The flag of a ticket does not allow it; nothing was done.
    #[error("the ticket with the number {} is flagged `{flag}`", ticket.number())]
    Flagged {
        /// The ticket.
        ticket: TicketId,
        /// The flag that it has, or that what is to be published would give it.
        flag: SecurityFlag,
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

impl StoreError {
    /// Whether the database itself could not be used.
    pub(crate) const fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }

    /// The same error for another caller; the cause goes along as text.
    pub(crate) fn copy(&self) -> Self {
        let cause = |cause: &(dyn std::error::Error + Send + Sync)| cause.to_string().into();
        match self {
            Self::Busy => Self::Busy,
            Self::Full => Self::Full,
            Self::Unavailable(source) => Self::Unavailable(cause(source.as_ref())),
            Self::OutcomeUnknown(source) => Self::OutcomeUnknown(cause(source.as_ref())),
            Self::Internal(source) => Self::Internal(cause(source.as_ref())),
            Self::NotFound { .. }
            | Self::Stale { .. }
            | Self::DuplicateEmail
            | Self::Flagged { .. }
            | Self::UnknownCategory { .. } => Self::Internal(self.to_string().into()),
        }
    }
}

/// Why a store could not be opened. It is for whoever starts the server, so it names files.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such file, and it was not to be made.
    #[error("there is no database at `{}`", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// Another version of the program has changed the schema since.
    #[error(
        "the database has schema step `{found}`, which this build does not know; use a newer build"
    )]
    NewerSchema {
        /// The step that is not known.
        found: String,
    },
    /// The SQLite library has a fault that can corrupt a database with two connections (fixed in 3.51.3).
    #[error("the SQLite library is `{found}`, and 3.51.3 or newer is needed")]
    OldSqlite {
        /// Its version.
        found: String,
    },
    /// Others than the owner may read or write the file.
    #[error("`{}` is open to other users (mode {mode:03o}); make it private with mode 600", path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file can't be made, read or locked.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The database does not keep a setting that durability depends on (promise R-2).
    #[error("the database setting `{setting}` is `{found}`, and `{wanted}` is needed")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What the database says.
        found: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// The server's database has no tables of ours, and they were not to be made.
    #[error("the database holds no desk; `migrate` makes one in it")]
    NoDesk,
    /// The database can't be reached, or is none.
    #[error("the database cannot be opened")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
