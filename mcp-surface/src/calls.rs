//! Calls as results show them.

use domain::{Call, Speaker};
use serde::Serialize;

use crate::view::{Said, minute};

/// What a side of a call said, marked by whose words they are.
pub(crate) fn said_by(speaker: Speaker, text: &str) -> Said<'_> {
    match speaker {
        Speaker::Caller => Said::by_customer(text),
        Speaker::Agent => Said::by_team(text),
    }
}

/// A call in a list and in its record. What was said is apart.
#[derive(Debug, Serialize)]
pub(crate) struct CallRow<'a> {
    call_id: String,
    started_at: String,
    duration_seconds: u32,
    agent: Said<'a>,
    category: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket_id: Option<String>,
    scores: &'a [u8],
}

impl<'a> CallRow<'a> {
    pub(crate) fn of(call: &'a Call, scores: &'a [u8]) -> Self {
        Self {
            call_id: call.id.to_string(),
            started_at: call.started_at.to_string(),
            duration_seconds: call.duration_seconds,
            agent: Said::by_team(&call.agent),
            category: &call.category,
            outcome: call.outcome.as_str(),
            customer_id: call.customer.map(|id| id.to_string()),
            ticket_id: call.ticket.map(|id| id.to_string()),
            // A list shows the newest of very many.
            scores: scores
                .get(scores.len().saturating_sub(SCORES_SHOWN)..)
                .unwrap_or(scores),
        }
    }
}

/// Scores of one call that are shown: more than one is rare.
const SCORES_SHOWN: usize = 20;

/// A call's fields from closed vocabularies, in words.
pub(crate) fn call_facts(call: &Call, scores: &[u8]) -> String {
    let customer = call
        .customer
        .map_or_else(|| "an unknown caller".to_owned(), |id| id.to_string());
    let ticket = call
        .ticket
        .map_or_else(String::new, |id| format!(", about {id}"));
    format!(
        "{}, {}, {} s, {}, {}, with {customer}{ticket}, {}",
        call.id,
        minute(call.started_at),
        call.duration_seconds,
        call.category,
        call.outcome,
        score_words(scores)
    )
}

/// Scores in words, the newest of very many.
fn score_words(scores: &[u8]) -> String {
    let shown = scores
        .get(scores.len().saturating_sub(SCORES_SHOWN)..)
        .unwrap_or(scores);
    match shown {
        [] => "no score".to_owned(),
        [one] => format!("score {one}"),
        several => {
            // With words between them, so that many can't look like a telephone number.
            let several: Vec<String> = several.iter().map(u8::to_string).collect();
            format!("scores {}", several.join(" then "))
        }
    }
}
