//! The answer of a model, read strictly: everything that is not exactly what was asked for is no answer, and no answer
//! refuses (policy lists C, 16 and 17).

#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer};

use super::prompt::Situation;
use crate::classifier::{ClassifierDown, Decision, Quote, Verdict};
use crate::ticket::Segment;

/// Quotations that a verdict may rest on; a result has to hold them all.
const MOST_EVIDENCE: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    nonce: String,
    /// `null` is no decision, and leaving it out is no answer: serde would take both for `None`.
    #[serde(deserialize_with = "present")]
    is_incident: Option<bool>,
    indicators: Vec<Situation>,
    evidence: Vec<String>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    Option::deserialize(deserializer)
}

/// Reads the answer to the question with this nonce about these texts.
///
/// The nonce has to come back. A ticket can hold a complete answer that clears it, and a model can be talked into repeating
/// that, but whoever wrote the ticket could not know the nonce.
pub(super) fn read(
    answer: &str,
    nonce: &str,
    texts: &[Segment],
) -> Result<Verdict, ClassifierDown> {
    let given: Given =
        serde_json::from_str(answer).map_err(|_malformed| ClassifierDown::Malformed)?;
    if given.nonce != nonce || given.evidence.len() > MOST_EVIDENCE {
        return Err(ClassifierDown::Malformed);
    }
    let is_incident = given.is_incident.ok_or(ClassifierDown::Undecided)?;
    let gives_reasons = !given.indicators.is_empty() || !given.evidence.is_empty();
    if !is_incident && gives_reasons {
        return Err(ClassifierDown::Contradiction);
    }
    let quotes = given
        .evidence
        .into_iter()
        .map(|words| quote(words, texts).ok_or(ClassifierDown::NotInText))
        .collect::<Result<_, _>>()?;
    Ok(Verdict {
        decision: Some(if is_incident {
            Decision::Refuse
        } else {
            Decision::Clear
        }),
        quotes,
    })
}

/// The words with the text that they stand in.
fn quote(words: String, texts: &[Segment]) -> Option<Quote> {
    if words.trim().is_empty() {
        return None;
    }
    let found = texts.iter().find(|text| text.text.contains(&words))?;
    Some(Quote {
        source: found.source,
        text: words,
    })
}
