//! The cost of a text grows with its length, whatever it holds (promise D-6). Ratios of times are noise on a shared
//! machine, so the bound is generous; the bench measures.

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

#[test]
fn no_text_costs_more_than_its_length() {
    floor("warm up");
    for (name, unit) in worst() {
        let time = |length: usize| {
            let text = unit.repeat(length / unit.len());
            (0..3)
                .map(|_| {
                    let start = Instant::now();
                    floor(&text);
                    start.elapsed()
                })
                .min()
                .unwrap()
        };
        let (short, long) = (time(256 * 1024), time(1024 * 1024));
        let noise = Duration::from_millis(5);
        assert!(
            long < short.max(noise) * 4 * 3,
            "{name}: {short:?} for 256 KiB, {long:?} for 1 MiB"
        );
    }
}
