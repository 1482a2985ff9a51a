//! The classifier that asks a language model of a provider.
//!
//! Whoever configures it sends the texts of tickets to a third party, which the binaries say at their start and every
//! result says by its mode. It is compiled in with the feature `remote`; its settings are known without it, so that a build
//! that lacks it refuses to start instead of being a weaker one (promise I-10).

#[cfg(feature = "remote")]
mod answer;
#[cfg(feature = "remote")]
mod breaker;
#[cfg(feature = "remote")]
mod cache;
#[cfg(feature = "remote")]
mod kind;
#[cfg(feature = "remote")]
mod prompt;
#[cfg(feature = "remote")]
mod service;
mod settings;

use std::sync::Arc;

use domain::{Clock, IdSource};

use crate::classifier::Classifier;

pub use settings::{
    ApiKey, DEFAULT_CONCURRENCY, DEFAULT_DEADLINE, LONGEST_DEADLINE, MOST_CONCURRENT, Provider,
    RemoteError, RemoteGiven, RemoteSettings,
};

/// How the names of variables begin that libraries for providers read. This server reads none of them, and its tests are
/// run without them.
pub const FOREIGN_VARIABLES: [&str; 8] = [
    "ANTHROPIC_",
    "OPENAI_",
    "AZURE_OPENAI_",
    "OLLAMA_",
    "GEMINI_",
    "GENAI_",
    "GROQ_",
    "MISTRAL_",
];

/// The classifier, where this build has it. `clock` opens and closes the circuit, `ids` makes the markers around what
/// tickets say.
#[cfg(feature = "remote")]
pub fn classifier(
    settings: RemoteSettings,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
) -> Result<Arc<dyn Classifier>, RemoteError> {
    Ok(Arc::new(kind::Remote::new(settings, clock, ids)?))
}

/// Refuses: this build doesn't have it.
#[cfg(not(feature = "remote"))]
pub fn classifier(
    _settings: RemoteSettings,
    _clock: Arc<dyn Clock>,
    _ids: Arc<dyn IdSource>,
) -> Result<Arc<dyn Classifier>, RemoteError> {
    Err(RemoteError::NotBuilt)
}
