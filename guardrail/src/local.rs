//! The local classifier: our own small model, compiled in. No key, no network, nothing to install.

pub(crate) mod features;
pub(crate) mod model;
#[cfg(test)]
mod tests;

use std::future::ready;
use std::sync::{Arc, OnceLock};

use crate::classifier::{
    Answer, Classifier, ClassifierDown, Decision, Mode, Quote, Verdict, unusable,
};
use crate::fold::{Folded, Range};
use crate::ticket::{Segment, Source};
use features::Features;
use model::Model;

/// The model that `cargo xtask train` wrote.
pub const MODEL: &[u8] = include_bytes!("local/model.bin");

/// From this score on a person has to look. Chosen on writers that were kept out of training.
pub const HOLD: f32 = 0.0;
/// From this score on it is an incident. Chosen so that at most one in twenty is wrong on such writers.
pub const REFUSE: f32 = 2.0;

/// Words judged together. A long thread is judged piece by piece, and its worst piece counts: else an incident in one
/// comment would be drowned by the others.
const WINDOW: usize = 200;
/// Fewer words than these say nothing: names, greetings.
const FEWEST_WORDS: usize = 3;

/// The local classifier. A build whose model can't be read gets one that refuses.
pub fn classifier() -> Arc<dyn Classifier> {
    match model() {
        Some(_) => Arc::new(Local),
        None => unusable(Mode::Local),
    }
}

/// The model, read when the first text is judged.
fn model() -> Option<&'static Model> {
    static READ: OnceLock<Option<Model>> = OnceLock::new();
    READ.get_or_init(|| Model::read(MODEL).ok()).as_ref()
}

#[derive(Debug)]
struct Local;

impl Classifier for Local {
    fn mode(&self) -> Mode {
        Mode::Local
    }

    fn version(&self) -> String {
        static VERSION: OnceLock<String> = OnceLock::new();
        VERSION.get_or_init(version).clone()
    }

    fn judge<'a>(&'a self, texts: &'a [Segment]) -> Answer<'a> {
        let verdict = model()
            .map(|model| judge(model, texts))
            .ok_or(ClassifierDown::Unavailable);
        Box::pin(ready(verdict))
    }
}

/// Model and thresholds, for the digest of a screening.
fn version() -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    let mut version = format!("local {HOLD} {REFUSE} ");
    for byte in Sha256::digest(MODEL).iter().take(8) {
        let written = write!(version, "{byte:02x}");
        debug_assert!(written.is_ok());
    }
    version
}

/// A piece of a ticket and how much it speaks for an incident.
struct Piece {
    score: f32,
    /// The sentence that speaks most for it.
    quote: Option<Quote>,
}

fn judge(model: &Model, texts: &[Segment]) -> Verdict {
    let (head, others): (Vec<&Segment>, Vec<&Segment>) = texts
        .iter()
        .partition(|text| matches!(text.source, Source::Subject | Source::Description));
    let groups = std::iter::once(head).chain(others.into_iter().map(|text| vec![text]));
    let worst = groups
        .flat_map(|group| pieces(model, &group))
        .max_by(|one, other| one.score.total_cmp(&other.score));
    let decision = worst
        .as_ref()
        .map_or(Decision::Clear, |worst| decide(worst.score));
    let quote = worst.and_then(|worst| worst.quote);
    Verdict {
        decision: Some(decision),
        quotes: quote
            .into_iter()
            .filter(|_| decision != Decision::Clear)
            .collect(),
    }
}

fn decide(score: f32) -> Decision {
    if score >= REFUSE {
        Decision::Refuse
    } else if score >= HOLD {
        Decision::Hold
    } else {
        Decision::Clear
    }
}

/// The score of texts that are judged together, as it is compared with [`HOLD`] and [`REFUSE`]; the largest, if they are
/// cut into pieces. Nothing, if the model of this build can't be read.
pub fn score(texts: &[&str]) -> Option<f32> {
    let model = model()?;
    let folded = Folded::of(texts.iter().copied());
    let scores = windows(folded.text())
        .map(|window| model.score(&Features::of(folded.text().get(window).unwrap_or_default())));
    Some(scores.fold(f32::NEG_INFINITY, f32::max))
}

fn pieces(model: &Model, texts: &[&Segment]) -> Vec<Piece> {
    let folded = Folded::of(texts.iter().map(|text| text.text.as_str()));
    windows(folded.text())
        .filter_map(|window| {
            let features = Features::of(folded.text().get(window.clone())?);
            if features.places.len() < FEWEST_WORDS {
                return None;
            }
            let score = model.score(&features);
            let quote = (score >= HOLD)
                .then(|| quote(model, &features, &folded, window.start, texts))
                .flatten();
            Some(Piece { score, quote })
        })
        .collect()
}

/// The sentence whose words add most to the score, in its original bytes.
fn quote(
    model: &Model,
    features: &Features,
    folded: &Folded,
    start: usize,
    texts: &[&Segment],
) -> Option<Quote> {
    let weights = model.weights(features);
    let mut best = (f32::NEG_INFINITY, 0..0);
    let mut first = 0;
    for end in 1..=features.places.len() {
        let ends = features
            .places
            .get(end)
            .is_none_or(|&(_, _, starts_sentence)| starts_sentence);
        if ends {
            let sum: f32 = weights.get(first..end)?.iter().sum();
            if sum > best.0 {
                best = (sum, first..end);
            }
            first = end;
        }
    }
    let (from, ..) = features.places.get(best.1.start)?;
    let (_, to, _) = features.places.get(best.1.end.checked_sub(1)?)?;
    let range = Range {
        start: *from,
        end: *to,
    }
    .moved(start);
    let segment = texts.get(folded.segment_of(range.start))?;
    let bytes = folded.original(range, &segment.text);
    Some(Quote {
        source: segment.source,
        text: segment.text.get(bytes)?.to_owned(),
    })
}

/// Stretches of about [`WINDOW`] words.
fn windows(text: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let gaps = rest
            .iter()
            .enumerate()
            .filter(|&(_, &byte)| matches!(byte, b' ' | b'\n'));
        let end = gaps
            .map(|(at, _)| at + 1)
            .nth(WINDOW - 1)
            .unwrap_or(rest.len());
        let window = start..start + end;
        start = window.end;
        Some(window)
    })
}
