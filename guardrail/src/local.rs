//! The local classifier: words, character n-grams and word classes with weights that tell incidents from look-alikes and from
//! ordinary tickets, trained by [`crate::train`] and compiled in.
//!
//! It needs no key, no network and nothing installed. It reads only what the ticket says and can only add a refusal (design
//! section 5, rule 3). The weights are read in place, so starting costs nothing and a ticket costs microseconds.

mod features;
mod format;
mod lexicon;
mod math;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::LazyLock;

pub(crate) use features::{Bag, Reader, VIEWS, view_of};
pub(crate) use format::{Entry, Header, OTHERS, Table, damped, write};
pub(crate) use lexicon::CLASSES;
pub(crate) use math::{exp, ln};

/// The trained model: `cargo xtask train` writes it.
static COMPILED: &[u8] = include_bytes!("../model/local.bin");

static MODEL: LazyLock<Model> =
    LazyLock::new(|| Model::read(COMPILED).unwrap_or_else(Model::broken));

/// Longest text that is read, in bytes; the screen refuses longer tickets before it asks a classifier.
pub const MAX_TEXT: usize = 1 << 20;

/// A long text is read in windows, since an incident told in three sentences drowns in a long thread.
const WINDOW_WORDS: usize = 100;
/// Words from one window to the next, so that any sixty words in a row lie in one window.
const WINDOW_STEP: usize = 40;

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
        worst_window(table, &Reader::of(bounded(text))).0
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

    /// Whether a comment or transcript with this score holds its ticket. A ticket has many of them and the model has not
    /// learnt what staff write, so it takes more than for the request itself.
    pub fn holds_later(&self, score: f32) -> bool {
        self.table
            .as_ref()
            .is_none_or(|table| score >= table.header().hold_later || score.is_nan())
    }

    /// The words of `text` that speak most for an incident, as byte ranges in the order of the text.
    pub fn evidence(&self, text: &str) -> Vec<Range<usize>> {
        let Some(table) = &self.table else {
            return Vec::new();
        };
        let text = bounded(text);
        let reader = Reader::of(text);
        let (_, window) = worst_window(table, &reader);
        let weights = table.word_weights(&reader, window);
        strongest(&weights)
            .into_iter()
            .filter_map(|words| reader.original(words, text))
            .collect()
    }
}

fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT.min(text.len())))
        .unwrap_or_default()
}

/// The highest score of a window, and the window.
pub(crate) fn worst_window(table: &Table<'_>, reader: &Reader) -> (f32, Range<usize>) {
    windows(reader.words())
        .map(|window| (table.score(&Bag::of(reader, window.clone())), window))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((f32::NEG_INFINITY, 0..0))
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
