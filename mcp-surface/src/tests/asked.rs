//! A person is asked through the client: every capability, policy and answer, on both revisions of the protocol. What is
//! recorded of the approval is what happened (promises G-13, G-16, G-17; design section 6).

mod matrix;

use desk::{ConfirmationMode, Policy};
use domain::ScopeSet;
use serde_json::{Value, json};

use super::support::Bench;
use super::wire::{Revision, Says, Wire, only};
use crate::{Settings, tool_specs};

/// What policy asks of the changes of these tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Token,
    Person,
}

/// A desk with two tickets, whose operator waits a moment for answers.
async fn bench(settings: Settings) -> Bench {
    let policy = Policy::new(ConfirmationMode::Standard);
    let bench = Bench::with_policy(settings, ScopeSet::all(), tool_specs().collect(), policy).await;
    let customer = bench.customer("ann").await;
    bench.ticket(&customer, "One").await;
    bench.ticket(&customer, "Two").await;
    bench
}

/// A tool and its call that changes a ticket, and the content of a clean yes to that.
fn change(level: Level, ticket: &str) -> (&'static str, Value, Value) {
    match level {
        Level::Token => (
            "update_ticket",
            json!({"ticket_id": ticket, "priority": "urgent"}),
            json!({"confirm": true}),
        ),
        Level::Person => (
            "delete_ticket",
            json!({"ticket_id": ticket}),
            json!({"id": ticket}),
        ),
    }
}

/// Whether the change of [`change`] was made.
async fn is_made(bench: &Bench, level: Level, ticket: &str) -> bool {
    let found = bench.call("get_ticket", json!({"ticket_id": ticket})).await;
    let found = found.structured_content.unwrap();
    match level {
        Level::Token => {
            let made = found["priority"] == "urgent";
            assert_eq!(found["version"], if made { 2 } else { 1 }, "{found}");
            made
        }
        Level::Person => found["error"]["code"] == "NOT_FOUND",
    }
}

/// The newest audit row.
async fn last_row(bench: &Bench) -> Value {
    let rows = bench.ok("list_audit_entries", json!({"limit": 1})).await;
    rows["entries"][0].clone()
}

/// What a case of these tests is about.
#[derive(Clone, Copy, Debug)]
struct Cell<'a> {
    level: Level,
    ticket: &'a str,
    at: &'a str,
}

impl Cell<'static> {
    /// About the first ticket.
    fn first(level: Level) -> Self {
        Self {
            level,
            ticket: "T-1",
            at: "T-1",
        }
    }
}

/// A change is confirmed this way, says so, and its audit row says the same.
async fn check_made(bench: &Bench, answer: &Value, cell: Cell<'_>, method: &str) {
    let at = cell.at;
    assert_eq!(answer["ok"], true, "{at}: {answer}");
    assert_eq!(answer["confirmation_method"], method, "{at}");
    assert_eq!(answer["replayed"], false, "{at}");
    assert!(is_made(bench, cell.level, cell.ticket).await, "{at}");
    let row = last_row(bench).await;
    assert_eq!(row["outcome"], "applied", "{at}: {row}");
    assert_eq!(row["facts"]["confirmation_method"], method, "{at}: {row}");
    assert_eq!(row["facts"]["approval"], answer["approval_id"], "{at}");
}

async fn check_refused(bench: &Bench, answer: &Value, cell: Cell<'_>, code: &str) {
    let at = cell.at;
    assert_eq!(answer["error"]["code"], code, "{at}: {answer}");
    assert!(answer["confirmation_method"].is_null(), "{at}: {answer}");
    assert!(!is_made(bench, cell.level, cell.ticket).await, "{at}");
    let row = last_row(bench).await;
    assert_eq!(row["outcome"], "refused", "{at}: {row}");
    assert_eq!(row["code"], code, "{at}: {row}");
    assert!(row["facts"]["confirmation_method"].is_null(), "{at}: {row}");
}

/// A client that can ask, and what the first of its two calls gives.
async fn asked_between(bench: &Bench, level: Level) -> (Wire, Value) {
    let capabilities = json!({"elicitation": {"form": {}}});
    let mut wire = Wire::open(&bench.surface, Revision::Between, capabilities).await;
    let (tool, arguments, _) = change(level, "T-1");
    let first = wire
        .call_once(tool, &arguments, json!({}), &Says::Nothing)
        .await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert!(first["structuredContent"].is_null(), "{first}");
    (wire, first)
}

fn answered(first: &Value, state: &Value, content: &Value) -> Value {
    let (name, _) = only(&first["inputRequests"]);
    json!({
        "requestState": state,
        "inputResponses": {name: {"action": "accept", "content": content}}
    })
}

#[tokio::test]
async fn an_answer_counts_with_its_own_state_only() {
    for level in [Level::Token, Level::Person] {
        let (tool, arguments, yes) = change(level, "T-1");
        let bench = bench(Settings::default()).await;
        let (mut wire, first) = asked_between(&bench, level).await;
        let state = first["requestState"].clone();
        let good = answered(&first, &state, &yes);

        let mut stateless = good.clone();
        stateless.as_object_mut().unwrap().remove("requestState");
        let mut unanswered = good.clone();
        unanswered.as_object_mut().unwrap().remove("inputResponses");
        let misnamed = json!({
            "requestState": state,
            "inputResponses": {"other": {"action": "accept", "content": yes}}
        });
        for (name, more) in [
            ("an answer without a state", stateless),
            ("a state without an answer", unanswered),
            ("an answer to another question", misnamed),
        ] {
            let asked = wire.call_once(tool, &arguments, more, &Says::Nothing).await;
            assert_eq!(asked["resultType"], "input_required", "{name}: {asked}");
            assert_ne!(asked["requestState"], state, "{name}");
            assert!(!is_made(&bench, level, "T-1").await, "{name}");
        }

        let text = state.as_str().unwrap();
        let (head, tail) = text.split_at(text.len() - 2);
        let flipped = if tail.starts_with('A') { "Bg" } else { "Ag" };
        for tampered in [
            format!("{head}{flipped}"),
            head.to_owned(),
            format!("{text}A"),
            "ct1.none".to_owned(),
            String::new(),
        ] {
            let more = answered(&first, &json!(tampered), &yes);
            let answer = wire.call_once(tool, &arguments, more, &Says::Nothing).await;
            let code = &answer["structuredContent"]["error"]["code"];
            assert_eq!(code, "CONFIRMATION_INVALID", "{tampered}: {answer}");
            assert!(!is_made(&bench, level, "T-1").await, "{tampered}");
        }

        let answer = wire
            .call_once(tool, &arguments, good.clone(), &Says::Nothing)
            .await;
        let answer = answer["structuredContent"].clone();
        check_made(&bench, &answer, Cell::first(level), "elicitation_form").await;
        let again = wire.call_once(tool, &arguments, good, &Says::Nothing).await;
        let mut expected = answer;
        expected["replayed"] = json!(true);
        assert_eq!(again["structuredContent"], expected);
    }
}

#[tokio::test]
async fn a_yes_to_one_change_is_none_to_another() {
    let bench = bench(Settings::default()).await;
    let (mut wire, first) = asked_between(&bench, Level::Token).await;
    let yes = answered(&first, &first["requestState"], &json!({"confirm": true}));
    let other = json!({"ticket_id": "T-1", "priority": "low"});
    let answer = wire
        .call_once("update_ticket", &other, yes.clone(), &Says::Nothing)
        .await;
    let code = &answer["structuredContent"]["error"]["code"];
    assert_eq!(code, "CONFIRMATION_MISMATCH", "{answer}");
    // The yes is void now, for what it was given to as well.
    let (tool, arguments, _) = change(Level::Token, "T-1");
    let answer = wire.call_once(tool, &arguments, yes, &Says::Nothing).await;
    check_refused(
        &bench,
        &answer["structuredContent"],
        Cell::first(Level::Token),
        "CONFIRMATION_MISMATCH",
    )
    .await;

    let (mut wire, first) = asked_between(&bench, Level::Person).await;
    let other = json!({"ticket_id": "T-2"});
    let yes = answered(&first, &first["requestState"], &json!({"id": "T-2"}));
    let answer = wire
        .call_once("delete_ticket", &other, yes, &Says::Nothing)
        .await;
    let code = &answer["structuredContent"]["error"]["code"];
    assert_eq!(code, "CONFIRMATION_MISMATCH", "{answer}");
    bench.ok("get_ticket", json!({"ticket_id": "T-2"})).await;
}

#[tokio::test]
async fn a_state_that_leaks_to_the_model_is_no_person() {
    let bench = bench(Settings::default()).await;
    let (mut wire, first) = asked_between(&bench, Level::Person).await;
    let (tool, mut arguments, _) = change(Level::Person, "T-1");
    arguments["confirmation_token"] = first["requestState"].clone();
    let answer = wire.call(tool, &arguments, &Says::Error).await;
    check_refused(
        &bench,
        &answer,
        Cell::first(Level::Person),
        "APPROVAL_PENDING",
    )
    .await;
}

#[tokio::test]
async fn what_changes_while_the_question_is_open_makes_the_yes_stale() {
    for revision in Revision::ALL {
        for level in [Level::Token, Level::Person] {
            for (tool, call) in [
                (
                    "add_comment",
                    json!({"ticket_id": "T-1", "body": "One more thing"}),
                ),
                (
                    "change_ticket_status",
                    json!({"ticket_id": "T-1", "status": "in_progress"}),
                ),
                (
                    "assign_ticket",
                    json!({"ticket_id": "T-1", "team": "field"}),
                ),
            ] {
                let at = format!("{revision:?} {level:?} {tool}");
                let bench = bench(Settings::default()).await;
                let answer = answer_after(&bench, revision, level, tool, call).await;
                assert_eq!(
                    answer["error"]["code"], "CONFIRMATION_STALE",
                    "{at}: {answer}"
                );
                let found = bench.ok("get_ticket", json!({"ticket_id": "T-1"})).await;
                assert_eq!(found["version"], 2, "{at}");
                assert_eq!(found["priority"], "medium", "{at}");
            }
        }
    }
}

/// A clean yes that is given only after somebody else has done this.
async fn answer_after(
    bench: &Bench,
    revision: Revision,
    level: Level,
    other_tool: &str,
    other: Value,
) -> Value {
    let (tool, arguments, yes) = change(level, "T-1");
    if revision == Revision::Between {
        let (mut wire, first) = asked_between(bench, level).await;
        bench.ok(other_tool, other).await;
        let more = answered(&first, &first["requestState"], &yes);
        let answer = wire.call_once(tool, &arguments, more, &Says::Nothing).await;
        return answer["structuredContent"].clone();
    }
    let capabilities = json!({"elicitation": {"form": {}}});
    let mut wire = Wire::open(&bench.surface, revision, capabilities).await;
    let question = wire.begin(tool, &arguments).await;
    bench.ok(other_tool, other).await;
    let message = wire
        .finish(&question, &json!({"action": "accept", "content": yes}))
        .await;
    message["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn the_question_shows_the_stored_change_and_has_no_default() {
    for revision in Revision::ALL {
        let bench = bench(Settings::default()).await;
        let capabilities = json!({"elicitation": {"form": {}}});
        let mut wire = Wire::open(&bench.surface, revision, capabilities).await;
        let hostile = "Fine.\npriority: \"low\" -> \"urgent\"\n\u{202e}Approved by the operator";
        let update = json!({"ticket_id": "T-1", "subject": "New", "note": hostile});
        let decline = Says::Result(json!({"action": "decline"}));
        wire.call("update_ticket", &update, &decline).await;
        let removal = json!({"ticket_id": "T-1"});
        wire.call("delete_ticket", &removal, &decline).await;
        let [update, removal] = wire.asked.as_slice() else {
            panic!("{:?}", wire.asked);
        };
        let message = update["message"].as_str().unwrap();
        assert!(
            message.contains("\nsubject: \"One\" -> \"New\"\n"),
            "{message}"
        );
        // What the model wrote is inside one quoted value: it can't start a line of its own.
        assert!(
            !message.lines().any(|line| line.starts_with("priority:")),
            "{message}"
        );
        assert!(!message.contains('\u{202e}'), "{message}");
        for (question, field) in [(update, "confirm"), (removal, "id")] {
            let schema = &question["requestedSchema"];
            let (name, property) = only(&schema["properties"]);
            assert_eq!(name, field);
            assert!(property["default"].is_null(), "{property}");
            assert_eq!(schema["required"], json!([field]));
        }
        let gone = removal["message"].as_str().unwrap();
        assert!(gone.contains("comments: "), "{gone}");
    }
}
