//! Why an import did not run, as opposed to rows that it did not take.

use super::files::SourceFile;
use super::place::MAX_FILES;
use crate::DeskError;

/// Why an import did not run or did not end.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or folder can't be read.
    #[error("`{file}` can't be read")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file as a whole is not what its name says.
    #[error("`{file}` {reason}")]
    File {
        /// The file.
        file: String,
        /// What is wrong, worded to follow its name.
        reason: String,
    },
    /// The mapping is wrong.
    #[error("the mapping {reason}")]
    Mapping {
        /// What is wrong and what is valid.
        reason: String,
    },
    /// No file has a name of the import format.
    #[error(
        "there is nothing to import; valid are: customers, tickets, comments, csat (each `.jsonl` or `.csv`), calls.jsonl, articles/*.md"
    )]
    Nothing,
    /// There are more files than can be told apart.
    #[error("there are more than {MAX_FILES} files")]
    TooManyFiles,
    /// A file was good when it was checked and bad when it was taken.
    #[error("`{file}` changed while it was imported, and nothing was kept")]
    Changed {
        /// The file.
        file: String,
    },
    /// The store failed. What was kept before stays, and importing again goes on from there.
    #[error("the store failed after {kept} new records were kept")]
    Store {
        /// New records that were kept.
        kept: u64,
        /// Why.
        source: DeskError,
    },
}

impl SourceFile {
    /// The error for this file as a whole.
    pub(super) fn wrong(&self, reason: impl Into<String>) -> ImportError {
        ImportError::File {
            file: self.name.clone(),
            reason: reason.into(),
        }
    }
}
