//! Spans for a collector that speaks OTLP over HTTP (feature `otel`): one for each request, with the events that its log lines
//! are. They hold what a log line holds: no argument, no token and no text (promise S-1).

use std::time::Duration;

use anyhow::Context as _;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use super::observe::Parent;

/// What a collector may take to answer, and how long the end waits for the last spans.
const PATIENCE: Duration = Duration::from_secs(5);

/// The way to the collector. Spans wait in a bounded queue for a thread of their own, and those that find it full are
/// dropped: a collector that is slow or gone slows no call.
pub(super) struct Export(SdkTracerProvider);

impl Export {
    /// Begins; nothing is sent yet. `endpoint` is the collector's address, without `/v1/traces`.
    pub(super) fn start(endpoint: &str) -> anyhow::Result<Self> {
        // As for every other request of this process, no proxy of the environment and no redirect.
        let client = reqwest::blocking::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .build()
            .context("the client of `otlp_endpoint` cannot be made")?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .with_timeout(PATIENCE)
            .build()
            .context("`otlp_endpoint`")?;
        let provider = SdkTracerProvider::builder()
            .with_resource(
                Resource::builder_empty()
                    .with_service_name("deskgate-http")
                    .build(),
            )
            .with_batch_exporter(exporter)
            .build();
        Ok(Self(provider))
    }

    /// What records; only spans and events of our own, since libraries put messages and headers into theirs.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let ours = Targets::new()
            .with_target("mcp_http", Level::INFO)
            .with_target("mcp_surface", Level::INFO);
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("deskgate"))
            .with_location(false)
            .with_threads(false)
            // Entered, a span could take no parent any more, and the one in `_meta` is known late.
            .with_context_activation(false)
            .with_filter(ours)
    }

    /// Sends what waits.
    pub(super) fn finish(self) {
        if let Err(error) = self.0.shutdown_with_timeout(PATIENCE) {
            tracing::warn!("the last spans were not exported: {error}");
        }
    }
}

/// Makes a span part of the trace that its request names.
pub(super) fn follow(span: &tracing::Span, parent: Parent<'_>) {
    let (Ok(trace), Ok(caller)) = (
        TraceId::from_hex(parent.trace),
        SpanId::from_hex(parent.span),
    ) else {
        return;
    };
    let flags = if parent.is_sampled {
        TraceFlags::SAMPLED
    } else {
        TraceFlags::NOT_SAMPLED
    };
    let context = SpanContext::new(trace, caller, flags, true, TraceState::NONE);
    let remote = opentelemetry::Context::new().with_remote_span_context(context);
    // It fails where nothing is exported, and then nothing is missed.
    drop(span.set_parent(remote));
}
