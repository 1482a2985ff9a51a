//! Words, sentences and the gaps between them in folded text.

/// What stands between a word and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Gap {
    /// Nothing that parts clauses.
    #[default]
    Space,
    /// A hyphen or another sign without spaces: a compound.
    Compound,
    /// A comma.
    Comma,
    /// A semicolon, colon, bracket or a dash with spaces.
    Clause,
    /// The end of a sentence, paragraph or text.
    Sentence,
}

const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(
            clippy::indexing_slicing,
            clippy::cast_possible_truncation,
            reason = "evaluated when compiling, where an index out of range is a build error"
        )]
        {
            table[byte] = (byte as u8).is_ascii_alphanumeric() || byte >= 0x80;
        }
        byte += 1;
    }
    table
};

/// Letters, digits and the bytes of letters that have no ASCII reading.
pub(super) fn is_word_byte(byte: u8) -> bool {
    WORD.get(usize::from(byte)).copied().unwrap_or(false)
}

/// One past the last byte of the word that starts at `start`; an apostrophe between letters is part of it.
pub(super) fn word_end(text: &[u8], start: usize) -> usize {
    let mut end = start;
    while let Some(&byte) = text.get(end) {
        let inside = is_word_byte(byte)
            || (byte == b'\''
                && end > start
                && text.get(end + 1).is_some_and(|&next| is_word_byte(next)));
        if !inside {
            break;
        }
        end += 1;
    }
    end
}

/// Words before a full stop that are abbreviations and end no sentence.
const ABBREVIATIONS: &[&[u8]] = &[
    b"mr", b"mrs", b"ms", b"dr", b"st", b"prof", b"e.g", b"i.e", b"g", b"eg", b"ie", b"approx",
    b"inc", b"ltd", b"vs", b"tel", b"ext", b"incl", b"etc",
];

/// What the bytes between two words mean, and whether a question mark is among them.
pub(super) fn gap(before: &[u8], between: &[u8]) -> (Gap, bool) {
    if let [b' '] = between {
        return (Gap::Space, false);
    }
    let mut gap = Gap::Space;
    let abbreviated = between.len() == 2 && ABBREVIATIONS.contains(&before);
    for (at, &byte) in between.iter().enumerate() {
        let dash = at > 0 && between.get(at - 1..=at + 1) == Some(b" - ");
        gap = gap.max(match byte {
            b'.' if between.len() == 1 => Gap::Compound,
            b'.' if abbreviated => Gap::Space,
            b'\n' | b'!' | b'?' | b'.' => Gap::Sentence,
            b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' => Gap::Clause,
            b':' if between.len() > 1 => Gap::Clause,
            b'-' if dash => Gap::Clause,
            b',' => Gap::Comma,
            b' ' => Gap::Space,
            _ => Gap::Compound,
        });
    }
    // A sign with a space beside it, such as a quotation mark, doesn't make a compound.
    if gap == Gap::Compound && between.contains(&b' ') {
        gap = Gap::Space;
    }
    (gap, between.contains(&b'?'))
}

/// Bytes of `text` before the first that `wanted` holds for. Whole blocks are tested at once, which the compiler turns
/// into vector code as long as `wanted` only compares.
pub(super) fn skip_without(text: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    let mut skipped = 0;
    for block in text.chunks(64) {
        if block
            .iter()
            .fold(0, |any, &byte| any | u8::from(wanted(byte)))
            != 0
        {
            let within = block.iter().position(|&byte| wanted(byte));
            return skipped + within.unwrap_or(block.len());
        }
        skipped += block.len();
    }
    skipped
}
