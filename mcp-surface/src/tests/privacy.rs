//! Contacts in every text and field of the desk, and none of them in any answer to a caller without the right (promise Z-6,
//! field report 49).

use std::collections::BTreeSet;

use domain::{Audience, Scope, ScopeSet, Status};
use rmcp::model::{
    ArgumentInfo, CallToolRequestParams, CompleteRequestParams, GetPromptRequestParams,
    ReadResourceRequestParams, Reference,
};
use serde_json::{Value, json};
use storage::import::ImportRecord;

use super::support::{
    Bench, article, id, import_call, import_comment, import_csat, import_customer, import_ticket,
};
use crate::{PROMPTS, Settings, TEMPLATES, tool_specs};

const EMAIL: &str = "kanarie.vogel@geheim.example";
/// The extension is too short to be told by its shape: it is found because it is the customer's.
const EXTENSION: &str = "8 8 42";
const PHONE: &str = "+49 (30) 7713-8842";
const CARD: &str = "4111-1111 1111 1111";
/// What must not leave, in any spelling that a reader would put together again.
const NEEDLES: [&str; 8] = [
    "kanarie", "vogel", "geheim", "7713", "8842", "1111", "88 42", "8 8 42",
];

fn planted(column: &str) -> String {
    format!(
        "printer {column}: {EMAIL}, KANARIE.vogel [at] geheim [dot] example, {PHONE}, 0307713\u{200b}8842, {CARD}."
    )
}

fn all_but_contacts() -> ScopeSet {
    let all = Scope::ALL.iter().copied();
    all.filter(|scope| *scope != Scope::CustomersPii).collect()
}

async fn bench(scopes: ScopeSet) -> Bench {
    let bench = Bench::with(Settings::default(), scopes).await;
    let mut records = Vec::new();
    for (word, email, phone) in [
        ("ann", EMAIL, PHONE),
        ("bob", "bob@other.example", EXTENSION),
    ] {
        let mut customer = import_customer(word);
        customer.name = format!("Name {word} {EMAIL}");
        customer.email = email.to_owned();
        customer.phone = Some(phone.to_owned());
        customer.organisation = Some(format!("Works {PHONE}"));
        records.push(ImportRecord::Customer(customer));
    }
    for (word, customer, status) in [
        ("one", "ann", Status::InProgress),
        ("two", "ann", Status::Open),
        ("three", "bob", Status::Open),
    ] {
        let mut ticket = import_ticket(word, customer, status);
        ticket.subject = format!("Subject {EMAIL}");
        ticket.description = planted("description");
        ticket.assigned_team = Some(format!("Team {PHONE}"));
        ticket.assignee = Some(EMAIL.to_owned());
        if word == "three" {
            "Ring 88-42, 88 42 or 8842!".clone_into(&mut ticket.description);
        }
        records.push(ImportRecord::Ticket(ticket));
    }
    for n in 0..3 {
        let mut comment = import_comment(&format!("c{n}"), "one", &planted("body"));
        comment.author = EMAIL.to_owned();
        records.push(ImportRecord::Comment(comment));
    }
    let text = planted("block");
    let mut knowledge = article(1, "general", &[(Audience::Customer, &text)]);
    knowledge.title = format!("Title {EMAIL}");
    records.push(ImportRecord::Article(knowledge));
    let mut call = import_call("call");
    call.customer = Some("bob".to_owned());
    call.agent = EMAIL.to_owned();
    call.turns[1].text = format!("{} or 8842", planted("turn"));
    records.push(ImportRecord::Call(call));
    let mut score = import_csat("score", "call", 1);
    score.comment = Some(format!("{} or 8842", planted("comment")));
    records.push(ImportRecord::Csat(score));
    bench.import(records).await;
    bench
}

/// Calls of every tool, with a contact where one can be given.
fn calls() -> Vec<(&'static str, Value)> {
    let ticket = json!({"ticket_id": 1});
    let long = planted("argument");
    vec![
        ("get_customer", json!({"customer_id": 1})),
        ("get_customer", json!({"customer_id": EMAIL})),
        ("list_customers", json!({})),
        ("list_customers", json!({"organisation": "works"})),
        ("list_customers", json!({"status": EMAIL})),
        (
            "create_customer",
            json!({"name": long, "email": "new.one@fresh.example", "phone": PHONE, "idempotency_key": "k"}),
        ),
        ("create_customer", json!({"name": "Twin", "email": EMAIL})),
        (
            "update_customer",
            json!({"customer_id": 1, "name": "Other"}),
        ),
        (
            "update_customer",
            json!({"customer_id": 1, "phone": "12345", "email": "other@fresh.example"}),
        ),
        ("delete_customer", json!({"customer_id": 1})),
        ("get_ticket", ticket.clone()),
        ("get_ticket", json!({"ticket_id": 3})),
        ("get_ticket_details", ticket.clone()),
        ("get_ticket_details", json!({"ticket_id": 3})),
        ("list_tickets", json!({})),
        ("list_tickets", json!({"status": EMAIL})),
        ("search_tickets", json!({"query": "printer"})),
        ("search_tickets", json!({"query": "ring"})),
        (
            "create_ticket",
            json!({"customer_id": 1, "subject": EMAIL, "description": long}),
        ),
        (
            "create_ticket",
            json!({"customer_id": 1, "subject": EMAIL, "description": long, "idempotency_key": "t"}),
        ),
        ("assign_ticket", json!({"ticket_id": 1, "assignee": EMAIL})),
        ("add_comment", json!({"ticket_id": 1, "body": long})),
        (
            "add_comment",
            json!({"ticket_id": 2, "body": long, "visibility": "public"}),
        ),
        (
            "change_ticket_status",
            json!({"ticket_id": 2, "status": "in_progress"}),
        ),
        (
            "change_ticket_status",
            json!({"ticket_id": 2, "status": "closed"}),
        ),
        (
            "resolve_ticket",
            json!({"ticket_id": 2, "resolution": long}),
        ),
        (
            "update_ticket",
            json!({"ticket_id": 1, "description": "All new", "assignee": "kim", "team": "field"}),
        ),
        (
            "update_ticket",
            json!({"ticket_id": 3, "description": "All new"}),
        ),
        ("delete_ticket", ticket.clone()),
        ("draft_response", json!({"ticket_id": 1})),
        ("get_knowledge_articles", json!({})),
        ("get_knowledge_articles", json!({"category": "general"})),
        ("get_knowledge_articles", json!({"article_id": 1})),
        ("get_knowledge_articles", json!({"category": EMAIL})),
        ("search_kb", json!({"query": "printer"})),
        ("search_transcripts", json!({})),
        ("search_transcripts", json!({"query": "printer"})),
        ("search_transcripts", json!({"outcome": EMAIL})),
        ("search_transcripts", json!({"category": EMAIL})),
        ("get_call_summary", json!({"call_id": 1})),
        (
            "get_call_summary",
            json!({"call_id": 1, "include_transcript": true}),
        ),
        ("get_call_summary", json!({"call_id": 1, "cursor": "1.1.3"})),
        ("query_csat", json!({})),
        ("query_csat", json!({"category": EMAIL})),
        (
            "record_payment_verification",
            json!({"ticket_id": 1, "channel_on_file": PHONE, "confirmer": EMAIL, "approver": "Bo"}),
        ),
        (
            "record_security_review",
            json!({"ticket_id": 1, "verdict": "no_incident", "reason": long}),
        ),
        (
            "escalate_to_security",
            json!({"ticket_id": 1, "reason": long}),
        ),
        ("draft_response", json!({"ticket_id": 1})),
        ("list_audit_entries", json!({})),
        ("list_audit_entries", json!({"action": EMAIL})),
    ]
}

/// Every answer that a caller can get, as it leaves.
async fn answers(bench: &Bench) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    let mut used = BTreeSet::new();
    for (tool, arguments) in calls() {
        used.insert(tool);
        let result = bench.call(tool, arguments.clone()).await;
        answers.push((
            format!("{tool} {arguments}"),
            serde_json::to_string(&result).unwrap(),
        ));
    }
    let known: BTreeSet<_> = tool_specs().map(|spec| spec.name).collect();
    assert_eq!(used, known, "a tool is not walked");
    let mut keep = |what: String, answer: String| answers.push((what, answer));
    let unknown = CallToolRequestParams::new(EMAIL.to_owned());
    keep(
        "unknown tool".into(),
        format!("{:?}", bench.client.call_tool(unknown).await),
    );
    for uri in [
        "customer://profile/C-1",
        "ticket://details/T-1",
        "ticket://details/T-3",
        "knowledge://articles/general",
        "call://transcript/CALL-00001",
        &format!("customer://profile/{EMAIL}"),
        "customer://profile/49307713-8842",
    ] {
        let read = ReadResourceRequestParams::new(uri);
        let read = bench.client.read_resource(read).await;
        keep(
            uri.to_owned(),
            format!("{:?}", read.map(|read| read.contents)),
        );
    }
    for prompt in PROMPTS {
        for value in ["T-1", "T-3", EMAIL, ""] {
            let mut request = GetPromptRequestParams::new(prompt.name);
            if let Some(arg) = prompt.args.first() {
                request = request
                    .with_arguments(json!({ arg.name: value }).as_object().cloned().unwrap());
            }
            let got = bench.client.get_prompt(request).await;
            keep(format!("{} {value}", prompt.name), format!("{got:?}"));
        }
    }
    for spec in TEMPLATES {
        for typed in ["", "k", "kanarie", "1"] {
            let argument = ArgumentInfo::new(spec.variable, typed);
            let request =
                CompleteRequestParams::new(Reference::for_resource(spec.uri_template()), argument);
            keep(
                format!("{} {typed}", spec.name),
                format!("{:?}", bench.client.complete(request).await),
            );
        }
    }
    for listed in [
        format!("{:?}", bench.client.list_all_resources().await),
        format!("{:?}", bench.client.list_all_tools().await),
    ] {
        keep("a listing".to_owned(), listed);
    }
    answers
}

fn found(answer: &str) -> Vec<&'static str> {
    let folded = answer.to_lowercase();
    NEEDLES
        .into_iter()
        .filter(|needle| folded.contains(needle))
        .collect()
}

#[tokio::test]
async fn no_contact_leaves_by_any_tool_resource_prompt_or_completion() {
    for scopes in [all_but_contacts()] {
        let bench = bench(scopes).await;
        for (what, answer) in answers(&bench).await {
            // What the caller gave itself as the address of a resource is repeated in `data.uri` only, masked.
            assert_eq!(found(&answer), [""; 0], "{what}: {answer}");
        }
    }
}

#[tokio::test]
async fn whoever_may_see_contacts_sees_them_all() {
    let bench = bench(ScopeSet::all()).await;
    let answers = answers(&bench).await;
    for needle in [
        "kanarie.vogel@geheim.example",
        "+49 (30) 7713-8842",
        "4111-1111 1111 1111",
        "8842",
    ] {
        assert!(
            answers.iter().any(|(_, answer)| answer.contains(needle)),
            "{needle}"
        );
    }
    let showing = answers
        .iter()
        .filter(|(_, answer)| !found(answer).is_empty())
        .count();
    assert!(showing > 30, "{showing}");
}

#[tokio::test]
async fn one_value_has_one_stand_in_in_fields_and_texts() {
    let bench = bench(all_but_contacts()).await;
    let customer = bench.ok("get_customer", json!({"customer_id": 1})).await;
    let (email, phone) = (id(&customer, "email"), id(&customer, "phone"));
    assert!(
        email.starts_with("[email ") && phone.starts_with("[phone "),
        "{email} {phone}"
    );
    let ticket = bench.ok("get_ticket", json!({"ticket_id": 1})).await;
    let text = ticket["description"]["text"].as_str().unwrap();
    assert_eq!(text.matches(email.as_str()).count(), 2, "{text}");
    assert_eq!(text.matches(phone.as_str()).count(), 2, "{text}");
    assert!(text.contains("[card "), "{text}");
    let short = bench.ok("get_customer", json!({"customer_id": 2})).await;
    let ticket = bench.ok("get_ticket", json!({"ticket_id": 3})).await;
    let text = ticket["description"]["text"].as_str().unwrap();
    assert_eq!(text.matches(&id(&short, "phone")).count(), 3, "{text}");
}

#[tokio::test]
async fn no_cut_of_a_long_text_gives_a_contact_away_in_parts() {
    let bench = bench(all_but_contacts()).await;
    let mut offset = 0;
    loop {
        let request = CallToolRequestParams::new("get_ticket").with_arguments(
            json!({"ticket_id": 1, "offset": offset})
                .as_object()
                .cloned()
                .unwrap(),
        );
        let result = bench.client.call_tool(request).await.unwrap();
        let structured = result.structured_content.unwrap();
        if structured["ok"] != json!(true) || structured["description"]["text"] == json!("") {
            break;
        }
        let text = structured["description"]["text"].as_str().unwrap();
        assert!(
            !text.chars().any(|c| c.is_ascii_digit() || c == '@'),
            "{offset} {text}"
        );
        offset += 1;
    }
    assert!(offset > 50, "{offset}");
}

#[tokio::test]
async fn nothing_is_found_by_a_contact() {
    let bench = bench(all_but_contacts()).await;
    for (tool, arguments) in [
        ("list_customers", json!({"email": EMAIL})),
        ("list_customers", json!({"query": EMAIL})),
        ("list_customers", json!({"query": "030 7713 8842"})),
        ("list_tickets", json!({"assignee": EMAIL})),
        (
            "search_tickets",
            json!({"query": format!("printer {EMAIL}")}),
        ),
        ("search_tickets", json!({"query": PHONE})),
        ("search_kb", json!({"query": CARD})),
        ("search_transcripts", json!({"query": EMAIL})),
        ("search_transcripts", json!({"agent": EMAIL})),
        ("query_csat", json!({"agent": EMAIL})),
        ("list_audit_entries", json!({"actor": EMAIL})),
    ] {
        let error = bench.error(tool, arguments.clone()).await;
        assert_eq!(error["code"], "FORBIDDEN", "{tool} {arguments}");
        assert!(error["message"].as_str().unwrap().contains("customers:pii"));
    }
    // Part of an address finds nobody, part of a name does.
    for (query, count) in [("other.example", 0), ("bob@", 0), ("Name bob", 1)] {
        let found = bench.ok("list_customers", json!({"query": query})).await;
        assert_eq!(found["total"], count, "{query}");
    }
    let all = self::bench(ScopeSet::all()).await;
    let found = all
        .ok("list_customers", json!({"query": "other.example"}))
        .await;
    assert_eq!(found["total"], 1);
    let found = all.ok("list_customers", json!({"email": EMAIL})).await;
    assert_eq!(found["total"], 1);
}
