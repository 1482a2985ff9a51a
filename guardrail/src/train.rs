//! Training of the local classifier: the same files always give the same bytes.
//!
//! There is no randomness, one thread, and no function whose last bit depends on the machine. Thresholds come from scores of
//! texts whose writer was kept out, so they allow for a hand the model has never read.

mod corpus;
mod lexicon;
mod report;
mod solver;
#[cfg(test)]
mod tests;
mod vectors;

use std::path::{Path, PathBuf};

pub use corpus::{Label, Ticket};
pub use report::{Choice, Figures, Report, Share};

use crate::local::{self, Bag, Reader};
use corpus::Corpus;
use vectors::{Space, Weighted};

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A file or the folder could not be read or written.
    #[error("can't use `{path}`")]
    File {
        /// What was used.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A line isn't `label|kind|pair|subject|body`.
    #[error(
        "`{file}` line {line} is not `incident|lookalike|ordinary`, kind, pair, subject and body, divided by `|`"
    )]
    Line {
        /// Name of the file.
        file: String,
        /// Counted from 1.
        line: usize,
    },
    /// There are too few writers or labels to keep a writer out.
    #[error("at least two files `writer-*.txt` that hold incidents and others are needed")]
    TooLittle,
    /// The model would exceed the largest table, or the lexicon can't be compiled.
    #[error("too many features or groups for the model file")]
    TooLarge,
}

/// A model and the figures it was judged by.
#[derive(Debug)]
pub struct TrainedModel {
    file: Vec<u8>,
    report: Report,
}

impl TrainedModel {
    /// The bytes of the model file.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// How it did on writers that were kept out.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Writes the model file.
    pub fn write(&self, path: &Path) -> Result<(), TrainError> {
        std::fs::write(path, &self.file).map_err(|source| TrainError::File {
            path: path.to_path_buf(),
            source,
        })
    }
}

/// Trains on every `writer-*.txt` in `dir`.
pub fn train_files(dir: &Path) -> Result<TrainedModel, TrainError> {
    train(&Corpus::read(dir)?)
}

/// Share of incidents, of writers kept out, that the lower threshold has to reach.
const RECALL: f64 = 0.95;
/// Share of look-alikes, of writers kept out, that the upper threshold may take.
const REFUSED_LOOKALIKES: f64 = 0.05;

fn train(corpus: &Corpus) -> Result<TrainedModel, TrainError> {
    let lexicon = lexicon::compiled().ok_or(TrainError::TooLarge)?;
    let (groups, _) = local::read_groups(&lexicon).ok_or(TrainError::TooLarge)?;
    let bags: Vec<Bag> = corpus
        .tickets()
        .iter()
        .map(|ticket| {
            let reader = Reader::of(&ticket.text(), &groups);
            Bag::of(&reader, 0..reader.words())
        })
        .collect();
    let file = |inside: &[usize], thresholds| {
        fit(corpus, &bags, inside)
            .file(corpus.digest(), &lexicon, thresholds)
            .ok_or(TrainError::TooLarge)
    };
    let mut held_out = vec![0.0_f32; bags.len()];
    for writer in corpus.writers() {
        let (inside, outside) = corpus.split(writer);
        let file = file(&inside, (0.0, 0.0))?;
        let table = local::Table::read(&file).ok_or(TrainError::TooLarge)?;
        for index in outside {
            if let (Some(score), Some(bag)) = (held_out.get_mut(index), bags.get(index)) {
                *score = table.score(bag);
            }
        }
    }
    let hold = threshold(corpus, &held_out, Label::Incident, 1.0 - RECALL)?;
    let refuse = threshold(
        corpus,
        &held_out,
        Label::Lookalike,
        1.0 - REFUSED_LOOKALIKES,
    )?
    .max(hold);
    let all: Vec<usize> = (0..bags.len()).collect();
    let file = file(&all, (hold, refuse))?;
    let report = Report::new(corpus, &held_out, hold, refuse);
    Ok(TrainedModel { file, report })
}

fn fit(corpus: &Corpus, bags: &[Bag], inside: &[usize]) -> Weighted {
    let chosen: Vec<&Bag> = inside.iter().filter_map(|&at| bags.get(at)).collect();
    let incidents: Vec<bool> = inside
        .iter()
        .filter_map(|&at| corpus.tickets().get(at))
        .map(|ticket| ticket.label == Label::Incident)
        .collect();
    let space = Space::of(&chosen, &incidents);
    let rows = space.rows(&chosen);
    let solution = solver::solve(&rows, &incidents, space.len());
    Weighted::new(&space, &solution)
}

/// The score below which a share of the tickets with `label` lies.
fn threshold(corpus: &Corpus, scores: &[f32], label: Label, below: f64) -> Result<f32, TrainError> {
    let mut scores: Vec<f32> = corpus
        .tickets()
        .iter()
        .zip(scores)
        .filter(|(ticket, _)| ticket.label == label)
        .map(|(_, score)| *score)
        .collect();
    scores.sort_by(f32::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few thousand"
    )]
    let at = (scores.len() as f64 * below) as usize;
    scores.get(at).copied().ok_or(TrainError::TooLittle)
}
