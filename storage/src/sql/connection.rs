//! The one place that knows which database it is: connecting, settings, transactions, migrations.
//!
//! Statements elsewhere are written against [`AnyConnection`], whose backend accepts only what every engine has.
//! What only one engine needs is in a module of its own, `sqlite` or `postgres`; another would be a third variant here.

mod postgres;
mod sqlite;

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource, MigrationVersion};
use diesel::prelude::*;
use diesel_migrations::EmbeddedMigrations;
use domain::Timestamp;

use self::postgres::PostgresServer;
use self::sqlite::SqliteFile;
use super::errors;
use crate::url::Place;
use crate::{DatabaseUrl, OpenError, StoreError};

#[cfg(test)]
pub(super) use postgres::MIGRATIONS as POSTGRES_MIGRATIONS;
#[cfg(test)]
pub(super) use sqlite::MIGRATIONS as SQLITE_MIGRATIONS;

#[expect(
    clippy::disallowed_methods,
    reason = "the derive expands to `establish`; nothing calls it, see `Database::connect`"
)]
mod any {
    use diesel::{PgConnection, SqliteConnection};

    /// A connection to any of the engines.
    #[derive(diesel::MultiConnection)]
    pub(crate) enum AnyConnection {
        Sqlite(SqliteConnection),
        Postgres(PgConnection),
    }
}
pub(super) use any::{AnyConnection, MultiBackend};

/// What keeps a store, for the few statements that each writes in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Sqlite,
    Postgres,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Queries only; the database itself refuses anything else.
    Read,
    /// Everything.
    Write,
}

/// A database that can be connected to.
#[derive(Clone, Debug)]
pub(super) enum Database {
    /// A file.
    Sqlite(SqliteFile),
    /// A database of a server.
    Postgres(PostgresServer),
}

/// What keeps the writers of different processes in a fair order: SQLite's own waiting is a lottery that a busy process
/// wins for seconds, while the kernel wakes those who wait for a file lock one after the other. PostgreSQL's writers queue
/// at the head of the audit log, in order, and need no other lock.
#[derive(Debug)]
pub(super) struct WriterLock(Option<File>);

/// Held while a transaction writes; the lock is free again when it is dropped.
#[derive(Debug)]
pub(super) struct WriterTurn<'a>(Option<&'a File>);

impl WriterLock {
    /// Waits until no other process writes.
    pub(super) fn take(&self) -> Result<WriterTurn<'_>, std::io::Error> {
        if let Some(file) = &self.0 {
            file.lock()?;
        }
        Ok(WriterTurn(self.0.as_ref()))
    }
}

impl Drop for WriterTurn<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.map(File::unlock) {
            tracing::error!(%error, "the writer's lock file could not be unlocked");
        }
    }
}

impl Database {
    /// Finds or makes the file, or reads the server's address; nothing is connected yet.
    pub(super) fn locate(
        url: &DatabaseUrl,
        create: bool,
        busy_timeout: Duration,
    ) -> Result<Self, OpenError> {
        match url.place() {
            Place::Sqlite(path) => {
                SqliteFile::locate(Path::new(path), create, busy_timeout).map(Self::Sqlite)
            }
            Place::Postgres(address) => Ok(Self::Postgres(PostgresServer::locate(
                address,
                create,
                busy_timeout,
            ))),
        }
    }

    /// What this database's writers take turns by, kept for as long as the store is.
    pub(super) fn writer_lock(&self) -> Result<WriterLock, OpenError> {
        match self {
            Self::Sqlite(file) => file.lock_file().map(|file| WriterLock(Some(file))),
            Self::Postgres(_) => Ok(WriterLock(None)),
        }
    }

    /// How long a statement waits for a lock.
    pub(super) const fn busy_timeout(&self) -> Duration {
        match self {
            Self::Sqlite(file) => file.busy_timeout(),
            Self::Postgres(server) => server.busy_timeout(),
        }
    }

    /// A new connection with every setting made and read back.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<AnyConnection, OpenError> {
        match self {
            Self::Sqlite(file) => file.connect(purpose),
            Self::Postgres(server) => server.connect(purpose),
        }
    }

    /// Brings the schema up to this build and names the steps taken.
    pub(super) fn migrate(&self, lock: &WriterLock) -> Result<Vec<String>, OpenError> {
        match self {
            Self::Sqlite(file) => file.migrate(lock),
            Self::Postgres(server) => server.migrate(),
        }
    }
}

fn unavailable(error: diesel::result::Error) -> OpenError {
    OpenError::Unavailable(error.into())
}

type Steps<DB> = Vec<Box<dyn Migration<DB>>>;

/// The steps that this build has and the database lacks; a step that the database has and this build lacks is an error.
fn pending<DB: diesel::backend::Backend>(
    source: &EmbeddedMigrations,
    applied: &[MigrationVersion<'_>],
) -> Result<Steps<DB>, OpenError> {
    let known: Steps<DB> = source.migrations().map_err(OpenError::Unavailable)?;
    for version in applied {
        if !known.iter().any(|step| step.name().version() == *version) {
            return Err(OpenError::NewerSchema {
                found: version.to_string(),
            });
        }
    }
    let mut missing: Vec<_> = known
        .into_iter()
        .filter(|step| !applied.contains(&step.name().version()))
        .collect();
    missing.sort_by_key(|step| step.name().version().as_owned());
    Ok(missing)
}

impl AnyConnection {
    /// What it is connected to.
    pub(super) const fn engine(&self) -> Engine {
        match self {
            Self::Sqlite(_) => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    /// The time of the database server, where there is one.
    pub(super) fn clock(&mut self) -> QueryResult<Option<Timestamp>> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(conn) => postgres::clock(conn).map(Some),
        }
    }

    /// Runs queries that all see the same state of the database.
    pub(super) fn snapshot<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(_) => {
                self.batch_execute("BEGIN").map_err(errors::classify)?;
                self.then_end(work)
            }
            // Every read is one transaction there, see `begin_read`.
            Self::Postgres(_) => work(self),
        }
    }

    /// Begins what a reader does for one caller. On PostgreSQL that is always a transaction with one snapshot: a pooler
    /// between us and the server may give each transaction another server connection, and nothing outlives one.
    pub(super) fn begin_read(&mut self) -> QueryResult<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(conn) => postgres::begin_read(conn),
        }
    }

    /// Does what a reader was asked for, after [`Self::begin_read`].
    pub(super) fn read<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(_) => work(self),
            Self::Postgres(_) => self.then_end(work),
        }
    }

    /// Ends a transaction that has only read.
    fn then_end<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = work(self);
        // Nothing was written, so there is nothing that a failed end could lose; the next BEGIN would say so.
        let end = self.batch_execute("COMMIT").map_err(errors::classify);
        let value = result?;
        end?;
        Ok(value)
    }

    /// Begins a transaction that writes. SQLite must be told at once: a transaction that has read first and then wants to
    /// write is refused without waiting (style, part 3.4).
    pub(super) fn begin_write(&mut self, busy_timeout: Duration) -> QueryResult<()> {
        match self {
            Self::Sqlite(conn) => conn.batch_execute("BEGIN IMMEDIATE"),
            Self::Postgres(conn) => postgres::begin_write(conn, busy_timeout),
        }
    }

    /// Whether a commit that failed like this has certainly not happened.
    pub(super) fn commit_surely_failed(&self, error: &StoreError) -> bool {
        match self {
            Self::Sqlite(_) => matches!(error, StoreError::Busy | StoreError::Full),
            // Any other answer may come from whoever stands between us and a server that has committed.
            Self::Postgres(_) => matches!(error, StoreError::Busy),
        }
    }
}
