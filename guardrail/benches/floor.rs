//! What screening costs (issue 4): ordinary text (bar: 100 MB/s for the scan, fold included), one ordinary ticket (20
//! microseconds), and the worst texts at growing lengths, whose rate must not fall (promise D-6).
//!
//! Screening is the scan and a digest of the text, which the write gate binds. `digest` measures the second alone, so
//! that the scan is the difference.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use guardrail::{Screened, Segment, Source, Ticket, classifier, screen_at_once};
use sha2::{Digest as _, Sha256};

const WRITER: &str = include_str!("../training/writer-0.txt");

const TICKET: &str = "Good morning, since yesterday my second screen stays black after lunch. I unplugged it and put it \
                      back, then it works for an hour. Is it the cable or the screen? The docking station was replaced \
                      last week by your colleague, and the laptop is the one from 2022. I have a meeting at ten and would \
                      be glad if somebody could look at it before. The other two screens in our room are fine, also when \
                      I plug them into my dock. Should I bring it down to you or will somebody come up? Kind regards, \
                      Heike from accounting, extension 214";

const LENGTHS: [usize; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// Texts that make work; the test `no_text_costs_more_than_its_length` has more of them.
const WORST: [&str; 6] = [
    "clicked opened link attachment email not password supplier bank account change ",
    "p4ss w0rd a b c training clicked %41 &#97; ",
    "Привет мир e\u{301}a\u{200b}b ",
    "\u{202e}ab\n\n",
    "QUJDREVGR0hJSktMTU5P",
    "a",
];

fn main() {
    // The table is compiled before anything is measured.
    screened(TICKET);
    divan::main();
}

fn screened(text: &str) -> bool {
    let texts = vec![Segment::new(Source::Description, text)];
    let ticket = Ticket::new(1, 1, "general", texts);
    matches!(
        screen_at_once(ticket, &*classifier::none()),
        Screened::Refused(_)
    )
}

/// `unit` over and over, up to `length` bytes.
fn repeated(unit: &str, length: usize) -> String {
    let mut text = unit.repeat(length / unit.len() + 1);
    text.truncate(text.floor_char_boundary(length));
    text
}

fn ordinary(length: usize) -> String {
    let bodies: Vec<&str> = WRITER
        .lines()
        .filter(|line| line.starts_with("ordinary"))
        .filter_map(|line| line.rsplit('|').next())
        .collect();
    repeated(&(bodies.join("\n") + "\n"), length)
}

#[divan::bench]
fn ordinary_text(bencher: Bencher<'_, '_>) {
    let text = ordinary(1 << 20);
    let counted = bencher.counter(BytesCount::of_str(&text));
    counted.bench(|| screened(black_box(&text)));
}

#[divan::bench]
fn digest(bencher: Bencher<'_, '_>) {
    let text = ordinary(1 << 20);
    let counted = bencher.counter(BytesCount::of_str(&text));
    counted.bench(|| Sha256::digest(black_box(&text)));
}

#[divan::bench]
fn ordinary_ticket() -> bool {
    screened(black_box(TICKET))
}

#[divan::bench(args = LENGTHS, consts = [0, 1, 2, 3, 4, 5])]
fn worst_text<const N: usize>(bencher: Bencher<'_, '_>, length: usize) {
    let text = repeated(WORST.get(N).copied().unwrap_or("a"), length);
    let counted = bencher.counter(BytesCount::of_str(&text));
    counted.bench(|| screened(black_box(&text)));
}
