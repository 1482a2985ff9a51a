//! Bags as sparse vectors, each view of unit length, and fitted weights as a model file.

use super::Thresholds;
use crate::local::{self, Bag, Entry, Header, OTHERS};

use super::solver::{LABELS, Rows, Solution};

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
        Self { features }
    }

    /// Number of features.
    pub(crate) fn len(&self) -> usize {
        self.features.len()
    }

    /// Vectors of `bags`.
    pub(crate) fn rows(&self, bags: &[&Bag]) -> Rows {
        let mut rows = Rows::default();
        for bag in bags {
            let mut known = Vec::new();
            let mut squares = [0.0_f32; local::VIEWS];
            for &(hash, count) in bag.counts() {
                let found = self.features.binary_search_by_key(&hash, |&(hash, _)| hash);
                if let Ok(at) = found
                    && let Some(&(_, idf)) = self.features.get(at)
                    && let Some(square) = squares.get_mut(local::view_of(hash))
                {
                    let value = local::damped(count) * f32::from(idf) * IDF_STEP;
                    *square += value * value;
                    known.push((at, local::view_of(hash), value));
                }
            }
            let lengths = squares.map(|square| square.sqrt().max(f32::MIN_POSITIVE));
            rows.push(
                known.into_iter().map(|(at, view, value)| {
                    (at, value / lengths.get(view).copied().unwrap_or(1.0))
                }),
            );
        }
        rows
    }
}

/// ln(tickets / count), in steps.
fn quantised_idf(tickets: usize, count: u32) -> u8 {
    #[expect(clippy::cast_precision_loss, reason = "a few thousand tickets")]
    let ratio = tickets as f64 / f64::from(count.max(1));
    let steps = local::ln(ratio.max(1.0)) / f64::from(IDF_STEP) + 1.0;
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
    bias: [f32; OTHERS],
    weight_step: [f32; OTHERS],
}

/// How much more common than in the training texts ordinary tickets are taken to be, against look-alikes, as log-odds. In
/// training there are fewer of them than of look-alikes; a help desk gets little else.
const ORDINARY_ODDS: f64 = 1.0;

impl Weighted {
    /// Quantises a solution.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "quantised on purpose; the file holds f32"
    )]
    pub(crate) fn new(space: Space, solution: &Solution) -> Self {
        let against = |[incident, ordinary, lookalike]: [f64; LABELS]| {
            [incident - ordinary, incident - lookalike]
        };
        let weights: Vec<[f64; OTHERS]> = solution.weights.iter().copied().map(against).collect();
        let mut steps = [f64::MIN_POSITIVE; OTHERS];
        for weights in &weights {
            for (step, weight) in steps.iter_mut().zip(weights) {
                *step = step.max(weight.abs() / WEIGHT_LEVELS);
            }
        }
        let [ordinary_step, lookalike_step] = steps;
        let entries = space
            .features
            .iter()
            .zip(&weights)
            .map(|(&(hash, idf), &[ordinary, lookalike])| Entry {
                hash,
                weights: [
                    (ordinary / ordinary_step).round() as i8,
                    (lookalike / lookalike_step).round() as i8,
                ],
                idf,
            })
            .collect();
        let [ordinary, lookalike] = against(solution.bias);
        Self {
            entries,
            bias: [(ordinary - ORDINARY_ODDS) as f32, lookalike as f32],
            weight_step: steps.map(|step| step as f32),
        }
    }

    /// The model file.
    pub(crate) fn file(&self, digest: [u8; 32], thresholds: Thresholds) -> Option<Vec<u8>> {
        let header = Header {
            digest,
            bias: self.bias,
            hold: thresholds.hold,
            refuse: thresholds.refuse,
            hold_later: thresholds.hold_later,
            weight_step: self.weight_step,
            idf_step: IDF_STEP,
        };
        local::write(&header, &self.entries)
    }
}
