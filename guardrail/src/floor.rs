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

use sha2::{Digest as _, Sha256};

use crate::fold::{Folded, Range};
use lexicon::Lexicon;
use reading::Reading;
use rules::Span;
pub(crate) use table::TableError;
use table::{ConceptId, Indicator, Table};

/// The compiled table.
pub(crate) struct Floor {
    lexicon: Lexicon,
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
const TABLE: &str = include_str!("indicators.txt");

/// SHA-256 of the table, which is the version of the floor.
pub(crate) fn version() -> [u8; 32] {
    static VERSION: OnceLock<[u8; 32]> = OnceLock::new();
    *VERSION.get_or_init(|| Sha256::digest(TABLE).into())
}

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
            explained: table.concept("explained")?,
            payment: table.concept("payment_words")?,
            indicators: table.indicators,
        })
    }

    /// All indicators in `texts`, in the order of the table. Words of one text and words of the next are in different
    /// sentences, which the rules may still combine.
    pub(crate) fn examine(&self, texts: &[&str]) -> Vec<Finding> {
        let folded = Folded::of(texts.iter().copied());
        let mut evidence: Vec<Vec<Place>> = vec![Vec::new(); self.indicators.len()];
        let mut hidden = Vec::new();
        Self::add(
            &mut hidden,
            &folded,
            texts,
            disguise::traced(&folded, &self.lexicon),
        );
        Self::add(
            &mut hidden,
            &folded,
            texts,
            disguise::substituted(&folded, &self.lexicon),
        );
        let mut reading = Reading::default();
        for part in parts(folded.text()) {
            let text = folded.text().get(part.clone()).unwrap_or_default();
            reading.read(text, &self.lexicon);
            let within = |range: Range| range.moved(part.start);
            let places = disguise::spelt(text, &reading, &self.lexicon);
            Self::add(&mut hidden, &folded, texts, places.into_iter().map(within));
            for firing in rules::evaluate(&self.indicators, self.explained, &reading) {
                let ranges = firing
                    .spans
                    .iter()
                    .map(|&span| within(range(text, &reading, span)));
                if let Some(places) = evidence.get_mut(firing.indicator) {
                    Self::add(places, &folded, texts, ranges);
                }
            }
        }
        for (text, original) in texts.iter().enumerate() {
            let encoded = encoded::hidden_in_original(original, &self.lexicon);
            let room = EVIDENCE_LIMIT.saturating_sub(hidden.len());
            hidden.extend(
                encoded
                    .into_iter()
                    .take(room)
                    .map(|bytes| Place { text, bytes }),
            );
        }
        let rows = self.indicators.iter().map(|row| (row.id, row.kb_ref));
        std::iter::once((SUSPICIOUS_ENCODING, KB_REF))
            .chain(rows)
            .zip(std::iter::once(hidden).chain(evidence))
            .filter(|(_, evidence)| !evidence.is_empty())
            .map(|((id, kb_ref), evidence)| Finding {
                id,
                kb_ref,
                evidence,
            })
            .collect()
    }

    fn add(
        places: &mut Vec<Place>,
        folded: &Folded,
        texts: &[&str],
        ranges: impl IntoIterator<Item = Range>,
    ) {
        for range in ranges {
            if places.len() >= EVIDENCE_LIMIT {
                return;
            }
            let place = place(folded, range, texts);
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }

    /// `text` without the sentences that speak of payments and of how one was verified.
    pub(crate) fn without_payment_sentences(&self, text: &str) -> String {
        let folded = Folded::of([text]);
        let mut reading = Reading::default();
        reading.read(folded.text(), &self.lexicon);
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
}

/// Bytes read at once: the words of a part and all that was found in them stay in the cache.
const PART: usize = 24 * 1024;
/// Bytes that parts share, so that a few sentences that belong together are seen together in one of them.
const SHARED: usize = 2 * 1024;

/// Parts of a long text, cut where a sentence or at least a word ends.
fn parts(text: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        if text.len() - start <= PART {
            next = None;
            return Some(start..text.len());
        }
        let end = cut(text, start + PART);
        next = Some(cut(text, end - SHARED));
        Some(start..end)
    })
}

/// The last place before `at` where a text can be cut, not far back.
fn cut(text: &[u8], at: usize) -> usize {
    let from = at - SHARED / 2;
    let near = text.get(from..at).unwrap_or_default();
    let sentence = near
        .windows(2)
        .rposition(|pair| matches!(pair, [b'.' | b'!' | b'?', b' '] | [b'\n', _]));
    let place = sentence.or_else(|| near.iter().rposition(|&byte| byte == b' '));
    place.map_or(at, |place| from + place + 1)
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
