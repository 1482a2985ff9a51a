//! What the remote classifier needs to be told, checked before anything starts.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::time::Duration;

use zeroize::Zeroizing;

/// How long a question may take, from waiting for a free place to the last byte of the answer.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(10);

/// The longest deadline that can be set. A call of the server ends within ten minutes at most, and a person who waits for a
/// draft gives up long before that.
pub const LONGEST_DEADLINE: Duration = Duration::from_mins(1);

/// Questions that are asked at once.
pub const DEFAULT_CONCURRENCY: usize = 4;

/// The most that can be set: the calls that the server takes at once by default.
pub const MOST_CONCURRENT: usize = 64;

/// Whose protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The messages of Anthropic.
    Anthropic,
    /// The chat completions of `OpenAI`, which many servers speak.
    OpenAi,
    /// The chat of Ollama, without a key.
    Ollama,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Ollama];

    /// Its word in configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
        }
    }

    /// Where it is asked unless another endpoint is set.
    pub const fn endpoint(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Ollama => "http://localhost:11434/",
        }
    }

    const fn needs_key(self) -> bool {
        match self {
            Self::Anthropic | Self::OpenAi => true,
            Self::Ollama => false,
        }
    }
}

/// Why the remote classifier can't be used. Each stops the start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// The build has no remote classifier.
    #[error("this build has no remote classifier; build it with the feature `remote`")]
    NotBuilt,
    /// A setting is missing.
    #[error("the remote classifier needs `{0}`")]
    Missing(&'static str),
    /// There is no such provider.
    #[error("`{given}` is not a provider; valid are: {}", Provider::ALL.map(Provider::as_str).join(", "))]
    Provider {
        /// What was given.
        given: String,
    },
    /// The name of the model is blank, too long or holds control characters.
    #[error("the name of the model is not one")]
    Model,
    /// The endpoint can't be used. Ticket text and key go there, so it is encrypted or on this machine.
    #[error(
        "the endpoint is not usable; write https://HOST/PATH without user, query and fragment, or http:// for this machine"
    )]
    Endpoint,
    /// The key holds what a header can't, or is given to a provider that takes none.
    #[error("the key of the classifier is not usable")]
    Key,
    /// The HTTP client can't be made.
    #[error("the client of the remote classifier can't be made")]
    Client,
}

/// A provider's key. It has no `Debug` and no `Display`, and its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct ApiKey(
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "only the remote classifier uses a key")
    )]
    Zeroizing<String>,
);

impl ApiKey {
    /// Reads a key as it stands in a file or variable; space around it is left out.
    pub fn parse(text: &str) -> Result<Self, RemoteError> {
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(RemoteError::Key);
        }
        Ok(Self(Zeroizing::new(key.to_owned())))
    }

    /// The key itself, for the header of a request.
    #[cfg(feature = "remote")]
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

/// The settings as they were given.
#[derive(Default)]
pub struct RemoteGiven {
    /// Whose protocol is spoken.
    pub provider: Option<String>,
    /// The model, by the provider's name for it.
    pub model: Option<String>,
    /// Where it is asked, if not at the provider's own address.
    pub endpoint: Option<String>,
    /// The key.
    pub key: Option<ApiKey>,
    /// How long a question may take; [`DEFAULT_DEADLINE`] if it is not given.
    pub deadline: Option<Duration>,
    /// Questions at once; [`DEFAULT_CONCURRENCY`] if it is not given.
    pub concurrency: Option<usize>,
}

impl RemoteGiven {
    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.provider.is_none()
            && self.model.is_none()
            && self.endpoint.is_none()
            && self.key.is_none()
            && self.deadline.is_none()
            && self.concurrency.is_none()
    }
}

/// Settings that fit together.
#[derive(Clone)]
pub struct RemoteSettings {
    provider: Provider,
    model: String,
    endpoint: String,
    key: Option<ApiKey>,
    deadline: Duration,
    concurrency: usize,
}

impl RemoteSettings {
    /// Checks settings.
    pub fn new(given: RemoteGiven) -> Result<Self, RemoteError> {
        let word = given
            .provider
            .ok_or(RemoteError::Missing("classifier_provider"))?;
        let folded = word.trim().to_lowercase();
        let provider = Provider::ALL
            .into_iter()
            .find(|provider| provider.as_str() == folded)
            .ok_or(RemoteError::Provider { given: word })?;
        let model = given
            .model
            .ok_or(RemoteError::Missing("classifier_model"))?;
        let model = model.trim();
        if model.is_empty() || model.len() > 200 || !model.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(RemoteError::Model);
        }
        let endpoint = match &given.endpoint {
            Some(endpoint) => checked_endpoint(endpoint).ok_or(RemoteError::Endpoint)?,
            None => provider.endpoint().to_owned(),
        };
        match (&given.key, provider.needs_key()) {
            (None, true) => return Err(RemoteError::Missing("classifier_key")),
            // It would not be sent, so whoever set it expects something else.
            (Some(_), false) => return Err(RemoteError::Key),
            (Some(_), true) | (None, false) => {}
        }
        Ok(Self {
            provider,
            model: model.to_owned(),
            endpoint,
            key: given.key,
            deadline: given
                .deadline
                .unwrap_or(DEFAULT_DEADLINE)
                .min(LONGEST_DEADLINE),
            concurrency: given
                .concurrency
                .unwrap_or(DEFAULT_CONCURRENCY)
                .clamp(1, MOST_CONCURRENT),
        })
    }

    /// Whose protocol is spoken.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The model, by the provider's name for it.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Where ticket text is sent; ends with a slash.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// How long a question may take.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Questions that are asked at once.
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Whether there is a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The key, where the provider takes one.
    #[cfg(feature = "remote")]
    pub(super) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// That the texts of tickets leave the desk, and where to: for whoever starts the server.
    pub fn disclosure(&self) -> String {
        format!(
            "the texts of tickets are sent to {} ({}, model {}) whenever a draft or a public comment is asked for",
            self.endpoint,
            self.provider.as_str(),
            self.model
        )
    }
}

/// An endpoint with a slash at its end, or none where it isn't one. Plain HTTP is for this machine only; a user or query
/// could hold a secret, which would be shown.
fn checked_endpoint(given: &str) -> Option<String> {
    let given = given.trim();
    let (scheme, rest) = given.split_once("://")?;
    let clean = rest
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'@' | b'?' | b'#' | b'\\'));
    let authority = rest.split('/').next()?;
    let host = host_of(authority)?;
    let encrypted = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    if !clean || !(encrypted || is_this_machine(host)) {
        return None;
    }
    let slash = if given.ends_with('/') { "" } else { "/" };
    Some(format!("{given}{slash}"))
}

fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(v6) => {
            let (host, after) = v6.split_once(']')?;
            (
                host,
                after.strip_prefix(':').or(after.is_empty().then_some(""))?,
            )
        }
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    let numbered = port.is_empty() || port.parse::<u16>().is_ok_and(|port| port != 0);
    (numbered && !host.is_empty()).then_some(host)
}

fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}
