//! Finding calls by words, and what each filter keeps.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{CallFilter, CallId, CallOutcome, CustomerId, ScoreRange, Speaker, TimeRange, Turn};
use proptest::prelude::*;
use storage::import::{ImportCall, ImportCsat, ImportRecord, OnError};
use storage::{CallQuery, FoundCalls, Storage};

use crate::import::{call, csat};
use crate::support::{Place, at, customer, ok, terms};

on_every_engine!(
    words_of_both_sides_are_found_and_told_apart,
    punctuation_never_fails_and_never_hides_a_match,
    whatever_was_said_is_found_by_its_own_words,
    each_filter_keeps_what_it_names_and_ranges_are_half_open,
    a_filter_that_every_call_passes_changes_no_answer,
    a_later_page_searches_the_calls_of_the_first,
    calls_from_before_the_index_are_found_after_the_next_opening,
    calls_come_in_the_order_asked_for_with_every_score,
    a_store_without_calls_finds_nothing,
);

/// A call in which each side says one thing.
fn said(word: &str, by_caller: &str, by_agent: &str) -> ImportCall {
    let turn = |speaker, at_seconds, text: &str| Turn {
        speaker,
        at_seconds,
        text: text.to_owned(),
    };
    ImportCall {
        turns: vec![
            turn(Speaker::Agent, 0, by_agent),
            turn(Speaker::Caller, 9, by_caller),
        ],
        ..call(word)
    }
}

#[track_caller]
fn brought_in(store: &Arc<dyn Storage>, calls: Vec<ImportCall>) {
    import(store, calls.into_iter().map(ImportRecord::Call).collect());
}

#[track_caller]
fn import(store: &Arc<dyn Storage>, records: Vec<ImportRecord>) {
    let count = u64::try_from(records.len()).unwrap();
    let report = crate::import::import(store, records, OnError::Abort);
    assert_eq!(report.created, count);
}

#[track_caller]
fn found(store: &Arc<dyn Storage>, query: &str, filter: CallFilter) -> FoundCalls {
    ok(store.search_calls(CallQuery {
        terms: terms(query),
        filter,
        upto: None,
    }))
}

fn ids(found: &FoundCalls) -> BTreeSet<i64> {
    found.matches.iter().map(|row| row.id.number()).collect()
}

fn words_of_both_sides_are_found_and_told_apart(place: &Place) {
    let store = place.open();
    brought_in(
        &store,
        vec![
            said("a", "The printer prints blank pages", "Which printer?"),
            said("b", "My invoice is wrong", "I correct the invoice"),
            said("c", "Nothing of that", "Is it a printer?"),
        ],
    );
    let both = found(&store, "printers invoice", CallFilter::default());
    assert_eq!(ids(&both), BTreeSet::from([1, 2, 3]));
    assert_eq!((both.calls, both.having), (3, vec![2, 1]));
    assert_eq!(both.upto, Some(CallId::new(3)));
    let sides: BTreeSet<(i64, u32, u32)> = both
        .matches
        .iter()
        .map(|row| (row.id.number(), row.by_caller, row.by_agent))
        .collect();
    assert_eq!(
        sides,
        BTreeSet::from([(1, 0b01, 0b01), (2, 0b10, 0b10), (3, 0b00, 0b01)])
    );
    assert!(
        found(&store, "toner", CallFilter::default())
            .matches
            .is_empty()
    );
    let all = found(&store, "", CallFilter::default());
    assert_eq!(ids(&all), BTreeSet::from([1, 2, 3]));
    assert!(!all.candidates_capped);
}

fn punctuation_never_fails_and_never_hides_a_match(place: &Place) {
    let store = place.open();
    brought_in(&store, vec![said("a", "printer jam", "hello")]);
    for mark in (0_u8..128)
        .map(char::from)
        .filter(char::is_ascii_punctuation)
    {
        for query in [
            format!("{mark}printer jam"),
            format!("printer{mark} jam"),
            format!("printer{mark}{mark}jam"),
        ] {
            let found = found(&store, &query, CallFilter::default());
            assert_eq!(found.matches[0].by_caller, 0b11, "{query}");
        }
    }
    // What callers of the trait could send past `domain::terms`.
    for raw in ["\"", "a\" OR \"b", "caller:printer", "printer*", "AND", ""] {
        let query = CallQuery {
            terms: vec![raw.to_owned()],
            ..CallQuery::default()
        };
        assert!(ok(store.search_calls(query)).matches.is_empty(), "{raw}");
    }
}

fn whatever_was_said_is_found_by_its_own_words(place: &Place) {
    let store = place.open();
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    };
    let number = Cell::new(0);
    let texts = ("\\PC{1,60}", "\\PC{0,60}");
    proptest!(config, |((by_caller, by_agent) in texts)| {
        let words = terms(&by_caller);
        prop_assume!(!words.is_empty());
        number.set(number.get() + 1);
        brought_in(&store, vec![said(&number.get().to_string(), &by_caller, &by_agent)]);
        let found = found(&store, &by_caller, CallFilter::default());
        let all = u32::MAX >> (32 - words.len());
        let upto = found.upto.unwrap();
        prop_assert!(found.matches.iter().any(|row| row.id == upto && row.by_caller == all));
    });
}

fn each_filter_keeps_what_it_names_and_ranges_are_half_open(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com");
    let mut calls: Vec<ImportCall> = ["a", "b", "c"]
        .map(|word| said(word, "a fee of ten pounds", "hello"))
        .into();
    "billing".clone_into(&mut calls[0].category);
    calls[0].customer = Some(ada.email.clone());
    calls[1].outcome = CallOutcome::Escalated;
    calls[1].started_at = at(60);
    "Siobhán ÓRIAIN".clone_into(&mut calls[2].agent);
    calls[2].started_at = at(120);
    let mut records: Vec<ImportRecord> = calls.into_iter().map(ImportRecord::Call).collect();
    for (number, (call, score)) in [("a", 1), ("a", 5), ("b", 3)].into_iter().enumerate() {
        records.push(ImportRecord::Csat(ImportCsat {
            score,
            ..csat(&format!("s{number}"), call)
        }));
    }
    import(&store, records);
    let none = CallFilter::default;
    let started = |from: Option<i64>, until: Option<i64>| CallFilter {
        started: TimeRange {
            from: from.map(at),
            until: until.map(at),
        },
        ..none()
    };
    let scored = |least, most| CallFilter {
        score: ScoreRange { least, most },
        ..none()
    };
    let table = [
        (none(), vec![1, 2, 3]),
        (
            CallFilter {
                category: Some("billing".to_owned()),
                ..none()
            },
            vec![1],
        ),
        (
            CallFilter {
                outcome: Some(CallOutcome::Escalated),
                ..none()
            },
            vec![2],
        ),
        (
            CallFilter {
                agent: Some(domain::text::fold(" siobhán óriain ")),
                ..none()
            },
            vec![3],
        ),
        (
            CallFilter {
                customer: Some(ada.id),
                ..none()
            },
            vec![1],
        ),
        (
            CallFilter {
                customer: Some(CustomerId::new(99)),
                ..none()
            },
            vec![],
        ),
        (started(Some(60), None), vec![2, 3]),
        (started(None, Some(60)), vec![1]),
        (started(Some(60), Some(120)), vec![2]),
        (scored(Some(4), None), vec![1]),
        (scored(None, Some(3)), vec![1, 2]),
        (scored(Some(2), Some(4)), vec![2]),
        (scored(Some(5), Some(5)), vec![1]),
    ];
    for (filter, wanted) in table {
        let wanted = BTreeSet::from_iter(wanted);
        for query in ["fee", ""] {
            let found = found(&store, query, filter.clone());
            assert_eq!(ids(&found), wanted, "{query:?} {filter:?}");
            assert_eq!(found.calls, 3);
        }
    }
}

/// Searches with and without a filter are looked up in two ways, which must find alike.
fn a_filter_that_every_call_passes_changes_no_answer(place: &Place) {
    let store = place.open();
    let words = ["ant", "bee", "cat", "dog", "eel"];
    let calls = (0..32_usize).map(|number| {
        let side = |odd: usize| {
            let held = (0..5).filter(|bit| number >> bit & 1 == 1 && (bit + number) % 2 == odd);
            held.map(|bit| words[bit]).collect::<Vec<_>>().join(", ")
        };
        said(&number.to_string(), &side(0), &side(1))
    });
    brought_in(&store, calls.collect());
    let passed_by_all = CallFilter {
        outcome: Some(CallOutcome::Resolved),
        ..CallFilter::default()
    };
    for chosen in 1..32_usize {
        let query: Vec<&str> = (0..5)
            .filter(|bit| chosen >> bit & 1 == 1)
            .map(|bit| words[bit])
            .chain((chosen % 4 == 0).then_some("gnu"))
            .collect();
        let query = query.join(" ");
        let mut plain = found(&store, &query, CallFilter::default());
        let mut filtered = found(&store, &query, passed_by_all.clone());
        plain.matches.sort_by_key(|row| row.id);
        filtered.matches.sort_by_key(|row| row.id);
        assert_eq!(plain, filtered, "{query}");
        assert!(!plain.matches.is_empty());
    }
}

fn a_later_page_searches_the_calls_of_the_first(place: &Place) {
    let store = place.open();
    brought_in(&store, vec![said("a", "a fee", ""), said("b", "no", "")]);
    let first = found(&store, "fee", CallFilter::default());
    brought_in(&store, vec![said("c", "a fee", ""), said("d", "fee", "")]);
    for filter in [
        CallFilter::default(),
        CallFilter {
            outcome: Some(CallOutcome::Resolved),
            ..CallFilter::default()
        },
    ] {
        let later = ok(store.search_calls(CallQuery {
            terms: terms("fee"),
            filter,
            upto: first.upto,
        }));
        assert_eq!(later, first);
    }
    assert_eq!(
        ids(&found(&store, "fee", CallFilter::default())),
        BTreeSet::from([1, 3, 4])
    );
}

fn calls_from_before_the_index_are_found_after_the_next_opening(place: &Place) {
    let store = place.open();
    // More than one opening indexes at once.
    let calls = (0..1_203).map(|number| ImportCall {
        agent: "ÅSA".to_owned(),
        ..said(&number.to_string(), &format!("fee{number}"), "hello")
    });
    brought_in(&store, calls.collect());
    let whole = found(&store, "fee7 fee1202 hello", CallFilter::default());
    drop(store);
    place.execute(
        "INSERT INTO calls_to_index (call_id) SELECT id FROM calls; DELETE FROM call_terms; \
         UPDATE calls SET agent_folded = ''",
    );
    let store = place.open();
    assert_eq!(
        found(&store, "fee7 fee1202 hello", CallFilter::default()),
        whole
    );
    assert_eq!(ids(&whole), BTreeSet::from([8, 1_203]));
    assert!(
        whole.candidates_capped,
        "`hello` is too common to be looked up"
    );
    let by_name = CallFilter {
        agent: Some(domain::text::fold("åsa")),
        ..CallFilter::default()
    };
    assert_eq!(found(&store, "fee7", by_name).matches.len(), 1);
    assert_eq!(place.query("SELECT count(*) FROM calls_to_index"), "0");
}

fn calls_come_in_the_order_asked_for_with_every_score(place: &Place) {
    let store = place.open();
    brought_in(&store, vec![said("a", "x", ""), said("b", "y", "")]);
    let scores = [("b", 5, 3), ("b", 1, 2), ("b", 1, 1)];
    let records = scores.into_iter().map(|(call, score, second)| {
        ImportRecord::Csat(ImportCsat {
            score,
            submitted_at: at(second),
            ..csat(&format!("{call}{score}{second}"), call)
        })
    });
    import(&store, records.collect());
    let asked = [2, 99, 1].map(CallId::new).to_vec();
    let calls = ok(store.get_calls(asked));
    let shown: Vec<(i64, &[u8])> = calls
        .iter()
        .map(|row| (row.call.id.number(), row.scores.as_slice()))
        .collect();
    assert_eq!(shown, [(2, [1, 1, 5].as_slice()), (1, &[])]);
    assert_eq!(calls[0].call, ok(store.get_call(CallId::new(2))));
}

fn a_store_without_calls_finds_nothing(place: &Place) {
    let store = place.open();
    for query in ["fee", ""] {
        let found = found(&store, query, CallFilter::default());
        assert!(found.matches.is_empty() && found.upto.is_none() && found.calls == 0);
    }
}
