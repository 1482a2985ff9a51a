//! The model file: a header and an open-addressed table of features, read in place.
//!
//! All numbers are little-endian. Header: magic, digest of the training texts, bias, two thresholds, the steps of the quantised
//! weights and inverse document frequencies, the inverse document frequency of an unknown feature, log2 of the number of slots.
//! Slot: upper half of the feature's hash (0 is free), weight, inverse document frequency.

use std::ops::Range;

use super::features::{Bag, Reader};

const MAGIC: &[u8; 8] = b"deskloc1";
const HEADER_BYTES: usize = 8 + 32 + 4 * 6 + 4;
const SLOT_BYTES: usize = 6;
const MAX_LOG2_SLOTS: u32 = 18;

/// What the file says beside the weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    /// SHA-256 of the training texts.
    pub(crate) digest: [u8; 32],
    /// Log-odds of a text without known features.
    pub(crate) bias: f32,
    /// Scores from here are held.
    pub(crate) hold: f32,
    /// Scores from here are refused.
    pub(crate) refuse: f32,
    /// What a stored weight of 1 stands for.
    pub(crate) weight_step: f32,
    /// What a stored inverse document frequency of 1 stands for.
    pub(crate) idf_step: f32,
    /// Inverse document frequency of a feature that isn't in the table.
    pub(crate) idf_unknown: f32,
}

/// A feature of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Hash of the feature.
    pub(crate) hash: u64,
    /// Quantised weight.
    pub(crate) weight: i8,
    /// Quantised inverse document frequency.
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

/// First slot to look at.
fn home(hash: u64, mask: usize) -> usize {
    usize::try_from(hash & 0xffff_ffff).unwrap_or(0) & mask
}

/// Writes a model file. `entries` must have different hashes and fill at most half of the largest table.
pub(crate) fn write(header: &Header, entries: &[Entry]) -> Option<Vec<u8>> {
    let slots = (entries.len() * 3 / 2).next_power_of_two();
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
        *table.get_mut(at)? = [a, b, c, d, entry.weight.to_le_bytes()[0], entry.idf];
    }
    let mut file = Vec::with_capacity(HEADER_BYTES + slots * SLOT_BYTES);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&header.digest);
    for number in [
        header.bias,
        header.hold,
        header.refuse,
        header.weight_step,
        header.idf_step,
        header.idf_unknown,
    ] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    file.extend_from_slice(&log2.to_le_bytes());
    file.extend_from_slice(table.as_flattened());
    Some(file)
}

impl<'a> Table<'a> {
    /// Checks a model file.
    pub(crate) fn read(file: &'a [u8]) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC)?;
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        let (numbers, rest) = rest.split_at_checked(4 * 6)?;
        let mut numbers = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes));
        let header = Header {
            digest: *digest,
            bias: numbers.next()?,
            hold: numbers.next()?,
            refuse: numbers.next()?,
            weight_step: numbers.next()?,
            idf_step: numbers.next()?,
            idf_unknown: numbers.next()?,
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

    /// Weight and inverse document frequency of a feature; an unknown one weighs nothing.
    fn find(&self, hash: u64) -> (f32, f32) {
        let check = check(hash).to_le_bytes();
        let start = home(hash, self.mask);
        let (before, after) = self.slots.split_at(start.min(self.slots.len()));
        for [a, b, c, d, weight, idf] in after.iter().chain(before) {
            if [*a, *b, *c, *d] == check {
                return (
                    f32::from(i8::from_le_bytes([*weight])) * self.header.weight_step,
                    f32::from(*idf) * self.header.idf_step,
                );
            }
            if [*a, *b, *c, *d] == [0; 4] {
                break;
            }
        }
        (0.0, self.header.idf_unknown)
    }

    /// Log-odds of a text.
    pub(crate) fn score(&self, bag: &Bag) -> f32 {
        let (sum, norm) = self.sums(bag);
        self.header.bias + sum / norm
    }

    /// Sum of weights, and length of the vector.
    fn sums(&self, bag: &Bag) -> (f32, f32) {
        let (mut sum, mut square) = (0.0_f32, 0.0_f32);
        for &(hash, count) in bag.counts() {
            let (weight, idf) = self.find(hash);
            let value = damped(count) * idf;
            sum += value * weight;
            square += value * value;
        }
        (sum, square.sqrt().max(f32::MIN_POSITIVE))
    }

    /// What each word in `window` adds to the score.
    pub(crate) fn word_weights(&self, reader: &Reader, window: Range<usize>) -> Vec<(usize, f32)> {
        let first = window.start;
        let mut weights: Vec<(usize, f32)> = window.clone().map(|word| (word, 0.0)).collect();
        reader.features(window, |feature| {
            let (weight, idf) = self.find(feature.hash);
            for (_, sum) in weights
                .get_mut(feature.first - first..=feature.last - first)
                .unwrap_or_default()
            {
                *sum += weight * idf;
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
