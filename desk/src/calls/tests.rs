//! Searches and summaries over the demonstration calls.

use domain::ScoreRange;

use super::*;
use crate::ops::demo;
use crate::ops::tests::{TestDesk, run};

fn demo_desk() -> TestDesk {
    let desk = TestDesk::new();
    run(demo::seed(&desk.desk, &desk.caller)).unwrap();
    desk
}

fn every_call(desk: &TestDesk) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut cursor = None;
    loop {
        let search = CallSearch {
            limit: Some(100),
            cursor,
            ..CallSearch::default()
        };
        let page = run(desk.desk.search_transcripts(&desk.caller, search)).unwrap();
        calls.extend(page.listing.rows.into_iter().map(|row| row.call));
        cursor = page.listing.next_cursor;
        if cursor.is_none() {
            return calls;
        }
    }
}

#[test]
fn the_summary_of_every_demo_call_quotes_only_that_call() {
    let desk = demo_desk();
    let calls = every_call(&desk);
    assert!(calls.len() >= 40, "{}", calls.len());
    let mut quoted = 0;
    for call in &calls {
        let summarised = run(desk.desk.get_call_summary(&desk.caller, call.id)).unwrap();
        assert_eq!(&summarised.call, call);
        let summary = &summarised.summary;
        for quote in summary
            .issue
            .iter()
            .chain(&summary.actions)
            .chain(&summary.ending)
        {
            quoted += 1;
            let turn = &call.turns[quote.turn];
            assert!(turn.text.contains(&quote.text), "{}: {quote:?}", call.id);
            assert_eq!(turn.speaker, quote.speaker);
        }
        let said_by_caller = call
            .turns
            .iter()
            .any(|turn| turn.speaker == domain::Speaker::Caller);
        assert_eq!(!summary.issue.is_empty(), said_by_caller, "{}", call.id);
    }
    assert!(quoted > 3 * calls.len(), "{quoted}");
    // Hardly a quote of some length stands in another call too: then both say the same words.
    let mut shared = 0;
    for call in &calls {
        let summary = CallSummary::of(call);
        let parts = [summary.issue, summary.actions, summary.ending].concat();
        for quote in parts.iter().filter(|quote| quote.text.len() > 30) {
            let mut others = calls.iter().filter(|other| other.id != call.id);
            let says_it = |other: &Call| {
                other
                    .turns
                    .iter()
                    .any(|turn| turn.text.contains(&quote.text))
            };
            shared += usize::from(others.any(says_it));
        }
    }
    assert!(shared * 50 < quoted, "{shared} of {quoted}");
}

#[test]
fn every_page_size_walks_the_same_ranking_to_its_end() {
    let desk = demo_desk();
    for query in [Some("invoice password printer thank you"), None] {
        let search = |limit, cursor| CallSearch {
            query: query.map(str::to_owned),
            limit: Some(limit),
            cursor,
            ..CallSearch::default()
        };
        let walk = |limit| {
            let (mut ids, mut cursor) = (Vec::new(), None);
            loop {
                let page = run(desk
                    .desk
                    .search_transcripts(&desk.caller, search(limit, cursor)))
                .unwrap();
                assert!(page.listing.rows.len() <= usize::from(limit));
                ids.extend(page.listing.rows.iter().map(|row| row.call.id));
                cursor = page.listing.next_cursor;
                if cursor.is_none() {
                    assert_eq!(ids.len(), page.listing.total.count as usize);
                    return ids;
                }
            }
        };
        let whole = walk(100);
        assert!(whole.len() > 10, "{query:?}");
        for limit in [1, 3, 7] {
            assert_eq!(walk(limit), whole, "{query:?} by {limit}");
        }
    }
}

#[test]
fn a_call_is_found_by_what_was_said_and_shows_the_turn_that_says_it() {
    let desk = demo_desk();
    for call in every_call(&desk).iter().filter(|call| call.turns.len() > 5) {
        let longest = call
            .turns
            .iter()
            .max_by_key(|turn| turn.text.len())
            .unwrap();
        let query: String = longest.text.chars().take(400).collect();
        let search = CallSearch {
            query: Some(query.clone()),
            limit: Some(3),
            ..CallSearch::default()
        };
        let hits = run(desk.desk.search_transcripts(&desk.caller, search)).unwrap();
        let first = &hits.listing.rows[0];
        assert_eq!(first.call.id, call.id, "{query}");
        let turn = &first.call.turns[first.turn.unwrap()];
        assert_eq!(turn.text, longest.text);
        assert!(hits.listing.rows.is_sorted_by(|a, b| a.score >= b.score));
    }
}

#[test]
fn what_can_hold_nothing_is_refused_by_name() {
    let desk = demo_desk();
    let range = ScoreRange {
        least: Some(4),
        most: Some(2),
    };
    let mut search = CallSearch::default();
    search.filter.score = range;
    let error = run(desk.desk.search_transcripts(&desk.caller, search)).unwrap_err();
    assert!(matches!(error, DeskError::Invalid(error) if error.field == "score_min"));
    let filter = domain::CsatFilter {
        score: range,
        ..domain::CsatFilter::default()
    };
    let error = run(desk.desk.query_csat(&desk.caller, filter)).unwrap_err();
    assert!(matches!(error, DeskError::Invalid(error) if error.field == "score_min"));
}

#[test]
fn satisfaction_adds_up_by_category_and_by_week() {
    let desk = demo_desk();
    let found = run(desk
        .desk
        .query_csat(&desk.caller, domain::CsatFilter::default()))
    .unwrap();
    assert!(found.all.count() > 50);
    for parts in [
        found
            .by_category
            .iter()
            .map(|row| row.1)
            .collect::<Vec<_>>(),
        found.by_week.iter().map(|row| row.1).collect(),
    ] {
        let mut sum = [0; 5];
        for part in &parts {
            assert!(part.count() > 0);
            for (sum, times) in sum.iter_mut().zip(part.by_score()) {
                *sum += times;
            }
        }
        assert_eq!(sum, found.all.by_score());
    }
    assert!(found.by_week.is_sorted_by(|a, b| a.0 > b.0));
    let none = domain::CsatFilter {
        agent: Some("nobody".to_owned()),
        ..domain::CsatFilter::default()
    };
    let empty = run(desk.desk.query_csat(&desk.caller, none)).unwrap();
    assert_eq!(empty, crate::Satisfaction::default());
}
