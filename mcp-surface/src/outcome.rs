//! The one place where a failure becomes a result: code, message, what to do next (design section 4).
//!
//! A refusal by a rule is a result of a tool that worked; a failure is `isError`. Neither shows SQL, a path or a stack,
//! and a refusal never names a parameter that would unlock it.

use desk::{DeskError, ErrorCode};
use domain::Scope;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::text::visible;

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

    /// The result of the call.
    pub(crate) fn into_result(self, request_id: u128) -> CallToolResult {
        let code = self.code();
        let message = self.message(request_id);
        let (field, allowed) = self.particulars();
        let mut error = json!({
            "code": code.as_str(),
            "message": message,
            "retry": code.retry().as_str(),
        });
        if let Some(object) = error.as_object_mut() {
            if let Some(field) = field {
                object.insert("field".to_owned(), json!(field));
            }
            if !allowed.is_empty() {
                object.insert("allowed".to_owned(), json!(allowed));
            }
            object.insert("hint".to_owned(), json!(code.hint()));
        }
        // Messages list the allowed values themselves.
        let text = format!("{}: {message}.\n{}", code.as_str(), code.hint());
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(Value::Object(
            [
                ("ok".to_owned(), Value::Bool(false)),
                ("error".to_owned(), error),
            ]
            .into_iter()
            .collect(),
        ));
        result.is_error = Some(code.is_error());
        result
    }
}

/// The result of a call that a transport refuses because its caller asks too fast; the same shape as every other refusal.
pub fn rate_limited(seconds: u64) -> CallToolResult {
    Failure::TooFast(seconds).into_result(0)
}

#[cfg(test)]
mod tests;
