//! Phone and card numbers: groups of digits with the usual separators between them.

use std::ops::Range;

use super::ContactKind;
use super::glyphs::Glyphs;

/// The digits that make a phone number; shorter ones are told by being known.
const LEAST: usize = 7;
/// The digits of the shortest phone number that a record may hold.
pub(super) const LEAST_KNOWN: usize = 3;
/// From here on a number is as long as a card's; with a plus sign before it, from the second on.
const CARD: usize = 13;
const CARD_AFTER_PLUS: usize = 16;
/// A run of digits as long as this is no part of a word, whatever stands before it.
const LONE_RUN: usize = 9;
/// Characters between two groups, as in `) - `.
const SEPARATORS: usize = 3;
/// A hexadecimal word of this length is a digest or a mark, and its digits are no number.
const DIGEST: usize = 16;

/// A number.
pub(super) struct Number {
    pub(super) kind: ContactKind,
    pub(super) place: Range<usize>,
    pub(super) digits: Vec<char>,
}

/// Every number outside of the places that are taken, in order.
pub(super) fn find(glyphs: &Glyphs, known: &[String], taken: &[Range<usize>]) -> Vec<Number> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut taken = taken.iter().peekable();
    while at < glyphs.len() {
        while taken.peek().is_some_and(|place| place.end <= at) {
            taken.next();
        }
        if let Some(place) = taken.peek()
            && place.contains(&at)
        {
            at = place.end;
            continue;
        }
        if !glyphs.is_digit(at) {
            at += 1;
            continue;
        }
        if let Some(end) = other_thing(glyphs, at) {
            at = end;
            continue;
        }
        let limit = taken.peek().map_or(glyphs.len(), |place| place.start);
        let groups = groups(glyphs, at, limit);
        let end = groups.last().map_or(at + 1, |last| last.end);
        if is_dotted_quad(glyphs, &groups) {
            at = end;
            continue;
        }
        match number(glyphs, &groups, known) {
            Some(number) => {
                at = number.place.end.max(end);
                found.push(number);
            }
            // Part of a word or too little: what follows may still be one.
            None => at = groups.first().map_or(at + 1, |first| first.end),
        }
    }
    found
}

/// The groups of digits from here on that belong together.
fn groups(glyphs: &Glyphs, from: usize, limit: usize) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut at = from;
    loop {
        let mut end = at;
        while end < limit && glyphs.is_digit(end) {
            end += 1;
        }
        groups.push(at..end);
        let next = (end..=end + SEPARATORS)
            .take_while(|index| *index < limit)
            .find(|index| !glyphs.at(*index).is_some_and(is_separator));
        match next {
            Some(next)
                if next > end && glyphs.is_digit(next) && other_thing(glyphs, next).is_none() =>
            {
                at = next;
            }
            _ => return groups,
        }
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '-' | '.' | '/' | '(' | ')' | '\t')
}

fn number(glyphs: &Glyphs, groups: &[Range<usize>], known: &[String]) -> Option<Number> {
    let (first, last) = (groups.first()?, groups.last()?);
    let digits: Vec<char> = groups
        .iter()
        .flat_map(|group| glyphs.slice(group))
        .copied()
        .collect();
    let text: String = digits.iter().collect();
    let is_known = text.len() >= LEAST_KNOWN && known.contains(&text);
    if !is_known && (digits.len() < LEAST || is_in_word(glyphs, first)) {
        return None;
    }
    let mut start = first.start;
    let mut has_plus = false;
    while let Some(c @ ('+' | '(')) = glyphs.before(start) {
        start -= 1;
        has_plus |= c == '+';
    }
    let card = if has_plus { CARD_AFTER_PLUS } else { CARD };
    let kind = if digits.len() >= card {
        ContactKind::Card
    } else {
        ContactKind::Phone
    };
    Some(Number {
        kind,
        place: start..extension_end(glyphs, last.end),
        digits,
    })
}

/// Whether a group is the end of a word or of an id, such as `KB5034441` and `T-1042`.
fn is_in_word(glyphs: &Glyphs, group: &Range<usize>) -> bool {
    let before = glyphs.before(group.start);
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let touches = before.is_some_and(of_word);
    let of_id = before == Some('-')
        && group.start >= 2
        && glyphs
            .at(group.start - 2)
            .is_some_and(|c| c.is_ascii_lowercase());
    let is_hexadecimal =
        before == Some('x') && group.start >= 2 && glyphs.at(group.start - 2) == Some('0');
    (touches || of_id) && (group.len() < LONE_RUN || is_hexadecimal)
}

/// Four groups with dots: an address of the internet protocol or a version, unless they look like a phone number.
fn is_dotted_quad(glyphs: &Glyphs, groups: &[Range<usize>]) -> bool {
    let [a, b, c, d] = groups else {
        return false;
    };
    let is_dotted = [(a, b), (b, c), (c, d)]
        .iter()
        .all(|(left, right)| glyphs.slice(&(left.end..right.start)) == ['.']);
    let is_octet = |group: &Range<usize>| value(glyphs, group).is_some_and(|value| value < 256);
    let has_plus = glyphs.before(a.start) == Some('+');
    is_dotted
        && !has_plus
        && (groups.iter().all(is_octet) || [b, c].iter().any(|group| group.len() == 1))
}

fn value(glyphs: &Glyphs, group: &Range<usize>) -> Option<u32> {
    let text: String = glyphs.slice(group).iter().collect();
    text.parse().ok()
}

/// The end of what begins here and is no number of a person: a date, a time, or a hexadecimal word.
fn other_thing(glyphs: &Glyphs, at: usize) -> Option<usize> {
    date_end(glyphs, at)
        .or_else(|| time_end(glyphs, at))
        .or_else(|| digest_end(glyphs, at))
}

/// Behind a time of day such as `22:10` or `22:10:26.123456`.
fn time_end(glyphs: &Glyphs, at: usize) -> Option<usize> {
    if glyphs.before(at).is_some_and(|c| c.is_ascii_digit()) {
        return None;
    }
    let run = |from: usize| {
        let mut end = from;
        while glyphs.is_digit(end) {
            end += 1;
        }
        end
    };
    let mut end = run(at);
    if end > at + 2 {
        return None;
    }
    let mut parts = 1;
    while parts < 3 && glyphs.at(end) == Some(':') && run(end + 1) == end + 3 {
        end += 3;
        parts += 1;
    }
    if parts == 3 && glyphs.at(end) == Some('.') && run(end + 1) > end + 1 {
        end = run(end + 1);
    }
    (parts > 1).then_some(end)
}

/// Behind a date such as `2026-11-30` or `30.11.2026`.
fn date_end(glyphs: &Glyphs, at: usize) -> Option<usize> {
    if glyphs
        .before(at)
        .is_some_and(|c| c.is_ascii_digit() || c == '+')
    {
        return None;
    }
    let mut parts = Vec::new();
    let mut from = at;
    let mut between = Vec::new();
    while parts.len() < 3 {
        let mut end = from;
        while end < from + 5 && glyphs.is_digit(end) {
            end += 1;
        }
        parts.push(from..end);
        if parts.len() < 3 {
            let separator = glyphs.at(end).filter(|c| matches!(c, '-' | '.' | '/'))?;
            between.push(separator);
            from = end + 1;
        }
    }
    let [a, b, c] = parts.as_slice() else {
        return None;
    };
    let is_day = |part: &Range<usize>| {
        part.len() <= 2 && value(glyphs, part).is_some_and(|value| (1..=31).contains(&value))
    };
    let is_year = |part: &Range<usize>| {
        part.len() == 4 && value(glyphs, part).is_some_and(|value| (1900..2100).contains(&value))
    };
    let is_date = (is_year(a) && is_day(b) && is_day(c)) || (is_day(a) && is_day(b) && is_year(c));
    let is_even = between.first() == between.last();
    // Something joined on is no date any more.
    let goes_on = matches!(glyphs.at(c.end), Some('-' | '/')) && glyphs.is_digit(c.end + 1);
    (is_date && is_even && !goes_on && !glyphs.is_digit(c.end)).then_some(c.end)
}

/// Behind a word of hexadecimal digits and hyphens that is as long as a digest, a mark or a request's number.
fn digest_end(glyphs: &Glyphs, at: usize) -> Option<usize> {
    let is_hex = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    let of_word = |c: char| is_hex(c) || c == '-';
    let mut start = at;
    while glyphs.before(start).is_some_and(of_word) {
        start -= 1;
    }
    let mut end = at;
    while glyphs.at(end).is_some_and(of_word) {
        end += 1;
    }
    let word = glyphs.slice(&(start..end));
    let is_bounded = [glyphs.before(start), glyphs.at(end)]
        .iter()
        .flatten()
        .all(|c| !c.is_alphanumeric());
    let letters = word.iter().filter(|c| c.is_ascii_lowercase()).count();
    // Two letters or more: a single one may be a slip in a number.
    (word.len() >= DIGEST && letters >= 2 && is_bounded).then_some(end)
}

/// Behind an extension, such as `x 12`, `ext. 12` and `#12`.
fn extension_end(glyphs: &Glyphs, at: usize) -> usize {
    let skip_blank = |index: usize| index + usize::from(glyphs.at(index) == Some(' '));
    let word = skip_blank(at);
    let Some(mark) = ["ext.", "ext", "x", "#"]
        .iter()
        .find(|mark| glyphs.starts(word, mark))
    else {
        return at;
    };
    let from = skip_blank(word + mark.len());
    let mut end = from;
    while end < from + 6 && glyphs.is_digit(end) {
        end += 1;
    }
    if end > from { end } else { at }
}
