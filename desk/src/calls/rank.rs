//! How well a call matches words: rarer words count more, the caller's more than the agent's, and long calls, which hold
//! many words, need more of them (Okapi BM25 with each word counted once).
//!
//! It depends on nothing but the calls up to the newest one that the search began with, so a page stays where it was.

use std::cmp::Reverse;

use domain::terms::index_terms;
use domain::{Call, CallId, Speaker, Timestamp};
use storage::{CallMatch, FoundCalls};

/// What a word counts that only the agent said: the matter of a call is what the caller says, and agents repeat themselves.
const AGENT_SHARE: f64 = 0.7;

/// How soon a longer call stops gaining, and how much its length counts: the usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Distinct words of both sides in a call of two minutes. A constant and not the mean of the store, so that no call's score
/// changes with another's length.
const USUAL_WORDS: f64 = 110.0;

/// A call with its place in the order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) id: CallId,
    started_at: Timestamp,
    pub(super) score: f64,
}

/// What each term of the query counts: the fewer calls hold it, the more.
pub(super) fn weights(found: &FoundCalls) -> Vec<f64> {
    let calls = number(found.calls);
    let weight = |having: &i64| {
        let having = number(*having);
        (1.0 + (calls - having + 0.5) / (having + 0.5)).ln()
    };
    found.having.iter().map(weight).collect()
}

/// The calls in order: by score, then those that began last.
pub(super) fn order(matches: Vec<CallMatch>, weights: &[f64]) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = matches
        .into_iter()
        .map(|found| Ranked {
            id: found.id,
            started_at: found.started_at,
            score: score(&found, weights),
        })
        .collect();
    ranked.sort_by(|a, b| {
        let newer = Reverse((a.started_at, a.id)).cmp(&Reverse((b.started_at, b.id)));
        b.score.total_cmp(&a.score).then(newer)
    });
    ranked
}

fn score(found: &CallMatch, weights: &[f64]) -> f64 {
    let sum = |bits: u32| {
        let held = weights.iter().enumerate();
        held.filter(|(term, _)| bits >> term & 1 == 1)
            .map(|(_, weight)| weight)
            .sum::<f64>()
    };
    let agent_only = found.by_agent & !found.by_caller;
    let length = f64::from(found.words) / USUAL_WORDS;
    let gain = (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * length));
    gain * (sum(found.by_caller) + AGENT_SHARE * sum(agent_only))
}

/// The turn that holds the most of the words, of the caller where two are equal, then the earlier; without a word the first
/// turn of the caller.
pub(super) fn best_turn(call: &Call, terms: &[String], weights: &[f64]) -> Option<usize> {
    let worth = |text: &str| {
        let held = index_terms(text);
        let known = terms.iter().zip(weights);
        known
            .filter(|(term, _)| held.contains(term))
            .map(|(_, weight)| weight)
            .sum::<f64>()
    };
    let turns = call.turns.iter().enumerate();
    let judged = turns.map(|(place, turn)| {
        let is_caller = turn.speaker == Speaker::Caller;
        (worth(&turn.text), is_caller, Reverse(place))
    });
    judged
        .max_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))))
        .map(|(_, _, Reverse(place))| place)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of calls are far below 2^53"
)]
fn number(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    //! The order of two calls.

    use super::*;

    fn found(id: i64, by_caller: u32, by_agent: u32, words: u32) -> CallMatch {
        CallMatch {
            id: CallId::new(id),
            started_at: Timestamp::from_micros(id),
            by_caller,
            by_agent,
            words,
        }
    }

    #[test]
    fn rarer_words_the_callers_words_and_shorter_calls_come_first() {
        let having = FoundCalls {
            matches: Vec::new(),
            having: vec![2, 60, 0],
            calls: 100,
            upto: None,
            candidates_capped: false,
        };
        let weights = weights(&having);
        assert!(
            weights.is_sorted_by(|a, b| a > b || *b > 4.0),
            "{weights:?}"
        );
        let matches = vec![
            found(1, 0b10, 0, 90),
            found(2, 0, 0b01, 90),
            found(3, 0b01, 0b01, 90),
            found(4, 0b11, 0, 90),
            found(5, 0b01, 0, 400),
            found(6, 0b01, 0, 90),
        ];
        let order: Vec<i64> = order(matches, &weights)
            .iter()
            .map(|row| row.id.number())
            .collect();
        // Equal ones: the newer first.
        assert_eq!(order, [4, 6, 3, 2, 5, 1]);
    }

    #[test]
    fn without_words_the_last_begun_comes_first() {
        let matches = vec![found(2, 0, 0, 0), found(3, 0, 0, 0), found(1, 0, 0, 0)];
        let order: Vec<i64> = order(matches, &[])
            .iter()
            .map(|row| row.id.number())
            .collect();
        assert_eq!(order, [3, 2, 1]);
    }
}
