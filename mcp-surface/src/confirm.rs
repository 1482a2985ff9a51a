//! Writes and their confirmation: one token, carried as an argument, by a question within the call, or as the state between
//! two calls (design section 6).
//!
//! A handler says what its call wants and what it repeats of it; the rest is the same for every write.

mod form;
mod shown;

use desk::{
    Applied, Confirmation, Decision, DeskError, Given, InvalidArgument, Left, Preview, Proposal,
    Proposed, valid,
};
use domain::{Action, Arguments, EntityKind, GuardedWrite, OpenWrite, Version};
use garde::Valid;
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::{Value, json};

use crate::outcome::refused;
use crate::reply::Reply;
use crate::spec::{Call, Confirming, Output, Step, Type};
use crate::text::Sheet;
use crate::tools::written;

pub(crate) use form::{
    Asking, answer_among, decision, decision_of, input_required, question, typed_in,
};
pub(crate) use shown::{approval_text, changes};

/// What results of guarded writes hold besides their own fields.
pub(crate) const GATE: &[Output] = &[
    ("changes", Type::Objects),
    ("confirmation_token", Type::Text),
    ("expires_at", Type::Text),
    ("confirmation_method", Type::Text),
    ("approval_id", Type::Text),
    ("replayed", Type::Flag),
    ("refusal", Type::Object),
    ("screening", Type::Object),
];

/// A change that waits, and the record that its call names; the person who is asked decides on what is stored.
pub(crate) struct Ask {
    pub(crate) preview: Box<Preview>,
    pub(crate) given: Given,
    pub(crate) nonce: [u8; 16],
}

/// A change that waits for a confirmation that comes later.
pub(crate) struct Waiting {
    preview: Box<Preview>,
    nonce: [u8; 16],
}

/// What a write's call asks for.
pub(crate) struct Wanted {
    /// The tool.
    pub(crate) action: Action,
    /// The record that it names.
    pub(crate) entity: Option<(EntityKind, i64)>,
    /// What it says of the change, for a call that confirms one.
    pub(crate) arguments: Arguments,
    /// The version that it names.
    pub(crate) if_version: Option<Version>,
    /// The key under which it may be repeated.
    pub(crate) key: Option<String>,
}

/// Does a write, or says what it needs first. `write` makes the whole of it and is not asked where the call confirms an
/// earlier one: what that leaves out comes from the preview.
pub(crate) async fn write(
    call: &Call,
    wanted: Wanted,
    write: impl FnOnce() -> Result<GuardedWrite, DeskError>,
) -> Result<Step, DeskError> {
    let given = Given {
        action: wanted.action,
        entity: wanted.entity,
        arguments: wanted.arguments,
        if_version: wanted.if_version,
    };
    match &call.confirmation {
        Confirming::Token(token) => {
            let method = desk::ApprovalMethod::TokenOnly;
            let decision = Decision::Commit(method);
            return commit(call, token, given, decision).await.map(Step::Done);
        }
        Confirming::Answer(state, decision) => {
            return commit(call, state, given, *decision).await.map(Step::Done);
        }
        Confirming::Nothing => {}
    }
    let write = valid(write()?).map_err(named_plainly)?;
    if call.desk.required(&write).is_none()
        && let GuardedWrite::Open(write) = &*write
    {
        let write = write.clone();
        return open(call, write, wanted.if_version, wanted.key)
            .await
            .map(Step::Done);
    }
    propose(call, write, given, wanted.if_version, wanted.key).await
}

/// A field by its own name, without the way to it.
fn named_plainly(error: DeskError) -> DeskError {
    if let DeskError::Invalid(invalid) = &error
        && let Some((_, name)) = invalid.field.rsplit_once('.')
    {
        return InvalidArgument {
            field: name.to_owned(),
            ..invalid.clone()
        }
        .into();
    }
    error
}

async fn propose(
    call: &Call,
    write: Valid<GuardedWrite>,
    given: Given,
    if_version: Option<Version>,
    key: Option<String>,
) -> Result<Step, DeskError> {
    let proposal = Proposal {
        write,
        if_version,
        key,
        asks_person: call.asking != Asking::No,
    };
    let nonce = call.desk.next_nonce();
    let preview = match call.desk.propose(&call.caller, proposal).await? {
        Proposed::Waiting(preview) => preview,
        Proposed::Replayed(answer) => {
            return Ok(Step::Done(stored_reply(&answer)?.with_replay(true)));
        }
    };
    Ok(match call.asking {
        Asking::No => Step::Wait(Box::new(Waiting { preview, nonce })),
        Asking::Within | Asking::Between => Step::Ask(Box::new(Ask {
            preview,
            given,
            nonce,
        })),
    })
}

/// Applies the change of a token, or closes it.
pub(crate) async fn commit(
    call: &Call,
    token: &str,
    given: Given,
    decision: Decision,
) -> Result<Reply, DeskError> {
    let nonce = call.desk.next_nonce();
    let confirmation = Confirmation {
        token,
        given,
        decision,
    };
    let answered = call
        .desk
        .confirm(&call.caller, confirmation, move |applied| {
            answer(nonce, applied)
        })
        .await?;
    Ok(stored_reply(&answered.answer)?.with_replay(answered.replayed))
}

/// Does a write that needs no confirmation.
async fn open(
    call: &Call,
    write: OpenWrite,
    if_version: Option<Version>,
    key: Option<String>,
) -> Result<Reply, DeskError> {
    let nonce = call.desk.next_nonce();
    let Some(key) = key else {
        let (operation, entity) = (write.operation(), write.entity());
        let left = apply(call, write, if_version).await?;
        return Ok(written(nonce, operation, entity, &left));
    };
    let answered = call
        .desk
        .write_once(
            &call.caller,
            valid(write)?,
            key,
            if_version,
            move |applied| answer(nonce, applied),
        )
        .await?;
    Ok(stored_reply(&answered.answer)?.with_replay(answered.replayed))
}

async fn apply(
    call: &Call,
    write: OpenWrite,
    if_version: Option<Version>,
) -> Result<Left, DeskError> {
    let (desk, caller) = (&call.desk, &call.caller);
    Ok(match write {
        OpenWrite::CreateCustomer { new } => {
            Left::Customer(desk.create_customer(caller, valid(new)?).await?)
        }
        OpenWrite::CreateTicket { new } => {
            let filed = desk.create_ticket(caller, valid(new)?).await?;
            Left::Ticket {
                from: filed.ticket.status,
                ticket: filed.ticket,
                new_team: filed.new_team,
            }
        }
        OpenWrite::AssignTicket { ticket, assignment } => {
            let given = desk
                .assign_ticket(caller, ticket, if_version, valid(assignment)?)
                .await?;
            Left::Ticket {
                from: given.ticket.status,
                ticket: given.ticket,
                new_team: given.new_team,
            }
        }
        OpenWrite::AddComment { ticket, comment } => {
            let added = desk
                .add_comment(caller, ticket, if_version, valid(comment)?)
                .await?;
            Left::Comment {
                comment: added.comment,
                ticket: added.ticket,
            }
        }
        OpenWrite::MoveTicket { ticket, to } => {
            let (from, ticket) = desk
                .change_ticket_status(caller, ticket, if_version, to)
                .await?;
            Left::Ticket {
                ticket,
                from,
                new_team: false,
            }
        }
        OpenWrite::ResolveTicket { ticket, resolution } => {
            let resolution = resolution.map(valid).transpose()?;
            let (from, ticket) = desk
                .resolve_ticket(caller, ticket, if_version, resolution)
                .await?;
            Left::Ticket {
                ticket,
                from,
                new_team: false,
            }
        }
    })
}

/// What is stored of an applied change: its result, to be given again to every repeated call.
fn answer(nonce: [u8; 16], applied: &Applied<'_>) -> String {
    let mut reply = written(nonce, applied.operation, applied.entity, applied.left);
    if let Some(confirmed) = applied.confirmed {
        let mut gate = JsonObject::new();
        gate.insert("changes".to_owned(), changes(applied.change));
        let method = confirmed.method.as_str();
        gate.insert("confirmation_method".to_owned(), json!(method));
        gate.insert(
            "approval_id".to_owned(),
            json!(confirmed.approval.to_string()),
        );
        reply = reply.with(gate, &format!("Confirmed as {method}."));
    }
    reply.to_stored()
}

fn stored_reply(stored: &str) -> Result<Reply, DeskError> {
    Reply::from_stored(stored).ok_or(DeskError::Damaged)
}

impl Waiting {
    /// What becomes of a question that nobody could be asked.
    pub(crate) fn unasked(ask: Ask) -> Self {
        Self {
            preview: ask.preview,
            nonce: ask.nonce,
        }
    }

    /// The code that says so.
    pub(crate) fn code(&self) -> desk::ErrorCode {
        match self.preview.required {
            desk::ApprovalLevel::Token => desk::ErrorCode::ConfirmationRequired,
            desk::ApprovalLevel::Person => desk::ErrorCode::HumanApprovalRequired,
        }
    }

    /// The result of the call: what would change, the token, and what to do with them.
    pub(crate) fn into_result(self) -> CallToolResult {
        let code = self.code();
        let preview = self.preview;
        let token = preview.token.text();
        let expires = preview.expires.to_string();
        let mut fields = JsonObject::new();
        fields.insert("changes".to_owned(), changes(&preview.change));
        fields.insert("confirmation_token".to_owned(), json!(token));
        fields.insert("expires_at".to_owned(), json!(expires));
        let heading = shown::heading(preview.write.operation(), preview.write.entity());
        let message = match preview.required {
            desk::ApprovalLevel::Token => {
                format!("{heading} has to be confirmed; nothing was changed yet")
            }
            desk::ApprovalLevel::Person => {
                let approval = preview.approval.to_string();
                fields.insert("approval_id".to_owned(), Value::String(approval.clone()));
                format!(
                    "{heading} has to be approved by a person as {approval}; nothing was changed yet"
                )
            }
        };
        let mut sheet = Sheet::new(self.nonce);
        sheet.say(format_args!("Token, good until {expires}: {token}"));
        sheet.quote("change", &shown::lines(&preview.change));
        refused(code, &message, fields, &sheet.finish())
    }
}
