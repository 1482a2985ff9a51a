//! The loader refuses what is not a corpus, the counts are what they say, and our own corpora keep the floor to its bars.

use super::corpus::parse;
use super::*;

const RANSOM: &str = "All my files were renamed and a ransom note demands bitcoin.";

fn with(from: &str, to: &str) -> String {
    let text = handoff::template().replacen(from, to, 1);
    assert_ne!(text, handoff::template());
    text
}

#[test]
fn the_template_is_a_corpus_and_every_departure_from_the_schema_is_refused() {
    parse(handoff::template()).unwrap();
    for (from, to) in [
        ("\"your-corpus\"", "\"Your Corpus\""),
        ("\"Who you are\"", "\" \""),
        ("\"materials_withheld\"", "\"materials_wanted\""),
        ("\"first_case\"", "\"First case\""),
        ("\"One line\"", "\"\""),
        ("\"What the customer writes.\"", "\" \""),
        ("\"hardware\"", "\"security\""),
        ("\"hardware\"", "\"plumbing\""),
        ("\"routine\"", "\"odd\""),
        ("\"routine\"", "\"injection\""),
        ("\"expect_refuse\": false", "\"expect_refuse\": true"),
        ("\"rationale\"", "\"reason\""),
        ("\"kb006_bullet\": null", "\"kb006_bullet\": 3"),
        ("\"known_leakage\": null", "\"known_leakage\": false"),
        ("\"description\": \"One sentence.\",", ""),
    ] {
        assert!(parse(&with(from, to)).is_err(), "{from} as {to}");
    }
    let (head, _) = handoff::template().split_once("\"cases\"").unwrap();
    assert!(parse(&format!("{head}\"cases\": []}}")).is_err());
}

#[test]
fn an_incident_is_counted_as_refused_by_the_floor_and_a_spent_case_is_not_counted() {
    let ransom = with("What the customer writes.", RANSOM)
        .replace("\"expect_refuse\": false", "\"expect_refuse\": true")
        .replace("\"routine\"", "\"incident\"");
    let corpus = parse(&ransom).unwrap();
    let judged = vec![judge(&corpus.cases[0], none().as_ref(), 3)];
    assert!(judged[0].floor && judged[0].all && judged[0].stable);
    let found = counts(&judged);
    assert_eq!((found.incidents.count, found.incidents.total), (1, 1));
    assert_eq!(found.others.total, 0);
    let spent =
        parse(&ransom.replace("\"kb006_bullet\"", "\"spent\": true, \"kb006_bullet\"")).unwrap();
    let judged = vec![judge(&spent.cases[0], none().as_ref(), 1)];
    assert_eq!(counts(&judged).incidents.total, 0);
}

#[test]
fn a_handoff_keeps_away_from_the_repository() {
    let root = crate::root();
    for near in [root.clone(), root.join("outside"), root.join("../beside")] {
        assert!(
            handoff::lay_out(&near, &root).is_err(),
            "{}",
            near.display()
        );
    }
}

#[test]
fn a_handoff_is_the_brief_the_format_a_template_and_kb_006() {
    let away = tempfile::tempdir().unwrap();
    let dir = away.path().join("for/the author");
    handoff::lay_out(&dir, &crate::root()).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["BRIEF.md", "FORMAT.md", "KB-006.md", "template.json"]
    );
    let template = std::fs::read_to_string(dir.join("template.json")).unwrap();
    assert_eq!(parse(&template).unwrap().cases.len(), 1);
    assert!(
        std::fs::read_to_string(dir.join("KB-006.md"))
            .unwrap()
            .contains("Security")
    );
}

/// A corpus of one incident and one ordinary ticket.
fn two() -> Corpus {
    let text = handoff::template();
    let (head, case) = text.split_once("[\n    {").unwrap();
    let (ordinary, _) = case.split_once("\n    }").unwrap();
    let incident = ordinary
        .replace("first_case", "second_case")
        .replace("\"routine\"", "\"incident\"")
        .replace("false", "true")
        .replace("What the customer writes.", RANSOM);
    parse(&format!("{head}[{{{ordinary}}}, {{{incident}}}]}}")).unwrap()
}

fn options(arguments: &[&str]) -> Options {
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }
    Line::try_parse_from([&["eval"], arguments].concat())
        .unwrap()
        .options
}

fn judged(corpus: &Corpus, samples: u32) -> Vec<Judged<'_>> {
    let judge = |case| judge(case, none().as_ref(), samples);
    corpus.cases.iter().map(judge).collect()
}

#[test]
fn a_directed_corpus_has_counts_and_no_rates() {
    let ledger = r#"{"directed": ["your-corpus"], "sealed": [], "spent": []}"#;
    let ledger = Ledger::parse(ledger).unwrap();
    let mut corpus = two();
    ledger.apply(&mut corpus).unwrap();
    let options = options(&["x.json", "--floor-only"]);
    for (directed, rates) in [(ledger.is_directed(&corpus), false), (false, true)] {
        let text = figures(&judged(&corpus, 1), &options, directed);
        assert!(text.contains("(recall): 1 of 1"), "{text}");
        assert_eq!(
            (text.contains('%'), text.contains("precision")),
            (rates, rates),
            "{text}"
        );
    }
}

#[test]
fn a_sealed_corpus_is_refused_before_anything_is_screened() {
    let ledger = r#"{"directed": [], "sealed": ["your-corpus"], "spent": []}"#;
    let refused = Ledger::parse(ledger)
        .unwrap()
        .apply(&mut two())
        .unwrap_err();
    assert!(refused.is::<Refused>() && refused.to_string().contains("sealed"));
}

#[test]
fn what_the_ledger_spends_is_not_counted_and_what_it_does_not_know_is_noted() {
    let spent = r#"{"corpus_id": "your-corpus", "cases": ["second_case", "gone"], "spent_on": "2026-01-31", "reason": "r"}"#;
    let ledger = format!(r#"{{"directed": [], "sealed": [], "spent": [{spent}]}}"#);
    let mut corpus = two();
    Ledger::parse(&ledger).unwrap().apply(&mut corpus).unwrap();
    let found = counts(&judged(&corpus, 1));
    assert_eq!((found.incidents.total, found.others.total), (0, 1));
    assert!(corpus.head().contains("`gone`"), "{}", corpus.head());

    let mut corpus = two();
    corpus.cases[0].spent = Some(true);
    Ledger::default().apply(&mut corpus).unwrap();
    assert!(
        corpus.head().contains("`first_case` is spent without"),
        "{}",
        corpus.head()
    );

    for (from, to) in [("\"r\"", "\" \""), ("2026-01-31", ""), ("spent_on", "when")] {
        assert!(
            Ledger::parse(&ledger.replace(from, to)).is_err(),
            "{from} as {to}"
        );
    }
}

#[test]
fn the_json_has_the_totals_and_what_decided_each_case() {
    let corpus = two();
    let options = options(&["x.json", "--json", "--samples", "3"]);
    let judged = judged(&corpus, options.samples);
    let json = as_json(
        &[(&corpus, judged)],
        "floor_only",
        &options,
        &Ledger::default(),
    );
    assert_eq!(json["samples"], 3);
    assert_eq!(json["totals"][0]["floor_incidents"]["count"], 1);
    assert_eq!(
        json["cases"][0],
        json!({"id": "first_case", "floor": false, "all": false, "by": []})
    );
    assert_eq!(json["cases"][1]["by"][0], "ransomware");
    assert_eq!(json["cases"][1]["floor"], true);
}

#[test]
fn an_even_number_of_samples_and_a_missing_file_are_refused() {
    let root = crate::root();
    let even = run(&options(&["x.json", "--samples", "2"]), &root).unwrap_err();
    assert!(even.to_string().contains("odd"), "{even}");
    let missing = run(&options(&["x.json"]), &root).unwrap_err();
    assert!(missing.is::<Refused>(), "{missing:?}");
    // A list screens nothing, so it needs no classifier.
    let own = root.join("guardrail/corpora/regression.json");
    run(&options(&[own.to_str().unwrap(), "--list"]), &root).unwrap();
}

fn own(name: &str) -> Corpus {
    let root = crate::root();
    let mut corpus = corpus::read(&root.join("guardrail/corpora").join(name)).unwrap();
    Ledger::read(&root.join(LEDGER))
        .unwrap()
        .apply(&mut corpus)
        .unwrap();
    corpus
}

#[test]
fn our_own_corpora_say_that_their_author_saw_the_rules() {
    for name in ["development.json", "regression.json"] {
        let corpus = own(name);
        assert!(corpus.notes.is_empty(), "{name}: {:?}", corpus.notes);
        assert!(
            corpus.head().contains("known leakage: The author"),
            "{name}"
        );
    }
    assert!(own("development.json").cases.len() >= 120);
}

#[test]
fn the_floor_keeps_its_recall_and_precision_on_the_development_set() {
    let corpus = own("development.json");
    let found = counts(&judged(&corpus, 1));
    assert!(
        found.floor_incidents.rate() >= 0.5,
        "{:?}",
        found.floor_incidents
    );
    let precision = precision(found.floor_incidents, found.floor_others);
    assert!(precision.rate() >= 0.95, "{precision:?}");
}

#[test]
fn no_failure_of_the_floor_that_was_mended_comes_back() {
    let corpus = own("regression.json");
    for one in judged(&corpus, 1) {
        assert_eq!(
            one.floor, one.case.expect_refuse,
            "{} {:?}",
            one.case.id, one.by
        );
    }
}

/// One demonstration ticket with its comments and calls, as the floor sees it.
fn demo(file: &str) -> Vec<Value> {
    let path = crate::root().join("demo").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_floor_flags_the_six_demo_incidents_and_no_other_demo_ticket() {
    let (comments, calls) = (demo("comments.jsonl"), demo("calls.jsonl"));
    let mut flagged = Vec::new();
    for ticket in demo("tickets.jsonl") {
        let id = &ticket["external_id"];
        let said = |value: &Value| value.as_str().unwrap().to_owned();
        let mut texts = vec![
            Segment::new(Source::Subject, said(&ticket["subject"])),
            Segment::new(Source::Description, said(&ticket["description"])),
        ];
        for (comment, at) in comments.iter().zip(0..) {
            if &comment["ticket"] == id {
                texts.push(Segment::new(Source::Comment(at), said(&comment["body"])));
            }
        }
        for call in calls.iter().filter(|call| &call["ticket"] == id) {
            let turns = call["turns"].as_array().unwrap().iter();
            let spoken: Vec<String> = turns.map(|turn| said(&turn["text"])).collect();
            texts.push(Segment::new(Source::Transcript, spoken.join("\n")));
        }
        let screened = screen_at_once(Ticket::new(1, 1, "general", texts), none().as_ref());
        if matches!(screened, Screened::Refused(_)) {
            flagged.push(said(id));
        }
    }
    assert_eq!(
        flagged,
        [
            "tick-033", "tick-037", "tick-041", "tick-043", "tick-046", "tick-048"
        ]
    );
}
