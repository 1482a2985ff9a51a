//! The tools over calls and scores: filters that matter, excerpts, quotes, transcripts that are read whole, figures.

use std::collections::BTreeSet;

use domain::{CallOutcome, Scope, ScopeSet, Speaker, Turn};
use serde_json::{Value, json};
use storage::import::{ImportCall, ImportCsatSubject, ImportRecord};
use testkit::START;

use super::lists::walk;
use super::support::{Bench, each, import_call, import_csat, import_customer, import_ticket};
use crate::Settings;

const MINUTE: i64 = 60_000_000;

fn call_with(word: &str, turns: &[(Speaker, &str)]) -> ImportCall {
    let turns = turns.iter().zip(0..);
    ImportCall {
        turns: turns
            .map(|((speaker, text), at_seconds)| Turn {
                speaker: *speaker,
                at_seconds,
                text: (*text).to_owned(),
            })
            .collect(),
        ..import_call(word)
    }
}

/// Three calls and four scores of which each filter keeps one part.
async fn bench() -> Bench {
    let bench = Bench::new().await;
    let said = |word: &str| {
        call_with(
            word,
            &[
                (Speaker::Agent, "Service desk, good morning."),
                (Speaker::Caller, "I was charged a fee of ten pounds twice."),
                (Speaker::Agent, "I corrected the invoice."),
            ],
        )
    };
    let mut first = said("first");
    first.category = "billing".to_owned();
    first.customer = Some("ann".to_owned());
    let mut second = said("second");
    second.outcome = CallOutcome::Escalated;
    second.started_at = START.plus_micros(10 * MINUTE);
    let mut third = said("third");
    third.agent = "Siobhán Ó Riain".to_owned();
    third.started_at = START.plus_micros(20 * MINUTE);
    let mut ticket = import_ticket("ticket", "ann", domain::Status::Open);
    ticket.assignee = Some("siobhán ó riain".to_owned());
    let mut records = vec![
        ImportRecord::Customer(import_customer("ann")),
        ImportRecord::Ticket(ticket),
    ];
    records.extend([first, second, third].map(ImportRecord::Call));
    for (word, about, score, minutes) in [
        ("a", "first", 1, 0),
        ("b", "first", 5, 10),
        ("c", "second", 3, 20),
        ("d", "", 4, 30),
    ] {
        let mut given = import_csat(word, about, score);
        given.submitted_at = START.plus_micros(minutes * MINUTE);
        if about.is_empty() {
            given.subject = ImportCsatSubject::Ticket("ticket".to_owned());
            given.category = "billing".to_owned();
        }
        records.push(ImportRecord::Csat(given));
    }
    bench.import(records).await;
    bench
}

fn minutes(number: i64) -> String {
    START.plus_micros(number * MINUTE).to_string()
}

#[tokio::test]
async fn each_filter_of_the_search_changes_what_it_finds() {
    let bench = bench().await;
    for (filter, wanted) in [
        (json!({}), vec![3, 2, 1]),
        (json!({"category": "Billing"}), vec![1]),
        (json!({"outcome": "escalated"}), vec![2]),
        (json!({"agent": " SIOBHÁN ó riain"}), vec![3]),
        (json!({"agent": "nobody"}), vec![]),
        (json!({"customer_id": "C-1"}), vec![1]),
        (json!({"started_from": minutes(10)}), vec![3, 2]),
        (json!({"started_until": minutes(10)}), vec![1]),
        (
            json!({"started_from": minutes(10), "started_until": minutes(20)}),
            vec![2],
        ),
        (json!({"score_min": 4}), vec![1]),
        (json!({"score_max": 3}), vec![2, 1]),
        (json!({"score_min": 2, "score_max": "4"}), vec![2]),
    ] {
        for query in [json!(null), json!("a fee that was charged")] {
            let mut call = filter.clone();
            call["query"] = query.clone();
            let found = bench.ok("search_transcripts", call).await;
            let ids = each(&found["calls"], "call_id");
            let wanted: Vec<String> = wanted.iter().map(|id| format!("CALL-{id:05}")).collect();
            assert_eq!(ids, wanted, "{filter} {query}");
            assert_eq!(found["total"], wanted.len());
            let mode = if query.is_null() {
                &Value::Null
            } else {
                &json!("lexical")
            };
            assert_eq!(&found["search_mode"], mode);
        }
    }
    let limited = bench.ok("search_transcripts", json!({"limit": 2})).await;
    assert_eq!(limited["returned"], 2);
}

#[tokio::test]
async fn a_hit_shows_the_turn_that_fits_marked_by_who_said_it() {
    let bench = bench().await;
    let call = json!({"query": "invoice corrected?", "category": "billing"});
    let found = bench.ok("search_transcripts", call).await;
    let hit = &found["calls"][0];
    assert_eq!(
        hit["excerpt"],
        json!({
            "turn": 3, "at_seconds": 2, "speaker": "agent", "origin": "team",
            "text": "I corrected the invoice."
        })
    );
    assert_eq!(hit["scores"], json!([1, 5]));
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    let listed = bench.ok("search_transcripts", json!({})).await;
    let first = &listed["calls"][0];
    assert_eq!(first["excerpt"]["origin"], "customer");
    assert_eq!(first["excerpt"]["turn"], 2);
    assert!(first["score"].is_null() && first["scores"] == json!([]));
}

#[tokio::test]
async fn each_filter_of_the_figures_changes_them() {
    let bench = bench().await;
    for (filter, count, mean) in [
        (json!({}), 4, json!(3.25)),
        (json!({"score_min": 4}), 2, json!(4.5)),
        (json!({"score_max": 3}), 2, json!(2.0)),
        (json!({"category": "billing"}), 1, json!(4.0)),
        (json!({"agent": "Agent first"}), 2, json!(3.0)),
        (json!({"agent": "SIOBHÁN Ó RIAIN"}), 1, json!(4.0)),
        (json!({"agent": "nobody"}), 0, Value::Null),
        (json!({"submitted_from": minutes(10)}), 3, json!(4.0)),
        (json!({"submitted_until": minutes(10)}), 1, json!(1.0)),
        (
            json!({"submitted_from": minutes(10), "submitted_until": minutes(20)}),
            1,
            json!(5.0),
        ),
    ] {
        let found = bench.ok("query_csat", filter.clone()).await;
        assert_eq!(found["count"], count, "{filter}");
        assert_eq!(found["mean"], mean, "{filter}");
        assert_eq!(found["share_4_5"].is_null(), count == 0, "{filter}");
        let comments = found["comments"].as_array().unwrap();
        assert_eq!(comments.len(), count, "{filter}");
    }
    let all = bench.ok("query_csat", json!({})).await;
    assert_eq!(all["share_4_5"], 0.5);
    assert_eq!(
        all["distribution"],
        json!({"1": 1, "2": 0, "3": 1, "4": 1, "5": 1})
    );
    assert_eq!(
        all["by_category"],
        json!([
            {"category": "billing", "count": 1, "mean": 4.0, "share_4_5": 1.0},
            {"category": "general", "count": 3, "mean": 3.0, "share_4_5": 0.333},
        ])
    );
    assert_eq!(all["by_week"].as_array().unwrap().len(), 1);
    assert_eq!(all["comments"][2]["ticket_id"], "T-1");
    let empty = bench.ok("query_csat", json!({"agent": "nobody"})).await;
    assert_eq!(empty["by_week"], json!([]));
}

#[tokio::test]
async fn a_summary_quotes_turns_and_a_transcript_is_shown_when_asked_for() {
    let bench = bench().await;
    let found = bench.ok("get_call_summary", json!({"call_id": 1})).await;
    assert_eq!(found["summary_method"], "extractive");
    assert_eq!(
        found["summary"]["issue"],
        json!([{
            "turn": 2, "speaker": "caller", "origin": "customer",
            "text": "I was charged a fee of ten pounds twice."
        }])
    );
    assert_eq!(
        found["summary"]["actions"][0]["text"],
        "I corrected the invoice."
    );
    assert_eq!(found["summary"]["ending"], json!([]));
    assert!(found["turns"].is_null() && found["total"].is_null());
    assert_eq!(
        (&found["customer_id"], &found["scores"]),
        (&json!("C-1"), &json!([1, 5]))
    );
    let call = json!({"call_id": 1, "include_transcript": true});
    let found = bench.ok("get_call_summary", call).await;
    assert_eq!(found["turns"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&found["total"], &found["truncated"]),
        (&json!(3), &json!(false))
    );
    let error = bench
        .error("get_call_summary", json!({"call_id": "T-1"}))
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("the id of a ticket"),
        "{error}"
    );
}

/// Reads a transcript to its end in pages; gives the text of each turn.
async fn read_turns(bench: &Bench, id: i64) -> (Vec<String>, usize) {
    let mut turns: Vec<String> = Vec::new();
    let mut cursor = Value::Null;
    for page_number in 0..500 {
        let call = json!({"call_id": id, "include_transcript": true, "cursor": cursor});
        let page = bench.ok("get_call_summary", call).await;
        assert_eq!(page["summary"].is_null(), page_number > 0);
        let shown = page["turns"].as_array().unwrap();
        assert_eq!(page["returned"], shown.len());
        for turn in shown {
            let number = turn["turn"].as_u64().unwrap();
            let text = turn["text"].as_str().unwrap();
            let offset = turn["offset"].as_u64().unwrap_or_default();
            if offset == 0 {
                turns.push(text.to_owned());
            } else {
                let last = turns.last_mut().unwrap();
                assert_eq!(offset, last.chars().count() as u64);
                last.push_str(text);
            }
            assert_eq!(number, turns.len() as u64);
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return (turns, page_number + 1);
        }
    }
    panic!("the transcript does not end");
}

#[tokio::test]
async fn a_transcript_of_any_length_is_read_whole_within_the_smallest_budget() {
    let settings = Settings {
        result_bytes: Settings::RESULT_BYTES_MIN,
        ..Settings::default()
    };
    let bench = Bench::with(settings, ScopeSet::all()).await;
    let mut records = vec![ImportRecord::Call(call_with("empty", &[]))];
    let mut said = Vec::new();
    for (number, script) in [' ', '字', '\u{202e}', '"', '\n'].into_iter().enumerate() {
        let long: String = (0..4_000)
            .flat_map(|place| format!("not {place}{script}").chars().collect::<Vec<_>>())
            .take(9_000)
            .collect();
        let texts = [
            "Good morning.",
            long.as_str(),
            "It works.",
            "",
            long.as_str(),
            "!",
        ];
        let turns: Vec<(Speaker, &str)> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| (Speaker::ALL[at % 2], *text))
            .collect();
        let mut call = call_with(&format!("call{number}"), &turns);
        call.agent = script.to_string().repeat(200);
        records.push(ImportRecord::Call(call));
        said.push(texts.map(str::to_owned).to_vec());
    }
    bench.import(records).await;
    assert_eq!(read_turns(&bench, 1).await, (Vec::new(), 1));
    for (id, wanted) in (2..).zip(said) {
        let (turns, pages) = read_turns(&bench, id).await;
        assert_eq!(turns, wanted, "{id}");
        assert!((3..60).contains(&pages), "{id}: {pages}");
        bench.ok("get_call_summary", json!({ "call_id": id })).await;
    }
    // The bench checks the size of every page.
    for query in [json!(null), json!("not 7 works")] {
        let call = json!({ "query": query });
        let field = "call_id";
        let (seen, _) = walk(
            &bench,
            "search_transcripts",
            &call,
            "calls",
            field,
            100,
            &mut async |_| (),
        )
        .await;
        assert!(seen.len() >= 5, "{seen:?}");
    }
}

#[tokio::test]
async fn figures_of_many_weeks_and_the_longest_comments_stay_within_the_smallest_budget() {
    let settings = Settings {
        result_bytes: Settings::RESULT_BYTES_MIN,
        ..Settings::default()
    };
    let bench = Bench::with(settings, ScopeSet::all()).await;
    let mut records = vec![ImportRecord::Call(import_call("call"))];
    for number in 0..300_i64 {
        let score = u8::try_from(number % 5).unwrap() + 1;
        let mut given = import_csat(&number.to_string(), "call", score);
        given.submitted_at = START.plus_micros(number * 7 * 24 * 60 * MINUTE);
        given.comment = Some("\u{202e}字".repeat(5_000));
        records.push(ImportRecord::Csat(given));
    }
    bench.import(records).await;
    let found = bench.ok("query_csat", json!({})).await;
    assert_eq!(found["count"], 300);
    let weeks = found["by_week"].as_array().unwrap().len();
    assert!((10..=26).contains(&weeks), "{weeks}");
    assert_eq!(found["omitted_rows"], 300 - weeks);
    let comments = found["comments"].as_array().unwrap();
    assert_eq!(comments.len(), 10);
    for comment in comments {
        let shown = comment["comment"]["text"].as_str().unwrap().chars().count();
        let omitted = usize::try_from(comment["omitted_chars"].as_u64().unwrap()).unwrap();
        assert_eq!(shown + omitted, 10_000);
    }
    // A call with many scores is still one row.
    let listed = bench.ok("search_transcripts", json!({})).await;
    assert_eq!(listed["total"], 1);
}

#[tokio::test]
async fn a_search_walks_to_its_end_with_any_page_size_while_calls_come_in() {
    for limit in [1, 2, 5] {
        let bench = Bench::new().await;
        let calls = |from: usize| {
            (from..from + 9).map(|number| {
                let extra = "fee ".repeat(number % 4) + &"filler ".repeat(number);
                let turns = [
                    (Speaker::Caller, extra.as_str()),
                    (Speaker::Agent, "pounds"),
                ];
                ImportRecord::Call(call_with(&number.to_string(), &turns))
            })
        };
        bench.import(calls(0).collect()).await;
        for query in [json!("fee pounds"), json!(null)] {
            let call = json!({ "query": query });
            let rows = ("search_transcripts", "calls", "call_id");
            let (before, _) = walk(
                &bench,
                rows.0,
                &call,
                rows.1,
                rows.2,
                100,
                &mut async |_| (),
            )
            .await;
            let next = std::cell::Cell::new(before.len() + 100 * usize::from(query.is_null()));
            let mut insert = async |page: usize| {
                if page < 2 {
                    bench.import(calls(100 + next.get()).collect()).await;
                    next.set(next.get() + 9);
                }
            };
            let (seen, totals) =
                walk(&bench, rows.0, &call, rows.1, rows.2, limit, &mut insert).await;
            assert_eq!(seen, before, "{query} by {limit}");
            assert_eq!(totals, BTreeSet::from([before.len() as u64]));
        }
    }
}

#[tokio::test]
async fn spoken_numbers_are_masked_in_excerpts_quotes_transcripts_and_comments() {
    let scopes: ScopeSet = Scope::ALL
        .iter()
        .copied()
        .filter(|scope| *scope != Scope::CustomersPii)
        .collect();
    let spoken = [
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4111-1111-1111-1111",
        "4 111 - 1111 1111 1111",
        "0 2 0 7 9 4 6 0 1 2 3",
    ];
    let shown = Bench::with(Settings::default(), ScopeSet::all()).await;
    let hidden = Bench::with(Settings::default(), scopes).await;
    for (bench, may) in [(&shown, true), (&hidden, false)] {
        let mut records = Vec::new();
        for (place, number) in spoken.iter().enumerate() {
            let word = place.to_string();
            let text = format!("My card was charged twice and its number is {number}, please.");
            records.push(ImportRecord::Call(call_with(
                &word,
                &[(Speaker::Caller, &text)],
            )));
            let mut given = import_csat(&word, &word, u8::try_from(place).unwrap() + 1);
            given.comment = Some(text);
            records.push(ImportRecord::Csat(given));
        }
        bench.import(records).await;
        for (tool, call) in [
            ("search_transcripts", json!({"query": "card charged"})),
            ("get_call_summary", json!({"call_id": 1})),
            ("get_call_summary", json!({"call_id": 2})),
            (
                "get_call_summary",
                json!({"call_id": 3, "include_transcript": true}),
            ),
            ("get_call_summary", json!({"call_id": 4, "cursor": "4.0.9"})),
            ("query_csat", json!({})),
        ] {
            let result = bench.call(tool, call.clone()).await;
            let all = serde_json::to_string(&result).unwrap();
            let leaks = spoken.iter().filter(|number| all.contains(*number)).count();
            assert_eq!(leaks > 0, may, "{tool} {call}: {all}");
            assert_eq!(
                all.contains("[card ") || all.contains("[phone "),
                !may,
                "{tool} {call}"
            );
        }
    }
}
