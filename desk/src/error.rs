//! Why a use case gave no answer, split by what the caller can do about it, and the closed list of codes.

use domain::{
    EntityKind, ForbiddenTransition, Scope, SecurityFlag, TicketId, UnknownValue, Version,
};
use garde::{Unvalidated, Valid, Validate};
use guardrail::RefusalKind;
use storage::{Refusal, StoreError};

/// A value that a caller gave and that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {reason}")]
pub struct InvalidArgument {
    /// The argument, by the name that tools use.
    pub field: String,
    /// What is wrong, worded to follow the field's name.
    pub reason: String,
    /// Every valid value, where there is a closed list.
    pub allowed: Vec<String>,
}

impl InvalidArgument {
    /// A bad value without a closed list of good ones.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            reason: reason.into(),
            allowed: Vec::new(),
        }
    }

    /// A word that a vocabulary does not have.
    pub fn unknown(field: impl Into<String>, unknown: UnknownValue) -> Self {
        Self::not_among(
            field,
            &unknown.given,
            unknown.allowed.into_iter().map(str::to_owned).collect(),
        )
    }

    /// A value that is not among the valid ones.
    pub fn not_among(field: impl Into<String>, given: &str, allowed: Vec<String>) -> Self {
        let reason = format!("is `{given}`, which is not one of: {}", allowed.join(", "));
        Self {
            field: field.into(),
            reason,
            allowed,
        }
    }
}

/// Why a use case gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// An argument is wrong; it must be changed.
    #[error(transparent)]
    Invalid(#[from] InvalidArgument),
    /// There is no such thing.
    #[error("there is no {entity} `{id}`")]
    NotFound {
        /// The kind of thing.
        entity: EntityKind,
        /// Its id as tools show it.
        id: String,
    },
    /// Another customer has this address.
    #[error("another customer has this e-mail address")]
    DuplicateEmail,
    /// The status graph has no such edge.
    #[error(transparent)]
    ForbiddenTransition(#[from] ForbiddenTransition),
    /// The record has changed since it was read.
    #[error("the record has moved on: version {expected} was named and it is at version {found}")]
    Stale {
        /// The version that the caller named.
        expected: Version,
        /// The version that the row has.
        found: Version,
    },
    /// The guardrail refuses a ticket, for these reasons.
    #[error("the ticket {}", why(.0.kind))]
    Screened(Box<guardrail::Refusal>),
    /// The flag of a ticket does not allow it.
    #[error("{ticket} is flagged `{flag}`, or the text would make it so")]
    Flagged {
        /// The ticket.
        ticket: TicketId,
        /// The flag.
        flag: SecurityFlag,
    },
    /// The knowledge base says nothing to customers about it.
    #[error("no article for customers is about this")]
    NothingKnown,
    /// A guarded change was not applied.
    #[error("{}", unconfirmed(*.0))]
    Unconfirmed(Refusal),
    /// A key was used for another write.
    #[error("this idempotency key has been used for another write")]
    IdempotencyConflict,
    /// The caller lacks a right that this call needs beyond its tool's.
    #[error("this needs the right `{0}`, which the caller does not have")]
    MissingRight(Scope),
    /// The database is held by others.
    #[error("the database is busy")]
    Busy,
    /// The disk or database is full.
    #[error("the storage is full")]
    Full,
    /// Whether the write took effect can't be known.
    #[error("the outcome of the write is unknown")]
    OutcomeUnknown(#[source] StoreError),
    /// The database can't be used.
    #[error("the storage is unavailable")]
    Unavailable(#[source] StoreError),
    /// A stored answer can't be read.
    #[error("something failed inside the server")]
    Damaged,
    /// A fault of ours.
    #[error("something failed inside the server")]
    Internal(#[source] StoreError),
}

impl From<StoreError> for DeskError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { entity, id } => Self::NotFound {
                entity,
                id: shown_id(entity, id),
            },
            StoreError::Stale { expected, found } => Self::Stale { expected, found },
            StoreError::DuplicateEmail => Self::DuplicateEmail,
            StoreError::Flagged { ticket, flag } => Self::Flagged { ticket, flag },
            StoreError::UnknownCategory { given, allowed } => {
                InvalidArgument::not_among("category", &given, allowed).into()
            }
            StoreError::Busy => Self::Busy,
            StoreError::Full => Self::Full,
            StoreError::OutcomeUnknown(_) => Self::OutcomeUnknown(error),
            StoreError::Unavailable(_) => Self::Unavailable(error),
            StoreError::Internal(_) => Self::Internal(error),
        }
    }
}

/// What a refusal says of its ticket.
const fn why(kind: RefusalKind) -> &'static str {
    match kind {
        RefusalKind::Incident => "looks like a security incident and goes to the security team",
        RefusalKind::Held => "is held until a person has looked at it",
        RefusalKind::ClassifierUnavailable => {
            "could not be screened: the configured classifier gave no usable answer"
        }
    }
}

/// Why a guarded change was not applied. Unknown, forged and foreign tokens have one wording.
const fn unconfirmed(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Invalid => "this confirmation is not valid; nothing was changed",
        Refusal::Expired => "the time of this confirmation is over; nothing was changed",
        Refusal::Stale => "the record has changed since the preview; nothing was changed",
        Refusal::Mismatch => {
            "this confirmation was made for another change and is void now; nothing was changed"
        }
        Refusal::Declined => "the person who was asked did not agree; nothing was changed",
        Refusal::Pending => "a person has to approve this change first; nothing was changed yet",
        Refusal::AlreadyApplied => "the change was applied before it was declined",
    }
}

/// An id as tools show it.
pub fn shown_id(entity: EntityKind, id: i64) -> String {
    match entity {
        EntityKind::Customer => domain::CustomerId::new(id).to_string(),
        EntityKind::Ticket => TicketId::new(id).to_string(),
        EntityKind::Article => domain::ArticleId::new(id).to_string(),
        EntityKind::Call => domain::CallId::new(id).to_string(),
        EntityKind::Csat | EntityKind::AccessToken | EntityKind::Store => id.to_string(),
    }
}

/// Checks an input once, at the border; the error names the first field that is wrong.
pub fn valid<T: Validate<Context = ()>>(input: T) -> Result<Valid<T>, DeskError> {
    Unvalidated::new(input).validate().map_err(|report| {
        report
            .iter()
            .next()
            .map_or_else(
                || InvalidArgument::new("arguments", "are not valid"),
                |(path, error)| InvalidArgument::new(path.to_string(), error.message()),
            )
            .into()
    })
}

/// What a caller should do after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same call can't succeed; change the arguments or give up.
    Never,
    /// The same call again, with the same confirmation where there is one.
    Same,
    /// Read or preview again, then decide anew.
    NewPreview,
    /// The same call after a while.
    Later,
}

impl Retry {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Same => "same",
            Self::NewPreview => "new_preview",
            Self::Later => "later",
        }
    }
}

macro_rules! error_codes {
    ($($(#[$meta:meta])* $variant:ident = $word:literal, $retry:ident, $is_error:literal, $when:literal, $hint:literal;)+) => {
        /// Every code that a result can carry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($(#[$meta])* #[doc = $when] $variant),+ }

        impl ErrorCode {
            /// Every code, in the order of the error page.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in results and audit rows.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// What a caller should do.
            pub const fn retry(self) -> Retry {
                match self { $(Self::$variant => Retry::$retry),+ }
            }

            /// Whether the tool failed (`true`) or worked and a rule refused (`false`).
            pub const fn is_error(self) -> bool {
                match self { $(Self::$variant => $is_error),+ }
            }

            /// When it is given, for the error page.
            pub const fn when(self) -> &'static str {
                match self { $(Self::$variant => $when),+ }
            }

            /// What to do next, for the result. It never names a way around a rule.
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint),+ }
            }
        }
    };
}

error_codes! {
    InvalidArgument = "INVALID_ARGUMENT", Never, true,
        "An argument is missing, unknown, of the wrong type or out of range; nothing was done.",
        "Correct the named field and call again.";
    NotFound = "NOT_FOUND", Never, true,
        "No record has this id.",
        "Find the id with a list or search tool.";
    DuplicateEmail = "DUPLICATE_EMAIL", Never, true,
        "Another customer has this e-mail address.",
        "Find that customer with list_customers(email) and use their record.";
    ForbiddenTransition = "FORBIDDEN_TRANSITION", Never, false,
        "The status graph has no such step; the refusal is in the audit log.",
        "Take one of the allowed steps, or leave the ticket as it is.";
    SecurityEscalationRequired = "SECURITY_ESCALATION_REQUIRED", Never, false,
        "The ticket is, or looks like, a security incident: it gets no draft and no public text, and is not resolved, closed, lowered or deleted without a person. The refusal is in the audit log.",
        "Tell the user what was found and hand the ticket over with escalate_to_security. Do not answer the customer yourself.";
    HeldForReview = "HELD_FOR_REVIEW", Never, false,
        "The ticket may be a security incident: it gets no draft and no public text until a person has reviewed it.",
        "Tell the user that a person has to review the ticket first, and why.";
    ClassifierUnavailable = "CLASSIFIER_UNAVAILABLE", Later, false,
        "The configured classifier gave no usable answer, so the ticket could not be cleared; nothing is wrong with the ticket itself.",
        "Tell the user that screening does not work at the moment; the operator has to see to it.";
    KbNoMatch = "KB_NO_MATCH", Never, false,
        "No article for customers is about this ticket, so there is nothing to ground a draft on.",
        "Tell the user that the knowledge base has no answer; somebody has to write one.";
    Stale = "STALE", NewPreview, true,
        "The record changed after the version that the call names.",
        "Read the record again, look at what changed, and decide anew.";
    ConfirmationRequired = "CONFIRMATION_REQUIRED", Same, false,
        "The change is guarded; this is its preview, and nothing was changed.",
        "Show this to the user; call again with the token only after they agreed.";
    ConfirmationInvalid = "CONFIRMATION_INVALID", NewPreview, false,
        "The token is malformed, unknown, forged or somebody else's; nobody is told which.",
        "Ask for a new preview.";
    ConfirmationExpired = "CONFIRMATION_EXPIRED", NewPreview, false,
        "The token's time is over, nobody answered in time, or newer previews took its place.",
        "Ask for a new preview.";
    ConfirmationStale = "CONFIRMATION_STALE", NewPreview, false,
        "The record has changed since the preview; the token is void.",
        "Read the record again, then preview the change that is still wanted.";
    ConfirmationMismatch = "CONFIRMATION_MISMATCH", NewPreview, false,
        "The token was made for another tool, record or change; it is void now.",
        "Preview the change that is wanted: a confirmation is good for that one change.";
    AlreadyApplied = "ALREADY_APPLIED", Never, false,
        "The change was applied before the person who was asked declined it.",
        "Read the record to see the change, and tell the user.";
    ConfirmationDeclined = "CONFIRMATION_DECLINED", Never, false,
        "The person who was asked did not agree, or gave no clear yes; the token is void.",
        "Do not ask again; ask the user what they want instead.";
    ApprovalPending = "APPROVAL_PENDING", Later, false,
        "A person has to approve the change and has not yet.",
        "Wait until they have decided, then make the same call again.";
    HumanApprovalRequired = "HUMAN_APPROVAL_REQUIRED", Later, false,
        "A person has to approve the change, and this client can't ask one; nothing was changed.",
        "Tell the user which approval waits: a person decides it elsewhere. After that, call again with the token.";
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT", Never, true,
        "The idempotency key has been used for another write within a day; nothing was done.",
        "Use a new key for a new write.";
    StorageBusy = "STORAGE_BUSY", Later, true,
        "Another process holds the database; nothing was done.",
        "Call again in a few seconds.";
    StorageFull = "STORAGE_FULL", Never, true,
        "The disk or the database is full; nothing was written, reads still work.",
        "Tell the operator that the server's disk is full.";
    StorageUnavailable = "STORAGE_UNAVAILABLE", Later, true,
        "The database can't be reached or used; nothing was done.",
        "Call again later; tell the operator if it goes on.";
    OutcomeUnknown = "OUTCOME_UNKNOWN", NewPreview, true,
        "The connection was lost during the commit, so the change may or may not have been made.",
        "Read the record to see whether the change is there before trying again.";
    Timeout = "TIMEOUT", NewPreview, true,
        "The call took longer than the server allows; a write may still take effect.",
        "Read the record to see whether a change is there; ask for less.";
    Internal = "INTERNAL", Never, true,
        "A fault of the server; the log has the cause under this request's id.",
        "Tell the operator; other calls still work.";
    RateLimited = "RATE_LIMITED", Later, true,
        "The server is working on as many calls as it takes at once.",
        "Call again in a few seconds.";
    Forbidden = "FORBIDDEN", Never, true,
        "The caller lacks the right for this tool or field.",
        "Tell the user which right is missing; an administrator grants it.";
}

impl DeskError {
    /// The code of an error; the one place where it is chosen.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::InvalidArgument,
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::DuplicateEmail => ErrorCode::DuplicateEmail,
            Self::ForbiddenTransition(_) => ErrorCode::ForbiddenTransition,
            Self::Screened(refusal) => match refusal.kind {
                RefusalKind::Incident => ErrorCode::SecurityEscalationRequired,
                RefusalKind::Held => ErrorCode::HeldForReview,
                RefusalKind::ClassifierUnavailable => ErrorCode::ClassifierUnavailable,
            },
            Self::Flagged { flag, .. } => match flag {
                SecurityFlag::Incident => ErrorCode::SecurityEscalationRequired,
                SecurityFlag::Held | SecurityFlag::None => ErrorCode::HeldForReview,
            },
            Self::NothingKnown => ErrorCode::KbNoMatch,
            Self::Stale { .. } => ErrorCode::Stale,
            Self::Unconfirmed(refusal) => match refusal {
                Refusal::Invalid => ErrorCode::ConfirmationInvalid,
                Refusal::Expired => ErrorCode::ConfirmationExpired,
                Refusal::Stale => ErrorCode::ConfirmationStale,
                Refusal::Mismatch => ErrorCode::ConfirmationMismatch,
                Refusal::Declined => ErrorCode::ConfirmationDeclined,
                Refusal::Pending => ErrorCode::ApprovalPending,
                Refusal::AlreadyApplied => ErrorCode::AlreadyApplied,
            },
            Self::IdempotencyConflict => ErrorCode::IdempotencyConflict,
            Self::MissingRight(_) => ErrorCode::Forbidden,
            Self::Busy => ErrorCode::StorageBusy,
            Self::Full => ErrorCode::StorageFull,
            Self::OutcomeUnknown(_) => ErrorCode::OutcomeUnknown,
            Self::Unavailable(_) => ErrorCode::StorageUnavailable,
            Self::Damaged | Self::Internal(_) => ErrorCode::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    //! Codes that are written in two places.

    use super::*;

    #[test]
    fn a_refusal_has_the_same_code_in_answers_and_audit_rows() {
        for refusal in Refusal::ALL {
            assert_eq!(
                DeskError::Unconfirmed(refusal).code().as_str(),
                refusal.code()
            );
        }
        for (code, stored) in [
            (ErrorCode::ForbiddenTransition, ForbiddenTransition::CODE),
            (ErrorCode::ConfirmationRequired, "CONFIRMATION_REQUIRED"),
            (ErrorCode::HumanApprovalRequired, "HUMAN_APPROVAL_REQUIRED"),
        ] {
            assert_eq!(code.as_str(), stored);
        }
    }
}
