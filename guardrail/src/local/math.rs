//! Exponential function and logarithm of sums, products and quotients only: the same bits on every machine.

/// The exponential function by repeated squaring of a short series.
pub(crate) fn exp(x: f64) -> f64 {
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

/// Log-odds of one class against several, of the log-odds against each.
pub(crate) fn against_all(odds: [f64; 2]) -> f64 {
    let [a, b] = odds;
    a.min(b) - ln(1.0 + exp(-(a - b).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_standard_library() {
        for x in [-30.0, -3.5, -0.1, 0.0, 1e-9, 0.7, 2.0, 25.0_f64] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-11, "{x}");
            assert!((ln(x.exp()) - x).abs() < 1e-9, "{x}");
        }
    }

    #[test]
    fn odds_against_all_are_below_those_against_each() {
        for (odds, expected) in [
            ([0.0, 0.0], -2.0_f64.ln()),
            ([5.0, 900.0], 5.0),
            ([-900.0, 3.0], -900.0),
        ] {
            assert!((against_all(odds) - expected).abs() < 1e-9, "{odds:?}");
        }
    }
}
