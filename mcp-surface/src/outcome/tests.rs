//! Every failure path has its own code, and none shows its cause (field reports 8 and 10).

use desk::{InvalidArgument, Refusal, Retry};
use domain::{EntityKind, ForbiddenTransition, SecurityFlag, Status, TicketId, Version};
use serde_json::Value;
use storage::StoreError;

use super::*;

const SECRET: &str = "SELECT * FROM tickets at /var/lib/desk.db";

fn store(make: fn(Box<dyn std::error::Error + Send + Sync>) -> StoreError) -> Failure {
    DeskError::from(make(SECRET.into())).into()
}

#[test]
fn each_failure_has_its_code_its_message_and_what_to_do_next() {
    let request = "00000000-0000-0000-0000-000000000007";
    let table: [(Failure, ErrorCode, Retry, bool, String); 28] = [
        (
            DeskError::from(StoreError::Flagged {
                ticket: TicketId::new(7),
                flag: SecurityFlag::Incident,
            })
            .into(),
            ErrorCode::SecurityEscalationRequired,
            Retry::Never,
            false,
            "T-7 is flagged `incident`, or the text would make it so".to_owned(),
        ),
        (
            DeskError::from(StoreError::Flagged {
                ticket: TicketId::new(7),
                flag: SecurityFlag::Held,
            })
            .into(),
            ErrorCode::HeldForReview,
            Retry::Never,
            false,
            "T-7 is flagged `held`, or the text would make it so".to_owned(),
        ),
        (
            DeskError::NothingKnown.into(),
            ErrorCode::KbNoMatch,
            Retry::Never,
            false,
            "no article for customers is about this".to_owned(),
        ),
        (
            DeskError::from(InvalidArgument::new("limit", "must be 1 to 100, and is 0")).into(),
            ErrorCode::InvalidArgument,
            Retry::Never,
            true,
            "`limit` must be 1 to 100, and is 0".to_owned(),
        ),
        (
            DeskError::from(StoreError::NotFound {
                entity: EntityKind::Ticket,
                id: 7,
            })
            .into(),
            ErrorCode::NotFound,
            Retry::Never,
            true,
            "there is no ticket `T-7`".to_owned(),
        ),
        (
            DeskError::from(StoreError::DuplicateEmail).into(),
            ErrorCode::DuplicateEmail,
            Retry::Never,
            true,
            "another customer has this e-mail address".to_owned(),
        ),
        (
            DeskError::from(ForbiddenTransition {
                from: Status::Open,
                to: Status::Resolved,
            })
            .into(),
            ErrorCode::ForbiddenTransition,
            Retry::Never,
            false,
            "a ticket that is `open` cannot become `resolved`; it can become `in_progress` or `closed`".to_owned(),
        ),
        (
            DeskError::from(StoreError::Stale {
                expected: Version::new(1),
                found: Version::new(2),
            })
            .into(),
            ErrorCode::Stale,
            Retry::NewPreview,
            true,
            "the record has moved on: version 1 was named and it is at version 2".to_owned(),
        ),
        (
            DeskError::from(StoreError::UnknownCategory {
                given: "vpn".to_owned(),
                allowed: vec!["email".to_owned()],
            })
            .into(),
            ErrorCode::InvalidArgument,
            Retry::Never,
            true,
            "`category` is `vpn`, which is not one of: email".to_owned(),
        ),
        (
            DeskError::from(StoreError::Busy).into(),
            ErrorCode::StorageBusy,
            Retry::Later,
            true,
            "the database is busy".to_owned(),
        ),
        (
            DeskError::from(StoreError::Full).into(),
            ErrorCode::StorageFull,
            Retry::Never,
            true,
            "the storage is full".to_owned(),
        ),
        (
            store(StoreError::Unavailable),
            ErrorCode::StorageUnavailable,
            Retry::Later,
            true,
            "the storage is unavailable".to_owned(),
        ),
        (
            store(StoreError::OutcomeUnknown),
            ErrorCode::OutcomeUnknown,
            Retry::NewPreview,
            true,
            "the outcome of the write is unknown".to_owned(),
        ),
        (
            store(StoreError::Internal),
            ErrorCode::Internal,
            Retry::Never,
            true,
            format!("something failed inside the server; the log has the cause under request `{request}`"),
        ),
        (
            DeskError::Unconfirmed(Refusal::Invalid).into(),
            ErrorCode::ConfirmationInvalid,
            Retry::NewPreview,
            false,
            "this confirmation is not valid; nothing was changed".to_owned(),
        ),
        (
            DeskError::Unconfirmed(Refusal::Expired).into(),
            ErrorCode::ConfirmationExpired,
            Retry::NewPreview,
            false,
            "the time of this confirmation is over; nothing was changed".to_owned(),
        ),
        (
            DeskError::Unconfirmed(Refusal::Stale).into(),
            ErrorCode::ConfirmationStale,
            Retry::NewPreview,
            false,
            "the record has changed since the preview; nothing was changed".to_owned(),
        ),
        (
            DeskError::Unconfirmed(Refusal::Mismatch).into(),
            ErrorCode::ConfirmationMismatch,
            Retry::NewPreview,
            false,
            "this confirmation was made for another change and is void now; nothing was changed".to_owned(),
        ),
        (
            DeskError::Unconfirmed(Refusal::Declined).into(),
            ErrorCode::ConfirmationDeclined,
            Retry::Never,
            false,
            "the person who was asked did not agree; nothing was changed".to_owned(),
        ),
        (
            DeskError::Unconfirmed(Refusal::Pending).into(),
            ErrorCode::ApprovalPending,
            Retry::Later,
            false,
            "a person has to approve this change first; nothing was changed yet".to_owned(),
        ),
        (
            DeskError::Unconfirmed(Refusal::AlreadyApplied).into(),
            ErrorCode::AlreadyApplied,
            Retry::Never,
            false,
            "the change was applied before it was declined".to_owned(),
        ),
        (
            DeskError::IdempotencyConflict.into(),
            ErrorCode::IdempotencyConflict,
            Retry::Never,
            true,
            "this idempotency key has been used for another write".to_owned(),
        ),
        (
            DeskError::MissingRight(Scope::DeskWrite).into(),
            ErrorCode::Forbidden,
            Retry::Never,
            true,
            "this needs the right `desk:write`, which the caller does not have".to_owned(),
        ),
        (
            Failure::Panicked,
            ErrorCode::Internal,
            Retry::Never,
            true,
            format!("something failed inside the server; the log has the cause under request `{request}`"),
        ),
        (
            Failure::TimedOut,
            ErrorCode::Timeout,
            Retry::NewPreview,
            true,
            "the call took longer than the server allows".to_owned(),
        ),
        (
            Failure::Full,
            ErrorCode::RateLimited,
            Retry::Later,
            true,
            "the server is working on as many calls as it takes at once".to_owned(),
        ),
        (
            Failure::MissingRight(Scope::AuditRead),
            ErrorCode::Forbidden,
            Retry::Never,
            true,
            "this needs the right `audit:read`, which the caller does not have".to_owned(),
        ),
        (
            Failure::ReadOnly,
            ErrorCode::Forbidden,
            Retry::Never,
            true,
            "this server is started read-only, and this tool writes".to_owned(),
        ),
    ];
    let mut codes: Vec<ErrorCode> = table.iter().map(|row| row.1).collect();
    // Given with a preview, which is no failure.
    codes.extend([
        ErrorCode::ConfirmationRequired,
        ErrorCode::HumanApprovalRequired,
        // Given where a classifier is out of order, which the tests of the guardrail have.
        ErrorCode::ClassifierUnavailable,
    ]);
    for (failure, code, retry, is_error, message) in table {
        let at = format!("{failure:?}");
        let result = failure.into_result(7);
        assert_eq!(result.is_error, Some(is_error), "{at}");
        let fields = result.structured_content.clone().unwrap();
        assert_eq!(fields["ok"], Value::Bool(false), "{at}");
        let error = &fields["error"];
        assert_eq!(error["code"], code.as_str(), "{at}");
        assert_eq!(error["retry"], retry.as_str(), "{at}");
        assert_eq!(error["message"], message, "{at}");
        assert_eq!(error["hint"], code.hint(), "{at}");
        let all = serde_json::to_string(&result).unwrap();
        assert!(!all.contains("SELECT") && !all.contains("/var"), "{all}");
    }
    codes.sort_by_key(|code| code.as_str());
    codes.dedup();
    assert_eq!(codes.len(), ErrorCode::ALL.len(), "a code is never given");
}
