//! Trains the local classifier from the texts in `guardrail/training`, and measures it on writers that are kept out.
//!
//! Training is deterministic to the bit: features in a fixed order, no randomness, no threads, and no mathematics beyond
//! what IEEE 754 fixes. What was tried and what it brought is in `training/README.md`.

mod logistic;
mod maths;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::fold::Folded;
use crate::local::features::{Feature, Features};
use crate::local::model::{IDF_STEP, MAGIC};
use logistic::{Row, Sample, Weights, fit, score};
use maths::ln;

/// What a ticket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// A security incident.
    Incident,
    /// Looks like one.
    Lookalike,
    /// Everyday desk work.
    Ordinary,
}

/// One ticket to learn from.
#[derive(Clone, Debug)]
pub struct Example {
    /// Who wrote it.
    pub writer: String,
    /// What it is.
    pub label: Label,
    /// What it is about; for an incident, which kind.
    pub kind: String,
    /// The pair it belongs to: two tickets of one writer that differ in the deciding fact.
    pub pair: Option<String>,
    /// Its subject.
    pub subject: String,
    /// Its body.
    pub body: String,
}

/// What is wrong with a training text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// A line doesn't have the form `label|kind|pair|subject|body`.
    #[error(
        "{writer}, line {line}: expected `label|kind|pair|subject|body`, label one of `incident`, `lookalike`, `ordinary`"
    )]
    BadLine {
        /// Whose file.
        writer: String,
        /// Line, from 1.
        line: usize,
    },
}

/// Reads one writer's file.
pub fn read(writer: &str, text: &str) -> Result<Vec<Example>, TrainError> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            example(writer, line).ok_or_else(|| TrainError::BadLine {
                writer: writer.to_owned(),
                line: at + 1,
            })
        })
        .collect()
}

fn example(writer: &str, line: &str) -> Option<Example> {
    let mut fields = line.split('|');
    let label = match fields.next()? {
        "incident" => Label::Incident,
        "lookalike" => Label::Lookalike,
        "ordinary" => Label::Ordinary,
        _ => return None,
    };
    let kind = fields.next()?.to_owned();
    let pair = fields.next()?;
    let example = Example {
        writer: writer.to_owned(),
        label,
        kind,
        pair: (pair != "-").then(|| pair.to_owned()),
        subject: fields.next()?.to_owned(),
        body: fields.next()?.to_owned(),
    };
    fields.next().is_none().then_some(example)
}

/// A feature has to occur in this many tickets: one that occurs once teaches a name.
const FEWEST_TICKETS: u32 = 2;
/// A kind of incident gets a head of its own from this many tickets on.
const FEWEST_OF_A_KIND: usize = 15;
/// What a mistake costs: the larger, the closer the heads follow the training tickets.
const GENERAL_COST: f64 = 30.0;
const KIND_COST: f64 = 30.0;
const GROUP_COST: f64 = 30.0;
/// The twin of an incident of a kind teaches that kind's head more than other tickets do.
const TWIN_WEIGHT: f64 = 4.0;
/// Incidents of a kind are few: together they weigh a fourth of everything else.
const KIND_SHARE: f64 = 0.25;
/// What the opinions are worth: the general one, the kind's, the letters'.
const MIX: [f64; 3] = [1.0, 1.0, 0.5];

/// A ticket as numbers.
struct Vectors {
    words: Vec<u32>,
    groups: Vec<u32>,
}

fn vectors(examples: &[&Example]) -> Vec<Vectors> {
    let keys = |features: &[Feature]| features.iter().map(|feature| feature.key).collect();
    examples
        .iter()
        .map(|example| {
            let folded = Folded::of([example.subject.as_str(), example.body.as_str()]);
            let features = Features::of(folded.text());
            Vectors {
                words: keys(&features.words),
                groups: keys(&features.groups),
            }
        })
        .collect()
}

/// Features of one sort: their keys, sorted, and how rare each is, in steps as the model file has them.
struct Vocabulary {
    keys: Vec<u32>,
    idf: Vec<u8>,
}

impl Vocabulary {
    fn of<'a>(documents: impl Iterator<Item = &'a Vec<u32>> + Clone) -> Self {
        let count = f64::from(u32::try_from(documents.clone().count()).unwrap_or(u32::MAX));
        let mut frequency: BTreeMap<u32, u32> = BTreeMap::new();
        for &key in documents.flatten() {
            *frequency.entry(key).or_default() += 1;
        }
        frequency.retain(|_, tickets| *tickets >= FEWEST_TICKETS);
        let idf = frequency
            .values()
            .map(|&tickets| quantised_idf(ln((1.0 + count) / (1.0 + f64::from(tickets)))))
            .collect();
        Self {
            keys: frequency.into_keys().collect(),
            idf,
        }
    }

    fn row(&self, document: &[u32]) -> Row {
        let mut row: Row = document
            .iter()
            .filter_map(|key| {
                let at = self.keys.binary_search(key).ok()?;
                let idf = 1.0 + f32::from(*self.idf.get(at)?) * IDF_STEP;
                Some((u32::try_from(at).ok()?, idf))
            })
            .collect();
        row.sort_by_key(|&(feature, _)| feature);
        let length = row
            .iter()
            .map(|&(_, value)| value * value)
            .sum::<f32>()
            .sqrt();
        if length > 0.0 {
            for (_, value) in &mut row {
                *value /= length;
            }
        }
        row
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range of a byte before"
)]
fn quantised_idf(excess: f64) -> u8 {
    (excess / f64::from(IDF_STEP)).round().clamp(0.0, 255.0) as u8
}

/// Everything that was learnt.
struct Trained {
    words: Vocabulary,
    groups: Vocabulary,
    /// The general head first, then one for each kind.
    heads: Vec<Weights>,
    letters: Weights,
}

impl Trained {
    fn of(examples: &[&Example], documents: &[Vectors]) -> Self {
        let words = Vocabulary::of(documents.iter().map(|document| &document.words));
        let groups = Vocabulary::of(documents.iter().map(|document| &document.groups));
        let word_rows: Vec<Row> = documents
            .iter()
            .map(|document| words.row(&document.words))
            .collect();
        let group_rows: Vec<Row> = documents
            .iter()
            .map(|document| groups.row(&document.groups))
            .collect();
        let general = |rows: &[Row], width: usize, cost: f64| {
            let samples: Vec<Sample<'_>> = rows
                .iter()
                .zip(examples)
                .map(|(row, example)| Sample {
                    row,
                    wanted: example.label == Label::Incident,
                    cost,
                })
                .collect();
            fit(&samples, width)
        };
        let mut heads = vec![general(&word_rows, words.keys.len(), GENERAL_COST)];
        for kind in kinds(examples) {
            heads.push(kind_head(&kind, examples, &word_rows, words.keys.len()));
        }
        let letters = general(&group_rows, groups.keys.len(), GROUP_COST);
        Self {
            words,
            groups,
            heads,
            letters,
        }
    }

    /// The general opinion, the strongest of the kinds', and the letters'.
    fn opinions(&self, document: &Vectors) -> [f64; 3] {
        let words = self.words.row(&document.words);
        let scores: Vec<f64> = self.heads.iter().map(|head| score(&words, head)).collect();
        [
            scores.first().copied().unwrap_or(0.0),
            scores
                .iter()
                .skip(1)
                .copied()
                .fold(f64::NEG_INFINITY, f64::max),
            score(&self.groups.row(&document.groups), &self.letters),
        ]
    }
}

/// Kinds of incident with enough tickets.
fn kinds(examples: &[&Example]) -> Vec<String> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for example in examples {
        if example.label == Label::Incident {
            *count.entry(&example.kind).or_default() += 1;
        }
    }
    count
        .into_iter()
        .filter(|&(_, tickets)| tickets >= FEWEST_OF_A_KIND)
        .map(|(kind, _)| kind.to_owned())
        .collect()
}

/// A head that looks for one kind of incident, against everything that is no incident.
fn kind_head(kind: &str, examples: &[&Example], rows: &[Row], width: usize) -> Weights {
    let is_kind = |example: &Example| example.label == Label::Incident && example.kind == kind;
    let pairs: BTreeSet<(&str, &str)> = examples
        .iter()
        .filter(|example| is_kind(example))
        .filter_map(|example| Some((example.writer.as_str(), example.pair.as_deref()?)))
        .collect();
    let of_kind = examples.iter().filter(|example| is_kind(example)).count();
    let others = examples
        .iter()
        .filter(|example| example.label != Label::Incident)
        .count();
    let float = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let share = KIND_SHARE * float(others) / float(of_kind.max(1));
    let samples: Vec<Sample<'_>> = rows
        .iter()
        .zip(examples)
        .filter(|(_, example)| example.label != Label::Incident || is_kind(example))
        .map(|(row, example)| {
            let twin = example
                .pair
                .as_deref()
                .is_some_and(|pair| pairs.contains(&(example.writer.as_str(), pair)));
            let weight = match (example.label == Label::Incident, twin) {
                (true, _) => share,
                (false, true) => TWIN_WEIGHT,
                (false, false) => 1.0,
            };
            Sample {
                row,
                wanted: example.label == Label::Incident,
                cost: KIND_COST * weight,
            }
        })
        .collect();
    fit(&samples, width)
}

/// The opinions about each ticket by heads that didn't see its writer.
fn held_out_opinions(examples: &[&Example], documents: &[Vectors]) -> Vec<[f64; 3]> {
    let writers: BTreeSet<&str> = examples
        .iter()
        .map(|example| example.writer.as_str())
        .collect();
    let mut opinions = vec![[0.0; 3]; examples.len()];
    for writer in writers {
        let (others, other_documents): (Vec<&Example>, Vec<Vectors>) = examples
            .iter()
            .zip(documents)
            .filter(|(example, _)| example.writer != writer)
            .map(|(example, document)| {
                (
                    *example,
                    Vectors {
                        words: document.words.clone(),
                        groups: document.groups.clone(),
                    },
                )
            })
            .unzip();
        let trained = Trained::of(&others, &other_documents);
        for ((example, document), slot) in examples.iter().zip(documents).zip(&mut opinions) {
            if example.writer == writer {
                *slot = trained.opinions(document);
            }
        }
    }
    opinions
}

/// Mean and spread of each opinion, so that they can be added up.
fn spread(opinions: &[[f64; 3]]) -> [(f64, f64); 3] {
    let count = f64::from(u32::try_from(opinions.len().max(1)).unwrap_or(u32::MAX));
    [0, 1, 2].map(|at: usize| {
        let values = opinions.iter().filter_map(|opinions| opinions.get(at));
        let mean = values.clone().sum::<f64>() / count;
        let variance = values
            .map(|value| (value - mean) * (value - mean))
            .sum::<f64>()
            / count;
        (mean, variance.sqrt().max(1e-6))
    })
}

/// A ticket and its score from heads that didn't see its writer.
#[derive(Clone, Debug)]
pub struct HeldOut<'a> {
    /// The ticket.
    pub example: &'a Example,
    /// Its score, on the scale of [`crate::local::HOLD`].
    pub score: f64,
}

/// Scores every ticket with heads that were trained on the other writers only.
pub fn held_out(examples: &[Example]) -> Vec<HeldOut<'_>> {
    let all: Vec<&Example> = examples.iter().collect();
    let opinions = held_out_opinions(&all, &vectors(&all));
    let spread = spread(&opinions);
    all.into_iter()
        .zip(opinions)
        .map(|(example, opinions)| HeldOut {
            example,
            score: opinions
                .iter()
                .zip(spread)
                .zip(MIX)
                .map(|((opinion, (mean, deviation)), worth)| worth * (opinion - mean) / deviation)
                .sum(),
        })
        .collect()
}

/// Trains on all tickets and returns the model file. The scale of the score comes from held-out writers: on tickets that
/// a head was trained on it is far too sure.
pub fn train(examples: &[Example]) -> Vec<u8> {
    let all: Vec<&Example> = examples.iter().collect();
    let documents = vectors(&all);
    let spread = spread(&held_out_opinions(&all, &documents));
    let trained = Trained::of(&all, &documents);
    let mut file = MAGIC.to_vec();
    for ((mean, deviation), worth) in spread.into_iter().zip(MIX) {
        float(&mut file, worth / deviation);
        float(&mut file, mean);
    }
    table(&mut file, &trained.words, &trained.heads);
    table(
        &mut file,
        &trained.groups,
        std::slice::from_ref(&trained.letters),
    );
    file
}

fn table(file: &mut Vec<u8>, vocabulary: &Vocabulary, heads: &[Weights]) {
    number(file, vocabulary.keys.len());
    number(file, heads.len());
    let mut scales = Vec::new();
    for head in heads {
        let (bias, weights) = head.split_last().unwrap_or((&0.0, &[]));
        let largest = weights
            .iter()
            .fold(1e-9_f64, |most, weight| most.max(weight.abs()));
        float(file, *bias);
        float(file, largest / 127.0);
        scales.push(largest / 127.0);
    }
    for key in &vocabulary.keys {
        file.extend(key.to_le_bytes());
    }
    file.extend(&vocabulary.idf);
    for row in 0..vocabulary.keys.len() {
        for (head, scale) in heads.iter().zip(&scales) {
            file.push(quantised(head.get(row).copied().unwrap_or(0.0) / scale));
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to the range of a byte before"
)]
fn quantised(steps: f64) -> u8 {
    (steps.round().clamp(-127.0, 127.0) as i8).cast_unsigned()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights need no more than seven digits"
)]
fn float(file: &mut Vec<u8>, value: f64) {
    file.extend((value as f32).to_bits().to_le_bytes());
}

fn number(file: &mut Vec<u8>, value: usize) {
    file.extend(u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
}
