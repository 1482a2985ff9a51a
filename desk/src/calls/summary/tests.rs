//! What is quoted, and from where.

use domain::{Timestamp, Turn};
use proptest::prelude::*;

use super::*;

fn call(outcome: CallOutcome, turns: &[(Speaker, &str)]) -> Call {
    Call {
        id: domain::CallId::new(1),
        customer: None,
        ticket: None,
        started_at: Timestamp::from_micros(0),
        duration_seconds: 60,
        agent: "Sam".to_owned(),
        category: "general".to_owned(),
        outcome,
        turns: turns
            .iter()
            .zip(0..)
            .map(|((speaker, text), at_seconds)| Turn {
                speaker: *speaker,
                at_seconds,
                text: (*text).to_owned(),
            })
            .collect(),
    }
}

fn texts(quotes: &[Quote]) -> Vec<(usize, &str)> {
    quotes
        .iter()
        .map(|quote| (quote.turn, quote.text.as_str()))
        .collect()
}

const AGENT: Speaker = Speaker::Agent;
const CALLER: Speaker = Speaker::Caller;

#[test]
fn each_part_is_quoted_from_where_it_was_said() {
    let call = call(
        CallOutcome::Resolved,
        &[
            (AGENT, "Service desk, Sam speaking."),
            (
                CALLER,
                "Hello. The scanner on floor two does not scan any more.",
            ),
            (AGENT, "Is it on?"),
            (CALLER, "It is, the lamp is green."),
            (
                AGENT,
                "Please unplug the scanner, count to ten and plug it in again. I also cleared its queue.",
            ),
            (CALLER, "One moment."),
            (CALLER, "It works. Thank you, that was quick."),
        ],
    );
    let summary = CallSummary::of(&call);
    assert_eq!(
        texts(&summary.issue),
        [(1, "The scanner on floor two does not scan any more.")]
    );
    assert_eq!(
        texts(&summary.actions),
        [
            (
                4,
                "Please unplug the scanner, count to ten and plug it in again."
            ),
            (4, "I also cleared its queue."),
        ]
    );
    assert_eq!(
        texts(&summary.ending),
        [(6, "It works."), (6, "Thank you, that was quick.")]
    );
}

#[test]
fn a_part_without_a_sentence_stays_empty() {
    for (turns, parts) in [
        (vec![], [0, 0, 0]),
        (vec![(AGENT, "Service desk, hello?")], [0, 0, 0]),
        (vec![(CALLER, "Sorry, wrong number.")], [1, 0, 0]),
        (
            vec![
                (AGENT, "Service desk, hello."),
                (CALLER, "My invoice is wrong and I was charged twice."),
                (AGENT, "Hm."),
                (CALLER, "Hm."),
            ],
            [1, 0, 0],
        ),
        (
            vec![(CALLER, "?"), (AGENT, "\u{202e}"), (CALLER, "")],
            [0, 0, 0],
        ),
    ] {
        let summary = CallSummary::of(&call(CallOutcome::Resolved, &turns));
        let found = [&summary.issue, &summary.actions, &summary.ending].map(Vec::len);
        assert_eq!(found, parts, "{turns:?} {summary:?}");
    }
}

#[test]
fn the_recorded_outcome_says_which_end_is_looked_for() {
    let turns = [
        (AGENT, "Service desk."),
        (
            CALLER,
            "The mail of the whole branch is slow since Tuesday.",
        ),
        (AGENT, "I will pass it to the network team today."),
        (CALLER, "It works for one of us. Goodbye then!"),
    ];
    for (outcome, ending) in [
        (CallOutcome::Resolved, "It works for one of us."),
        (CallOutcome::Unresolved, "Goodbye then!"),
    ] {
        let summary = CallSummary::of(&call(outcome, &turns));
        assert_eq!(texts(&summary.ending), [(3, ending)], "{outcome}");
    }
    let mut later = turns.to_vec();
    later.push((AGENT, "You will hear from them before nine tomorrow."));
    for outcome in [CallOutcome::Escalated, CallOutcome::Callback] {
        let summary = CallSummary::of(&call(outcome, &later));
        let ending = texts(&summary.ending);
        assert_eq!(
            ending,
            [(4, "You will hear from them before nine tomorrow.")],
            "{outcome}"
        );
    }
}

#[test]
fn a_long_sentence_is_cut_at_a_word_and_stays_a_part_of_its_turn() {
    let text = "the printer does not print ".repeat(40);
    let call = call(CallOutcome::Resolved, &[(CALLER, &text)]);
    let summary = CallSummary::of(&call);
    let [quote] = summary.issue.as_slice() else {
        panic!("{summary:?}");
    };
    assert!(quote.text.chars().count() <= QUOTE_CHARS && text.contains(&quote.text));
    assert!(
        text.split(' ')
            .any(|word| quote.text.ends_with(word) && !word.is_empty())
    );
    let unbroken = "字".repeat(1_000);
    let quoted = cut(&unbroken);
    assert_eq!(quoted.chars().count(), QUOTE_CHARS);
}

fn turns() -> impl Strategy<Value = Vec<(Speaker, String)>> {
    let words = prop_oneof![
        "[ \\PC.!?]{0,60}",
        "(I|we|please|reset|not|error|works|thank|still|will|call|back|it|is|the|portal|[a-z]{3,6}|[.?!]|, ){0,14}"
            .prop_map(|text| text.replace("it", " it ").replace('.', ". ")),
    ];
    let speaker = prop_oneof![Just(Speaker::Agent), Just(Speaker::Caller)];
    prop::collection::vec((speaker, words), 0..24)
}

proptest! {
    #[test]
    fn every_quote_is_a_part_of_its_turn_and_none_comes_twice(turns in turns(), ending in 0..4_usize) {
        let outcome = CallOutcome::ALL[ending];
        let given: Vec<(Speaker, &str)> =
            turns.iter().map(|(speaker, text)| (*speaker, text.as_str())).collect();
        let call = call(outcome, &given);
        let summary = CallSummary::of(&call);
        prop_assert!(summary.issue.len() <= 2 && summary.actions.len() <= 3 && summary.ending.len() <= 2);
        for part in [&summary.issue, &summary.actions, &summary.ending] {
            prop_assert!(part.is_sorted_by_key(|quote| quote.turn));
            for quote in part {
                let turn = &call.turns[quote.turn];
                prop_assert!(!quote.text.trim().is_empty() && turn.text.contains(&quote.text));
                prop_assert_eq!(turn.speaker, quote.speaker);
            }
        }
        prop_assert!(summary.issue.iter().all(|quote| quote.speaker == Speaker::Caller));
        prop_assert!(summary.actions.iter().all(|quote| quote.speaker == Speaker::Agent));
        let all = summary.issue.iter().chain(&summary.actions).chain(&summary.ending);
        for quote in all.clone() {
            let same = all.clone().filter(|other| *other == quote).count();
            let said = call.turns[quote.turn].text.matches(&quote.text).count();
            prop_assert!(same <= said, "{:?}", quote);
        }
    }
}
