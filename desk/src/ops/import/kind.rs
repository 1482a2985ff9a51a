//! What can be imported, and which fields each kind of record has.

use std::fmt;

use domain::{CallOutcome, Channel, CustomerStatus, Origin, Priority, Speaker, Status, Visibility};
use storage::import::ImportRecord;

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

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Text,
    Word(&'static [&'static str]),
    Time,
    Number,
    List,
}

/// A field of the import format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) sort: Sort,
    pub(super) required: bool,
}

const fn needed(name: &'static str, sort: Sort) -> Field {
    Field {
        name,
        sort,
        required: true,
    }
}

const fn optional(name: &'static str, sort: Sort) -> Field {
    Field {
        name,
        sort,
        required: false,
    }
}

const CUSTOMER: &[Field] = &[
    optional("external_id", Sort::Text),
    needed("name", Sort::Text),
    needed("email", Sort::Text),
    optional("phone", Sort::Text),
    optional("organisation", Sort::Text),
    optional("status", Sort::Word(CustomerStatus::WORDS)),
    needed("created_at", Sort::Time),
    optional("updated_at", Sort::Time),
];

const TICKET: &[Field] = &[
    needed("external_id", Sort::Text),
    needed("customer", Sort::Text),
    optional("channel", Sort::Word(Channel::WORDS)),
    needed("subject", Sort::Text),
    needed("description", Sort::Text),
    optional("category", Sort::Text),
    optional("priority", Sort::Word(Priority::WORDS)),
    optional("status", Sort::Word(Status::WORDS)),
    optional("tier", Sort::Number),
    optional("assigned_team", Sort::Text),
    optional("assignee", Sort::Text),
    needed("created_at", Sort::Time),
    optional("updated_at", Sort::Time),
];

const COMMENT: &[Field] = &[
    needed("external_id", Sort::Text),
    needed("ticket", Sort::Text),
    needed("author", Sort::Text),
    needed("origin", Sort::Word(Origin::WORDS)),
    optional("visibility", Sort::Word(Visibility::WORDS)),
    needed("body", Sort::Text),
    needed("created_at", Sort::Time),
];

const CALL: &[Field] = &[
    needed("external_id", Sort::Text),
    optional("customer", Sort::Text),
    optional("ticket", Sort::Text),
    needed("started_at", Sort::Time),
    needed("duration_seconds", Sort::Number),
    needed("agent", Sort::Text),
    optional("category", Sort::Text),
    needed("outcome", Sort::Word(CallOutcome::WORDS)),
    needed("turns", Sort::List),
];

/// The fields of one element of a call's `turns`.
pub(super) const TURN: &[Field] = &[
    needed("speaker", Sort::Word(Speaker::WORDS)),
    needed("at_seconds", Sort::Number),
    needed("text", Sort::Text),
];

const CSAT: &[Field] = &[
    needed("external_id", Sort::Text),
    optional("call", Sort::Text),
    optional("ticket", Sort::Text),
    needed("score", Sort::Number),
    optional("comment", Sort::Text),
    optional("category", Sort::Text),
    needed("submitted_at", Sort::Time),
];

/// The front matter of an article.
const ARTICLE: &[Field] = &[
    needed("id", Sort::Text),
    needed("slug", Sort::Text),
    needed("title", Sort::Text),
    needed("category", Sort::Text),
    needed("audience", Sort::Word(domain::Audience::WORDS)),
    optional("updated_at", Sort::Time),
];

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

    /// The word for one, as mappings name it.
    pub const fn singular(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Ticket => "ticket",
            Self::Comment => "comment",
            Self::Call => "call",
            Self::Csat => "score",
            Self::Article => "article",
        }
    }

    /// The word for many, as reports name them.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Customer => "customers",
            Self::Ticket => "tickets",
            Self::Comment => "comments",
            Self::Call => "calls",
            Self::Csat => "scores",
            Self::Article => "articles",
        }
    }

    /// Which kind a record of the store's import is.
    pub const fn of(record: &ImportRecord) -> Self {
        match record {
            ImportRecord::Customer(_) => Self::Customer,
            ImportRecord::Ticket(_) => Self::Ticket,
            ImportRecord::Comment(_) => Self::Comment,
            ImportRecord::Call(_) => Self::Call,
            ImportRecord::Csat(_) => Self::Csat,
            ImportRecord::Article(_) => Self::Article,
        }
    }

    pub(super) const fn fields(self) -> &'static [Field] {
        match self {
            Self::Customer => CUSTOMER,
            Self::Ticket => TICKET,
            Self::Comment => COMMENT,
            Self::Call => CALL,
            Self::Csat => CSAT,
            Self::Article => ARTICLE,
        }
    }

    /// Its place among the kinds.
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.singular())
    }
}

/// The names of fields, for an error that lists what would be valid.
pub(super) fn names(fields: &[Field]) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    names.join(", ")
}
