//! Our own corpora load, say who wrote them, and the floor keeps to its bar on the development set.

use std::path::{Path, PathBuf};

use guardrail::classifier;
use guardrail::eval::{Corpus, Options, evaluate};

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora").join(name)
}

#[test]
fn our_own_corpora_say_that_their_author_saw_the_rules() {
    for name in ["development.json", "regression.json"] {
        let corpus = Corpus::read(&own(name)).unwrap();
        assert!(corpus.notes.is_empty(), "{:?}", corpus.notes);
        assert!(corpus.provenance.known_leakage.unwrap().contains("rules"));
    }
    assert!(Corpus::read(&own("development.json")).unwrap().cases.len() >= 120);
}

#[test]
fn the_floor_keeps_its_recall_and_precision_on_the_development_set() {
    let none = classifier::none();
    let mut options = Options::new(vec![own("development.json")], &*none);
    options.floor_only = true;
    let report = evaluate(&options).unwrap();
    let value = |what: &str| report.json["totals"]["floor"][what]["value"].as_f64().unwrap();
    assert!(value("recall") >= 0.5, "{}", report.text);
    assert!(value("precision") >= 0.95, "{}", report.text);
}

#[test]
fn no_failure_that_was_mended_comes_back() {
    let local = guardrail::local::classifier();
    let report = evaluate(&Options::new(vec![own("regression.json")], &*local)).unwrap();
    assert_eq!(report.json["totals"]["floor"]["wrongly_refused"], 0, "{}", report.text);
    let missed: Vec<&serde_json::Value> = report.json["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["expect_refuse"] == true && case["floor"] == false)
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}
