//! PostgreSQL: the address, what a transaction sets for itself, what the server must not leave out, migrations.
//!
//! A pooler that gives every transaction another server connection may stand in between. So nothing here is set for a
//! session or prepared under a name, every read is a transaction too, and locks are those of a transaction.

use std::time::Duration;

use diesel::connection::{CacheSize, SimpleConnection};
use diesel::migration::MigrationVersion;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use domain::Timestamp;

use super::{AnyConnection, Purpose, Steps, pending, unavailable};
use crate::OpenError;

pub(in crate::sql) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// How libpq connects, in front of what the address says, which wins: two seconds to answer, and a peer that has gone
/// without a word is noticed within ten.
const CONNECTING: &str = "connect_timeout=2&tcp_user_timeout=8000&keepalives_idle=4&keepalives_interval=2&\
     keepalives_count=3&fallback_application_name=deskgate";

/// How long one statement may take. The slowest that is meant to be is a page of a search in a large desk, under a second.
const STATEMENT_SECONDS: u32 = 30;

/// How long a transaction may wait for us. A job that is being screened or reads its rows from a file takes less, and a
/// machine that vanished must not hold the head of the audit log.
const IDLE_SECONDS: u32 = 30;

/// The lock under which migrations are run: any number that other programs don't use on the same database.
const MIGRATION_LOCK: i64 = 0x6465_736b_6761_7465;

/// A database of a server.
#[derive(Clone)]
pub(in crate::sql) struct PostgresServer {
    /// With the password, if one was given.
    address: String,
    create: bool,
    busy_timeout: Duration,
}

impl std::fmt::Debug for PostgresServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresServer")
            .field("create", &self.create)
            .field("busy_timeout", &self.busy_timeout)
            .finish_non_exhaustive()
    }
}

/// The address with our own parameters in front of those that were given; of two with one name, libpq takes the last.
fn with_parameters(address: &str) -> String {
    match address.split_once('?') {
        Some((place, given)) => format!("{place}?{CONNECTING}&{given}"),
        None => format!("{address}?{CONNECTING}"),
    }
}

impl PostgresServer {
    pub(super) fn locate(address: &str, create: bool, busy_timeout: Duration) -> Self {
        Self {
            address: with_parameters(address),
            create,
            busy_timeout,
        }
    }

    pub(super) const fn busy_timeout(&self) -> Duration {
        self.busy_timeout
    }

    /// A new connection to a server that keeps what it has acknowledged.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<AnyConnection, OpenError> {
        let mut conn = self.connect_raw()?;
        conn.batch_execute("BEGIN").map_err(unavailable)?;
        check_settings(&mut conn, purpose)?;
        conn.batch_execute("COMMIT").map_err(unavailable)?;
        Ok(AnyConnection::Postgres(conn))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is where connections are made"
    )]
    fn connect_raw(&self) -> Result<PgConnection, OpenError> {
        let mut conn = PgConnection::establish(&self.address)
            .map_err(|error| OpenError::Unavailable(error.into()))?;
        conn.set_prepared_statement_cache_size(CacheSize::Disabled);
        Ok(conn)
    }

    /// Takes the steps that are missing in one transaction, under a lock, so that of two processes that start at once one
    /// waits and then finds nothing to do. Where nothing is to be done nothing is locked, and no right to change the schema
    /// is needed.
    pub(super) fn migrate(&self) -> Result<Vec<String>, OpenError> {
        let mut conn = self.connect_raw()?;
        conn.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            .map_err(unavailable)?;
        check_settings(&mut conn, Purpose::Read)?;
        let steps = match applied(&mut conn).map_err(unavailable)? {
            None if !self.create => return Err(OpenError::NoDesk),
            Some(applied) if missing(&applied)?.is_empty() => Vec::new(),
            Some(_) | None => take_steps(&mut conn)?,
        };
        conn.batch_execute("COMMIT").map_err(unavailable)?;
        Ok(steps)
    }
}

/// Takes the missing steps in the transaction that has begun. A lock of it, since a session's may be another client's next.
fn take_steps(conn: &mut PgConnection) -> Result<Vec<String>, OpenError> {
    conn.batch_execute(&format!(
        "SET LOCAL statement_timeout = 0; \
         SELECT pg_catalog.pg_advisory_xact_lock({MIGRATION_LOCK})"
    ))
    .map_err(unavailable)?;
    let applied = applied(conn).map_err(unavailable)?.unwrap_or_default();
    // Makes the table of steps; two processes that made it at once without the lock would get in each other's way.
    conn.applied_migrations().map_err(OpenError::Unavailable)?;
    let mut steps = Vec::new();
    for step in missing(&applied)? {
        step.run(conn).map_err(OpenError::Unavailable)?;
        let version = step.name().version().to_string();
        diesel::sql_query("INSERT INTO __diesel_schema_migrations (version) VALUES ($1)")
            .bind::<Text, _>(&version)
            .execute(conn)
            .map_err(unavailable)?;
        steps.push(version);
    }
    Ok(steps)
}

fn missing(applied: &[MigrationVersion<'_>]) -> Result<Steps<Pg>, OpenError> {
    pending(&MIGRATIONS, applied)
}

#[derive(QueryableByName)]
struct There {
    #[diesel(sql_type = Bool)]
    there: bool,
}

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    version: String,
}

/// The steps that the database has; none where there is not even a table of them.
fn applied(conn: &mut PgConnection) -> QueryResult<Option<Vec<MigrationVersion<'static>>>> {
    let known: There = diesel::sql_query(
        "SELECT pg_catalog.to_regclass('__diesel_schema_migrations') IS NOT NULL AS there",
    )
    .get_result(conn)?;
    if !known.there {
        return Ok(None);
    }
    let steps: Vec<Step> =
        diesel::sql_query("SELECT version FROM __diesel_schema_migrations").load(conn)?;
    let versions = steps.into_iter().map(|step| step.version.into());
    Ok(Some(versions.collect()))
}

#[derive(QueryableByName)]
struct Settings {
    #[diesel(sql_type = Text)]
    fsync: String,
    #[diesel(sql_type = Text)]
    full_page_writes: String,
    #[diesel(sql_type = Text)]
    synchronous_commit: String,
    #[diesel(sql_type = Text)]
    server_encoding: String,
    #[diesel(sql_type = Text)]
    in_recovery: String,
}

/// Refuses a server that may lose what it has acknowledged (promise R-2), that can't store every text, or that takes no
/// writes.
fn check_settings(conn: &mut PgConnection, purpose: Purpose) -> Result<(), OpenError> {
    let found: Settings = diesel::sql_query(
        "SELECT current_setting('fsync') AS fsync, \
         current_setting('full_page_writes') AS full_page_writes, \
         current_setting('synchronous_commit') AS synchronous_commit, \
         current_setting('server_encoding') AS server_encoding, \
         pg_is_in_recovery()::text AS in_recovery",
    )
    .get_result(conn)
    .map_err(unavailable)?;
    let writes = purpose == Purpose::Write;
    let all = [
        ("fsync", found.fsync, "on", true),
        ("full_page_writes", found.full_page_writes, "on", true),
        ("server_encoding", found.server_encoding, "UTF8", true),
        ("pg_is_in_recovery", found.in_recovery, "false", writes),
    ];
    for (setting, found, wanted, needed) in all {
        if needed && found != wanted {
            return Err(OpenError::Setting {
                setting,
                found,
                wanted,
            });
        }
    }
    // It has five values, and only one does not wait for the disk.
    if found.synchronous_commit == "off" {
        return Err(OpenError::Setting {
            setting: "synchronous_commit",
            found: found.synchronous_commit,
            wanted: "on",
        });
    }
    Ok(())
}

/// What the server's clock says now, not when the transaction began.
pub(super) fn clock(conn: &mut PgConnection) -> QueryResult<Timestamp> {
    #[derive(QueryableByName)]
    struct Now {
        #[diesel(sql_type = BigInt)]
        micros: i64,
    }
    let now: Now = diesel::sql_query(
        "SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint AS micros",
    )
    .get_result(conn)?;
    Ok(Timestamp::from_micros(now.micros))
}

/// Begins a transaction in which every query sees the same state, and which can't write.
pub(super) fn begin_read(conn: &mut PgConnection) -> QueryResult<()> {
    conn.batch_execute(&format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
         SET LOCAL statement_timeout = '{STATEMENT_SECONDS}s'; \
         SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"
    ))
}

/// Begins a transaction that writes. The isolation is named, since the database's default may be any: whoever waited for the
/// head of the audit log has to see what was written meanwhile, and at the other levels gets an error instead.
pub(super) fn begin_write(conn: &mut PgConnection, busy_timeout: Duration) -> QueryResult<()> {
    // Zero would be no limit.
    let waits = busy_timeout.as_millis().max(1);
    conn.batch_execute(&format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
         SET LOCAL lock_timeout = {waits}; \
         SET LOCAL statement_timeout = '{STATEMENT_SECONDS}s'; \
         SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"
    ))
}

#[cfg(test)]
mod tests {
    //! How an address gets our parameters.

    use super::*;

    #[test]
    fn what_an_address_says_comes_after_our_own_parameters() {
        for (given, begins, ends) in [
            (
                "postgres://a@b/c",
                "postgres://a@b/c?connect_timeout=2&",
                "=deskgate",
            ),
            (
                "postgres://a@b/c?connect_timeout=9",
                "postgres://a@b/c?connect_timeout=2&",
                "&connect_timeout=9",
            ),
        ] {
            let all = with_parameters(given);
            assert!(all.starts_with(begins) && all.ends_with(ends), "{all}");
        }
    }
}
