//! The words of the indicator table in one automaton, and the phrases as paths over words.
//!
//! The automaton is walked once over each word of a text. It holds words and not whole phrases, because a dense automaton
//! of all phrases takes 25 MB and half a second to build; so it takes 3 MB and is walked without leaving the cache.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use regex_automata::Anchored;
use regex_automata::MatchKind;
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};

use super::reading;
use super::table::{ConceptId, Table, TableError};
use super::words::{is_word_byte, word_end};

/// A word of the table.
pub(super) type WordId = u16;

/// A word that the table doesn't know.
pub(super) const NO_WORD: WordId = WordId::MAX;

/// One phrase found at a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    /// The concepts it belongs to, of those that rules ask for.
    pub(super) concepts: &'a [ConceptId],
    /// What it says about its clause.
    pub(super) roles: u8,
    /// Words it covers.
    pub(super) words: u8,
}

/// Where a path over words has come to.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The concepts of the phrase that ends here, from this index of `owners` on.
    owners: u32,
    /// How many.
    count: u16,
    roles: u8,
    /// The words that one can go on with, each as one of 64 bits: most words that follow are told apart without a look
    /// at the edges.
    next: u64,
}

/// The compiled words and phrases.
pub(super) struct Lexicon {
    words: dense::DFA<Vec<u32>>,
    start: StateID,
    /// The word that ends in each state of the automaton, by the number of the state.
    ids: Vec<WordId>,
    /// The first nodes are the words themselves, by id.
    nodes: Vec<Node>,
    edges: Edges,
    owners: Vec<ConceptId>,
    concepts: usize,
    /// Words that incidents are told with.
    telling: Vec<bool>,
    /// From this id on, words are misspellings that look like a word: of an everyday word, then of a telling one.
    first_imitation: WordId,
    first_telling_imitation: WordId,
}

impl Lexicon {
    /// Compiles the phrases of `table`.
    pub(super) fn build(table: &Table) -> Result<Self, TableError> {
        let roles = reading::roles(table)?;
        let asked = table.asked_for()?;
        let mut paths = Paths::of(&table.phrases);
        let telling: Vec<bool> = paths.marked(table.concept("telling")?);
        let everyday = paths.marked(table.concept("everyday")?);
        let first_imitation = paths.imitate(&everyday, IMITATIONS.split_at(1).0);
        let first_telling_imitation = paths.imitate(&telling, IMITATIONS);
        paths.reverse(&telling);
        let words = automaton(&paths.texts)?;
        let start = words
            .start_state(&start::Config::new().anchored(Anchored::Yes))
            .map_err(|error| TableError::automaton(&error))?;
        let mut lexicon = Self {
            words,
            start,
            ids: Vec::new(),
            nodes: Vec::with_capacity(paths.nodes.len()),
            edges: Edges::of(&paths),
            owners: Vec::new(),
            concepts: table.concepts(),
            telling,
            first_imitation,
            first_telling_imitation,
        };
        for (id, word) in paths.texts.iter().enumerate() {
            let end = lexicon.number(lexicon.walk(start, word.as_bytes()));
            if lexicon.ids.len() <= end {
                lexicon.ids.resize(end + 1, NO_WORD);
            }
            if let Some(slot) = lexicon.ids.get_mut(end) {
                *slot = WordId::try_from(id).unwrap_or(NO_WORD);
            }
        }
        for node in paths.nodes {
            let owners = lexicon.owners.len();
            let all = node.concepts.iter();
            let roles = all.fold(0, |bits, &one| bits | role_of(&roles, one));
            let wanted = node.concepts.into_iter().filter(|one| asked.contains(one));
            lexicon.owners.extend(wanted);
            lexicon.nodes.push(Node {
                owners: cast(owners),
                count: u16::try_from(lexicon.owners.len() - owners).unwrap_or(u16::MAX),
                roles,
                next: node
                    .edges
                    .keys()
                    .fold(0, |bits, &word| bits | next_bit(word)),
            });
        }
        Ok(lexicon)
    }

    /// The word at byte `at` of `text` and the byte behind it. A possessive ending doesn't change the word.
    pub(super) fn word(&self, text: &[u8], at: usize) -> (WordId, usize) {
        let mut state = self.start;
        let mut end = at;
        for &byte in text.get(at..).unwrap_or_default() {
            if !is_word_byte(byte) {
                break;
            }
            state = self.words.next_state(state, byte);
            end += 1;
        }
        if text.get(end) == Some(&b'\'') {
            return self.word_with_apostrophe(text, at, state, end);
        }
        (self.id(state), end)
    }

    fn word_with_apostrophe(
        &self,
        text: &[u8],
        at: usize,
        state: StateID,
        stem: usize,
    ) -> (WordId, usize) {
        let end = word_end(text, at);
        let ending = text.get(stem..end).unwrap_or_default();
        match self.id(self.walk(state, ending)) {
            NO_WORD if ending == b"'s" => (self.id(state), end),
            id => (id, end),
        }
    }

    /// The table's word for a file ending or domain such as `.zip`, dot included.
    pub(super) fn ending(&self, text: &[u8], dot: usize, end: usize) -> WordId {
        self.id(self.walk(self.start, text.get(dot..end).unwrap_or_default()))
    }

    fn walk(&self, from: StateID, bytes: &[u8]) -> StateID {
        bytes
            .iter()
            .fold(from, |state, &byte| self.words.next_state(state, byte))
    }

    fn number(&self, state: StateID) -> usize {
        state.as_usize() >> self.words.stride2()
    }

    fn id(&self, state: StateID) -> WordId {
        self.ids.get(self.number(state)).copied().unwrap_or(NO_WORD)
    }

    /// Whether the table knows a word.
    pub(super) fn knows(&self, word: &[u8]) -> bool {
        self.id(self.walk(self.start, word)) < self.first_imitation
    }

    /// Whether incidents are told with a word.
    pub(super) fn is_telling(&self, word: &[u8]) -> bool {
        let id = self.id(self.walk(self.start, word));
        self.telling.get(usize::from(id)).copied().unwrap_or(false)
    }

    /// Whether a telling word stands anywhere in a row of letters.
    pub(super) fn holds_telling(&self, letters: &[u8]) -> bool {
        (0..letters.len()).any(|from| {
            let mut state = self.start;
            letters.iter().skip(from).any(|&letter| {
                state = self.words.next_state(state, letter);
                let id = self.id(state);
                self.telling.get(usize::from(id)).copied().unwrap_or(false)
            })
        })
    }

    /// Whether a word is a misspelling that looks like another word, and whether like a telling one.
    pub(super) fn imitation(&self, word: WordId) -> Option<bool> {
        (word >= self.first_imitation && word != NO_WORD)
            .then_some(word >= self.first_telling_imitation)
    }

    /// Reports every phrase that starts with the first of `words`.
    pub(super) fn phrases<'a>(
        &'a self,
        mut words: impl Iterator<Item = WordId>,
        mut report: impl FnMut(Found<'a>),
    ) {
        let Some(first) = words.next() else { return };
        let mut at = u32::from(first);
        let mut length = 0;
        while let Some(here) = self.nodes.get(at as usize) {
            length += 1;
            if here.count > 0 || here.roles != 0 {
                let from = here.owners as usize;
                let owners = self.owners.get(from..from + usize::from(here.count));
                report(Found {
                    concepts: owners.unwrap_or_default(),
                    roles: here.roles,
                    words: length,
                });
            }
            if here.next == 0 {
                return;
            }
            let next = words.next().filter(|&word| here.next & next_bit(word) != 0);
            let Some(next) = next.and_then(|word| self.edges.follow(at, word)) else {
                return;
            };
            at = next;
        }
    }

    /// How many concepts there are.
    pub(super) fn concepts(&self) -> usize {
        self.concepts
    }
}

/// The bit of a word in [`Node::next`].
fn next_bit(word: WordId) -> u64 {
    1 << (u32::from(word).wrapping_mul(0x9e37_79b9) >> 26)
}

fn role_of(roles: &[u8], concept: ConceptId) -> u8 {
    roles.get(usize::from(concept)).copied().unwrap_or(0)
}

/// Letters that look like others side by side.
const IMITATIONS: &[(&str, &str)] = &[("m", "rn"), ("w", "vv"), ("d", "cl")];

/// Words that a replacement makes by chance.
const REAL_WORDS: &[&str] = &[
    "modern", "corn", "burn", "barn", "born", "torn", "turn", "worn", "warn", "stern", "fern",
];

fn automaton(words: &[String]) -> Result<dense::DFA<Vec<u32>>, TableError> {
    let patterns: Vec<String> = words.iter().map(|word| word.replace('.', "\\.")).collect();
    let nfa = thompson::Compiler::new()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .build_many(&patterns)
        .map_err(|error| TableError::automaton(&error))?;
    dense::Builder::new()
        .configure(
            dense::Config::new()
                .start_kind(StartKind::Anchored)
                .match_kind(MatchKind::All)
                .accelerate(false),
        )
        .build_from_nfa(&nfa)
        .map_err(|error| TableError::automaton(&error))
}

#[derive(Default)]
struct PathNode {
    concepts: Vec<ConceptId>,
    edges: BTreeMap<WordId, u32>,
}

/// Phrases as paths, while they are being collected. A word's id is also the index of its node.
struct Paths {
    /// Known words, and behind them imitations.
    texts: Vec<String>,
    nodes: Vec<PathNode>,
}

impl Paths {
    fn of(phrases: &[(String, Vec<ConceptId>)]) -> Self {
        let mut ids: HashMap<&str, WordId> = HashMap::new();
        let mut texts = Vec::new();
        let mut paths = Vec::with_capacity(phrases.len());
        for (phrase, concepts) in phrases {
            let path: Vec<WordId> = words_of(phrase)
                .map(|word| {
                    *ids.entry(word).or_insert_with(|| {
                        texts.push(word.to_owned());
                        WordId::try_from(texts.len() - 1).unwrap_or(NO_WORD)
                    })
                })
                .collect();
            paths.push((path, concepts));
        }
        let mut collected = Self {
            nodes: texts.iter().map(|_| PathNode::default()).collect(),
            texts,
        };
        for (path, concepts) in paths {
            collected.add(&path, concepts);
        }
        collected
    }

    /// Which words are by themselves a phrase of `concept`.
    fn marked(&self, concept: ConceptId) -> Vec<bool> {
        self.nodes
            .iter()
            .take(self.texts.len())
            .map(|node| node.concepts.contains(&concept))
            .collect()
    }

    /// Adds spellings that look like the `marked` words, and returns the first id they have.
    fn imitate(&mut self, marked: &[bool], imitations: &[(&str, &str)]) -> WordId {
        let first = WordId::try_from(self.texts.len()).unwrap_or(NO_WORD);
        let known: HashSet<String> = self.texts.iter().cloned().collect();
        let spellings: BTreeSet<String> = self
            .texts
            .iter()
            .zip(marked)
            .filter(|&(_, &marked)| marked)
            .flat_map(|(word, _)| {
                imitations
                    .iter()
                    .map(|(letters, look)| word.replace(letters, look))
            })
            .filter(|spelling| {
                !known.contains(spelling) && !REAL_WORDS.contains(&spelling.as_str())
            })
            .collect();
        self.texts.extend(spellings);
        first
    }

    /// Adds the `marked` words read backwards; short ones could be words of their own.
    fn reverse(&mut self, marked: &[bool]) {
        let known: HashSet<String> = self.texts.iter().cloned().collect();
        let backwards: BTreeSet<String> = self
            .texts
            .iter()
            .zip(marked)
            .filter(|&(word, &marked)| marked && word.len() > 5)
            .map(|(word, _)| word.chars().rev().collect())
            .filter(|word| !known.contains(word))
            .collect();
        self.texts.extend(backwards);
    }

    fn add(&mut self, path: &[WordId], concepts: &[ConceptId]) {
        let Some((&first, rest)) = path.split_first() else {
            return;
        };
        let mut at = u32::from(first);
        for &word in rest {
            let fresh = cast(self.nodes.len());
            let Some(node) = self.nodes.get_mut(at as usize) else {
                return;
            };
            at = *node.edges.entry(word).or_insert(fresh);
            if at == fresh {
                self.nodes.push(PathNode::default());
            }
        }
        if let Some(node) = self.nodes.get_mut(at as usize) {
            for &concept in concepts {
                if !node.concepts.contains(&concept) {
                    node.concepts.push(concept);
                }
            }
        }
    }
}

/// The edges of all paths in one hash table with open addressing: a phrase may go on from most words of a text, and
/// mostly doesn't, so a look-up has to be one probe.
struct Edges {
    /// Node, word, and the node behind.
    slots: Vec<(u32, WordId, u32)>,
    mask: usize,
}

const FREE: (u32, WordId, u32) = (u32::MAX, NO_WORD, 0);

impl Edges {
    fn of(paths: &Paths) -> Self {
        let count: usize = paths.nodes.iter().map(|node| node.edges.len()).sum();
        let size = (count * 2).next_power_of_two().max(4);
        let mut edges = Self {
            slots: vec![FREE; size],
            mask: size - 1,
        };
        for (node, from) in paths.nodes.iter().zip(0..) {
            for (&word, &to) in &node.edges {
                let mut at = edges.place(from, word);
                while edges.slots.get(at).is_some_and(|&slot| slot != FREE) {
                    at = (at + 1) & edges.mask;
                }
                if let Some(slot) = edges.slots.get_mut(at) {
                    *slot = (from, word, to);
                }
            }
        }
        edges
    }

    fn place(&self, node: u32, word: WordId) -> usize {
        let key = (u64::from(node) << 16) | u64::from(word);
        // Fibonacci hashing: the upper bits of the product are well mixed.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & self.mask
    }

    fn follow(&self, node: u32, word: WordId) -> Option<u32> {
        if word == NO_WORD {
            return None;
        }
        let mut at = self.place(node, word);
        loop {
            let &(from, by, to) = self.slots.get(at)?;
            if from == node && by == word {
                return Some(to);
            }
            if from == u32::MAX {
                return None;
            }
            at = (at + 1) & self.mask;
        }
    }
}

/// The words of a phrase; a dot before a word is part of it.
fn words_of(phrase: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = phrase.as_bytes();
        loop {
            let byte = *bytes.get(at)?;
            let dotted = byte == b'.' && bytes.get(at + 1).is_some_and(|&next| is_word_byte(next));
            if is_word_byte(byte) || dotted {
                let start = at;
                at = word_end(bytes, at + usize::from(dotted));
                return phrase.get(start..at);
            }
            at += 1;
        }
    })
}

fn cast(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
