//! Every capability, policy and answer, on both revisions: what is recorded is what happened (promise G-16).

use std::time::Duration;

use desk::Verdict;
use domain::ApprovalId;

use super::*;

/// What a client declares, and whether a person can be asked with a form through it.
fn capabilities() -> [(Value, bool); 5] {
    [
        (json!({}), false),
        (json!({"elicitation": {}}), true),
        (json!({"elicitation": {"form": {}}}), true),
        (json!({"elicitation": {"form": {}, "url": {}}}), true),
        (json!({"elicitation": {"url": {}}}), false),
    ]
}

/// How an answer has to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Yes,
    No,
    /// Nobody answered in time, or the first of two calls was the last.
    Late,
    /// The client could not ask after all.
    Unasked,
}

/// Every answer to a question whose clean yes is `yes`.
fn answers(yes: &Value) -> Vec<(&'static str, Says, Taken)> {
    let accepted = |content: Value| Says::Result(json!({"action": "accept", "content": content}));
    let mut more = yes.clone();
    more["priority"] = json!("low");
    let mut twice = yes.clone();
    twice["Confirm"] = json!(true);
    vec![
        ("yes", accepted(yes.clone()), Taken::Yes),
        (
            "decline",
            Says::Result(json!({"action": "decline"})),
            Taken::No,
        ),
        (
            "cancel",
            Says::Result(json!({"action": "cancel"})),
            Taken::No,
        ),
        (
            "decline with a yes in it",
            Says::Result(json!({"action": "decline", "content": yes})),
            Taken::No,
        ),
        (
            "no content",
            Says::Result(json!({"action": "accept"})),
            Taken::No,
        ),
        ("null", accepted(Value::Null), Taken::No),
        ("nothing filled in", accepted(json!({})), Taken::No),
        ("a list", accepted(json!([yes])), Taken::No),
        ("a word", accepted(json!("yes")), Taken::No),
        ("a no", accepted(json!({"confirm": false})), Taken::No),
        (
            "a yes in quotes",
            accepted(json!({"confirm": "true"})),
            Taken::No,
        ),
        ("another id", accepted(json!({"id": "T-1"})), Taken::No),
        ("an extra field", accepted(more), Taken::No),
        ("a field in another case", accepted(twice), Taken::No),
        (
            "no known action",
            Says::Result(json!({"action": "maybe"})),
            Taken::No,
        ),
        (
            "no answer at all",
            Says::Result(json!({"confirm": true})),
            Taken::No,
        ),
        ("an error", Says::Error, Taken::Unasked),
        ("silence", Says::Nothing, Taken::Late),
    ]
}

/// Commits with the token of a preview, which needs no person or has had one.
async fn check_by_token(bench: &Bench, wire: &mut Wire, cell: Cell<'_>, preview: &Value) {
    let (tool, mut arguments, _) = change(cell.level, cell.ticket);
    arguments["confirmation_token"] = preview["confirmation_token"].clone();
    let method = match cell.level {
        Level::Token => "token_only",
        Level::Person => {
            let early = wire.call(tool, &arguments, &Says::Error).await;
            check_refused(bench, &early, cell, "APPROVAL_PENDING").await;
            let id = ApprovalId::parse(preview["approval_id"].as_str().unwrap()).unwrap();
            let operator = crate::tests::support::operator();
            let desk = bench.surface.desk();
            desk.decide_at_terminal(&operator, id, Verdict::Approve)
                .await
                .unwrap();
            "operator_terminal"
        }
    };
    let answer = wire.call(tool, &arguments, &Says::Error).await;
    check_made(bench, &answer, cell, method).await;
    let again = wire.call(tool, &arguments, &Says::Error).await;
    let mut expected = answer.clone();
    expected["replayed"] = json!(true);
    assert_eq!(again, expected, "{}", cell.at);
}

#[tokio::test]
async fn the_method_on_record_is_the_one_that_was_used_in_the_whole_matrix() {
    let patient = bench(Settings::default()).await;
    let hasty = bench(Settings {
        answer_timeout: Duration::from_millis(1),
        ..Settings::default()
    })
    .await;
    let mut cells = 0;
    for revision in Revision::ALL {
        for (capabilities, can_ask) in capabilities() {
            for level in [Level::Token, Level::Person] {
                for number in 0.. {
                    let bench = if number == SILENCE { &hasty } else { &patient };
                    let ticket = bench.ticket("C-1", "One").await;
                    let (_, _, yes) = change(level, &ticket);
                    let Some((name, says, taken)) = answers(&yes).into_iter().nth(number) else {
                        break;
                    };
                    // Between two calls there is nobody to wait for and no error to be had.
                    let silent = matches!(taken, Taken::Late | Taken::Unasked);
                    if silent && revision == Revision::Between {
                        continue;
                    }
                    let at = format!("{revision:?} {capabilities} {level:?} {name}");
                    let cell = Cell {
                        level,
                        ticket: &ticket,
                        at: &at,
                    };
                    let mut wire = Wire::open(&bench.surface, revision, capabilities.clone()).await;
                    check_cell(bench, &mut wire, can_ask, cell, (&says, taken)).await;
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 5 * 2 * (18 + 16));
}

/// The place of the one answer that has to be waited for.
const SILENCE: usize = 17;

async fn check_cell(
    bench: &Bench,
    wire: &mut Wire,
    can_ask: bool,
    cell: Cell<'_>,
    (says, taken): (&Says, Taken),
) {
    let (tool, arguments, _) = change(cell.level, cell.ticket);
    let answer = wire.call(tool, &arguments, says).await;
    assert_eq!(wire.asked.len(), usize::from(can_ask), "{}", cell.at);
    let waits = match cell.level {
        Level::Token => "CONFIRMATION_REQUIRED",
        Level::Person => "HUMAN_APPROVAL_REQUIRED",
    };
    match (can_ask, taken) {
        (false, _) | (true, Taken::Unasked) => {
            check_refused(bench, &answer, cell, waits).await;
            check_by_token(bench, wire, cell, &answer).await;
        }
        (true, Taken::Yes) => check_made(bench, &answer, cell, "elicitation_form").await,
        (true, Taken::No) => check_refused(bench, &answer, cell, "CONFIRMATION_DECLINED").await,
        (true, Taken::Late) => check_refused(bench, &answer, cell, "CONFIRMATION_EXPIRED").await,
    }
}
