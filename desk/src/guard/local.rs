//! The compiled-in model as a classifier.

use std::sync::Arc;

use guardrail::classifier::{Answer, Classifier, Decision, Mode, Quote, Verdict};
use guardrail::local::{Band, Model};
use guardrail::{Segment, Source};

/// The classifier.
pub(super) fn classifier() -> Arc<dyn Classifier> {
    Arc::new(Local)
}

/// Holds nothing: the model is read when the first text is judged, and not when a server starts.
#[derive(Debug)]
struct Local;

impl Classifier for Local {
    fn mode(&self) -> Mode {
        Mode::Local
    }

    fn version(&self) -> String {
        "local 2".to_owned()
    }

    fn judge<'a>(&'a self, texts: &'a [Segment]) -> Answer<'a> {
        let judge = Judge {
            model: Model::load(),
        };
        Box::pin(std::future::ready(Ok(judge.verdict(texts))))
    }
}

/// The model with the rules for reading a whole ticket.
struct Judge {
    model: &'static Model,
}

impl Judge {
    /// Subject and description are judged as one text, as they were in training. A later text is judged by itself and only
    /// holds the ticket, from a higher score that training sets for it.
    fn verdict(&self, texts: &[Segment]) -> Verdict {
        let (request, later): (Vec<&Segment>, Vec<&Segment>) = texts
            .iter()
            .partition(|text| matches!(text.source, Source::Subject | Source::Description));
        let told: Vec<&str> = request.iter().map(|text| text.text.as_str()).collect();
        let (decision, segment) = match self.band(&told.join("\n\n")) {
            Band::Refuse => (Decision::Refuse, self.worst(&request)),
            Band::Hold => (Decision::Hold, self.worst(&request)),
            Band::Clear => match self.worst(&later) {
                Some(text) if self.model.holds_later(self.model.score(&text.text)) => {
                    (Decision::Hold, Some(text))
                }
                Some(_) | None => return Verdict::of(Decision::Clear),
            },
        };
        Verdict {
            decision: Some(decision),
            quotes: segment.map_or_else(Vec::new, |segment| self.quotes(segment)),
        }
    }

    fn band(&self, text: &str) -> Band {
        self.model.verdict(self.model.score(text))
    }

    fn worst<'a>(&self, texts: &[&'a Segment]) -> Option<&'a Segment> {
        texts.iter().copied().max_by(|a, b| {
            self.model
                .score(&a.text)
                .total_cmp(&self.model.score(&b.text))
        })
    }

    fn quotes(&self, segment: &Segment) -> Vec<Quote> {
        self.model
            .evidence(&segment.text)
            .into_iter()
            .filter_map(|bytes| segment.text.get(bytes))
            .map(|text| Quote {
                source: segment.source,
                text: text.to_owned(),
            })
            .collect()
    }
}
