//! One transaction for a group of jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use diesel::connection::SimpleConnection;

use super::job::Job;
use super::{Hands, Tx, inject};
use crate::StoreError;
use crate::sql::chain::{self, Head};
use crate::sql::connection::AnyConnection;
use crate::sql::errors::{Broken, classify};

/// Why a whole transaction is lost.
pub(super) enum Lost {
    /// It could not begin on this connection; no job has run.
    NoConnection(StoreError),
    /// It has not begun; no job has run.
    NotBegun(StoreError),
    /// It was certainly undone.
    Undone(StoreError),
    /// It may have been committed; if it was, the log ends with this row, where one is known.
    Unknown(StoreError, Option<Head>),
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

/// Runs jobs in one transaction. `committing` is set for as long as a panic would leave the outcome open.
///
/// The head of the audit log comes first: two writers that took it last would each hold what the other needs next
/// (design section 7).
pub(super) fn run(
    conn: &mut AnyConnection,
    hands: &Hands,
    busy_timeout: Duration,
    group: &mut [Box<dyn Job>],
    committing: &mut bool,
) -> Result<(), Lost> {
    let faults = hands.faults.as_deref();
    inject(faults).map_err(Lost::NotBegun)?;
    conn.begin_write(busy_timeout)
        .map_err(|error| Lost::NoConnection(classify(error)))?;
    inject(faults).map_err(Lost::NotBegun)?;
    let head = chain::take_head(conn).map_err(Lost::NotBegun)?;
    let mut tx = Tx {
        conn,
        hands,
        server_time: None,
        head,
        noted: false,
        approval: Vec::new(),
    };
    for job in group {
        if !job.abandoned() {
            run_one(&mut tx, job.as_mut())?;
        }
    }
    if tx.head == head && !tx.noted {
        // Without an audit row, a checkpoint or vectors nothing was written, and nothing need be flushed.
        return tx
            .conn
            .batch_execute("ROLLBACK")
            .map_err(|error| Lost::Undone(classify(error)));
    }
    // A checkpoint or vectors alone leave no row to look for.
    let mark = (tx.head != head).then_some(tx.head);
    let head = tx.head;
    chain::write_head(tx.step().map_err(Lost::Undone)?, head).map_err(Lost::Undone)?;
    let conn = tx.step().map_err(Lost::Undone)?;
    *committing = true;
    let committed = conn.batch_execute("COMMIT").map_err(classify);
    *committing = false;
    committed.map_err(|error| {
        if conn.commit_surely_failed(&error) {
            Lost::Undone(error)
        } else {
            Lost::Unknown(error, mark)
        }
    })
}

/// Runs a job in its savepoint. A job that has appended no audit row is undone even if it succeeds, so that no write can
/// be without one; only the note of a checkpoint and derived vectors may.
fn run_one(tx: &mut Tx<'_>, job: &mut dyn Job) -> Result<(), Lost> {
    let before = (tx.head, tx.noted);
    tx.approval.clear();
    tx.server_time = None;
    tx.execute("SAVEPOINT job").map_err(Lost::Undone)?;
    let ran = catch_unwind(AssertUnwindSafe(|| {
        if job.run(tx) && (tx.head, tx.noted) != before {
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
    (tx.head, tx.noted) = before;
    // A full disk makes SQLite undo the whole transaction by itself; the savepoint is then gone, and what would follow
    // would be outside of any transaction.
    tx.conn
        .batch_execute("ROLLBACK TO SAVEPOINT job; RELEASE SAVEPOINT job")
        .map_err(|error| Lost::Undone(classify(error)))
}
