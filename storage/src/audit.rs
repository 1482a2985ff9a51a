//! What a look at the audit log's chain finds, and what proves a row.

use domain::EntityKind;

/// What is wrong with a row of the audit log, or with what stands beside it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    /// There is no row of that number, although later ones or the head say that there was.
    #[error("the row is missing")]
    Missing,
    /// The row does not carry the link of the row before it.
    #[error("the row is not linked to the one before it")]
    Unlinked,
    /// The link is not that of the row's bytes.
    #[error("the row's bytes are not those that its link was made over")]
    Changed,
    /// The row has no link or no tag.
    #[error("the row is not sealed")]
    NotSealed,
    /// No key of the key file sealed it.
    #[error("the row is sealed with a key that the key file does not hold")]
    UnknownKey,
    /// The key has not made this tag.
    #[error("the row's tag was not made with the key that it names")]
    Forged,
    /// The tag says that the row was sealed later, and rows before it were sealed when they were written.
    #[error("the row was sealed later than the rows before it")]
    SealedLate,
    /// The payload can't be read.
    #[error("the row's payload cannot be read")]
    Unreadable,
    /// A column beside the payload says something else.
    #[error("the column `{0}` differs from the payload")]
    Column(&'static str),
    /// The head of the log names another row or link than the last one.
    #[error("the head of the log does not name this last row")]
    Head,
    /// There are rows of a log that there is not.
    #[error("there are rows of another chain")]
    Stray,
    /// A record has another version than its last audit row left it with, or has no such row.
    #[error("{entity} {id} is at version {stored}, and the log left it at {audited}")]
    Version {
        /// What kind of record.
        entity: EntityKind,
        /// Which one.
        id: i64,
        /// The version that it has.
        stored: i64,
        /// The version that the log says; 0 where no row tells of it.
        audited: i64,
    },
    /// A checkpoint is not signed with our key.
    #[error("a checkpoint {0} is not signed with the key of the key file")]
    CheckpointForged(Kept),
    /// A checkpoint is of another log.
    #[error("a checkpoint {0} is of another store's log")]
    CheckpointForeign(Kept),
    /// The log ends before a checkpoint that was taken of it.
    #[error("the log ends before a checkpoint {0}: rows were cut off")]
    Truncated(Kept),
    /// The row is another one than when the checkpoint was taken.
    #[error("the row is another one than a checkpoint {0} says: the log was written anew")]
    Rewritten(Kept),
    /// A checkpoint does not name the one before it.
    #[error("a checkpoint {0} does not name the one before it")]
    CheckpointGap(Kept),
}

impl AuditFault {
    /// A word for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unlinked => "unlinked",
            Self::Changed => "changed",
            Self::NotSealed => "not_sealed",
            Self::UnknownKey => "unknown_key",
            Self::Forged => "forged",
            Self::SealedLate => "sealed_late",
            Self::Unreadable => "unreadable",
            Self::Column(_) => "projection_mismatch",
            Self::Head => "head",
            Self::Stray => "stray",
            Self::Version { .. } => "version",
            Self::CheckpointForged(_) => "checkpoint_forged",
            Self::CheckpointForeign(_) => "checkpoint_foreign",
            Self::Truncated(_) => "truncated",
            Self::Rewritten(_) => "rewritten",
            Self::CheckpointGap(_) => "checkpoint_gap",
        }
    }
}

/// Where a checkpoint is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In the store, where whoever can write it can delete it.
    Inside,
    /// Outside.
    Outside,
}

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Inside => "in the store",
            Self::Outside => "outside",
        })
    }
}

/// The first thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFlaw {
    /// The number of the first row that is bad, or that a bad checkpoint or record is about.
    pub seq: i64,
    /// What is wrong.
    pub fault: AuditFault,
}

/// What a walk over the whole log found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Rows that are sound, from the first on.
    pub rows: i64,
    /// How many of them were sealed later than they were written: the first ones, of a build from before the chain.
    pub sealed_later: i64,
    /// Rows whose time is before that of the row before; a clock that was set back makes them too.
    pub backwards: i64,
    /// The first of those.
    pub first_backwards: Option<i64>,
    /// Records whose version was compared with the log.
    pub records: u64,
    /// Checkpoints in the store that were compared with the log; none where the key file has no key for them.
    pub checkpoints: u64,
    /// Checkpoints from outside that were compared with the log.
    pub outside: u64,
    /// The last row that a checkpoint from outside vouches for, 0 for none: up to there nothing can have been cut off or written anew.
    pub anchored: i64,
    /// What is wrong, if anything is; the walk ends there.
    pub flaw: Option<AuditFlaw>,
}

/// A row of the log with everything that proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditProof {
    /// Its number.
    pub seq: i64,
    /// Its bytes, exactly.
    pub payload: Vec<u8>,
    /// The link of the row before.
    pub prev: Vec<u8>,
    /// Its link.
    pub hash: Vec<u8>,
    /// The tag over the link.
    pub mac: Vec<u8>,
    /// The id of the key that made the tag.
    pub mac_kid: String,
}

/// A signed note of where the log stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditNote {
    /// The number of the last row that it covers.
    pub seq: i64,
    /// The note.
    pub note: String,
    /// Whether it was made now; the log may not have moved since the last one.
    pub is_new: bool,
}
