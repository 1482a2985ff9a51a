//! Request bodies: bounded in size and time, and looked into just enough to decide.
//!
//! The decision is made on the body and not on `Mcp-Method` and `Mcp-Name`: older clients don't send those, and a name may
//! come in a base64 form that a comparison of texts would miss. The MCP service refuses headers that differ from the body.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Deserialize;
use serde_json::Value;

use super::answer::{INVALID_REQUEST, PARSE_ERROR, Refused, refusal, rpc_error};

/// The largest body. A comment may have 20,000 characters; this is fifty times as much.
pub const BODY_BYTES: usize = 1024 * 1024;
/// How long a body may take to arrive.
pub const BODY_TIME: Duration = Duration::from_secs(30);

/// Reads a body, or says why not.
pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Refused> {
    let too_large = || {
        refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            "the body is longer than 1048576 bytes",
        )
    };
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > BODY_BYTES) {
        return Err(too_large().into());
    }
    match tokio::time::timeout(BODY_TIME, Limited::new(body, BODY_BYTES).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large().into()),
        Ok(Err(_broken)) => Err(refusal(
            StatusCode::BAD_REQUEST,
            "body_incomplete",
            "the body broke off",
        )
        .into()),
        Err(_elapsed) => Err(refusal(
            StatusCode::REQUEST_TIMEOUT,
            "body_too_slow",
            "the body took longer than 30 seconds",
        )
        .into()),
    }
}

/// What a message says about itself. Names that come twice are refused, since two readers could see two values (promise T-5).
#[derive(Debug, Default, Deserialize)]
pub struct Peek {
    /// The method; a response has none.
    pub method: Option<String>,
    /// The request's id; a notification has none.
    pub id: Option<Id>,
    params: Option<Params>,
}

/// An id as JSON-RPC allows it, or something else, which the MCP service refuses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
    /// Neither.
    Other(Value),
}

#[derive(Debug, Default, Deserialize)]
struct Params {
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

/// What `_meta` says that matters here: the revision and the trace context (W3C names).
#[derive(Debug, Default, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<String>,
    traceparent: Option<String>,
}

impl Peek {
    /// Looks into a body, or answers it.
    pub fn into_body(bytes: &[u8]) -> Result<Self, Refused> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'[') {
            let message = "batches are not part of this protocol; send one message per request";
            return Err(rpc_error(INVALID_REQUEST, message).into());
        }
        serde_json::from_slice(bytes).map_err(|error| {
            let answer = if error.is_data() {
                rpc_error(INVALID_REQUEST, "the body is not a JSON-RPC message")
            } else {
                rpc_error(PARSE_ERROR, "the body is not JSON")
            };
            answer.into()
        })
    }

    /// The tool, prompt or resource that it names, or nothing.
    pub fn name(&self) -> &str {
        let params = self.params.as_ref();
        params
            .and_then(|params| params.name.as_deref().or(params.uri.as_deref()))
            .unwrap_or_default()
    }

    fn meta(&self) -> Option<&Meta> {
        self.params.as_ref()?.meta.as_ref()
    }

    /// Whether it belongs to a revision without sessions.
    pub fn is_sessionless(&self) -> bool {
        self.meta().is_some_and(|meta| meta.revision.is_some())
    }

    /// The caller's trace context, unchecked.
    pub fn traceparent(&self) -> Option<&str> {
        self.meta()?.traceparent.as_deref()
    }
}

/// What the MCP service says of a body that it can't decode, in the words of JSON-RPC: it answers 415, which is for media types.
pub(super) fn undecodable() -> Response {
    rpc_error(
        INVALID_REQUEST,
        "the body is JSON, but not a message of this protocol",
    )
}

/// Whether a body is announced as JSON, by the reading of the MCP service.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
