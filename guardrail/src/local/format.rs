//! The model file: a header, the groups and the features, read in place.
//!
//! All numbers are little-endian. Header: magic, digest of the training texts, bias, two thresholds, for each block three numbers,
//! number of sets, log2 of the slots of phrases and of features. Then the sets (two masks each), the phrases (number of their set) and
//! the features (weight, inverse document frequency), the latter two as open-addressed tables keyed by the upper half of a hash.

use super::features::{Bag, Block, Reader};
use super::groups::{Groups, Set};
use std::ops::Range;

const MAGIC: &[u8; 8] = b"deskloc2";
const BLOCKS: usize = Block::ALL.len();
const NUMBERS: usize = 3 + 3 * BLOCKS;
/// Key and value of a slot.
const SLOT_BYTES: usize = 6;
/// Two masks.
pub(super) const SET_BYTES: usize = 16;
const MAX_LOG2_SLOTS: u32 = 19;

/// How the numbers of a block are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scale {
    /// What a stored weight of 1 stands for.
    pub(crate) weight: f32,
    /// What a stored inverse document frequency of 1 stands for.
    pub(crate) idf: f32,
    /// Inverse document frequency of a feature that isn't in the table.
    pub(crate) unknown: f32,
}

/// What the file says beside its tables.
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
    /// One per block.
    pub(crate) scales: [Scale; BLOCKS],
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

/// An open-addressed table in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots<'a> {
    slots: &'a [[u8; SLOT_BYTES]],
    mask: usize,
}

impl<'a> Slots<'a> {
    fn read(file: &'a [u8], log2: u32) -> Option<(Self, &'a [u8])> {
        if log2 > MAX_LOG2_SLOTS {
            return None;
        }
        let (slots, rest) = file.split_at_checked(SLOT_BYTES << log2)?;
        let (slots, _) = slots.as_chunks();
        let mask = slots.len().checked_sub(1)?;
        Some((Self { slots, mask }, rest))
    }

    /// What is stored under a hash.
    pub(super) fn find(&self, hash: u64) -> Option<[u8; 2]> {
        let key = key(hash);
        let (before, after) = self.slots.split_at_checked(home(hash, self.mask))?;
        for [a, b, c, d, value @ ..] in after.iter().chain(before) {
            let found = [*a, *b, *c, *d];
            if found == key {
                return Some(*value);
            }
            if found == [0; 4] {
                break;
            }
        }
        None
    }
}

/// Upper half of a hash, never 0.
fn key(hash: u64) -> [u8; 4] {
    let [_, _, _, _, upper @ ..] = hash.to_le_bytes();
    if upper == [0; 4] { [1, 0, 0, 0] } else { upper }
}

/// First slot to look at.
fn home(hash: u64, mask: usize) -> usize {
    usize::try_from(hash & 0xffff_ffff).unwrap_or(0) & mask
}

/// A table that is at most two thirds full, and log2 of its slots.
fn table(values: &[(u64, [u8; 2])]) -> Option<(u32, Vec<[u8; SLOT_BYTES]>)> {
    let slots = (values.len() * 3 / 2 + 1).next_power_of_two();
    let log2 = slots.trailing_zeros();
    if log2 > MAX_LOG2_SLOTS {
        return None;
    }
    let mut table = vec![[0_u8; SLOT_BYTES]; slots];
    for (hash, [e, f]) in values {
        let mut at = home(*hash, slots - 1);
        while table.get(at).is_some_and(|slot| *slot != [0; SLOT_BYTES]) {
            at = (at + 1) & (slots - 1);
        }
        let [a, b, c, d] = key(*hash);
        *table.get_mut(at)? = [a, b, c, d, *e, *f];
    }
    Some((log2, table))
}

/// A set as it stands in the file.
pub(super) fn set(bytes: &[u8; SET_BYTES]) -> Set {
    let (words, phrases) = bytes.split_at(8);
    let mask = |half: &[u8]| half.try_into().map_or(0, u64::from_le_bytes);
    Set {
        words: mask(words),
        phrases: mask(phrases),
    }
}

/// The groups as they stand in the file: phrases by hash, each with its set.
pub(crate) fn write_groups(phrases: &[(u64, Set)]) -> Option<Vec<u8>> {
    let mut sets: Vec<Set> = phrases.iter().map(|(_, set)| *set).collect();
    sets.sort_unstable();
    sets.dedup();
    let mut values = Vec::with_capacity(phrases.len());
    for (hash, set) in phrases {
        let number = sets.binary_search(set).ok()?;
        values.push((*hash, u16::try_from(number).ok()?.to_le_bytes()));
    }
    let (log2, slots) = table(&values)?;
    let mut file = Vec::new();
    file.extend_from_slice(&u32::try_from(sets.len()).ok()?.to_le_bytes());
    file.extend_from_slice(&log2.to_le_bytes());
    for set in sets {
        file.extend_from_slice(&set.words.to_le_bytes());
        file.extend_from_slice(&set.phrases.to_le_bytes());
    }
    file.extend_from_slice(slots.as_flattened());
    Some(file)
}

/// Reads groups, and what follows them.
pub(crate) fn read_groups(file: &[u8]) -> Option<(Groups<'_>, &[u8])> {
    let (count, rest) = number(file)?;
    let (log2, rest) = number(rest)?;
    let size = usize::try_from(count).ok()?.checked_mul(SET_BYTES)?;
    let (sets, rest) = rest.split_at_checked(size)?;
    let (slots, rest) = Slots::read(rest, log2)?;
    Some((Groups::new(slots, sets.as_chunks().0), rest))
}

/// Writes a model file. `groups` come from [`write_groups`]; `entries` must have different hashes.
pub(crate) fn write(header: &Header, groups: &[u8], entries: &[Entry]) -> Option<Vec<u8>> {
    let values: Vec<(u64, [u8; 2])> = entries
        .iter()
        .map(|entry| (entry.hash, [entry.weight.to_le_bytes()[0], entry.idf]))
        .collect();
    let (log2, slots) = table(&values)?;
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&header.digest);
    let scales = header
        .scales
        .iter()
        .flat_map(|scale| [scale.weight, scale.idf, scale.unknown]);
    for number in [header.bias, header.hold, header.refuse]
        .into_iter()
        .chain(scales)
    {
        file.extend_from_slice(&number.to_le_bytes());
    }
    file.extend_from_slice(groups);
    file.extend_from_slice(&log2.to_le_bytes());
    file.extend_from_slice(slots.as_flattened());
    Some(file)
}

fn number(file: &[u8]) -> Option<(u32, &[u8])> {
    let (bytes, rest) = file.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*bytes), rest))
}

/// A model file that was checked.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    header: Header,
    groups: Groups<'a>,
    features: Slots<'a>,
}

impl<'a> Table<'a> {
    /// Checks a model file.
    pub(crate) fn read(file: &'a [u8]) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC)?;
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        let (numbers, rest) = rest.split_at_checked(4 * NUMBERS)?;
        let mut numbers = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes));
        let mut header = Header {
            digest: *digest,
            bias: numbers.next()?,
            hold: numbers.next()?,
            refuse: numbers.next()?,
            scales: [Scale::default(); BLOCKS],
        };
        for scale in &mut header.scales {
            *scale = Scale {
                weight: numbers.next()?,
                idf: numbers.next()?,
                unknown: numbers.next()?,
            };
        }
        let (groups, rest) = read_groups(rest)?;
        let (log2, rest) = number(rest)?;
        let (features, rest) = Slots::read(rest, log2)?;
        rest.is_empty().then_some(Self {
            header,
            groups,
            features,
        })
    }

    /// What the file says beside its tables.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The groups of words and phrases.
    pub(crate) fn groups(&self) -> &Groups<'a> {
        &self.groups
    }

    /// Weight and inverse document frequency of a feature; an unknown one weighs nothing.
    fn find(&self, scale: Scale, hash: u64) -> (f32, f32) {
        self.features
            .find(hash)
            .map_or((0.0, scale.unknown), |[weight, idf]| {
                (
                    f32::from(i8::from_le_bytes([weight])) * scale.weight,
                    f32::from(idf) * scale.idf,
                )
            })
    }

    /// Log-odds of a text.
    pub(crate) fn score(&self, bag: &Bag) -> f32 {
        let mut score = self.header.bias;
        for (block, scale) in Block::ALL.into_iter().zip(self.header.scales) {
            let (mut sum, mut square) = (0.0_f32, 0.0_f32);
            for &(hash, count) in bag.counts(block) {
                let (weight, idf) = self.find(scale, hash);
                let value = damped(count) * idf;
                sum += value * weight;
                square += value * value;
            }
            score += sum / square.sqrt().max(f32::MIN_POSITIVE);
        }
        score
    }

    /// What each word in `window` adds to the score, on a scale of its own.
    pub(crate) fn word_weights(&self, reader: &Reader, window: Range<usize>) -> Vec<(usize, f32)> {
        let first = window.start;
        let mut weights: Vec<(usize, f32)> = window.clone().map(|word| (word, 0.0)).collect();
        reader.features(window, |feature| {
            let scale = self
                .header
                .scales
                .get(feature.block as usize)
                .copied()
                .unwrap_or_default();
            let (weight, idf) = self.find(scale, feature.hash);
            let words = weights
                .get_mut(feature.first - first..=feature.last - first)
                .unwrap_or_default();
            for (_, sum) in words {
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
