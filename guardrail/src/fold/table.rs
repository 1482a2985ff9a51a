//! What one character folds to, looked up in pages that are worked out when a text first needs them.
//!
//! Sources, in order: our own overrides, invisible and combining characters, compatibility decomposition (UAX 15),
//! enclosed letters by arithmetic, and the confusable prototypes of UTS 39 for the scripts that imitate Latin letters.
//! A whole-string UTS 39 skeleton is of no use here: it turns `m` into `rn`, so no pattern would match even plain text.

use std::sync::OnceLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::confusable_detection::skeleton;

use super::lookalikes::reading;

/// What the fold writes for one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// ASCII text. `foreign` letters imitate Latin ones from another script, which matters inside a Latin word.
    Text {
        /// The text, of which the first `len` bytes count.
        bytes: [u8; 4],
        /// How many bytes of `bytes` are used.
        len: u8,
        /// A letter of another script.
        foreign: bool,
    },
    /// A letter that has no Latin look: kept as it is.
    Keep,
    /// White space, a symbol, or a letter of a script that is written without spaces.
    Blank,
    /// A line break.
    Newline,
    /// A character that shows nothing.
    Invisible,
    /// The soft hyphen: invisible, and ordinary inside words.
    SoftHyphen,
    /// A mark that sits on the letter before it.
    Mark,
    /// An ASCII character in the tag block, legal only in flag emoji.
    Tag(u8),
    /// The end of a tag sequence.
    TagEnd,
    /// A flag letter; pairs of them make a flag emoji.
    Regional(u8),
    /// Start of forced text direction, which shows Latin letters in another order than they are stored.
    Override,
    /// End of forced text direction.
    OverrideEnd,
}

impl Cell {
    fn text(text: &str, foreign: bool) -> Option<Self> {
        let mut bytes = [0; 4];
        let len = text.len();
        bytes.get_mut(..len)?.copy_from_slice(text.as_bytes());
        Some(Self::Text {
            bytes,
            len: u8::try_from(len).ok()?,
            foreign,
        })
    }
}

const PAGE: usize = 256;
const PAGES: usize = 0x11_0000 / PAGE;

type Page = Box<[Cell]>;

static TABLE: [OnceLock<Page>; PAGES] = [const { OnceLock::new() }; PAGES];

/// What `c` folds to.
pub(super) fn cell(c: char) -> Cell {
    let code = c as usize;
    TABLE
        .get(code / PAGE)
        .and_then(|page| {
            page.get_or_init(|| build_page(code / PAGE))
                .get(code % PAGE)
        })
        .copied()
        .unwrap_or(Cell::Keep)
}

fn build_page(page: usize) -> Page {
    (page * PAGE..(page + 1) * PAGE)
        .map(|code| {
            u32::try_from(code)
                .ok()
                .and_then(char::from_u32)
                .map_or(Cell::Keep, work_out)
        })
        .collect()
}

fn work_out(c: char) -> Cell {
    override_of(c)
        .or_else(|| control(c))
        .or_else(|| enclosed(c))
        .or_else(|| decomposed(c))
        .or_else(|| lookalike(c))
        .or_else(|| lookalike(c.to_lowercase().next()?))
        .unwrap_or_else(|| rest(c))
}

fn override_of(c: char) -> Option<Cell> {
    Cell::text(reading(c)?, imitates_latin(c.script()))
}

fn control(c: char) -> Option<Cell> {
    Some(match c {
        '\u{ad}' => Cell::SoftHyphen,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Cell::Newline,
        '\u{202d}' | '\u{202e}' => Cell::Override,
        '\u{202c}' => Cell::OverrideEnd,
        '\u{e0020}'..='\u{e007e}' => Cell::Tag(u8::try_from(u32::from(c) - 0xe_0000).ok()?),
        '\u{e007f}' => Cell::TagEnd,
        // The Braille blank looks like a gap and is used as an invisible letter. Variation selectors and the grapheme
        // joiner are marks by category, but show nothing of their own.
        '\u{2800}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{feff}'
        | '\u{34f}'
        | '\u{180b}'..='\u{180f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}'
        | '\0'..='\u{8}'
        | '\u{e}'..='\u{1f}'
        | '\u{7f}'..='\u{84}'
        | '\u{86}'..='\u{9f}' => Cell::Invisible,
        _ if c.is_whitespace() => Cell::Blank,
        _ if is_combining_mark(c) => Cell::Mark,
        _ if skeleton(c.encode_utf8(&mut [0; 4])).next().is_none() => Cell::Invisible,
        _ => return None,
    })
}

/// Circled, squared and parenthesised letters, some of which have no decomposition.
fn enclosed(c: char) -> Option<Cell> {
    let code = u32::from(c);
    let first = match code {
        0x1f1e6..=0x1f1ff => {
            return Some(Cell::Regional(b'a' + u8::try_from(code - 0x1f1e6).ok()?));
        }
        0x249c..=0x24b5 => 0x249c,
        0x1f110..=0x1f129 => 0x1f110,
        0x1f130..=0x1f149 => 0x1f130,
        0x1f150..=0x1f169 => 0x1f150,
        0x1f170..=0x1f189 => 0x1f170,
        _ => return None,
    };
    let letter = b'a' + u8::try_from(code - first).ok()?;
    Cell::text(char::from(letter).encode_utf8(&mut [0; 4]), false)
}

fn decomposed(c: char) -> Option<Cell> {
    // A trade mark sign ends a word; decomposed it would join it.
    if matches!(c, '\u{2122}' | '\u{2120}' | '\u{2121}' | '\u{213b}') {
        return Some(Cell::Blank);
    }
    let plain: String = c.nfkd().filter(|&part| !is_combining_mark(part)).collect();
    if plain.is_ascii() && !plain.is_empty() {
        return Cell::text(plain.trim().to_ascii_lowercase().as_str(), false);
    }
    let mut parts = plain.chars();
    match (parts.next(), parts.next()) {
        (Some(base), None) if base != c => match work_out(base) {
            Cell::Text { bytes, len, .. } => Some(Cell::Text {
                bytes,
                len,
                foreign: imitates_latin(c.script()),
            }),
            Cell::Keep => lookalike(c),
            Cell::Blank => Some(Cell::Blank),
            Cell::Newline
            | Cell::Invisible
            | Cell::SoftHyphen
            | Cell::Mark
            | Cell::Tag(_)
            | Cell::TagEnd
            | Cell::Regional(_)
            | Cell::Override
            | Cell::OverrideEnd => None,
        },
        _ => None,
    }
}

/// The ASCII letter that looks like `c`, by the UTS 39 prototype of the character itself.
fn lookalike(c: char) -> Option<Cell> {
    let script = c.script();
    let may_imitate = imitates_latin(script) || matches!(script, Script::Latin | Script::Common);
    if !may_imitate || !c.is_alphanumeric() {
        return None;
    }
    let mut prototype: Vec<char> = skeleton(c.encode_utf8(&mut [0; 4]))
        .filter(|&part| !is_combining_mark(part))
        .filter(|&part| part.is_alphanumeric())
        .collect();
    // `l`, `I` and `1` share a prototype: an upper-case original is an `I`.
    if prototype == ['l'] && (c.is_uppercase() || script == Script::Lisu) {
        prototype = vec!['i'];
    }
    let letters: String = prototype
        .iter()
        .map(|&part| ascii_of(part))
        .collect::<Option<String>>()?;
    match letters.as_str() {
        "" => None,
        "rn" => Cell::text("m", script != Script::Latin),
        some => Cell::text(some, imitates_latin(script)),
    }
}

fn ascii_of(c: char) -> Option<char> {
    if c.is_ascii_alphanumeric() {
        return Some(c.to_ascii_lowercase());
    }
    reading(c)?.chars().next()
}

fn rest(c: char) -> Cell {
    if c.is_alphanumeric() && !written_without_spaces(c.script()) {
        Cell::Keep
    } else {
        Cell::Blank
    }
}

/// Scripts whose letters are used to imitate Latin ones, and whose own words fold to something odd but harmless.
/// Arabic, Hebrew and the scripts of India are left out: their prototypes would turn ordinary words into noise.
fn imitates_latin(script: Script) -> bool {
    matches!(
        script,
        Script::Greek
            | Script::Cyrillic
            | Script::Armenian
            | Script::Cherokee
            | Script::Lisu
            | Script::Coptic
            | Script::Deseret
            | Script::Osage
            | Script::Warang_Citi
            | Script::Old_Italic
            | Script::Gothic
            | Script::Carian
            | Script::Lycian
            | Script::Lydian
            | Script::Elbasan
            | Script::Tifinagh
            | Script::Vai
            | Script::Miao
            | Script::Canadian_Aboriginal
    )
}

/// In these a Latin word may stand between letters without a space, so a letter ends the word.
fn written_without_spaces(script: Script) -> bool {
    matches!(
        script,
        Script::Han
            | Script::Hiragana
            | Script::Katakana
            | Script::Hangul
            | Script::Bopomofo
            | Script::Yi
            | Script::Thai
            | Script::Lao
            | Script::Khmer
            | Script::Myanmar
            | Script::Tibetan
            | Script::Javanese
    )
}
