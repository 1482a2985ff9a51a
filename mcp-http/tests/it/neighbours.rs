//! Host names, origins, preflights and proxies: promises T-1 and T-2, field reports 35, 36 and 40.

use http::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Client, Plan, Running, modern, soon};

const PAGE: &str = "https://app.example";

async fn server() -> Running {
    Plan::default()
        .set("public_url", "https://desk.example/mcp")
        .set("allowed_hosts", "inner.example:8080")
        .set(
            "allowed_origins",
            "https://app.example, http://localhost:5173",
        )
        .start()
        .await
}

async fn list(client: &Client, headers: &[(&str, &str)]) -> StatusCode {
    let (usual, body) = modern(1, "tools/list", json!({}));
    let mut all: Vec<_> = usual
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    all.extend_from_slice(headers);
    client.post(&all, body.to_string()).await.status
}

#[tokio::test]
async fn only_listed_host_names_are_answered() {
    let server = server().await;
    let client = server.client("anna").await;
    let port = server.address.port();
    let own = [
        "desk.example".to_owned(),
        "DESK.example".to_owned(),
        "inner.example:8080".to_owned(),
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
    ];
    for host in &own {
        assert_eq!(
            list(&client, &[("host", host)]).await,
            StatusCode::OK,
            "{host}"
        );
    }
    let foreign = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        "desk.example.".to_owned(),
        "desk.example:443".to_owned(),
        "desk.example:8443".to_owned(),
        "desk.example.evil.example".to_owned(),
        "notdesk.example".to_owned(),
        "inner.example".to_owned(),
        format!("2130706433:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("127.1:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("user@localhost:{port}"),
        "127.0.0.1".to_owned(),
        "localhost:1".to_owned(),
        "0.0.0.0".to_owned(),
        "*".to_owned(),
    ];
    for host in &foreign {
        assert_eq!(
            list(&client, &[("host", host)]).await,
            StatusCode::FORBIDDEN,
            "{host}"
        );
    }
}

/// Sends bytes as they are and reads to the end of the connection.
async fn raw(server: &Running, text: &str) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    soon(stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_request_that_names_two_hosts_or_none_is_refused_before_its_body() {
    let server = server().await;
    let port = server.address.port();
    let cases = [
        "POST /mcp HTTP/1.1\r\nHost: desk.example\r\nHost: desk.example\r\nConnection: close\r\nContent-Length: 9\r\n\r\n".to_owned(),
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nHost: evil.example\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"
        ),
        "POST /mcp HTTP/1.0\r\nContent-Length: 9\r\n\r\n".to_owned(),
        format!(
            "POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"
        ),
    ];
    for case in cases {
        let answer = raw(&server, &case).await;
        assert!(
            answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.0 403 "),
            "{case}\n{answer}"
        );
    }
}

#[tokio::test]
async fn framing_that_two_readers_could_read_differently_ends_the_connection() {
    let server = server().await;
    let host = format!("Host: {}\r\n", server.address);
    let cases = [
        "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        "Content-Length: 4, 5\r\n\r\nabcde",
        "Content-Length: +4\r\n\r\nabcd",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "X-A: 1\r\n folded: 2\r\nContent-Length: 0\r\n\r\n",
        "X A: 1\r\nContent-Length: 0\r\n\r\n",
        "Content-Length : 4\r\n\r\nabcd",
        "X-A: 1\0\r\n\r\n",
    ];
    for case in cases {
        let answer = raw(&server, &format!("POST /mcp HTTP/1.1\r\n{host}{case}")).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400 "),
            "{case:?}\n{answer}"
        );
    }
    // With both framings the chunked one counts, and the connection ends with the answer.
    let both = format!(
        "POST /mcp HTTP/1.1\r\n{host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n{host}\r\n"
    );
    let answer = raw(&server, &both).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    assert!(
        answer.starts_with("HTTP/1.1 401 ") || answer.starts_with("HTTP/1.1 400 "),
        "{answer}"
    );
}

#[tokio::test]
async fn only_listed_origins_may_use_the_server_and_read_what_they_need() {
    let server = server().await;
    let client = server.client("anna").await;
    for origin in [PAGE, "http://localhost:5173"] {
        let (usual, body) = modern(1, "tools/list", json!({}));
        let mut headers: Vec<_> = usual
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        headers.push(("origin", origin));
        let answer = client.post(&headers, body.to_string()).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("vary"), Some("origin"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let exposed = answer.header("access-control-expose-headers").unwrap();
        assert!(exposed.contains("mcp-session-id") && exposed.contains("www-authenticate"));
    }
    for origin in [
        "https://evil.example",
        "null",
        "file://",
        "chrome-extension://abcdef",
        "https://app.example:444",
        "https://app.example:443",
        "http://app.example",
        "https://app.example.evil.example",
        "https://APP.example",
        "https://app.example/",
        "http://localhost",
        "http://localhost:5174",
        "https://desk.example",
        "*",
    ] {
        let answer = client
            .send(Method::POST, "/mcp", &[("origin", origin)], "{}")
            .await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    // A client that is no page sends no origin, and hears nothing about them.
    assert_eq!(
        client
            .get("/healthz")
            .await
            .header("access-control-allow-origin"),
        None
    );
}

#[tokio::test]
async fn a_refused_page_can_read_why_it_has_to_sign_in() {
    let server = server().await;
    let answer = server
        .stranger()
        .send(Method::POST, "/mcp", &[("origin", PAGE)], "{}")
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE));
    assert!(
        answer
            .header("access-control-expose-headers")
            .unwrap()
            .contains("www-authenticate")
    );
}

#[tokio::test]
async fn preflights_allow_what_both_revisions_send_and_nothing_to_strangers() {
    let server = server().await;
    let stranger = server.stranger();
    for path in ["/mcp", "/mcp/"] {
        for method in ["POST", "GET", "DELETE"] {
            let headers = [
                ("origin", PAGE),
                ("access-control-request-method", method),
                (
                    "access-control-request-headers",
                    "authorization, mcp-protocol-version",
                ),
            ];
            let answer = stranger.send(Method::OPTIONS, path, &headers, "").await;
            assert_eq!(answer.status, StatusCode::NO_CONTENT, "{method} {path}");
            assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE));
            let allowed = answer.header("access-control-allow-headers").unwrap();
            for name in [
                "authorization",
                "content-type",
                "accept",
                "mcp-protocol-version",
                "mcp-session-id",
                "mcp-method",
                "mcp-name",
                "last-event-id",
            ] {
                assert!(allowed.split(", ").any(|word| word == name), "{name}");
            }
            let methods = answer.header("access-control-allow-methods").unwrap();
            assert!(methods.split(", ").any(|word| word == method), "{method}");
        }
    }
    let evil = [
        ("origin", "https://evil.example"),
        ("access-control-request-method", "POST"),
    ];
    let refused = stranger.send(Method::OPTIONS, "/mcp", &evil, "").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(refused.header("access-control-allow-headers"), None);
}

#[tokio::test]
async fn readiness_says_when_the_name_of_a_probe_would_be_turned_away() {
    let server = server().await;
    let stranger = server.stranger();
    let probe = |host: &'static str| {
        let stranger = stranger.clone();
        async move {
            let answer = stranger
                .send(Method::GET, "/readyz", &[("host", host)], "")
                .await;
            (answer.status, answer.message()["host_is_allowed"].clone())
        }
    };
    assert_eq!(probe("desk.example").await, (StatusCode::OK, json!(true)));
    assert_eq!(
        probe("pod-17.cluster").await,
        (StatusCode::OK, json!(false))
    );
}
