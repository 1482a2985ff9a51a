//! The rows of an import as one job takes them: every one good, or the job undone.

use std::sync::{Arc, Mutex, PoisonError};

use domain::{Origin, Timestamp, Visibility};
use storage::import::{ImportComment, ImportRecord, ImportRow};
use tokio::sync::watch;

use super::rows::{Problem, Rows};

/// Rows between two reports of progress.
const ROWS_IN_STEP: usize = 500;

/// Where a feed leaves the problem that stopped it.
pub(super) type Stopped = Arc<Mutex<Option<Problem>>>;

/// Gives rows that were checked before. Should one be bad now, because its file has changed, the feed ends with a row that
/// no store takes: a job that keeps all or nothing is undone by it.
pub(super) struct Feed {
    rows: Rows,
    given: usize,
    read: watch::Sender<u64>,
    stopped: Stopped,
    ended: bool,
}

impl Feed {
    pub(super) fn new(rows: Rows, read: watch::Sender<u64>, stopped: Stopped) -> Self {
        Self {
            rows,
            given: 0,
            read,
            stopped,
            ended: false,
        }
    }
}

impl Iterator for Feed {
    type Item = ImportRow;

    fn next(&mut self) -> Option<ImportRow> {
        if self.ended {
            return None;
        }
        self.given += 1;
        if self.given.is_multiple_of(ROWS_IN_STEP) {
            self.read.send_replace(self.rows.bytes_read());
        }
        match self.rows.next() {
            Some(Ok(row)) => Some(row),
            None => None,
            Some(Err(problem)) => {
                self.ended = true;
                let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
                *stopped = Some(problem);
                Some(refused_by_any_store())
            }
        }
    }
}

/// A comment on a ticket without an external id, which no ticket lacks.
fn refused_by_any_store() -> ImportRow {
    ImportRow {
        place: u64::MAX,
        record: ImportRecord::Comment(ImportComment {
            external_id: String::new(),
            ticket: String::new(),
            author: String::new(),
            origin: Origin::System,
            visibility: Visibility::Internal,
            body: String::new(),
            created_at: Timestamp::from_micros(0),
        }),
    }
}
