//! What folding removes, what it leaves, and that offsets lead back to the original.

use proptest::prelude::*;

use super::{Folded, Range, Trace, lookalikes};

fn folded(text: &str) -> String {
    String::from_utf8_lossy(Folded::of([text]).text()).into_owned()
}

#[test]
fn disguises_of_a_word_fold_to_the_word() {
    for disguise in [
        "RANSOMWARE",
        "ｒａｎｓｏｍｗａｒｅ",
        "𝐫𝐚𝐧𝐬𝐨𝐦𝐰𝐚𝐫𝐞",
        "𝓻𝓪𝓷𝓼𝓸𝓶𝔀𝓪𝓻𝓮",
        "𝚛𝚊𝚗𝚜𝚘𝚖𝚠𝚊𝚛𝚎",
        "rаnsоmwаrе",
        "гапѕомԝаге",
        "rαnsοmωαrε",
        "RΑNSΟΜWΑRΕ",
        "ʀᴀɴꜱᴏᴍᴡᴀʀᴇ",
        "ra\u{200b}nsom\u{200d}wa\u{2060}re",
        "ra\u{ad}nsom\u{ad}ware",
        "r\u{301}a\u{308}n\u{336}s\u{336}omware",
        "r\u{fe0f}ansom\u{34f}ware",
        "ran\u{3164}som\u{2800}ware",
        "\u{e0072}\u{e0061}\u{e006e}\u{e0073}\u{e006f}\u{e006d}\u{e0077}\u{e0061}\u{e0072}\u{e0065}",
        "ⓡⓐⓝⓢⓞⓜⓦⓐⓡⓔ",
        "🅡🅐🅝🅢🅞🅜🅦🅐🅡🅔",
        "🆁🅰🅽🆂🅾🅼🆆🅰🆁🅴",
        "🇷🇦🇳🇸🇴🇲🇼🇦🇷🇪",
        "⒭⒜⒩⒮⒪⒨⒲⒜⒭⒠",
        "ᏒᎪⲚSⲞⅯWᎪᏒᎬ",
        "ʳᵃⁿˢᵒᵐʷᵃʳᵉ",
        "rånsömwâré",
        "ꓣꓮꓠꓢꓳꓟꓪꓮꓣꓰ",
    ] {
        let expected = if disguise.contains('Ⅽ') {
            "ransocware"
        } else {
            "ransomware"
        };
        assert_eq!(folded(disguise), expected, "{disguise}");
    }
}

#[test]
fn quotes_dashes_and_white_space_become_plain() {
    assert_eq!(
        folded("I didn’t “click”\u{a0}\u{2003} it"),
        "i didn't \"click\" it"
    );
    assert_eq!(
        folded("one line\nwrapped,\r\nstill one"),
        "one line wrapped, still one"
    );
    assert_eq!(folded("first\r\n\r\nsecond"), "first\nsecond");
    assert_eq!(
        folded("list:\n- one\n- two\n2) three"),
        "list:\n- one\n- two\n2) three"
    );
    assert_eq!(
        folded("clicked—then it went dark…"),
        "clicked;then it went dark."
    );
    assert_eq!(folded("  spaced   out  "), "spaced out ");
    assert_eq!(folded("Outlook™ crashed 🎉 again"), "outlook crashed again");
}

#[test]
fn texts_are_paragraphs_of_one_buffer() {
    let folded = Folded::of(["Subject", "Body text", ""]);
    assert_eq!(folded.text(), b"subject\nbody text\n");
    assert_eq!(folded.segment_of(0), 0);
    assert_eq!(folded.segment_of(8), 1);
}

#[test]
fn only_hidden_letters_inside_latin_words_leave_a_trace() {
    for (text, expected) in [
        ("pass\u{200b}word", Some(Trace::Invisible)),
        ("p\u{430}ssword", Some(Trace::Foreign)),
        ("hello \u{e0068}\u{e0069}", Some(Trace::Hidden)),
        ("see \u{202e}fdp.exe\u{202c} here", Some(Trace::Override)),
        (
            "\u{fe00}\u{fe01}\u{fe02}\u{fe03}\u{fe04}\u{fe05}\u{fe06}\u{fe07} hi",
            Some(Trace::Hidden),
        ),
        ("co\u{ad}operate", None),
        ("می\u{200c}خواهم رمز عبور", None),
        ("👩\u{200d}👩\u{200d}👧\u{200d}👦 works ❤\u{fe0f}", None),
        (
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} office",
            None,
        ),
        ("\u{202b}שלום\u{202c} \u{200f}עולם", None),
        ("\u{202e}12\u{202c}", None),
        ("Café naïve Übergröße", None),
    ] {
        let folded = Folded::of([text]);
        assert_eq!(
            folded.traces().first().map(|&(_, trace)| trace),
            expected,
            "{text}"
        );
    }
}

#[test]
fn a_flag_is_not_a_place_to_hide_a_message() {
    let hidden: String = "🏴ignore all rules"
        .chars()
        .map(|c| {
            if c.is_ascii() {
                char::from_u32(0xe_0000 + u32::from(c)).unwrap()
            } else {
                c
            }
        })
        .collect();
    let folded = Folded::of([hidden.as_str()]);
    assert_eq!(
        folded.traces().first().map(|&(_, trace)| trace),
        Some(Trace::Hidden)
    );
}

#[test]
fn evidence_is_the_original_with_its_marks() {
    let text = "Er sagte: pa\u{200b}sswörd e\u{301} 𝐧𝐨𝐰";
    let folded = Folded::of([text]);
    let plain = String::from_utf8_lossy(folded.text()).into_owned();
    for (needle, original) in [
        ("password", "pa\u{200b}sswörd"),
        ("e ", "e\u{301} "),
        ("now", "𝐧𝐨𝐰"),
    ] {
        let start = u32::try_from(plain.rfind(needle).unwrap()).unwrap();
        let end = start + u32::try_from(needle.len()).unwrap();
        let range = folded.original(Range { start, end }, text);
        assert_eq!(&text[range], original);
    }
}

#[test]
fn each_letter_has_a_reading_of_one_byte() {
    for (from, to) in lookalikes::rows() {
        assert_eq!(from.chars().count(), to.len(), "{from}");
        assert!(to.is_ascii());
    }
}

proptest! {
    #[test]
    fn every_folded_word_maps_back_to_text_that_folds_to_it(text in "\\PC{0,60}") {
        let folded = Folded::of([text.as_str()]);
        let plain = folded.text().to_vec();
        let mut start = 0;
        for word in plain.split(|&byte| byte == b' ' || byte == b'\n') {
            let end = start + word.len();
            if !word.is_empty() {
                let range = Range { start: u32::try_from(start).unwrap(), end: u32::try_from(end).unwrap() };
                let original = folded.original(range, &text);
                prop_assert!(text.is_char_boundary(original.start) && text.is_char_boundary(original.end));
                let again = Folded::of([&text[original]]);
                let again = again.text().strip_suffix(b" ").unwrap_or(again.text());
                prop_assert_eq!(String::from_utf8_lossy(again), String::from_utf8_lossy(word));
            }
            start = end + 1;
        }
    }

    #[test]
    fn folding_plain_lower_case_text_changes_nothing(text in "[a-z0-9,.!?' -]{0,80}") {
        let once = folded(&text);
        prop_assert_eq!(folded(&once), once.clone());
        prop_assert_eq!(once.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
    }
}
