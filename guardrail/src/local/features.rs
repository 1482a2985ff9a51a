//! What the classifier sees of a text, in six blocks.

use std::ops::Range;

use crate::fold::{self, Folded};

use super::groups::{Groups, Set};
use super::hash;
use super::words::{self, Word};

/// Longest part of a word that is cut into runs of characters, in bytes: keeps the work linear and the bag small.
const MAX_WORD: usize = 24;
/// Lengths of the runs of characters, counted with the space on either side of the word.
const RUNS: std::ops::RangeInclusive<usize> = 2..=5;
/// How far apart two words may stand to be read together.
const REACH: usize = 4;

/// Kinds of features. Each block is a vector of its own length, so that the many runs of characters don't drown the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Stems, alone and with the next one.
    Words,
    /// Stems with one word or more between them.
    Skips,
    /// A stem near a word of a group, so that what is true of `clicked` is tried on `tapped`.
    Near,
    /// Runs of characters inside words.
    Letters,
    /// Groups of phrases.
    Phrases,
    /// A group of phrases in one sentence and another in the next.
    Turns,
}

impl Block {
    /// Every block, in the order of the file.
    pub(crate) const ALL: [Self; 6] = [
        Self::Words,
        Self::Skips,
        Self::Near,
        Self::Letters,
        Self::Phrases,
        Self::Turns,
    ];

    /// How much the block counts beside the others.
    pub(crate) fn share(self) -> f32 {
        match self {
            Self::Words => 1.0,
            Self::Skips | Self::Letters => 0.5,
            Self::Near => 0.7,
            Self::Phrases | Self::Turns => 0.3,
        }
    }
}

/// A feature and the words it was read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feature {
    /// What it belongs to.
    pub(crate) block: Block,
    /// Stands for the feature: equal for equal features in every build.
    pub(crate) hash: u64,
    /// First word.
    pub(crate) first: usize,
    /// Last word.
    pub(crate) last: usize,
}

/// A folded text cut into words, with the groups they belong to.
#[derive(Debug)]
pub(crate) struct Reader {
    folded: Folded,
    words: Vec<Word>,
    sets: Vec<Set>,
}

impl Reader {
    /// Reads `text`.
    pub(crate) fn of(text: &str, groups: &Groups<'_>) -> Self {
        let folded = Folded::of([text]);
        let words = words::words_of(folded.text());
        let sets = groups.sets(&words);
        Self {
            folded,
            words,
            sets,
        }
    }

    /// Number of words.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// The bytes of `text`, which must be the text that was read, that hold the `words`.
    pub(crate) fn original(&self, words: Range<usize>, text: &str) -> Option<Range<usize>> {
        let words = self.words.get(words)?;
        let (first, last) = (words.first()?, words.last()?);
        let range = fold::Range {
            start: first.place.start,
            end: last.place.end,
        };
        let range = self.folded.original(range, text);
        text.get(range.clone()).map(|_| range)
    }

    /// Gives every feature of the words in `window` to `sink`.
    pub(crate) fn features(&self, window: Range<usize>, mut sink: impl FnMut(Feature)) {
        let start = window.start;
        let words = self.words.get(window.clone()).unwrap_or_default();
        let sets = self.sets.get(window).unwrap_or_default();
        for (at, word) in words.iter().enumerate() {
            let mut give = |block, hash, length: usize| {
                sink(Feature {
                    block,
                    hash,
                    first: start + at,
                    last: start + at + length,
                });
            };
            give(Block::Words, word.stem, 0);
            self.letters(word, |hash| give(Block::Letters, hash, 0));
            let set = sets.get(at).copied().unwrap_or_default();
            for group in set.phrases() {
                give(Block::Phrases, group, 0);
            }
            let later = words.iter().zip(sets).skip(at + 1).take(REACH);
            for (distance, (other, other_set)) in (1..).zip(later) {
                if other.sentence != word.sentence {
                    break;
                }
                let pair = hash::join(word.stem, other.stem);
                if distance == 1 {
                    give(Block::Words, pair, 1);
                } else {
                    give(Block::Skips, pair, distance);
                }
                for group in set.words() {
                    give(Block::Near, hash::join(group, other.stem), distance);
                }
                for group in other_set.words() {
                    give(Block::Near, hash::join(word.stem, group), distance);
                }
            }
        }
        turns(start, words, sets, sink);
    }

    fn letters(&self, word: &Word, sink: impl FnMut(u64)) {
        let text = self.folded.text();
        let place = word.place.start as usize..word.place.end as usize;
        runs(text.get(place).unwrap_or_default(), sink);
    }
}

/// Groups of phrases in one sentence with those of the next.
fn turns(start: usize, words: &[Word], sets: &[Set], mut sink: impl FnMut(Feature)) {
    let mut before: Option<(usize, Set)> = None;
    let mut first = start;
    let together: Vec<(Word, Set)> = words.iter().copied().zip(sets.iter().copied()).collect();
    for sentence in together.chunk_by(|a, b| a.0.sentence == b.0.sentence) {
        let set = sentence
            .iter()
            .fold(Set::default(), |sum, (_, set)| sum.with(*set));
        let last = (first + sentence.len()).saturating_sub(1);
        if let Some((from, before)) = before {
            for a in before.phrases() {
                for b in set.phrases() {
                    sink(Feature {
                        block: Block::Turns,
                        hash: hash::join(a, b),
                        first: from,
                        last,
                    });
                }
            }
        }
        before = Some((first, set));
        first += sentence.len();
    }
}

/// Runs of characters of a word with a space on either side.
fn runs(word: &[u8], mut sink: impl FnMut(u64)) {
    let word = word.get(..word.len().min(MAX_WORD)).unwrap_or_default();
    let mut padded = [b' '; MAX_WORD + 2];
    if let Some(middle) = padded.get_mut(1..=word.len()) {
        middle.copy_from_slice(word);
    }
    let padded = padded.get(..word.len() + 2).unwrap_or_default();
    for start in 0..padded.len() {
        for length in RUNS {
            let Some(run) = padded.get(start..start + length) else {
                break;
            };
            sink(hash::of(hash::LETTERS, run));
        }
    }
}

/// The features of a text with their counts, each block ordered by hash.
#[derive(Debug, Default)]
pub(crate) struct Bag {
    blocks: [Vec<(u64, u32)>; Block::ALL.len()],
}

impl Bag {
    /// Counts the features of the words in `window`.
    pub(crate) fn of(reader: &Reader, window: Range<usize>) -> Self {
        let mut hashes: [Vec<u64>; Block::ALL.len()] = Default::default();
        reader.features(window, |feature| {
            if let Some(block) = hashes.get_mut(feature.block as usize) {
                block.push(feature.hash);
            }
        });
        Self {
            blocks: hashes.map(|mut hashes| {
                hashes.sort_unstable();
                hashes
                    .chunk_by(|a, b| a == b)
                    .filter_map(|same| Some((*same.first()?, u32::try_from(same.len()).ok()?)))
                    .collect()
            }),
        }
    }

    /// The features of a block and their counts.
    pub(crate) fn counts(&self, block: Block) -> &[(u64, u32)] {
        self.blocks.get(block as usize).map_or(&[], Vec::as_slice)
    }
}
