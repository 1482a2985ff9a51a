//! What each tool does with arguments that are unknown, missing, null, empty, of the wrong type or another entity's id.
//!
//! The cases are made from the table of tools, so an argument that is added is tested without another line here.

use domain::{Audience, Status};
use serde_json::{Map, Value, json};

use super::support::{Bench, article, import_call, import_customer, import_ticket};
use crate::{Arg, Shape, ToolSpec, tool_specs};
use storage::import::ImportRecord;

/// Arguments with which each tool succeeds on the store of [`bench`], as often as it is called.
pub(super) fn valid_call(tool: &str) -> Value {
    match tool {
        "get_customer" | "delete_customer" => json!({"customer_id": "C-1"}),
        "update_customer" => json!({"customer_id": "C-1", "name": "Bo"}),
        "update_ticket" => json!({"ticket_id": "T-1", "priority": "urgent", "note": "because"}),
        "record_payment_verification" => json!({
            "ticket_id": "T-1", "channel_on_file": "phone", "confirmer": "Ann", "approver": "Bo"
        }),
        "create_customer" => json!({"name": "Bo", "email": "bo@company.example"}),
        "escalate_to_security" => json!({"ticket_id": "T-1", "reason": "because"}),
        "record_security_review" => json!({
            "ticket_id": "T-1", "verdict": "no_incident", "reason": "because"
        }),
        "draft_response" | "get_ticket" | "get_ticket_details" | "resolve_ticket"
        | "delete_ticket" => {
            json!({"ticket_id": "T-1"})
        }
        "get_call_summary" => json!({"call_id": "CALL-1"}),
        "search_tickets" | "search_kb" => json!({"query": "description"}),
        "create_ticket" => json!({"customer_id": "C-1", "subject": "S", "description": "D"}),
        "assign_ticket" => json!({"ticket_id": "T-1", "team": "network", "assignee": "ann"}),
        "add_comment" => json!({"ticket_id": "T-1", "body": "A comment"}),
        "change_ticket_status" => json!({"ticket_id": "T-1", "status": "open"}),
        "get_knowledge_articles" => json!({"article_id": "KB-1"}),
        _ => json!({}),
    }
}

/// A fresh store: writes can be tried again and again on equal ones.
async fn bench() -> Bench {
    filled(Bench::new().await).await
}

/// A desk with what [`valid_call`] names.
pub(super) async fn filled(bench: Bench) -> Bench {
    bench
        .import(vec![
            ImportRecord::Customer(import_customer("ann")),
            ImportRecord::Ticket(import_ticket("first", "ann", Status::InProgress)),
            ImportRecord::Article(article(
                1,
                "email",
                &[(Audience::Customer, "A description.")],
            )),
            ImportRecord::Call(import_call("first")),
        ])
        .await;
    bench
}

fn with(call: &Value, name: &str, value: Value) -> Value {
    let mut call = call.clone();
    call[name] = value;
    call
}

fn without(call: &Value, name: &str) -> Value {
    let mut call: Map<String, Value> = call.as_object().cloned().unwrap();
    call.remove(name);
    Value::Object(call)
}

/// Values that no argument of this shape takes.
fn wrong_values(arg: &Arg) -> Vec<Value> {
    let mut wrong = vec![json!([]), json!(["null"]), json!({"a": 1})];
    match arg.shape {
        Shape::Id { prefix } => {
            wrong.extend([
                json!(true),
                json!("first"),
                json!(-1),
                json!(1.5),
                json!("'; --"),
            ]);
            wrong.push(json!(format!("{prefix}-99999999999999999999")));
            // The knowledge base begins at KB-000.
            if prefix != "KB" {
                wrong.push(json!(0));
            }
            // Another entity's id.
            let other = if prefix == "T" { "C-1" } else { "T-1" };
            wrong.push(json!(other));
        }
        Shape::Text { max } => {
            wrong.extend([json!(true), json!(5), json!("x".repeat(max + 1))]);
        }
        Shape::Word { .. } => wrong.extend([json!(true), json!(5), json!("nonsense")]),
        Shape::Whole { min, max, .. } => {
            wrong.extend([
                json!(true),
                json!("many"),
                json!(min - 1),
                json!(max + 1),
                json!(1.5),
            ]);
        }
        Shape::Flag => wrong.extend([json!(1), json!("maybe")]),
    }
    wrong
}

async fn refuses(bench: &Bench, spec: &ToolSpec, call: Value, field: &str) -> Value {
    let error = bench.error(spec.name, call.clone()).await;
    let seen = format!("{} {call:.200}: {error}", spec.name);
    assert_eq!(error["code"], "INVALID_ARGUMENT", "{seen}");
    assert_eq!(error["field"], field, "{seen}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with(&format!("`{field}` ")) && message.len() > field.len() + 10,
        "{seen}"
    );
    error
}

/// What a call that is in order gives: its result, or the preview of a change that needs a confirmation.
async fn outcome(bench: &Bench, tool: &str, call: Value) -> Value {
    let mut fields = bench.call(tool, call).await.structured_content.unwrap();
    // Each store has tokens of its own.
    fields.as_object_mut().unwrap().remove("confirmation_token");
    let waits = ["CONFIRMATION_REQUIRED", "HUMAN_APPROVAL_REQUIRED"]
        .iter()
        .any(|code| fields["error"]["code"] == *code);
    assert!(fields["ok"] == true || waits, "{tool}: {fields}");
    fields
}

async fn check(tool: &str) {
    let spec = tool_specs().find(|spec| spec.name == tool).unwrap();
    let call = valid_call(tool);
    let bench = bench().await;

    // Nothing of what is refused leaves a trace: it is refused before the call that must succeed.
    let error = refuses(&bench, spec, with(&call, "ticket", json!("T-1")), "ticket").await;
    let args = spec.arguments(spec.is_guarded());
    let names: Vec<&str> = args.iter().map(|arg| arg.name).collect();
    assert_eq!(error["allowed"], json!(names), "{tool}");
    for arg in &args {
        for value in wrong_values(arg) {
            let error = refuses(&bench, spec, with(&call, arg.name, value), arg.name).await;
            if let Shape::Word { words } = arg.shape
                && !error["allowed"].is_null()
            {
                assert_eq!(error["allowed"], json!(words), "{tool}.{}", arg.name);
            }
        }
        if arg.required {
            refuses(&bench, spec, without(&call, arg.name), arg.name).await;
            for blank in [json!(null), json!(""), json!("  ")] {
                refuses(&bench, spec, with(&call, arg.name, blank), arg.name).await;
            }
        }
    }
    drop(bench);

    // Whatever an optional argument that is left out is sent as, the call does the same.
    let fresh = self::bench().await;
    let expected = outcome(&fresh, tool, call.clone()).await;
    drop(fresh);
    let blank: Map<String, Value> = args
        .iter()
        .filter(|arg| call[arg.name].is_null())
        .map(|arg| (arg.name.to_owned(), Value::Null))
        .collect();
    for form in [json!(null), json!(""), json!(" "), json!("null")] {
        let mut call = call.clone();
        for name in blank.keys() {
            call[name] = form.clone();
        }
        let fresh = self::bench().await;
        let found = outcome(&fresh, tool, call).await;
        assert_eq!(found, expected, "{tool} with {form}");
    }
}

macro_rules! tables {
    ($($tool:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $tool() {
                check(stringify!($tool)).await;
            }
        )+

        #[test]
        fn every_tool_has_its_table() {
            let tables = [$(stringify!($tool)),+];
            let tools: Vec<&str> = tool_specs().map(|spec| spec.name).collect();
            assert_eq!(tables.as_slice(), tools.as_slice());
        }
    };
}

tables!(
    get_customer,
    list_customers,
    create_customer,
    update_customer,
    delete_customer,
    get_ticket,
    get_ticket_details,
    list_tickets,
    search_tickets,
    create_ticket,
    assign_ticket,
    add_comment,
    change_ticket_status,
    resolve_ticket,
    update_ticket,
    delete_ticket,
    get_knowledge_articles,
    search_kb,
    draft_response,
    escalate_to_security,
    search_transcripts,
    get_call_summary,
    query_csat,
    record_payment_verification,
    record_security_review,
    list_audit_entries,
);

#[tokio::test]
async fn an_id_may_be_written_in_every_form_in_every_tool_that_takes_one() {
    let bench = bench().await;
    for tool in ["get_ticket", "get_ticket_details"] {
        for form in [
            json!("T-1"),
            json!("t-1"),
            json!("#1"),
            json!("1"),
            json!(1),
        ] {
            bench.ok(tool, json!({ "ticket_id": form })).await;
        }
    }
    for form in [json!("C-1"), json!("c1"), json!("#1"), json!("1"), json!(1)] {
        bench
            .ok("get_customer", json!({ "customer_id": form }))
            .await;
    }
    for form in [
        json!("CALL-00001"),
        json!("call-1"),
        json!("#1"),
        json!("1"),
        json!(1),
    ] {
        bench
            .ok("get_call_summary", json!({ "call_id": form }))
            .await;
    }
    for form in [
        json!("KB-001"),
        json!("kb-1"),
        json!("#1"),
        json!("1"),
        json!(1),
    ] {
        bench
            .ok("get_knowledge_articles", json!({ "article_id": form }))
            .await;
    }
}

#[tokio::test]
async fn an_id_that_leads_nowhere_is_named_and_says_how_to_find_one() {
    let bench = bench().await;
    for (tool, argument, id) in [
        ("get_customer", "customer_id", "C-999"),
        ("get_ticket", "ticket_id", "T-999"),
        ("get_ticket_details", "ticket_id", "T-999"),
        ("get_knowledge_articles", "article_id", "KB-999"),
        ("get_call_summary", "call_id", "CALL-00999"),
    ] {
        let error = bench.error(tool, json!({ argument: id })).await;
        assert_eq!(error["code"], "NOT_FOUND", "{tool}");
        assert!(error["message"].as_str().unwrap().contains(id), "{error}");
        assert_eq!(
            error["hint"], "Find the id with a list or search tool.",
            "{tool}"
        );
    }
    for (tool, call) in [
        (
            "create_ticket",
            json!({"customer_id": "C-999", "subject": "S", "description": "D"}),
        ),
        ("assign_ticket", json!({"ticket_id": "T-999", "team": "x"})),
        ("add_comment", json!({"ticket_id": "T-999", "body": "x"})),
        (
            "change_ticket_status",
            json!({"ticket_id": "T-999", "status": "open"}),
        ),
        ("resolve_ticket", json!({"ticket_id": "T-999"})),
    ] {
        assert_eq!(bench.error(tool, call).await["code"], "NOT_FOUND", "{tool}");
    }
}

#[tokio::test]
async fn a_value_that_no_table_has_is_refused_with_the_list_and_never_an_empty_result() {
    let bench = bench().await;
    for (tool, call) in [
        ("list_tickets", json!({"category": "vpn"})),
        ("search_tickets", json!({"query": "x", "category": "vpn"})),
        ("search_kb", json!({"query": "x", "category": "vpn"})),
        ("get_knowledge_articles", json!({"category": "vpn"})),
        ("search_transcripts", json!({"category": "vpn"})),
        ("query_csat", json!({"category": "vpn"})),
        (
            "create_ticket",
            json!({"customer_id": 1, "subject": "S", "description": "D", "category": "vpn"}),
        ),
    ] {
        let error = bench.error(tool, call).await;
        assert_eq!(error["field"], "category", "{tool}: {error}");
        assert_eq!(
            error["allowed"].as_array().unwrap().len(),
            11,
            "{tool}: {error}"
        );
        assert!(
            error["message"].as_str().unwrap().contains("network_vpn"),
            "{tool}: {error}"
        );
    }
}

#[tokio::test]
async fn arguments_that_contradict_each_other_are_refused_by_name() {
    let bench = bench().await;
    for (tool, call, field) in [
        (
            "list_tickets",
            json!({"assignee": "ann", "unassigned": true}),
            "unassigned",
        ),
        (
            "list_tickets",
            json!({"created_from": "2026-03-02", "created_until": "2026-03-01"}),
            "created_from",
        ),
        (
            "list_tickets",
            json!({"updated_from": "2026-03-02", "updated_until": "2026-03-01"}),
            "updated_from",
        ),
        ("search_tickets", json!({"query": "?!"}), "query"),
        ("search_kb", json!({"query": "--"}), "query"),
        ("assign_ticket", json!({"ticket_id": "T-1"}), "team"),
        (
            "assign_ticket",
            json!({"ticket_id": "T-1", "team": "a", "unassign": "both"}),
            "team",
        ),
        (
            "assign_ticket",
            json!({"ticket_id": "T-1", "assignee": "a", "unassign": "assignee"}),
            "assignee",
        ),
        (
            "get_knowledge_articles",
            json!({"article_id": 1, "category": "email"}),
            "category",
        ),
        (
            "get_knowledge_articles",
            json!({"category": "email", "offset": 5}),
            "offset",
        ),
        (
            "get_knowledge_articles",
            json!({"article_id": 1, "offset": 500}),
            "offset",
        ),
        (
            "get_ticket",
            json!({"ticket_id": "T-1", "offset": 500}),
            "offset",
        ),
        (
            "list_audit_entries",
            json!({"ticket_id": 1, "customer_id": 1}),
            "customer_id",
        ),
        (
            "list_audit_entries",
            json!({"from": "2026-03-02", "until": "2026-03-01"}),
            "from",
        ),
        ("list_tickets", json!({"cursor": "nonsense"}), "cursor"),
        ("search_transcripts", json!({"query": "?!"}), "query"),
        (
            "search_transcripts",
            json!({"cursor": "nonsense"}),
            "cursor",
        ),
        (
            "search_transcripts",
            json!({"score_min": 4, "score_max": 2}),
            "score_min",
        ),
        (
            "search_transcripts",
            json!({"started_from": "2026-03-02", "started_until": "2026-03-01"}),
            "started_from",
        ),
        (
            "query_csat",
            json!({"score_min": 4, "score_max": 2}),
            "score_min",
        ),
        (
            "query_csat",
            json!({"submitted_from": "2026-03-02", "submitted_until": "2026-03-01"}),
            "submitted_from",
        ),
        (
            "get_call_summary",
            json!({"call_id": 1, "cursor": "2.0.0"}),
            "cursor",
        ),
        (
            "get_ticket_details",
            json!({"ticket_id": 1, "cursor": ".7.0"}),
            "cursor",
        ),
        (
            "create_customer",
            json!({"name": "Bo", "email": "bo at company"}),
            "email",
        ),
        (
            "create_customer",
            json!({"name": "Bo\u{7}", "email": "bo@company.example"}),
            "name",
        ),
        (
            "create_customer",
            json!({"name": "Bo", "email": "b@c.example", "phone": "call me"}),
            "phone",
        ),
        (
            "create_ticket",
            json!({"customer_id": 1, "subject": "a\nb", "description": "D"}),
            "subject",
        ),
        (
            "create_ticket",
            json!({"customer_id": 1, "subject": "S", "description": "D", "team": "a\nb"}),
            "team",
        ),
        (
            "add_comment",
            json!({"ticket_id": 1, "body": "a\u{0}b"}),
            "body",
        ),
        (
            "resolve_ticket",
            json!({"ticket_id": 1, "resolution": "a\u{0}b"}),
            "resolution",
        ),
    ] {
        let error = bench.error(tool, call.clone()).await;
        assert_eq!(error["code"], "INVALID_ARGUMENT", "{tool} {call}: {error}");
        assert_eq!(error["field"], field, "{tool} {call}: {error}");
    }
}

#[tokio::test]
async fn a_description_of_a_megabyte_is_refused_with_the_limit_named() {
    let bench = bench().await;
    let call = json!({"customer_id": 1, "subject": "S", "description": "x".repeat(1_000_000)});
    let error = bench.error("create_ticket", call).await;
    assert_eq!(
        error["message"],
        "`description` must be at most 20000 characters, and has 1000000"
    );
}
