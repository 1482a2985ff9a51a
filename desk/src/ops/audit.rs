//! Proving the audit log: verifying it, writing it out with its proofs, and keeping signed checkpoints of it outside the store
//! (promises D.5, D.6).
//!
//! A checkpoint file is notes one after the other, each followed by an empty line. It is worth something where whoever can write the
//! store can't write it: on another machine, or append-only.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use domain::Timestamp;
use serde_json::json;
use storage::{AuditNote, AuditProof, AuditReport};
use writegate::notes_in;

use crate::{Desk, DeskError};

/// A checkpoint is due after this many rows, or after [`DUE_MICROS`] while there are any (promise D.5).
const DUE_ROWS: i64 = 1_000;
const DUE_MICROS: i64 = 60 * 1_000_000;

/// Rows that are written out at a time.
const BATCH: u16 = 500;

/// Why nothing can be said of the log, or no checkpoint kept.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The store did not answer.
    #[error("the audit log cannot be read")]
    Store(#[source] DeskError),
    /// The checkpoint file can't be read or written.
    #[error("the checkpoint file `{}` cannot be used", path.display())]
    File {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What was to be shown can't be.
    #[error("the output cannot be written")]
    Output(#[source] std::io::Error),
    /// There is nothing to sign, or nothing to sign it with.
    #[error(
        "there is no audit row yet, or no `checkpoint` line in the key file; `keys rotate` adds one"
    )]
    NoCheckpoint,
}

impl From<storage::StoreError> for AuditError {
    fn from(error: storage::StoreError) -> Self {
        Self::Store(error.into())
    }
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> AuditError {
    move |source| AuditError::File {
        path: path.to_owned(),
        source,
    }
}

/// What came of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the walk found.
    pub report: AuditReport,
    /// Whether a note of the checkpoint file is cut short, as after a power failure.
    pub torn: bool,
}

/// Verifies the whole log, with the checkpoints of a file from outside where one is given.
pub async fn verify(desk: &Desk, outside: Option<&Path>) -> Result<Verdict, AuditError> {
    let (notes, torn) = match outside {
        Some(path) => {
            // A note can be cut short within a character; what is left of it is no note in any case.
            let bytes = std::fs::read(path).map_err(file_error(path))?;
            notes_in(&String::from_utf8_lossy(&bytes))
        }
        None => (Vec::new(), false),
    };
    let report = desk.store.verify_audit(notes).await?;
    Ok(Verdict { report, torn })
}

impl Verdict {
    /// Whether the log is as it was written, as far as can be told.
    pub const fn is_sound(&self) -> bool {
        self.report.flaw.is_none()
    }

    /// The verdict for programs: one JSON object.
    pub fn to_json(&self) -> String {
        let report = &self.report;
        let flaw = report.flaw.as_ref().map(|flaw| {
            json!({"seq": flaw.seq, "code": flaw.fault.code(), "message": flaw.fault.to_string()})
        });
        json!({
            "ok": self.is_sound(),
            "rows": report.rows,
            "sealed_later": report.sealed_later,
            "backwards": report.backwards,
            "first_backwards": report.first_backwards,
            "records": report.records,
            "checkpoints": report.checkpoints,
            "outside": report.outside,
            "anchored": report.anchored,
            "torn": self.torn,
            "truncation_detectable": report.outside > 0,
            "flaw": flaw,
        })
        .to_string()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &self.report;
        match &report.flaw {
            Some(flaw) => write!(f, "TAMPERED at row {}: {}.", flaw.seq, flaw.fault)?,
            None => write!(
                f,
                "The audit log is sound: {} rows, {} records at the version that it says, {} checkpoints in the store and {} outside.",
                report.rows, report.records, report.checkpoints, report.outside
            )?,
        }
        if report.sealed_later > 0 {
            write!(
                f,
                "\nRows 1 to {} were sealed later than they were written: nobody vouches for what was done to them before.",
                report.sealed_later
            )?;
        }
        if let Some(seq) = report.first_backwards {
            write!(
                f,
                "\nWarning: {} rows are older than the row before them, the first is {seq}; a clock was set back.",
                report.backwards
            )?;
        }
        if self.torn {
            f.write_str("\nWarning: a note of the checkpoint file is cut short and was left out.")?;
        }
        if report.outside > 0 {
            write!(
                f,
                "\nCheckpoints from outside vouch for the rows up to {}.",
                report.anchored
            )
        } else {
            f.write_str("\nNo checkpoint from outside was given: truncation and a full rewrite are not detectable.")
        }
    }
}

/// What others verify the checkpoints of this log with, in the form of the note format; empty where there is no key for them.
pub fn verifier(desk: &Desk) -> String {
    desk.store.audit_verifier().unwrap_or_default()
}

/// Writes every row with its proof as a line of JSON, and gives how many.
pub async fn export(desk: &Desk, output: &mut dyn Write) -> Result<i64, AuditError> {
    let end = desk.store.audit_end().await?;
    let (mut after, mut rows) = (0, 0);
    while after < end {
        let batch = desk.store.export_audit(after, BATCH).await?;
        let Some(last) = batch.last() else {
            break;
        };
        after = last.seq;
        for proof in &batch {
            writeln!(output, "{}", proof_line(proof)).map_err(AuditError::Output)?;
            rows += 1;
        }
    }
    output.flush().map_err(AuditError::Output)?;
    Ok(rows)
}

/// The payload goes out as the text that it is, so that its bytes can be had again exactly.
fn proof_line(proof: &AuditProof) -> String {
    json!({
        "seq": proof.seq,
        "payload": String::from_utf8_lossy(&proof.payload),
        "prev": hex(&proof.prev),
        "hash": hex(&proof.hash),
        "mac": hex(&proof.mac),
        "mac_kid": proof.mac_kid,
    })
    .to_string()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// Keeps checkpoints of a desk's log: in the store, and in a file outside where one is named.
pub struct Keeper {
    desk: Arc<Desk>,
    file: Option<PathBuf>,
    kept: Mutex<Kept>,
}

/// What was kept last.
#[derive(Clone, Copy)]
struct Kept {
    seq: i64,
    at: Timestamp,
    /// The last row that the file has a note of, once that was looked up.
    in_file: Option<i64>,
}

/// Whether it is time for a checkpoint.
const fn is_due(end: i64, kept: Kept, now: Timestamp) -> bool {
    let rows = end - kept.seq;
    rows >= DUE_ROWS || (rows > 0 && now.micros() - kept.at.micros() >= DUE_MICROS)
}

impl Keeper {
    /// A keeper, for a desk whose binary calls [`tick`](Self::tick) about every second.
    pub fn new(desk: Arc<Desk>, file: Option<PathBuf>) -> Self {
        let kept = Kept {
            seq: 0,
            at: desk.clock.now(),
            in_file: None,
        };
        Self {
            desk,
            file,
            kept: Mutex::new(kept),
        }
    }

    fn kept(&self) -> Kept {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a checkpoint if one is due.
    pub async fn tick(&self) -> Result<(), AuditError> {
        let end = self.desk.store.audit_end().await?;
        if is_due(end, self.kept(), self.desk.clock.now()) {
            self.take().await?;
        }
        Ok(())
    }

    /// Takes a checkpoint of where the log stands now, and keeps it. Nothing comes of it where there is nothing to sign, or no key.
    pub async fn take(&self) -> Result<Option<AuditNote>, AuditError> {
        let now = self.desk.clock.now();
        let Some(note) = self.desk.store.checkpoint_audit(now).await? else {
            return Ok(None);
        };
        let before = self.kept();
        let in_file = match &self.file {
            None => None,
            Some(path) => {
                let has = match before.in_file {
                    Some(seq) => seq,
                    None => last_in(path)?,
                };
                // The note may be one that a process kept in the store and did not live to write down.
                if has < note.seq {
                    append(path, &note.note)?;
                }
                Some(has.max(note.seq))
            }
        };
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Kept {
            seq: note.seq,
            at: now,
            in_file,
        };
        Ok(Some(note))
    }
}

/// The last row that a checkpoint file has a note of, 0 for none. Only the number is looked at; `verify` looks at the rest.
fn last_in(path: &Path) -> Result<i64, AuditError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(file_error(path)(error)),
    };
    let (notes, _torn) = notes_in(&String::from_utf8_lossy(&bytes));
    let seq = |note: &String| note.lines().nth(1)?.parse().ok();
    Ok(notes.iter().filter_map(seq).max().unwrap_or(0))
}

/// Appends a note and waits until it is on the disk.
fn append(path: &Path, note: &str) -> Result<(), AuditError> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        let mut file = options.open(path)?;
        // After a note that was cut short the next one begins on a line of its own, so that only that one is lost.
        let mut last = [b'\n'];
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        let gap = if last == [b'\n'] { "" } else { "\n" };
        file.write_all(format!("{gap}{note}\n").as_bytes())?;
        file.sync_all()
    };
    write().map_err(file_error(path))
}

#[cfg(test)]
mod tests;
