//! Prompts and completions.

use domain::{Audience, Priority, Status};
use rmcp::model::{ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, Reference};
use serde_json::{Value, json};
use storage::import::ImportRecord;

use super::support::{
    Bench, article, import_call, import_comment, import_csat, import_customer, import_ticket,
    protocol_error,
};
use crate::{PROMPTS, Settings, tool_specs};

async fn bench() -> Bench {
    filled(Bench::new().await).await
}

async fn filled(bench: Bench) -> Bench {
    let mut urgent = import_ticket("urgent", "bo", Status::Open);
    urgent.priority = Priority::Urgent;
    let mut vpn = import_ticket("vpn", "ann", Status::InProgress);
    vpn.category = "network_vpn".to_owned();
    vpn.description = "The tunnel drops every hour.".to_owned();
    let mut answered = import_comment("c", "second", "We look into it");
    answered.origin = domain::Origin::Team;
    bench
        .import(vec![
            ImportRecord::Customer(import_customer("ann")),
            ImportRecord::Customer(import_customer("bo")),
            ImportRecord::Ticket(vpn),
            ImportRecord::Ticket(import_ticket("second", "ann", Status::Open)),
            ImportRecord::Ticket(urgent),
            ImportRecord::Ticket(import_ticket("done", "bo", Status::Resolved)),
            ImportRecord::Comment(answered),
            ImportRecord::Article(article(
                1,
                "network_vpn",
                &[
                    (
                        Audience::Customer,
                        "When the tunnel drops, update the client.",
                    ),
                    (
                        Audience::Staff,
                        "When the tunnel drops, look at gateway two.",
                    ),
                ],
            )),
            ImportRecord::Call(import_call("first")),
        ])
        .await;
    bench
}

fn request(name: &str, arguments: &Value) -> GetPromptRequestParams {
    GetPromptRequestParams::new(name).with_arguments(arguments.as_object().cloned().unwrap())
}

/// What a prompt needs.
fn arguments(spec: &crate::PromptSpec) -> Value {
    match spec.args {
        [arg, ..] if arg.required => json!({ arg.name: "T-1" }),
        _ => json!({}),
    }
}

async fn prompt(bench: &Bench, name: &str, arguments: Value) -> String {
    let result = bench
        .client
        .get_prompt(request(name, &arguments))
        .await
        .unwrap();
    let [message] = result.messages.as_slice() else {
        panic!("{name} has not one message");
    };
    message.content.as_text().unwrap().text.clone()
}

#[tokio::test]
async fn triage_brings_the_dossier_the_other_tickets_and_the_articles_of_the_category() {
    let bench = bench().await;
    let text = prompt(&bench, "triage-ticket", json!({"ticket_id": "t-1"})).await;
    for part in [
        "Triage ticket T-1",
        "The tunnel drops every hour.",
        "T-2",
        "## Articles of network_vpn",
        "KB-001",
        "update the client",
        "gateway two",
        "whether the priority is right",
        "the team that should own it",
        "the next action",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn a_reply_is_the_servers_draft_and_a_refusal_is_relayed() {
    let bench = bench().await;
    let text = prompt(&bench, "prepare-reply", json!({"ticket_id": "T-1"})).await;
    for part in [
        "Call draft_response(T-1).",
        "If it refuses, tell the user what it said and stop",
        "Wording may change, facts may not be added",
        "a person decides and sends it",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn a_reply_without_drafts_rests_on_customer_blocks_only_and_is_left_to_a_person() {
    let mut toolsets = Settings::default().toolsets;
    toolsets.retain(|toolset| *toolset != crate::Toolset::Replies);
    let settings = Settings {
        toolsets,
        ..Settings::default()
    };
    let bench = filled(Bench::with(settings, domain::ScopeSet::all()).await).await;
    let text = prompt(&bench, "prepare-reply", json!({"ticket_id": 1.to_string()})).await;
    assert!(text.contains("update the client"), "{text}");
    assert!(!text.contains("gateway two"), "{text}");
    for part in [
        "incident or held gets no reply",
        "a person decides and sends it",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn the_queue_review_counts_what_needs_attention() {
    let bench = bench().await;
    let text = prompt(&bench, "daily-queue-review", json!({})).await;
    for part in [
        "Open: 2.",
        "In progress: 1.",
        "## Urgent and without a person: 1",
        "## The customer spoke last: 2",
        "## Customers with several unfinished tickets: 1",
        "C-1, 2: T-2, T-1",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("T-4"), "{text}");
}

#[tokio::test]
async fn the_review_of_calls_counts_and_picks_those_of_the_category_that_went_wrong() {
    let bench = bench().await;
    let mut records = Vec::new();
    for (word, category, score) in [
        ("happy", "billing", 5),
        ("unhappy", "billing", 1),
        ("other", "email", 2),
    ] {
        let mut call = import_call(word);
        call.category = category.to_owned();
        if word == "happy" {
            call.outcome = domain::CallOutcome::Unresolved;
        }
        let mut given = import_csat(word, word, score);
        given.category = category.to_owned();
        records.push(ImportRecord::Call(call));
        records.push(ImportRecord::Csat(given));
    }
    bench.import(records).await;
    let text = prompt(
        &bench,
        "call-quality-review",
        json!({"category": "Billing"}),
    )
    .await;
    for part in [
        "Review the quality of calls in billing.",
        "Calls: 2.",
        "Scores of calls and tickets: 2, mean 3.00, 50.0 % of 4 and 5.",
        "## Calls with a score of 1 or 2: 1\n",
        "CALL-00003",
        "## Calls that ended unresolved: 1\n",
        "CALL-00002",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("CALL-00004"), "{text}");
    let all = prompt(&bench, "call-quality-review", json!({})).await;
    assert!(
        all.contains("Calls: 4.") && all.contains("a score of 1 or 2: 2"),
        "{all}"
    );
    let none = prompt(
        &bench,
        "call-quality-review",
        json!({"category": "hardware"}),
    )
    .await;
    assert!(none.contains("Calls: 0.\nThere is no score."), "{none}");
}

#[tokio::test]
async fn every_prompt_points_at_tools_that_exist_and_ends_by_waiting() {
    let bench = bench().await;
    for spec in PROMPTS {
        let arguments = arguments(spec);
        let text = prompt(&bench, spec.name, arguments).await;
        let task = text.split("## Task\n").nth(1).unwrap();
        let tools = tool_specs().filter(|tool| task.contains(tool.name)).count();
        assert!(tools >= 1, "{}: {task}", spec.name);
        assert!(task.contains("stop and wait"), "{}: {task}", spec.name);
        for word in task
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| word.contains('_'))
        {
            let is_tool = tool_specs().any(|tool| tool.name == word);
            let is_argument = tool_specs().any(|tool| tool.args.iter().any(|arg| arg.name == word));
            assert!(is_tool || is_argument, "{}: {word}", spec.name);
        }
    }
}

#[tokio::test]
async fn prompts_stay_within_the_budget_whatever_the_queue_holds() {
    let bench = Bench::new().await;
    let mut records = vec![ImportRecord::Customer(import_customer("ann"))];
    for number in 0..150 {
        let mut ticket = import_ticket(&format!("t{number}"), "ann", Status::Open);
        ticket.priority = Priority::Urgent;
        ticket.subject = "字\"".repeat(100);
        ticket.description = "字".repeat(20_000);
        records.push(ImportRecord::Ticket(ticket));
    }
    let block = "字 printer ".repeat(2_000);
    for number in 1..=5 {
        records.push(ImportRecord::Article(article(
            number,
            "general",
            &[(Audience::Customer, &block)],
        )));
    }
    bench.import(records).await;
    let mut calls = Vec::new();
    for number in 0..150 {
        let word = format!("call{number}");
        let mut call = import_call(&word);
        call.agent = "字\"".repeat(100);
        calls.push(ImportRecord::Call(call));
        calls.push(ImportRecord::Csat(import_csat(&word, &word, 1)));
    }
    bench.import(calls).await;
    let budget = Settings::default().result_bytes;
    for spec in PROMPTS {
        let arguments = arguments(spec);
        let text = prompt(&bench, spec.name, arguments).await;
        // The task's own words come on top of what is budgeted.
        assert!(
            text.len() <= budget + 3_000,
            "{}: {}",
            spec.name,
            text.len()
        );
        assert!(
            text.contains("left out") || text.contains("more characters"),
            "{}",
            spec.name
        );
    }
    let text = prompt(&bench, "daily-queue-review", json!({})).await;
    assert!(
        text.contains("## Urgent and without a person: 150"),
        "{text}"
    );
}

#[tokio::test]
async fn a_prompt_error_names_the_argument() {
    let bench = bench().await;
    for (name, arguments, message) in [
        ("triage-ticket", json!({}), "`ticket_id` is required"),
        (
            "triage-ticket",
            json!({"ticket_id": "C-1"}),
            "`ticket_id` is `C-1`, the id of a customer",
        ),
        (
            "prepare-reply",
            json!({"ticket": "T-1"}),
            "`ticket` is not an argument",
        ),
        (
            "prepare-reply",
            json!({"ticket_id": "T-99"}),
            "there is no ticket `T-99`",
        ),
        (
            "daily-queue-review",
            json!({"team": "x"}),
            "`team` is not an argument: there are none",
        ),
        (
            "nonsense",
            json!({}),
            "there is no prompt `nonsense`; valid are: triage-ticket",
        ),
        (
            "call-quality-review",
            json!({"category": "vpn"}),
            "`category` is `vpn`, which is not one of: account",
        ),
    ] {
        let error = protocol_error(bench.client.get_prompt(request(name, &arguments)).await);
        assert!(
            error.message.starts_with(message),
            "{name} {arguments}: {error:?}"
        );
    }
}

async fn complete(bench: &Bench, reference: Reference, argument: &str, typed: &str) -> Vec<String> {
    let request = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, typed));
    bench
        .client
        .complete(request)
        .await
        .unwrap()
        .completion
        .values
}

#[tokio::test]
async fn completions_offer_what_begins_as_typed() {
    let bench = bench().await;
    let prompt = || Reference::for_prompt("triage-ticket");
    for (typed, found) in [
        ("", vec!["T-4", "T-3", "T-2", "T-1"]),
        ("T-", vec!["T-4", "T-3", "T-2", "T-1"]),
        ("t-2", vec!["T-2"]),
        ("3", vec!["T-3"]),
        ("9", vec![]),
    ] {
        assert_eq!(
            complete(&bench, prompt(), "ticket_id", typed).await,
            found,
            "{typed}"
        );
    }
    for (template, argument, typed, found) in [
        (
            "customer://profile/{customer_id}",
            "customer_id",
            "C-1",
            vec!["C-1"],
        ),
        (
            "call://transcript/{call_id}",
            "call_id",
            "",
            vec!["CALL-00001"],
        ),
        (
            "call://transcript/{call_id}",
            "call_id",
            "CALL-00001",
            vec!["CALL-00001"],
        ),
        (
            "knowledge://articles/{category}",
            "category",
            "E",
            vec!["email"],
        ),
        (
            "knowledge://articles/{category}",
            "category",
            "s",
            vec!["security", "server_outage", "software_licensing"],
        ),
        (
            "ticket://details/{ticket_id}",
            "ticket_id",
            "2",
            vec!["T-2"],
        ),
    ] {
        let reference = Reference::for_resource(template);
        assert_eq!(
            complete(&bench, reference, argument, typed).await,
            found,
            "{template} {typed}"
        );
    }
}

#[tokio::test]
async fn a_completion_of_something_unknown_is_refused_by_name() {
    let bench = bench().await;
    for (reference, argument, part) in [
        (Reference::for_prompt("nonsense"), "ticket_id", "`ref`"),
        (
            Reference::for_resource("ticket://details/T-1"),
            "ticket_id",
            "`ref`",
        ),
        (Reference::for_prompt("triage-ticket"), "team", "`team`"),
        (
            Reference::for_prompt("daily-queue-review"),
            "ticket_id",
            "`ticket_id`",
        ),
    ] {
        let request = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, ""));
        let error = protocol_error(bench.client.complete(request).await);
        assert_eq!(error.code.0, -32602);
        assert!(error.message.contains(part), "{error:?}");
    }
}
