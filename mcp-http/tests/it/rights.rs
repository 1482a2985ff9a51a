//! Every cell of roles, tools and rights: who may call what, decided before the tool and again in it (promises Z-1, Z-5, Z-8).

use std::collections::BTreeSet;

use domain::{Role, Scope, ScopeSet};
use http::StatusCode;
use mcp_surface::{access_of, tool_specs};
use serde_json::{Value, json};

use crate::support::{Client, Plan, all_but, modern};

fn listed(answer: &Value) -> BTreeSet<String> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// What a caller may see and do, against the table.
async fn check(client: &Client, scopes: ScopeSet, who: &str) {
    let listing = client.ask("tools/list", json!({})).await.message();
    assert_eq!(listing["result"]["cacheScope"], "private", "{who}");
    let expected: BTreeSet<_> = tool_specs()
        .filter(|spec| scopes.contains(spec.policy.scope))
        .map(|spec| spec.name.to_owned())
        .collect();
    assert_eq!(listed(&listing), expected, "{who}");
    let session = client.open().await;
    let older = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(
        listed(&session.post(&older).await.message()),
        expected,
        "{who}"
    );
    for spec in tool_specs() {
        let needed = spec.policy.scope;
        let answers = [
            client.call(spec.name, json!({"nonsense": 1})).await,
            session.call(spec.name, json!({"nonsense": 1})).await,
        ];
        for answer in answers {
            let cell = format!("{who} {}", spec.name);
            if scopes.contains(needed) {
                assert_eq!(answer.status, StatusCode::OK, "{cell}");
                assert_eq!(answer.code(), "INVALID_ARGUMENT", "{cell}");
            } else {
                assert_eq!(answer.status, StatusCode::FORBIDDEN, "{cell}");
                let challenge = answer.header("www-authenticate").unwrap();
                let exact = format!(
                    "Bearer error=\"insufficient_scope\", scope=\"{needed}\", resource_metadata="
                );
                assert!(challenge.starts_with(&exact), "{cell}: {challenge}");
            }
        }
    }
}

#[tokio::test]
async fn each_role_sees_and_calls_exactly_its_tools() {
    let server = Plan::default()
        .set("reads_per_second", "100000")
        .set("writes_per_second", "100000")
        .start()
        .await;
    for role in Role::ALL {
        let client = server.client_with(role.as_str(), role.scopes()).await;
        check(&client, role.scopes(), role.as_str()).await;
    }
}

#[tokio::test]
async fn each_right_alone_and_each_missing_alone_opens_exactly_its_tools() {
    let server = Plan::default()
        .set("reads_per_second", "100000")
        .set("writes_per_second", "100000")
        .start()
        .await;
    for scope in Scope::ALL.iter().copied() {
        let alone = ScopeSet::NONE.with(scope);
        let client = server.client_with(&format!("only {scope}"), alone).await;
        check(&client, alone, &format!("only {scope}")).await;
        let rest = all_but(scope);
        let client = server.client_with(&format!("all but {scope}"), rest).await;
        check(&client, rest, &format!("all but {scope}")).await;
    }
}

#[tokio::test]
async fn resources_and_prompts_need_their_rights_too() {
    let server = Plan::default().start().await;
    let client = server
        .client_with("nobody", ScopeSet::NONE.with(Scope::AuditRead))
        .await;
    let requests = [
        (
            "resources/read",
            json!({"uri": "customer://profile/C-1"}),
            "desk:read",
        ),
        (
            "resources/read",
            json!({"uri": "ticket://details/T-1"}),
            "desk:read",
        ),
        (
            "resources/read",
            json!({"uri": "call://transcript/CALL-1"}),
            "transcripts:read",
        ),
        (
            "prompts/get",
            json!({"name": "daily-queue-review", "arguments": {}}),
            "desk:read",
        ),
        (
            "prompts/get",
            json!({"name": "triage-ticket", "arguments": {"ticket_id": "T-1"}}),
            "desk:read",
        ),
    ];
    for (method, params, needed) in requests {
        let answer = client.ask(method, params.clone()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {params}");
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .contains(&format!("scope=\"{needed}\""))
        );
    }
    for (method, key) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let answer = client.ask(method, json!({})).await.message();
        assert_eq!(answer["result"][key], json!([]), "{method}");
    }
}

#[tokio::test]
async fn a_name_in_its_base64_form_is_no_way_round_the_right() {
    let server = Plan::default().start().await;
    let client = server.client_with("viewer", Role::Viewer.scopes()).await;
    let (headers, body) = modern(
        1,
        "tools/call",
        json!({
            "name": "create_customer",
            "arguments": {"name": "Eve", "email": "eve@example.com"},
        }),
    );
    for name in [
        "=?base64?Y3JlYXRlX2N1c3RvbWVy?=",
        "=?BASE64?Y3JlYXRlX2N1c3RvbWVy?=",
        "get_ticket",
    ] {
        let mut sent: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        sent.retain(|(header, _)| *header != "mcp-name");
        sent.push(("mcp-name", name));
        let answer = client.post(&sent, body.to_string()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{name}");
    }
    let lead = server.client("lead").await;
    let mut sent: Vec<_> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    sent.retain(|(header, _)| *header != "mcp-name");
    sent.push(("mcp-name", "=?base64?Y3JlYXRlX2N1c3RvbWVy?="));
    assert_eq!(lead.post(&sent, body.to_string()).await.code(), "OK");
}

#[test]
fn every_tool_has_a_row_of_rights_and_unknown_names_have_none() {
    for spec in tool_specs() {
        let access = access_of("tools/call", spec.name).unwrap();
        assert_eq!(
            (access.scope, access.effect),
            (spec.policy.scope, spec.policy.effect)
        );
        assert_eq!(
            spec.hints.read_only,
            access.effect == mcp_surface::Effect::Read,
            "{}",
            spec.name
        );
    }
    for (method, name) in [
        ("tools/call", "drop_table"),
        ("tools/list", "get_ticket"),
        ("resources/read", "file:///etc/passwd"),
        ("", ""),
    ] {
        assert_eq!(access_of(method, name), None);
    }
}

#[tokio::test]
async fn a_change_that_is_refused_for_want_of_a_right_is_in_the_audit_log() {
    let server = Plan::default().start().await;
    let viewer = server.client_with("viewer", Role::Viewer.scopes()).await;
    viewer
        .call(
            "create_ticket",
            json!({"customer_id": "C-1", "subject": "s", "description": "d"}),
        )
        .await;
    viewer.call("list_audit_entries", json!({})).await;
    let auditor = server.client_with("auditor", Role::Auditor.scopes()).await;
    let log = auditor
        .call("list_audit_entries", json!({"outcome": "refused"}))
        .await
        .result();
    assert_eq!(log["total"], 1, "{log}");
    let text = log["entries"][0].to_string();
    for word in ["deskgate|viewer", "create_ticket", "FORBIDDEN"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[tokio::test]
async fn acts_over_http_are_those_of_the_verified_person() {
    let server = Plan::default().start().await;
    let customer = server.customer().await;
    let anna = server.client("anna").await;
    let arguments = json!({"customer_id": customer, "subject": "s", "description": "d"});
    let made = anna.call("create_ticket", arguments).await;
    let request = made.header("x-request-id").unwrap().replace('-', "");
    let ticket = made.result()["ticket_id"].clone();
    let log = anna
        .call("list_audit_entries", json!({"ticket_id": ticket}))
        .await
        .result();
    let entry = &log["entries"][0];
    let text = entry.to_string();
    assert!(text.contains("deskgate|anna"), "{text}");
    assert!(text.contains("verified"), "{text}");
    assert!(text.replace('-', "").contains(&request), "{text}");
}
