//! What the classifier sees of a text: hashed word and character n-grams.

use std::ops::Range;

use crate::fold::{self, Folded};

/// Longest part of a word that is cut into character n-grams, in bytes: keeps the work linear and the bag small.
const MAX_WORD: usize = 24;
/// Lengths of the character n-grams, counted with the space on either side of the word.
const GRAMS: std::ops::RangeInclusive<usize> = 2..=5;

/// A feature and the words it was read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feature {
    /// Stands for the feature: equal for equal features in every build.
    pub(crate) hash: u64,
    /// First word.
    pub(crate) first: usize,
    /// Last word.
    pub(crate) last: usize,
}

/// A folded text cut into words.
#[derive(Debug)]
pub(crate) struct Reader {
    folded: Folded,
    words: Vec<fold::Range>,
}

impl Reader {
    /// Reads `text`.
    pub(crate) fn of(text: &str) -> Self {
        let folded = Folded::of([text]);
        let words = words_of(folded.text());
        Self { folded, words }
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
            start: first.start,
            end: last.end,
        };
        let range = self.folded.original(range, text);
        text.get(range.clone()).map(|_| range)
    }

    fn word(&self, word: fold::Range) -> &[u8] {
        self.folded
            .text()
            .get(word.start as usize..word.end as usize)
            .unwrap_or_default()
    }

    /// Gives every feature of the words in `window` to `sink`.
    pub(crate) fn features(&self, window: Range<usize>, mut sink: impl FnMut(Feature)) {
        let first = window.start;
        let mut before: Option<u64> = None;
        for (at, &range) in self
            .words
            .get(window)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            let at = first + at;
            let word = self.word(range);
            let hash = hash_of(WORD, word);
            sink(Feature {
                hash,
                first: at,
                last: at,
            });
            if let Some(before) = before {
                sink(Feature {
                    hash: join(before, hash),
                    first: at - 1,
                    last: at,
                });
            }
            before = Some(hash);
            grams(word, |hash| {
                sink(Feature {
                    hash,
                    first: at,
                    last: at,
                });
            });
        }
    }
}

/// The features of a text with their counts, ordered by hash.
#[derive(Debug)]
pub(crate) struct Bag {
    counts: Vec<(u64, u32)>,
}

impl Bag {
    /// Counts the features of the words in `window`.
    pub(crate) fn of(reader: &Reader, window: Range<usize>) -> Self {
        let mut hashes = Vec::with_capacity(window.len() * 20);
        reader.features(window, |feature| hashes.push(feature.hash));
        hashes.sort_unstable();
        let counts = hashes
            .chunk_by(|a, b| a == b)
            .filter_map(|same| Some((*same.first()?, u32::try_from(same.len()).ok()?)))
            .collect();
        Self { counts }
    }

    /// The features and their counts.
    pub(crate) fn counts(&self) -> &[(u64, u32)] {
        &self.counts
    }
}

/// Runs of letters, digits and apostrophes. Bytes of other scripts count as letters.
fn words_of(text: &[u8]) -> Vec<fold::Range> {
    let mut words = Vec::with_capacity(text.len() / 5);
    let mut start = None;
    for (at, &byte) in text.iter().enumerate() {
        let letter = byte.is_ascii_alphanumeric() || byte == b'\'' || !byte.is_ascii();
        match (letter, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.extend(range(from, at));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    if let Some(from) = start {
        words.extend(range(from, text.len()));
    }
    words
}

fn range(start: usize, end: usize) -> Option<fold::Range> {
    Some(fold::Range {
        start: u32::try_from(start).ok()?,
        end: u32::try_from(end).ok()?,
    })
}

/// Kinds of features, so that a word and an equal run of characters differ.
const WORD: u64 = 0x9e37_79b9_7f4a_7c15;
const GRAM: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Character n-grams of a word with a space on either side.
fn grams(word: &[u8], mut sink: impl FnMut(u64)) {
    let word = word.get(..word.len().min(MAX_WORD)).unwrap_or_default();
    let mut padded = [b' '; MAX_WORD + 2];
    if let Some(middle) = padded.get_mut(1..=word.len()) {
        middle.copy_from_slice(word);
    }
    let padded = padded.get(..word.len() + 2).unwrap_or_default();
    for start in 0..padded.len() {
        for length in GRAMS {
            let Some(gram) = padded.get(start..start + length) else {
                break;
            };
            sink(hash_of(GRAM, gram));
        }
    }
}

fn hash_of(kind: u64, bytes: &[u8]) -> u64 {
    let mut hash = kind;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mixed(hash)
}

fn join(a: u64, b: u64) -> u64 {
    mixed(a.rotate_left(23).wrapping_mul(0x9fb2_1c65_1e98_df25) ^ b)
}

fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}
