//! Training is deterministic and refuses what it cannot read.

use std::path::Path;

use super::*;

const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/training");

fn corpus() -> Corpus {
    Corpus::read(Path::new(TEXTS), "writer-").unwrap()
}

fn files(names: &[&str]) -> Vec<(String, String)> {
    let read = |name: &&str| {
        let text = std::fs::read_to_string(Path::new(TEXTS).join(name)).unwrap();
        ((*name).to_owned(), text)
    };
    names.iter().map(read).collect()
}

fn nothing() -> Corpus {
    Corpus::parse(&[]).unwrap()
}

#[test]
fn the_checked_in_model_was_trained_from_the_checked_in_texts() {
    let table = local::Table::read(include_bytes!("../../model/local.bin")).unwrap();
    assert!(
        table.header().digest == corpus().digest(),
        "run `cargo xtask train`"
    );
}

/// Takes as long as training does, so a run of everything does it in full and any other checks the digest above.
#[test]
fn training_gives_the_checked_in_model() {
    if std::env::var_os("DESKGATE_FULL").is_none() {
        return;
    }
    let model = train_files(Path::new(TEXTS)).unwrap();
    assert!(
        model.file() == include_bytes!("../../model/local.bin"),
        "run `cargo xtask train`: {}",
        model.report()
    );
}

#[test]
fn training_twice_gives_the_same_bytes_and_kept_out_texts_change_none() {
    let corpus = Corpus::parse(&files(&["writer-a.txt", "writer-b.txt"])).unwrap();
    let first = train(&corpus, &nothing()).unwrap();
    let held_out = Corpus::parse(&files(&["writer-c.txt"])).unwrap();
    let second = train(&corpus, &held_out).unwrap();
    assert!(first.file() == second.file());
    assert_eq!(first.report().writers, second.report().writers);
    assert_eq!(second.report().held_out.len(), 1);
}

fn one_of(writer: &str, label: Label) -> Ticket {
    Ticket {
        writer: writer.to_owned(),
        label,
        kind: String::new(),
        pair: None,
        subject: String::new(),
        body: String::new(),
    }
}

/// A hundred tickets that score 0 to 99.
fn hundred(ticket: &Ticket, floor: u8) -> impl Iterator<Item = Judged<'_>> {
    (0..100).map(move |at| Judged {
        ticket,
        floor: at < floor,
        score: f32::from(at),
    })
}

#[test]
fn thresholds_allow_for_what_the_floor_catches() {
    let [incident, lookalike, ordinary] =
        [Label::Incident, Label::Lookalike, Label::Ordinary].map(|label| one_of("a", label));
    let mut judged: Vec<Judged<'_>> = hundred(&incident, 10).collect();
    judged.extend(hundred(&lookalike, 0));
    judged.extend(hundred(&ordinary, 0).map(|one| Judged {
        score: -one.score,
        ..one
    }));
    let found = thresholds(&judged).unwrap();
    // Ten are caught by the floor, so 86 of the other ninety are enough.
    let expected = Thresholds {
        hold: 14.0,
        refuse: 95.0,
        hold_later: 98.0,
    };
    assert_eq!(found, expected);
    let figures = Figures::of(&judged, found);
    let counts =
        |outcome: Outcome| [outcome.floor, outcome.caught, outcome.refused].map(|s| s.count);
    assert_eq!(counts(figures.incidents), [10, 96, 15]);
    assert_eq!(counts(figures.lookalikes), [0, 86, 5]);
    assert_eq!(counts(figures.ordinary), [0, 0, 0]);
}

#[test]
fn a_writer_is_judged_by_thresholds_of_the_others() {
    let tickets = ["a", "b"]
        .map(|writer| [Label::Incident, Label::Lookalike].map(|label| one_of(writer, label)));
    let [[a_incident, a_lookalike], [b_incident, b_lookalike]] = &tickets;
    let mut judged: Vec<Judged<'_>> = hundred(a_incident, 0).collect();
    judged.extend(hundred(a_lookalike, 0));
    // The second writer scores fifty higher throughout.
    for ticket in [b_incident, b_lookalike] {
        judged.extend(hundred(ticket, 0).map(|one| Judged {
            score: one.score + 50.0,
            ..one
        }));
    }
    let figures = nested(&["a".to_owned(), "b".to_owned()], &judged).unwrap();
    let caught: Vec<usize> = figures
        .iter()
        .map(|(_, figures)| figures.incidents.caught.count)
        .collect();
    assert_eq!(caught, [46, 100]);
}

#[test]
fn there_are_enough_texts_of_enough_hands() {
    let corpus = corpus();
    assert!(corpus.tickets().len() >= 2500);
    assert!(corpus.writers().len() >= 5);
    let paired = corpus
        .tickets()
        .iter()
        .filter(|ticket| ticket.pair.is_some());
    assert!(paired.count() >= 1000);
}

#[test]
fn a_bad_line_is_named() {
    for line in [
        "incident|kind|-|subject",
        "maybe|kind|-|subject|body",
        "",
        "ordinary|kind|-|subject|",
    ] {
        let files = [(
            "writer-x.txt".to_owned(),
            format!("ordinary|kind|-|subject|body\n{line}\n"),
        )];
        let error = Corpus::parse(&files).unwrap_err().to_string();
        assert!(error.contains("`writer-x.txt` line 2"), "{error}");
    }
}

#[test]
fn nothing_to_learn_from_is_an_error() {
    assert!(matches!(
        train(&nothing(), &nothing()),
        Err(TrainError::TooLittle)
    ));
    assert!(matches!(
        train_files(Path::new("no such folder")),
        Err(TrainError::File { .. })
    ));
}

#[test]
fn wilson_intervals_match_published_ones() {
    let (low, high) = Share {
        count: 38,
        total: 40,
    }
    .interval();
    assert!(
        (low - 0.835).abs() < 0.001 && (high - 0.986).abs() < 0.001,
        "{low} {high}"
    );
    let (low, high) = Share {
        count: 0,
        total: 10,
    }
    .interval();
    assert!(
        low.abs() < 1e-9 && (high - 0.2775).abs() < 0.001,
        "{low} {high}"
    );
}
