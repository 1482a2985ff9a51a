//! Import: how the records of another system get in, with their status, times and authors as they were.
//!
//! A folder holds `customers`, `tickets`, `comments`, `csat` (each `.jsonl` or `.csv`), `calls.jsonl` and `articles/*.md`; any
//! of them may be absent, and parts such as `tickets.2025.csv` are read in the order of their names. A [`mapping`] takes
//! the export of another system instead. Rows are read one at a time, so the size of a file does not matter.
//!
//! A row is checked by the rules of the use cases and told by file, line and field if it is bad. With [`OnError::Skip`] the
//! good rows go to the store in small jobs; with [`OnError::Abort`] everything is checked first and goes in one job, so
//! that either all of it is kept or nothing. What is in the store already stays as it is, so an import can be repeated.

mod article;
mod error;
mod fault;
mod feed;
mod files;
mod intake;
mod kind;
mod lines;
mod mapping;
mod native;
mod place;
mod plan;
mod progress;
mod rows;
mod summary;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use domain::Timestamp;
use tokio::sync::watch;

pub use self::error::ImportError;
pub use self::fault::BadRow;
pub use self::files::EmbeddedFile;
pub use self::plan::UnusedColumn;
pub use self::progress::{Progress, Silent};
pub use self::summary::ImportSummary;
pub use storage::import::{Counts, OnError, RecordKind};

pub(super) use self::files::Source;
pub(super) use self::intake::Intake;

use self::feed::{Feed, Stopped};
use self::intake::absorb;
use self::mapping::Mapping;
use self::plan::Plan;
use self::rows::{Problem, Rows};
use crate::{Caller, Desk};

/// What to import, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// A folder, or one file of it.
    pub path: PathBuf,
    /// A mapping, where the files are not in the import format.
    pub map: Option<PathBuf>,
    /// What a bad row does.
    pub on_error: OnError,
}

/// Imports a folder or a file. Bad rows are told in the summary; an error is about the import as a whole.
pub async fn import(
    desk: &Desk,
    caller: &Caller,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let mapping = options.map.as_deref().map(read_mapping).transpose()?;
    let source = Source::Disk(options.path.clone());
    import_from(desk, caller, &source, mapping, options.on_error, progress).await
}

/// Imports files in the import format that are compiled into the binary.
pub(super) async fn import_embedded(
    desk: &Desk,
    caller: &Caller,
    files: &'static [EmbeddedFile],
) -> Result<ImportSummary, ImportError> {
    let source = Source::Embedded(files);
    import_from(desk, caller, &source, None, OnError::Abort, &Silent).await
}

fn read_mapping(path: &std::path::Path) -> Result<Mapping, ImportError> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let text = std::fs::read_to_string(path).map_err(|source| ImportError::Read {
        file: name.to_string_lossy().into_owned(),
        source,
    })?;
    mapping::load(&text).map_err(|reason| ImportError::Mapping { reason })
}

async fn import_from(
    desk: &Desk,
    caller: &Caller,
    source: &Source,
    mapping: Option<Mapping>,
    on_error: OnError,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let plan = Plan::new(source, mapping)?;
    let now = desk.clock.now();
    let mut summary = match on_error {
        OnError::Skip => keep_good(desk, caller, &plan, now, progress).await?,
        OnError::Abort => {
            let checked = check_all(&plan, now, progress).await?;
            if checked.aborted {
                checked
            } else {
                keep_all(desk, caller, &plan, now, progress).await?
            }
        }
    };
    summary.unused = plan.unused;
    Ok(summary)
}

/// Hands over good rows as they are read.
async fn keep_good(
    desk: &Desk,
    caller: &Caller,
    plan: &Plan,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let mut rows = Rows::new(Arc::clone(&plan.inputs), now);
    let mut intake = Intake::new(desk, caller, &plan.inputs);
    while let Some(row) = rows.next() {
        match row {
            Ok(row) => {
                if intake.take(row).await? {
                    progress.advance(rows.bytes_read(), plan.bytes);
                }
            }
            Err(Problem::Bad(kind, row)) => intake.summary.refuse(kind, row),
            Err(Problem::Broken(error)) => return Err(error),
        }
    }
    intake.flush().await?;
    progress.advance(plan.bytes, plan.bytes);
    Ok(intake.summary)
}

/// Rows between two reports of progress where nothing else sets a pace.
const ROWS_IN_STEP: usize = 500;

/// Reads and checks every row and keeps none.
async fn check_all(
    plan: &Plan,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let mut rows = Rows::new(Arc::clone(&plan.inputs), now);
    let mut summary = ImportSummary::default();
    let mut steps = 0_usize;
    while let Some(row) = rows.next() {
        match row {
            Ok(_) => {}
            Err(Problem::Bad(kind, row)) => {
                summary.aborted = true;
                summary.refuse(kind, row);
            }
            Err(Problem::Broken(error)) => return Err(error),
        }
        steps += 1;
        if steps.is_multiple_of(ROWS_IN_STEP) {
            progress.advance(rows.bytes_read(), plan.bytes * 2);
            tokio::task::yield_now().await;
        }
    }
    Ok(summary)
}

/// Hands over every row as one job.
async fn keep_all(
    desk: &Desk,
    caller: &Caller,
    plan: &Plan,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let (sender, mut receiver) = watch::channel(0_u64);
    let stopped = Stopped::default();
    let rows = Rows::new(Arc::clone(&plan.inputs), now);
    let feed = Feed::new(rows, sender, Arc::clone(&stopped));
    let act = caller.act(desk.clock.now(), "import");
    let mut job = desk.store.import(act, Box::new(feed), OnError::Abort);
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut job => break outcome,
            step = receiver.changed() => match step {
                Ok(()) => progress.advance(plan.bytes + *receiver.borrow(), plan.bytes * 2),
                Err(_dropped) => break (&mut job).await,
            },
        }
    };
    let stopped = stopped
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    match stopped {
        Some(Problem::Bad(_, row)) => return Err(ImportError::Changed { file: row.file }),
        Some(Problem::Broken(error)) => return Err(error),
        None => {}
    }
    let report = outcome.map_err(|source| ImportError::Store {
        kept: 0,
        source: source.into(),
    })?;
    let mut summary = ImportSummary::default();
    absorb(&mut summary, &plan.inputs, report);
    progress.advance(plan.bytes * 2, plan.bytes * 2);
    Ok(summary)
}
