//! Which names this server answers to and which web pages may talk to it: exact lists, nothing inferred (promise T-1).
//!
//! A name that an attacker points at this address, or a page in an agent's browser, gets 403 before a byte of the body is
//! read. CORS headers go to listed origins only, never `*`, never with credentials (promise T-2).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST,
    ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

use super::answer::{empty, refusal};

/// What a page may send: the headers of both protocol revisions (field report 35).
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id, \
     traceparent, tracestate",
);
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// What a page may read besides the body: without these it can neither keep a session nor sign in.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after, x-request-id");
/// How long a browser may keep a preflight's answer, in seconds.
const PREFLIGHT_AGE: HeaderValue = HeaderValue::from_static("600");

/// An entry of a list that can't be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Not a host with an optional port.
    #[error(
        "allowed host `{0}` is not a host name or address with an optional port, such as `desk.example:8443`"
    )]
    Host(String),
    /// Not an origin.
    #[error(
        "allowed origin `{0}` is not `http://` or `https://` with a host and an optional port, in lower case, such as `https://app.example`"
    )]
    Origin(String),
}

/// The lists.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Neighbours {
    /// These `Host` values and these `Origin` values, as they stand in requests.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Self, EntryError> {
        let host = |given: &String| {
            is_authority(given)
                .then(|| given.to_ascii_lowercase())
                .ok_or_else(|| EntryError::Host(given.clone()))
        };
        let origin = |given: &String| {
            let rest = given
                .strip_prefix("https://")
                .or_else(|| given.strip_prefix("http://"));
            let fits = rest.is_some_and(is_authority) && *given == given.to_ascii_lowercase();
            fits.then(|| given.clone())
                .ok_or_else(|| EntryError::Origin(given.clone()))
        };
        Ok(Self {
            hosts: hosts.iter().map(host).collect::<Result<_, _>>()?,
            origins: origins.iter().map(origin).collect::<Result<_, _>>()?,
        })
    }

    /// The hosts.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The origins with their ports written out, as the MCP service wants them.
    pub fn origins_with_ports(&self) -> Vec<String> {
        let port_of = |origin: &String| {
            let (scheme, authority) = origin.split_once("://").unwrap_or_default();
            let has_port = authority
                .parse::<http::uri::Authority>()
                .is_ok_and(|authority| authority.port().is_some());
            match (has_port, scheme) {
                (true, _) => origin.clone(),
                (false, "https") => format!("{origin}:443"),
                (false, _) => format!("{origin}:80"),
            }
        };
        self.origins.iter().map(port_of).collect()
    }

    /// Whether a request names a listed host: once, and the same in an absolute request line.
    pub fn names_us(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let listed = |name: &str| {
            self.hosts
                .iter()
                .any(|host| host.eq_ignore_ascii_case(name))
        };
        let line_fits = uri.authority().is_none_or(|name| listed(name.as_str()));
        let header = only(headers, &HOST).ok().flatten();
        line_fits
            && header
                .and_then(|name| name.to_str().ok())
                .is_some_and(listed)
    }

    /// The listed origin of a request; an error if it has one that is not listed.
    fn origin<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a HeaderValue>, NotListed> {
        let Some(origin) = only(headers, &ORIGIN)? else {
            return Ok(None);
        };
        let is_listed = self.origins.iter().any(|listed| origin == listed.as_str());
        if is_listed {
            Ok(Some(origin))
        } else {
            Err(NotListed)
        }
    }
}

struct NotListed;

/// The value of a header that may come once.
fn only<'a>(
    headers: &'a HeaderMap,
    name: &http::HeaderName,
) -> Result<Option<&'a HeaderValue>, NotListed> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(NotListed),
    }
}

fn is_authority(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    !text.is_empty()
        && text.chars().all(plain)
        && text
            .parse::<http::uri::Authority>()
            .is_ok_and(|parsed| !parsed.host().is_empty() && !parsed.as_str().ends_with(':'))
}

/// Probes come by address and not by name; what they may reach tells nothing (field report 36).
pub const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// The outermost check of a request, and the CORS headers of its answer.
pub async fn check(
    State(neighbours): State<Arc<Neighbours>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let is_probe = PROBES.contains(&request.uri().path());
    if !is_probe && !neighbours.names_us(request.uri(), headers) {
        return refusal(
            StatusCode::FORBIDDEN,
            "host_not_allowed",
            "this server does not answer to that host name; the operator lists names with `allowed_hosts`",
        );
    }
    let Ok(origin) = neighbours.origin(headers) else {
        return refusal(
            StatusCode::FORBIDDEN,
            "origin_not_allowed",
            "pages of that origin may not use this server; the operator lists origins with `allowed_origins`",
        );
    };
    let origin = origin.cloned();
    let is_preflight = origin.is_some()
        && request.method() == Method::OPTIONS
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if is_preflight {
        let mut response = empty(StatusCode::NO_CONTENT);
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
        headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_AGE);
        response
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    }
    response
}
