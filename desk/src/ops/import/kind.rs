//! Which fields each kind of record has in the import format, and the words for kinds.

use domain::{CallOutcome, Channel, CustomerStatus, Origin, Priority, Speaker, Status, Visibility};
use storage::import::RecordKind;

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

/// The word for one record, as mappings and errors name it.
pub(super) const fn singular(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Customer => "customer",
        RecordKind::Ticket => "ticket",
        RecordKind::Comment => "comment",
        RecordKind::Call => "call",
        RecordKind::Csat => "score",
        RecordKind::Article => "article",
    }
}

/// The word for many records, as reports name them.
pub(super) const fn plural(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Customer => "customers",
        RecordKind::Ticket => "tickets",
        RecordKind::Comment => "comments",
        RecordKind::Call => "calls",
        RecordKind::Csat => "scores",
        RecordKind::Article => "articles",
    }
}

/// The fields of a kind, in the order in which they are told.
pub(super) const fn fields(kind: RecordKind) -> &'static [Field] {
    match kind {
        RecordKind::Customer => CUSTOMER,
        RecordKind::Ticket => TICKET,
        RecordKind::Comment => COMMENT,
        RecordKind::Call => CALL,
        RecordKind::Csat => CSAT,
        RecordKind::Article => ARTICLE,
    }
}

/// The names of fields, for an error that lists what would be valid.
pub(super) fn names(fields: &[Field]) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    names.join(", ")
}
