//! Answers that don't come from the MCP service: one JSON shape, no path, no cause, no stack (promise S-4).

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

/// JSON-RPC: the body is no JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the body is JSON and no request.
pub const INVALID_REQUEST: i32 = -32600;

/// An answer given before the MCP service was asked. Boxed, since most requests never need one.
#[derive(Debug)]
pub struct Refused(Box<Response>);

impl From<Response> for Refused {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        *refused.0
    }
}

/// Why a request was refused: a word from a closed vocabulary, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason(pub &'static str);

fn for_reason(mut response: Response, reason: &'static str) -> Response {
    response.extensions_mut().insert(Reason(reason));
    response
}

/// Nothing but a status.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A JSON body. Nothing here may be kept by a cache.
pub fn json_body(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A refusal of the server itself: a word for programs and a sentence for people.
pub fn refusal(status: StatusCode, error: &'static str, description: &str) -> Response {
    let body = json!({"error": error, "error_description": description});
    for_reason(json_body(status, &body), error)
}

/// A refusal that ends by itself after some seconds.
pub fn wait(status: StatusCode, error: &'static str, description: &str, seconds: u64) -> Response {
    let mut response = json_body(
        status,
        &json!({
            "error": error,
            "error_description": description,
            "retry_after_seconds": seconds,
        }),
    );
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(seconds));
    for_reason(response, error)
}

/// A JSON-RPC error that belongs to no request.
pub fn rpc_error(code: i32, message: &str) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    for_reason(json_body(StatusCode::BAD_REQUEST, &body), "malformed")
}

/// A call that is refused in the words of its tool, because its caller asks too fast.
pub fn rate_limited_call(body: &Value, seconds: u64) -> Response {
    let mut response = json_body(StatusCode::OK, body);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(seconds));
    for_reason(response, "rate_limited")
}
