//! A text as it is read: characters that are not seen left out, the others as what they stand for.

use std::ops::Range;

/// Where decimal digits of other scripts begin; each script has its ten in order.
const ZEROS: [u32; 18] = [
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
    0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x17e0, 0xff10,
];
/// Five alphabets of mathematical digits, one after the other.
const MATHEMATICAL: Range<u32> = 0x1d7ce..0x1d800;

/// A character as a decimal digit.
pub(super) fn digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let code = u32::from(c);
    let value = if MATHEMATICAL.contains(&code) {
        (code - MATHEMATICAL.start) % 10
    } else {
        let zero = ZEROS
            .iter()
            .find(|zero| (**zero..**zero + 10).contains(&code))?;
        code - zero
    };
    char::from_digit(value, 10)
}

/// A character as what it stands for.
pub(super) fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    if let Some(digit) = digit(c) {
        return digit;
    }
    match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{fe6b}' => '@',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0)
            .unwrap_or(c)
            .to_ascii_lowercase(),
        c => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Characters that nobody sees.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// How a character that is not seen is shown in answers.
const SHOWN: &str = "⟦U+";

/// The characters of a text that are read, with where they are.
pub(super) struct Glyphs {
    chars: Vec<char>,
    places: Vec<Range<usize>>,
}

impl Glyphs {
    pub(super) fn of(text: &str) -> Self {
        let mut glyphs = Self {
            chars: Vec::new(),
            places: Vec::new(),
        };
        let mut skip_to = 0;
        for (at, c) in text.char_indices() {
            if at < skip_to || is_unseen(c) {
                continue;
            }
            let rest = text.get(at..).unwrap_or_default();
            if let Some(code) = rest.strip_prefix(SHOWN)
                && let Some(length) = code.find('⟧').filter(|length| *length <= 6)
            {
                skip_to = at + SHOWN.len() + length + '⟧'.len_utf8();
                continue;
            }
            glyphs.chars.push(folded(c));
            glyphs.places.push(at..at + c.len_utf8());
        }
        glyphs
    }

    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }

    pub(super) fn at(&self, index: usize) -> Option<char> {
        self.chars.get(index).copied()
    }

    pub(super) fn before(&self, index: usize) -> Option<char> {
        self.at(index.checked_sub(1)?)
    }

    pub(super) fn is_digit(&self, index: usize) -> bool {
        self.at(index).is_some_and(|c| c.is_ascii_digit())
    }

    /// Whether these characters stand at an index.
    pub(super) fn starts(&self, index: usize, word: &str) -> bool {
        word.chars()
            .enumerate()
            .all(|(offset, c)| self.at(index + offset) == Some(c))
    }

    pub(super) fn slice(&self, place: &Range<usize>) -> &[char] {
        self.chars.get(place.clone()).unwrap_or_default()
    }

    /// Where in the text a run of glyphs is, what is not seen between them included.
    pub(super) fn bytes(&self, place: &Range<usize>) -> Range<usize> {
        let first = self.places.get(place.start).map_or(0, |first| first.start);
        let last = place.end.checked_sub(1).and_then(|at| self.places.get(at));
        first..last.map_or(first, |last| last.end)
    }
}
