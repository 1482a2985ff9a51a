//! The way in and the way out for contacts (promise Z-6): whatever a request is answered with passes here once, and leaves
//! without them where the caller may not see them; nothing is looked for by one.
//!
//! Records come masked from the desk, which knows whom they are about; here the rest is caught: messages, arguments that are
//! repeated, evidence, answers that were stored for another caller, questions to a person.

use std::borrow::Cow;

use desk::{Caller, DeskError};
use domain::Scope;
use rmcp::model::{
    CallToolResponse, CallToolResult, CompleteResult, ContentBlock, ElicitRequestParams, ErrorData,
    GetPromptResponse, InputRequest, InputRequiredResult, ListResourcesResult,
    ReadResourceResponse, ResourceContents,
};
use serde_json::Value;

use crate::Surface;
use crate::spec::{Effect, ToolSpec};

/// Something that leaves, by its texts.
pub(crate) trait Leaves {
    fn each_text(&mut self, see: &dyn Fn(&mut String));
}

impl Leaves for ContentBlock {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        if let Self::Text(text) = self {
            see(&mut text.text);
        }
    }
}

/// Fields that the server fills itself, with values that must come back as they are.
fn is_ours(field: &str) -> bool {
    field.ends_with("_id")
        || field.ends_with("_at")
        || matches!(field, "next_cursor" | "confirmation_token")
}

impl Leaves for Value {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        match self {
            Self::String(text) => see(text),
            Self::Array(values) => values.iter_mut().for_each(|value| value.each_text(see)),
            Self::Object(fields) => {
                for (_, value) in fields.iter_mut().filter(|(field, _)| !is_ours(field)) {
                    value.each_text(see);
                }
            }
            Self::Null | Self::Bool(_) | Self::Number(_) => {}
        }
    }
}

impl Leaves for CallToolResult {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        self.content
            .iter_mut()
            .for_each(|block| block.each_text(see));
        if let Some(structured) = &mut self.structured_content {
            structured.each_text(see);
        }
    }
}

impl Leaves for ElicitRequestParams {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        match self {
            Self::FormElicitationParams { message, .. }
            | Self::UrlElicitationParams { message, .. } => see(message),
            // There are no other kinds yet.
            _ => {}
        }
    }
}

impl Leaves for InputRequiredResult {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        for request in self
            .input_requests
            .iter_mut()
            .flat_map(|all| all.values_mut())
        {
            if let InputRequest::Elicitation(question) = request {
                question.params.each_text(see);
            }
        }
    }
}

impl Leaves for CallToolResponse {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        match self {
            Self::Complete(result) => result.each_text(see),
            Self::InputRequired(result) => result.each_text(see),
            // Tasks are not served.
            Self::Task(_) | _ => {}
        }
    }
}

impl Leaves for ReadResourceResponse {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        // Nothing asks for input here.
        if let Self::Complete(result) = self {
            for contents in &mut result.contents {
                if let ResourceContents::TextResourceContents { text, .. } = contents {
                    see(text);
                }
            }
        }
    }
}

impl Leaves for GetPromptResponse {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        // Nothing asks for input here.
        if let Self::Complete(result) = self {
            for message in &mut result.messages {
                message.content.each_text(see);
            }
        }
    }
}

impl Leaves for CompleteResult {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        self.completion.values.iter_mut().for_each(see);
    }
}

impl Leaves for ListResourcesResult {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        let titles = self.resources.iter_mut();
        titles
            .filter_map(|resource| resource.title.as_mut())
            .for_each(see);
    }
}

impl Leaves for ErrorData {
    fn each_text(&mut self, see: &dyn Fn(&mut String)) {
        let mut message = self.message.clone().into_owned();
        see(&mut message);
        self.message = Cow::Owned(message);
        if let Some(data) = &mut self.data {
            data.each_text(see);
        }
    }
}

impl Surface {
    /// What a caller gets of it.
    pub(crate) fn seen<T: Leaves>(&self, caller: &Caller, mut leaving: T) -> T {
        if !caller.scopes.contains(Scope::CustomersPii) {
            leaving.each_text(&|text| {
                if let Cow::Owned(masked) = self.desk().seen_text(caller, text) {
                    *text = masked;
                }
            });
        }
        leaving
    }

    /// What a caller gets of the answer to a request.
    pub(crate) fn leave<T: Leaves>(
        &self,
        caller: &Caller,
        answer: Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        match answer {
            Ok(answer) => Ok(self.seen(caller, answer)),
            Err(error) => Err(self.seen(caller, error)),
        }
    }

    /// Refuses to look for something by a contact that the caller may not see.
    pub(crate) fn check_sought(
        &self,
        spec: &ToolSpec,
        caller: &Caller,
        arguments: &rmcp::model::JsonObject,
    ) -> Result<(), DeskError> {
        if spec.policy.effect == Effect::Write {
            return Ok(());
        }
        let mut texts = arguments.iter().filter(|(name, _)| !is_sent_back(name));
        let is_sought = texts.any(|(_, value)| self.is_sought(caller, value));
        if is_sought {
            return Err(DeskError::MissingRight(Scope::CustomersPii));
        }
        Ok(())
    }
}

impl Surface {
    fn is_sought(&self, caller: &Caller, value: &Value) -> bool {
        match value {
            Value::String(text) => !self.desk().may_look_for(caller, text),
            Value::Number(number) => !self.desk().may_look_for(caller, &number.to_string()),
            Value::Array(values) => values.iter().any(|value| self.is_sought(caller, value)),
            Value::Null | Value::Bool(_) | Value::Object(_) => false,
        }
    }
}

/// Arguments that hold what an answer gave before.
fn is_sent_back(name: &str) -> bool {
    name.ends_with("_id") || matches!(name, "cursor" | "offset" | "limit")
}
