//! Counters for Prometheus. Labels are closed vocabularies (tools, codes, routes, reasons), never an id or a text (promise I-3).

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use mcp_surface::Observe;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// What [`Metrics::render`] writes.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Bounds of durations in seconds: reads take a millisecond, writes some, a person minutes.
const SECONDS: [f64; 11] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0,
];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    name: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SpentLabels {
    name: &'static str,
    method: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NameLabels {
    name: &'static str,
}

/// The counters of one process.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    refusals: Family<ReasonLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    durations: Family<NameLabels, Histogram, fn() -> Histogram>,
    spent: Family<SpentLabels, Counter>,
    sessions: Gauge<i64, AtomicI64>,
    connections: Gauge<i64, AtomicI64>,
    queued: Gauge<i64, AtomicI64>,
}

/// What is counted only when somebody looks.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    /// Sessions of the older revision.
    pub sessions: usize,
    /// Connections.
    pub connections: usize,
    /// Writes that wait for their answer.
    pub queued_writes: usize,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("deskgate");
        let requests = Family::default();
        registry.register("http_requests", "HTTP requests answered", requests.clone());
        let refusals = Family::default();
        let help = "Requests answered before they reached a tool, by reason";
        registry.register("http_refusals", help, refusals.clone());
        let calls = Family::default();
        let help = "Calls of tools, resources and prompts, by outcome";
        registry.register("calls", help, calls.clone());
        let durations: Family<NameLabels, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(SECONDS));
        let help = "How long calls took, in seconds";
        registry.register("call_duration_seconds", help, durations.clone());
        let spent = Family::default();
        let help =
            "Confirmation tokens spent: guarded changes that were made, by how they were approved";
        registry.register("confirmation_tokens_spent", help, spent.clone());
        let sessions = Gauge::default();
        let help = "Open sessions of the older protocol revision";
        registry.register("sessions", help, sessions.clone());
        let connections = Gauge::default();
        registry.register("connections", "Open connections", connections.clone());
        let queued = Gauge::default();
        let help = "Writes that wait for their answer";
        registry.register("write_queue_depth", help, queued.clone());
        Self {
            registry,
            requests,
            refusals,
            calls,
            durations,
            spent,
            sessions,
            connections,
            queued,
        }
    }
}

impl Metrics {
    pub(super) fn answered(&self, route: &'static str, method: &'static str, status: u16) {
        let labels = RequestLabels {
            route,
            method,
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    pub(super) fn refused(&self, reason: &'static str) {
        self.refusals.get_or_create(&ReasonLabels { reason }).inc();
    }

    /// Everything as text.
    pub fn render(&self, levels: Levels) -> String {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.sessions.set(number(levels.sessions));
        self.connections.set(number(levels.connections));
        self.queued.set(number(levels.queued_writes));
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            // Writing to a text does not fail.
            tracing::error!("the counters cannot be written");
        }
        text
    }
}

impl Observe for Metrics {
    fn spent(&self, name: &'static str, method: &'static str) {
        let labels = SpentLabels { name, method };
        self.spent.get_or_create(&labels).inc();
    }

    fn called(&self, name: &'static str, code: &'static str, took: Duration) {
        let labels = CallLabels {
            name,
            outcome: code,
        };
        self.calls.get_or_create(&labels).inc();
        self.durations
            .get_or_create(&NameLabels { name })
            .observe(took.as_secs_f64());
    }
}
