//! Resources: what is listed, what is read, what an address may not be.

use domain::{Audience, Role, Status};
use rmcp::model::{ErrorData, ReadResourceRequestParams, ResourceContents};
use storage::import::ImportRecord;

use super::support::{
    Bench, article, import_call, import_comment, import_customer, import_ticket, protocol_error,
};
use crate::Settings;

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.import(records()).await;
    bench
}

fn records() -> Vec<ImportRecord> {
    vec![
        ImportRecord::Customer(import_customer("ann")),
        ImportRecord::Ticket(import_ticket("one", "ann", Status::Open)),
        ImportRecord::Ticket(import_ticket("two", "ann", Status::Open)),
        ImportRecord::Comment(import_comment("c", "one", "It is still broken")),
        ImportRecord::Article(article(
            1,
            "email",
            &[(Audience::Customer, "Restart the client.")],
        )),
        ImportRecord::Call(import_call("first")),
    ]
}

async fn read(bench: &Bench, uri: &str) -> String {
    let request = ReadResourceRequestParams::new(uri);
    let result = bench.client.read_resource(request).await.unwrap();
    assert_eq!(result.ttl_ms, Some(5_000));
    assert_eq!(result.cache_scope, Some(rmcp::model::CacheScope::Private));
    let ResourceContents::TextResourceContents {
        text,
        mime_type,
        uri: named,
        ..
    } = &result.contents[0]
    else {
        panic!("{uri} is not text");
    };
    assert_eq!(mime_type.as_deref(), Some("text/markdown"));
    assert_eq!(named, uri);
    text.clone()
}

async fn refused(bench: &Bench, uri: &str) -> ErrorData {
    let request = ReadResourceRequestParams::new(uri);
    protocol_error(bench.client.read_resource(request).await)
}

#[tokio::test]
async fn each_template_leads_to_a_readable_page() {
    let bench = bench().await;
    for (uri, parts) in [
        (
            "customer://profile/C-1",
            vec!["# Customer C-1", "Name ann", "ann@company.example"],
        ),
        (
            "ticket://details/t-1",
            vec![
                "# Ticket T-1",
                "Subject one",
                "Description one",
                "It is still broken",
                "T-2",
            ],
        ),
        (
            "knowledge://articles/email",
            vec!["# Articles of email", "KB-001", "Restart the client."],
        ),
        (
            "knowledge://articles/hardware",
            vec!["# Articles of hardware", "has no articles"],
        ),
        (
            "call://transcript/CALL-00001",
            vec![
                "# Call CALL-00001",
                "90 s",
                "[00:00] agent: Hello",
                "[01:01] caller: Turn first",
                "Agent first",
            ],
        ),
    ] {
        let text = read(&bench, uri).await;
        for part in parts {
            assert!(text.contains(part), "{uri} lacks {part}: {text}");
        }
    }
}

#[tokio::test]
async fn templates_and_each_category_are_listed_in_a_fixed_order() {
    let bench = bench().await;
    let templates = bench
        .client
        .list_resource_templates(None)
        .await
        .unwrap()
        .resource_templates;
    let uris: Vec<&str> = templates.iter().map(|row| &*row.uri_template).collect();
    assert_eq!(
        uris,
        [
            "customer://profile/{customer_id}",
            "ticket://details/{ticket_id}",
            "knowledge://articles/{category}",
            "call://transcript/{call_id}",
        ]
    );
    let listed = bench.client.list_resources(None).await.unwrap().resources;
    assert_eq!(listed.len(), 11);
    for resource in &listed {
        read(&bench, &resource.uri).await;
    }
    assert_eq!(
        bench.client.list_resources(None).await.unwrap().resources,
        listed
    );
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_names_the_address() {
    let bench = bench().await;
    for uri in [
        "customer://profile/C-99",
        "ticket://details/T-99",
        "knowledge://articles/nonsense",
        "call://transcript/CALL-00099",
    ] {
        let error = refused(&bench, uri).await;
        // The client speaks 2025-11-25; to newer ones rmcp sends -32602.
        assert_eq!(error.code.0, -32002, "{uri}: {error:?}");
        assert_eq!(error.data.unwrap()["uri"], uri);
    }
}

#[tokio::test]
async fn hostile_and_foreign_addresses_are_invalid() {
    let bench = bench().await;
    for uri in [
        "ticket://details/../../etc/passwd",
        "ticket://details/%2e%2e%2fpasswd",
        "ticket://details/T-1\0",
        "ticket://details/",
        "ticket://details/C-1",
        "ticket://details/T-1/x",
        "ticket://details/T-0",
        "file:///etc/passwd",
        "customer://profile/T-1",
        "call://transcript/T-1",
        "nonsense",
        "",
    ] {
        let error = refused(&bench, uri).await;
        assert_eq!(error.code.0, -32602, "{uri}: {error:?}");
    }
}

#[tokio::test]
async fn a_transcript_needs_its_own_right() {
    let viewer = Bench::with(Settings::default(), Role::Viewer.scopes()).await;
    viewer.import(records()).await;
    let templates = viewer
        .client
        .list_resource_templates(None)
        .await
        .unwrap()
        .resource_templates;
    assert!(
        templates
            .iter()
            .all(|row| !row.uri_template.starts_with("call:"))
    );
    let error = refused(&viewer, "call://transcript/CALL-00001").await;
    assert!(error.message.contains("`transcripts:read`"), "{error:?}");
    let profile = read(&viewer, "customer://profile/C-1").await;
    assert!(!profile.contains("ann@company.example") && profile.contains("[email "));
}
