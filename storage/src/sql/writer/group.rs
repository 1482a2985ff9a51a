//! One transaction for a group of jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use diesel::connection::SimpleConnection;

use super::job::Job;
use super::{Tx, inject};
use crate::screening::Screener;
use crate::sql::audit;
use crate::sql::connection::AnyConnection;
use crate::sql::errors::{Broken, classify};
use crate::{ExpiryClock, Faults, StoreError};

/// Why a whole transaction is lost.
pub(super) enum Lost {
    /// It could not begin on this connection; no job has run.
    NoConnection(StoreError),
    /// It has not begun; no job has run.
    NotBegun(StoreError),
    /// It was certainly undone.
    Undone(StoreError),
    /// It may have been committed; if it was, the log ends with this row, where one is known.
    Unknown(StoreError, Option<Mark>),
}

/// The last row that a transaction appended to the audit log: it is there if and only if the transaction was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) seq: i64,
    pub(super) event_id: Vec<u8>,
}

impl Lost {
    /// What the jobs' callers are told.
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::NoConnection(error) | Self::NotBegun(error) | Self::Undone(error) => error,
            Self::Unknown(error, _) => StoreError::OutcomeUnknown(error.into()),
        }
    }
}

/// What a transaction is run with.
#[derive(Clone, Copy)]
pub(super) struct Hooks<'a> {
    pub(super) faults: Option<&'a dyn Faults>,
    pub(super) screener: Option<&'a dyn Screener>,
    pub(super) expiry_clock: ExpiryClock,
    /// How long it waits for another writer.
    pub(super) busy_timeout: Duration,
}

/// Runs jobs in one transaction. `committing` is set for as long as a panic would leave the outcome open.
///
/// The head of the audit log comes first: two writers that took it last would each hold what the other needs next
/// (design section 7).
pub(super) fn run(
    conn: &mut AnyConnection,
    hooks: Hooks<'_>,
    group: &mut [Box<dyn Job>],
    committing: &mut bool,
) -> Result<(), Lost> {
    let Hooks {
        faults,
        screener,
        expiry_clock,
        busy_timeout,
    } = hooks;
    inject(faults).map_err(Lost::NotBegun)?;
    conn.begin_write(busy_timeout)
        .map_err(|error| Lost::NoConnection(classify(error)))?;
    inject(faults).map_err(Lost::NotBegun)?;
    let head = audit::take_head(conn).map_err(Lost::NotBegun)?;
    let mut tx = Tx {
        conn,
        faults,
        screener,
        expiry_clock,
        server_time: None,
        seq: head,
        last_event: Vec::new(),
        approval: Vec::new(),
    };
    for job in group {
        if !job.abandoned() {
            run_one(&mut tx, job.as_mut())?;
        }
    }
    if tx.seq == head {
        // Without an audit row nothing was written, and nothing need be flushed.
        return tx
            .conn
            .batch_execute("ROLLBACK")
            .map_err(|error| Lost::Undone(classify(error)));
    }
    let seq = tx.seq;
    let mark = Mark {
        seq,
        event_id: std::mem::take(&mut tx.last_event),
    };
    audit::write_head(tx.step().map_err(Lost::Undone)?, seq).map_err(Lost::Undone)?;
    let conn = tx.step().map_err(Lost::Undone)?;
    *committing = true;
    let committed = conn.batch_execute("COMMIT").map_err(classify);
    *committing = false;
    committed.map_err(|error| {
        if conn.commit_surely_failed(&error) {
            Lost::Undone(error)
        } else {
            Lost::Unknown(error, Some(mark))
        }
    })
}

/// Runs a job in its savepoint. A job that has appended no audit row is undone even if it succeeds, so that no write can
/// be without one.
fn run_one(tx: &mut Tx<'_>, job: &mut dyn Job) -> Result<(), Lost> {
    let (before, last_event) = (tx.seq, tx.last_event.clone());
    tx.approval.clear();
    tx.server_time = None;
    tx.execute("SAVEPOINT job").map_err(Lost::Undone)?;
    let ran = catch_unwind(AssertUnwindSafe(|| {
        if job.run(tx) && tx.seq != before {
            tx.execute("RELEASE SAVEPOINT job").map(|()| true)
        } else {
            Ok(false)
        }
    }));
    match ran {
        Ok(Ok(true)) => return Ok(()),
        Ok(Ok(false)) => {}
        Ok(Err(error)) => job.fail(error),
        Err(_panic) => job.fail(StoreError::Internal(Broken("a write panicked").into())),
    }
    tx.seq = before;
    tx.last_event = last_event;
    // A full disk makes SQLite undo the whole transaction by itself; the savepoint is then gone, and what would follow
    // would be outside of any transaction.
    tx.conn
        .batch_execute("ROLLBACK TO SAVEPOINT job; RELEASE SAVEPOINT job")
        .map_err(|error| Lost::Undone(classify(error)))
}
