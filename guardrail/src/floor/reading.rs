//! One pass over folded text: words, sentences, clauses, the phrases found in them, and in which mood each is said.
//!
//! A clause is negated, unreal (a condition, a question, an announcement, a training) or neither. Clauses end at
//! punctuation, at conjunctions and relative pronouns, and at a comma that a new subject follows, so that an excuse
//! counts for what it excuses and for nothing else.

use std::collections::BTreeSet;

use super::lexicon::{Found, Lexicon, NO_WORD, WordId};
use super::table::{ConceptId, Table, TableError};
use super::words::{Gap, gap, is_word_byte, word_end};
use crate::fold::Range;

/// How a clause is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mood {
    /// As a fact.
    #[default]
    Real,
    /// As what didn't happen.
    Negated,
    /// As a condition, a question, a plan or a subject of teaching.
    Unreal,
}

/// One word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    pub(super) start: u32,
    pub(super) sentence: u32,
    pub(super) clause: u32,
    id: WordId,
    pub(super) mood: Mood,
    gap: Gap,
    roles: u8,
    /// Words that the longest cue here covers.
    span: u8,
}

/// A phrase of a concept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// First word.
    pub(super) word: u32,
    /// Words it covers.
    pub(super) len: u8,
}

impl Hit {
    /// The first word that it doesn't cover.
    pub(super) fn behind(self) -> u32 {
        self.word + u32::from(self.len)
    }
}

/// What the pass found.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) words: Vec<Word>,
    /// The hits of each concept, in text order.
    by_concept: Vec<Vec<Hit>>,
    /// The first word of each sentence.
    pub(super) sentences: Vec<u32>,
    imitations: Vec<(Range, bool)>,
    known: u32,
    long: u32,
    letters_in_a_row: u32,
    /// Whether each sentence ends with a question mark.
    questions: Vec<bool>,
    memo: Memo,
}

/// Short words that were read lately. Most words of a text come again soon, and a look here costs less than a walk
/// through the automaton, whose states don't fit the nearest cache.
#[derive(Debug, Default)]
struct Memo {
    /// The letters of a word, padded with zeros, and its id.
    slots: Vec<(u64, WordId)>,
}

impl Memo {
    const SLOTS: usize = 512;

    /// As [`Lexicon::word`].
    fn word(&mut self, text: &[u8], at: usize, lexicon: &Lexicon) -> (WordId, usize) {
        let Some(&letters) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) else {
            return lexicon.word(text, at);
        };
        let length = letters
            .iter()
            .take_while(|&&byte| is_word_byte(byte))
            .count();
        if letters.get(length).is_none_or(|&next| next == b'\'') {
            return lexicon.word(text, at);
        }
        let key = u64::from_le_bytes(letters) & !(u64::MAX << (8 * length));
        // Fibonacci hashing: the upper bits of the product are well mixed.
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize;
        match self.slots.get_mut(slot) {
            Some(&mut (known, id)) if known == key => (id, at + length),
            Some(free) => {
                let (id, end) = lexicon.word(text, at);
                *free = (key, id);
                (id, end)
            }
            None => lexicon.word(text, at),
        }
    }
}

/// Cues that decide about clauses, as bits.
mod role {
    pub(super) const NEGATION: u8 = 1;
    /// Looks like a negation and isn't one of what follows: `did not notice that ...`.
    pub(super) const NO_NEGATION: u8 = 2;
    pub(super) const CONDITION: u8 = 4;
    /// Opens a question or a request when it stands first.
    pub(super) const OPENER: u8 = 8;
    pub(super) const CONJUNCTION: u8 = 16;
    pub(super) const SUBJECT: u8 = 32;
    /// The clause is about teaching, testing or news.
    pub(super) const TOPIC: u8 = 64;
    /// A fixed expression whose parts don't count.
    pub(super) const IDIOM: u8 = 128;
}

/// Which concepts are cues, by concept. The table has to hold these.
pub(super) fn roles(table: &Table) -> Result<Vec<u8>, TableError> {
    let mut of = vec![0; table.concepts()];
    for (name, bit) in [
        ("negation", role::NEGATION),
        ("no_negation", role::NO_NEGATION),
        ("condition", role::CONDITION),
        ("opener", role::OPENER),
        ("conjunction", role::CONJUNCTION),
        ("subject", role::SUBJECT),
        ("topic", role::TOPIC),
        ("idiom", role::IDIOM),
    ] {
        if let Some(roles) = of.get_mut(usize::from(table.concept(name)?)) {
            *roles |= bit;
        }
    }
    Ok(of)
}

/// Words after which a sentence is cut: text that was dictated without a full stop is not one statement.
const LONGEST_SENTENCE: u32 = 50;

/// Words after which a negation has lost its hold.
const NEGATION_REACH: u32 = 14;

impl Reading {
    /// Reads `text`, in the room of what was read before.
    pub(super) fn read(&mut self, text: &[u8], lexicon: &Lexicon) {
        self.words.clear();
        self.sentences.clear();
        self.questions.clear();
        self.imitations.clear();
        self.by_concept.iter_mut().for_each(Vec::clear);
        self.by_concept.resize_with(lexicon.concepts(), Vec::new);
        self.memo.slots.resize(Memo::SLOTS, (0, NO_WORD));
        self.find_words(text, lexicon);
        self.find_phrases(text, lexicon);
        self.decide_moods();
    }

    /// The hits of a concept, in text order.
    pub(super) fn hits(&self, concept: ConceptId) -> &[Hit] {
        self.by_concept
            .get(usize::from(concept))
            .map_or(&[], Vec::as_slice)
    }

    /// The mood of a hit is that of its first word.
    pub(super) fn mood(&self, hit: Hit) -> Mood {
        self.word(hit.word).mood
    }

    /// The word at an index; a default one behind the end.
    pub(super) fn word(&self, at: u32) -> Word {
        self.words.get(at as usize).copied().unwrap_or_default()
    }

    /// Words that are spelt to look like telling words, or like everyday ones.
    pub(super) fn imitations(&self, telling: bool) -> Vec<Range> {
        self.imitations
            .iter()
            .filter(|&&(_, like_telling)| like_telling == telling)
            .map(|&(range, _)| range)
            .collect()
    }

    /// How many words of three letters and more the table knows, and how many there are.
    pub(super) fn known_words(&self) -> (u32, u32) {
        (self.known, self.long)
    }

    /// The longest row of words of one letter.
    pub(super) fn letters_in_a_row(&self) -> u32 {
        self.letters_in_a_row
    }

    /// The number of words.
    pub(super) fn words_count(&self) -> u32 {
        cast(self.words.len())
    }

    /// The number of sentences.
    pub(super) fn sentences_count(&self) -> u32 {
        cast(self.sentences.len())
    }

    /// The sentences that hold a concept.
    pub(super) fn sentences_of(&self, concept: ConceptId) -> BTreeSet<u32> {
        self.hits(concept)
            .iter()
            .map(|hit| self.word(hit.word).sentence)
            .collect()
    }

    /// The first word of a sentence; the number of words behind the last one.
    pub(super) fn sentence_start(&self, sentence: u32) -> u32 {
        self.sentences
            .get(sentence as usize)
            .copied()
            .unwrap_or_else(|| self.words_count())
    }

    fn find_words(&mut self, text: &[u8], lexicon: &Lexicon) {
        let mut at = 0;
        let mut last = 0..0;
        let mut sentence = 0;
        let mut letters = 0;
        self.known = 0;
        self.long = 0;
        self.letters_in_a_row = 0;
        self.sentences.push(0);
        while let Some(&byte) = text.get(at) {
            if !is_word_byte(byte) {
                at += 1;
                continue;
            }
            let (mut id, end) = self.memo.word(text, at, lexicon);
            let index = cast(self.words.len());
            let mut between = Gap::Space;
            // One space is by far the commonest gap.
            if at != last.end + 1 || text.get(last.end) != Some(&b' ') {
                // File endings and domains are listed with their dot.
                if at > 0 && text.get(at - 1) == Some(&b'.') {
                    let ending = lexicon.ending(text, at - 1, end);
                    if ending != NO_WORD {
                        id = ending;
                    }
                }
                if index > 0 {
                    let bytes = text.get(last.end..at).unwrap_or_default();
                    let (gap, question) = gap(text.get(last).unwrap_or_default(), bytes);
                    between = gap;
                    if gap == Gap::Sentence {
                        self.questions.push(question);
                        self.sentences.push(index);
                        sentence += 1;
                    }
                }
            }
            if index - self.sentences.last().copied().unwrap_or(0) >= LONGEST_SENTENCE {
                self.questions.push(false);
                self.sentences.push(index);
                sentence += 1;
            }
            self.words.push(Word {
                start: cast(at),
                sentence,
                id,
                gap: between,
                ..Word::default()
            });
            if end - at > 2 {
                self.long += 1;
                self.known += u32::from(id != NO_WORD);
            }
            letters = if end == at + 1 { letters + 1 } else { 0 };
            self.letters_in_a_row = self.letters_in_a_row.max(letters);
            last = at..end;
            at = end;
        }
        let (_, question) = gap(b"", text.get(last.end..).unwrap_or_default());
        self.questions.push(question);
    }

    fn find_phrases(&mut self, text: &[u8], lexicon: &Lexicon) {
        let mut idiom_until = 0;
        let mut found_here: Vec<Found<'_>> = Vec::with_capacity(16);
        for index in 0..self.words.len() {
            let Some(word) = self.words.get(index).filter(|word| word.id != NO_WORD) else {
                continue;
            };
            if let Some(telling) = lexicon.imitation(word.id) {
                let start = word.start;
                let end = cast(word_end(text, start as usize));
                self.imitations.push((Range { start, end }, telling));
                continue;
            }
            let at = cast(index);
            let ahead = self.words.get(index..).unwrap_or_default().iter();
            found_here.clear();
            lexicon.phrases(ahead.map(|word| word.id), |found| found_here.push(found));
            let (mut word_roles, mut span) = (0, word.span);
            for found in &found_here {
                if found.roles == 0 {
                    continue;
                }
                if found.roles & role::IDIOM != 0 {
                    idiom_until = idiom_until.max(at + u32::from(found.words));
                }
                word_roles |= found.roles;
                span = span.max(found.words);
            }
            if word_roles != 0
                && let Some(word) = self.words.get_mut(index)
            {
                // The parts of an idiom mean nothing by themselves.
                word.roles = if at < idiom_until {
                    role::IDIOM
                } else {
                    word_roles
                };
                word.span = span;
            }
            for found in &found_here {
                if at + u32::from(found.words) <= idiom_until {
                    continue;
                }
                for &concept in found.concepts {
                    if let Some(hits) = self.by_concept.get_mut(usize::from(concept)) {
                        hits.push(Hit {
                            word: at,
                            len: found.words,
                        });
                    }
                }
            }
        }
    }

    fn decide_moods(&mut self) {
        let mut clause = 0;
        let mut clause_start = 0;
        let mut negated_until = 0;
        let mut unreal = false;
        let mut no_negation_until = 0;
        for index in 0..self.words.len() {
            let Some(&word) = self.words.get(index) else {
                break;
            };
            let at = cast(index);
            let has = |bit: u8| word.roles & bit != 0;
            let new_clause = index > 0
                && match word.gap {
                    Gap::Sentence | Gap::Clause => true,
                    Gap::Comma => has(role::SUBJECT) || has(role::CONJUNCTION),
                    Gap::Space => has(role::CONJUNCTION),
                    Gap::Compound => false,
                };
            if new_clause {
                clause += 1;
                clause_start = index;
                negated_until = 0;
                unreal = false;
            }
            let mood = if unreal {
                Mood::Unreal
            } else if at < negated_until {
                Mood::Negated
            } else {
                Mood::Real
            };
            if let Some(slot) = self.words.get_mut(index) {
                slot.mood = mood;
                slot.clause = clause;
            }
            let behind = at + u32::from(word.span);
            if has(role::NO_NEGATION) {
                no_negation_until = behind;
                negated_until = 0;
            }
            if has(role::NEGATION) && at >= no_negation_until {
                negated_until = at + NEGATION_REACH;
            }
            if has(role::CONDITION)
                || (has(role::OPENER) && index == clause_start && self.asks(word.sentence))
            {
                unreal = true;
            }
            if has(role::TOPIC) && !unreal {
                unreal = true;
                for word in self.words.iter_mut().take(index + 1).skip(clause_start) {
                    word.mood = Mood::Unreal;
                }
            }
        }
    }

    fn asks(&self, sentence: u32) -> bool {
        self.questions
            .get(sentence as usize)
            .copied()
            .unwrap_or(false)
    }
}

fn cast(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
