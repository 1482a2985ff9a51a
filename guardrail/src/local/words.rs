//! Folded text as words: stems, sentences and where each word stands.

use crate::fold;

use super::hash;

/// A word of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// Where it stands in the folded text.
    pub(super) place: fold::Range,
    /// Stands for its stem.
    pub(super) stem: u64,
    /// Counts sentences from the start of the text.
    pub(super) sentence: u32,
}

/// Cuts `text` into words. `n't` is a word of its own, with the stem of `not`: who did and who didn't is what decides.
pub(super) fn words_of(text: &[u8]) -> Vec<Word> {
    let mut words = Vec::with_capacity(text.len() / 5 + 1);
    let mut sentence = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if !is_letter(byte) {
            sentence += u32::from(ends_sentence(text, at));
            at += 1;
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|&byte| !is_letter(byte) && byte != b'\'')
            .unwrap_or(rest.len());
        push(&mut words, text, (at, at + length), sentence);
        at += length;
    }
    words
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// A line break, or a mark that a space follows: the dot in a file name ends nothing.
fn ends_sentence(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        Some(b'\n') => true,
        Some(b'.' | b'!' | b'?') => text
            .get(at + 1)
            .is_none_or(|next| next.is_ascii_whitespace()),
        _ => false,
    }
}

fn push(words: &mut Vec<Word>, text: &[u8], (start, end): (usize, usize), sentence: u32) {
    let Some(word) = text.get(start..end) else {
        return;
    };
    let (word, denied) = match word {
        b"won't" => (b"will".as_slice(), true),
        b"can't" => (b"can".as_slice(), true),
        b"cannot" => (b"can".as_slice(), true),
        _ => word
            .strip_suffix(b"n't")
            .map_or((word, false), |word| (word, true)),
    };
    let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else {
        return;
    };
    let place = fold::Range { start, end };
    if !word.is_empty() {
        words.push(Word {
            place,
            stem: stem_hash(word),
            sentence,
        });
    }
    if denied {
        words.push(Word {
            place,
            stem: stem_hash(b"not"),
            sentence,
        });
    }
}

/// Stands for the stem of a word. All numbers with as many digits are one word.
pub(crate) fn stem_hash(word: &[u8]) -> u64 {
    if word.first().is_some_and(u8::is_ascii_digit) {
        return word.iter().fold(hash::NUMBER, |hash, &byte| {
            hash::step(hash, if byte.is_ascii_digit() { b'0' } else { byte })
        });
    }
    hash::of(hash::WORD, stem(word))
}

/// The part of a word that its forms share. Every rule only shortens, so a stem is a slice of its word.
pub(crate) fn stem(word: &[u8]) -> &[u8] {
    let word = cut(word, b"'s", 1);
    let word = cut(word, b"'", 1);
    let plural = if word.ends_with(b"ss") || word.ends_with(b"us") || word.ends_with(b"is") {
        word
    } else {
        cut(word, b"s", 3)
    };
    let mut stem = plural;
    for ending in [b"ing".as_slice(), b"ed", b"ly"] {
        let shorter = cut(plural, ending, 3);
        if shorter.len() < plural.len() {
            stem = undoubled(shorter);
            break;
        }
    }
    let stem = cut(stem, b"e", 3);
    let stem = cut(stem, b"i", 3);
    cut(stem, b"y", 3)
}

/// `word` without `ending` if at least `left` bytes are left.
fn cut<'a>(word: &'a [u8], ending: &[u8], left: usize) -> &'a [u8] {
    match word.strip_suffix(ending) {
        Some(rest) if rest.len() >= left => rest,
        Some(_) | None => word,
    }
}

/// `stopp` as `stop`.
fn undoubled(word: &[u8]) -> &[u8] {
    match word {
        [rest @ .., a, b] if a == b && rest.len() >= 2 && !matches!(b, b's' | b'l') => {
            word.get(..word.len() - 1).unwrap_or(word)
        }
        _ => word,
    }
}
