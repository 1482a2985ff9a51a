//! Sessions of the older revision: whose they are, how many, and what is left after a restart (promises T-3, D-4).

use std::collections::HashSet;

use http::{Method, StatusCode};
use serde_json::json;

use crate::support::{Plan, Session, is_full};

#[tokio::test]
async fn a_session_serves_its_owner_and_is_unknown_to_everybody_else() {
    let server = Plan::default().start().await;
    let customer = server.customer().await;
    let anna = server.client("anna").await;
    let session = anna.open().await;
    let read = session
        .call("get_customer", json!({"customer_id": customer}))
        .await;
    assert_eq!(read.code(), "OK");

    let thief = Session {
        client: server.client("mallory").await,
        id: session.id.clone(),
    };
    let unknown = Session {
        client: thief.client.clone(),
        id: "00000000-0000-4000-8000-000000000000".to_owned(),
    };
    for method in [Method::GET, Method::DELETE] {
        let (stolen, guessed) = (thief.send(method.clone()).await, unknown.send(method).await);
        assert_eq!(stolen.status, StatusCode::NOT_FOUND);
        assert_eq!(
            (stolen.status, &stolen.body),
            (guessed.status, &guessed.body)
        );
    }
    let stolen = thief
        .call("get_customer", json!({"customer_id": customer}))
        .await;
    assert_eq!(stolen.status, StatusCode::NOT_FOUND);
    let again = session
        .call("get_customer", json!({"customer_id": customer}))
        .await;
    assert_eq!(
        again.code(),
        "OK",
        "the owner's session has to survive that"
    );

    // The same person with another token, as after its renewal.
    let renewed = Session {
        client: server.client("anna").await,
        id: session.id.clone(),
    };
    assert_eq!(
        renewed
            .call("get_customer", json!({"customer_id": customer}))
            .await
            .code(),
        "OK"
    );
    assert_eq!(
        renewed.send(Method::DELETE).await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        session.send(Method::GET).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_request_that_names_two_sessions_has_none() {
    let server = Plan::default().start().await;
    let anna = server.client("anna").await;
    let (one, two) = (anna.open().await, anna.open().await);
    let headers = [
        ("mcp-session-id", one.id.as_str()),
        ("mcp-session-id", two.id.as_str()),
    ];
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(
        anna.post(&headers, ping).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn initializes_without_end_stay_within_the_caps() {
    let server = Plan::default()
        .set("sessions", "40")
        .set("sessions_each", "8")
        .set("reads_per_second", "1000000")
        .start()
        .await;
    let flood = server.client("flood").await;
    let first = flood.open().await;
    let count = if is_full() { 50_000 } else { 400 };
    for _ in 0..count {
        assert_eq!(flood.try_open().await.status, StatusCode::OK);
    }
    let gauge = sessions(&server).await;
    assert!(gauge <= 8, "{gauge} sessions");
    assert_eq!(first.send(Method::GET).await.status, StatusCode::NOT_FOUND);
    // Others are not affected, up to the common cap.
    let mut statuses = HashSet::new();
    for n in 0..8 {
        let other = server.client(&format!("other-{n}")).await;
        for _ in 0..8 {
            statuses.insert(other.try_open().await.status);
        }
    }
    assert!(statuses.contains(&StatusCode::OK));
    assert!(statuses.contains(&StatusCode::SERVICE_UNAVAILABLE));
    assert!(sessions(&server).await <= 40);
}

async fn sessions(server: &crate::support::Running) -> u64 {
    let text = server.client("counter").await.get("/metrics").await.text();
    let line = text
        .lines()
        .find(|line| line.starts_with("deskgate_sessions "))
        .unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn after_a_restart_an_old_session_is_404_and_everything_else_works() {
    let server = Plan::default().start().await;
    let customer = server.customer().await;
    let anna = server.client("anna").await;
    let old = anna.open().await;
    let folder = server.stop().await;

    let server = Plan::default().start_in(folder).await;
    let mut anna = anna;
    anna.address = server.address;
    let old = Session {
        client: anna.clone(),
        ..old
    };
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(old.send(method).await.status, StatusCode::NOT_FOUND);
    }
    let call = old
        .call("get_customer", json!({"customer_id": customer}))
        .await;
    assert_eq!(call.status, StatusCode::NOT_FOUND);
    let new = anna.open().await;
    assert_eq!(
        new.call("get_customer", json!({"customer_id": customer}))
            .await
            .code(),
        "OK"
    );
    assert_eq!(
        anna.call("get_customer", json!({"customer_id": customer}))
            .await
            .code(),
        "OK"
    );
}

#[tokio::test]
async fn both_revisions_are_served_side_by_side_and_answers_never_cross() {
    let server = Plan::default().start().await;
    let mut customers = Vec::new();
    for _ in 0..8 {
        customers.push(server.customer().await);
    }
    let clients = (0..32).map(|n| {
        let server = &server;
        let customer = customers[n % customers.len()].clone();
        async move {
            let client = server.client(&format!("client-{n}")).await;
            let session = client.open().await;
            for _ in 0..5 {
                // Every request of everybody has the id 1.
                let arguments = json!({"customer_id": customer});
                let answers = [
                    client.call("get_customer", arguments.clone()).await,
                    session.call("get_customer", arguments).await,
                ];
                for answer in answers {
                    assert_eq!(answer.message()["id"], 1);
                    assert_eq!(answer.result()["customer_id"], json!(customer));
                }
            }
        }
    });
    futures::future::join_all(clients).await;
}
