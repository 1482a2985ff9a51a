//! How well a document's words match a question: BM25 over the terms that are indexed everywhere (`domain::terms`).

use std::collections::HashMap;

use domain::terms::terms;

/// How soon another occurrence of a term adds little.
const SATURATION: f64 = 1.2;

/// How much a long document has to say more often.
const LENGTH: f64 = 0.75;

/// The terms of a set of documents.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    documents: Vec<Document>,
    frequency: HashMap<String, f64>,
    length: f64,
}

#[derive(Clone, Debug)]
struct Document {
    counts: HashMap<String, f64>,
    length: f64,
}

impl Lexicon {
    /// Reads documents, which are known by their place in `texts`.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut lexicon = Self::default();
        for text in texts {
            let mut document = Document {
                counts: HashMap::new(),
                length: 0.0,
            };
            for term in terms(text) {
                document.length += 1.0;
                *document.counts.entry(term).or_insert(0.0) += 1.0;
            }
            for term in document.counts.keys() {
                *lexicon.frequency.entry(term.clone()).or_insert(0.0) += 1.0;
            }
            lexicon.length += document.length;
            lexicon.documents.push(document);
        }
        lexicon
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// What a term is worth: the more, the fewer documents have it. Never below 0.
    pub fn rarity(&self, term: &str) -> f64 {
        let found = self.frequency.get(term).copied().unwrap_or(0.0);
        (1.0 + (count(self.documents.len()) - found + 0.5) / (found + 0.5)).ln()
    }

    /// BM25 of a document for the terms of a question, which `domain::terms::query_terms` makes. 0 where none is in it.
    pub fn score(&self, document: usize, terms: &[String]) -> f64 {
        let Some(document) = self.documents.get(document) else {
            return 0.0;
        };
        let mean = self.length / count(self.documents.len()).max(1.0);
        let share = 1.0 - LENGTH + LENGTH * document.length / mean.max(1.0);
        terms
            .iter()
            .filter_map(|term| {
                let found = document.counts.get(term)?;
                let damped = found * (SATURATION + 1.0) / (found + SATURATION * share);
                Some(self.rarity(term) * damped)
            })
            .sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 documents")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    //! What counts for more.

    use domain::terms::query_terms;

    use super::*;

    #[test]
    fn rare_terms_repeated_in_short_texts_count_most() {
        let lexicon = Lexicon::of([
            "the printer in the hall",
            "the printer in the hall and another printer on the third floor by the lift",
            "a scanner in the hall",
            "",
        ]);
        let score = |document, query: &str| lexicon.score(document, &query_terms(query));
        assert!(score(2, "scanner hall") > score(0, "scanner hall"));
        assert!(
            score(0, "lift printers") > 0.0
                && score(1, "lift printers") > score(0, "lift printers")
        );
        assert!(score(0, "printer hall") > score(1, "hall"));
        for (document, query) in [(3, "printer"), (9, "printer"), (0, "vpn"), (0, "")] {
            assert!(score(document, query).abs() < 1e-12, "{document} {query}");
        }
    }
}
