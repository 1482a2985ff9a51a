//! Logistic regression with an L2 penalty, minimised by L-BFGS from zero: no randomness, one thread, a fixed order.

use super::maths::{sigmoid, softplus};

/// A document: indices of its features and their values.
pub(super) type Row = Vec<(u32, f32)>;

/// One document to learn from.
#[derive(Clone, Debug)]
pub(super) struct Sample<'a> {
    pub(super) row: &'a Row,
    /// Whether it is what the head looks for.
    pub(super) wanted: bool,
    /// What a mistake on it costs.
    pub(super) cost: f64,
}

/// Weights of the features, and the bias at the end.
pub(super) type Weights = Vec<f64>;

const STEPS: usize = 60;
/// Pairs of steps and gradients that the curvature is estimated from.
const MEMORY: usize = 8;
const GOOD_ENOUGH: f64 = 1e-5;

/// Learns weights for `width` features.
pub(super) fn fit(samples: &[Sample<'_>], width: usize) -> Weights {
    let mut weights = vec![0.0; width + 1];
    let (mut loss, mut gradient) = measure(samples, &weights);
    let mut memory: Vec<(Weights, Weights)> = Vec::new();
    for _ in 0..STEPS {
        let direction = direction(&gradient, &memory);
        let slope = -dot(&gradient, &direction);
        let Some((next, next_loss, next_gradient)) =
            search(samples, &weights, &direction, loss, slope)
        else {
            break;
        };
        let step = difference(&next, &weights);
        let turn = difference(&next_gradient, &gradient);
        if dot(&step, &turn) > 1e-12 {
            if memory.len() == MEMORY {
                memory.remove(0);
            }
            memory.push((step, turn));
        }
        let gain = (loss - next_loss) / loss.abs().max(1e-12);
        (weights, loss, gradient) = (next, next_loss, next_gradient);
        if gain < GOOD_ENOUGH {
            break;
        }
    }
    weights
}

/// The score of a document.
pub(super) fn score(row: &Row, weights: &Weights) -> f64 {
    let bias = weights.last().copied().unwrap_or(0.0);
    row.iter()
        .filter_map(|&(feature, value)| Some(weights.get(feature as usize)? * f64::from(value)))
        .fold(bias, |sum, part| sum + part)
}

fn measure(samples: &[Sample<'_>], weights: &Weights) -> (f64, Weights) {
    let mut gradient = weights.clone();
    if let Some(bias) = gradient.last_mut() {
        *bias = 0.0;
    }
    let mut loss = 0.5 * dot(&gradient, &gradient);
    for sample in samples {
        let z = score(sample.row, weights);
        loss += sample.cost
            * if sample.wanted {
                softplus(-z)
            } else {
                softplus(z)
            };
        let pull = sample.cost * (sigmoid(z) - f64::from(u8::from(sample.wanted)));
        for &(feature, value) in sample.row {
            if let Some(slot) = gradient.get_mut(feature as usize) {
                *slot += pull * f64::from(value);
            }
        }
        if let Some(bias) = gradient.last_mut() {
            *bias += pull;
        }
    }
    (loss, gradient)
}

/// Where to go, by the two-loop recursion.
fn direction(gradient: &Weights, memory: &[(Weights, Weights)]) -> Weights {
    let mut direction = gradient.clone();
    let mut alphas = Vec::with_capacity(memory.len());
    for (step, turn) in memory.iter().rev() {
        let alpha = dot(step, &direction) / dot(turn, step);
        add(&mut direction, turn, -alpha);
        alphas.push(alpha);
    }
    let factor = match memory.last() {
        Some((step, turn)) => dot(step, turn) / dot(turn, turn),
        None => 1.0 / dot(gradient, gradient).sqrt().max(1e-12),
    };
    for value in &mut direction {
        *value *= factor;
    }
    for ((step, turn), alpha) in memory.iter().zip(alphas.iter().rev()) {
        let beta = dot(turn, &direction) / dot(turn, step);
        add(&mut direction, step, alpha - beta);
    }
    direction
}

/// The first of ever shorter steps that lowers the loss enough.
fn search(
    samples: &[Sample<'_>],
    weights: &Weights,
    direction: &Weights,
    loss: f64,
    slope: f64,
) -> Option<(Weights, f64, Weights)> {
    let mut length = 1.0;
    for _ in 0..20 {
        let mut next = weights.clone();
        add(&mut next, direction, -length);
        let (next_loss, gradient) = measure(samples, &next);
        if next_loss <= loss + 1e-4 * length * slope {
            return Some((next, next_loss, gradient));
        }
        length *= 0.5;
    }
    None
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn add(to: &mut Weights, what: &[f64], times: f64) {
    for (slot, value) in to.iter_mut().zip(what) {
        *slot += times * value;
    }
}

fn difference(one: &[f64], other: &[f64]) -> Weights {
    one.iter()
        .zip(other)
        .map(|(one, other)| one - other)
        .collect()
}
