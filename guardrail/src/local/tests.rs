//! The compiled model: what it says, how fast it may be asked, and that it is the trained one.

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::*;

fn model() -> &'static Model {
    Model::load()
}

const PHISHED: &str = "Mailbox full\n\nI clicked the link in the mail, typed my password and now the page is blank. \
    The sender wasn't anyone we know.";

#[test]
fn the_compiled_in_model_can_be_read() {
    assert!(model().table.is_some());
}

#[test]
fn a_plain_incident_is_not_clear() {
    let model = model();
    assert_ne!(model.verdict(model.score(PHISHED)), Band::Clear);
}

#[test]
fn nothing_and_a_greeting_are_clear() {
    let model = model();
    for text in [
        "",
        " \n",
        "Hello",
        "The printer in room 4 is out of toner.",
        "?!",
    ] {
        assert_eq!(model.verdict(model.score(text)), Band::Clear, "{text}");
    }
}

#[test]
fn text_the_model_never_saw_is_clear() {
    let model = model();
    for text in [
        "プリンターのトナーがなくなりました。",
        "Принтер на втором этаже не печатает.",
        "qzxv wvvk jjqx zzkw",
    ] {
        assert_eq!(model.verdict(model.score(text)), Band::Clear, "{text}");
    }
}

#[test]
fn an_incident_in_a_long_thread_counts_like_one_alone() {
    let model = model();
    let chatter = "Thanks, the new monitor works and the cable fits. ".repeat(200);
    let thread = format!("{chatter}\n\n{PHISHED}\n\n{chatter}");
    assert!(model.score(&thread) > model.score(&chatter));
    assert_ne!(model.verdict(model.score(&thread)), Band::Clear);
}

#[test]
fn letters_in_disguise_score_like_plain_ones() {
    let model = model();
    let wide: String = PHISHED
        .chars()
        .map(|c| match c {
            '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap(),
            other => other,
        })
        .collect();
    assert!((model.score(&wide) - model.score(PHISHED)).abs() < 1e-5);
}

#[test]
fn evidence_names_words_of_the_text() {
    let spans = model().evidence(PHISHED);
    let words: Vec<&str> = spans.iter().map(|span| &PHISHED[span.clone()]).collect();
    assert!(
        words
            .iter()
            .any(|word| word.contains("password") || word.contains("clicked")),
        "{words:?}"
    );
}

#[test]
fn the_bands_follow_the_thresholds() {
    let model = model();
    let header = model.table.as_ref().unwrap().header();
    assert!(header.hold <= header.refuse && header.refuse <= header.hold_later);
    assert!(model.holds_later(header.hold_later) && !model.holds_later(header.hold_later - 0.01));
    assert!(model.holds_later(f32::NAN));
    assert_eq!(model.verdict(header.hold - 0.01), Band::Clear);
    assert_eq!(model.verdict(header.hold), Band::Hold);
    assert_eq!(model.verdict(header.refuse), Band::Refuse);
    assert_eq!(model.verdict(f32::NAN), Band::Refuse);
}

#[test]
fn a_broken_model_refuses() {
    let model = Model::broken();
    assert_eq!(model.verdict(model.score("hello")), Band::Refuse);
    assert!(model.holds_later(model.score("hello")));
    assert!(model.evidence("hello").is_empty());
}

#[test]
fn a_cut_or_grown_file_is_no_model() {
    for length in [0, 7, 8, 60, COMPILED.len() - 1] {
        assert!(Model::read(&COMPILED[..length]).is_none(), "{length}");
    }
    let mut grown = COMPILED.to_vec();
    grown.push(0);
    assert!(Table::read(&grown).is_none());
}

#[test]
fn one_wrong_bit_anywhere_makes_it_no_model() {
    for at in (0..100).chain((100..COMPILED.len()).step_by(COMPILED.len() / 40)) {
        let mut damaged = COMPILED.to_vec();
        damaged[at] ^= 4;
        assert!(Table::read(&damaged).is_none(), "byte {at}");
    }
}

#[test]
fn the_file_stays_under_its_bound() {
    assert!(COMPILED.len() < 3_000_000);
}

#[test]
fn windows_cover_every_word_and_overlap() {
    for words in [0, 1, 99, 100, 101, 500, 5000] {
        let windows: Vec<_> = windows(words).collect();
        assert_eq!(windows.first().unwrap().start, 0);
        assert_eq!(windows.last().unwrap().end, words);
        for pair in windows.windows(2) {
            assert!(pair[0].end >= (pair[1].start + 60).min(words));
        }
    }
}

proptest! {
    #[test]
    fn any_text_gets_a_finite_score_and_evidence_inside_it(text in ".{0,400}") {
        let model = model();
        prop_assert!(model.score(&text).is_finite());
        for span in model.evidence(&text) {
            prop_assert!(text.get(span.clone()).is_some_and(|words| !words.is_empty()), "{span:?}");
        }
    }

    #[test]
    fn any_bytes_read_as_a_file_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut file = b"deskloc2".to_vec();
        file.extend(Sha256::digest(&bytes));
        file.extend(bytes);
        prop_assert!(Table::read(&file).is_none_or(|table| table.header().digest.len() == 32));
    }
}
