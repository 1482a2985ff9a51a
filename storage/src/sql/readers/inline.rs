//! Connections that are used on the thread that asks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::{closed, is_reusable, panicked};
use crate::StoreError;
use crate::sql::connection::{AnyConnection, Database, Purpose};
use crate::sql::errors::unopened;

pub(in crate::sql) struct Inline {
    database: Database,
    permits: Semaphore,
    idle: Mutex<Vec<AnyConnection>>,
}

impl Inline {
    pub(super) fn new(database: Database, most: usize) -> Self {
        Self {
            database,
            permits: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)),
            idle: Mutex::new(Vec::new()),
        }
    }

    pub(super) async fn read<T>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _permit = self.permits.acquire().await.map_err(|_closed| closed())?;
        let idle = self.idle().pop();
        let mut conn = match idle {
            Some(conn) => conn,
            None => self.database.connect(Purpose::Read).map_err(unopened)?,
        };
        match catch_unwind(AssertUnwindSafe(|| query(&mut conn))) {
            Ok(result) => {
                if is_reusable(&result) && !self.permits.is_closed() {
                    self.idle().push(conn);
                }
                result
            }
            Err(_panic) => Err(panicked()),
        }
    }

    pub(super) fn close(&self) {
        self.permits.close();
        self.idle().clear();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<AnyConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
