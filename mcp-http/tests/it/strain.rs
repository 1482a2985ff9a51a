//! Clients that are slow, large, many or silent: each is bounded, and others go on (promises D-1 to D-3).

use std::time::Duration;

use http::StatusCode;
use mcp_http::transport::listen::Bounds;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::support::{Plan, Running, soon};

const SHORT: Duration = Duration::from_millis(300);

fn hasty() -> Bounds {
    Bounds {
        first_byte: SHORT,
        head: SHORT,
        write: SHORT,
        ..Bounds::default()
    }
}

/// Writes something and then nothing; true if the server ends the connection.
async fn is_ended(server: &Running, text: &str) -> bool {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    // A reset is an end too.
    drop(soon(stream.read_to_end(&mut rest)).await);
    rest.is_empty() || rest.starts_with(b"HTTP/1.1 408") || rest.starts_with(b"HTTP/1.1 400")
}

#[tokio::test]
async fn silence_and_unfinished_heads_are_ended() {
    let server = Plan::default().bounds(hasty()).start().await;
    for text in [
        "",
        "P",
        "POST /mcp HTTP/1.1\r\n",
        "POST /mcp HTTP/1.1\r\nHost: x\r\nX-A: ",
    ] {
        assert!(is_ended(&server, text).await, "{text:?}");
    }
}

#[tokio::test]
async fn an_idle_connection_is_ended_after_its_request() {
    let server = Plan::default().bounds(hasty()).start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    soon(stream.read_to_end(&mut rest)).await.unwrap();
    assert!(rest.starts_with(b"HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_ended() {
    let server = Plan::default().bounds(hasty()).start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    // Thousands of pipelined requests whose answers nobody takes fill both buffers; then the server can write no more.
    let flood = request.repeat(200);
    let sent = soon(async {
        loop {
            if stream.write_all(flood.as_bytes()).await.is_err() {
                return;
            }
        }
    });
    sent.await;
}

#[tokio::test]
async fn a_body_is_bounded_whether_it_is_announced_or_not() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    let large = vec![b' '; 10 * 1024 * 1024];
    let answer = client.post(&[], large[..=1024 * 1024].to_vec()).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    let token = client.token.clone().unwrap();
    for framing in [
        "Content-Length: 10485760\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\na00000\r\n",
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{framing}",
            server.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reading, mut writing) = stream.into_split();
        // The server may hang up in the middle.
        let body = large.clone();
        let writer = tokio::spawn(async move { writing.write_all(&body).await });
        let mut answer = [0; 13];
        soon(reading.read_exact(&mut answer)).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413 ");
        writer.abort();
        let started = Instant::now();
        assert_eq!(
            client.ask("tools/list", json!({})).await.status,
            StatusCode::OK
        );
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test]
async fn wide_and_deep_json_is_answered_quickly() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    let wide = {
        let members: Vec<_> = (0..60_000).map(|n| format!("\"k{n}\":{n}")).collect();
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{{}}}}}",
            members.join(",")
        )
    };
    let list = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":[{}1]}}}}",
        "1,".repeat(400_000)
    );
    let number = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}}",
        "9".repeat(900_000)
    );
    for body in [wide, list, number] {
        let started = Instant::now();
        let answer = client.post(&[], body).await;
        assert!(answer.status.is_client_error(), "{}", answer.status);
        // Debug builds on a loaded machine; in a release build it is some milliseconds.
        assert!(
            started.elapsed() < Duration::from_secs(3),
            "{:?}",
            started.elapsed()
        );
    }
    assert_eq!(
        client.ask("tools/list", json!({})).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_thousand_idle_connections_cost_others_little_and_end() {
    let count = 1_000;
    let server = Plan::default()
        .bounds(Bounds {
            first_byte: Duration::from_secs(3),
            ..Bounds::default()
        })
        .start()
        .await;
    let client = server.client("anna").await;
    let p99 = async || {
        let mut times = Vec::new();
        for _ in 0..60 {
            let started = Instant::now();
            assert_eq!(
                client.ask("tools/list", json!({})).await.status,
                StatusCode::OK
            );
            times.push(started.elapsed());
        }
        times.sort();
        times[times.len() - 1]
    };
    let alone = p99().await;
    let mut idle = Vec::new();
    for _ in 0..count {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    let beside = p99().await;
    // The floor keeps the scheduler of a loaded machine from deciding the test.
    let bar = (alone * 2).max(Duration::from_millis(250));
    assert!(
        beside <= bar,
        "{alone:?} alone, {beside:?} beside {count} idle connections"
    );
    for mut stream in idle {
        let read = soon(stream.read(&mut [0])).await;
        assert!(matches!(read, Ok(0) | Err(_)));
    }
}

#[tokio::test]
async fn connections_beyond_the_cap_are_closed_and_places_come_back() {
    let server = Plan::default()
        .bounds(Bounds {
            connections: 20,
            connections_each: 10,
            ..Bounds::default()
        })
        .start()
        .await;
    let mut held = Vec::new();
    for _ in 0..10 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(b"G").await.unwrap();
        held.push(stream);
    }
    let mut refused = TcpStream::connect(server.address).await.unwrap();
    let read = soon(refused.read(&mut [0])).await;
    assert!(matches!(read, Ok(0) | Err(_)));
    drop(held);
    soon(async {
        loop {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            let request = format!(
                "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                server.address
            );
            if stream.write_all(request.as_bytes()).await.is_err() {
                continue;
            }
            let mut answer = Vec::new();
            if stream.read_to_end(&mut answer).await.is_ok() && answer.starts_with(b"HTTP/1.1 200 ")
            {
                break;
            }
        }
    })
    .await;
}
