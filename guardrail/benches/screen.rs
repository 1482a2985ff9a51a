//! What the guardrail costs: the floor on ordinary text (bar: 100 MB/s) and on the worst text (linear up to 1 MiB), one
//! ordinary ticket (20 microseconds), and the local classifier on one ticket of 100 words (100 microseconds).

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use guardrail::{Segment, Source, Ticket, classifier, local, screen_at_once};

const ORDINARY: &str = include_str!("../training/writer-0.txt");

const TICKET: &str = "Good morning, since yesterday my second screen stays black after lunch. I unplugged it and put it back, then \
                      it works for an hour. Is it the cable or the screen? The docking station was replaced last week by your \
                      colleague, and the laptop is the one from 2022. I have a meeting at ten and would be glad if somebody \
                      could look at it before. The other two screens in our room are fine, also when I plug them into my dock. \
                      Should I bring it down to you or will somebody come up? Kind regards, Heike from accounting, extension 214";

/// The bodies of ordinary tickets, over and over.
fn ordinary(length: usize) -> String {
    let bodies: String = ORDINARY
        .lines()
        .filter(|line| line.starts_with("ordinary"))
        .filter_map(|line| line.rsplit('|').next())
        .flat_map(|body| [body, "\n"])
        .collect();
    let mut text = String::new();
    while text.len() < length {
        text.push_str(&bodies);
    }
    text.truncate(text.floor_char_boundary(length));
    text
}

fn floor(text: &str) -> bool {
    let ticket = Ticket::new(1, 1, "general", vec![Segment::new(Source::Description, text)]);
    matches!(screen_at_once(ticket, &*classifier::none()), guardrail::Screened::Refused(_))
}

fn screening(criterion: &mut Criterion) {
    floor("compile the table before anything is measured");
    let mut group = criterion.benchmark_group("floor");
    for (name, text) in [
        ("ordinary", ordinary(1_000_000)),
        ("near_misses", "clicked opened link attachment email not password supplier bank account ".repeat(13_000)),
        ("cyrillic", "Привет мир ".repeat(50_000)),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("megabyte", name), &text, |bencher, text| {
            bencher.iter(|| black_box(floor(text)));
        });
    }
    for length in [64 * 1024, 256 * 1024, 1024 * 1024] {
        let text = "p4ss a b c Привет e\u{301} training clicked %41 ".repeat(30_000);
        let text = &text[..text.floor_char_boundary(length)];
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("worst", length), text, |bencher, text| {
            bencher.iter(|| black_box(floor(text)));
        });
    }
    group.throughput(Throughput::Elements(1));
    group.bench_function("ticket", |bencher| bencher.iter(|| black_box(floor(black_box(TICKET)))));
    group.finish();
    criterion.bench_function("local/ticket", |bencher| {
        bencher.iter(|| black_box(local::score(black_box(&["Second screen", TICKET]))));
    });
}

criterion_group!(benches, screening);
criterion_main!(benches);
