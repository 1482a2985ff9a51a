//! Bags as sparse vectors, and fitted weights as a model file.

use crate::local::{self, Bag, Block, Entry, Header, Scale};

use super::solver::{self, Rows, Solution};

/// A feature has to occur in this many tickets.
const MIN_TICKETS: usize = 2;
/// Steps of the quantised inverse document frequency: 0 to 255 covers it.
const IDF_STEP: f32 = 1.0 / 24.0;
/// Largest magnitude of a quantised weight.
const WEIGHT_LEVELS: f64 = 127.0;

/// A feature that is used.
#[derive(Clone, Copy, Debug)]
struct Column {
    hash: u64,
    idf: u8,
    /// How much more often it occurs on one side: evidence that is equally frequent on both sides gets less room to fit.
    lean: f32,
}

/// The features that are used: of each block, ordered by hash.
#[derive(Debug)]
pub(crate) struct Space {
    blocks: [Vec<Column>; Block::ALL.len()],
    unknown: f32,
}

impl Space {
    /// Features that occur often enough in `bags`.
    pub(crate) fn of(bags: &[&Bag], incidents: &[bool]) -> Self {
        Self {
            blocks: Block::ALL.map(|block| columns(block, bags, incidents)),
            unknown: f32::from(quantised_idf(bags.len(), MIN_TICKETS - 1)) * IDF_STEP,
        }
    }

    /// Number of features.
    pub(crate) fn len(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// Vectors of `bags`: each block of unit length times its share, each column then scaled by its lean.
    pub(crate) fn rows(&self, bags: &[&Bag]) -> Rows {
        let mut rows = Rows::default();
        for bag in bags {
            let mut row = Vec::new();
            let mut offset = 0;
            for (block, columns) in Block::ALL.into_iter().zip(&self.blocks) {
                let start = row.len();
                let mut square = 0.0_f32;
                for &(hash, count) in bag.counts(block) {
                    let found = columns.binary_search_by_key(&hash, |column| column.hash);
                    let column = found.ok().and_then(|at| Some((at, columns.get(at)?)));
                    let idf = column.map_or(self.unknown, |(_, column)| idf(column.idf));
                    let value = local::damped(count) * idf;
                    square += value * value;
                    row.extend(column.map(|(at, column)| (offset + at, value * column.lean)));
                }
                let scale = block.share() / square.sqrt().max(f32::MIN_POSITIVE);
                for (_, value) in row.get_mut(start..).unwrap_or_default() {
                    *value *= scale;
                }
                offset += columns.len();
            }
            rows.push(row.into_iter());
        }
        rows
    }
}

fn idf(steps: u8) -> f32 {
    f32::from(steps) * IDF_STEP
}

fn columns(block: Block, bags: &[&Bag], incidents: &[bool]) -> Vec<Column> {
    let mut seen: Vec<(u64, bool)> = bags
        .iter()
        .zip(incidents)
        .flat_map(|(bag, &incident)| {
            bag.counts(block)
                .iter()
                .map(move |&(hash, _)| (hash, incident))
        })
        .collect();
    seen.sort_unstable();
    let kept: Vec<(u64, usize, usize)> = seen
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() >= MIN_TICKETS)
        .filter_map(|same| {
            let hits = same.iter().filter(|(_, incident)| *incident).count();
            Some((same.first()?.0, hits, same.len() - hits))
        })
        .collect();
    let total = |count: fn(&(u64, usize, usize)) -> usize| {
        real(kept.iter().map(|column| count(column) + 1).sum::<usize>())
    };
    let (hits, misses) = (total(|column| column.1), total(|column| column.2));
    kept.iter()
        .map(|&(hash, hit, miss)| {
            let ratio = (real(hit + 1) / hits) / (real(miss + 1) / misses);
            #[expect(clippy::cast_possible_truncation, reason = "vectors are f32")]
            let lean = solver::ln(ratio).abs().sqrt() as f32;
            Column {
                hash,
                idf: quantised_idf(bags.len(), hit + miss),
                lean,
            }
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn real(count: usize) -> f64 {
    count as f64
}

/// 1 + ln(tickets / count), in steps.
fn quantised_idf(tickets: usize, count: usize) -> u8 {
    let ratio = real(tickets) / real(count.max(1));
    let steps = (1.0 + solver::ln(ratio.max(1.0))) / f64::from(IDF_STEP);
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
    scales: [Scale; Block::ALL.len()],
}

impl Weighted {
    /// Quantises a solution, each block with a step of its own.
    #[expect(clippy::cast_possible_truncation, reason = "quantised on purpose")]
    pub(crate) fn new(space: &Space, solution: &Solution) -> Self {
        let mut scales = [Scale::default(); Block::ALL.len()];
        let mut entries = Vec::with_capacity(space.len());
        let mut weights = solution.weights.iter();
        let blocks = Block::ALL.into_iter().zip(&space.blocks);
        for ((block, columns), scale) in blocks.zip(&mut scales) {
            let weights: Vec<f64> = columns
                .iter()
                .zip(weights.by_ref())
                .map(|(column, weight)| weight * f64::from(column.lean * block.share()))
                .collect();
            let largest = weights.iter().fold(f64::MIN_POSITIVE, |largest, weight| {
                largest.max(weight.abs())
            });
            let step = largest / WEIGHT_LEVELS;
            *scale = Scale {
                weight: step as f32,
                idf: IDF_STEP,
                unknown: space.unknown,
            };
            entries.extend(columns.iter().zip(weights).map(|(column, weight)| Entry {
                hash: column.hash,
                weight: (weight / step).round() as i8,
                idf: column.idf,
            }));
        }
        Self {
            entries,
            bias: solution.bias as f32,
            scales,
        }
    }

    /// The model file.
    pub(crate) fn file(
        &self,
        digest: [u8; 32],
        groups: &[u8],
        (hold, refuse): (f32, f32),
    ) -> Option<Vec<u8>> {
        let header = Header {
            digest,
            bias: self.bias,
            hold,
            refuse,
            scales: self.scales,
        };
        local::write(&header, groups, &self.entries)
    }
}
