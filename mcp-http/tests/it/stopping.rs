//! Told to stop under load: no acknowledged write is lost and no answer is cut (promise R-1, the stopping half).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::support::{Plan, modern, soon};

/// Calls until the server takes no more; the tickets that were acknowledged.
pub(crate) async fn write_until_stopped(
    address: std::net::SocketAddr,
    token: String,
    customer: String,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    loop {
        let Ok(mut stream) = TcpStream::connect(address).await else {
            return acknowledged;
        };
        let (headers, body) = modern(
            1,
            "tools/call",
            json!({
                "name": "create_ticket",
                "arguments": {"customer_id": customer, "subject": "s", "description": "d"},
            }),
        );
        let body = body.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.extend([name, ": ", &value, "\r\n"]);
        }
        head.push_str("\r\n");
        head.push_str(&body);
        if stream.write_all(head.as_bytes()).await.is_err() {
            return acknowledged;
        }
        let mut answer = Vec::new();
        if stream.read_to_end(&mut answer).await.is_err() || answer.is_empty() {
            return acknowledged;
        }
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        // A cut answer would be no JSON.
        let message: serde_json::Value = serde_json::from_str(body).unwrap();
        let result = &message["result"]["structuredContent"];
        match result["ticket_id"].as_str() {
            Some(id) => acknowledged.push(id.to_owned()),
            None => assert_eq!(result["error"]["code"], "RATE_LIMITED", "{message}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_write_is_lost_and_no_answer_is_cut() {
    let server = Plan::default()
        .set("writes_per_second", "100000")
        .set("grace_seconds", "10")
        .start()
        .await;
    let customer = server.customer().await;
    let mut writers = Vec::new();
    for n in 0..8 {
        let token = server.client(&format!("writer-{n}")).await.token.unwrap();
        writers.push(tokio::spawn(write_until_stopped(
            server.address,
            token,
            customer.clone(),
        )));
    }
    let reader = server.client("reader").await;
    let total = async |reader: &crate::support::Client| {
        reader.call("list_tickets", json!({})).await.result()["total"]
            .as_u64()
            .unwrap()
    };
    soon(async { while total(&reader).await < 40 {} }).await;
    let started = Instant::now();
    let folder = soon(server.stop()).await;
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(soon(writer).await.unwrap());
    }
    assert!(acknowledged.len() >= 40);

    let server = Plan::default().start_in(folder).await;
    let reader = server.client("reader").await;
    for id in &acknowledged {
        let read = reader.call("get_ticket", json!({"ticket_id": id})).await;
        assert_eq!(read.code(), "OK", "{id} was acknowledged");
    }
}

#[tokio::test]
async fn while_it_drains_it_is_not_ready_and_streams_that_wait_end() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    let session = client.open().await;
    let token = client.token.clone().unwrap();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nMcp-Session-Id: {}\r\nConnection: close\r\n\
         Accept: text/event-stream\r\n\r\n",
        server.address, session.id
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    soon(stream.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");

    // A connection from before the signal, on which the probe can still ask.
    let mut probe = TcpStream::connect(server.address).await.unwrap();
    let ask = format!("GET /readyz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    probe.write_all(ask.as_bytes()).await.unwrap();
    soon(probe.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");

    server.shutdown.begin();
    let mut rest = Vec::new();
    soon(stream.read_to_end(&mut rest)).await.unwrap();
    assert!(
        rest.ends_with(b"0\r\n\r\n"),
        "the stream is ended and not cut"
    );
    soon(server.ended).await.unwrap().unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_client_that_never_finishes_is_cut_after_the_grace() {
    let server = Plan::default().set("grace_seconds", "1").start().await;
    let client = server.client("anna").await;
    let token = client.token.clone().unwrap();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Length: 100\r\n\r\n{{",
        server.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(client.get("/healthz").await.status, StatusCode::OK);
    let started = Instant::now();
    server.shutdown.begin();
    soon(server.ended).await.unwrap().unwrap();
    let took = started.elapsed();
    assert!(
        took >= Duration::from_secs(1) && took < Duration::from_secs(4),
        "{took:?}"
    );
}

/// Sixty-four clients, four reads to one write: nothing but answers and documented refusals. Five minutes with `DESKGATE_FULL=1`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_clients_get_answers_and_documented_refusals_only() {
    let server = Plan::default().start().await;
    let customer = server.customer().await;
    let length = if crate::support::is_full() {
        Duration::from_mins(5)
    } else {
        Duration::from_secs(3)
    };
    let is_over = Arc::new(AtomicBool::new(false));
    let (calls, limited) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut clients = Vec::new();
    for n in 0..64 {
        let client = server.client(&format!("client-{n}")).await;
        let (is_over, calls, limited) = (
            Arc::clone(&is_over),
            Arc::clone(&calls),
            Arc::clone(&limited),
        );
        let customer = customer.clone();
        clients.push(tokio::spawn(async move {
            let mut turn = n;
            while !is_over.load(Ordering::Relaxed) {
                turn += 1;
                let answer = if turn % 5 == 0 {
                    let arguments =
                        json!({"customer_id": customer, "subject": "s", "description": "d"});
                    client.call("create_ticket", arguments).await
                } else {
                    client.call("list_tickets", json!({"limit": 5})).await
                };
                assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
                match answer.code().as_str() {
                    "OK" => calls.fetch_add(1, Ordering::Relaxed),
                    "RATE_LIMITED" => limited.fetch_add(1, Ordering::Relaxed),
                    other => panic!("{other}: {}", answer.text()),
                };
            }
        }));
    }
    let over = Arc::clone(&is_over);
    tokio::spawn(async move {
        tokio::time::sleep(length).await;
        over.store(true, Ordering::Relaxed);
    });
    for client in clients {
        client.await.unwrap();
    }
    assert!(calls.load(Ordering::Relaxed) > 100);
    println!(
        "{} calls, {} refused for their pace",
        calls.load(Ordering::Relaxed),
        limited.load(Ordering::Relaxed)
    );
}
