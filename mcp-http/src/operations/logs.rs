//! Log lines: one JSON object each, on standard error, without arguments, tokens or text of the desk.

use std::str::FromStr;

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Faults.
    Error,
    /// And what will become one.
    Warn,
    /// And each request and call.
    #[default]
    Info,
    /// And what helps to find a fault.
    Debug,
    /// Everything.
    Trace,
}

/// A word that names no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not one of: error, warn, info, debug, trace")]
pub struct LevelError(String);

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(word: &str) -> Result<Self, LevelError> {
        Ok(match word {
            "error" => Self::Error,
            "warn" => Self::Warn,
            "info" => Self::Info,
            "debug" => Self::Debug,
            "trace" => Self::Trace,
            _ => return Err(LevelError(word.to_owned())),
        })
    }
}

impl Level {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Begins to log. Libraries that print whole messages or headers when asked for more are held back, whatever is asked for
/// (promise S-1); the SDK prints the messages of error answers, which repeat what a client wrote, at `warn` already.
pub fn start(level: Level) {
    let filter = format!(
        "{},rmcp=error,hyper=warn,hyper_util=warn,h2=warn,rustls=warn,tower=warn",
        level.as_str()
    );
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .init();
}
