//! Training is deterministic and refuses what it cannot read.

use std::path::Path;

use super::*;

const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/training");

fn corpus() -> Corpus {
    Corpus::read(Path::new(TEXTS)).unwrap()
}

#[test]
fn training_gives_the_checked_in_model() {
    let model = train(&corpus()).unwrap();
    assert!(
        model.file() == include_bytes!("../../model/local.bin"),
        "run `cargo xtask train`: {}",
        model.report()
    );
}

#[test]
fn training_twice_gives_the_same_bytes() {
    let files: Vec<(String, String)> = ["a", "b"]
        .into_iter()
        .map(|writer| {
            let name = format!("writer-{writer}.txt");
            let text = std::fs::read_to_string(Path::new(TEXTS).join(&name)).unwrap();
            (name, text)
        })
        .collect();
    let first = train(&Corpus::parse(&files).unwrap()).unwrap();
    let second = train(&Corpus::parse(&files).unwrap()).unwrap();
    assert!(first.file() == second.file());
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
        train(&Corpus::parse(&[]).unwrap()),
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
