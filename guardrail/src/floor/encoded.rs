//! Words in base64, hexadecimal, percent signs, character references and escapes, found in the original text.
//!
//! Ordinary text escapes what has to be escaped: spaces, ampersands, accented letters. Plain letters never have to be, so
//! a few of them are enough to know that somebody hid what the floor reads.

use std::ops::Range;

use super::disguise::is_english;
use super::lexicon::Lexicon;
use super::words::skip_without;
use crate::fold::Folded;

/// Escaped letters that are no accident.
const ESCAPED_LETTERS: usize = 3;
/// Shortest run of base64 or hexadecimal that can hold a word and isn't a common identifier.
const SHORTEST_RUN: usize = 16;

/// Places of `text`, as byte ranges, that decode to words.
pub(super) fn hidden_in_original(text: &str, lexicon: &Lexicon) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut places = escaped_letters(bytes);
    places.extend(runs(bytes).filter(|run| {
        let run = bytes.get(run.clone()).unwrap_or_default();
        [base64(run), hexadecimal(run)]
            .into_iter()
            .flatten()
            .any(|decoded| reads_as_english(&decoded, lexicon))
    }));
    places
}

fn reads_as_english(decoded: &[u8], lexicon: &Lexicon) -> bool {
    let Ok(text) = std::str::from_utf8(decoded) else {
        return false;
    };
    let printable = text.chars().all(|c| !c.is_control() || c.is_whitespace());
    printable && is_english(Folded::of([text]).text(), lexicon)
}

/// Where letters are written as escapes.
fn escaped_letters(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut in_a_row = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at += skip_without(text.get(at..).unwrap_or_default(), |byte| {
            matches!(byte, b'%' | b'&' | b'\\' | b'=')
        });
        let rest = text.get(at..).unwrap_or_default();
        let Some((letter, length)) = escape(rest) else {
            at += 1;
            continue;
        };
        if letter.is_some_and(|letter| letter.is_ascii_alphabetic()) {
            let place = at..at + length;
            match rest.first() {
                // These have other uses, such as sums and paths: only several in a row are letters.
                Some(b'\\' | b'=') => {
                    if in_a_row
                        .last()
                        .is_some_and(|last: &Range<usize>| last.end != at)
                    {
                        in_a_row.clear();
                    }
                    in_a_row.push(place);
                    if in_a_row.len() >= ESCAPED_LETTERS {
                        found.append(&mut in_a_row);
                    }
                }
                _ => found.push(place),
            }
        }
        at += length;
    }
    if found.len() >= ESCAPED_LETTERS {
        found
    } else {
        Vec::new()
    }
}

/// The ASCII character that an escape at the start of `text` stands for, and the length of the escape.
fn escape(text: &[u8]) -> Option<(Option<u8>, usize)> {
    let two = |from: usize| Some((hex_value(text.get(from..from + 2)?), from + 2));
    match text {
        [b'%' | b'=', _, _, ..] => two(1).filter(|(value, _)| value.is_some()),
        [b'\\', b'x' | b'X', ..] => two(2).filter(|(value, _)| value.is_some()),
        [b'\\', b'u' | b'U', b'0', b'0', ..] => two(4).filter(|(value, _)| value.is_some()),
        [b'&', b'#', rest @ ..] => {
            let end = rest.iter().take(10).position(|&byte| byte == b';')?;
            let digits = rest.get(..end)?;
            let value = match digits {
                [b'x' | b'X', hex @ ..] => {
                    u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?
                }
                decimal => std::str::from_utf8(decimal).ok()?.parse().ok()?,
            };
            Some((u8::try_from(value).ok(), end + 3))
        }
        _ => None,
    }
}

fn hex_value(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

/// Runs of characters that base64 and hexadecimal are written in.
fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        // A run that is long enough fills one of these blocks. In ordinary text nearly all of them hold a space, so that is
        // asked first and for all bytes at once.
        while let Some(&block) = text.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
            let word = u64::from_le_bytes(block);
            let spaces = word.wrapping_sub(0x2121_2121_2121_2121) & !word & 0x8080_8080_8080_8080;
            if spaces != 0 || !block.iter().all(|&byte| is_code(byte)) {
                at += BLOCK;
                continue;
            }
            let before = text.get(..at)?.iter().rev();
            let start = at - before.take_while(|&&byte| is_code(byte)).count();
            let behind = text.get(at..)?.iter();
            let end = at + behind.take_while(|&&byte| is_code(byte)).count();
            at = end.next_multiple_of(BLOCK);
            if end - start >= SHORTEST_RUN {
                return Some(start..end);
            }
        }
        None
    })
}

/// Half of the shortest run: one that is not shorter holds a whole block wherever it starts.
const BLOCK: usize = SHORTEST_RUN / 2;

fn is_code(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Decodes either alphabet, padded or not.
fn base64(run: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(run.len() / 4 * 3);
    let mut bits = 0_u32;
    let mut held = 0;
    for &byte in run.iter().take_while(|&&byte| byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    Some(decoded)
}

fn hexadecimal(run: &[u8]) -> Option<Vec<u8>> {
    run.chunks_exact(2).map(hex_value).collect()
}
