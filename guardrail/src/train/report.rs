//! Figures on writers that were kept out, with Wilson intervals.

use std::fmt;

use super::corpus::Label;
use super::{Judged, Thresholds};

/// A payment-detail change is decided by a rule of its own (design section 5, rule 4), so figures are given without it too.
const PAYEE_CHANGE: &str = "payee_change";

/// A count out of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub count: usize,
    /// Out of how many.
    pub total: usize,
}

impl Share {
    fn add(&mut self, counts: bool) {
        self.count += usize::from(counts);
        self.total += 1;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            total: self.total + other.total,
        }
    }

    /// The share itself, 0 when there is nothing.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub fn rate(self) -> f64 {
        self.count as f64 / (self.total.max(1)) as f64
    }

    /// Wilson's 95 % interval.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_964;
        let total = self.total.max(1) as f64;
        let rate = self.rate();
        let middle = rate + Z * Z / (2.0 * total);
        let half = Z * (rate * (1.0 - rate) / total + Z * Z / (4.0 * total * total)).sqrt();
        let scale = 1.0 + Z * Z / total;
        (
            ((middle - half) / scale).max(0.0),
            ((middle + half) / scale).min(1.0),
        )
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.interval();
        write!(
            f,
            "{:>4}/{:<4} {:>5.1} % [{:.1}, {:.1}]",
            self.count,
            self.total,
            100.0 * self.rate(),
            100.0 * low,
            100.0 * high
        )
    }
}

/// What became of tickets with the same label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Refused by the floor.
    pub floor: Share,
    /// Refused or held, by the floor or by the model.
    pub caught: Share,
    /// Refused, by the floor or by the model.
    pub refused: Share,
}

impl Outcome {
    fn plus(self, other: Self) -> Self {
        Self {
            floor: self.floor.plus(other.floor),
            caught: self.caught.plus(other.caught),
            refused: self.refused.plus(other.refused),
        }
    }
}

/// What became of the tickets of one writer, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Incidents.
    pub incidents: Outcome,
    /// The same without payment-detail changes.
    pub incidents_but_payee: Outcome,
    /// Look-alikes.
    pub lookalikes: Outcome,
    /// Ordinary tickets.
    pub ordinary: Outcome,
}

impl Figures {
    pub(super) fn of(judged: &[Judged<'_>], thresholds: Thresholds) -> Self {
        let mut figures = Self::default();
        for one in judged {
            let add = |outcome: &mut Outcome| {
                outcome.floor.add(one.floor);
                outcome
                    .caught
                    .add(one.floor || one.score >= thresholds.hold);
                outcome
                    .refused
                    .add(one.floor || one.score >= thresholds.refuse);
            };
            match one.ticket.label {
                Label::Incident => {
                    add(&mut figures.incidents);
                    if one.ticket.kind != PAYEE_CHANGE {
                        add(&mut figures.incidents_but_payee);
                    }
                }
                Label::Lookalike => add(&mut figures.lookalikes),
                Label::Ordinary => add(&mut figures.ordinary),
            }
        }
        figures
    }

    fn plus(self, other: Self) -> Self {
        Self {
            incidents: self.incidents.plus(other.incidents),
            incidents_but_payee: self.incidents_but_payee.plus(other.incidents_but_payee),
            lookalikes: self.lookalikes.plus(other.lookalikes),
            ordinary: self.ordinary.plus(other.ordinary),
        }
    }
}

/// Figures of floor and model together.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Every writer, by name of the file: scored by a model that was trained on the others, with thresholds that the
    /// others' scores ask for.
    pub writers: Vec<(String, Figures)>,
    /// Texts that nothing was trained on, scored by the finished model.
    pub held_out: Vec<(String, Figures)>,
    /// The finished model's.
    pub thresholds: Thresholds,
}

impl Report {
    /// All writers together.
    pub fn total(&self) -> Figures {
        self.writers
            .iter()
            .fold(Figures::default(), |total, (_, figures)| {
                total.plus(*figures)
            })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "floor and local classifier, each writer judged by a model and thresholds made without them; \
             the finished model holds from {:.3}, refuses from {:.3}, holds for a comment from {:.3}",
            self.thresholds.hold, self.thresholds.refuse, self.thresholds.hold_later
        )?;
        let all = ("all writers".to_owned(), self.total());
        for (name, figures) in std::iter::once(&all).chain(&self.writers) {
            write!(f, "{name}\n{figures}")?;
        }
        for (name, figures) in &self.held_out {
            write!(f, "{name}, on the finished model\n{figures}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, outcome) in [
            ("incidents", self.incidents),
            ("  without payee changes", self.incidents_but_payee),
            ("look-alikes", self.lookalikes),
            ("ordinary", self.ordinary),
        ] {
            writeln!(
                f,
                "  {row:<24} refused or held {}   refused {}   by the floor alone {}",
                outcome.caught, outcome.refused, outcome.floor
            )?;
        }
        Ok(())
    }
}
