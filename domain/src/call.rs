//! Recorded calls and the scores that customers gave.

use crate::text_enum::text_enum;
use crate::{CallId, CustomerId, TicketId, Timestamp};

text_enum! {
    /// How a call ended.
    CallOutcome {
        /// Solved on the line.
        Resolved = "resolved",
        /// Handed to another line or team.
        Escalated = "escalated",
        /// Somebody will call back.
        Callback = "callback",
        /// Ended without a solution.
        Unresolved = "unresolved",
    }
}

text_enum! {
    /// Who speaks in a turn.
    Speaker {
        /// The desk.
        Agent = "agent",
        /// The customer.
        Caller = "caller",
    }
}

/// One turn of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who speaks.
    pub speaker: Speaker,
    /// Seconds from the start of the call.
    pub at_seconds: u32,
    /// What was said.
    pub text: String,
}

/// A call as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// Who called, where known.
    pub customer: Option<CustomerId>,
    /// The ticket that it led to, where there is one.
    pub ticket: Option<TicketId>,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in seconds.
    pub duration_seconds: u32,
    /// Who answered.
    pub agent: String,
    /// Slug of a category.
    pub category: String,
    /// How it ended.
    pub outcome: CallOutcome,
    /// What was said, in order.
    pub turns: Vec<Turn>,
}

/// What a score is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsatSubject {
    /// A call.
    Call(CallId),
    /// A ticket.
    Ticket(TicketId),
}

/// A customer's answer to "how satisfied are you".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsatResponse {
    /// What it is about.
    pub subject: CsatSubject,
    /// 1 (not at all) to 5 (very).
    pub score: u8,
    /// What the customer added.
    pub comment: Option<String>,
    /// Slug of a category.
    pub category: String,
    /// When it was given.
    pub submitted_at: Timestamp,
}
