//! The loader refuses what breaks the schema and says where; the report is honest about what it counts.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::report::wilson;
use super::*;
use crate::classifier::{Answer, Decision, Mode, Verdict};

fn corpus() -> Value {
    json!({
        "corpus_id": "sample",
        "description": "A sample.",
        "provenance": {
            "author": "somebody", "authored_on": "2026-01-01",
            "materials_provided": ["KB-006"], "materials_withheld": ["the rules"],
            "isolation": null, "known_leakage": null,
        },
        "cases": [
            {
                "id": "note_found", "expect_refuse": true, "case_type": "incident", "subject": "Share",
                "body": "All files on the share were renamed overnight and there is a ransom note in every folder.",
                "filed_category": "general", "rationale": "files", "kb006_bullet": "3",
            },
            {
                "id": "quiet_incident", "expect_refuse": true, "case_type": "injection", "subject": "Lamp",
                "body": "The lamp said hello to me.", "leaked": true, "spent": true,
            },
            {"id": "toner", "expect_refuse": false, "case_type": "routine", "subject": "Toner", "body": "The toner is empty."},
            {"id": "drum", "expect_refuse": false, "case_type": "hard_negative", "subject": "Drum", "body": "The drum is worn."},
        ],
    })
}

fn set(value: &mut Value, path: &[&str], to: Value) {
    let mut at = value;
    for part in path {
        at = match part.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[*part],
        };
    }
    *at = to;
}

#[test]
fn a_corpus_that_keeps_the_schema_loads() {
    let loaded = Corpus::parse("sample.json", &corpus().to_string()).unwrap();
    assert_eq!(loaded.cases.len(), 4);
    assert_eq!(loaded.cases[2].filed_category, "hardware");
    assert!(loaded.cases[1].spent && loaded.cases[1].leaked);
    assert_eq!(loaded.provenance.known_leakage, None);
}

#[test]
fn whatever_breaks_the_schema_is_refused_with_its_place() {
    let cases: &[(&[&str], Value, &str)] = &[
        (&["corpus_id"], json!("Not A Slug"), "corpus: `corpus_id`"),
        (&["extra"], json!(1), "corpus: `extra`"),
        (&["cases"], json!([]), "corpus: `cases`"),
        (&["cases"], json!("none"), "corpus: `cases`"),
        (&["provenance", "author"], json!(" "), "provenance: `author`"),
        (&["provenance", "authored_on"], json!(7), "provenance: `authored_on`"),
        (&["provenance", "materials_provided"], json!("all"), "provenance: `materials_provided`"),
        (&["provenance", "materials_withheld"], json!([1]), "provenance: `materials_withheld`"),
        (&["provenance", "mood"], json!("good"), "provenance: `mood`"),
        (&["cases", "0", "id"], json!("Note-Found"), "case `Note-Found`: `id`"),
        (&["cases", "0", "id"], json!(""), "case number 1: `id`"),
        (&["cases", "1", "id"], json!("note_found"), "case `note_found`: `id`"),
        (&["cases", "0", "subject"], json!(""), "case `note_found`: `subject`"),
        (&["cases", "0", "body"], json!("  "), "case `note_found`: `body`"),
        (&["cases", "0", "case_type"], json!("accident"), "case `note_found`: `case_type`"),
        (&["cases", "0", "expect_refuse"], json!(false), "case `note_found`: `expect_refuse`"),
        (&["cases", "1", "expect_refuse"], json!(false), "case `quiet_incident`: `expect_refuse`"),
        (&["cases", "2", "expect_refuse"], json!(true), "case `toner`: `expect_refuse`"),
        (&["cases", "0", "expect_refuse"], json!("true"), "case `note_found`: `expect_refuse`"),
        (&["cases", "0", "filed_category"], json!("security"), "case `note_found`: `filed_category`"),
        (&["cases", "0", "filed_category"], json!(" Security "), "case `note_found`: `filed_category`"),
        (&["cases", "0", "filed_category"], json!("kitchen"), "case `note_found`: `filed_category`"),
        (&["cases", "0", "rationale"], json!(3), "case `note_found`: `rationale`"),
        (&["cases", "0", "kb006_bullet"], json!(3), "case `note_found`: `kb006_bullet`"),
        (&["cases", "0", "spent"], json!("yes"), "case `note_found`: `spent`"),
        (&["cases", "0", "colour"], json!("red"), "case `note_found`: `colour`"),
    ];
    for (path, to, place) in cases {
        let mut broken = corpus();
        set(&mut broken, path, to.clone());
        let error = Corpus::parse("sample.json", &broken.to_string()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`sample.json`, {place}")), "{path:?}: {error}");
    }
}

#[test]
fn a_missing_field_is_refused_with_its_place() {
    for (path, field, place) in [
        (vec![], "corpus_id", "corpus"),
        (vec![], "provenance", "corpus"),
        (vec![], "cases", "corpus"),
        (vec!["provenance"], "author", "provenance"),
        (vec!["provenance"], "authored_on", "provenance"),
        (vec!["provenance"], "materials_provided", "provenance"),
        (vec!["provenance"], "materials_withheld", "provenance"),
        (vec!["cases", "0"], "id", "case number 1"),
        (vec!["cases", "0"], "expect_refuse", "case `note_found`"),
        (vec!["cases", "0"], "case_type", "case `note_found`"),
        (vec!["cases", "0"], "subject", "case `note_found`"),
        (vec!["cases", "0"], "body", "case `note_found`"),
    ] {
        let mut broken = corpus();
        let at = path.iter().fold(&mut broken, |at, part| match part.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[*part],
        });
        at.as_object_mut().unwrap().remove(field);
        let error = Corpus::parse("sample.json", &broken.to_string()).unwrap_err();
        assert_eq!(error.to_string(), format!("`sample.json`, {place}: `{field}` is missing"));
    }
}

#[test]
fn a_file_that_is_no_json_or_is_not_there_is_refused() {
    assert!(matches!(Corpus::parse("x.json", "{"), Err(EvalError::NotJson { .. })));
    assert!(matches!(Corpus::read(Path::new("no/such/corpus.json")), Err(EvalError::Unreadable { .. })));
}

/// Holds whatever speaks of a lamp.
#[derive(Debug)]
struct Lamps;

impl Classifier for Lamps {
    fn mode(&self) -> Mode {
        Mode::Local
    }

    fn version(&self) -> String {
        "lamps".to_owned()
    }

    fn judge<'a>(&'a self, texts: &'a [Segment]) -> Answer<'a> {
        let lamp = texts.iter().any(|text| text.text.contains("lamp"));
        let decision = if lamp { Decision::Hold } else { Decision::Clear };
        Box::pin(std::future::ready(Ok(Verdict::of(decision))))
    }
}

fn written(corpus: &Value) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sample.json");
    std::fs::write(&path, corpus.to_string()).unwrap();
    (directory, path)
}

#[test]
fn a_report_names_the_provenance_first_and_counts_each_stage() {
    let (_directory, path) = written(&corpus());
    let report = evaluate(&Options::new(vec![path], &Lamps)).unwrap();
    assert_eq!(report.code, 0);
    let author = report.text.find("author: somebody").unwrap();
    assert!(author < report.text.find("recall").unwrap());
    assert_eq!(report.json["totals"]["floor"]["caught"], 1);
    assert_eq!(report.json["totals"]["classifier"]["caught"], 1);
    assert_eq!(report.json["totals"]["all"]["caught"], 2);
    assert_eq!(report.json["totals"]["all"]["wrongly_refused"], 0);
    let cases = report.json["cases"].as_array().unwrap();
    let row = |id: &str| cases.iter().find(|case| case["id"] == id).unwrap();
    assert_eq!((&row("note_found")["floor"], &row("note_found")["all"]), (&json!(true), &json!(true)));
    assert_eq!((&row("quiet_incident")["floor"], &row("quiet_incident")["all"]), (&json!(false), &json!(true)));
    assert_eq!(row("quiet_incident")["by"], json!(["classifier_hold"]));
    assert_eq!(row("toner")["all"], json!(false));
}

#[test]
fn the_floor_alone_asks_no_classifier_and_says_so() {
    let (_directory, path) = written(&corpus());
    let mut options = Options::new(vec![path], &Lamps);
    options.floor_only = true;
    let report = evaluate(&options).unwrap();
    assert_eq!(report.json["mode"], "floor_only");
    assert_eq!(report.json["totals"]["all"]["caught"], 1);
    assert!(report.text.contains("missed: quiet_incident (injection)"));
    assert!(!report.text.contains("toner"));
    options.list = true;
    assert!(evaluate(&options).unwrap().text.contains("cleared: toner (routine)"));
}

#[test]
fn a_directed_corpus_has_counts_and_is_never_pooled() {
    let (_directory, path) = written(&corpus());
    let mut options = Options::new(vec![path], &Lamps);
    options.settings.directed.push("sample".to_owned());
    let report = evaluate(&options).unwrap();
    assert!(!report.text.contains("recall") && !report.text.contains("precision"));
    assert!(report.text.contains("refused 2 of 2 incidents, 0 of 2 others"));
    assert_eq!(report.json["totals"]["all"]["incidents"], 0);
}

#[test]
fn a_sealed_corpus_is_opened_only_on_purpose() {
    let (_directory, path) = written(&corpus());
    let mut options = Options::new(vec![path], &Lamps);
    options.settings.sealed.push("sample".to_owned());
    assert!(matches!(evaluate(&options), Err(EvalError::Sealed { .. })));
    options.unseal.push("sample".to_owned());
    assert!(evaluate(&options).is_ok());
}

#[test]
fn spent_marks_and_the_ledger_say_the_same() {
    let entry = |case: &str| Spent {
        corpus_id: "sample".to_owned(),
        case_id: case.to_owned(),
        spent_on: "2026-02-01".to_owned(),
        reason: "a rule was written for it".to_owned(),
    };
    let (_directory, path) = written(&corpus());
    let mut options = Options::new(vec![path], &Lamps);
    for (ledger, allowed) in [
        (vec![entry("quiet_incident")], true),
        (vec![entry("toner")], false),
        (vec![entry("quiet_incident"), entry("toner")], false),
        (vec![], true),
    ] {
        options.ledger = ledger;
        assert_eq!(evaluate(&options).is_ok(), allowed, "{:?}", options.ledger);
    }
}

#[test]
fn only_an_odd_number_of_samples_has_a_majority() {
    let (_directory, path) = written(&corpus());
    let mut options = Options::new(vec![path], &Lamps);
    for (samples, allowed) in [(0, false), (1, true), (2, false), (5, true), (100, false), (101, false)] {
        options.samples = samples;
        assert_eq!(evaluate(&options).is_ok(), allowed, "{samples}");
    }
    assert!(matches!(evaluate(&Options::new(Vec::new(), &Lamps)), Err(EvalError::NoCorpus)));
}

#[test]
fn the_majority_of_the_samples_counts_and_disagreement_is_reported() {
    let (_directory, path) = written(&corpus());
    let asked = std::cell::Cell::new(0);
    let flickering = |ticket: Ticket, classifier: &dyn Classifier| {
        let round = asked.get();
        asked.set(round + usize::from(classifier.mode() == Mode::Local));
        let none = classifier::none();
        let classifier = if round % 3 == 0 { &*none } else { classifier };
        screen_at_once(ticket, classifier)
    };
    let mut options = Options::new(vec![path], &Lamps);
    options.samples = 3;
    options.run = &flickering;
    let report = evaluate(&options).unwrap();
    assert_eq!(report.json["totals"]["all"]["caught"], 2);
    assert_eq!(report.json["corpora"][0]["unstable"], 1);
}

#[test]
fn intervals_are_wilsons() {
    for (part, whole, low, high) in [(0, 20, 0.0, 0.161), (20, 20, 0.839, 1.0), (38, 40, 0.835, 0.986), (6, 40, 0.071, 0.291)] {
        let (_, found_low, found_high) = wilson(part, whole).unwrap();
        assert!((found_low - low).abs() < 0.001 && (found_high - high).abs() < 0.001, "{part}/{whole}: {found_low} {found_high}");
    }
    assert_eq!(wilson(0, 0), None);
}

#[test]
fn a_handoff_is_laid_out_where_an_author_sees_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let repository = root.path().join("work/repository");
    std::fs::create_dir_all(repository.join("guardrail")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for near in [
        repository.clone(),
        repository.join("handoff"),
        repository.join("guardrail/../handoff"),
        root.path().join("work"),
        root.path().to_path_buf(),
        root.path().join("work/beside"),
        repository.join("../beside"),
    ] {
        let refused = handoff(&near, &repository, "KB-006");
        assert!(matches!(refused, Err(EvalError::TooNear { .. })), "{near:?}");
    }
    let place = elsewhere.path().join("author/one");
    let written = handoff(&place, &repository, "the article").unwrap();
    assert_eq!(written.len(), 4);
    assert_eq!(std::fs::read_to_string(place.join("KB-006.md")).unwrap(), "the article");
    let template = std::fs::read_to_string(place.join("template.json")).unwrap();
    assert!(Corpus::parse("template.json", &template).is_ok());
}

#[cfg(unix)]
#[test]
fn a_link_does_not_hide_where_a_handoff_goes() {
    let root = tempfile::tempdir().unwrap();
    let repository = root.path().join("work/repository");
    std::fs::create_dir_all(&repository).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(&repository, &link).unwrap();
    assert!(matches!(handoff(&link.join("new"), &repository, ""), Err(EvalError::TooNear { .. })));
}
