//! What came of an import, for people and for programs.

use std::fmt;

use storage::import::ImportReport;

use super::fault::BadRow;
use super::kind::RecordKind;
use super::plan::UnusedColumn;

/// Counts of one kind of record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// New in the store.
    pub created: u64,
    /// There, with other content that was replaced (articles only).
    pub updated: u64,
    /// There already; left as they are.
    pub existing: u64,
    /// Not taken.
    pub refused: u64,
}

impl Counts {
    /// Whether there was nothing of this kind.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

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
        self.counts.get(kind.index()).copied().unwrap_or_default()
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

    pub(super) fn count(&mut self, kind: RecordKind, count: impl FnOnce(&mut Counts)) {
        if let Some(counts) = self.counts.get_mut(kind.index()) {
            count(counts);
        }
    }

    pub(super) fn refuse(&mut self, kind: RecordKind, row: BadRow) {
        self.count(kind, |counts| counts.refused += 1);
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
            if !counts.is_empty() {
                writeln!(
                    f,
                    "{:<10} {:>9} {:>9} {:>9} {:>9}",
                    kind.plural(),
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
