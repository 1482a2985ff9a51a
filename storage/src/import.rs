//! Rows of another system, as the importer hands them to the store.
//!
//! History is kept as it was: a status graph is for changes, not for the past (issue 2). References are by external id
//! (the other system's id) or, for customers, by e-mail address.

use domain::{
    Article, CallOutcome, Channel, CustomerStatus, Origin, Priority, Status, Tier, Timestamp, Turn,
    Visibility,
};

/// What to do with a bad row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Keep nothing.
    #[default]
    Abort,
    /// Keep the good rows.
    Skip,
}

/// A customer as another system has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCustomer {
    /// The other system's id, where it has one; otherwise the e-mail address is the key.
    pub external_id: Option<String>,
    /// See [`domain::Customer`].
    pub name: String,
    /// See [`domain::Customer`].
    pub email: String,
    /// See [`domain::Customer`].
    pub phone: Option<String>,
    /// See [`domain::Customer`].
    pub organisation: Option<String>,
    /// See [`domain::Customer`].
    pub status: CustomerStatus,
    /// See [`domain::Customer`].
    pub created_at: Timestamp,
    /// See [`domain::Customer`].
    pub updated_at: Timestamp,
}

/// A ticket as another system has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportTicket {
    /// The other system's id: the key.
    pub external_id: String,
    /// The customer's external id or e-mail address.
    pub customer: String,
    /// See [`domain::Ticket`].
    pub channel: Channel,
    /// See [`domain::Ticket`].
    pub subject: String,
    /// See [`domain::Ticket`].
    pub description: String,
    /// See [`domain::Ticket`].
    pub category: String,
    /// See [`domain::Ticket`].
    pub priority: Priority,
    /// See [`domain::Ticket`].
    pub status: Status,
    /// See [`domain::Ticket`].
    pub tier: Tier,
    /// See [`domain::Ticket`].
    pub assigned_team: Option<String>,
    /// See [`domain::Ticket`].
    pub assignee: Option<String>,
    /// See [`domain::Ticket`].
    pub created_at: Timestamp,
    /// See [`domain::Ticket`].
    pub updated_at: Timestamp,
}

/// A comment as another system has it. It counts as a change of its ticket and leaves the ticket's `updated_at` at the later of both times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportComment {
    /// The other system's id: the key.
    pub external_id: String,
    /// The ticket's external id.
    pub ticket: String,
    /// A label: who is said to have written it.
    pub author: String,
    /// See [`domain::Comment`].
    pub origin: Origin,
    /// See [`domain::Comment`].
    pub visibility: Visibility,
    /// See [`domain::Comment`].
    pub body: String,
    /// See [`domain::Comment`].
    pub created_at: Timestamp,
}

/// A call as another system has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCall {
    /// The other system's id: the key.
    pub external_id: String,
    /// The customer's external id or e-mail address, where known.
    pub customer: Option<String>,
    /// The ticket's external id, where there is one.
    pub ticket: Option<String>,
    /// See [`domain::Call`].
    pub started_at: Timestamp,
    /// See [`domain::Call`].
    pub duration_seconds: u32,
    /// See [`domain::Call`].
    pub agent: String,
    /// See [`domain::Call`].
    pub category: String,
    /// See [`domain::Call`].
    pub outcome: CallOutcome,
    /// See [`domain::Call`].
    pub turns: Vec<Turn>,
}

/// What an imported score is about, by external id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportCsatSubject {
    /// A call.
    Call(String),
    /// A ticket.
    Ticket(String),
}

/// A satisfaction score as another system has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCsat {
    /// The other system's id: the key.
    pub external_id: String,
    /// What it is about.
    pub subject: ImportCsatSubject,
    /// See [`domain::CsatResponse`].
    pub score: u8,
    /// See [`domain::CsatResponse`].
    pub comment: Option<String>,
    /// See [`domain::CsatResponse`].
    pub category: String,
    /// See [`domain::CsatResponse`].
    pub submitted_at: Timestamp,
}

/// What a row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportRecord {
    /// A customer.
    Customer(ImportCustomer),
    /// A ticket.
    Ticket(ImportTicket),
    /// A comment.
    Comment(ImportComment),
    /// A call.
    Call(ImportCall),
    /// A score.
    Csat(ImportCsat),
    /// An article, whose id is the key; one whose content differs is updated.
    Article(Article),
}

/// A kind of record. The order is that of an import: a record comes after those it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordKind {
    /// A customer.
    Customer,
    /// A ticket.
    Ticket,
    /// A comment.
    Comment,
    /// A call.
    Call,
    /// A satisfaction score.
    Csat,
    /// A knowledge-base article.
    Article,
}

impl RecordKind {
    /// Every kind, in the order of an import.
    pub const ALL: [Self; 6] = [
        Self::Customer,
        Self::Ticket,
        Self::Comment,
        Self::Call,
        Self::Csat,
        Self::Article,
    ];
}

impl ImportRecord {
    /// Of which kind it is.
    pub const fn kind(&self) -> RecordKind {
        match self {
            Self::Customer(_) => RecordKind::Customer,
            Self::Ticket(_) => RecordKind::Ticket,
            Self::Comment(_) => RecordKind::Comment,
            Self::Call(_) => RecordKind::Call,
            Self::Csat(_) => RecordKind::Csat,
            Self::Article(_) => RecordKind::Article,
        }
    }
}

/// What became of the rows of one kind.
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

/// A row with the place that it came from, by which the importer names it in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRow {
    /// The importer's own number for file and line.
    pub place: u64,
    /// The row.
    pub record: ImportRecord,
}

/// Why the store did not take a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportRefusal {
    /// A reference leads nowhere.
    #[error("`{field}` names `{given}`, which is not among the {wanted} imported so far")]
    UnknownReference {
        /// The field.
        field: &'static str,
        /// What it holds, cut.
        given: String,
        /// What it should name.
        wanted: &'static str,
    },
    /// The category table has no such slug.
    #[error("`category` is `{given}`; valid are: {}", allowed.join(", "))]
    UnknownCategory {
        /// What was given, cut.
        given: String,
        /// Every valid slug.
        allowed: Vec<String>,
    },
    /// Another customer has this address under another external id.
    #[error("`email` belongs to another customer")]
    DuplicateEmail,
}

/// What came of an import job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Rows that are new in the store (0 after an abort).
    pub created: u64,
    /// Articles whose content was replaced.
    pub updated: u64,
    /// Rows that were there already.
    pub existing: u64,
    /// Rows that were refused, by place, at most [`ImportReport::REFUSALS_LISTED`].
    pub refused: Vec<(u64, ImportRefusal)>,
    /// How many were refused.
    pub refused_count: u64,
    /// The same by kind, in the order of [`RecordKind::ALL`].
    pub kinds: [Counts; RecordKind::ALL.len()],
    /// Whether everything was undone.
    pub aborted: bool,
}

impl ImportReport {
    /// The counts of a kind.
    pub fn of(&self, kind: RecordKind) -> Counts {
        self.kinds.get(kind as usize).copied().unwrap_or_default()
    }

    /// Refused rows that a report lists; the rest are counted.
    pub const REFUSALS_LISTED: usize = 1_000;
}
