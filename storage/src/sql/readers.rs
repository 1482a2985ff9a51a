//! Connections that read: a few, opened when first needed, each used by one query at a time.
//!
//! On SQLite a read runs where it is asked for: it takes less time than handing it to another thread, and a thread per read
//! each with a connection of its own took 270 MiB in a trial (issue 2). A server is another machine, which may take its time
//! or be gone, so there the connections are those of a few threads and no thread that answers requests waits for one.

mod inline;
mod pool;

use self::inline::Inline;
use self::pool::Pool;
use super::connection::{AnyConnection, Database};
use super::errors::Broken;
use crate::StoreError;

/// The connections.
pub(super) enum Readers {
    /// Used by whoever asks.
    Inline(Inline),
    /// Used by threads of their own.
    Pool(Pool),
}

impl Readers {
    /// At most this many connections, none yet.
    pub(super) fn start(database: Database, most: usize) -> std::io::Result<Self> {
        match database {
            Database::Sqlite(_) => Ok(Self::Inline(Inline::new(database, most))),
            Database::Postgres(_) => Pool::start(&database, most).map(Self::Pool),
        }
    }

    /// Runs a query as soon as a connection is free, first come, first served.
    pub(super) async fn read<T, F>(&self, query: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut AnyConnection) -> Result<T, StoreError> + Send + 'static,
    {
        match self {
            Self::Inline(inline) => inline.read(query).await,
            Self::Pool(pool) => pool.read(query).await,
        }
    }

    /// Refuses further reads and drops the idle connections.
    pub(super) fn close(&self) {
        match self {
            Self::Inline(inline) => inline.close(),
            Self::Pool(pool) => pool.close(),
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable(Broken("the store is closed").into())
}

fn panicked() -> StoreError {
    StoreError::Internal(Broken("a read panicked").into())
}

/// Whether nothing that a connection answered speaks against using it again.
fn is_reusable<T>(result: &Result<T, StoreError>) -> bool {
    !matches!(
        result,
        Err(StoreError::Unavailable(_) | StoreError::Busy | StoreError::Full)
    )
}
