//! Connections that read: a few, opened when first needed, each used by one query at a time.
//!
//! A read runs where it is asked for: it takes less time than handing it to another thread, and a thread per read each with
//! a connection of its own took 270 MiB in a trial (issue 2).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::connection::{AnyConnection, Database, Purpose};
use super::errors::Broken;
use crate::StoreError;

/// The connections.
pub(super) struct Readers {
    database: Database,
    permits: Semaphore,
    idle: Mutex<Vec<AnyConnection>>,
}

impl Readers {
    /// At most this many connections, none yet.
    pub(super) fn new(database: Database, most: usize) -> Self {
        Self {
            database,
            permits: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Runs a query as soon as a connection is free, first come, first served.
    pub(super) async fn read<T>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|_closed| StoreError::Unavailable(Broken("the store is closed").into()))?;
        let idle = self.idle().pop();
        let mut conn = match idle {
            Some(conn) => conn,
            None => self
                .database
                .connect(Purpose::Read)
                .map_err(|error| StoreError::Unavailable(error.into()))?,
        };
        match catch_unwind(AssertUnwindSafe(|| query(&mut conn))) {
            Ok(result) => {
                let reusable = !matches!(
                    result,
                    Err(StoreError::Unavailable(_) | StoreError::Busy | StoreError::Full)
                );
                if reusable && !self.permits.is_closed() {
                    self.idle().push(conn);
                }
                result
            }
            Err(_panic) => Err(StoreError::Internal(Broken("a read panicked").into())),
        }
    }

    /// Refuses further reads and drops the idle connections.
    pub(super) fn close(&self) {
        self.permits.close();
        self.idle().clear();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<AnyConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
