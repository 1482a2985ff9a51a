//! The table of tools, in the order in which they are listed.

mod audit;
mod calls;
mod customers;
mod knowledge;
mod replies;
mod review;
mod satisfaction;
mod searching;
mod ticket_edits;
mod ticket_reads;
mod ticket_writes;
mod written;

use crate::spec::{Output, ToolSpec, Type};

pub(crate) use written::written;

/// Every tool, in the order of listings and documentation.
pub fn tool_specs() -> impl Iterator<Item = &'static ToolSpec> {
    [
        customers::TOOLS,
        ticket_reads::TOOLS,
        searching::TOOLS,
        ticket_writes::TOOLS,
        ticket_edits::TOOLS,
        knowledge::TOOLS,
        replies::TOOLS,
        calls::TOOLS,
        satisfaction::TOOLS,
        review::TOOLS,
        audit::TOOLS,
    ]
    .into_iter()
    .flatten()
}

/// How a page lies in its list.
const PAGE: &[Output] = &[
    ("total", Type::Whole),
    ("total_is_lower_bound", Type::Flag),
    ("returned", Type::Whole),
    ("truncated", Type::Flag),
    ("next_cursor", Type::Text),
];

/// A ticket's fields in a record, and after a write.
const TICKET: &[Output] = &[
    ("ticket_id", Type::Text),
    ("subject", Type::Object),
    ("status", Type::Text),
    ("priority", Type::Text),
    ("category", Type::Text),
    ("customer_id", Type::Text),
    ("tier", Type::Whole),
    ("team", Type::Text),
    ("assignee", Type::Text),
    ("flag", Type::Text),
    ("last_comment_by", Type::Text),
    ("created_at", Type::Text),
    ("updated_at", Type::Text),
    ("version", Type::Whole),
];

/// Whether an earlier call with the same key did it.
const REPLAYED: &[Output] = &[("replayed", Type::Flag)];

/// Descriptions of arguments that several tools have: one concept, one name, one wording (field report 15).
mod wording {
    pub(super) const TICKET_ID: &str = "Ticket, e.g. T-1042.";
    pub(super) const CUSTOMER_ID: &str = "Customer, e.g. C-17.";
    pub(super) const CATEGORY: &str = "Category slug. Built in: general, account, billing, password_account, email, \
         network_vpn, hardware, software_licensing, security, server_outage, onboarding_offboarding.";
    pub(super) const ONLY_CATEGORY: &str = "Category slug, e.g. network_vpn.";
    pub(super) const TEAM: &str = "Assigned team.";
    pub(super) const ORGANISATION: &str = "Customer's organisation, whole name.";
    pub(super) const SINCE: &str = "First UTC day or RFC 3339 instant.";
    pub(super) const UNTIL: &str = "Last UTC day, or the instant before which.";
    pub(super) const SCORE_MIN: &str = "Lowest score.";
    pub(super) const SCORE_MAX: &str = "Highest score.";
    pub(super) const LIMIT: &str = "Rows at most.";
    pub(super) const CURSOR: &str = "next_cursor of the previous page; keep the other arguments.";
    pub(super) const UNASSIGN: &str = "What to take away.";
    pub(super) const IDEMPOTENCY_KEY: &str =
        "New for each write; the same key within a day gives the first result again.";
    pub(super) const IF_VERSION: &str = "Version you read; refused as STALE if it has changed.";
}

/// Rows of a list.
type PageLimit = crate::args::Limit<{ domain::limits::PAGE_MAX }, { domain::limits::PAGE_DEFAULT }>;
/// A page cursor.
type Cursor = crate::args::Label<{ domain::limits::CURSOR_CHARS }>;
/// The name of a person, team or organisation.
type Name = crate::args::Label<{ domain::limits::NAME_CHARS }>;
/// A key under which a write happens once.
type Key = crate::args::Label<{ domain::limits::IDEMPOTENCY_KEY_CHARS }>;
/// Words to search for.
type Query = crate::args::Label<{ domain::limits::QUERY_CHARS }>;
/// An e-mail address.
type Email = crate::args::Label<{ domain::limits::EMAIL_CHARS }>;
