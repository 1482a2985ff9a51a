//! Figures on writers that were kept out, with Wilson intervals.

use std::fmt;

use super::corpus::{Corpus, Label, Ticket};

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

/// What happened to the tickets of one writer, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Incidents refused or held.
    pub incidents: Share,
    /// The same without payment-detail changes.
    pub incidents_but_payee: Share,
    /// Look-alikes refused or held.
    pub lookalikes: Share,
    /// Ordinary tickets refused or held.
    pub ordinary: Share,
    /// Incidents refused.
    pub incidents_refused: Share,
    /// Look-alikes refused.
    pub lookalikes_refused: Share,
    /// Ordinary tickets refused.
    pub ordinary_refused: Share,
}

impl Figures {
    fn add(&mut self, ticket: &Ticket, caught: bool, refused: bool) {
        match ticket.label {
            Label::Incident => {
                self.incidents.add(caught);
                self.incidents_refused.add(refused);
                if ticket.kind != PAYEE_CHANGE {
                    self.incidents_but_payee.add(caught);
                }
            }
            Label::Lookalike => {
                self.lookalikes.add(caught);
                self.lookalikes_refused.add(refused);
            }
            Label::Ordinary => {
                self.ordinary.add(caught);
                self.ordinary_refused.add(refused);
            }
        }
    }
}

/// What holding from one score would give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Scores from here would be held.
    pub hold: f32,
    /// Incidents refused or held.
    pub incidents: Share,
    /// Look-alikes refused or held.
    pub lookalikes: Share,
    /// Ordinary tickets refused or held.
    pub ordinary: Share,
}

/// Figures of every writer, each scored by a model that was trained on the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Name of the file and its figures.
    pub writers: Vec<(String, Figures)>,
    /// All writers together.
    pub total: Figures,
    /// What other thresholds would give.
    pub choices: Vec<Choice>,
    /// Chance that an incident scores above a ticket that is none.
    pub separation: f64,
    /// Scores from here are held.
    pub hold: f32,
    /// Scores from here are refused.
    pub refuse: f32,
}

impl Report {
    pub(crate) fn new(corpus: &Corpus, scores: &[f32], hold: f32, refuse: f32) -> Self {
        let mut total = Figures::default();
        let mut writers: Vec<(String, Figures)> = corpus
            .writers()
            .iter()
            .map(|writer| (writer.clone(), Figures::default()))
            .collect();
        for (ticket, &score) in corpus.tickets().iter().zip(scores) {
            let (caught, refused) = (score >= hold, score >= refuse);
            total.add(ticket, caught, refused);
            for (writer, figures) in &mut writers {
                if *writer == ticket.writer {
                    figures.add(ticket, caught, refused);
                }
            }
        }
        Self {
            writers,
            total,
            choices: choices(corpus, scores),
            separation: separation(corpus, scores),
            hold,
            refuse,
        }
    }
}

/// What thresholds with a recall of 97 % to 80 % would give.
fn choices(corpus: &Corpus, scores: &[f32]) -> Vec<Choice> {
    let of = |label| -> Vec<f32> {
        let mut scores: Vec<f32> = corpus
            .tickets()
            .iter()
            .zip(scores)
            .filter(|(ticket, _)| ticket.label == label)
            .map(|(_, &score)| score)
            .collect();
        scores.sort_by(f32::total_cmp);
        scores
    };
    let (incidents, lookalikes, ordinary) = (
        of(Label::Incident),
        of(Label::Lookalike),
        of(Label::Ordinary),
    );
    let share = |scores: &[f32], hold| Share {
        count: scores.iter().filter(|&&score| score >= hold).count(),
        total: scores.len(),
    };
    [3, 5, 7, 10, 12, 15, 20]
        .into_iter()
        .filter_map(|missed| incidents.get(incidents.len() * missed / 100).copied())
        .map(|hold| Choice {
            hold,
            incidents: share(&incidents, hold),
            lookalikes: share(&lookalikes, hold),
            ordinary: share(&ordinary, hold),
        })
        .collect()
}

/// Area under the curve, from ranks.
fn separation(corpus: &Corpus, scores: &[f32]) -> f64 {
    let mut ranked: Vec<(f32, bool)> = corpus
        .tickets()
        .iter()
        .zip(scores)
        .map(|(ticket, &score)| (score, ticket.label == Label::Incident))
        .collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut others, mut below) = (0, 0);
    for (_, incident) in &ranked {
        if *incident {
            below += others;
        } else {
            others += 1;
        }
    }
    Share {
        count: below,
        total: others * (ranked.len() - others),
    }
    .rate()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "local classifier alone, each writer scored by a model that never saw them; hold from {:.3}, refuse from {:.3}",
            self.hold, self.refuse
        )?;
        let all = std::iter::once(("all writers", &self.total));
        let each = self
            .writers
            .iter()
            .map(|(writer, figures)| (writer.as_str(), figures));
        for (name, figures) in all.chain(each) {
            writeln!(f, "{name}")?;
            for (row, held, refused) in [
                (
                    "incidents",
                    figures.incidents,
                    Some(figures.incidents_refused),
                ),
                ("  without payee changes", figures.incidents_but_payee, None),
                (
                    "look-alikes",
                    figures.lookalikes,
                    Some(figures.lookalikes_refused),
                ),
                ("ordinary", figures.ordinary, Some(figures.ordinary_refused)),
            ] {
                write!(f, "  {row:<26} held or refused {held}")?;
                if let Some(refused) = refused {
                    write!(f, "   refused {refused}")?;
                }
                writeln!(f)?;
            }
        }
        writeln!(
            f,
            "other thresholds; area under the curve {:.3}",
            self.separation
        )?;
        for choice in &self.choices {
            writeln!(
                f,
                "  hold from {:>6.3}: incidents {}  look-alikes {}  ordinary {}",
                choice.hold, choice.incidents, choice.lookalikes, choice.ordinary
            )?;
        }
        Ok(())
    }
}
