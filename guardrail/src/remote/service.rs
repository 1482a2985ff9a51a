//! The provider behind its library. What it says in errors can repeat the ticket or the key, so nothing of that is logged.

use genai::adapter::AdapterKind;
use genai::chat::{
    ChatOptions, ChatRequest, ChatResponse, ChatResponseFormat, JsonSpec, StopReason,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget, webc};

use super::prompt::{Question, schema};
use super::settings::{ApiKey, Provider, RemoteError, RemoteSettings};
use crate::classifier::ClassifierDown;

/// What an answer may take: a page of quotations, and a model's thinking before it.
const MOST_TOKENS: u32 = 4_096;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Not reached, or the connection broke.
    Unreachable,
    /// An HTTP status that is none of success.
    Status(u16),
    /// Something came that isn't an answer.
    NoAnswer,
}

impl Failure {
    /// What it means for the ticket.
    pub(super) fn meaning(self) -> ClassifierDown {
        match self {
            Self::Unreachable | Self::Status(_) => ClassifierDown::Unavailable,
            Self::NoAnswer => ClassifierDown::Malformed,
        }
    }

    /// Whether the provider is at fault. A ticket that it finds too long or can't make sense of must not close the way for
    /// all others.
    pub(super) fn is_outage(self) -> bool {
        match self {
            Self::Unreachable => true,
            Self::Status(status) => !matches!(status, 400 | 413 | 422),
            Self::NoAnswer => false,
        }
    }

    /// For the log.
    pub(super) fn status(self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status),
            Self::Unreachable | Self::NoAnswer => None,
        }
    }
}

/// A model at its provider.
pub(super) struct Service {
    client: Client,
    target: ServiceTarget,
    options: ChatOptions,
}

impl Service {
    pub(super) fn new(settings: &RemoteSettings) -> Result<Self, RemoteError> {
        let http = reqwest::Client::builder()
            // Ticket text goes to the configured endpoint and nowhere else: not where the environment points, and not where
            // an answer points.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .https_only(
                settings
                    .endpoint()
                    .to_ascii_lowercase()
                    .starts_with("https"),
            )
            .connect_timeout(settings.deadline())
            .build()
            .map_err(|_unusable| RemoteError::Client)?;
        let client = Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|_unusable| RemoteError::Client)?;
        let (kind, format) = match settings.provider() {
            Provider::Anthropic => (AdapterKind::Anthropic, by_schema()),
            Provider::OpenAi => (AdapterKind::OpenAI, by_schema()),
            // The library sends Ollama no schema.
            Provider::Ollama => (AdapterKind::Ollama, ChatResponseFormat::JsonMode),
        };
        let auth = settings.key().map_or(AuthData::None, |key: &ApiKey| {
            AuthData::from_single(key.reveal())
        });
        Ok(Self {
            client,
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(settings.endpoint()),
                auth,
                model: ModelIden::new(kind, settings.model()),
            },
            options: ChatOptions::default()
                .with_max_tokens(MOST_TOKENS)
                .with_response_format(format),
        })
    }

    /// Asks, and gives the text of the answer.
    pub(super) async fn ask(&self, question: Question) -> Result<String, Failure> {
        let request = ChatRequest::from_user(question.ticket).with_system(question.system);
        let answer = self
            .client
            .exec_chat(self.target.clone(), request, Some(&self.options))
            .await
            .map_err(|error| failure(&error))?;
        text_of(answer).ok_or(Failure::NoAnswer)
    }
}

fn by_schema() -> ChatResponseFormat {
    ChatResponseFormat::JsonSpec(JsonSpec::new("review", schema()))
}

/// The one text of an answer that is complete.
fn text_of(answer: ChatResponse) -> Option<String> {
    let complete = match answer.stop_reason {
        None | Some(StopReason::Completed(_)) => true,
        Some(
            StopReason::MaxTokens(_)
            | StopReason::ToolCall(_)
            | StopReason::ContentFilter(_)
            | StopReason::StopSequence(_)
            | StopReason::Other(_),
        ) => false,
    };
    let only_text = !answer.content.contains_tool_call() && !answer.content.contains_custom();
    let mut texts = answer.into_texts();
    let text = texts.pop()?;
    (complete && only_text && texts.is_empty()).then_some(text)
}

fn failure(error: &genai::Error) -> Failure {
    if let Some(status) = error.status() {
        return Failure::Status(status.as_u16());
    }
    if let genai::Error::WebModelCall { webc_error, .. } = error
        && matches!(webc_error, webc::Error::Reqwest(_))
    {
        return Failure::Unreachable;
    }
    Failure::NoAnswer
}
