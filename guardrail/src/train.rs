//! Training of the local classifier: the same files always give the same bytes.
//!
//! There is no randomness, one thread, and no function whose last bit depends on the machine. Thresholds come from scores of
//! texts whose writer was kept out, so they allow for a hand the model has never read. They belong to the floor of the build
//! that trained, which sees a ticket first: after a change of the floor, train again.

mod corpus;
mod report;
mod solver;
#[cfg(test)]
mod tests;
mod vectors;

use std::path::{Path, PathBuf};

pub use corpus::{Label, Ticket};
pub use report::{Figures, Outcome, Report, Share};

use crate::floor::Floor;
use crate::local;
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
    /// The floor's table of this build can't be read.
    #[error("the floor's table can't be read")]
    Floor,
    /// The model would exceed the largest table.
    #[error("too many features for the model file")]
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

/// Trains on every `writer-*.txt` in `dir`, and tries the model on every `held-out-*.txt`, which it never learns from.
pub fn train_files(dir: &Path) -> Result<TrainedModel, TrainError> {
    let corpus = Corpus::read(dir, "writer-")?;
    let held_out = Corpus::read(dir, "held-out-")?;
    train(&corpus, &held_out)
}

/// Share of incidents, of writers kept out, that floor and lower threshold have to reach together. Half a point above what is
/// asked for, since rules of the floor were chosen by counts on some of these writers and catch less of others.
const RECALL: f64 = 0.955;
/// Share of look-alikes, of writers kept out, that the upper threshold may take.
const REFUSED_LOOKALIKES: f64 = 0.05;
/// Share of tickets that are no incidents, of writers kept out, that the threshold for comments may take.
const HELD_LATER: f64 = 0.01;

/// The scores from which something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thresholds {
    /// A request is held from here.
    pub hold: f32,
    /// A request is refused from here.
    pub refuse: f32,
    /// A comment or transcript holds its ticket from here.
    pub hold_later: f32,
}

fn train(corpus: &Corpus, held_out: &Corpus) -> Result<TrainedModel, TrainError> {
    let readers = readers_of(corpus);
    let bags: Vec<local::Bag> = readers
        .iter()
        .map(|reader| local::Bag::of(reader, 0..reader.words()))
        .collect();
    let floor = floor_verdicts(corpus)?;
    let mut scores = vec![0.0_f32; bags.len()];
    for writer in corpus.writers() {
        let (inside, outside) = corpus.split(writer);
        let file = fit(corpus, &bags, &inside)
            .file(corpus.digest(), Thresholds::default())
            .ok_or(TrainError::TooLarge)?;
        let table = local::Table::read(&file).ok_or(TrainError::TooLarge)?;
        for index in outside {
            if let (Some(score), Some(reader)) = (scores.get_mut(index), readers.get(index)) {
                *score = local::worst_window(&table, reader).0;
            }
        }
    }
    let judged = judged(corpus, &floor, &scores);
    let writers = nested(corpus.writers(), &judged)?;
    let thresholds = thresholds(&judged)?;
    let all: Vec<usize> = (0..bags.len()).collect();
    let file = fit(corpus, &bags, &all)
        .file(corpus.digest(), thresholds)
        .ok_or(TrainError::TooLarge)?;
    let report = Report {
        writers,
        held_out: tried(&file, held_out, thresholds)?,
        thresholds,
    };
    Ok(TrainedModel { file, report })
}

/// A ticket with what floor and model said of it.
#[derive(Clone, Copy, Debug)]
struct Judged<'a> {
    ticket: &'a Ticket,
    floor: bool,
    score: f32,
}

fn judged<'a>(corpus: &'a Corpus, floor: &[bool], scores: &[f32]) -> Vec<Judged<'a>> {
    let verdicts = floor.iter().zip(scores);
    corpus
        .tickets()
        .iter()
        .zip(verdicts)
        .map(|(ticket, (&floor, &score))| Judged {
            ticket,
            floor,
            score,
        })
        .collect()
}

/// Figures of each writer, with the thresholds that the others' scores ask for.
fn nested(writers: &[String], judged: &[Judged<'_>]) -> Result<Vec<(String, Figures)>, TrainError> {
    let of_writer = |writer: &String| {
        let (own, others): (Vec<Judged<'_>>, Vec<Judged<'_>>) = judged
            .iter()
            .partition(|judged| judged.ticket.writer == *writer);
        Ok((writer.clone(), Figures::of(&own, thresholds(&others)?)))
    };
    writers.iter().map(of_writer).collect()
}

/// Figures of a finished model on texts that it was not trained on.
fn tried(
    file: &[u8],
    corpus: &Corpus,
    thresholds: Thresholds,
) -> Result<Vec<(String, Figures)>, TrainError> {
    let table = local::Table::read(file).ok_or(TrainError::TooLarge)?;
    let scores: Vec<f32> = readers_of(corpus)
        .iter()
        .map(|reader| local::worst_window(&table, reader).0)
        .collect();
    let judged = judged(corpus, &floor_verdicts(corpus)?, &scores);
    let of_writer = |writer: &String| {
        let own = judged
            .iter()
            .filter(|judged| judged.ticket.writer == *writer);
        let own: Vec<Judged<'_>> = own.copied().collect();
        (writer.clone(), Figures::of(&own, thresholds))
    };
    Ok(corpus.writers().iter().map(of_writer).collect())
}

/// All tickets as the model will be asked for them: subject and body as one text.
fn readers_of(corpus: &Corpus) -> Vec<local::Reader> {
    let tickets = corpus.tickets().iter();
    tickets
        .map(|ticket| local::Reader::of(&ticket.text()))
        .collect()
}

/// What the floor refuses: the model is only asked for the rest.
fn floor_verdicts(corpus: &Corpus) -> Result<Vec<bool>, TrainError> {
    let floor = Floor::get().map_err(|_unreadable| TrainError::Floor)?;
    let found = |ticket: &Ticket| !floor.examine(&[&ticket.subject, &ticket.body]).is_empty();
    Ok(corpus.tickets().iter().map(found).collect())
}

fn fit(corpus: &Corpus, bags: &[local::Bag], inside: &[usize]) -> Weighted {
    let chosen: Vec<&local::Bag> = inside.iter().filter_map(|&at| bags.get(at)).collect();
    let classes: Vec<usize> = inside
        .iter()
        .filter_map(|&at| corpus.tickets().get(at))
        .map(|ticket| ticket.label as usize)
        .collect();
    let space = Space::of(&chosen);
    let rows = space.rows(&chosen);
    let solution = solver::solve(&rows, &classes, space.len());
    Weighted::new(space, &solution)
}

/// The thresholds that these tickets, judged by models which never saw their writers, ask for.
fn thresholds(judged: &[Judged<'_>]) -> Result<Thresholds, TrainError> {
    // What the floor refuses is caught wherever the threshold lies.
    let incidents = of_label(judged, |label| label == Label::Incident)
        .map(|one| if one.floor { f32::INFINITY } else { one.score });
    let hold = quantile(incidents.collect(), 1.0 - RECALL)?;
    let lookalikes = of_label(judged, |label| label == Label::Lookalike).map(|one| one.score);
    let refuse = quantile(lookalikes.collect(), 1.0 - REFUSED_LOOKALIKES)?.max(hold);
    let others = of_label(judged, |label| label != Label::Incident).map(|one| one.score);
    let hold_later = quantile(others.collect(), 1.0 - HELD_LATER)?.max(refuse);
    Ok(Thresholds {
        hold,
        refuse,
        hold_later,
    })
}

fn of_label<'a, 'b>(
    judged: &'b [Judged<'a>],
    wanted: impl Fn(Label) -> bool + 'b,
) -> impl Iterator<Item = &'b Judged<'a>> {
    judged.iter().filter(move |one| wanted(one.ticket.label))
}

/// The score below which a share of `scores` lies.
fn quantile(mut scores: Vec<f32>, below: f64) -> Result<f32, TrainError> {
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
