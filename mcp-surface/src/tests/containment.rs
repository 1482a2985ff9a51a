//! The choke point, with tools that misbehave on purpose.

use std::time::Duration;

use domain::{Role, Scope, ScopeSet};
use rmcp::model::{CallToolRequestParams, ErrorCode, PaginatedRequestParams};
use serde_json::json;

use super::support::{Bench, each, outside_markers, protocol_error};
use crate::spec::{Hints, Policy, ToolSpec};
use crate::{Effect, Settings, Toolset, tool_specs};

pub(super) static PANICS: ToolSpec = ToolSpec {
    name: "panic_now",
    title: "Panics",
    toolset: Toolset::Tickets,
    description: "Panics.",
    policy: Policy::read(Scope::DeskRead),
    hints: Hints::READS,
    operations: &[],
    args: &[],
    output: &[],
    run: |_call| Box::pin(async { panic!("on purpose") }),
};

pub(super) static HANGS: ToolSpec = ToolSpec {
    name: "hang_forever",
    title: "Hangs",
    toolset: Toolset::Tickets,
    description: "Never answers.",
    policy: Policy::read(Scope::DeskRead),
    hints: Hints::READS,
    operations: &[],
    args: &[],
    output: &[],
    run: |_call| Box::pin(std::future::pending()),
};

pub(super) fn with(extra: &'static ToolSpec) -> Vec<&'static ToolSpec> {
    tool_specs().chain([extra]).collect()
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_server_lives() {
    let bench = Bench::with_tools(Settings::default(), ScopeSet::all(), with(&PANICS)).await;
    for _ in 0..3 {
        let error = bench.error("panic_now", json!({})).await;
        assert_eq!(error["code"], "INTERNAL");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(
            "something failed inside the server; the log has the cause under request `"
        ));
        assert!(!message.contains("on purpose"));
    }
    bench.ok("list_tickets", json!({})).await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_a_timeout_and_gives_its_permit_back() {
    let settings = Settings {
        timeout: Duration::from_millis(20),
        concurrency: 1,
        ..Settings::default()
    };
    let bench = Bench::with_tools(settings, ScopeSet::all(), with(&HANGS)).await;
    for _ in 0..3 {
        let error = bench.error("hang_forever", json!({})).await;
        assert_eq!(error["code"], "TIMEOUT");
    }
}

#[tokio::test]
async fn a_call_that_finds_no_permit_is_refused_and_others_go_on_later() {
    let settings = Settings {
        timeout: Duration::from_secs(2),
        concurrency: 1,
        ..Settings::default()
    };
    let bench = Bench::with_tools(settings, ScopeSet::all(), with(&HANGS)).await;
    let held = bench.error("hang_forever", json!({}));
    let refused = bench.error("list_tickets", json!({}));
    let (held, refused) = tokio::join!(held, refused);
    assert_eq!(held["code"], "TIMEOUT");
    assert_eq!(refused["code"], "RATE_LIMITED");
    bench.ok("list_tickets", json!({})).await;
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error() {
    let bench = Bench::new().await;
    for name in ["nonsense", "get_ticket ", "GET_TICKET", "", "drop_ticket"] {
        let request = CallToolRequestParams::new(name);
        let error = protocol_error(bench.client.call_tool(request).await);
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{name}");
        assert!(error.message.starts_with("there is no tool `"), "{error:?}");
    }
}

#[tokio::test]
async fn read_only_hides_and_refuses_every_tool_that_writes() {
    let settings = Settings {
        read_only: true,
        ..Settings::default()
    };
    let bench = Bench::with(settings, ScopeSet::all()).await;
    let listed = bench.client.list_tools(None).await.unwrap().tools;
    let listed: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
    for spec in tool_specs() {
        let writes = spec.policy.effect == Effect::Write;
        assert_eq!(listed.contains(&spec.name), !writes, "{}", spec.name);
        if writes {
            let error = bench.error(spec.name, json!({})).await;
            assert_eq!(error["code"], "FORBIDDEN", "{}", spec.name);
            assert_eq!(
                error["message"],
                "this server is started read-only, and this tool writes"
            );
            let noted = bench.ok("list_audit_entries", json!({"limit": 1})).await;
            let entry = &noted["entries"][0];
            assert_eq!(entry["action"], spec.name);
            assert_eq!(
                (&entry["outcome"], &entry["code"]),
                (&json!("refused"), &json!("FORBIDDEN"))
            );
        }
    }
}

#[tokio::test]
async fn a_toolset_that_is_off_has_no_tools_resources_or_prompts() {
    let settings = Settings {
        toolsets: vec![Toolset::Knowledge],
        ..Settings::default()
    };
    let bench = Bench::with(settings, ScopeSet::all()).await;
    let tools = bench.client.list_tools(None).await.unwrap().tools;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["get_knowledge_articles", "search_kb"]);
    let error = protocol_error(
        bench
            .client
            .call_tool(CallToolRequestParams::new("get_ticket"))
            .await,
    );
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    let templates = bench.client.list_resource_templates(None).await.unwrap();
    let names: Vec<&str> = templates
        .resource_templates
        .iter()
        .map(|row| &*row.name)
        .collect();
    assert_eq!(names, ["knowledge-articles"]);
    assert!(
        bench
            .client
            .list_prompts(None)
            .await
            .unwrap()
            .prompts
            .is_empty()
    );
    for (given, known) in [
        ("Tickets", true),
        (" audit ", true),
        ("ticket", false),
        ("", false),
        ("all", false),
    ] {
        assert_eq!(Toolset::parse(given).is_ok(), known, "{given}");
    }
    let error = Toolset::parse("tikets").unwrap_err().to_string();
    assert_eq!(
        error,
        "`tikets` is not one of: customers, tickets, knowledge, replies, calls, review, audit"
    );
}

#[tokio::test]
async fn each_role_sees_and_calls_exactly_what_its_rights_allow() {
    for role in Role::ALL {
        let scopes = role.scopes();
        let bench = Bench::with(Settings::default(), scopes).await;
        let listed = bench.client.list_tools(None).await.unwrap().tools;
        let listed: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
        for spec in tool_specs() {
            let may = scopes.contains(spec.policy.scope);
            assert_eq!(listed.contains(&spec.name), may, "{role} {}", spec.name);
            if !may {
                let error = bench.error(spec.name, json!({})).await;
                assert_eq!(error["code"], "FORBIDDEN", "{role} {}", spec.name);
                let right = format!("`{}`", spec.policy.scope);
                assert!(
                    error["message"].as_str().unwrap().contains(&right),
                    "{role}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn staff_knowledge_needs_its_own_right() {
    let viewer = Bench::with(Settings::default(), Role::Viewer.scopes()).await;
    let agent = Bench::with(Settings::default(), Role::Agent.scopes()).await;
    for (bench, ids) in [(viewer, vec!["KB-002"]), (agent, vec!["KB-001", "KB-002"])] {
        use domain::Audience::{Customer, Staff};
        bench
            .import(vec![
                storage::import::ImportRecord::Article(super::support::article(
                    1,
                    "email",
                    &[(Staff, "Vault password rota.")],
                )),
                storage::import::ImportRecord::Article(super::support::article(
                    2,
                    "email",
                    &[
                        (Customer, "Reset your password."),
                        (Staff, "Vault password rota."),
                    ],
                )),
            ])
            .await;
        let may = ids.len() == 2;
        for (tool, call) in [
            ("get_knowledge_articles", json!({"category": "email"})),
            ("get_knowledge_articles", json!({})),
            ("search_kb", json!({"query": "password"})),
        ] {
            let found = bench.ok(tool, call.clone()).await;
            let mut found_ids = each(&found["articles"], "article_id");
            found_ids.sort();
            assert_eq!(found_ids, ids, "{tool} {call}");
            let text = found.to_string();
            assert!(may || !text.contains("Vault"), "{text}");
        }
        let direct = bench
            .call("get_knowledge_articles", json!({"article_id": 1}))
            .await;
        assert_eq!(direct.is_error, Some(!may));
    }
}

#[tokio::test]
async fn listings_come_in_one_page_with_cache_hints_for_one_caller() {
    let bench = Bench::new().await;
    let client = &bench.client;
    let tools = client.list_tools(None).await.unwrap();
    let prompts = client.list_prompts(None).await.unwrap();
    let resources = client.list_resources(None).await.unwrap();
    let templates = client.list_resource_templates(None).await.unwrap();
    for (ttl, scope) in [
        (tools.ttl_ms, tools.cache_scope),
        (prompts.ttl_ms, prompts.cache_scope),
        (resources.ttl_ms, resources.cache_scope),
        (templates.ttl_ms, templates.cache_scope),
    ] {
        assert_eq!(ttl, Some(300_000));
        assert_eq!(scope, Some(rmcp::model::CacheScope::Private));
    }
    let cursor = || Some(PaginatedRequestParams::default().with_cursor(Some("x".to_owned())));
    for error in [
        protocol_error(client.list_tools(cursor()).await),
        protocol_error(client.list_prompts(cursor()).await),
        protocol_error(client.list_resources(cursor()).await),
        protocol_error(client.list_resource_templates(cursor()).await),
    ] {
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    }
}

#[tokio::test]
async fn the_server_says_who_it_is_and_offers_what_it_has() {
    let bench = Bench::new().await;
    let info = bench.client.peer_info().unwrap();
    let server = info.server_info.clone().unwrap();
    assert_eq!(server.name, "deskgate");
    assert!(server.title.is_some());
    let icon = &server.icons.unwrap()[0];
    assert!(icon.src.starts_with("data:image/svg+xml;base64,"));
    let offered = &info.capabilities;
    assert!(offered.tools.is_some() && offered.resources.is_some());
    assert!(offered.prompts.is_some() && offered.completions.is_some());
    assert!(offered.extensions.is_none());
    let instructions = info.instructions.clone().unwrap();
    for word in ["get_ticket_details", "data", "refuses"] {
        assert!(instructions.contains(word), "{word}");
    }
    assert_eq!(outside_markers(&instructions), instructions);
}
