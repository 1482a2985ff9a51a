//! The model file: a header and an open-addressed table of features, read in place.
//!
//! All numbers are little-endian. Header: magic, SHA-256 of all that follows it, digest of what the model was trained from, log-odds of
//! a text without known features against each other class, three thresholds, what a stored weight of 1 stands for against each
//! class, and a stored inverse document frequency of 1, log2 of the number of slots. Slot: upper half of the feature's hash (0 is free), a
//! weight against each class, inverse document frequency.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::features::{Bag, Reader, VIEWS, view_of};
use super::math::{against_all, exp};

/// Changes with the layout and with what a feature is.
const MAGIC: &[u8; 8] = b"deskloc2";
const NUMBERS: usize = 8;
const SLOT_BYTES: usize = 7;
const MAX_LOG2_SLOTS: u32 = 18;

/// What an incident is told from.
pub(crate) const OTHERS: usize = 2;

/// What the file says beside the weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    /// SHA-256 of what the model was trained from.
    pub(crate) digest: [u8; 32],
    /// Log-odds, against each other class, of a text without known features.
    pub(crate) bias: [f32; OTHERS],
    /// Scores from here are held.
    pub(crate) hold: f32,
    /// Scores from here are refused.
    pub(crate) refuse: f32,
    /// A comment or transcript holds its ticket from here.
    pub(crate) hold_later: f32,
    /// What a stored weight of 1 stands for.
    pub(crate) weight_step: [f32; OTHERS],
    /// What a stored inverse document frequency of 1 stands for.
    pub(crate) idf_step: f32,
}

/// A feature of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Hash of the feature.
    pub(crate) hash: u64,
    /// Quantised weight against each other class.
    pub(crate) weights: [i8; OTHERS],
    /// Quantised inverse document frequency, above 0.
    pub(crate) idf: u8,
}

/// A model file that was checked.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    header: Header,
    slots: &'a [[u8; SLOT_BYTES]],
    mask: usize,
}

/// Upper half of a hash, never 0.
fn check(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(u32::MAX).max(1)
}

/// First slot to look at. The lowest bits are the same for all features of a view.
fn home(hash: u64, mask: usize) -> usize {
    usize::try_from((hash >> 8) & 0x00ff_ffff).unwrap_or(0) & mask
}

/// Writes a model file. `None` when `entries`, which must have different hashes, need more than the largest table.
pub(crate) fn write(header: &Header, entries: &[Entry]) -> Option<Vec<u8>> {
    let slots = (entries.len() * 5 / 4).next_power_of_two();
    let log2 = slots.trailing_zeros();
    if log2 > MAX_LOG2_SLOTS {
        return None;
    }
    let mut table = vec![[0_u8; SLOT_BYTES]; slots];
    for entry in entries {
        let mut at = home(entry.hash, slots - 1);
        while table.get(at).is_some_and(|slot| *slot != [0; SLOT_BYTES]) {
            at = (at + 1) & (slots - 1);
        }
        let [a, b, c, d] = check(entry.hash).to_le_bytes();
        let [ordinary, lookalike] = entry.weights.map(|weight| weight.to_le_bytes()[0]);
        *table.get_mut(at)? = [a, b, c, d, ordinary, lookalike, entry.idf];
    }
    let mut checked = header.digest.to_vec();
    for number in [
        header.bias[0],
        header.bias[1],
        header.hold,
        header.refuse,
        header.hold_later,
        header.weight_step[0],
        header.weight_step[1],
        header.idf_step,
    ] {
        checked.extend_from_slice(&number.to_le_bytes());
    }
    checked.extend_from_slice(&log2.to_le_bytes());
    checked.extend_from_slice(table.as_flattened());
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&Sha256::digest(&checked));
    file.extend_from_slice(&checked);
    Some(file)
}

impl<'a> Table<'a> {
    /// Checks a model file.
    pub(crate) fn read(file: &'a [u8]) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_first_chunk::<32>()?;
        if Sha256::digest(rest)[..] != sum[..] {
            return None;
        }
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        let (numbers, rest) = rest.split_at_checked(4 * NUMBERS)?;
        let mut numbers = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes));
        let header = Header {
            digest: *digest,
            bias: [numbers.next()?, numbers.next()?],
            hold: numbers.next()?,
            refuse: numbers.next()?,
            hold_later: numbers.next()?,
            weight_step: [numbers.next()?, numbers.next()?],
            idf_step: numbers.next()?,
        };
        let (log2, rest) = rest.split_first_chunk::<4>()?;
        let log2 = u32::from_le_bytes(*log2);
        if log2 > MAX_LOG2_SLOTS {
            return None;
        }
        let (slots, excess) = rest.as_chunks::<SLOT_BYTES>();
        let mask = slots.len().checked_sub(1)?;
        if slots.len() != 1 << log2 || !excess.is_empty() {
            return None;
        }
        Some(Self {
            header,
            slots,
            mask,
        })
    }

    /// What the file says beside the weights.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Weights and inverse document frequency of a feature, if it is known.
    fn find(&self, hash: u64) -> Option<([f32; OTHERS], f32)> {
        let check = check(hash).to_le_bytes();
        let start = home(hash, self.mask);
        let (before, after) = self.slots.split_at(start.min(self.slots.len()));
        for [a, b, c, d, ordinary, lookalike, idf] in after.iter().chain(before) {
            if [*a, *b, *c, *d] == check {
                let [ordinary, lookalike] =
                    [*ordinary, *lookalike].map(|weight| f32::from(i8::from_le_bytes([weight])));
                let [step, other] = self.header.weight_step;
                return Some((
                    [ordinary * step, lookalike * other],
                    f32::from(*idf) * self.header.idf_step,
                ));
            }
            if [*a, *b, *c, *d] == [0; 4] {
                break;
            }
        }
        None
    }

    /// Log-odds that a text tells of an incident, against both other classes together.
    pub(crate) fn score(&self, bag: &Bag) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "the file holds f32")]
        let score = against_all(self.sums(bag).0.map(f64::from)) as f32;
        score
    }

    /// Log-odds against each other class, and the length of each view's vector.
    fn sums(&self, bag: &Bag) -> ([f32; OTHERS], [f32; VIEWS]) {
        let mut views = [([0.0_f32; OTHERS], 0.0_f32); VIEWS];
        for &(hash, count) in bag.counts() {
            if let (Some((weights, idf)), Some((sums, square))) =
                (self.find(hash), views.get_mut(view_of(hash)))
            {
                let value = damped(count) * idf;
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += value * weight;
                }
                *square += value * value;
            }
        }
        let lengths = views.map(|(_, square)| square.sqrt().max(f32::MIN_POSITIVE));
        let mut odds = self.header.bias;
        for ((sums, _), length) in views.iter().zip(lengths) {
            for (odds, sum) in odds.iter_mut().zip(sums) {
                *odds += sum / length;
            }
        }
        (odds, lengths)
    }

    /// What each word in `window` adds to the score.
    pub(crate) fn word_weights(&self, reader: &Reader, window: Range<usize>) -> Vec<(usize, f32)> {
        let first = window.start;
        let ([a, b], lengths) = self.sums(&Bag::of(reader, window.clone()));
        // The class that the text is harder to tell from decides the score, so its weights count for more.
        #[expect(clippy::cast_possible_truncation, reason = "a share")]
        let share = (1.0 / (1.0 + exp(f64::from(a - b)))) as f32;
        let mut weights: Vec<(usize, f32)> = window.clone().map(|word| (word, 0.0)).collect();
        reader.features(window, |feature| {
            if let (Some(([a, b], idf)), Some(length)) =
                (self.find(feature.hash), lengths.get(view_of(feature.hash)))
            {
                let weight = (share * a + (1.0 - share) * b) * idf / length;
                for (_, sum) in weights
                    .get_mut(feature.first - first..=feature.last - first)
                    .unwrap_or_default()
                {
                    *sum += weight;
                }
            }
        });
        weights
    }
}

/// Term frequency that grows slower than the count, without a logarithm (whose last bit differs between machines).
pub(crate) fn damped(count: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let count = count as f32;
    count.sqrt()
}
