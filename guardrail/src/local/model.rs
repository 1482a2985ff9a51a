//! The model file: features with their weights, quantised, and how the heads are added up.
//!
//! A ticket has three opinions. One head looks for incidents of any kind, one head for each kind of incident looks for
//! that kind alone (the largest counts), and one looks at letter groups, which bear misspellings. Their sum is the score.

use super::features::{Feature, Features};

/// Start of a model file: name and version of the format.
pub(crate) const MAGIC: &[u8; 8] = b"DGLOCAL1";

/// Inverse document frequencies are stored in steps of this size, from 1 on.
pub(crate) const IDF_STEP: f32 = 1.0 / 32.0;

/// Why a model file can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model file can't be read at byte {at}")]
pub(crate) struct BadModel {
    at: usize,
}

/// One linear head.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    bias: f32,
    /// What one step of a weight is worth.
    scale: f32,
}

/// Features of one sort and their weights under some heads.
#[derive(Clone, Debug)]
struct Table {
    /// Sorted.
    keys: Vec<u32>,
    /// Where the keys with each leading byte and a half start.
    index: Vec<u32>,
    idf: &'static [u8],
    /// For each key, a weight for each head.
    weights: &'static [u8],
    heads: Vec<Head>,
}

const INDEX_BITS: u32 = 12;

/// A loaded model.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// Words: the general head first, then one for each kind.
    words: Table,
    groups: Table,
    /// What each of the three opinions is worth: factor and what is subtracted before.
    mix: [(f32, f32); 3],
}

impl Model {
    /// Reads a model file.
    pub(crate) fn read(bytes: &'static [u8]) -> Result<Self, BadModel> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(BadModel { at: 0 });
        }
        let mut mix = [(0.0, 0.0); 3];
        for opinion in &mut mix {
            *opinion = (reader.float()?, reader.float()?);
        }
        let words = reader.table()?;
        let groups = reader.table()?;
        if reader.at != bytes.len() || words.heads.len() < 2 || groups.heads.len() != 1 {
            return Err(BadModel { at: reader.at });
        }
        Ok(Self { words, groups, mix })
    }

    /// How much a text speaks for an incident.
    pub(crate) fn score(&self, features: &Features) -> f32 {
        let words = self.words.score(&features.words);
        let groups = self.groups.score(&features.groups);
        let general = words.first().copied().unwrap_or(0.0);
        let kind = words
            .iter()
            .skip(1)
            .copied()
            .fold(f32::NEG_INFINITY, f32::max);
        let letters = groups.first().copied().unwrap_or(0.0);
        [general, kind, letters]
            .into_iter()
            .zip(self.mix)
            .map(|(opinion, (factor, mean))| factor * (opinion - mean))
            .sum()
    }

    /// How much each word adds to the general opinion.
    pub(crate) fn weights(&self, features: &Features) -> Vec<f32> {
        let mut weights = vec![0.0; features.places.len()];
        for feature in &features.words {
            if let Some((row, idf)) = self.words.find(feature.key)
                && let Some(slot) = weights.get_mut(feature.word as usize)
            {
                let general = self.words.row(row).first().copied().unwrap_or(0);
                *slot += idf * f32::from(general.cast_signed());
            }
        }
        weights
    }
}

impl Table {
    fn find(&self, key: u32) -> Option<(usize, f32)> {
        let bucket = (key >> (32 - INDEX_BITS)) as usize;
        let &[from, to] = self.index.get(bucket..bucket + 2)? else {
            return None;
        };
        let keys = self.keys.get(from as usize..to as usize)?;
        let row = from as usize + keys.iter().position(|&known| known == key)?;
        Some((row, 1.0 + f32::from(*self.idf.get(row)?) * IDF_STEP))
    }

    fn row(&self, row: usize) -> &'static [u8] {
        let width = self.heads.len();
        self.weights
            .get(row * width..(row + 1) * width)
            .unwrap_or_default()
    }

    /// The opinion of each head. Only known features count, also in the length that is divided by.
    fn score(&self, features: &[Feature]) -> Vec<f32> {
        let mut sums = vec![0.0_f32; self.heads.len()];
        let mut square = 0.0_f32;
        for feature in features {
            let Some((row, idf)) = self.find(feature.key) else {
                continue;
            };
            square += idf * idf;
            for (sum, &weight) in sums.iter_mut().zip(self.row(row)) {
                *sum += idf * f32::from(weight.cast_signed());
            }
        }
        let length = if square > 0.0 { square.sqrt() } else { 1.0 };
        self.heads
            .iter()
            .zip(sums)
            .map(|(head, sum)| head.bias + head.scale * sum / length)
            .collect()
    }
}

struct Reader {
    bytes: &'static [u8],
    at: usize,
}

impl Reader {
    fn take(&mut self, count: usize) -> Result<&'static [u8], BadModel> {
        let bad = BadModel { at: self.at };
        let end = self.at.checked_add(count).ok_or(bad)?;
        let taken = self.bytes.get(self.at..end).ok_or(bad)?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, BadModel> {
        let bad = BadModel { at: self.at };
        let bytes = self.take(4)?.try_into().map_err(|_error| bad)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn float(&mut self) -> Result<f32, BadModel> {
        let bad = BadModel { at: self.at };
        let value = f32::from_bits(self.number()?);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(bad)
        }
    }

    fn table(&mut self) -> Result<Table, BadModel> {
        let rows = self.number()? as usize;
        let count = self.number()? as usize;
        let mut heads = Vec::new();
        for _ in 0..count {
            heads.push(Head {
                bias: self.float()?,
                scale: self.float()?,
            });
        }
        let bad = BadModel { at: self.at };
        let (keys, rest) = self.take(rows.checked_mul(4).ok_or(bad)?)?.as_chunks::<4>();
        let keys: Vec<u32> = keys.iter().map(|&key| u32::from_le_bytes(key)).collect();
        if !rest.is_empty() || !keys.is_sorted() {
            return Err(bad);
        }
        let mut index = Vec::with_capacity((1 << INDEX_BITS) + 1);
        for bucket in 0..=1_u64 << INDEX_BITS {
            let first = bucket << (32 - INDEX_BITS);
            let start = keys.partition_point(|&key| u64::from(key) < first);
            index.push(u32::try_from(start).map_err(|_error| bad)?);
        }
        Ok(Table {
            keys,
            index,
            idf: self.take(rows)?,
            weights: self.take(rows.checked_mul(count).ok_or(bad)?)?,
            heads,
        })
    }
}
