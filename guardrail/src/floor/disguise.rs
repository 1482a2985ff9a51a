//! Text that hides its letters in ways that can't be folded back: reversed, spaced out, in look-alike digits, `rn` for
//! `m`, encoded, or in characters that show nothing. It is refused for that, whatever it says (design section 5).
//!
//! Every test compares with words the table knows, so that other languages, codes, part numbers and flags pass.

use super::lexicon::{Lexicon, NO_WORD};
use super::reading::Reading;
use super::words::{is_word_byte, skip_without, word_end};
use crate::fold::{Folded, Range, Trace};

/// Places of a part of folded text where words are spelt so that they can't be read as they stand.
pub(super) fn spelt(text: &[u8], reading: &Reading, lexicon: &Lexicon) -> Vec<Range> {
    let mut places = spaced(text, reading, lexicon);
    places.extend(imitated(text, reading));
    if places.is_empty() {
        places.extend(unreadable(text, reading, lexicon));
    }
    places
}

/// Bytes to either side in which the word around a place is looked for.
const LONGEST_WORD: usize = 64;

/// Disguised words that are tolerated if none of them is telling: web pages and word processors leave invisible
/// characters behind, and people mix scripts by typing on the wrong layout.
const TOLERATED: usize = 2;

/// Words with invisible characters, letters of other scripts among Latin ones, hidden messages and forced direction.
pub(super) fn traced(folded: &Folded, lexicon: &Lexicon) -> Vec<Range> {
    let mut certain = Vec::new();
    let mut disguised: Vec<Range> = Vec::new();
    let mut telling = false;
    let mut traces = folded.traces().iter().peekable();
    while let Some(&&(at, trace)) = traces.peek() {
        match trace {
            Trace::Hidden | Trace::Override => {
                let range = word_around(folded.text(), at);
                certain.push(range);
                while traces.next_if(|&&(at, _)| at <= range.end).is_some() {}
            }
            Trace::Invisible | Trace::Foreign => {
                let range = word_around(folded.text(), at);
                let mut invisible = false;
                let mut foreign = Vec::new();
                while let Some(&(at, trace)) = traces.next_if(|&&(at, trace)| {
                    at <= range.end && matches!(trace, Trace::Invisible | Trace::Foreign)
                }) {
                    match trace {
                        Trace::Foreign => foreign.push(at),
                        Trace::Invisible | Trace::Hidden | Trace::Override => invisible = true,
                    }
                }
                let word = slice(folded.text(), range);
                if invisible || imitates(word, range, &foreign, lexicon) {
                    telling |= lexicon.is_telling(word);
                    disguised.push(range);
                }
            }
        }
    }
    if telling || disguised.len() > TOLERATED || (!certain.is_empty() && !disguised.is_empty()) {
        certain.extend(disguised);
    }
    certain
}

/// Whether letters of another script stand among Latin ones to imitate them: between two of them, or so that the whole
/// reads as a word we know. A Latin name with a Russian or Greek ending does neither.
fn imitates(word: &[u8], range: Range, foreign: &[u32], lexicon: &Lexicon) -> bool {
    let is_latin = |at: usize| {
        word.get(at).is_some_and(u8::is_ascii_alphabetic)
            && u32::try_from(at).is_ok_and(|at| !foreign.contains(&(range.start + at)))
    };
    let latin = (0..word.len()).filter(|&at| is_latin(at)).count();
    if latin == 0 || foreign.is_empty() {
        return false;
    }
    let first = (0..word.len()).find(|&at| is_latin(at));
    let last = (0..word.len()).rfind(|&at| is_latin(at));
    let enclosed = foreign.iter().any(|&at| {
        let at = (at - range.start) as usize;
        first.is_some_and(|first| first < at) && last.is_some_and(|last| at < last)
    });
    enclosed || (word.len() >= 4 && lexicon.knows(word))
}

/// Single letters in a row that are more than an abbreviation or a list.
const SPACED_LETTERS: u32 = 5;
/// Single letters in a row that nobody writes, whatever they spell.
const MANY_SPACED_LETTERS: usize = 16;

fn spaced(text: &[u8], reading: &Reading, lexicon: &Lexicon) -> Vec<Range> {
    let mut places = Vec::new();
    if reading.letters_in_a_row() < SPACED_LETTERS {
        return places;
    }
    let mut letters: Vec<u8> = Vec::new();
    let mut run = Range { start: 0, end: 0 };
    let mut check = |letters: &mut Vec<u8>, run: Range| {
        let many = letters.len() >= MANY_SPACED_LETTERS && !letters.is_sorted();
        if many || (letters.len() >= SPACED_LETTERS as usize && lexicon.holds_telling(letters)) {
            places.push(run);
        }
        letters.clear();
    };
    for word in &reading.words {
        let start = word.start as usize;
        let single = text
            .get(start)
            .filter(|byte| byte.is_ascii_alphanumeric())
            .filter(|_| text.get(start + 1).is_none_or(|&next| !is_word_byte(next)));
        if let Some(&letter) = single {
            if letters.is_empty() {
                run.start = word.start;
            }
            letters.push(letter);
            run.end = word.start + 1;
        } else if !letters.is_empty() {
            check(&mut letters, run);
        }
    }
    check(&mut letters, run);
    places
}

/// The letter that a digit or sign stands for in look-alike spelling. `1` is `i` or `l`.
fn letter_of(byte: u8, one: u8) -> Option<u8> {
    Some(match byte {
        b'0' => b'o',
        b'1' | b'!' => one,
        b'|' => b'l',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' | b'+' => b't',
        b'8' => b'b',
        b'9' | b'6' => b'g',
        byte if byte.is_ascii_lowercase() => byte,
        _ => return None,
    })
}

/// Words in which digits or signs stand for letters.
pub(super) fn substituted(folded: &Folded, lexicon: &Lexicon) -> Vec<Range> {
    let text = folded.text();
    let mut found: Vec<Range> = Vec::new();
    let mut telling = false;
    let mut at = 0;
    while let Some(next) = next_substitution(text, at) {
        at = next;
        let start = text
            .get(..at)
            .and_then(|before| before.iter().rposition(|&byte| is_gap(byte)))
            .map_or(0, |gap| gap + 1);
        let end = text
            .get(at..)
            .and_then(|behind| behind.iter().position(|&byte| is_gap(byte)))
            .map_or(text.len(), |gap| at + gap);
        let chunk = text.get(start..end).unwrap_or_default();
        for one in [b'i', b'l'] {
            if let Some(word) = decode_substitutions(chunk, one)
                && lexicon.knows(&word)
            {
                telling |= lexicon.is_telling(&word);
                found.push(range(start, end));
                break;
            }
        }
        at = end.max(at + 1);
    }
    let mut words: Vec<&[u8]> = found
        .iter()
        .map(|&range| slice(folded.text(), range))
        .collect();
    words.sort_unstable();
    words.dedup();
    if telling || words.len() > TOLERATED {
        found
    } else {
        Vec::new()
    }
}

/// The next place from `at` on where a stand-in comes before a letter.
fn next_substitution(text: &[u8], at: usize) -> Option<usize> {
    let mut from = at;
    loop {
        from += skip_without(text.get(from..)?, |byte| {
            byte < b'a' && byte > b' ' && byte != b'.' || byte == b'|'
        });
        let pair = text.get(from..from + 2)?;
        if is_substitution(pair) {
            return Some(from);
        }
        from += 1;
    }
}

/// A digit or sign directly before a letter: `p4ss`, but not `line5` or `5 pm`.
fn is_substitution(pair: &[u8]) -> bool {
    matches!(pair, [b'0' | b'1' | b'3'..=b'9' | b'@' | b'$' | b'!' | b'|' | b'+', next] if next.is_ascii_lowercase())
}

fn is_gap(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\n' | b',' | b';' | b'"' | b'(' | b')' | b'/' | b':' | b'?' | b'.'
    )
}

/// `chunk` with its letters restored, if it is a word of four letters or more that mixes letters with stand-ins.
fn decode_substitutions(chunk: &[u8], one: u8) -> Option<Vec<u8>> {
    let chunk = match chunk {
        [inner @ .., b'!'] => inner,
        _ => chunk,
    };
    let letters = chunk
        .iter()
        .filter(|byte| byte.is_ascii_lowercase())
        .count();
    if chunk.len() < 4 || letters == 0 || letters == chunk.len() || chunk.len() > 24 {
        return None;
    }
    chunk.iter().map(|&byte| letter_of(byte, one)).collect()
}

/// Words that are spelt with other letters than they show, such as `rn` for `m`; the spellings are made from the table.
fn imitated(text: &[u8], reading: &Reading) -> Vec<Range> {
    let telling = reading.imitations(true);
    let common = reading.imitations(false);
    let long = common.iter().any(|&range| {
        let word = slice(text, range);
        word.len() >= LONG_IMITATION && !NAMES.contains(&word)
    });
    let mut words: Vec<&[u8]> = common.iter().map(|&range| slice(text, range)).collect();
    words.sort_unstable();
    words.dedup();
    if telling.is_empty() && !long && words.len() <= 1 {
        return Vec::new();
    }
    let mut places = telling;
    places.extend(common);
    places
}

/// An imitation of this length is no accident; a shorter one may be a name or a slip.
const LONG_IMITATION: usize = 5;

/// Imitations that are words or names in some language.
const NAMES: &[&[u8]] = &[b"horne", b"carne", b"corne", b"borne", b"darne"];

/// Below this share of known words a text in Latin letters is another language, or not meant to be read as it stands.
const READABLE: u32 = 15;
/// From this share of known words on a text is English.
const ENGLISH: u32 = 45;
/// A text with fewer words says too little about its language.
const ENOUGH_WORDS: u32 = 5;

/// Text that only reads as English when it is reversed or rotated by thirteen letters.
fn unreadable(text: &[u8], reading: &Reading, lexicon: &Lexicon) -> Option<Range> {
    let (known, words) = reading.known_words();
    if words < ENOUGH_WORDS || known * 100 >= words * READABLE {
        return None;
    }
    let reversed: Vec<u8> = text.iter().rev().copied().collect();
    let rotated: Vec<u8> = text.iter().map(|&byte| rotate(byte)).collect();
    let english = [reversed, rotated]
        .iter()
        .any(|text| is_english(text, lexicon));
    english.then(|| range(0, text.len()))
}

fn rotate(byte: u8) -> u8 {
    match byte {
        b'a'..=b'm' => byte + 13,
        b'n'..=b'z' => byte - 13,
        _ => byte,
    }
}

/// Whether `text`, folded, reads as English to the words of the table.
pub(super) fn is_english(text: &[u8], lexicon: &Lexicon) -> bool {
    let (mut known, mut words, mut telling, mut at) = (0, 0, false, 0);
    while at < text.len() {
        let end = word_end(text, at).max(at + 1);
        let word = text.get(at..end).unwrap_or_default();
        if word.len() >= 3 && word.iter().all(u8::is_ascii_lowercase) {
            words += 1;
            known += u32::from(lexicon.word(text, at).0 != NO_WORD);
            telling |= lexicon.is_telling(word);
        }
        at = end;
    }
    telling || (words >= ENOUGH_WORDS && known * 100 >= words * ENGLISH)
}

/// The word at `at`, or what is near of an endless one.
fn word_around(text: &[u8], at: u32) -> Range {
    let at = (at as usize).min(text.len());
    let near = at.saturating_sub(LONGEST_WORD);
    let text = text
        .get(..text.len().min(at + LONGEST_WORD))
        .unwrap_or(text);
    let start = text
        .get(near..at)
        .and_then(|before| before.iter().rposition(|&byte| !is_word_byte(byte)))
        .map_or(near, |gap| near + gap + 1);
    let end = word_end(text, at.max(start));
    range(start, end.max((at + 1).min(text.len())))
}

fn slice(text: &[u8], range: Range) -> &[u8] {
    text.get(range.start as usize..range.end as usize)
        .unwrap_or_default()
}

fn range(start: usize, end: usize) -> Range {
    let cast = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Range {
        start: cast(start),
        end: cast(end),
    }
}
