//! Reads `indicators.txt`, the table of concepts and rules. The notation is explained at the head of that file.

use std::collections::{BTreeSet, HashMap};

use super::phrase;

/// A concept: a set of words and phrases that mean the same to the rules.
pub(super) type ConceptId = u16;

/// What is wrong with the indicator table.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum TableError {
    /// A rule or concept names a concept that isn't there.
    #[error("line {line}: no concept `{name}`")]
    UnknownConcept {
        /// Line of the table, from 1.
        line: usize,
        /// The name that was used.
        name: String,
    },
    /// A line that is neither a concept, an indicator, nor part of one.
    #[error("line {line}: can't read `{text}`")]
    Unreadable {
        /// Line of the table, from 1.
        line: usize,
        /// The text.
        text: String,
    },
    /// The automaton could not be built.
    #[error("the automaton can't be built: {reason}")]
    Automaton {
        /// What the builder said.
        reason: String,
    },
}

impl TableError {
    pub(super) fn automaton(error: &dyn std::fmt::Display) -> Self {
        Self::Automaton {
            reason: error.to_string(),
        }
    }
}

/// Which mentions of a concept count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// It is said to be so.
    Real,
    /// It is said not to be so.
    Negated,
    /// Any mention.
    Any,
}

/// One place of a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atom {
    pub(super) concept: ConceptId,
    pub(super) want: Want,
}

/// The next place of a chain and how near it has to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) atom: Atom,
    /// Words between the two at most.
    pub(super) gap: u32,
    /// It has to follow; otherwise it may stand on either side.
    pub(super) ordered: bool,
    /// It may be in another clause of the sentence.
    pub(super) across_clauses: bool,
}

/// A chain of concepts within one sentence.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) first: Atom,
    pub(super) links: Vec<Link>,
}

impl Term {
    /// All places of the chain.
    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        std::iter::once(&self.first).chain(self.links.iter().map(|link| &link.atom))
    }
}

/// All terms within a few sentences of each other make the indicator fire.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) terms: Vec<Term>,
    /// Consecutive sentences that have to hold all terms; `u32::MAX` is the whole text.
    pub(super) sentences: u32,
    /// Concepts that excuse a match when they stand in one of its sentences.
    pub(super) unless: Vec<ConceptId>,
    /// Concepts that excuse a match wherever they stand.
    pub(super) never: Vec<ConceptId>,
}

/// One row of KB-006.
#[derive(Clone, Debug)]
pub(super) struct Indicator {
    pub(super) id: &'static str,
    pub(super) kb_ref: &'static str,
    /// An explanation in a sentence behind doesn't excuse it.
    pub(super) firm: bool,
    pub(super) rules: Vec<Rule>,
}

/// The whole table.
#[derive(Debug, Default)]
pub(super) struct Table {
    names: HashMap<String, ConceptId>,
    /// Each text once, in order, with the concepts it belongs to.
    pub(super) phrases: Vec<(String, Vec<ConceptId>)>,
    pub(super) indicators: Vec<Indicator>,
}

struct Concept {
    line: usize,
    entries: Vec<String>,
}

impl Table {
    /// Reads the table from its text.
    pub(super) fn read(text: &'static str) -> Result<Self, TableError> {
        let mut reader = Reader::default();
        reader.lines(text)?;
        reader.finish()
    }

    /// The id of a concept that the engine itself relies on.
    pub(super) fn concept(&self, name: &str) -> Result<ConceptId, TableError> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| TableError::UnknownConcept {
                line: 0,
                name: name.to_owned(),
            })
    }

    /// The concepts that rules and the engine look for in a text. The others only steer the reading of clauses.
    pub(super) fn asked_for(&self) -> Result<BTreeSet<ConceptId>, TableError> {
        let rules = self.indicators.iter().flat_map(|row| &row.rules);
        let mut asked: BTreeSet<ConceptId> = rules
            .flat_map(|rule| {
                let atoms = rule.terms.iter().flat_map(Term::atoms);
                let excuses = rule.unless.iter().chain(&rule.never);
                atoms.map(|atom| &atom.concept).chain(excuses)
            })
            .copied()
            .collect();
        asked.extend([self.concept("explained")?, self.concept("payment_words")?]);
        Ok(asked)
    }

    /// How many concepts there are.
    pub(super) fn concepts(&self) -> usize {
        self.names.len()
    }
}

/// An indicator while it is being read: id, reference, and its rules with their lines.
type Rows = (&'static str, &'static str, Vec<(usize, &'static str)>);

#[derive(Default)]
struct Reader {
    concepts: Vec<Concept>,
    names: HashMap<String, ConceptId>,
    indicators: Vec<Rows>,
    in_concept: bool,
}

impl Reader {
    fn lines(&mut self, text: &'static str) -> Result<(), TableError> {
        for (at, raw) in text.lines().enumerate() {
            let line = at + 1;
            let content = raw.split(" #").next().unwrap_or_default().trim_end();
            if content.trim().is_empty() || content.starts_with('#') {
                continue;
            }
            let unreadable = || TableError::Unreadable {
                line,
                text: content.to_owned(),
            };
            if let Some(name) = content.strip_prefix("concept ") {
                if self.names.contains_key(name.trim()) {
                    return Err(unreadable());
                }
                self.concept(line, name.trim());
                self.in_concept = true;
            } else if let Some(head) = content.strip_prefix("indicator ") {
                let (id, kb_ref) = head.trim().split_once(' ').ok_or_else(unreadable)?;
                self.indicators.push((id, kb_ref.trim(), Vec::new()));
                self.in_concept = false;
            } else if !content.starts_with(' ') {
                return Err(unreadable());
            } else if self.in_concept {
                let concept = self.concepts.last_mut().ok_or_else(unreadable)?;
                concept.entries.extend(entries(content, ','));
            } else {
                let (_, _, rules) = self.indicators.last_mut().ok_or_else(unreadable)?;
                rules.push((line, content.trim()));
            }
        }
        Ok(())
    }

    fn concept(&mut self, line: usize, name: &str) -> ConceptId {
        let id = ConceptId::try_from(self.concepts.len()).unwrap_or(ConceptId::MAX);
        self.names.insert(name.to_owned(), id);
        self.concepts.push(Concept {
            line,
            entries: Vec::new(),
        });
        id
    }

    fn finish(mut self) -> Result<Table, TableError> {
        let mut indicators = Vec::new();
        for (id, kb_ref, lines) in std::mem::take(&mut self.indicators) {
            let rules = lines
                .into_iter()
                .map(|(line, text)| self.rule(line, text))
                .collect::<Result<_, _>>()?;
            let (kb_ref, firm) = match kb_ref.strip_suffix(" firm") {
                Some(kb_ref) => (kb_ref, true),
                None => (kb_ref, false),
            };
            indicators.push(Indicator {
                id,
                kb_ref,
                firm,
                rules,
            });
        }
        let mut phrases: HashMap<String, Vec<ConceptId>> = HashMap::new();
        for at in 0..self.concepts.len() {
            let id = ConceptId::try_from(at).unwrap_or(ConceptId::MAX);
            for text in self.texts(at, 0)? {
                let owners = phrases.entry(text).or_default();
                if !owners.contains(&id) {
                    owners.push(id);
                }
            }
        }
        let mut phrases: Vec<_> = phrases.into_iter().collect();
        phrases.sort();
        Ok(Table {
            names: self.names,
            phrases,
            indicators,
        })
    }

    /// The texts of a concept, those of the concepts it includes among them.
    fn texts(&self, at: usize, depth: usize) -> Result<Vec<String>, TableError> {
        let Some(concept) = self.concepts.get(at).filter(|_| depth < 8) else {
            return Ok(Vec::new());
        };
        let mut texts = Vec::new();
        for entry in &concept.entries {
            if let Some(name) = entry.strip_prefix('@') {
                let other = self.id(concept.line, name)?;
                texts.extend(self.texts(usize::from(other), depth + 1)?);
            } else {
                texts.extend(phrase::expand(entry));
            }
        }
        Ok(texts)
    }

    fn id(&self, line: usize, name: &str) -> Result<ConceptId, TableError> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| TableError::UnknownConcept {
                line,
                name: name.to_owned(),
            })
    }

    fn ids(&self, line: usize, names: &str) -> Result<Vec<ConceptId>, TableError> {
        names
            .split_whitespace()
            .map(|name| self.id(line, name))
            .collect()
    }

    fn rule(&mut self, line: usize, text: &str) -> Result<Rule, TableError> {
        let mut rule = Rule {
            terms: Vec::new(),
            sentences: 1,
            unless: Vec::new(),
            never: Vec::new(),
        };
        let mut parts = text.split(';');
        for term in entries(parts.next().unwrap_or_default(), ',') {
            rule.terms.push(self.term(line, &term)?);
        }
        for option in parts {
            let option = option.trim();
            if let Some(number) = option.strip_prefix("within ") {
                rule.sentences = match number.trim() {
                    "all" => u32::MAX,
                    number => number.parse().map_err(|_error| TableError::Unreadable {
                        line,
                        text: option.to_owned(),
                    })?,
                };
            } else if let Some(names) = option.strip_prefix("unless ") {
                rule.unless = self.ids(line, names)?;
            } else if let Some(names) = option.strip_prefix("never ") {
                rule.never = self.ids(line, names)?;
            } else {
                return Err(TableError::Unreadable {
                    line,
                    text: option.to_owned(),
                });
            }
        }
        Ok(rule)
    }

    fn term(&mut self, line: usize, text: &str) -> Result<Term, TableError> {
        let mut pieces = split_chain(text).into_iter();
        let first = pieces.next().unwrap_or_default();
        let mut term = Term {
            first: self.atom(line, first)?,
            links: Vec::new(),
        };
        while let (Some(link), Some(atom)) = (pieces.next(), pieces.next()) {
            let sign = link.trim_end_matches(|c: char| c.is_ascii_digit());
            let gap = link.get(sign.len()..).unwrap_or_default();
            term.links.push(Link {
                atom: self.atom(line, atom)?,
                gap: gap.parse().unwrap_or(5),
                ordered: sign.starts_with('>'),
                across_clauses: sign.len() > 1,
            });
        }
        Ok(term)
    }

    fn atom(&mut self, line: usize, text: &str) -> Result<Atom, TableError> {
        let (want, name) = match text.split_at_checked(1) {
            Some(("!", name)) => (Want::Negated, name),
            Some(("?", name)) => (Want::Any, name),
            _ => (Want::Real, text),
        };
        let inline = name
            .strip_prefix('[')
            .filter(|_| !self.names.contains_key(name));
        let concept = if let Some(inner) = inline {
            let id = self.concept(line, name);
            let inner = inner.trim_end_matches(']');
            if let Some(concept) = self.concepts.last_mut() {
                concept.entries = entries(inner, '/');
            }
            id
        } else {
            self.id(line, name)?
        };
        Ok(Atom { concept, want })
    }
}

/// The entries of a list, without empty ones. A separator inside brackets or braces doesn't count.
fn entries(text: &str, separator: char) -> Vec<String> {
    let mut depth = 0_i32;
    text.split(|c| {
        depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
        c == separator && depth == 0
    })
    .map(|entry| entry.trim().to_owned())
    .filter(|entry| !entry.is_empty())
    .collect()
}

/// A chain split into atoms and the links between them; an inline concept in brackets stays whole.
fn split_chain(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut depth = 0_i32;
    for piece in text.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ' ' && depth == 0
    }) {
        if !piece.is_empty() {
            pieces.push(piece);
        }
    }
    pieces
}
