//! The floor: KB-006 as a table of indicators, and the engine that reads tickets with it.
//!
//! What counts is in `indicators.txt`; nothing here knows what a phish is. The text is folded ([`crate::fold`]), read in
//! one pass (words, clauses, phrases), and the rules are evaluated on positions. Everything is linear in the text.

mod disguise;
mod encoded;
mod lexicon;
mod phrase;
mod reading;
mod rules;
mod table;
#[cfg(test)]
mod tests;
mod words;

use std::sync::OnceLock;

use crate::fold::{Folded, Range};
use lexicon::Lexicon;
use reading::{Reading, Roles};
use rules::Span;
pub(crate) use table::TableError;
use table::{ConceptId, Indicator, Table};

/// The compiled table.
pub(crate) struct Floor {
    lexicon: Lexicon,
    roles: Roles,
    explained: ConceptId,
    payment: ConceptId,
    indicators: Vec<Indicator>,
}

/// A place in one of the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which text, by its position.
    pub(crate) text: usize,
    /// Bytes of the original.
    pub(crate) bytes: std::ops::Range<usize>,
}

/// One indicator found in the texts of a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Which indicator.
    pub(crate) id: &'static str,
    /// The knowledge base article that says so.
    pub(crate) kb_ref: &'static str,
    /// Where.
    pub(crate) evidence: Vec<Place>,
}

/// Text that hides its letters.
pub(crate) const SUSPICIOUS_ENCODING: &str = "suspicious_encoding";

/// A payee's bank details are to be changed; a complete `PaymentVerification` answers it.
pub(crate) const PAYMENT_DETAIL_CHANGE: &str = "payment_detail_change";

/// The table as it is compiled in.
pub(crate) const TABLE: &str = include_str!("indicators.txt");

/// The article that every indicator comes from.
pub(crate) const KB_REF: &str = "KB-006";

/// Places quoted for one indicator: enough to see why, and bounded whatever the text.
const EVIDENCE_LIMIT: usize = 8;

impl Floor {
    /// The floor of this build. Compiled when the first text is screened: a server that drafts nothing never pays for it.
    pub(crate) fn get() -> Result<&'static Self, &'static TableError> {
        static FLOOR: OnceLock<Result<Floor, TableError>> = OnceLock::new();
        FLOOR.get_or_init(|| Self::build(TABLE)).as_ref()
    }

    fn build(text: &'static str) -> Result<Self, TableError> {
        let table = Table::read(text)?;
        Ok(Self {
            lexicon: Lexicon::build(&table)?,
            roles: Roles::of(&table)?,
            explained: table.concept("explained")?,
            payment: table.concept("payment_words")?,
            indicators: table.indicators,
        })
    }

    /// All indicators in `texts`, in the order of the table. Words of one text and words of the next are in different
    /// sentences, which the rules may still combine.
    pub(crate) fn examine(&self, texts: &[&str]) -> Vec<Finding> {
        let folded = Folded::of(texts.iter().copied());
        let reading = Reading::of(folded.text(), &self.lexicon, &self.roles);
        let mut findings = Vec::new();
        let hidden = self.hidden(texts, &folded, &reading);
        if !hidden.is_empty() {
            findings.push(Finding {
                id: SUSPICIOUS_ENCODING,
                kb_ref: KB_REF,
                evidence: hidden,
            });
        }
        for firing in rules::evaluate(&self.indicators, self.explained, &reading) {
            let Some(row) = self.indicators.get(firing.indicator) else {
                continue;
            };
            if findings.last().is_none_or(|last| last.id != row.id) {
                findings.push(Finding {
                    id: row.id,
                    kb_ref: row.kb_ref,
                    evidence: Vec::new(),
                });
            }
            if let Some(finding) = findings.last_mut() {
                for span in firing.spans {
                    let place = place(&folded, range(folded.text(), &reading, span), texts);
                    if !finding.evidence.contains(&place) && finding.evidence.len() < EVIDENCE_LIMIT
                    {
                        finding.evidence.push(place);
                    }
                }
            }
        }
        findings
    }

    /// `text` without the sentences that speak of payments and of how one was verified.
    pub(crate) fn without_payment_sentences(&self, text: &str) -> String {
        let folded = Folded::of([text]);
        let reading = Reading::of(folded.text(), &self.lexicon, &self.roles);
        let spoken_of = reading.sentences_of(self.payment);
        let mut kept = String::new();
        for sentence in 0..reading.sentences_count() {
            let span = Span {
                first: reading.sentence_start(sentence),
                behind: reading.sentence_start(sentence + 1),
            };
            if span.first < span.behind && !spoken_of.contains(&sentence) {
                let bytes = folded.original(range(folded.text(), &reading, span), text);
                kept.push_str(text.get(bytes).unwrap_or_default());
                kept.push_str(". ");
            }
        }
        kept
    }

    fn hidden(&self, texts: &[&str], folded: &Folded, reading: &Reading) -> Vec<Place> {
        let in_folded = disguise::hidden_in_folded(folded, reading, &self.lexicon);
        let mut places: Vec<Place> = in_folded
            .into_iter()
            .take(EVIDENCE_LIMIT)
            .map(|range| place(folded, range, texts))
            .collect();
        for (text, original) in texts.iter().enumerate() {
            for bytes in encoded::hidden_in_original(original, &self.lexicon) {
                if places.len() < EVIDENCE_LIMIT {
                    places.push(Place { text, bytes });
                }
            }
        }
        places
    }
}

/// The original bytes of a range of folded text. A range that spans texts is cut to the first.
fn place(folded: &Folded, range: Range, texts: &[&str]) -> Place {
    let text = folded.segment_of(range.start);
    let source = texts.get(text).copied().unwrap_or_default();
    let end = range.end.min(folded.segment_end(text));
    let range = Range { end, ..range };
    Place {
        text,
        bytes: folded.original(range, source),
    }
}

fn range(text: &[u8], reading: &Reading, span: Span) -> Range {
    let last = reading.word(span.behind.saturating_sub(1)).start;
    Range {
        start: reading.word(span.first).start,
        end: u32::try_from(words::word_end(text, last as usize)).unwrap_or(u32::MAX),
    }
}
