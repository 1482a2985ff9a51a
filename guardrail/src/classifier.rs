//! The second opinion: it is asked only where the floor found nothing, and it can only add a refusal.
//!
//! Answers are typed and checked. An answer that is missing, late, contradictory or quotes what the ticket doesn't say is
//! not an answer, and refuses with its own reason: a classifier that is configured and can't be used never becomes
//! weaker clearance (promise I-10).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::floor::Place;
use crate::ticket::{Segment, Source};

/// Which classifier stands behind the floor. The weakest is named first and always disclosed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None: the floor alone.
    FloorOnly,
    /// Our own model, compiled in.
    Local,
    /// A language model of a provider.
    Remote,
}

impl Mode {
    /// As it is named in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FloorOnly => "floor_only",
            Self::Local => "local",
            Self::Remote => "remote",
        }
    }
}

/// What a classifier decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing to add.
    Clear,
    /// A person has to look.
    Hold,
    /// A security incident.
    Refuse,
}

/// A quotation that a classifier gives as its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Which text it is taken from.
    pub source: Source,
    /// The exact words.
    pub text: String,
}

/// A classifier's answer as it came, before it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The decision; a classifier that was asked and didn't decide leaves it out.
    pub decision: Option<Decision>,
    /// What it rests on.
    pub quotes: Vec<Quote>,
}

impl Verdict {
    /// A decision without quotations.
    pub fn of(decision: Decision) -> Self {
        Self {
            decision: Some(decision),
            quotes: Vec::new(),
        }
    }
}

/// Why a classifier gave no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassifierDown {
    /// It can't be reached, loaded or used.
    #[error("the classifier can't be used")]
    Unavailable,
    /// It didn't answer in time.
    #[error("the classifier didn't answer in time")]
    TimedOut,
    /// It answered something that isn't a verdict.
    #[error("the classifier's answer can't be read")]
    Malformed,
    /// It answered without a decision.
    #[error("the classifier's answer has no decision")]
    Undecided,
    /// It cleared the ticket and gave evidence against it.
    #[error("the classifier cleared the ticket and gave evidence against it")]
    Contradiction,
    /// It quoted words that aren't in the ticket.
    #[error("the classifier quoted what the ticket doesn't say")]
    NotInText,
}

impl ClassifierDown {
    /// The indicator that a refusal for this reason carries.
    pub fn indicator(self) -> &'static str {
        match self {
            Self::Unavailable => "classifier_unavailable",
            Self::TimedOut => "classifier_timed_out",
            Self::Malformed => "classifier_malformed",
            Self::Undecided => "classifier_undecided",
            Self::Contradiction => "classifier_contradiction",
            Self::NotInText => "classifier_quote_not_in_text",
        }
    }
}

/// An answer on its way.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Verdict, ClassifierDown>> + Send + 'a>>;

/// A classifier.
pub trait Classifier: fmt::Debug + Send + Sync {
    /// Which kind it is.
    fn mode(&self) -> Mode;

    /// What the screening digest says about it: model and thresholds.
    fn version(&self) -> String;

    /// Judges the texts of a ticket, which are data from a possibly hostile person.
    fn judge<'a>(&'a self, texts: &'a [Segment]) -> Answer<'a>;
}

/// No classifier: weaker clearance, which every result discloses.
pub fn none() -> Arc<dyn Classifier> {
    Arc::new(Disabled)
}

/// A classifier of kind `mode` that was configured and can't be used. It refuses whatever the floor lets pass.
pub fn unusable(mode: Mode) -> Arc<dyn Classifier> {
    Arc::new(Unusable { mode })
}

#[derive(Debug)]
struct Disabled;

impl Classifier for Disabled {
    fn mode(&self) -> Mode {
        Mode::FloorOnly
    }

    fn version(&self) -> String {
        String::new()
    }

    fn judge<'a>(&'a self, _texts: &'a [Segment]) -> Answer<'a> {
        Box::pin(std::future::ready(Ok(Verdict::of(Decision::Clear))))
    }
}

#[derive(Debug)]
struct Unusable {
    mode: Mode,
}

impl Classifier for Unusable {
    fn mode(&self) -> Mode {
        self.mode
    }

    fn version(&self) -> String {
        "unusable".to_owned()
    }

    fn judge<'a>(&'a self, _texts: &'a [Segment]) -> Answer<'a> {
        Box::pin(std::future::ready(Err(ClassifierDown::Unavailable)))
    }
}

/// Checks an answer: a decision that is there, agrees with its reasons, and quotes what `texts` say. Returns the decision
/// with the place of each quotation.
pub(crate) fn check(
    answer: Result<Verdict, ClassifierDown>,
    texts: &[Segment],
) -> Result<(Decision, Vec<Place>), ClassifierDown> {
    let verdict = answer?;
    let decision = verdict.decision.ok_or(ClassifierDown::Undecided)?;
    if decision == Decision::Clear && !verdict.quotes.is_empty() {
        return Err(ClassifierDown::Contradiction);
    }
    let places = verdict
        .quotes
        .iter()
        .map(|quote| find(quote, texts).ok_or(ClassifierDown::NotInText))
        .collect::<Result<_, _>>()?;
    Ok((decision, places))
}

fn find(quote: &Quote, texts: &[Segment]) -> Option<Place> {
    if quote.text.trim().is_empty() {
        return None;
    }
    texts
        .iter()
        .enumerate()
        .filter(|(_, text)| text.source == quote.source)
        .find_map(|(at, text)| {
            let start = text.text.find(&quote.text)?;
            Some(Place {
                text: at,
                bytes: start..start + quote.text.len(),
            })
        })
}
