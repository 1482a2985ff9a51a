//! The local classifier: word and character n-grams with a logistic weight each, trained by [`crate::train`] and compiled in.
//!
//! It needs no key, no network and nothing installed. It reads only what the ticket says and can only add a refusal (design
//! section 5, rule 3). The weights are read in place, so starting costs nothing and a ticket costs microseconds.

mod features;
mod format;
mod groups;
mod hash;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;
use std::sync::LazyLock;

pub(crate) use features::{Bag, Block, Reader};
pub(crate) use format::{Entry, Header, Scale, Table, damped, read_groups, write, write_groups};
pub(crate) use groups::Set;

/// The trained model: `cargo xtask train` writes it.
static COMPILED: &[u8] = include_bytes!("../model/local.bin");

static MODEL: LazyLock<Model> =
    LazyLock::new(|| Model::read(COMPILED).unwrap_or_else(Model::broken));

/// Longest text that is read, in bytes; the screen refuses longer tickets before it asks a classifier.
pub const MAX_TEXT: usize = 1 << 20;

/// A long text is read in windows, since an incident told in three sentences drowns in a long thread.
const WINDOW_WORDS: usize = 160;
/// Words from one window to the next, so that any hundred words in a row lie in one window.
const WINDOW_STEP: usize = 60;

/// Most evidence spans that are given for one text.
const MAX_EVIDENCE: usize = 5;

/// What a score means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Band {
    /// Nothing found.
    Clear,
    /// A person has to look first.
    Hold,
    /// Refused as an incident.
    Refuse,
}

/// A model that answers.
#[derive(Debug)]
pub struct Model {
    /// `None` when the compiled-in file can't be read: everything is refused then.
    table: Option<Table<'static>>,
}

impl Model {
    /// The compiled-in model.
    pub fn load() -> &'static Self {
        &MODEL
    }

    /// Reads a model file.
    pub(crate) fn read(file: &'static [u8]) -> Option<Self> {
        Table::read(file).map(|table| Self { table: Some(table) })
    }

    fn broken() -> Self {
        Self { table: None }
    }

    /// Log-odds that `text` tells of an incident: of its worst window. Infinite when there is no model, so that it refuses.
    pub fn score(&self, text: &str) -> f32 {
        let Some(table) = &self.table else {
            return f32::INFINITY;
        };
        let reader = Reader::of(bounded(text), table.groups());
        windows(reader.words())
            .map(|window| table.score(&Bag::of(&reader, window)))
            .fold(f32::NEG_INFINITY, f32::max)
    }

    /// The band of a score.
    pub fn verdict(&self, score: f32) -> Band {
        let Some(table) = &self.table else {
            return Band::Refuse;
        };
        let header = table.header();
        if score < header.hold {
            Band::Clear
        } else if score < header.refuse {
            Band::Hold
        } else {
            Band::Refuse
        }
    }

    /// The words of `text` that speak most for an incident, as byte ranges in the order of the text.
    pub fn evidence(&self, text: &str) -> Vec<Range<usize>> {
        let Some(table) = &self.table else {
            return Vec::new();
        };
        let text = bounded(text);
        let reader = Reader::of(text, table.groups());
        let worst = windows(reader.words())
            .map(|window| (table.score(&Bag::of(&reader, window.clone())), window))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, window)) = worst else {
            return Vec::new();
        };
        let weights = table.word_weights(&reader, window);
        strongest(&weights)
            .into_iter()
            .filter_map(|words| reader.original(words, text))
            .collect()
    }
}

/// Hash under which a phrase of the lexicon is stored; `None` if it is empty or too long to be found.
pub(crate) fn phrase_hash(phrase: &str) -> Option<u64> {
    let words = words::words_of(phrase.as_bytes());
    let length = 1..=groups::MAX_PHRASE;
    length.contains(&words.len()).then(|| {
        words
            .iter()
            .fold(0, |hash, word| hash::join(hash, word.stem))
    })
}

fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT.min(text.len())))
        .unwrap_or_default()
}

/// The windows of a text of `words` words: at least one.
fn windows(words: usize) -> impl Iterator<Item = Range<usize>> {
    let steps = words.saturating_sub(WINDOW_WORDS).div_ceil(WINDOW_STEP);
    (0..=steps).map(move |step| {
        let start = step * WINDOW_STEP;
        start..(start + WINDOW_WORDS).min(words)
    })
}

/// Groups of neighbouring words with the greatest weights, in the order of the text.
fn strongest(weights: &[(usize, f32)]) -> Vec<Range<usize>> {
    let mut order: Vec<(usize, f32)> = weights
        .iter()
        .copied()
        .filter(|&(_, weight)| weight > 0.0)
        .collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.truncate(MAX_EVIDENCE);
    let mut words: Vec<usize> = order.into_iter().map(|(word, _)| word).collect();
    words.sort_unstable();
    let mut groups: Vec<Range<usize>> = Vec::new();
    for word in words {
        match groups.last_mut() {
            Some(group) if group.end == word => group.end += 1,
            Some(_) | None => groups.push(word..word + 1),
        }
    }
    groups
}
