//! A commit of which nobody knows whether it happened: the connection was lost between the question and the answer.
//!
//! The log is the witness (promise R-5). Whoever holds the head after us knows that our transaction is over, since it held
//! the head from its first statement on; then its last row is there or it is not. Nothing is tried again before that is known.

use std::time::Duration;

use super::group::Lost;
use crate::StoreError;
use crate::sql::audit;
use crate::sql::chain::{self, Head};
use crate::sql::connection::{Database, Purpose};
use crate::sql::errors::{classify, unopened};

/// When to ask: a server that is restarted is back within a second or two, and the callers wait meanwhile.
const ASKED_AFTER: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

/// Finds out what became of a commit. A file is not asked: what a failed flush has left visible in it need not be on the disk.
pub(super) fn settle(database: &Database, error: StoreError, mark: Head) -> Result<(), Lost> {
    if matches!(database, Database::Sqlite(_)) {
        return Err(Lost::Unknown(error, Some(mark)));
    }
    for pause in ASKED_AFTER {
        std::thread::sleep(pause);
        match is_there(database, mark) {
            Ok(true) => {
                tracing::warn!(%error, seq = mark.seq, "a commit lost its answer; it has happened");
                return Ok(());
            }
            Ok(false) => {
                tracing::warn!(%error, seq = mark.seq, "a commit lost its answer; it has not happened");
                return Err(Lost::Undone(error));
            }
            Err(cause) => tracing::warn!(%cause, "the outcome of a commit is still unknown"),
        }
    }
    Err(Lost::Unknown(error, Some(mark)))
}

fn is_there(database: &Database, mark: Head) -> Result<bool, StoreError> {
    let mut conn = database.connect(Purpose::Write).map_err(unopened)?;
    conn.begin_write(database.busy_timeout())
        .map_err(classify)?;
    chain::take_head(&mut conn)?;
    // Closing the connection ends the transaction, which has changed nothing.
    audit::holds(&mut conn, mark)
}
