//! Multinomial logistic regression with a squared penalty, by Newton steps whose systems conjugate gradients solve.
//!
//! Only sums, products, quotients and roots are used, in a fixed order: IEEE 754 gives their every bit, so the result is the
//! same on every machine.

use crate::local::{exp, ln};

/// Number of classes.
pub(crate) const LABELS: usize = 3;

/// One number per class.
type Each = [f64; LABELS];

/// Sparse rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    starts: Vec<usize>,
    cells: Vec<(u32, f32)>,
}

impl Rows {
    /// Adds a row of column and value.
    pub(crate) fn push(&mut self, cells: impl Iterator<Item = (usize, f32)>) {
        self.starts.push(self.cells.len());
        self.cells
            .extend(cells.filter_map(|(column, value)| Some((u32::try_from(column).ok()?, value))));
    }

    fn iter(&self) -> impl Iterator<Item = &[(u32, f32)]> {
        let ends = self
            .starts
            .iter()
            .copied()
            .skip(1)
            .chain(std::iter::once(self.cells.len()));
        self.starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| self.cells.get(start..end).unwrap_or_default())
    }
}

/// What was fitted.
#[derive(Debug)]
pub(crate) struct Solution {
    /// One per column.
    pub(crate) weights: Vec<Each>,
    /// Log-odds of an empty row.
    pub(crate) bias: Each,
}

/// Weight of the loss of all rows against the penalty.
const LOSS: f64 = 1.5;
const NEWTON_STEPS: usize = 20;
const GRADIENT_STEPS: usize = 40;
/// Part of the first gradient's length that is left when the work is done.
const ENOUGH: f64 = 2e-3;

/// Fits weights to `classes`, which number the class of each row. The last of the internal columns is the bias.
pub(crate) fn solve(rows: &Rows, classes: &[usize], columns: usize) -> Solution {
    let mut weights = vec![[0.0; LABELS]; columns + 1];
    let mut first = None;
    for _ in 0..NEWTON_STEPS {
        let chances: Vec<Each> = products(rows, &weights).into_iter().map(chances).collect();
        let errors: Vec<Each> = chances
            .iter()
            .zip(classes)
            .map(|(chances, &class)| error(chances, class))
            .collect();
        let gradient = add(&weights, 1.0, &gathered(rows, &errors, weights.len()));
        let size = dot(&gradient, &gradient).sqrt();
        if size <= ENOUGH * *first.get_or_insert(size) {
            break;
        }
        let step = newton_step(rows, &chances, &gradient);
        weights = shortened(rows, classes, &weights, &step);
    }
    let bias = weights.pop().unwrap_or_default();
    Solution { weights, bias }
}

/// Slope of the loss of a row in its scores.
fn error(chances: &Each, class: usize) -> Each {
    let mut error = chances.map(|chance| LOSS * chance);
    if let Some(own) = error.get_mut(class) {
        *own -= LOSS;
    }
    error
}

/// Half the squared weights plus the loss.
fn objective(rows: &Rows, classes: &[usize], weights: &[Each]) -> f64 {
    let total: f64 = products(rows, weights)
        .into_iter()
        .zip(classes)
        .map(|(scores, &class)| log_sum(&scores) - scores.get(class).copied().unwrap_or_default())
        .sum();
    0.5 * dot(weights, weights) + LOSS * total
}

/// Goes along `step`, halved until the objective falls.
fn shortened(rows: &Rows, classes: &[usize], weights: &[Each], step: &[Each]) -> Vec<Each> {
    let before = objective(rows, classes, weights);
    let mut length = 1.0;
    for _ in 0..10 {
        let tried = add(weights, length, step);
        if objective(rows, classes, &tried) < before {
            return tried;
        }
        length /= 2.0;
    }
    weights.to_vec()
}

/// Solves (1 + X' H X) step = -gradient by conjugate gradients, H being the second derivative of the loss in the scores.
fn newton_step(rows: &Rows, chances: &[Each], gradient: &[Each]) -> Vec<Each> {
    let mut step = vec![[0.0; LABELS]; gradient.len()];
    let mut rest: Vec<Each> = gradient.iter().map(|value| value.map(|v| -v)).collect();
    let mut direction = rest.clone();
    let mut size = dot(&rest, &rest);
    let enough = size * 0.01;
    for _ in 0..GRADIENT_STEPS {
        let bent: Vec<Each> = products(rows, &direction)
            .iter()
            .zip(chances)
            .map(|(product, chances)| bent(product, chances))
            .collect();
        let image = add(&direction, 1.0, &gathered(rows, &bent, direction.len()));
        let along = size / dot(&direction, &image).max(f64::MIN_POSITIVE);
        step = add(&step, along, &direction);
        rest = add(&rest, -along, &image);
        let left = dot(&rest, &rest);
        if left <= enough {
            break;
        }
        direction = add(&rest, left / size, &direction);
        size = left;
    }
    step
}

/// H times `product` for a row with these chances.
fn bent(product: &Each, chances: &Each) -> Each {
    let mean: f64 = product.iter().zip(chances).map(|(x, p)| x * p).sum();
    let mut bent = *product;
    for (value, chance) in bent.iter_mut().zip(chances) {
        *value = LOSS * chance * (*value - mean);
    }
    bent
}

/// Rows times weights plus bias.
fn products(rows: &Rows, weights: &[Each]) -> Vec<Each> {
    let bias = weights.last().copied().unwrap_or_default();
    rows.iter()
        .map(|row| {
            let mut sums = bias;
            for &(column, value) in row {
                if let Some(weights) = weights.get(column as usize) {
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum += weight * f64::from(value);
                    }
                }
            }
            sums
        })
        .collect()
}

/// Factors times rows, the last column being 1 in each row.
fn gathered(rows: &Rows, factors: &[Each], columns: usize) -> Vec<Each> {
    let mut sums = vec![[0.0; LABELS]; columns];
    let mut total = [0.0; LABELS];
    for (row, factors) in rows.iter().zip(factors) {
        for &(column, value) in row {
            if let Some(sums) = sums.get_mut(column as usize) {
                for (sum, factor) in sums.iter_mut().zip(factors) {
                    *sum += factor * f64::from(value);
                }
            }
        }
        for (sum, factor) in total.iter_mut().zip(factors) {
            *sum += factor;
        }
    }
    if let Some(last) = sums.last_mut() {
        *last = total;
    }
    sums
}

fn add(a: &[Each], factor: f64, b: &[Each]) -> Vec<Each> {
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            let mut sum = *a;
            for (sum, b) in sum.iter_mut().zip(b) {
                *sum += factor * b;
            }
            sum
        })
        .collect()
}

fn dot(a: &[Each], b: &[Each]) -> f64 {
    a.as_flattened()
        .iter()
        .zip(b.as_flattened())
        .map(|(a, b)| a * b)
        .sum()
}

/// ln(sum of exp(x)).
fn log_sum(scores: &Each) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + ln(scores.iter().map(|score| exp(score - largest)).sum())
}

fn chances(scores: Each) -> Each {
    let sum = log_sum(&scores);
    scores.map(|score| exp(score - sum))
}
