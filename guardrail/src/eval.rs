//! Honest measurement: loads evaluation corpora, runs the stages over them, and reports with intervals.
//!
//! A corpus is a JSON file with a provenance; its whole schema is enforced, because a case that is loaded wrongly is
//! measured wrongly. Figures of a directed corpus, whose cases were written to probe one thing, are counts and never a
//! recall or precision, and are never pooled (policy, "Evaluation corpora").

mod corpus;
mod handoff;
mod report;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use corpus::{Case, CaseType, Corpus, Provenance};
pub use handoff::handoff;
pub use report::Report;

use crate::classifier::{self, Classifier};
use crate::screen::{Screened, Stage, screen_at_once};
use crate::ticket::{Segment, Source, Ticket};

/// Why an evaluation doesn't run. The exit code for all of these is 2.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// A file can't be read.
    #[error("`{path}` can't be read")]
    Unreadable {
        /// Which.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file isn't JSON.
    #[error("`{path}` is not valid JSON: {reason}")]
    NotJson {
        /// Which.
        path: String,
        /// What the parser said, with line and column.
        reason: String,
    },
    /// A field breaks the schema.
    #[error("`{path}`, {place}: `{field}` {problem}")]
    Schema {
        /// Which file.
        path: String,
        /// `corpus`, or the case.
        place: String,
        /// Which field.
        field: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A corpus is sealed.
    #[error(
        "`{corpus}` is sealed: it is opened once, for a candidate that is committed; pass `--unseal {corpus}` to spend it"
    )]
    Sealed {
        /// Which.
        corpus: String,
    },
    /// The number of samples can't give a majority.
    #[error("`--samples {samples}` is not allowed: an odd number from 1 to 99 is")]
    EvenSamples {
        /// What was asked for.
        samples: u32,
    },
    /// No corpus was named.
    #[error("no corpus was named")]
    NoCorpus,
    /// A handoff directory that an author could look around from.
    #[error("`{path}` is in, above or beside the repository: an author must not see the rules")]
    TooNear {
        /// Which.
        path: String,
    },
    /// A file or directory can't be written.
    #[error("`{path}` can't be written")]
    Unwritable {
        /// Which.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// Which corpora have to be treated in a special way, from `corpora/settings.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Written to probe one thing: counts only.
    #[serde(default)]
    pub directed: Vec<String>,
    /// Not to be opened before a candidate is committed.
    #[serde(default)]
    pub sealed: Vec<String>,
}

impl Settings {
    /// Reads the settings; a file that isn't there has none.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| EvalError::NotJson {
                path: path.display().to_string(),
                reason: error.to_string(),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(EvalError::Unreadable {
                path: path.display().to_string(),
                source,
            }),
        }
    }
}

/// One line of the ledger of spent cases.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// The corpus.
    pub corpus_id: String,
    /// The case.
    pub case_id: String,
    /// When it was spent.
    pub spent_on: String,
    /// What was tuned towards it.
    pub reason: String,
}

/// Reads the ledger of spent cases; a file that isn't there is an empty one.
pub fn read_ledger(path: &Path) -> Result<Vec<Spent>, EvalError> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| EvalError::NotJson {
            path: path.display().to_string(),
            reason: error.to_string(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(EvalError::Unreadable {
            path: path.display().to_string(),
            source,
        }),
    }
}

/// How one ticket is screened; a caller with a runtime waits for a remote classifier.
pub type Run<'a> = &'a dyn Fn(Ticket, &dyn Classifier) -> Screened;

/// What to run and show.
pub struct Options<'a> {
    /// The corpora.
    pub paths: Vec<PathBuf>,
    /// List every case, not only the missed and the wrongly refused.
    pub list: bool,
    /// Leave the classifier out.
    pub floor_only: bool,
    /// How often the classifier is asked; the majority counts.
    pub samples: u32,
    /// Directed and sealed corpora.
    pub settings: Settings,
    /// Sealed corpora that are opened now.
    pub unseal: Vec<String>,
    /// Spent cases.
    pub ledger: Vec<Spent>,
    /// The classifier behind the floor.
    pub classifier: &'a dyn Classifier,
    /// How a ticket is screened.
    pub run: Run<'a>,
}

impl<'a> Options<'a> {
    /// One sample of `classifier`, which answers at once, over `paths`.
    pub fn new(paths: Vec<PathBuf>, classifier: &'a dyn Classifier) -> Self {
        Self {
            paths,
            list: false,
            floor_only: false,
            samples: 1,
            settings: Settings::default(),
            unseal: Vec::new(),
            ledger: Vec::new(),
            classifier,
            run: &screen_at_once,
        }
    }
}

/// What happened to one case.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) case: Case,
    /// Refused by the floor alone.
    pub(crate) floor: bool,
    /// Refused or held by all stages, the label left out.
    pub(crate) all: bool,
    /// The indicators.
    pub(crate) by: Vec<String>,
    /// Whether the samples disagreed.
    pub(crate) unstable: bool,
}

/// The outcomes of one corpus.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) corpus: Corpus,
    pub(crate) directed: bool,
    pub(crate) outcomes: Vec<Outcome>,
}

/// Runs an evaluation.
pub fn evaluate(options: &Options<'_>) -> Result<Report, EvalError> {
    if options.samples.is_multiple_of(2) || options.samples > 99 {
        return Err(EvalError::EvenSamples {
            samples: options.samples,
        });
    }
    if options.paths.is_empty() {
        return Err(EvalError::NoCorpus);
    }
    let mut corpora = Vec::new();
    for path in &options.paths {
        let corpus = Corpus::read(path)?;
        if options.settings.sealed.contains(&corpus.corpus_id)
            && !options.unseal.contains(&corpus.corpus_id)
        {
            return Err(EvalError::Sealed {
                corpus: corpus.corpus_id,
            });
        }
        corpora.push(corpus.with_ledger(path, &options.ledger)?);
    }
    let measured = corpora
        .into_iter()
        .map(|corpus| measure(corpus, options))
        .collect();
    Ok(Report::of(measured, options))
}

fn measure(corpus: Corpus, options: &Options<'_>) -> Measured {
    Measured {
        directed: options.settings.directed.contains(&corpus.corpus_id),
        outcomes: corpus.cases.iter().map(|case| run(case, options)).collect(),
        corpus,
    }
}

fn run(case: &Case, options: &Options<'_>) -> Outcome {
    let ticket = || {
        let texts = vec![
            Segment::new(Source::Subject, case.subject.as_str()),
            Segment::new(Source::Description, case.body.as_str()),
        ];
        Ticket::new(0, 0, case.filed_category.as_str(), texts)
    };
    let none = classifier::none();
    let first = (options.run)(ticket(), &*none);
    let floor = matches!(first, Screened::Refused(_));
    if floor || options.floor_only {
        return Outcome {
            case: case.clone(),
            floor,
            all: floor,
            by: indicators(&first),
            unstable: false,
        };
    }
    let samples: Vec<Screened> = (0..options.samples)
        .map(|_| (options.run)(ticket(), options.classifier))
        .collect();
    let refused = samples
        .iter()
        .filter(|sample| matches!(sample, Screened::Refused(_)))
        .count();
    let all = refused * 2 > samples.len();
    let by = samples
        .iter()
        .find(|sample| matches!(sample, Screened::Refused(_)) == all)
        .map(indicators)
        .unwrap_or_default();
    Outcome {
        case: case.clone(),
        floor,
        all,
        by,
        unstable: refused != 0 && refused != samples.len(),
    }
}

fn indicators(screened: &Screened) -> Vec<String> {
    match screened {
        Screened::Refused(refusal) if refusal.screening.stage != Stage::Label => refusal
            .indicators
            .iter()
            .map(|indicator| indicator.id.to_owned())
            .collect(),
        Screened::Refused(_) | Screened::Cleared(_) => Vec::new(),
    }
}
