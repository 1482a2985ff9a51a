//! Bags as sparse vectors of unit length, and fitted weights as a model file.

use crate::local::{self, Bag, Entry, Header};

use super::solver::{Rows, Solution};

/// A feature has to occur in this many tickets.
const MIN_TICKETS: u32 = 3;
/// Steps of the quantised inverse document frequency: 0 to 255 covers it.
const IDF_STEP: f32 = 1.0 / 24.0;
/// Largest magnitude of a quantised weight.
const WEIGHT_LEVELS: f64 = 127.0;

/// The features that are used, ordered by hash.
#[derive(Debug)]
pub(crate) struct Space {
    features: Vec<(u64, u8)>,
    idf_unknown: f32,
}

impl Space {
    /// Features that occur often enough in `bags`.
    pub(crate) fn of(bags: &[&Bag]) -> Self {
        let mut hashes: Vec<u64> = bags
            .iter()
            .flat_map(|bag| bag.counts().iter().map(|&(hash, _)| hash))
            .collect();
        hashes.sort_unstable();
        let features = hashes
            .chunk_by(|a, b| a == b)
            .filter_map(|same| Some((*same.first()?, u32::try_from(same.len()).ok()?)))
            .filter(|&(_, tickets)| tickets >= MIN_TICKETS)
            .map(|(hash, tickets)| (hash, quantised_idf(bags.len(), tickets)))
            .collect();
        Self {
            features,
            idf_unknown: f32::from(quantised_idf(bags.len(), MIN_TICKETS - 1)) * IDF_STEP,
        }
    }

    /// Number of features.
    pub(crate) fn len(&self) -> usize {
        self.features.len()
    }

    /// Unit vectors of `bags`.
    pub(crate) fn rows(&self, bags: &[&Bag]) -> Rows {
        let mut rows = Rows::default();
        for bag in bags {
            let mut known = Vec::new();
            let mut square = 0.0_f32;
            for &(hash, count) in bag.counts() {
                let found = self.features.binary_search_by_key(&hash, |&(hash, _)| hash);
                let idf = found
                    .ok()
                    .and_then(|at| self.features.get(at))
                    .map_or(self.idf_unknown, |&(_, idf)| f32::from(idf) * IDF_STEP);
                let value = local::damped(count) * idf;
                square += value * value;
                if let Ok(at) = found {
                    known.push((at, value));
                }
            }
            let norm = square.sqrt().max(f32::MIN_POSITIVE);
            rows.push(known.into_iter().map(|(at, value)| (at, value / norm)));
        }
        rows
    }
}

/// ln(tickets / count), in steps.
fn quantised_idf(tickets: usize, count: u32) -> u8 {
    #[expect(clippy::cast_precision_loss, reason = "a few thousand tickets")]
    let ratio = tickets as f64 / f64::from(count.max(1));
    let steps = super::solver::ln(ratio.max(1.0)) / f64::from(IDF_STEP) + 1.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the range"
    )]
    let steps = steps.round().clamp(1.0, 255.0) as u8;
    steps
}

/// Features with their weights.
#[derive(Debug)]
pub(crate) struct Weighted {
    entries: Vec<Entry>,
    bias: f32,
    weight_step: f32,
    idf_unknown: f32,
}

impl Weighted {
    /// Quantises a solution.
    pub(crate) fn new(space: Space, solution: &Solution) -> Self {
        let largest = solution
            .weights
            .iter()
            .fold(f64::MIN_POSITIVE, |largest, weight| {
                largest.max(weight.abs())
            });
        let step = largest / WEIGHT_LEVELS;
        #[expect(clippy::cast_possible_truncation, reason = "quantised on purpose")]
        let entries = space
            .features
            .iter()
            .zip(&solution.weights)
            .map(|(&(hash, idf), weight)| Entry {
                hash,
                weight: (weight / step).round() as i8,
                idf,
            })
            .collect();
        #[expect(clippy::cast_possible_truncation, reason = "the file holds f32")]
        let (bias, weight_step) = (solution.bias as f32, step as f32);
        Self {
            entries,
            bias,
            weight_step,
            idf_unknown: space.idf_unknown,
        }
    }

    /// The model file.
    pub(crate) fn file(&self, digest: [u8; 32], hold: f32, refuse: f32) -> Option<Vec<u8>> {
        let header = Header {
            digest,
            bias: self.bias,
            hold,
            refuse,
            weight_step: self.weight_step,
            idf_step: IDF_STEP,
            idf_unknown: self.idf_unknown,
        };
        local::write(&header, &self.entries)
    }
}
