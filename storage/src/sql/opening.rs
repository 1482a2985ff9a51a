//! What comes before a store is served: the schema, an older log's seals, the store's name.

use std::sync::Arc;

use diesel::prelude::*;
use writegate::LogKeys;

use super::chain::{self, Sealer};
use super::connection::{AnyConnection, Database, Purpose, WriterLock};
use super::{errors, schema};
use crate::{DatabaseUrl, OpenError, Options, StoreError};

/// Brings the schema up to this build, and seals the audit log where it is older than its chain.
pub(crate) fn migrate(url: &DatabaseUrl, keys: LogKeys) -> Result<Vec<String>, OpenError> {
    let database = Database::locate(url, true, Options::default().busy_timeout)?;
    let lock = database.writer_lock()?;
    let steps = database.migrate(&lock)?;
    ready_to_write(&database, &lock, keys)?;
    Ok(steps)
}

/// One read on a connection that no reader has.
fn read_one<T>(
    conn: &mut AnyConnection,
    query: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    conn.begin_read().map_err(errors::classify)?;
    conn.read(query)
}

/// A connection that writes and what seals the rows it will write.
pub(super) fn ready_to_write(
    database: &Database,
    lock: &WriterLock,
    keys: LogKeys,
) -> Result<(AnyConnection, Sealer), OpenError> {
    let mut conn = database.connect(Purpose::Write)?;
    let sealer = Sealer {
        keys,
        deployment: deployment(&mut conn)?,
    };
    let unavailable = |error: StoreError| OpenError::Unavailable(error.into());
    if read_one(&mut conn, chain::is_unsealed).map_err(unavailable)? {
        let turn = lock
            .take()
            .map_err(|error| OpenError::Unavailable(error.into()))?;
        let rows = chain::seal_older_log(&mut conn, &sealer, database.busy_timeout())
            .map_err(unavailable)?;
        drop(turn);
        tracing::info!(
            rows,
            "the audit log was sealed; nobody vouches for its rows from before this moment"
        );
    }
    let unknown_key = read_one(&mut conn, |conn| chain::unknown_key(conn, &sealer));
    if let Some(kid) = unknown_key.map_err(unavailable)? {
        tracing::warn!(
            key.id = kid,
            "the last row of the audit log is sealed with a key that the key file does not hold"
        );
    }
    Ok((conn, sealer))
}

/// The name of the store, which its first opening gave it.
fn deployment(conn: &mut AnyConnection) -> Result<Arc<str>, OpenError> {
    let cause = |error: diesel::result::Error| OpenError::Unavailable(error.into());
    conn.begin_read().map_err(cause)?;
    conn.read(|conn| {
        schema::deployment::table
            .select(schema::deployment::id)
            .first::<String>(conn)
            .map(Arc::from)
            .map_err(errors::classify)
    })
    .map_err(|error| OpenError::Unavailable(error.into()))
}
