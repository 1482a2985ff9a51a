//! Who gets in, and what those hear who don't (field reports 40 and 46, promises N-1 and N-6).

use desk::ops::tokens::TokenRequest;
use desk::system::SystemIds;
use domain::{Role, Scope, ScopeSet};
use http::{Method, StatusCode};
use mcp_http::tokens::new_token;
use serde_json::json;

use crate::support::Plan;

#[tokio::test]
async fn without_a_token_every_route_but_health_metadata_and_preflight_is_401() {
    let server = Plan::default().start().await;
    let stranger = server.stranger();
    let methods = [
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::DELETE,
        Method::PATCH,
        Method::OPTIONS,
    ];
    for path in [
        "/mcp",
        "/mcp/",
        "/metrics",
        "/",
        "/mcp/x",
        "/admin",
        "/healthz/x",
        "/.well-known",
        "//mcp",
        "/MCP",
    ] {
        for method in &methods {
            let answer = stranger.send(method.clone(), path, &[], "").await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            let challenge = answer.header("www-authenticate").unwrap();
            let metadata = format!(
                "resource_metadata=\"http://{}/.well-known/oauth-protected-resource/mcp\"",
                server.address
            );
            assert_eq!(challenge, format!("Bearer scope=\"desk:read\", {metadata}"));
            assert!(answer.header("x-request-id").is_some());
        }
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(stranger.get(path).await.status, StatusCode::OK, "{path}");
    }
    // The token belongs into the header and nowhere else.
    let token = server.token("anna", Role::Lead).await;
    for path in [
        format!("/mcp?access_token={token}"),
        format!("/metrics?token={token}"),
    ] {
        assert_eq!(stranger.get(&path).await.status, StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn metadata_is_at_both_forms_of_its_address_and_names_the_configured_host_only() {
    let server = Plan::default()
        .set("public_url", "https://desk.example/support/mcp")
        .start()
        .await;
    let stranger = server.stranger();
    let paths = [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/support/mcp",
    ];
    let forwarded = [
        ("x-forwarded-host", "inner.evil.example"),
        ("x-forwarded-proto", "http"),
        ("forwarded", "host=inner.evil.example;proto=http"),
    ];
    for path in paths {
        for headers in [&[][..], &forwarded] {
            let answer = stranger.send(Method::GET, path, headers, "").await;
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            assert_eq!(
                answer.message(),
                json!({
                    "resource": "https://desk.example/support/mcp",
                    "resource_name": "Deskgate",
                    "scopes_supported": ["desk:read"],
                    "bearer_methods_supported": ["header"],
                })
            );
        }
    }
    let refused = stranger.send(Method::POST, "/mcp", &forwarded, "{}").await;
    assert!(refused.header("www-authenticate").unwrap().contains(
        "resource_metadata=\"https://desk.example/.well-known/oauth-protected-resource/support/mcp\""
    ));
}

#[tokio::test]
async fn a_refused_token_hears_that_it_is_invalid_and_not_why() {
    let server = Plan::default().start().await;
    let mut client = server.client("anna").await;
    assert_eq!(
        client.ask("tools/list", json!({})).await.status,
        StatusCode::OK
    );
    let good = client.token.clone().unwrap();
    let revoked = {
        let token = new_token(&SystemIds);
        let request = TokenRequest {
            subject: "ben".to_owned(),
            label: String::new(),
            scopes: ScopeSet::all(),
            days: 1,
        };
        let operator = server.operator();
        let made = server
            .desk
            .create_access_token(&operator, &request, token.digest())
            .await
            .unwrap();
        server
            .desk
            .revoke_access_token(&operator, made.id)
            .await
            .unwrap();
        token.reveal().to_owned()
    };
    let mut bodies = Vec::new();
    for bad in [
        revoked,
        good.replace("dgt_", "dgt-"),
        format!("dgt_{}", "0".repeat(64)),
        "a.b.c".to_owned(),
        "x".repeat(9000),
    ] {
        client.token = Some(bad);
        let answer = client.ask("tools/list", json!({})).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .starts_with("Bearer error=\"invalid_token\", ")
        );
        bodies.push(answer.text());
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}

#[tokio::test]
async fn a_revoked_token_ends_with_the_next_request() {
    let server = Plan::default().start().await;
    let client = server.client("anna").await;
    assert_eq!(
        client.ask("tools/list", json!({})).await.status,
        StatusCode::OK
    );
    let tokens = server.desk.list_access_tokens().await.unwrap();
    server
        .desk
        .revoke_access_token(&server.operator(), tokens[0].id)
        .await
        .unwrap();
    assert_eq!(
        client.ask("tools/list", json!({})).await.status,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn counters_need_their_own_right_and_name_nobody() {
    let server = Plan::default().start().await;
    let customer = server.customer().await;
    let person = server
        .client_with("anna.canary", Role::Security.scopes())
        .await;
    person
        .call("get_customer", json!({"customer_id": customer}))
        .await;
    person
        .call("get_customer", json!({"customer_id": "C-424242"}))
        .await;
    person.get("/secret-canary").await;
    let refused = person.get("/metrics").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(
        refused
            .header("www-authenticate")
            .unwrap()
            .contains("scope=\"metrics:read\"")
    );

    let scraper = server
        .client_with("prometheus", ScopeSet::NONE.with(Scope::MetricsRead))
        .await;
    let text = scraper.get("/metrics").await.text();
    for line in [
        "deskgate_calls_total{name=\"get_customer\",outcome=\"OK\"} 1",
        "deskgate_calls_total{name=\"get_customer\",outcome=\"NOT_FOUND\"} 1",
        "deskgate_http_refusals_total{reason=\"insufficient_scope\"} 1",
        "deskgate_http_requests_total{route=\"other\",method=\"GET\",status=\"404\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for word in ["canary", "424242", "grace", "deskgate|"] {
        assert!(!text.contains(word), "{word}\n{text}");
    }
}

#[tokio::test]
async fn counters_can_have_an_address_of_their_own_with_nothing_else_on_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    drop(taken);
    let server = Plan::default()
        .set("metrics_bind", &address.to_string())
        .start()
        .await;
    let mut stranger = server.stranger();
    stranger.address = address;
    assert_eq!(stranger.get("/metrics").await.status, StatusCode::OK);
    assert_eq!(stranger.get("/mcp").await.status, StatusCode::NOT_FOUND);
    assert_eq!(stranger.get("/healthz").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn readiness_names_the_classifier_and_spent_tokens_and_the_queue_are_counted() {
    let server = Plan::default().start().await;
    let ready = server.stranger().get("/readyz").await.message();
    assert_eq!(ready["checks"]["classifier"], "local");
    let customer = server.customer().await;
    let person = server.client("anna").await;
    let filed = person
        .call(
            "create_ticket",
            json!({"customer_id": customer, "subject": "s", "description": "d"}),
        )
        .await;
    let ticket = filed.result()["ticket_id"].clone();
    let change = json!({"ticket_id": ticket, "priority": "low"});
    let preview = person.call("update_ticket", change.clone()).await;
    assert_eq!(preview.code(), "CONFIRMATION_REQUIRED");
    let mut confirmed = change;
    confirmed["confirmation_token"] = preview.result()["confirmation_token"].clone();
    // The second answer is the stored one, and spends nothing.
    for _ in 0..2 {
        let answer = person.call("update_ticket", confirmed.clone()).await;
        assert_eq!(answer.code(), "OK", "{}", answer.text());
    }
    let text = person.get("/metrics").await.text();
    for line in [
        "deskgate_confirmation_tokens_spent_total{name=\"update_ticket\",method=\"token_only\"} 1",
        "deskgate_write_queue_depth 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
}
