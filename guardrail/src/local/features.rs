//! What the local classifier sees of a text: words, pairs of neighbouring words, and letter groups within words.
//!
//! Whether a feature occurs counts, not how often: with a few thousand training tickets, counts learn who wrote them.
//! Features are hashed; the two kinds are told apart by the table they are looked up in.

use crate::floor::words::{Gap, gap, is_word_byte, word_end};

/// Letters in a group.
const SHORTEST_GROUP: usize = 2;
const LONGEST_GROUP: usize = 5;
/// Longer words are serial numbers and encodings.
const LONGEST_WORD: usize = 24;

/// One feature and the word it starts at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Feature {
    /// The hash of its text.
    pub(crate) key: u32,
    /// The word, counted from the start of the text.
    pub(crate) word: u32,
}

/// The features of a text.
#[derive(Debug, Default)]
pub(crate) struct Features {
    /// Words and pairs of words.
    pub(crate) words: Vec<Feature>,
    /// Letter groups.
    pub(crate) groups: Vec<Feature>,
    /// Where each word starts and ends in the folded text, and whether a sentence starts there.
    pub(crate) places: Vec<(u32, u32, bool)>,
}

impl Features {
    /// The features of folded text, each once.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut features = Self::default();
        let mut last: Option<std::ops::Range<usize>> = None;
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            if !is_word_byte(byte) {
                at += 1;
                continue;
            }
            let end = word_end(text, at);
            let parted = last.as_ref().map_or(Gap::Sentence, |last| {
                let before = text.get(last.clone()).unwrap_or_default();
                gap(before, text.get(last.end..at).unwrap_or_default()).0
            });
            let neighbour = last.filter(|_| parted <= Gap::Compound);
            features.add(text, neighbour, at..end);
            features
                .places
                .push((cast(at), cast(end), parted == Gap::Sentence));
            last = Some(at..end);
            at = end;
        }
        for list in [&mut features.words, &mut features.groups] {
            list.sort_unstable();
            list.dedup_by_key(|feature| feature.key);
        }
        features
    }

    fn add(
        &mut self,
        text: &[u8],
        before: Option<std::ops::Range<usize>>,
        at: std::ops::Range<usize>,
    ) {
        let index = cast(self.places.len());
        let word = text.get(at).unwrap_or_default();
        if word.len() > LONGEST_WORD {
            return;
        }
        let hash = hash(SEED, word);
        self.words.push(Feature {
            key: finish(hash),
            word: index,
        });
        if let Some(before) = before {
            let pair = self::hash(
                self::hash(self::hash(SEED, text.get(before).unwrap_or_default()), b" "),
                word,
            );
            self.words.push(Feature {
                key: finish(pair),
                word: index,
            });
        }
        let mut padded = [b'_'; LONGEST_WORD + 2];
        if let Some(slot) = padded.get_mut(1..=word.len()) {
            slot.copy_from_slice(word);
        }
        let padded = padded.get(..word.len() + 2).unwrap_or_default();
        for start in 0..padded.len() {
            let mut hash = SEED;
            for (length, &byte) in (1..=LONGEST_GROUP).zip(padded.get(start..).unwrap_or_default())
            {
                hash = step(hash, byte);
                if length >= SHORTEST_GROUP {
                    self.groups.push(Feature {
                        key: finish(hash),
                        word: index,
                    });
                }
            }
        }
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// FNV-1a: the model file depends on it, so it is written out here and never changes by an update of a library.
fn hash(from: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(from, |hash, &byte| step(hash, byte))
}

fn finish(hash: u64) -> u32 {
    // The lower bits of FNV are weak: fold the upper half in.
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    u32::try_from(mixed >> 32).unwrap_or(0)
}

fn cast(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
