//! One call of a tool, from its request to its result: rights, confirmation, the question to a person.

use std::sync::Arc;

use desk::{Caller, Decision, DeskError, ErrorCode};
use domain::Action;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::{RequestContext, ServiceError};

use super::Surface;
use crate::confirm::{self, Ask, Asking, Waiting};
use crate::outcome::Failure;
use crate::reply::Reply;
use crate::spec::{CONFIRMATION_TOKEN, Call, Confirming, Effect, Step, ToolSpec};

impl Surface {
    pub(super) async fn run(
        &self,
        spec: &ToolSpec,
        caller: &Caller,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let cancelled = || context.ct.clone();
        let asking = Asking::of(context);
        let work = async {
            if let Some(refusal) = self.refusal(spec, caller) {
                self.note(spec, caller, refusal.code()).await?;
                return Err(refusal);
            }
            let call = self.call(spec, caller, request, asking)?;
            self.check_sought(spec, caller, &call.arguments)?;
            let step = (spec.run)(call).await;
            if let Err(DeskError::MissingRight(_)) = &step {
                self.note(spec, caller, ErrorCode::Forbidden).await?;
            }
            Ok(step?)
        };
        let step = self.contained(spec.name, caller, cancelled(), work).await?;
        let ask = match step {
            Step::Done(reply) => {
                self.count_spent(spec.name, &reply);
                return Ok(reply.into_result().into());
            }
            Step::Wait(waiting) => return Ok(waiting.into_result().into()),
            Step::Ask(ask) => ask,
        };
        if asking == Asking::Between {
            return Ok(confirm::input_required(caller, &ask.preview));
        }
        // Whoever thinks about it holds no permit and uses up no time of the call.
        let decision = tokio::select! {
            decision = self.asked(caller, &ask, context) => decision,
            () = context.ct.cancelled() => return Err(Failure::TimedOut),
        };
        let Some(decision) = decision else {
            return Ok(Waiting::unasked(*ask).into_result().into());
        };
        let call = self.empty_call(caller);
        let Ask { preview, given, .. } = *ask;
        let token = preview.token.text();
        let work = async move { Ok(confirm::commit(&call, &token, given, decision).await?) };
        let reply: Reply = self.contained(spec.name, caller, cancelled(), work).await?;
        self.count_spent(spec.name, &reply);
        Ok(reply.into_result().into())
    }

    /// Puts a change that was refused for want of a right into the audit log; tools that write are named after what they do.
    async fn note(
        &self,
        spec: &ToolSpec,
        caller: &Caller,
        code: ErrorCode,
    ) -> Result<(), DeskError> {
        if let (Effect::Write, Ok(action)) = (spec.policy.effect, Action::parse(spec.name)) {
            self.inner.desk.record_refusal(caller, action, code).await?;
        }
        Ok(())
    }

    fn refusal(&self, spec: &ToolSpec, caller: &Caller) -> Option<Failure> {
        if self.is_withheld(spec) {
            Some(Failure::ReadOnly)
        } else if spec.is_permitted(caller) {
            None
        } else {
            Some(Failure::MissingRight(spec.policy.scope))
        }
    }

    /// Asks the person on the other side of the client. `None` where it turns out that it can't.
    async fn asked(
        &self,
        caller: &Caller,
        ask: &Ask,
        context: &RequestContext<RoleServer>,
    ) -> Option<Decision> {
        let question = self.seen(caller, confirm::question(caller, &ask.preview));
        let limit = Some(self.inner.settings.answer_timeout);
        let answer = context
            .peer
            .create_elicitation_with_timeout(question, limit)
            .await;
        match answer {
            Ok(answer) => Some(confirm::decision(&answer, &ask.preview)),
            Err(ServiceError::Timeout { .. }) => Some(Decision::Lapse),
            // An answer that is none was no yes.
            Err(ServiceError::UnexpectedResponse) => Some(Decision::Decline),
            Err(error) => {
                tracing::warn!(%error, "a client that said it can ask a person could not");
                None
            }
        }
    }

    /// A call for its handler, with the confirmation that it brings taken out of its arguments.
    fn call(
        &self,
        spec: &ToolSpec,
        caller: &Caller,
        request: CallToolRequestParams,
        asking: Asking,
    ) -> Result<Call, DeskError> {
        let mut call = self.empty_call(caller);
        call.arguments = request.arguments.unwrap_or_default();
        call.asking = asking;
        call.guarded = self.guards(spec);
        if !call.guarded {
            return Ok(call);
        }
        let token = call.arguments.remove(CONFIRMATION_TOKEN.name);
        let answer = confirm::answer_among(request.input_responses.as_ref());
        call.confirmation = match (request.request_state, answer) {
            (Some(state), Some(answer)) => {
                let typed = confirm::typed_in(spec, &call.arguments);
                let decision = confirm::decision_of(&answer, typed.as_deref());
                Confirming::Answer(state, decision)
            }
            // An answer without its state, or a state without its answer, is no confirmation: the person is asked anew.
            (Some(_), None) | (None, Some(_)) => Confirming::Nothing,
            (None, None) => match token {
                Some(token) => read_token(&token)?.map_or(Confirming::Nothing, Confirming::Token),
                None => Confirming::Nothing,
            },
        };
        Ok(call)
    }

    fn empty_call(&self, caller: &Caller) -> Call {
        Call {
            desk: Arc::clone(&self.inner.desk),
            caller: caller.clone(),
            arguments: rmcp::model::JsonObject::new(),
            guarded: false,
            confirmation: Confirming::Nothing,
            asking: Asking::No,
            budget: self.inner.settings.result_bytes,
        }
    }
}

/// A token as a call brings it; blank is none.
fn read_token(given: &serde_json::Value) -> Result<Option<String>, DeskError> {
    let token = <Option<crate::args::Label<200>> as crate::args::Field>::read(
        CONFIRMATION_TOKEN.name,
        Some(given),
    )?;
    Ok(token.map(|token| token.0))
}
