//! What came of an import, for people and for programs.

use std::fmt;

use storage::import::{Counts, ImportReport, RecordKind};

use super::fault::BadRow;
use super::kind::plural;
use super::plan::UnusedColumn;

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportSummary {
    counts: [Counts; RecordKind::ALL.len()],
    /// Rows that were not taken, in the order in which they were found, at most [`ImportReport::REFUSALS_LISTED`].
    pub refused: Vec<BadRow>,
    /// Whether nothing was kept because a row was not taken.
    pub aborted: bool,
    /// Columns of tables that the mapping does not read.
    pub unused: Vec<UnusedColumn>,
}

impl ImportSummary {
    /// The counts of a kind.
    pub fn of(&self, kind: RecordKind) -> Counts {
        self.counts.get(kind as usize).copied().unwrap_or_default()
    }

    /// The counts of all kinds together.
    pub fn total(&self) -> Counts {
        self.counts
            .iter()
            .fold(Counts::default(), |sum, counts| Counts {
                created: sum.created + counts.created,
                updated: sum.updated + counts.updated,
                existing: sum.existing + counts.existing,
                refused: sum.refused + counts.refused,
            })
    }

    /// Adds what the store counted.
    pub(super) fn add(&mut self, report: &ImportReport) {
        for (kind, sum) in RecordKind::ALL.into_iter().zip(&mut self.counts) {
            let counts = report.of(kind);
            sum.created += counts.created;
            sum.updated += counts.updated;
            sum.existing += counts.existing;
            sum.refused += counts.refused;
        }
        self.aborted |= report.aborted;
    }

    /// Counts and lists a row that did not reach the store.
    pub(super) fn refuse(&mut self, kind: RecordKind, row: BadRow) {
        if let Some(counts) = self.counts.get_mut(kind as usize) {
            counts.refused += 1;
        }
        self.list(row);
    }

    /// Lists a row, as long as there is room.
    pub(super) fn list(&mut self, row: BadRow) {
        if self.refused.len() < ImportReport::REFUSALS_LISTED {
            self.refused.push(row);
        }
    }
}

impl fmt::Display for ImportSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<10} {:>9} {:>9} {:>9} {:>9}",
            "", "created", "updated", "existing", "refused"
        )?;
        for kind in RecordKind::ALL {
            let counts = self.of(kind);
            if counts != Counts::default() {
                writeln!(
                    f,
                    "{:<10} {:>9} {:>9} {:>9} {:>9}",
                    plural(kind),
                    counts.created,
                    counts.updated,
                    counts.existing,
                    counts.refused
                )?;
            }
        }
        for unused in &self.unused {
            writeln!(
                f,
                "{}: the mapping does not read the column `{}`",
                unused.file, unused.column
            )?;
        }
        for row in &self.refused {
            writeln!(f, "{row}")?;
        }
        let unlisted = self.total().refused - self.refused.len() as u64;
        if unlisted > 0 {
            writeln!(f, "... and {unlisted} more rows were refused")?;
        }
        if self.aborted {
            writeln!(
                f,
                "Nothing was kept: every row must be good, or bad ones be skipped."
            )?;
        }
        Ok(())
    }
}
