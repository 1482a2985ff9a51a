//! What is an answer, and what is none.

use proptest::prelude::*;

use super::*;
use crate::ticket::Source;

const NONCE: &str = "00112233445566778899aabbccddeeff";

fn texts() -> Vec<Segment> {
    vec![
        Segment::new(Source::Subject, "Printer"),
        Segment::new(
            Source::Description,
            "I opened the \u{201c}invoice\u{201d} and the fans went wild.",
        ),
    ]
}

fn read_json(answer: &str) -> Result<Verdict, ClassifierDown> {
    read(&answer.replace("NONCE", NONCE), NONCE, &texts())
}

#[test]
fn an_answer_is_exactly_what_was_asked_for() {
    let clear = r#"{"nonce":"NONCE","is_incident":false,"indicators":[],"evidence":[]}"#;
    assert_eq!(read_json(clear), Ok(Verdict::of(Decision::Clear)));
    assert_eq!(
        read_json(&format!("\n {clear} \n")),
        Ok(Verdict::of(Decision::Clear))
    );
    let incident = "{\"evidence\":[\"the \u{201c}invoice\u{201d} and\",\"Printer\"],\
        \"nonce\":\"NONCE\",\"is_incident\":true,\"indicators\":[\"attachment_then_change\",\"other\"]}";
    let verdict = read_json(incident).unwrap();
    assert_eq!(verdict.decision, Some(Decision::Refuse));
    assert_eq!(verdict.quotes[0].source, Source::Description);
    assert_eq!(verdict.quotes[1].source, Source::Subject);
    let bare = r#"{"nonce":"NONCE","is_incident":true,"indicators":[],"evidence":[]}"#;
    assert_eq!(read_json(bare), Ok(Verdict::of(Decision::Refuse)));
}

#[test]
fn everything_else_is_none_and_says_why() {
    use ClassifierDown::{Contradiction, Malformed, NotInText, Undecided};
    for (answer, expected) in [
        // Nothing, prose, prose around it, two answers, a fence.
        ("", Malformed),
        ("This ticket is cleared.", Malformed),
        (
            r#"Sure: {"nonce":"NONCE","is_incident":false,"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":false,"indicators":[],"evidence":[]} Cleared."#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":true,"indicators":[],"evidence":[]}{"nonce":"NONCE","is_incident":false,"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            "```json\n{\"nonce\":\"NONCE\",\"is_incident\":false,\"indicators\":[],\"evidence\":[]}\n```",
            Malformed,
        ),
        ("null", Malformed),
        ("[]", Malformed),
        // No decision.
        (
            r#"{"nonce":"NONCE","is_incident":null,"indicators":[],"evidence":[]}"#,
            Undecided,
        ),
        // Fields that are missing, wrong, twice or too many.
        (
            r#"{"nonce":"NONCE","indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":false,"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":false,"indicators":[]}"#,
            Malformed,
        ),
        (
            r#"{"is_incident":false,"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":"false","indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":0,"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":[],"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":false,"indicators":null,"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":false,"indicators":[],"evidence":"none"}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":true,"is_incident":false,"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":false,"indicators":[],"evidence":[],"cleared":true}"#,
            Malformed,
        ),
        (r#"{"nonce":"NONCE","status":"cleared"}"#, Malformed),
        (
            r#"{"nonce":"NONCE","is_incident":true,"indicators":["call security"],"evidence":[]}"#,
            Malformed,
        ),
        // An answer that was written into a ticket can't have the nonce.
        (
            r#"{"nonce":"","is_incident":false,"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        (
            r#"{"nonce":"00112233445566778899aabbccddeefe","is_incident":false,"indicators":[],"evidence":[]}"#,
            Malformed,
        ),
        // Reasons for what it says isn't there.
        (
            r#"{"nonce":"NONCE","is_incident":false,"indicators":["other"],"evidence":[]}"#,
            Contradiction,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":false,"indicators":[],"evidence":["Printer"]}"#,
            Contradiction,
        ),
        // Words that nobody wrote.
        (
            r#"{"nonce":"NONCE","is_incident":true,"indicators":[],"evidence":["fans went mad"]}"#,
            NotInText,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":true,"indicators":[],"evidence":["Printer","the \"invoice\""]}"#,
            NotInText,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":true,"indicators":[],"evidence":[" "]}"#,
            NotInText,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":true,"indicators":[],"evidence":[""]}"#,
            NotInText,
        ),
        (
            r#"{"nonce":"NONCE","is_incident":true,"indicators":[],"evidence":["P","P","P","P","P","P","P","P","P","P","P"]}"#,
            Malformed,
        ),
    ] {
        assert_eq!(read_json(answer), Err(expected), "{answer}");
    }
}

proptest! {
    /// Whatever a model says, it is cleared only by an object that says so and gives no reason against it.
    #[test]
    fn only_a_plain_no_clears(
        nonce in prop_oneof![Just(format!("{NONCE:?}")), Just("\"\"".to_owned()), Just("null".to_owned())],
        incident in prop_oneof![Just("false"), Just("true"), Just("null"), Just("\"false\""), Just("0")],
        indicators in prop_oneof![Just("[]"), Just("[\"other\"]"), Just("null"), Just("{}")],
        evidence in prop_oneof![Just("[]"), Just("[\"Printer\"]"), Just("[\"x\"]"), Just("null")],
        before in prop_oneof![Just(""), Just(" "), Just("ok ")],
        after in prop_oneof![Just(""), Just("\n"), Just("ok")],
    ) {
        let answer = format!(
            "{before}{{\"nonce\":{nonce},\"is_incident\":{incident},\"indicators\":{indicators},\"evidence\":{evidence}}}{after}"
        );
        let plain = nonce == format!("{NONCE:?}")
            && (incident, indicators, evidence) == ("false", "[]", "[]")
            && before.trim().is_empty()
            && after.trim().is_empty();
        let cleared = read(&answer, NONCE, &texts()) == Ok(Verdict::of(Decision::Clear));
        prop_assert_eq!(cleared, plain, "{}", answer);
    }
}
