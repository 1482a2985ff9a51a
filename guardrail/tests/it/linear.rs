//! The cost of a text grows with its length, whatever it holds (promise D-6). Times are noise on a shared machine, so
//! the bound only tells linear from quadratic; the bench measures.

use std::time::{Duration, Instant};

use crate::{INCIDENTS, floor};

/// Texts that make work: near misses, unending words, marks, encodings, overrides.
fn worst() -> Vec<(&'static str, String)> {
    vec![
        (
            "near misses",
            "clicked opened link attachment email not password supplier bank account change "
                .into(),
        ),
        ("incidents", INCIDENTS.join(" ")),
        ("letters", "a b c ".into()),
        ("digits in words", "p4ss w0rd x1y2z3 ".into()),
        ("one word", "a".into()),
        ("marks", "e\u{301}".into()),
        ("invisible", "\u{200b}".into()),
        ("invisible in words", "a\u{200b}".into()),
        ("overrides", "\u{202e}ab".into()),
        ("open overrides", "\u{202e}".into()),
        ("cyrillic", "Привет мир ".into()),
        ("tags", "\u{e0061}\u{e0062}".into()),
        ("flags", "\u{1f3f4}\u{e0067}\u{e007f}🇩🇪".into()),
        ("line breaks", "\n\n".into()),
        ("percent", "%41%%4".into()),
        ("references", "&#".into()),
        ("escapes", "\\u0041=41".into()),
        ("base64", "QUJDREVGR0hJSktMTU5P".into()),
        ("substitutions", "1a".into()),
        ("topics", "training ransomware ".into()),
        ("cjk", "漢字かな交じり文。".into()),
    ]
}

/// A linear scan of a mebibyte takes tens of milliseconds, a quadratic one minutes; nothing in between is told apart here.
const BOUND: Duration = Duration::from_secs(20);

#[test]
fn no_text_costs_more_than_its_length() {
    for (name, unit) in worst() {
        let text = unit.repeat(1024 * 1024 / unit.len());
        let start = Instant::now();
        floor(&text);
        let taken = start.elapsed();
        assert!(taken < BOUND, "{name}: {taken:?} for 1 MiB");
    }
}
