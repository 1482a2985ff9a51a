//! The outermost layer: every request gets a number, a log line, a count, and a span that carries its trace.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use domain::IdSource;
use http::{HeaderMap, HeaderValue, Method};
use tokio::time::Instant;
use tracing::Instrument as _;
use tracing::field::Empty;

use super::metrics::Metrics;
use crate::transport::answer::Reason;

/// The number of a request, in its log lines, its audit rows and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestNumber(pub u128);

/// What observing needs.
pub struct Observer {
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// Where numbers come from.
    pub ids: Arc<dyn IdSource>,
}

/// Wraps a request.
pub async fn observe(
    State(observer): State<Arc<Observer>>,
    mut request: Request,
    next: Next,
) -> Response {
    let number = observer.ids.next_id();
    request.extensions_mut().insert(RequestNumber(number));
    let shown = uuid::Uuid::from_u128(number).to_string();
    let route = route(request.uri().path());
    let method = method(request.method());
    let span = tracing::info_span!("request", request.id = shown, trace.id = Empty);
    if let Some(parent) = header_parent(request.headers()) {
        parent.adopt(&span);
    }
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    observer.metrics.answered(route, method, status);
    let reason = response.extensions().get::<Reason>().map(|reason| reason.0);
    if let Some(reason) = reason {
        observer.metrics.refused(reason);
    }
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    span.in_scope(|| {
        tracing::info!(
            http.route = route,
            http.method = method,
            http.status = status,
            reason,
            duration_ms,
            "request"
        );
    });
    if let Ok(shown) = HeaderValue::from_str(&shown) {
        response.headers_mut().insert("x-request-id", shown);
    }
    response
}

/// Paths are what clients write, so only known ones become labels.
fn route(path: &str) -> &'static str {
    match path {
        "/mcp" | "/mcp/" => "/mcp",
        "/healthz" => "/healthz",
        "/readyz" => "/readyz",
        "/metrics" => "/metrics",
        path if path.starts_with("/.well-known/oauth-protected-resource") => "metadata",
        _ => "other",
    }
}

fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::HEAD => "HEAD",
        _ => "other",
    }
}

fn header_parent(headers: &HeaderMap) -> Option<Parent<'_>> {
    Parent::parse(headers.get("traceparent")?.to_str().ok()?)
}

/// Where in its caller's trace a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent<'a> {
    /// The trace: 32 hexadecimal digits that are not all zero.
    pub trace: &'a str,
    /// The caller's span in it: 16 hexadecimal digits.
    pub span: &'a str,
    /// Whether the caller records it.
    pub is_sampled: bool,
}

impl<'a> Parent<'a> {
    /// Reads a W3C `traceparent`; one of another form or version is none.
    pub fn parse(traceparent: &'a str) -> Option<Self> {
        let is_hex = |text: &str| {
            text.bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let mut parts = traceparent.split('-');
        let (version, trace) = (parts.next()?, parts.next()?);
        let (span, flags) = (parts.next()?, parts.next()?);
        let fits = version == "00"
            && trace.len() == 32
            && span.len() == 16
            && flags.len() == 2
            && parts.next().is_none()
            && [trace, span, flags].into_iter().all(is_hex)
            && trace.bytes().any(|byte| byte != b'0');
        let is_sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
        fits.then_some(Self {
            trace,
            span,
            is_sampled,
        })
    }

    /// Makes the span of a request part of this trace, in log lines and for the collector.
    pub fn adopt(self, span: &tracing::Span) {
        span.record("trace.id", self.trace);
        #[cfg(feature = "otel")]
        super::export::follow(span, self);
    }
}

#[cfg(test)]
mod tests {
    //! What becomes a label or a log field.

    use super::*;

    #[test]
    fn only_well_formed_traces_are_taken() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let parent = format!("00-{trace}-00f067aa0ba902b7-01");
        let read = Parent {
            trace,
            span: "00f067aa0ba902b7",
            is_sampled: true,
        };
        assert_eq!(Parent::parse(&parent), Some(read));
        let unsampled = parent.replace("-01", "-00");
        assert!(Parent::parse(&unsampled).is_some_and(|parent| !parent.is_sampled));
        for bad in [
            String::new(),
            trace.to_owned(),
            parent.to_uppercase(),
            format!("{parent}-x"),
            format!("01-{trace}-00f067aa0ba902b7-01"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{}\n-00f067aa0ba902b7-01", &trace[1..]),
        ] {
            assert_eq!(Parent::parse(&bad), None, "{bad:?}");
        }
    }

    #[test]
    fn what_clients_write_becomes_no_label() {
        assert_eq!(route("/mcp/"), "/mcp");
        assert_eq!(route("/mcp/anna@example.com"), "other");
        assert_eq!(method(&Method::from_bytes(b"ANNA").unwrap()), "other");
    }
}
