//! Log lines: one JSON object each, on standard error, without arguments, tokens or text of the desk.

use std::str::FromStr;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

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

/// What has to be done when the process ends.
#[must_use]
#[derive(Default)]
pub struct Logging {
    #[cfg(feature = "otel")]
    export: Option<super::export::Export>,
}

impl Logging {
    /// Begins to log, and to export spans where a collector is named. Libraries that print whole messages or headers when
    /// asked for more are held back, whatever is asked for (promise S-1); the SDK prints the messages of error answers, which
    /// repeat what a client wrote, at `warn` already.
    ///
    /// Not to be called within the runtime: the exporter's client has one of its own.
    pub fn start(level: Level, otlp_endpoint: Option<&str>) -> anyhow::Result<Self> {
        let filter = format!(
            "{},rmcp=error,hyper=warn,hyper_util=warn,h2=warn,rustls=warn,tower=warn,reqwest=warn,opentelemetry=warn,\
             opentelemetry_sdk=warn,opentelemetry-otlp=warn,opentelemetry-http=warn",
            level.as_str()
        );
        let lines = tracing_subscriber::fmt::layer()
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .with_writer(std::io::stderr)
            .with_filter(EnvFilter::new(filter));
        let registry = tracing_subscriber::registry().with(lines);
        #[cfg(feature = "otel")]
        {
            let export = otlp_endpoint
                .map(super::export::Export::start)
                .transpose()?;
            registry
                .with(export.as_ref().map(super::export::Export::layer))
                .init();
            Ok(Self { export })
        }
        #[cfg(not(feature = "otel"))]
        {
            anyhow::ensure!(
                otlp_endpoint.is_none(),
                "`otlp_endpoint`: this build exports no spans; build it with the feature `otel`"
            );
            registry.init();
            Ok(Self::default())
        }
    }

    /// Sends what waits to be exported. Not to be called within the runtime.
    pub fn finish(self) {
        #[cfg(feature = "otel")]
        if let Some(export) = self.export {
            export.finish();
        }
    }
}
