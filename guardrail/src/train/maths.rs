//! Exponential and logarithm from the four operations alone, which give the same bits on every machine: a retrained model
//! has to be the same file, and the functions of the system's library differ.

/// Powers and roots of two.
const LN_2: f64 = std::f64::consts::LN_2;

/// e to the power of `x`.
pub(super) fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let halvings = 10;
    let mut small = x;
    for _ in 0..halvings {
        small *= 0.5;
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..14 {
        term *= small / f64::from(n);
        sum += term;
    }
    for _ in 0..halvings {
        sum *= sum;
    }
    sum
}

/// The natural logarithm of a positive `x`.
pub(super) fn ln(x: f64) -> f64 {
    let (mut x, mut twos) = (x, 0);
    while x > 1.5 {
        x *= 0.5;
        twos += 1;
    }
    while x < 0.75 {
        x *= 2.0;
        twos -= 1;
    }
    let ratio = (x - 1.0) / (x + 1.0);
    let square = ratio * ratio;
    let (mut power, mut sum) = (ratio, 0.0);
    for n in 0..20 {
        sum += power / f64::from(2 * n + 1);
        power *= square;
    }
    2.0 * sum + f64::from(twos) * LN_2
}

/// The probability that belongs to a log odds.
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// `ln(1 + e^x)` without overflow.
pub(super) fn softplus(x: f64) -> f64 {
    if x > 0.0 {
        x + ln(1.0 + exp(-x))
    } else {
        ln(1.0 + exp(x))
    }
}
