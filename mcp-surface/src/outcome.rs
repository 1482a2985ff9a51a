//! The one place where a failure becomes a result: code, message, what to do next (design section 4).
//!
//! A refusal by a rule is a result of a tool that worked; a failure is `isError`. Neither shows SQL, a path or a stack,
//! and a refusal never names a parameter that would unlock it.

use desk::guard::{Indicator, Screening};
use desk::{DeskError, ErrorCode};
use domain::Scope;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonObject};
use serde_json::{Value, json};

use crate::spec::{Output, Type};
use crate::text::visible;

/// What a refusal of the guardrail has besides its error.
pub(crate) const REFUSAL: &[Output] = &[("refusal", Type::Object), ("screening", Type::Object)];

/// How a ticket was screened.
pub(crate) fn screening(screening: Screening) -> Value {
    json!({"mode": screening.mode.as_str(), "stage": screening.stage.as_str()})
}

/// Words of the ticket are marked like every text that others wrote.
fn indicator(found: &Indicator) -> Value {
    let evidence: Vec<Value> = found
        .evidence
        .iter()
        .map(|words| {
            json!({
                "origin": "customer",
                "text": visible(&words.text),
                "source": words.source.to_string(),
                "start": words.start,
                "end": words.end,
            })
        })
        .collect();
    json!({"id": found.id, "kb_ref": found.kb_ref, "evidence": evidence})
}

/// Why a call has no successful result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The use case says so.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// The caller lacks a right.
    #[error("this needs the right `{0}`, which the caller does not have")]
    MissingRight(Scope),
    /// The server takes no writes.
    #[error("this server is started read-only, and this tool writes")]
    ReadOnly,
    /// Every permit is taken.
    #[error("the server is working on as many calls as it takes at once")]
    Full,
    /// The caller asks faster than its allowance.
    #[error("these are more calls of this kind than the caller's allowance; wait {0} s")]
    TooFast(u64),
    /// It took too long.
    #[error("the call took longer than the server allows")]
    TimedOut,
    /// The client cancelled it; nobody reads this answer.
    #[error("the client cancelled the call")]
    Cancelled,
    /// A handler panicked.
    #[error("something failed inside the server")]
    Panicked,
}

impl Failure {
    /// Its code.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Desk(error) => error.code(),
            Self::MissingRight(_) | Self::ReadOnly => ErrorCode::Forbidden,
            Self::Full | Self::TooFast(_) => ErrorCode::RateLimited,
            Self::TimedOut => ErrorCode::Timeout,
            // A write that was under way may still be made.
            Self::Cancelled => ErrorCode::OutcomeUnknown,
            Self::Panicked => ErrorCode::Internal,
        }
    }

    /// The argument that is at fault, and the values that would do.
    fn particulars(&self) -> (Option<String>, Vec<String>) {
        match self {
            Self::Desk(error) => match error {
                DeskError::Invalid(invalid) => {
                    (Some(invalid.field.clone()), invalid.allowed.clone())
                }
                DeskError::ForbiddenTransition(refused) => {
                    let allowed = refused.allowed().iter();
                    (None, allowed.map(ToString::to_string).collect())
                }
                DeskError::NotFound { .. }
                | DeskError::DuplicateEmail
                | DeskError::Stale { .. }
                | DeskError::Screened(_)
                | DeskError::Flagged { .. }
                | DeskError::NothingKnown
                | DeskError::Unconfirmed(_)
                | DeskError::IdempotencyConflict
                | DeskError::MissingRight(_)
                | DeskError::Damaged
                | DeskError::Busy
                | DeskError::Full
                | DeskError::OutcomeUnknown(_)
                | DeskError::Unavailable(_)
                | DeskError::Internal(_) => (None, Vec::new()),
            },
            Self::MissingRight(_)
            | Self::ReadOnly
            | Self::Full
            | Self::TooFast(_)
            | Self::TimedOut
            | Self::Cancelled
            | Self::Panicked => (None, Vec::new()),
        }
    }

    /// What went wrong, in one sentence that is safe to show.
    pub(crate) fn message(&self, request_id: u128) -> String {
        let message = visible(&self.to_string());
        if self.code() == ErrorCode::Internal {
            let request = uuid::Uuid::from_u128(request_id);
            return format!("{message}; the log has the cause under request `{request}`");
        }
        message
    }

    /// What a refusal of the guardrail rests on, as fields and as a line that repeats no text of the ticket.
    fn refusal(&self) -> (JsonObject, String) {
        let mut fields = JsonObject::new();
        let Self::Desk(DeskError::Screened(refusal)) = self else {
            return (fields, String::new());
        };
        let ids: Vec<&str> = refusal.indicators.iter().map(|found| found.id).collect();
        let indicators: Vec<Value> = refusal.indicators.iter().map(indicator).collect();
        fields.insert(
            "refusal".to_owned(),
            json!({
                "filed_category": refusal.filed_category,
                "escalate_to": refusal.escalate_to,
                "indicators": indicators,
            }),
        );
        fields.insert("screening".to_owned(), screening(refusal.screening));
        let line = format!(
            "Filed as {}. Found: {}. Goes to: {}.",
            visible(&refusal.filed_category),
            ids.join(", "),
            refusal.escalate_to
        );
        (fields, line)
    }

    /// The result of the call.
    pub(crate) fn into_result(self, request_id: u128) -> CallToolResult {
        let (field, allowed) = self.particulars();
        let error = error(
            self.code(),
            &self.message(request_id),
            field.as_deref(),
            &allowed,
        );
        let (fields, more) = self.refusal();
        result(self.code(), error, fields, &more)
    }

    /// Itself where there is no tool whose result it could be: for resources, prompts and completions.
    pub(crate) fn into_protocol_error(self, request_id: u128) -> ErrorData {
        let message = self.message(request_id);
        let code = self.code();
        let data = Some(json!({"code": code.as_str(), "hint": code.hint()}));
        match code {
            ErrorCode::InvalidArgument | ErrorCode::Forbidden => {
                ErrorData::invalid_params(message, data)
            }
            ErrorCode::NotFound => ErrorData::resource_not_found(message, data),
            ErrorCode::DuplicateEmail
            | ErrorCode::ForbiddenTransition
            | ErrorCode::SecurityEscalationRequired
            | ErrorCode::HeldForReview
            | ErrorCode::ClassifierUnavailable
            | ErrorCode::KbNoMatch
            | ErrorCode::Stale
            | ErrorCode::StorageBusy
            | ErrorCode::StorageFull
            | ErrorCode::StorageUnavailable
            | ErrorCode::OutcomeUnknown
            | ErrorCode::Timeout
            | ErrorCode::Internal
            | ErrorCode::RateLimited
            // No resource and no prompt changes anything.
            | ErrorCode::ConfirmationRequired
            | ErrorCode::ConfirmationInvalid
            | ErrorCode::ConfirmationExpired
            | ErrorCode::ConfirmationStale
            | ErrorCode::ConfirmationMismatch
            | ErrorCode::AlreadyApplied
            | ErrorCode::ConfirmationDeclined
            | ErrorCode::ApprovalPending
            | ErrorCode::HumanApprovalRequired
            | ErrorCode::IdempotencyConflict => ErrorData::internal_error(message, data),
        }
    }
}

/// The result of a call that a rule refused, with what else it says. The message lists allowed values itself.
pub(crate) fn refused(
    code: ErrorCode,
    message: &str,
    fields: JsonObject,
    more: &str,
) -> CallToolResult {
    result(code, error(code, message, None, &[]), fields, more)
}

fn error(code: ErrorCode, message: &str, field: Option<&str>, allowed: &[String]) -> JsonObject {
    let mut error = JsonObject::new();
    error.insert("code".to_owned(), json!(code.as_str()));
    error.insert("message".to_owned(), json!(message));
    error.insert("retry".to_owned(), json!(code.retry().as_str()));
    if let Some(field) = field {
        error.insert("field".to_owned(), json!(field));
    }
    if !allowed.is_empty() {
        error.insert("allowed".to_owned(), json!(allowed));
    }
    error.insert("hint".to_owned(), json!(code.hint()));
    error
}

fn result(code: ErrorCode, error: JsonObject, fields: JsonObject, more: &str) -> CallToolResult {
    let message = error.get("message").and_then(Value::as_str);
    let message = message.unwrap_or_default();
    let more = if more.is_empty() {
        String::new()
    } else {
        format!("\n{more}")
    };
    let text = format!("{}: {message}.\n{}{more}", code.as_str(), code.hint());
    let mut structured = JsonObject::new();
    structured.insert("ok".to_owned(), Value::Bool(false));
    structured.insert("error".to_owned(), Value::Object(error));
    structured.extend(fields);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(Value::Object(structured));
    result.is_error = Some(code.is_error());
    result
}

/// The result of a call that a transport refuses because its caller asks too fast; the same shape as every other refusal.
pub fn rate_limited(seconds: u64) -> CallToolResult {
    Failure::TooFast(seconds).into_result(0)
}

#[cfg(test)]
mod tests;
