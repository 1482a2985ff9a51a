//! The floor: KB-006 as a table of indicators, and the engine that reads tickets with it.
//!
//! What counts is in `indicators.txt`; nothing here knows what a phish is. The text is folded ([`crate::fold`]), read in
//! one pass (words, clauses, phrases), and the rules are evaluated on positions. Everything is linear in the text.

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
    indicators: Vec<Indicator>,
}

/// One indicator found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Which indicator.
    pub(crate) id: &'static str,
    /// The knowledge base article that says so.
    pub(crate) kb_ref: &'static str,
    /// Lines of the table whose rules fired.
    pub(crate) lines: Vec<usize>,
    /// Where, in folded text.
    pub(crate) evidence: Vec<Range>,
}

impl Floor {
    /// The floor of this build. Compiled when the first text is screened: a server that drafts nothing never pays for it.
    pub(crate) fn get() -> Result<&'static Self, &'static TableError> {
        static FLOOR: OnceLock<Result<Floor, TableError>> = OnceLock::new();
        FLOOR
            .get_or_init(|| Self::build(include_str!("indicators.txt")))
            .as_ref()
    }

    fn build(text: &'static str) -> Result<Self, TableError> {
        let table = Table::read(text)?;
        Ok(Self {
            lexicon: Lexicon::build(&table)?,
            roles: Roles::of(&table)?,
            explained: table.concept("explained")?,
            indicators: table.indicators,
        })
    }

    /// All indicators in `folded`, in the order of the table.
    pub(crate) fn scan(&self, folded: &Folded) -> Vec<Finding> {
        let reading = Reading::of(folded.text(), &self.lexicon, &self.roles);
        let mut findings: Vec<Finding> = Vec::new();
        for firing in rules::evaluate(&self.indicators, self.explained, &reading) {
            let Some(row) = self.indicators.get(firing.indicator) else {
                continue;
            };
            if findings.last().is_none_or(|last| last.id != row.id) {
                findings.push(Finding {
                    id: row.id,
                    kb_ref: row.kb_ref,
                    lines: Vec::new(),
                    evidence: Vec::new(),
                });
            }
            if let Some(finding) = findings.last_mut() {
                finding.lines.push(firing.line);
                for span in firing.spans {
                    let range = range(folded.text(), &reading, span);
                    if !finding.evidence.contains(&range) {
                        finding.evidence.push(range);
                    }
                }
            }
        }
        findings
    }
}

fn range(text: &[u8], reading: &Reading, span: Span) -> Range {
    let last = reading.word(span.behind.saturating_sub(1)).start;
    Range {
        start: reading.word(span.first).start,
        end: u32::try_from(words::word_end(text, last as usize)).unwrap_or(u32::MAX),
    }
}
