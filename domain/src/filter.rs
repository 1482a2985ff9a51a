//! What lists accept: filters that combine with AND, an order, and a keyset page.

use crate::text_enum::text_enum;
use crate::{
    CallOutcome, CustomerId, CustomerStatus, LastCommentBy, Priority, SecurityFlag, Status, Tier,
    Timestamp, audit, limits,
};

text_enum! {
    /// The order of a list of tickets. Ties are broken by id, so a page never repeats or skips a row.
    TicketOrder {
        /// Filed last first.
        Newest = "newest",
        /// Filed first first.
        Oldest = "oldest",
        /// Changed last first.
        Updated = "updated",
    }
}

/// Customers have the same orders as tickets.
pub type CustomerOrder = TicketOrder;

/// A half-open range of time: from, inclusive, until, exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// The first instant inside.
    pub from: Option<Timestamp>,
    /// The first instant outside.
    pub until: Option<Timestamp>,
}

impl TimeRange {
    /// Whether it can hold no instant at all, which is a mistake of the caller and not an empty result.
    pub fn is_inverted(self) -> bool {
        matches!((self.from, self.until), (Some(from), Some(until)) if from >= until)
    }
}

/// Which tickets. Texts are folded by whoever builds the filter ([`crate::text::fold`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TicketFilter {
    /// Only with this status.
    pub status: Option<Status>,
    /// Only with this priority.
    pub priority: Option<Priority>,
    /// Only in this category (slug).
    pub category: Option<String>,
    /// Only of this customer.
    pub customer: Option<CustomerId>,
    /// Only of customers of this organisation (folded).
    pub organisation: Option<String>,
    /// Only assigned to this team (folded).
    pub team: Option<String>,
    /// Only assigned to this person (folded).
    pub assignee: Option<String>,
    /// Only with (`false`) or without (`true`) a person assigned.
    pub unassigned: Option<bool>,
    /// Only with this line.
    pub tier: Option<Tier>,
    /// Only with this flag.
    pub flag: Option<SecurityFlag>,
    /// Only where this side spoke last.
    pub last_comment_by: Option<LastCommentBy>,
    /// Only filed in this range.
    pub created: TimeRange,
    /// Only changed in this range.
    pub updated: TimeRange,
}

/// Which customers. Texts are folded by whoever builds the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CustomerFilter {
    /// Only with this status.
    pub status: Option<CustomerStatus>,
    /// Only of this organisation (folded, whole).
    pub organisation: Option<String>,
    /// Only with this address (folded, whole).
    pub email: Option<String>,
    /// Only where name, address or organisation contain this (folded).
    pub query: Option<String>,
    /// Whether the query leaves addresses out: for callers who may not see them.
    pub names_only: bool,
}

/// A range of scores, both ends inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScoreRange {
    /// The lowest score inside, 1 to 5.
    pub least: Option<u8>,
    /// The highest score inside, 1 to 5.
    pub most: Option<u8>,
}

impl ScoreRange {
    /// Whether it can hold no score at all, which is a mistake of the caller and not an empty result.
    pub fn is_inverted(self) -> bool {
        matches!((self.least, self.most), (Some(least), Some(most)) if least > most)
    }

    /// Whether every score is inside, and the absence of one.
    pub fn is_open(self) -> bool {
        self == Self::default()
    }
}

/// Which calls. Texts are folded by whoever builds the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallFilter {
    /// Only in this category (slug).
    pub category: Option<String>,
    /// Only with this outcome.
    pub outcome: Option<CallOutcome>,
    /// Only answered by this person (folded).
    pub agent: Option<String>,
    /// Only of this customer.
    pub customer: Option<CustomerId>,
    /// Only begun in this range.
    pub started: TimeRange,
    /// Only calls that were given at least one score in this range.
    pub score: ScoreRange,
}

/// Which scores. Texts are folded by whoever builds the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CsatFilter {
    /// Only scores in this range.
    pub score: ScoreRange,
    /// Only in this category (slug).
    pub category: Option<String>,
    /// Only about calls that this person answered and tickets that this person is assigned to (folded).
    pub agent: Option<String>,
    /// Only given in this range.
    pub submitted: TimeRange,
}

/// Which audit rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AuditFilter {
    /// Only by this actor.
    pub actor: Option<String>,
    /// Only this action.
    pub action: Option<audit::Action>,
    /// Only about this kind of thing.
    pub entity: Option<audit::EntityKind>,
    /// Only about the thing with this number; wants `entity`.
    pub entity_id: Option<i64>,
    /// Only with this outcome.
    pub outcome: Option<audit::Outcome>,
    /// Only in this range.
    pub at: TimeRange,
}

/// The place after which a page begins: the sort key and the id of the last row sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyset {
    /// What the list is sorted by, as a number.
    pub key: i64,
    /// The tie breaker.
    pub id: i64,
}

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    limit: u16,
    after: Option<Keyset>,
}

impl PageRequest {
    /// A page of at most `limit` rows (1 to 100) after a place in the list.
    pub fn new(limit: u16, after: Option<Keyset>) -> Self {
        Self {
            limit: limit.clamp(1, limits::PAGE_MAX),
            after,
        }
    }

    /// Rows at the most.
    pub const fn limit(self) -> u16 {
        self.limit
    }

    /// Where it begins.
    pub const fn after(self) -> Option<Keyset> {
        self.after
    }
}

/// How many rows a filter matches, whatever the page (field report 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// The count, at most [`limits::TOTAL_EXACT`].
    pub count: u32,
    /// Whether there are more than `count`.
    pub is_lower_bound: bool,
}

impl Total {
    /// From a count that stopped at one over the exact limit.
    pub fn from_capped(count: i64) -> Self {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            count: count.min(limits::TOTAL_EXACT),
            is_lower_bound: count > limits::TOTAL_EXACT,
        }
    }
}

/// A page as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows, in order.
    pub rows: Vec<T>,
    /// How many rows the filter matches.
    pub total: Total,
    /// Where the next page begins, if there is one.
    pub next: Option<Keyset>,
}
