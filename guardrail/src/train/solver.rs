//! Logistic regression with a squared penalty, by Newton steps whose systems conjugate gradients solve.
//!
//! Only sums, products, quotients and roots are used, in a fixed order: IEEE 754 gives their every bit, so the result is the
//! same on every machine.

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
    pub(crate) weights: Vec<f64>,
    /// Log-odds of an empty row.
    pub(crate) bias: f64,
}

/// Weight of the loss of all rows against the penalty.
const LOSS: f64 = 15.0;
const NEWTON_STEPS: usize = 25;
const GRADIENT_STEPS: usize = 60;
/// Part of the first gradient's length that is left when the work is done.
const ENOUGH: f64 = 1e-3;

/// Fits weights. The last of the internal columns is the bias.
pub(crate) fn solve(rows: &Rows, incidents: &[bool], columns: usize) -> Solution {
    let targets: Vec<f64> = incidents
        .iter()
        .map(|&incident| if incident { 1.0 } else { 0.0 })
        .collect();
    let mut weights = vec![0.0; columns + 1];
    let mut first = None;
    for _ in 0..NEWTON_STEPS {
        let chances: Vec<f64> = products(rows, &weights).into_iter().map(sigmoid).collect();
        let errors: Vec<f64> = chances
            .iter()
            .zip(&targets)
            .map(|(chance, target)| LOSS * (chance - target))
            .collect();
        let gradient = add(&weights, 1.0, &gathered(rows, &errors, weights.len()));
        let size = dot(&gradient, &gradient).sqrt();
        if size <= ENOUGH * *first.get_or_insert(size) {
            break;
        }
        let curvature: Vec<f64> = chances.iter().map(|p| LOSS * p * (1.0 - p)).collect();
        let step = newton_step(rows, &curvature, &gradient);
        weights = shortened(rows, &targets, &weights, &step);
    }
    let bias = weights.pop().unwrap_or_default();
    Solution { weights, bias }
}

/// Half the squared weights plus the loss.
fn objective(rows: &Rows, targets: &[f64], weights: &[f64]) -> f64 {
    let loss: f64 = products(rows, weights)
        .into_iter()
        .zip(targets)
        .map(|(score, target)| softplus(if *target > 0.5 { -score } else { score }))
        .sum();
    0.5 * dot(weights, weights) + LOSS * loss
}

/// Goes along `step`, halved until the objective falls.
fn shortened(rows: &Rows, targets: &[f64], weights: &[f64], step: &[f64]) -> Vec<f64> {
    let before = objective(rows, targets, weights);
    let mut length = 1.0;
    for _ in 0..10 {
        let tried = add(weights, length, step);
        if objective(rows, targets, &tried) < before {
            return tried;
        }
        length /= 2.0;
    }
    weights.to_vec()
}

/// Solves (1 + X' D X) step = -gradient by conjugate gradients.
fn newton_step(rows: &Rows, curvature: &[f64], gradient: &[f64]) -> Vec<f64> {
    let mut step = vec![0.0; gradient.len()];
    let mut rest: Vec<f64> = gradient.iter().map(|value| -value).collect();
    let mut direction = rest.clone();
    let mut size = dot(&rest, &rest);
    let enough = size * 0.01;
    for _ in 0..GRADIENT_STEPS {
        let bent: Vec<f64> = products(rows, &direction)
            .into_iter()
            .zip(curvature)
            .map(|(product, curvature)| product * curvature)
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

/// Rows times weights plus bias.
fn products(rows: &Rows, weights: &[f64]) -> Vec<f64> {
    let bias = weights.last().copied().unwrap_or_default();
    rows.iter()
        .map(|row| {
            let sum: f64 = row
                .iter()
                .filter_map(|&(column, value)| {
                    Some(weights.get(column as usize)? * f64::from(value))
                })
                .sum();
            bias + sum
        })
        .collect()
}

/// Factors times rows, the last column being 1 in each row.
fn gathered(rows: &Rows, factors: &[f64], columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for (row, factor) in rows.iter().zip(factors) {
        for &(column, value) in row {
            if let Some(sum) = sums.get_mut(column as usize) {
                *sum += factor * f64::from(value);
            }
        }
    }
    if let Some(sum) = sums.last_mut() {
        *sum = factors.iter().sum();
    }
    sums
}

fn add(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// ln(1 + exp(x)).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + ln(1.0 + exp(-x.abs()))
}

/// The exponential function by repeated squaring of a short series.
fn exp(x: f64) -> f64 {
    let part = x.clamp(-700.0, 700.0) / 1024.0;
    let mut power = 1.0
        + part
            * (1.0
                + part / 2.0
                    * (1.0
                        + part / 3.0
                            * (1.0 + part / 4.0 * (1.0 + part / 5.0 * (1.0 + part / 6.0)))));
    for _ in 0..10 {
        power *= power;
    }
    power
}

/// The natural logarithm of a positive number by Newton's method.
pub(crate) fn ln(x: f64) -> f64 {
    let mut guess = 0.0;
    for _ in 0..60 {
        let reached = exp(guess);
        let step = 2.0 * (x - reached) / (x + reached);
        guess += step;
        if step.abs() < 1e-14 {
            break;
        }
    }
    guess
}
