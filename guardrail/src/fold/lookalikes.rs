//! Characters whose ASCII reading we decide ourselves, where the standard tables have none or one that serves us badly.
//!
//! Small capitals and turned letters have no prototype in UTS 39. Cyrillic and Greek letters are read by their look, upper
//! case by the look of the upper-case letter. Punctuation is reduced to what the sentence and clause rules know; an em
//! dash ends a clause, so it becomes a semicolon.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Letters in the first string read as the ASCII character at the same place in the second.
const LETTERS: &[(&str, &str)] = &[
    // Small capitals.
    (
        "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫꞯʀꜱᴛᴜᴠᴡʏᴢĸᴎᴙ",
        "abcdefghijklmnopqqrstuvwyzknr",
    ),
    // Turned letters.
    ("ɐɒɔǝəɘɟƃᵷɥᴉʞꞁɯɹɺʇʌʍʎ", "aaceeefgghiklmrrtvwy"),
    // Latin letters with hooks, bars and tails.
    ("ɓƀƈɖɗđðɛꞓɜɝɠɡɣħɦɧɨɩıƙłɫɬɭƚ", "bbcddddeeeegggghhhiiikllll"),
    (
        "ɱɲɳŋɵøɸþƥɽɾʂʃſŧʈƭʉʊʋⱳƴʐʑʒȷĐÐĦŁØŊŦİ",
        "mnnnooopprrssstttuuvwyzzzjddhlonti",
    ),
    // Cyrillic, lower case then upper.
    (
        "авгеийкмнопрстухцшщьяіїјѕћђєґўқңүһҳөԁԛԝӏ",
        "abreuukmhonpctyxuwwbriijshheryknyhxodqwl",
    ),
    ("АВЕИЙКМНОПРСТУХІЇЈЅҮҺԀԚԜӀЯЬ", "abennkmhonpctyxiijsyhdqwirb"),
    // Greek, lower case then upper.
    ("αβγεζηικμνοπρςσϲϱτυχωϳ", "abyeznikuvonpsocptuxwj"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΣϹ", "abezhikmnoptyxec"),
    // Punctuation.
    ("‘’‚‛′‵´ˈʹʻʼʽ＇", "'''''''''''''"),
    ("“”„‟«»″‶〝〞〟＂", "\"\"\"\"\"\"\"\"\"\"\"\""),
    ("‐‑‒–−﹣－", "-------"),
    ("—―；؛", ";;;;"),
    ("。｡．…।", "....."),
    ("，、､،", ",,,,"),
    ("？؟！：", "??!:"),
];

/// Letters that read as two.
const DIGRAPHS: &[(char, &str)] = &[
    ('æ', "ae"),
    ('Æ', "ae"),
    ('œ', "oe"),
    ('Œ', "oe"),
    ('ß', "ss"),
    ('ẞ', "ss"),
    ('Þ', "th"),
];

/// The ASCII text that `c` is read as, where we decide it ourselves.
pub(super) fn reading(c: char) -> Option<&'static str> {
    static READINGS: OnceLock<HashMap<char, &'static str>> = OnceLock::new();
    READINGS
        .get_or_init(|| {
            let letters = LETTERS.iter().flat_map(|&(from, to)| {
                from.chars()
                    .enumerate()
                    .filter_map(move |(at, c)| Some((c, to.get(at..=at)?)))
            });
            letters.chain(DIGRAPHS.iter().copied()).collect()
        })
        .get(&c)
        .copied()
}

#[cfg(test)]
pub(super) fn rows() -> &'static [(&'static str, &'static str)] {
    LETTERS
}
