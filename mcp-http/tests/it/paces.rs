//! How fast one may go, and that others don't feel it (promise D-8).

use domain::{Role, ScopeSet};
use futures::future::join_all;
use http::StatusCode;
use serde_json::json;

use crate::support::{Answer, Plan};

#[tokio::test]
async fn a_tool_that_is_called_too_often_says_how_long_to_wait() {
    let server = Plan::default().set("writes_per_second", "1").start().await;
    let customer = server.customer().await;
    let anna = server.client("anna").await;
    let session = anna.open().await;
    let arguments = json!({"customer_id": customer, "subject": "s", "description": "d"});
    // Many at once, so that no pause between two calls refills the allowance.
    let modern = join_all((0..10).map(|_| anna.call("create_ticket", arguments.clone()))).await;
    let older = join_all((0..10).map(|_| session.call("create_ticket", arguments.clone()))).await;
    let made = modern
        .iter()
        .chain(&older)
        .filter(|answer| answer.code() == "OK");
    let made = made.count();
    assert!(made >= 2, "{made}");
    let refused = |answers: Vec<Answer>| {
        let mut refused = answers.into_iter().filter(|answer| answer.code() != "OK");
        refused.next().unwrap()
    };
    let answers = [refused(modern), refused(older)];
    for (answer, is_modern) in answers.iter().zip([true, false]) {
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.code(), "RATE_LIMITED");
        assert_eq!(answer.header("retry-after"), Some("1"));
        let message = answer.message();
        assert_eq!(message["id"], 1);
        let result = &message["result"];
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["error"]["retry"], "later");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("wait 1 s"), "{text}");
        assert_eq!(result.get("resultType").is_some(), is_modern, "{result}");
    }
    // Reads of the same person and writes of another go on.
    assert_eq!(
        anna.call("get_customer", json!({"customer_id": customer}))
            .await
            .code(),
        "OK"
    );
    let ben = server.client("ben").await;
    assert_eq!(ben.call("create_ticket", arguments).await.code(), "OK");
    let tickets = anna.call("list_tickets", json!({})).await.result();
    assert_eq!(tickets["total"], made + 1);
}

#[tokio::test]
async fn contacts_in_clear_have_an_allowance_of_their_own() {
    let server = Plan::default()
        .set("contacts_per_second", "1")
        .start()
        .await;
    let customer = server.customer().await;
    let lead = server.client_with("lead", Role::Lead.scopes()).await;
    let agent = server.client_with("agent", Role::Agent.scopes()).await;
    let arguments = json!({"customer_id": customer});
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(lead.call("get_customer", arguments.clone()).await.code());
        // Masked contacts are no contacts.
        assert_eq!(
            agent.call("get_customer", arguments.clone()).await.code(),
            "OK"
        );
    }
    assert_eq!(codes[..2], ["OK", "OK"]);
    assert!(codes[2..].contains(&"RATE_LIMITED".to_owned()), "{codes:?}");
    assert_eq!(lead.call("list_tickets", json!({})).await.code(), "OK");
}

#[tokio::test]
async fn other_requests_that_come_too_fast_get_429() {
    let server = Plan::default().set("reads_per_second", "1").start().await;
    let anna = server.client_with("anna", ScopeSet::all()).await;
    let mut refused = None;
    for _ in 0..6 {
        let answer = anna.ask("tools/list", json!({})).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(answer);
        }
    }
    let refused = refused.unwrap();
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.message()["retry_after_seconds"], 1);
}

#[tokio::test]
async fn refused_tokens_of_one_address_slow_down_and_a_valid_one_still_enters() {
    let server = Plan::default().start().await;
    let good = server.client("anna").await;
    let mut bad = good.clone();
    bad.token = Some(format!("dgt_{}", "0".repeat(64)));
    let mut statuses = Vec::new();
    for _ in 0..25 {
        let answer = bad.ask("tools/list", json!({})).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            assert!(answer.header("retry-after").is_some());
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses[..20], [StatusCode::UNAUTHORIZED; 20]);
    assert_eq!(statuses[24], StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        good.ask("tools/list", json!({})).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_forwarded_address_counts_only_from_a_trusted_proxy() {
    let spoofing = async |server: &crate::support::Running| {
        let mut stranger = server.stranger();
        stranger.token = Some("nonsense".to_owned());
        let mut refused = 0;
        for n in 0..25 {
            let from = format!("198.51.100.{n}");
            let answer = stranger.post(&[("x-forwarded-for", &from)], "{}").await;
            refused += usize::from(answer.status == StatusCode::TOO_MANY_REQUESTS);
        }
        refused
    };
    let alone = Plan::default().start().await;
    assert!(spoofing(&alone).await > 0);
    let behind = Plan::default()
        .set("trusted_proxies", "127.0.0.0/8")
        .start()
        .await;
    assert_eq!(spoofing(&behind).await, 0);
}
