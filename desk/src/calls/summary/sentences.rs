//! Where sentences of spoken text end.

/// Words whose full stop ends no sentence; written small, without the stop.
const ABBREVIATIONS: [&str; 12] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "no", "vs", "approx", "e.g", "i.e", "ext",
];

/// The sentences of a text, in order, each a part of it without blanks around.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|(_, next)| *next);
        let end = at + c.len_utf8();
        if ends(text.get(from..at).unwrap_or_default(), c, next) {
            found.extend(trimmed(text, from, end));
            from = end;
        }
    }
    found.extend(trimmed(text, from, text.len()));
    found
}

fn trimmed(text: &str, from: usize, to: usize) -> Option<&str> {
    let part = text.get(from..to)?.trim();
    (!part.is_empty()).then_some(part)
}

/// Whether a character ends the sentence that came before it.
fn ends(before: &str, c: char, next: Option<char>) -> bool {
    match c {
        '\n' | '。' | '！' | '？' => true,
        '.' | '!' | '?' | '…' => {
            // Before a closing quote the quote ends it.
            next.is_none_or(char::is_whitespace) && !(c == '.' && is_abbreviated(before))
        }
        '"' | '”' | '»' | ')' => {
            next.is_none_or(char::is_whitespace) && before.ends_with(['.', '!', '?', '…'])
        }
        _ => false,
    }
}

/// Whether a full stop after this is part of the last word: a title, an initial.
fn is_abbreviated(before: &str) -> bool {
    let word = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    //! Sentences of a few texts.

    use super::*;

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let table = [
            (
                "One. Two! Three? Four",
                vec!["One.", "Two!", "Three?", "Four"],
            ),
            (
                "Hello Mr. Ito, it is 8.40 now.",
                vec!["Hello Mr. Ito, it is 8.40 now."],
            ),
            (
                "It was I. Then J. K. Rowe came.",
                vec!["It was I.", "Then J. K. Rowe came."],
            ),
            (
                "Filter, filter... oh, that one. Yes.",
                vec!["Filter, filter...", "oh, that one.", "Yes."],
            ),
            (
                "He said \"It is off.\" Then it was on.",
                vec!["He said \"It is off.\"", "Then it was on."],
            ),
            (
                "動きません。電源は入ります。",
                vec!["動きません。", "電源は入ります。"],
            ),
            ("line one\nline two", vec!["line one", "line two"]),
            (
                "mail me at desk.example.com please",
                vec!["mail me at desk.example.com please"],
            ),
            (" \n ", vec![]),
            ("...", vec!["..."]),
        ];
        for (text, wanted) in table {
            assert_eq!(sentences(text), wanted, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn sentences_are_parts_of_the_text_in_order_and_lose_only_blanks(text in "[ \\PC.!?\\n]{0,80}") {
            let found = sentences(&text);
            let mut from = 0;
            for part in &found {
                let at = text[from..].find(part).unwrap();
                proptest::prop_assert!(text[from..from + at].trim().is_empty());
                from += at + part.len();
            }
            proptest::prop_assert!(text[from..].trim().is_empty());
        }
    }
}
