//! What the store is asked, and answers, about changes that need a confirmation (design section 6).
//!
//! A preview is a row; spending its token, applying the change, appending the audit row and keeping the answer are one
//! transaction. So a lost response, a crash and a race have one answer: the row.

use std::sync::Arc;

use domain::{
    Action, ApprovalId, Arguments, Change, Comment, Customer, EntityKind, ForbiddenTransition,
    GuardedWrite, Operation, Status, Ticket, Timestamp, Version,
};
use garde::Valid;
use writegate::{ApprovalLevel, ApprovalMethod, Gate, Token};

/// Previews of one actor that may wait for a confirmation at once; a newer one revokes the oldest (promise G-11).
pub const LIVE_PREVIEWS: i64 = 50;

/// How long a spent token and an idempotency key give the stored answer: a client that lost a response asks again within
/// minutes, and a queue that stood still over night within a day. In microseconds.
pub const REPLAY_MICROS: i64 = 24 * 3_600 * 1_000_000;

/// Makes the answer of an applied change, to be stored with it and given again to every repeated call.
///
/// It runs inside the transaction, perhaps more than once, so it only computes.
pub type Answer = Box<dyn Fn(&Applied<'_>) -> String + Send>;

/// A change to preview.
pub struct NewPreview {
    /// The change.
    pub write: Valid<GuardedWrite>,
    /// The version that the caller saw.
    pub if_version: Option<Version>,
    /// The least approval that policy asks for.
    pub required: ApprovalLevel,
    /// How long its token is good, in microseconds.
    pub ttl: i64,
    /// Makes the token.
    pub gate: Arc<dyn Gate>,
    /// Sixteen random bytes for the token.
    pub nonce: [u8; 16],
    /// A key under which the caller may repeat the call.
    pub key: Option<String>,
}

/// What came of a preview.
#[derive(Clone, Debug)]
pub enum Previewed {
    /// It waits for its confirmation.
    Waiting(Box<Preview>),
    /// It would change nothing.
    NothingToChange,
    /// The status graph has no such edge.
    Forbidden(ForbiddenTransition),
    /// The caller's key has been used for this very write, which gave this answer.
    Replayed(String),
    /// The caller's key has been used for another write.
    KeyConflict,
}

/// A change that waits for its confirmation.
#[derive(Clone, Debug)]
pub struct Preview {
    /// What confirms it.
    pub token: Token,
    /// By what name a person can decide it elsewhere.
    pub approval: ApprovalId,
    /// The change.
    pub write: GuardedWrite,
    /// What it would do, from the rows as they are.
    pub change: Change,
    /// The least approval that it needs.
    pub required: ApprovalLevel,
    /// The first instant at which its token is no longer good.
    pub expires: Timestamp,
}

/// What a call says of the change that it confirms; what it leaves out comes from the preview.
#[derive(Clone, Debug)]
pub struct Given {
    /// The tool that was called.
    pub action: Action,
    /// The record that it names.
    pub entity: Option<(EntityKind, i64)>,
    /// The arguments that it repeats.
    pub arguments: Arguments,
    /// The version that it names.
    pub if_version: Option<Version>,
}

/// What a call with a token brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Apply it; so far it was approved like this.
    Commit(ApprovalMethod),
    /// The person who was asked said no.
    Decline,
    /// The person who was asked said nothing in time.
    Lapse,
}

/// A token with what is to become of its change.
pub struct Redemption {
    /// The token, where what the call brought is one.
    pub token: Option<Token>,
    /// What the call says of the change.
    pub given: Given,
    /// What is to become of it.
    pub decision: Decision,
    /// The least approval that policy asks for now; the higher of this and the bound one counts.
    pub required: Box<dyn Fn(&GuardedWrite) -> ApprovalLevel + Send>,
    /// Checks the token.
    pub gate: Arc<dyn Gate>,
    /// Makes the answer that is stored.
    pub answer: Answer,
}

/// What came of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// The change was applied now, with this answer.
    Applied(String),
    /// It was applied before, with this answer.
    Replayed(String),
    /// Nothing was applied.
    Refused(Refusal),
}

/// Why a change was not applied. Each is one error code of the design (section 6), and is audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Malformed, unknown, forged or somebody else's: nobody is told which.
    Invalid,
    /// Its time is over, or newer previews took its place.
    Expired,
    /// The record has changed since the preview.
    Stale,
    /// It was made for another change.
    Mismatch,
    /// The person who was asked said no.
    Declined,
    /// A person has to approve it first.
    Pending,
    /// It was applied before the person who was asked said no.
    AlreadyApplied,
}

impl Refusal {
    /// Every refusal.
    pub const ALL: [Self; 7] = [
        Self::Invalid,
        Self::Expired,
        Self::Stale,
        Self::Mismatch,
        Self::Declined,
        Self::Pending,
        Self::AlreadyApplied,
    ];

    /// The code in answers and audit rows.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Invalid => "CONFIRMATION_INVALID",
            Self::Expired => "CONFIRMATION_EXPIRED",
            Self::Stale => "CONFIRMATION_STALE",
            Self::Mismatch => "CONFIRMATION_MISMATCH",
            Self::Declined => "CONFIRMATION_DECLINED",
            Self::Pending => "APPROVAL_PENDING",
            Self::AlreadyApplied => "ALREADY_APPLIED",
        }
    }
}

/// How a change came to be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// By whom, as far as this server knows.
    pub method: ApprovalMethod,
    /// The preview that was approved.
    pub approval: ApprovalId,
}

/// A change that was just applied, for its answer.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'a> {
    /// What it was.
    pub operation: Operation,
    /// Of which record, by its number.
    pub entity: (EntityKind, i64),
    /// Field by field.
    pub change: &'a Change,
    /// How it was approved; absent where it needed no confirmation.
    pub confirmed: Option<Confirmed>,
    /// What it left behind.
    pub left: &'a Left,
}

/// What an applied change left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// A ticket.
    Ticket {
        /// As it is now.
        ticket: Ticket,
        /// The status that it had.
        from: Status,
        /// Whether its team was never seen before.
        new_team: bool,
    },
    /// A comment and its ticket.
    Comment {
        /// The comment.
        comment: Comment,
        /// The ticket as it is now.
        ticket: Ticket,
    },
    /// A customer as they are now.
    Customer(Customer),
    /// Nothing: the record is gone.
    Nothing,
}

/// An open write that names a key, so that repeating it does nothing more.
pub struct Once {
    /// The key.
    pub key: String,
    /// The version that the caller saw.
    pub if_version: Option<Version>,
    /// Makes the answer that is stored.
    pub answer: Answer,
}

/// What came of a write with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// It was done now, with this answer.
    Done(String),
    /// It was done before, with this answer.
    Replayed(String),
    /// The graph has no such edge; nothing changed.
    Forbidden(ForbiddenTransition),
    /// The key has been used for another write.
    KeyConflict,
}

/// A change that waits for a person, as that person is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Its name.
    pub id: ApprovalId,
    /// Who asked for it.
    pub actor: String,
    /// With which client.
    pub client: String,
    /// Over which transport.
    pub channel: String,
    /// What it is.
    pub operation: Operation,
    /// Of which record, by its number.
    pub entity: (EntityKind, i64),
    /// What it would do.
    pub change: Change,
    /// When it was asked for.
    pub created: Timestamp,
    /// The first instant at which it can no longer be decided.
    pub expires: Timestamp,
}

/// What a person decides about a change that waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be applied.
    Approve,
    /// It must not.
    Decline,
}

/// What came of a person's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It holds.
    Done(Box<Approval>),
    /// Nothing by that name waits for a decision: it never did, was decided before, or its time is over.
    NotWaiting,
}
