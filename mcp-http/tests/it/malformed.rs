//! Bodies and headers that no client of ours sends: each has its answer, and the next request works (promises T-5, T-6, D-2).

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Client, Plan, modern};

/// A body, and the JSON-RPC code of its answer.
fn corpus() -> Vec<(&'static str, Vec<u8>, i64)> {
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{open}1{close}}}}}"#)
    };
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("empty", text(""), -32700),
        ("blank", text("  \r\n\t"), -32700),
        ("not JSON", text("hello"), -32700),
        (
            "cut",
            text(r#"{"jsonrpc":"2.0","id":1,"method":"ping""#),
            -32700,
        ),
        (
            "with a tail",
            text(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#),
            -32700,
        ),
        (
            "two messages",
            text(
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
            ),
            -32700,
        ),
        (
            "byte order mark",
            [
                b"\xef\xbb\xbf".as_slice(),
                br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            ]
            .concat(),
            -32700,
        ),
        (
            "UTF-16",
            r#"{"jsonrpc":"2.0"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            -32700,
        ),
        (
            "not UTF-8",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}".to_vec(),
            -32700,
        ),
        (
            "NUL",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}".to_vec(),
            -32700,
        ),
        (
            "lone surrogate",
            text(r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#),
            -32700,
        ),
        (
            "1e400",
            text(r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#),
            -32700,
        ),
        (
            "single quotes",
            text("{'jsonrpc':'2.0','id':1,'method':'ping'}"),
            -32700,
        ),
        (
            "trailing comma",
            text(r#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#),
            -32700,
        ),
        // JSON, but deeper than anything that is decoded.
        ("deep", text(&deep(100_000)), -32600),
        (
            "batch",
            text(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#),
            -32600,
        ),
        ("empty batch", text("[]"), -32600),
        ("number", text("1"), -32600),
        ("text", text(r#""ping""#), -32600),
        ("null", text("null"), -32600),
        ("nothing in it", text("{}"), -32600),
        ("no version", text(r#"{"id":1,"method":"ping"}"#), -32600),
        (
            "other version",
            text(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#),
            -32600,
        ),
        (
            "method a number",
            text(r#"{"jsonrpc":"2.0","id":1,"method":7}"#),
            -32600,
        ),
        (
            "params a list",
            text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["get_ticket"]}"#),
            -32600,
        ),
        (
            "name a list",
            text(
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["get_ticket"]}}"#,
            ),
            -32600,
        ),
        (
            "method twice",
            text(r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#),
            -32600,
        ),
        (
            "name twice",
            text(
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_ticket","name":"create_customer"}}"#,
            ),
            -32600,
        ),
        (
            "id an object",
            text(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
            -32600,
        ),
        (
            "result and error",
            text(
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"},"method":"ping","params":3}"#,
            ),
            -32600,
        ),
    ]
}

async fn still_works(client: &Client, after: &str) {
    let answer = client.ask("tools/list", json!({})).await;
    assert_eq!(answer.status, StatusCode::OK, "after {after}");
    assert!(
        answer.message()["result"]["tools"].is_array(),
        "after {after}"
    );
}

#[tokio::test]
async fn every_malformed_body_has_its_answer_and_the_next_request_works() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    let session = client.open().await;
    for (name, body, code) in corpus() {
        let older = client.post(&session.headers(), body.clone()).await;
        let newer = client
            .post(&[("mcp-protocol-version", "2026-07-28")], body)
            .await;
        for answer in [older, newer] {
            assert_eq!(
                answer.status,
                StatusCode::BAD_REQUEST,
                "{name}: {}",
                answer.text()
            );
            let message = answer.message();
            assert_eq!(message["error"]["code"], code, "{name}: {message}");
            assert_eq!(message["id"], Value::Null, "{name}");
        }
        still_works(&client, name).await;
    }
    let ping = json!({"jsonrpc": "2.0", "id": "x", "method": "ping"});
    assert_eq!(session.post(&ping).await.message()["result"], json!({}));
}

#[tokio::test]
async fn names_are_exact_and_a_look_alike_is_not_the_thing() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"get_ticket"}}"#,
        r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#,
    ] {
        let answer = client.post(&[], body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
    }
}

#[tokio::test]
async fn headers_that_differ_from_the_body_are_refused() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    let (headers, body) = modern(
        1,
        "tools/call",
        json!({"name": "get_ticket", "arguments": {"ticket_id": "T-1"}}),
    );
    let with = |name: &'static str, value: Option<&'static str>| {
        let mut sent: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        sent.retain(|(header, _)| *header != name);
        sent.extend(value.map(|value| (name, value)));
        sent
    };
    let cases = [
        with("mcp-method", None),
        with("mcp-method", Some("tools/list")),
        with("mcp-method", Some("TOOLS/CALL")),
        with("mcp-name", None),
        with("mcp-name", Some("get_customer")),
        with("mcp-name", Some("=?base64?Z2V0X2N1c3RvbWVy?=")),
        with("mcp-name", Some("=?base64?!!!?=")),
        with("mcp-protocol-version", Some("2025-11-25")),
        [
            with("mcp-name", Some("get_ticket")),
            vec![("mcp-name", "get_customer")],
        ]
        .concat(),
        [
            with("mcp-method", Some("tools/call")),
            vec![("mcp-method", "tools/call")],
        ]
        .concat(),
    ];
    for sent in cases {
        let answer = client.post(&sent, body.to_string()).await;
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{sent:?}: {}",
            answer.text()
        );
        let code = answer.message()["error"]["code"].as_i64().unwrap();
        assert!([-32020, -32602, -32600].contains(&code), "{sent:?}: {code}");
    }
    let encoded = with("mcp-name", Some("=?base64?Z2V0X3RpY2tldA==?="));
    assert_eq!(
        client.post(&encoded, body.to_string()).await.code(),
        "NOT_FOUND"
    );
}

#[tokio::test]
async fn media_types_and_methods_are_those_of_the_protocol() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for kind in ["text/plain", "application/xml", "application/jsonx", ""] {
        let answer = client.post(&[("content-type", kind)], body).await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
    }
    for kinds in ["application/json", "text/event-stream", "*/*", ""] {
        let answer = client.post(&[("accept", kinds)], body).await;
        assert_eq!(answer.status, StatusCode::NOT_ACCEPTABLE, "{kinds}");
    }
    for method in [http::Method::PUT, http::Method::PATCH] {
        let answer = client.send(method, "/mcp", &[], body).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    }
    let modern = [("mcp-protocol-version", "2026-07-28")];
    for method in [http::Method::GET, http::Method::DELETE] {
        let answer = client.send(method, "/mcp", &modern, "").await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    }
    assert_eq!(client.get("/nowhere").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn both_spellings_of_the_path_answer_without_a_redirect() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    let (headers, body) = modern(1, "tools/list", json!({}));
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    for path in ["/mcp", "/mcp/"] {
        let answer = client
            .send(http::Method::POST, path, &headers, body.to_string())
            .await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}
