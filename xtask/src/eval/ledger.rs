//! What is known about corpora beside their files: which were written to find faults, which are sealed, and which cases
//! are spent. It is kept apart because a corpus is never changed in place.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::Refused;
use super::corpus::Corpus;

/// The ledger of this repository, from its root.
pub(super) const LEDGER: &str = "guardrail/corpora/ledger.json";

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    /// Corpora that were written to find faults: counts only, no rates.
    pub(super) directed: Vec<String>,
    /// Corpora that are kept for a candidate that is committed: refused.
    pub(super) sealed: Vec<String>,
    /// Cases that something was tuned toward, or that a candidate was picked by.
    pub(super) spent: Vec<Spent>,
}

/// One entry: what was spent, when, and on what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spent {
    corpus_id: String,
    cases: Vec<String>,
    spent_on: String,
    reason: String,
}

impl Ledger {
    /// Reads a ledger, or says what is wrong with it.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        std::fs::read_to_string(path)
            .map_err(anyhow::Error::from)
            .and_then(|text| Self::parse(&text))
            .with_context(|| Refused(format!("`{shown}` is not a ledger")))
    }

    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let ledger: Self = serde_json::from_str(text)?;
        for entry in &ledger.spent {
            if entry.spent_on.trim().is_empty() || entry.reason.trim().is_empty() {
                bail!(
                    "an entry for `{}` says no day or no reason",
                    entry.corpus_id
                );
            }
        }
        Ok(ledger)
    }

    /// Whether the corpus was written to find faults.
    pub(super) fn is_directed(&self, corpus: &Corpus) -> bool {
        self.directed.contains(&corpus.corpus_id)
    }

    /// Marks the cases that are spent, and notes what the file and the ledger say differently.
    pub(super) fn apply(&self, corpus: &mut Corpus) -> anyhow::Result<()> {
        if self.sealed.contains(&corpus.corpus_id) {
            let sealed = format!("the corpus `{}` is sealed", corpus.corpus_id);
            return Err(anyhow::Error::new(Refused(sealed)));
        }
        let entries: Vec<&String> = self
            .spent
            .iter()
            .filter(|entry| entry.corpus_id == corpus.corpus_id)
            .flat_map(|entry| &entry.cases)
            .collect();
        for id in &entries {
            if !corpus.cases.iter().any(|case| case.id == **id) {
                corpus
                    .notes
                    .push(format!("the ledger spends `{id}`, which is not a case"));
            }
        }
        for case in &mut corpus.cases {
            if entries.contains(&&case.id) {
                case.spent = Some(true);
            } else if case.spent == Some(true) {
                corpus.notes.push(format!(
                    "`{}` is spent without an entry in the ledger",
                    case.id
                ));
            }
        }
        Ok(())
    }
}
