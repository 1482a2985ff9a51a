//! Search terms: how a text becomes the words that are indexed and looked up.
//!
//! Terms are made here and not by the databases, so that both engines answer alike (design section 8).
//! A text is folded (compatibility forms, case, Latin accents), cut into words, and English words are stemmed;
//! scripts without spaces give overlapping pairs of characters. A query goes the same way, so punctuation in it
//! can raise no error and hide no match (field report 23).

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer words (keys, encoded data) are cut, so that no text can blow up the index.
const TERM_CHARS: usize = 40;

/// English words that carry no meaning on their own; a query loses them unless it has nothing else.
const STOP_WORDS: [&str; 48] = [
    "a", "about", "after", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "is", "it", "me", "my",
    "not", "of", "on", "or", "our", "so", "that", "the", "their", "there", "they", "this", "to",
    "was", "we", "what", "when", "with", "you", "your",
];

/// The terms of a text, in the order of the text, repeats included.
pub fn terms(text: &str) -> Vec<String> {
    let mut maker = Maker {
        stemmer: Stemmer::create(Algorithm::English),
        out: Vec::new(),
    };
    let mut word = String::new();
    let mut dense: Vec<char> = Vec::new();
    for c in text.nfkd().flat_map(char::to_lowercase) {
        if ('\u{300}'..='\u{36f}').contains(&c) || is_ignorable(c) {
            continue;
        }
        if is_dense_script(c) {
            maker.word(&mut word);
            dense.push(c);
        } else if c.is_alphanumeric() || is_combining_mark(c) {
            maker.dense(&mut dense);
            word.push(c);
        } else {
            maker.word(&mut word);
            maker.dense(&mut dense);
        }
    }
    maker.word(&mut word);
    maker.dense(&mut dense);
    maker.out
}

/// The distinct terms of a text, in the order of their first use, for an index.
pub fn index_terms(text: &str) -> Vec<String> {
    distinct(terms(text), usize::MAX)
}

/// The distinct terms of a query, without words that say nothing, at most [`crate::limits::QUERY_TERMS`].
///
/// Empty only where the query holds no letter or digit at all.
pub fn query_terms(query: &str) -> Vec<String> {
    let all = terms(query);
    let telling: Vec<String> = all
        .iter()
        .filter(|term| !STOP_WORDS.contains(&term.as_str()))
        .cloned()
        .collect();
    distinct(
        if telling.is_empty() { all } else { telling },
        crate::limits::QUERY_TERMS,
    )
}

fn distinct(terms: Vec<String>, most: usize) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    terms
        .into_iter()
        .filter(|term| seen.insert(term.clone()))
        .take(most)
        .collect()
}

struct Maker {
    stemmer: Stemmer,
    out: Vec<String>,
}

impl Maker {
    fn word(&mut self, word: &mut String) {
        if word.is_empty() {
            return;
        }
        if let Some((end, _)) = word.char_indices().nth(TERM_CHARS) {
            word.truncate(end);
        }
        let plain = word.bytes().all(|b| b.is_ascii_lowercase());
        let term = if plain {
            self.stemmer.stem(word).into_owned()
        } else {
            word.nfc().collect()
        };
        self.out.push(term);
        word.clear();
    }

    fn dense(&mut self, run: &mut Vec<char>) {
        match run.as_slice() {
            [] => {}
            [single] => self.out.push(single.to_string()),
            run => self
                .out
                .extend(run.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
        run.clear();
    }
}

/// Characters that a reader doesn't see and that must not split or change a word.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Scripts that are written without spaces: Han, kana, Thai, Lao, Myanmar, Khmer. Hangul has spaces.
fn is_dense_script(c: char) -> bool {
    matches!(
        u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x31f0..=0x31ff | 0x3400..=0x4dbf
            | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff
    ) && (c.is_alphanumeric() || is_combining_mark(c))
}

#[cfg(test)]
mod tests {
    //! What is found by what.

    use super::*;

    #[test]
    fn a_query_finds_the_text_however_it_is_written() {
        let cases = [
            ("The printers are printing blank pages", "PRINTER"),
            ("Café Müller", "cafe muller"),
            ("ＶＰＮ gateway", "vpn"),
            ("error 0x80070005 (access)", "0x80070005"),
            ("東京支社のプリンター", "東京"),
            ("東京支社のプリンター", "プリンター"),
            ("не работает почта", "ПОЧТА"),
            ("pass\u{200b}word re\u{ad}set", "password reset"),
            ("why? @nasa --flag C++ a*b \"quoted\"", "\"nasa\" AND flag*"),
        ];
        for (text, query) in cases {
            let indexed = index_terms(text);
            for term in query_terms(query).iter().filter(|term| *term != "and") {
                assert!(indexed.contains(term), "{query}: {term} not in {indexed:?}");
            }
        }
    }

    #[test]
    fn stop_words_leave_a_query_unless_they_are_all_of_it() {
        assert_eq!(
            query_terms("how do I reset my password"),
            ["reset", "password"]
        );
        assert_eq!(query_terms("what is it"), ["what", "is", "it"]);
        assert!(query_terms("?!*").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn terms_hold_no_ascii_but_letters_and_digits_and_are_short(text in "\\PC{0,200}") {
            for term in terms(&text) {
                proptest::prop_assert!(!term.is_empty() && term.chars().count() <= TERM_CHARS * 4);
                proptest::prop_assert!(term.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric()), "{term:?}");
            }
        }
    }
}
