//! What the classifier sees of a text: hashed words, stems, pairs, character n-grams and word classes.

use std::ops::Range;

use super::lexicon::{Classes, Lexicon, stem};
use crate::fold::{self, Folded};

/// Longest part of a word that is cut into character n-grams, in bytes: keeps the work linear and the bag small.
const MAX_WORD: usize = 24;
/// Lengths of the character n-grams, counted with the space on either side of the word.
const GRAMS: std::ops::RangeInclusive<usize> = 3..=5;

/// Views of a text. Each has the same say, however many features it gives: its vector gets unit length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// Words and neighbouring words.
    Words,
    /// Stems without stop words, and neighbouring stems.
    Stems,
    /// Stems that follow each other in a sentence once the stop words are gone.
    Gaps,
    /// Character n-grams of words.
    Grams,
    /// Word classes, and those that meet in a sentence.
    Classes,
}

/// Number of views.
pub(crate) const VIEWS: usize = 5;
/// Low bits of a feature's hash that hold its view.
const VIEW_MASK: u64 = 7;

/// The view that a feature belongs to.
pub(crate) fn view_of(hash: u64) -> usize {
    usize::try_from(hash & VIEW_MASK).unwrap_or_default()
}

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

/// A word of a text.
#[derive(Clone, Copy, Debug)]
struct Word {
    range: fold::Range,
    hash: u64,
    stem: u64,
    is_stop: bool,
    sentence: u32,
    classes: Classes,
}

/// A folded text cut into words.
#[derive(Debug)]
pub(crate) struct Reader {
    folded: Folded,
    words: Vec<Word>,
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
            start: first.range.start,
            end: last.range.end,
        };
        let range = self.folded.original(range, text);
        text.get(range.clone()).map(|_| range)
    }

    /// Gives every feature of the words in `window` to `sink`.
    pub(crate) fn features(&self, window: Range<usize>, mut sink: impl FnMut(Feature)) {
        let start = window.start;
        let words = self.words.get(window).unwrap_or_default();
        let mut give = |view: View, hash: u64, first: usize, last: usize| {
            sink(Feature {
                hash: (hash & !VIEW_MASK) | view as u64,
                first: start + first,
                last: start + last,
            });
        };
        let mut before: Option<&Word> = None;
        let mut matter: Option<(usize, &Word)> = None;
        for (at, word) in words.iter().enumerate() {
            give(View::Words, word.hash, at, at);
            if !word.is_stop {
                give(View::Stems, word.stem, at, at);
                if let Some((place, other)) = matter
                    && other.sentence == word.sentence
                {
                    give(View::Gaps, join(other.stem, word.stem), place, at);
                }
                matter = Some((at, word));
            }
            if let Some(before) = before {
                give(View::Words, join(before.hash, word.hash), at - 1, at);
                if !(before.is_stop && word.is_stop) {
                    give(View::Stems, join(before.stem, word.stem), at - 1, at);
                }
            }
            before = Some(word);
            grams(spelling(self.folded.text(), word.range), |hash| {
                give(View::Grams, hash, at, at);
            });
            for class in members(word.classes) {
                give(View::Classes, class, at, at);
            }
        }
        let mut first = 0;
        for sentence in words.chunk_by(|a, b| a.sentence == b.sentence) {
            let last = first + sentence.len() - 1;
            let met = sentence.iter().fold(0, |met, word| met | word.classes);
            for (rank, class) in members(met).enumerate() {
                for other in members(met).skip(rank + 1) {
                    give(View::Classes, join(class, other), first, last);
                }
            }
            first = last + 1;
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
        let mut hashes = Vec::with_capacity(window.len() * 32);
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
fn words_of(text: &[u8]) -> Vec<Word> {
    let lexicon = Lexicon::get();
    let mut words: Vec<Word> = Vec::with_capacity(text.len() / 5);
    let (mut start, mut sentence) = (None, 0);
    for (at, &byte) in text.iter().chain(b" ").enumerate() {
        let letter = byte.is_ascii_alphanumeric() || byte == b'\'' || !byte.is_ascii();
        match (letter, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.extend(range(from, at).map(|range| read(lexicon, text, range, sentence)));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
        let ends = matches!(byte, b'.' | b'!' | b'?' | b';' | b':');
        if byte == b'\n' || ends && text.get(at + 1).is_none_or(u8::is_ascii_whitespace) {
            sentence += 1;
        }
    }
    let hashes: Vec<u64> = words.iter().map(|word| word.hash).collect();
    for (at, word) in words.iter_mut().enumerate() {
        let following = hashes.get(at..).unwrap_or_default();
        word.classes = lexicon.classes_of(spelling(text, word.range), following);
    }
    words
}

fn read(lexicon: &Lexicon, text: &[u8], range: fold::Range, sentence: u32) -> Word {
    let spelling = spelling(text, range);
    let stem = stem(spelling);
    Word {
        range,
        hash: hash_of(WORD, spelling),
        stem,
        is_stop: lexicon.is_stop(stem),
        sentence,
        classes: 0,
    }
}

fn spelling(text: &[u8], word: fold::Range) -> &[u8] {
    text.get(word.start as usize..word.end as usize)
        .unwrap_or_default()
}

fn range(start: usize, end: usize) -> Option<fold::Range> {
    Some(fold::Range {
        start: u32::try_from(start).ok()?,
        end: u32::try_from(end).ok()?,
    })
}

/// Hashes of the classes in a set.
fn members(classes: Classes) -> impl Iterator<Item = u64> {
    let mut rest = classes;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let number = rest.trailing_zeros();
        rest &= rest - 1;
        Some(mixed(u64::from(number) ^ CLASS))
    })
}

/// Kinds of features, so that a word, an equal run of characters and a class differ.
pub(crate) const WORD: u64 = 0x9e37_79b9_7f4a_7c15;
const GRAM: u64 = 0xc2b2_ae3d_27d4_eb4f;
const CLASS: u64 = 0x1656_67b1_9e37_79f9;

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

/// A hash that grows byte by byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain(u64);

impl Chain {
    /// Nothing yet.
    pub(crate) fn new(kind: u64) -> Self {
        Self(kind)
    }

    /// Adds a byte.
    pub(crate) fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// The hash of what was added.
    pub(crate) fn hash(self) -> u64 {
        mixed(self.0)
    }
}

/// Hash of `bytes` as a feature of a kind.
pub(crate) fn hash_of(kind: u64, bytes: &[u8]) -> u64 {
    let mut chain = Chain::new(kind);
    for &byte in bytes {
        chain.push(byte);
    }
    chain.hash()
}

/// Hash of two features in this order.
pub(crate) fn join(a: u64, b: u64) -> u64 {
    mixed(a.rotate_left(23).wrapping_mul(0x9fb2_1c65_1e98_df25) ^ b)
}

fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}
