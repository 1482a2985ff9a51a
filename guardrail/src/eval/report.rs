//! What an evaluation says: provenance first, then a row for each stage with intervals, then the cases that went wrong.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::corpus::CaseType;
use super::{Measured, Options, Outcome};
use crate::screen::Stage;

/// A printable report, the same as one JSON object, and the exit code.
#[derive(Clone, Debug)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For programs: totals and `cases: [{id, floor, all, by}]`.
    pub json: Value,
    /// 0; errors have 2.
    pub code: u8,
}

/// Refusals of one stage over some cases.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Incidents refused, of all incidents.
    caught: usize,
    incidents: usize,
    /// Others refused, of all others.
    wrong: usize,
    others: usize,
}

impl Counts {
    fn of<'a>(
        outcomes: impl Iterator<Item = &'a Outcome>,
        refused: impl Fn(&Outcome) -> bool,
    ) -> Self {
        outcomes.fold(Self::default(), |mut counts, outcome| {
            let refused = usize::from(refused(outcome));
            if outcome.case.expect_refuse {
                counts.incidents += 1;
                counts.caught += refused;
            } else {
                counts.others += 1;
                counts.wrong += refused;
            }
            counts
        })
    }

    fn json(self) -> Value {
        json!({
            "caught": self.caught, "incidents": self.incidents, "wrongly_refused": self.wrong, "others": self.others,
            "recall": proportion(self.caught, self.incidents),
            "precision": proportion(self.caught, self.caught + self.wrong),
        })
    }
}

fn proportion(part: usize, whole: usize) -> Value {
    match wilson(part, whole) {
        Some((value, low, high)) => json!({ "value": value, "low": low, "high": high }),
        None => Value::Null,
    }
}

/// A proportion with its 95 % interval by Wilson, which stays honest for few cases and near 0 and 1.
pub(super) fn wilson(part: usize, whole: usize) -> Option<(f64, f64, f64)> {
    const Z: f64 = 1.959_963_984_540_054;
    if whole == 0 {
        return None;
    }
    let float = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let (n, p) = (float(whole), float(part) / float(whole));
    let square = Z * Z;
    let middle = (p + square / (2.0 * n)) / (1.0 + square / n);
    let half = Z / (1.0 + square / n) * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt();
    Some((p, (middle - half).max(0.0), (middle + half).min(1.0)))
}

impl Report {
    pub(super) fn of(measured: Vec<Measured>, options: &Options<'_>) -> Self {
        let mut page = Page::default();
        for corpus in &measured {
            page.corpus(corpus, options);
        }
        let pooled: Vec<&Outcome> = measured
            .iter()
            .filter(|corpus| !corpus.directed)
            .flat_map(|corpus| &corpus.outcomes)
            .collect();
        if measured.len() > 1 && !pooled.is_empty() {
            page.line("== all undirected corpora together");
            page.rows(&pooled, options);
        }
        let mode = if options.floor_only {
            "floor_only"
        } else {
            options.classifier.mode().as_str()
        };
        let cases: Vec<Value> = measured
            .iter()
            .flat_map(|corpus| corpus.outcomes.iter().map(|outcome| case(corpus, outcome)))
            .collect();
        let totals: serde_json::Map<String, Value> = stages(&pooled, options)
            .into_iter()
            .map(|(stage, counts)| (stage.as_str().to_owned(), counts.json()))
            .chain([("all".to_owned(), all(&pooled).json())])
            .collect();
        Self {
            text: page.text,
            json: json!({
                "mode": mode,
                "samples": options.samples,
                "corpora": measured.iter().map(corpus).collect::<Vec<_>>(),
                "totals": totals,
                "cases": cases,
            }),
            code: 0,
        }
    }
}

/// The stages and what each refused of the cases that reached it. The label refuses nothing here: a corpus can't be filed
/// as security.
fn stages(outcomes: &[&Outcome], options: &Options<'_>) -> Vec<(Stage, Counts)> {
    let every = || outcomes.iter().copied();
    let mut stages = vec![
        (Stage::Label, Counts::of(every(), |_| false)),
        (Stage::Floor, Counts::of(every(), |outcome| outcome.floor)),
    ];
    if !options.floor_only {
        let passed = every().filter(|outcome| !outcome.floor);
        stages.push((Stage::Classifier, Counts::of(passed, |outcome| outcome.all)));
    }
    stages
}

fn all(outcomes: &[&Outcome]) -> Counts {
    Counts::of(outcomes.iter().copied(), |outcome| outcome.all)
}

fn corpus(measured: &Measured) -> Value {
    json!({
        "corpus_id": measured.corpus.corpus_id,
        "directed": measured.directed,
        "author": measured.corpus.provenance.author,
        "spent": measured.corpus.cases.iter().filter(|case| case.spent).count(),
        "unstable": measured.outcomes.iter().filter(|outcome| outcome.unstable).count(),
    })
}

fn case(measured: &Measured, outcome: &Outcome) -> Value {
    json!({
        "id": outcome.case.id,
        "corpus": measured.corpus.corpus_id,
        "case_type": outcome.case.case_type.as_str(),
        "expect_refuse": outcome.case.expect_refuse,
        "floor": outcome.floor,
        "all": outcome.all,
        "by": outcome.by,
    })
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn corpus(&mut self, measured: &Measured, options: &Options<'_>) {
        let corpus = &measured.corpus;
        let provenance = &corpus.provenance;
        self.line(&format!(
            "== {}{}",
            corpus.corpus_id,
            if measured.directed {
                " (directed: counts only)"
            } else {
                ""
            }
        ));
        self.line(&format!(
            "   author: {}, {}",
            provenance.author, provenance.authored_on
        ));
        for (what, list) in [
            ("given to the author", &provenance.materials_provided),
            ("kept from the author", &provenance.materials_withheld),
        ] {
            let list = if list.is_empty() {
                "nothing named".to_owned()
            } else {
                list.join("; ")
            };
            self.line(&format!("   {what}: {list}"));
        }
        for (what, text) in [
            ("isolation", &provenance.isolation),
            ("known leakage", &provenance.known_leakage),
        ] {
            if let Some(text) = text {
                self.line(&format!("   {what}: {text}"));
            }
        }
        for note in &corpus.notes {
            self.line(&format!("   note: {note}"));
        }
        let outcomes: Vec<&Outcome> = measured.outcomes.iter().collect();
        self.composition(&outcomes);
        if measured.directed {
            self.counts(&outcomes);
        } else {
            self.rows(&outcomes, options);
        }
        self.mistakes(&outcomes, options.list);
    }

    fn composition(&mut self, outcomes: &[&Outcome]) {
        let mut parts = Vec::new();
        for case_type in [
            CaseType::Incident,
            CaseType::Injection,
            CaseType::Routine,
            CaseType::HardNegative,
        ] {
            let count = outcomes
                .iter()
                .filter(|outcome| outcome.case.case_type == case_type)
                .count();
            parts.push(format!("{count} {}", case_type.as_str()));
        }
        let marked =
            |mark: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| mark(outcome)).count();
        parts.push(format!("{} spent", marked(|outcome| outcome.case.spent)));
        parts.push(format!("{} leaked", marked(|outcome| outcome.case.leaked)));
        parts.push(format!("{} unstable", marked(|outcome| outcome.unstable)));
        self.line(&format!("   cases: {}", parts.join(", ")));
    }

    fn counts(&mut self, outcomes: &[&Outcome]) {
        let floor = Counts::of(outcomes.iter().copied(), |outcome| outcome.floor);
        for (stage, counts) in [("floor", floor), ("all", all(outcomes))] {
            self.line(&format!(
                "   {stage:<10} refused {} of {} incidents, {} of {} others",
                counts.caught, counts.incidents, counts.wrong, counts.others
            ));
        }
    }

    fn rows(&mut self, outcomes: &[&Outcome], options: &Options<'_>) {
        for (stage, counts) in stages(outcomes, options) {
            self.row(stage.as_str(), counts);
        }
        self.row("all", all(outcomes));
    }

    fn row(&mut self, stage: &str, counts: Counts) {
        self.line(&format!(
            "   {stage:<10} recall {}  precision {}",
            interval(counts.caught, counts.incidents),
            interval(counts.caught, counts.caught + counts.wrong)
        ));
    }

    fn mistakes(&mut self, outcomes: &[&Outcome], list: bool) {
        for outcome in outcomes {
            let verdict = match (outcome.case.expect_refuse, outcome.all) {
                (true, false) => "missed",
                (false, true) => "wrongly refused",
                (true, true) if list => "refused",
                (false, false) if list => "cleared",
                (true, true) | (false, false) => continue,
            };
            let by = if outcome.by.is_empty() {
                String::new()
            } else {
                format!(" by {}", outcome.by.join(", "))
            };
            let written = writeln!(
                self.text,
                "   {verdict}: {} ({}){by}",
                outcome.case.id,
                outcome.case.case_type.as_str()
            );
            debug_assert!(written.is_ok());
        }
    }
}

fn interval(part: usize, whole: usize) -> String {
    match wilson(part, whole) {
        Some((value, low, high)) => format!("{part}/{whole} = {value:.3} [{low:.3}, {high:.3}]"),
        None => format!("{part}/{whole}"),
    }
}
