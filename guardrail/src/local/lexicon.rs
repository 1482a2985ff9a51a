//! Word classes, stop words and stems: what lets the classifier know a word that its training texts don't hold.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::features::{Chain, WORD, hash_of, join};

/// The word classes: a data file, since they are knowledge and not code.
pub(crate) const CLASSES: &str = include_str!("concepts.txt");

/// Words that say nothing of the matter. The pronouns are here too: they are seen in pairs with others and as word classes.
const STOP_WORDS: &str = "a an the of to in on at for from by with as is are was were be been being am has have had having \
    do does did done doing will would shall should can could may might must and or but if so than that this these those \
    there here it its it's he she him her his hers they them their theirs which who whom whose what when where why how \
    then too very also now yet still quite rather such each every any some all both either one two three four upon into \
    onto out up down off over under again further once only own same more most other s t i'm i've i'd i'll we're we've we'd \
    you're you've that's there's he's she's they're who's let us me my our your you i we however therefore although though \
    because since until while about between through during before after above below thus hence indeed perhaps";

/// Shortest beginning that a class gives with a `*`, in bytes.
const SHORTEST_BEGINNING: usize = 3;
/// Longest beginning looked up, in bytes: keeps the work linear.
const LONGEST_BEGINNING: usize = 24;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(CLASSES));

/// A set of word classes, by number.
pub(crate) type Classes = u128;

/// The hashes are well mixed already.
#[derive(Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Table = HashMap<u64, Classes, BuildHasherDefault<Mixed>>;

/// What is known about words.
#[derive(Debug)]
pub(crate) struct Lexicon {
    /// Words and phrases, by the hash of the word or of the chain of words.
    exact: Table,
    /// Beginnings of words.
    beginnings: Table,
    /// First words of phrases.
    openers: HashSet<u64, BuildHasherDefault<Mixed>>,
    longest_phrase: usize,
    stop_stems: HashSet<u64, BuildHasherDefault<Mixed>>,
}

impl Lexicon {
    /// The compiled-in one.
    pub(crate) fn get() -> &'static Self {
        &LEXICON
    }

    fn parse(text: &str) -> Self {
        let mut lexicon = Self {
            exact: Table::default(),
            beginnings: Table::default(),
            openers: HashSet::default(),
            longest_phrase: 1,
            stop_stems: STOP_WORDS
                .split_whitespace()
                .map(|word| stem(word.as_bytes()))
                .collect(),
        };
        for (number, (_, items)) in classes(text).into_iter().enumerate() {
            let class = 1 << number;
            for item in items {
                lexicon.add(&item, class);
            }
        }
        lexicon
    }

    fn add(&mut self, item: &str, class: Classes) {
        if let Some(beginning) = item.strip_suffix('*') {
            *self
                .beginnings
                .entry(hash_of(WORD, beginning.as_bytes()))
                .or_default() |= class;
            return;
        }
        let mut words = item.split(' ').map(|word| hash_of(WORD, word.as_bytes()));
        let Some(first) = words.next() else {
            return;
        };
        let (mut chain, mut length) = (first, 1);
        for word in words {
            chain = join(chain, word);
            length += 1;
        }
        if length > 1 {
            self.openers.insert(first);
            self.longest_phrase = self.longest_phrase.max(length);
        }
        *self.exact.entry(chain).or_default() |= class;
    }

    /// Classes of the phrases that start `words`, which are hashes, and of their first word, spelt `spelling`.
    pub(crate) fn classes_of(&self, spelling: &[u8], words: &[u64]) -> Classes {
        let Some(&first) = words.first() else {
            return 0;
        };
        let mut found = self.exact.get(&first).copied().unwrap_or_default();
        if self.openers.contains(&first) {
            let mut chain = first;
            for &word in words.iter().take(self.longest_phrase).skip(1) {
                chain = join(chain, word);
                found |= self.exact.get(&chain).copied().unwrap_or_default();
            }
        }
        let mut beginning = Chain::new(WORD);
        for (at, &byte) in spelling.iter().take(LONGEST_BEGINNING).enumerate() {
            beginning.push(byte);
            if at + 1 >= SHORTEST_BEGINNING {
                let known = self.beginnings.get(&beginning.hash());
                found |= known.copied().unwrap_or_default();
            }
        }
        found
    }

    /// Whether a word with this stem says nothing of the matter.
    pub(crate) fn is_stop(&self, stem: u64) -> bool {
        self.stop_stems.contains(&stem)
    }
}

/// Names of the classes with what they hold.
fn classes(text: &str) -> Vec<(&str, Vec<String>)> {
    let mut classes: Vec<(&str, String)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match (line.strip_suffix(':'), classes.last_mut()) {
            (Some(name), _) => classes.push((name, String::new())),
            (None, Some((_, items))) => {
                items.push_str(line);
                items.push(' ');
            }
            (None, None) => {}
        }
    }
    classes
        .into_iter()
        .map(|(name, items)| {
            let items = items.split(',').map(|item| item.trim().to_owned());
            (name, items.filter(|item| !item.is_empty()).collect())
        })
        .collect()
}

/// Endings, the first that fits is cut, and what takes its place.
const ENDINGS: [(&[u8], Option<u8>); 10] = [
    (b"ingly", None),
    (b"edly", None),
    (b"ings", None),
    (b"ing", None),
    (b"ies", Some(b'y')),
    (b"ied", Some(b'y')),
    (b"ed", None),
    (b"es", None),
    (b"s", None),
    (b"ly", None),
];
/// Letters that an ending leaves at least.
const SHORTEST_STEM: usize = 3;

/// Hash of the stem of a word: cruder than a search engine's stemmer, and only used to bring forms of a word together.
pub(crate) fn stem(word: &[u8]) -> u64 {
    let word = word.strip_suffix(b"'s").unwrap_or(word);
    let letters = || word.iter().copied().filter(|&byte| byte != b'\'');
    let length = letters().count();
    let ends_in = |ending: &[u8]| {
        length >= ending.len() + SHORTEST_STEM
            && letters()
                .skip(length - ending.len())
                .eq(ending.iter().copied())
    };
    let ending = ENDINGS.into_iter().find(|(ending, _)| ends_in(ending));
    let (cut, added) = ending.map_or((0, None), |(ending, added)| (ending.len(), added));
    let mut kept = length - cut;
    let last_two = |kept: usize| {
        let mut letters = letters().take(kept).skip(kept.saturating_sub(2));
        (letters.next(), letters.next())
    };
    if kept + usize::from(added.is_some()) > SHORTEST_STEM
        && let (Some(a), Some(b)) = last_two(kept)
        && added.is_none()
        && a == b
        && a != b's'
        && a != b'l'
    {
        kept -= 1;
    }
    if kept > SHORTEST_STEM && added.is_none() && last_two(kept).1 == Some(b'e') {
        kept -= 1;
    }
    let mut chain = Chain::new(WORD);
    for byte in letters().take(kept).chain(added) {
        chain.push(byte);
    }
    chain.hash()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (a, b) in [
            ("clicked", "clicking"),
            ("stopped", "stop"),
            ("parties", "party"),
            ("renamed", "rename"),
            ("director's", "directors"),
            ("call", "called"),
            ("don't", "dont"),
        ] {
            assert_eq!(stem(a.as_bytes()), stem(b.as_bytes()), "{a} {b}");
        }
        for (a, b) in [("king", "k"), ("red", "r"), ("bus", "bu"), ("mail", "male")] {
            assert_ne!(stem(a.as_bytes()), stem(b.as_bytes()), "{a} {b}");
        }
    }

    #[test]
    fn classes_know_words_beginnings_and_phrases() {
        let known = classes(CLASSES);
        assert!(known.len() <= Classes::BITS as usize);
        let bit = |name: &str| 1 << known.iter().position(|(known, _)| *known == name).unwrap();
        let read = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            let hashes: Vec<u64> = words
                .iter()
                .map(|word| hash_of(WORD, word.as_bytes()))
                .collect();
            Lexicon::get().classes_of(words[0].as_bytes(), &hashes)
        };
        assert_ne!(read("passwords") & bit("password"), 0);
        assert_ne!(read("gift cards") & bit("giftcard"), 0);
        assert_eq!(read("gift shop") & bit("giftcard"), 0);
        assert_ne!(read("didn't ask for") & bit("not_by_us"), 0);
        assert_eq!(read("qzxv"), 0);
    }

    #[test]
    fn every_class_has_a_name_of_its_own_and_items_a_reader_can_meet() {
        let known = classes(CLASSES);
        let mut names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), known.len());
        for (name, items) in known {
            assert!(!items.is_empty(), "{name}");
            for item in items {
                let beginning = item.strip_suffix('*');
                assert!(
                    beginning.is_none_or(|b| (3..=24).contains(&b.len()) && !b.contains(' ')),
                    "{item}"
                );
                let plain = |c: char| {
                    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '\'' | ' ')
                };
                assert!(
                    beginning.unwrap_or(&item).chars().all(plain),
                    "{name}: {item}"
                );
            }
        }
    }
}
