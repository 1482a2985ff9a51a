//! Groups of words and phrases that mean alike, read in place from the model file.
//!
//! They are written down in `lexicon.txt` and compiled into the file by the training, so that nothing is parsed at start-up.

use super::format::{self, Slots};
use super::hash;
use super::words::Word;

/// Longest phrase, in words.
pub(crate) const MAX_PHRASE: usize = 6;

/// Groups that a word belongs to, and groups of phrases that begin at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Set {
    /// One bit per group of words.
    pub(crate) words: u64,
    /// One bit per group of phrases.
    pub(crate) phrases: u64,
}

impl Set {
    /// What either has.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            words: self.words | other.words,
            phrases: self.phrases | other.phrases,
        }
    }

    /// Hashes of the groups of words.
    pub(super) fn words(self) -> impl Iterator<Item = u64> {
        bits(self.words).map(|bit| hash::mixed(bit + 1))
    }

    /// Hashes of the groups of phrases.
    pub(super) fn phrases(self) -> impl Iterator<Item = u64> {
        bits(self.phrases).map(|bit| hash::mixed(bit + 101))
    }
}

fn bits(mut mask: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let bit = u64::from(mask.trailing_zeros());
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit
        })
    })
}

/// The groups of a model.
#[derive(Debug)]
pub(crate) struct Groups<'a> {
    slots: Slots<'a>,
    sets: &'a [[u8; format::SET_BYTES]],
}

impl<'a> Groups<'a> {
    /// Groups as they stand in a file.
    pub(super) fn new(slots: Slots<'a>, sets: &'a [[u8; format::SET_BYTES]]) -> Self {
        Self { slots, sets }
    }

    /// What each word belongs to.
    pub(super) fn sets(&self, words: &[Word]) -> Vec<Set> {
        (0..words.len())
            .map(|at| {
                let mut sum = Set::default();
                let mut phrase = 0;
                let end = words.len().min(at + MAX_PHRASE);
                let here = words.get(at..end).unwrap_or_default();
                let sentence = here.first().map_or(0, |word| word.sentence);
                for word in here.iter().take_while(|word| word.sentence == sentence) {
                    phrase = hash::join(phrase, word.stem);
                    sum = sum.with(self.set(phrase));
                }
                sum
            })
            .collect()
    }

    fn set(&self, phrase: u64) -> Set {
        self.slots
            .find(phrase)
            .and_then(|value| self.sets.get(usize::from(u16::from_le_bytes(value))))
            .map_or_else(Set::default, format::set)
    }
}
