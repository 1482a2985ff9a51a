//! Asking a person through the client: a form without a pre-filled yes, and what counts as one (promises G-13, G-17).

use desk::{ApprovalMethod, Caller, Decision, Preview};
use domain::{CustomerId, Operation, TicketId};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, JsonObject,
    ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::shown;
use crate::spec::ToolSpec;
use crate::text::visible;

/// Whether and how a person can be asked through the client of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// They can't.
    No,
    /// By a question of the server's while the call is open (until protocol 2025-11-25).
    Within,
    /// By an answer that asks for input, and a second call (since protocol 2026-07-28).
    Between,
}

impl Asking {
    /// What the client of a request has declared; the server must not ask for anything else.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let elicitation = context
            .client_capabilities()
            .and_then(|capabilities| capabilities.elicitation);
        // An empty object stands for forms, as it did before there was anything else.
        let form = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        let modern = context.protocol_version() >= Some(ProtocolVersion::V_2026_07_28);
        match (form, modern) {
            (false, _) => Self::No,
            (true, false) => Self::Within,
            (true, true) => Self::Between,
        }
    }
}

/// The name of the question between two calls, by which its answer comes back.
const QUESTION: &str = "confirmation";

/// The question about a change, from what is stored of it.
pub(crate) fn question(caller: &Caller, preview: &Preview) -> ElicitRequestParams {
    let id = typed_id(preview);
    let message = format!(
        "Deskgate asks for {}. {} has to be confirmed:\n\n{}\n\nNothing has been changed yet. \
         The answer counts until {}.",
        visible(&caller.actor.id),
        shown::heading(preview.write.operation(), preview.write.entity()),
        shown::lines(&preview.change),
        preview.expires
    );
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema(id.as_deref()),
    }
}

/// The id that has to be typed, where a change deletes something.
fn typed_id(preview: &Preview) -> Option<String> {
    let (kind, id) = preview.write.entity();
    preview.write.deletes().then(|| desk::shown_id(kind, id))
}

/// No field has a default: a form that is sent as it came is no yes.
fn schema(typed: Option<&str>) -> ElicitationSchema {
    let builder = ElicitationSchema::builder();
    match typed {
        None => builder.required_bool_with("confirm", |field| {
            field
                .title("Confirm this change")
                .description("Yes: make exactly this change. No: leave everything as it is.")
        }),
        Some(id) => builder.required_string_with("id", |field| {
            field
                .title(format!("Type {id} to delete it"))
                .description("This can't be undone.")
        }),
    }
    .build_unchecked()
}

/// What a person's answer says. Only a clean yes is one: anything else, such as a field that was not asked for, leaves
/// everything as it is.
pub(crate) fn decision_of(answer: &ElicitResult, typed: Option<&str>) -> Decision {
    let accepted = answer.action == ElicitationAction::Accept;
    let content = answer.content.as_ref().filter(|_| accepted);
    let yes = match (content, typed) {
        (Some(content), None) => *content == json!({"confirm": true}),
        (Some(content), Some(id)) => is_typed(content, id),
        (None, _) => false,
    };
    if yes {
        Decision::Commit(ApprovalMethod::ElicitationForm)
    } else {
        Decision::Decline
    }
}

/// Blanks around the id and its case don't matter.
fn is_typed(content: &Value, id: &str) -> bool {
    let alone = content.as_object().is_some_and(|fields| fields.len() == 1);
    let typed = content.get("id").and_then(Value::as_str);
    alone && !id.is_empty() && typed.is_some_and(|typed| typed.trim().eq_ignore_ascii_case(id))
}

/// The answer to a question within a call.
pub(crate) fn decision(answer: &ElicitResult, preview: &Preview) -> Decision {
    decision_of(answer, typed_id(preview).as_deref())
}

/// The id that a second call's answer must have typed: that of the record which it names, where its tool deletes. A call that
/// names none can't have it typed.
pub(crate) fn typed_in(spec: &ToolSpec, arguments: &JsonObject) -> Option<String> {
    let deletes = |operation: &Operation| {
        matches!(
            operation,
            Operation::DeleteTicket | Operation::DeleteCustomer
        )
    };
    if !spec.operations.iter().any(deletes) {
        return None;
    }
    let given = |name| arguments.get(name).map(ToString::to_string);
    let word = |text: String| text.trim_matches('"').to_owned();
    let ticket = given("ticket_id").and_then(|id| TicketId::parse(&word(id)).ok());
    let customer = given("customer_id").and_then(|id| CustomerId::parse(&word(id)).ok());
    let shown = ticket
        .map(|id| id.to_string())
        .or_else(|| customer.map(|id| id.to_string()));
    Some(shown.unwrap_or_default())
}

/// The answer among those that a second call brings, where it is there.
pub(crate) fn answer_among(responses: Option<&InputResponses>) -> Option<ElicitResult> {
    let answer = responses?.get(QUESTION)?;
    // What is no answer at all is no yes.
    Some(
        serde_json::from_value(answer.clone())
            .unwrap_or_else(|_malformed| ElicitResult::new(ElicitationAction::Cancel)),
    )
}

/// The result that asks, with the token as the state between the calls: no model sees it.
pub(crate) fn input_required(caller: &Caller, preview: &Preview) -> CallToolResponse {
    let question = InputRequest::Elicitation(ElicitRequest::new(question(caller, preview)));
    let requests = std::iter::once((QUESTION.to_owned(), question)).collect();
    let state = preview.token.text();
    CallToolResponse::InputRequired(InputRequiredResult::new(Some(requests), Some(state)))
}
