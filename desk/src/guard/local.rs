//! The compiled-in model as a classifier.

use std::sync::Arc;

use guardrail::Segment;
use guardrail::classifier::{Answer, Classifier, Decision, Mode, Quote, Verdict};
use guardrail::local::{Band, Model};

/// The classifier.
pub(super) fn classifier() -> Arc<dyn Classifier> {
    Arc::new(Local {
        model: Model::load(),
    })
}

#[derive(Debug)]
struct Local {
    model: &'static Model,
}

impl Classifier for Local {
    fn mode(&self) -> Mode {
        Mode::Local
    }

    fn version(&self) -> String {
        "local 1".to_owned()
    }

    fn judge<'a>(&'a self, texts: &'a [Segment]) -> Answer<'a> {
        Box::pin(std::future::ready(Ok(self.verdict(texts))))
    }
}

impl Local {
    /// The ticket is judged as one text, as it was in training, so that what is told in subject and comments counts
    /// together. The quotations come from the text that speaks most for the decision.
    fn verdict(&self, texts: &[Segment]) -> Verdict {
        let all: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        let decision = match self.model.verdict(self.model.score(&all.join("\n\n"))) {
            Band::Clear => return Verdict::of(Decision::Clear),
            Band::Hold => Decision::Hold,
            Band::Refuse => Decision::Refuse,
        };
        let worst = texts.iter().max_by(|a, b| {
            self.model
                .score(&a.text)
                .total_cmp(&self.model.score(&b.text))
        });
        let quotes = worst.map_or_else(Vec::new, |segment| {
            self.model
                .evidence(&segment.text)
                .into_iter()
                .filter_map(|bytes| segment.text.get(bytes))
                .map(|text| Quote {
                    source: segment.source,
                    text: text.to_owned(),
                })
                .collect()
        });
        Verdict {
            decision: Some(decision),
            quotes,
        }
    }
}
