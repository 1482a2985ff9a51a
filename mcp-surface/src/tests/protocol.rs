//! Both revisions of the protocol, cancelled calls, and what is logged.

use std::time::Duration;

use domain::ScopeSet;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientRequest,
    GetPromptRequestParams, Implementation, ProtocolVersion, ReadResourceRequestParams,
    RequestMetaObject,
};
use rmcp::service::{ClientLifecycleMode, PeerRequestOptions};
use serde_json::json;

use super::containment::{HANGS, PANICS, with};
use super::log;
use super::support::{Bench, connect, protocol_error};
use crate::Settings;

fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

#[tokio::test]
async fn both_revisions_get_the_same_lists_and_results() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    bench.ticket(&customer, "One").await;
    let modern = connect(&bench.surface, newest()).await;
    let legacy = &bench.client;
    assert_eq!(
        modern.list_tools(None).await.unwrap().tools,
        legacy.list_tools(None).await.unwrap().tools
    );
    assert_eq!(
        modern.list_prompts(None).await.unwrap().prompts,
        legacy.list_prompts(None).await.unwrap().prompts
    );
    let call = || {
        let arguments = json!({"ticket_id": 1}).as_object().cloned().unwrap();
        CallToolRequestParams::new("get_ticket").with_arguments(arguments)
    };
    let result = modern.call_tool(call()).await.unwrap();
    assert_eq!(
        result.structured_content,
        legacy.call_tool(call()).await.unwrap().structured_content
    );
    let request = || ReadResourceRequestParams::new("ticket://details/T-99");
    assert_eq!(
        protocol_error(modern.read_resource(request()).await).code.0,
        -32602
    );
    assert_eq!(
        protocol_error(legacy.read_resource(request()).await).code.0,
        -32002
    );
    let prompt = GetPromptRequestParams::new("daily-queue-review");
    assert_eq!(modern.get_prompt(prompt).await.unwrap().messages.len(), 1);
}

#[tokio::test]
async fn discovery_may_be_kept_for_a_while() {
    let bench = Bench::new().await;
    let mut meta = RequestMetaObject::new();
    meta.set_protocol_version(ProtocolVersion::V_2026_07_28);
    meta.set_client_info(Implementation::new("test", "1"));
    meta.set_client_capabilities(ClientCapabilities::default());
    let found = bench.client.discover(meta).await.unwrap();
    assert_eq!(found.ttl_ms, 300_000);
    assert_eq!(found.cache_scope, rmcp::model::CacheScope::Private);
    assert_eq!(found.server_info().unwrap().name, "deskgate");
    assert!(found.instructions.is_some());
}

#[tokio::test]
async fn a_cancelled_call_gives_its_permit_back_at_once() {
    let settings = Settings {
        timeout: Duration::from_mins(10),
        concurrency: 1,
        ..Settings::default()
    };
    let bench = Bench::with_tools(settings, ScopeSet::all(), with(&HANGS)).await;
    let request = CallToolRequest::new(CallToolRequestParams::new("hang_forever"));
    let request = ClientRequest::CallToolRequest(request);
    let options = PeerRequestOptions::no_options();
    let held = bench
        .client
        .send_cancellable_request(request, options)
        .await
        .unwrap();
    held.cancel(None).await.unwrap();
    bench.ok("list_tickets", json!({})).await;
}

#[tokio::test]
async fn the_log_says_who_called_what_and_never_what_was_in_it() {
    let bench = Bench::with_tools(Settings::default(), ScopeSet::all(), with(&PANICS)).await;
    let customer = json!({"name": "CANARY", "email": "canary@x.example", "organisation": "CANARY"});
    bench.ok("create_customer", customer).await;
    let ticket =
        json!({"customer_id": 1, "subject": "CANARY", "description": "CANARY", "team": "CANARY"});
    bench.ok("create_ticket", ticket).await;
    bench
        .ok("add_comment", json!({"ticket_id": 1, "body": "CANARY"}))
        .await;
    bench.ok("search_tickets", json!({"query": "CANARY"})).await;
    bench
        .error("list_tickets", json!({"status": "CANARY"}))
        .await;
    bench.error("list_tickets", json!({"CANARY": 1})).await;
    bench.error("panic_now", json!({})).await;
    let uri = ReadResourceRequestParams::new("ticket://details/CANARY");
    protocol_error(bench.client.read_resource(uri).await);
    let log = log::of_this_thread();
    assert!(!log.to_lowercase().contains("canary"), "{log}");
    for (tool, outcome) in [
        ("create_customer", "OK"),
        ("create_ticket", "OK"),
        ("list_tickets", "INVALID_ARGUMENT"),
        ("panic_now", "INTERNAL"),
        ("resources/read", "INVALID_ARGUMENT"),
    ] {
        let line = log.lines().find(|line| {
            line.contains(&format!("tool.name=\"{tool}\""))
                && line.contains(&format!("outcome=\"{outcome}\""))
        });
        let line = line.unwrap_or_else(|| panic!("no line for {tool} {outcome}: {log}"));
        for field in ["actor.id=\"local:ann\"", "request.id=", "duration_ms="] {
            assert!(line.contains(field), "{line}");
        }
    }
}
