//! A model file is checked when it is read; a ticket is judged by its worst piece and quoted exactly.

use super::*;
use crate::classifier;

fn judged(texts: &[Segment]) -> Verdict {
    judge(model().unwrap(), texts)
}

const INCIDENT: &str = "A man from Microsoft phoned and I let him connect to my computer with AnyDesk. He asked for my card number \
                        and I gave it to him, now there is a charge I don't know.";
const ORDINARY: &str = "The printer on floor two leaves grey lines on each page. The toner is new.";

#[test]
fn a_broken_model_file_is_noticed_wherever_it_breaks() {
    assert!(Model::read(MODEL).is_ok());
    for length in (0..MODEL.len()).step_by(MODEL.len() / 50 + 1) {
        assert!(Model::read(&MODEL[..length]).is_err(), "{length}");
    }
    for at in [0, 8, 12] {
        let mut bytes = MODEL.to_vec();
        bytes[at..at + 4].copy_from_slice(&f32::NAN.to_bits().to_le_bytes());
        assert!(Model::read(Box::leak(bytes.into_boxed_slice())).is_err(), "{at}");
    }
}

#[test]
fn an_incident_among_many_ordinary_comments_is_still_seen() {
    let mut texts = vec![Segment::new(Source::Subject, "Printer"), Segment::new(Source::Description, ORDINARY)];
    for id in 0..30 {
        texts.push(Segment::new(Source::Comment(id), ORDINARY));
    }
    assert_eq!(judged(&texts).decision, Some(Decision::Clear));
    texts.insert(9, Segment::new(Source::Comment(99), INCIDENT));
    let verdict = judged(&texts);
    assert_ne!(verdict.decision, Some(Decision::Clear));
    let quote = &verdict.quotes[0];
    assert_eq!(quote.source, Source::Comment(99));
    assert!(INCIDENT.contains(&quote.text));
}

#[test]
fn a_long_text_is_judged_in_pieces() {
    let long = format!("{} {INCIDENT} {}", ORDINARY.repeat(60), ORDINARY.repeat(60));
    assert_ne!(judged(&[Segment::new(Source::Transcript, long)]).decision, Some(Decision::Clear));
}

#[test]
fn names_and_empty_texts_say_nothing() {
    for text in ["", " ", "Anna Bergström", "?!", "🙂🙂🙂"] {
        let verdict = judged(&[Segment::new(Source::CustomerName, text)]);
        assert_eq!(verdict, Verdict::of(Decision::Clear), "{text}");
    }
    assert_eq!(judged(&[]), Verdict::of(Decision::Clear));
}

#[test]
fn a_verdict_of_the_local_classifier_passes_its_own_check() {
    for text in [INCIDENT, ORDINARY, "My pa\u{200b}sswörd was given to a cáller on the phone, he hacked 𝐦𝐲 account"] {
        let texts = [Segment::new(Source::Description, text)];
        assert!(classifier::check(Ok(judged(&texts)), &texts).is_ok(), "{text}");
    }
}

#[test]
fn the_kinds_of_the_local_classifier_are_named() {
    let local = classifier();
    assert_eq!(local.mode(), Mode::Local);
    assert!(local.version().starts_with("local "));
}
