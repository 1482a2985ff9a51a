//! The order of the steps, what each may and may not do, and what the proofs carry.

use std::future::{pending, ready};

use super::*;
use crate::classifier::{Answer, Quote, Verdict, none, unusable};
use crate::ticket::{PaymentVerification, Review};

const INCIDENT: &str =
    "All files on the share were renamed overnight and there is a ransom note in every folder.";
const ORDINARY: &str =
    "The printer on floor two leaves grey lines on each page. Could you send a new drum?";

/// A classifier that always answers the same and counts how often it was asked.
#[derive(Debug, Default)]
struct Scripted {
    answer: Option<Result<Verdict, ClassifierDown>>,
    asked: std::sync::atomic::AtomicUsize,
    saw: std::sync::Mutex<Vec<Segment>>,
}

impl Scripted {
    fn says(answer: Result<Verdict, ClassifierDown>) -> Self {
        Self {
            answer: Some(answer),
            ..Self::default()
        }
    }

    fn decides(decision: Decision) -> Self {
        Self::says(Ok(Verdict::of(decision)))
    }

    fn quotes(decision: Decision, text: &str) -> Self {
        let quotes = vec![Quote {
            source: Source::Description,
            text: text.to_owned(),
        }];
        Self::says(Ok(Verdict {
            decision: Some(decision),
            quotes,
        }))
    }

    fn asked(&self) -> usize {
        self.asked.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Classifier for Scripted {
    fn mode(&self) -> Mode {
        Mode::Remote
    }

    fn version(&self) -> String {
        "scripted".to_owned()
    }

    fn judge<'a>(&'a self, texts: &'a [Segment]) -> Answer<'a> {
        self.asked
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.saw.lock().unwrap().extend(texts.iter().cloned());
        match &self.answer {
            Some(answer) => Box::pin(ready(answer.clone())),
            None => Box::pin(pending()),
        }
    }
}

fn run(
    ticket: Ticket,
    classifier: &dyn Classifier,
    deadline: impl Future<Output = ()>,
) -> Screened {
    let mut screening = pin!(screen(ticket, classifier, deadline));
    match screening
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(screened) => screened,
        Poll::Pending => panic!("nothing here waits"),
    }
}

fn ticket(text: &str) -> Ticket {
    Ticket::new(
        7,
        3,
        "hardware",
        vec![Segment::new(Source::Description, text)],
    )
}

#[track_caller]
fn refused(screened: Screened) -> Refusal {
    match screened {
        Screened::Refused(refusal) => refusal,
        Screened::Cleared(cleared) => panic!("cleared: {cleared:?}"),
    }
}

#[track_caller]
fn cleared(screened: Screened) -> Cleared {
    match screened {
        Screened::Cleared(cleared) => cleared,
        Screened::Refused(refusal) => panic!("refused: {refusal:?}"),
    }
}

fn ids(refusal: &Refusal) -> Vec<&'static str> {
    refusal
        .indicators
        .iter()
        .map(|indicator| indicator.id)
        .collect()
}

#[test]
fn a_classifier_that_always_clears_cannot_clear_what_the_floor_or_the_label_refused() {
    let classifier = Scripted::decides(Decision::Clear);
    let refusal = refused(run(ticket(INCIDENT), &classifier, pending()));
    assert_eq!(refusal.kind, RefusalKind::Incident);
    assert_eq!(refusal.screening.stage, Stage::Floor);
    for category in ["security", " Security ", "SECURITY"] {
        let filed = Ticket {
            category: category.to_owned(),
            ..ticket(ORDINARY)
        };
        let refusal = refused(run(filed, &classifier, pending()));
        assert_eq!(refusal.screening.stage, Stage::Label);
        assert_eq!(refusal.filed_category, category);
    }
    assert_eq!(classifier.asked(), 0);
}

#[test]
fn the_floor_runs_even_where_the_label_has_decided() {
    let filed = Ticket {
        category: "security".to_owned(),
        ..ticket(INCIDENT)
    };
    let refusal = refused(run(filed, &*none(), pending()));
    assert_eq!(ids(&refusal), ["filed_as_security", "ransomware"]);
    assert!(!refusal.indicators[1].evidence.is_empty());
}

#[test]
fn a_classifier_without_a_usable_answer_refuses_with_its_own_reason() {
    let cases = [
        (
            Scripted::says(Err(ClassifierDown::Unavailable)),
            "classifier_unavailable",
        ),
        (
            Scripted::says(Err(ClassifierDown::Malformed)),
            "classifier_malformed",
        ),
        (
            Scripted::says(Ok(Verdict {
                decision: None,
                quotes: Vec::new(),
            })),
            "classifier_undecided",
        ),
        (
            Scripted::quotes(Decision::Clear, "grey lines"),
            "classifier_contradiction",
        ),
        (
            Scripted::quotes(Decision::Refuse, "black lines"),
            "classifier_quote_not_in_text",
        ),
        (
            Scripted::quotes(Decision::Refuse, " "),
            "classifier_quote_not_in_text",
        ),
        (Scripted::default(), "classifier_timed_out"),
    ];
    for (classifier, reason) in cases {
        let refusal = refused(screen_at_once(ticket(ORDINARY), &classifier));
        assert_eq!(refusal.kind, RefusalKind::ClassifierUnavailable);
        assert_eq!(refusal.screening.stage, Stage::Classifier);
        assert_eq!(ids(&refusal), [reason]);
    }
}

#[test]
fn a_classifier_that_is_configured_and_unusable_never_becomes_the_floor_alone() {
    for mode in [Mode::Local, Mode::Remote] {
        let refusal = refused(run(ticket(ORDINARY), &*unusable(mode), pending()));
        assert_eq!(refusal.kind, RefusalKind::ClassifierUnavailable);
        assert_eq!(refusal.screening.mode, mode);
    }
}

#[test]
fn without_a_classifier_the_clearance_says_that_it_is_weaker() {
    let cleared = cleared(run(ticket(ORDINARY), &*none(), pending()));
    assert_eq!(cleared.screening().mode.as_str(), "floor_only");
    assert_eq!(cleared.screening().stage.as_str(), "floor");
}

#[test]
fn the_two_bands_are_a_hold_and_an_incident() {
    let held = refused(run(
        ticket(ORDINARY),
        &Scripted::decides(Decision::Hold),
        pending(),
    ));
    assert_eq!(
        (held.kind, ids(&held)),
        (RefusalKind::Held, vec!["classifier_hold"])
    );
    let refusal = refused(run(
        ticket(ORDINARY),
        &Scripted::quotes(Decision::Refuse, "grey lines"),
        pending(),
    ));
    assert_eq!(refusal.kind, RefusalKind::Incident);
    let evidence = &refusal.indicators[0].evidence[0];
    assert_eq!(&ORDINARY[evidence.start..evidence.end], "grey lines");
}

#[test]
fn flagged_words_in_any_text_refuse_the_ticket() {
    for source in [
        Source::Subject,
        Source::Description,
        Source::Comment(12),
        Source::CustomerName,
        Source::Organisation,
        Source::Transcript,
    ] {
        let mut flagged = ticket(ORDINARY);
        flagged.texts.push(Segment::new(source, INCIDENT));
        let refusal = refused(run(flagged.clone(), &*none(), pending()));
        let evidence = &refusal.indicators[0].evidence;
        assert!(
            evidence.iter().any(|found| found.source == source),
            "{evidence:?}"
        );
        for found in evidence {
            let quoted = |text: &&Segment| {
                text.source == found.source
                    && text.text.get(found.start..found.end) == Some(found.text.as_str())
            };
            assert!(flagged.texts.iter().any(|text| quoted(&text)), "{found:?}");
        }
    }
}

#[test]
fn a_flag_stays_until_a_person_lifts_it_for_this_very_version() {
    let flagged = |flag, review| Ticket {
        flag,
        review,
        ..ticket(ORDINARY)
    };
    let review = |version, lifts| Some(Review { version, lifts });
    for (flag, review, lifted) in [
        (Flag::Held, None, false),
        (Flag::Incident, None, false),
        (Flag::Held, review(3, Lifts::Hold), true),
        (Flag::Held, review(2, Lifts::Hold), false),
        (Flag::Incident, review(3, Lifts::Hold), false),
        (Flag::Incident, review(3, Lifts::Incident), true),
        (Flag::Incident, review(4, Lifts::Incident), false),
    ] {
        let screened = run(
            flagged(flag, review),
            &Scripted::decides(Decision::Clear),
            pending(),
        );
        assert_eq!(
            matches!(screened, Screened::Cleared(_)),
            lifted,
            "{flag:?} {review:?}"
        );
    }
}

#[test]
fn a_review_of_a_hold_lifts_the_classifier_and_never_the_floor() {
    let reviewed = |text, lifts| Ticket {
        review: Some(Review { version: 3, lifts }),
        ..ticket(text)
    };
    let classifier = Scripted::decides(Decision::Hold);
    let lifted = cleared(run(reviewed(ORDINARY, Lifts::Hold), &classifier, pending()));
    assert_eq!(lifted.screening().stage, Stage::Review);
    refused(run(reviewed(INCIDENT, Lifts::Hold), &classifier, pending()));
    cleared(run(
        reviewed(INCIDENT, Lifts::Incident),
        &classifier,
        pending(),
    ));
}

#[test]
fn a_payment_change_passes_only_with_a_complete_verification_of_this_ticket() {
    let text = "Our supplier Brandt wrote that they have new bank details. I rang Ines on the number on file and she \
                confirmed it. Please update their bank details in the ERP.";
    let verification = |ticket_id, approver: &str| {
        Some(PaymentVerification {
            ticket_id,
            channel: "phone number in the contract".to_owned(),
            confirmer: "Ines Brandt".to_owned(),
            approver: approver.to_owned(),
        })
    };
    for (payment, passes) in [
        (None, false),
        (verification(7, " "), false),
        (verification(8, "Head of finance"), false),
        (verification(7, "Head of finance"), true),
    ] {
        let asked = Ticket {
            payment,
            ..ticket(text)
        };
        let screened = run(asked, &Scripted::decides(Decision::Clear), pending());
        assert_eq!(matches!(screened, Screened::Cleared(_)), passes);
    }
}

#[test]
fn a_verification_answers_for_the_payment_and_for_nothing_else() {
    let text = "Our supplier Brandt has new bank details, please update their bank details. The lamp in room two hums.";
    let asked = |text: &str| Ticket {
        payment: Some(PaymentVerification {
            ticket_id: 7,
            channel: "phone on file".to_owned(),
            confirmer: "Ines".to_owned(),
            approver: "Head of finance".to_owned(),
        }),
        ..ticket(text)
    };
    let classifier = Scripted::decides(Decision::Clear);
    cleared(run(asked(text), &classifier, pending()));
    let saw = classifier.saw.lock().unwrap().clone();
    assert!(saw[0].text.contains("The lamp in room two hums"));
    assert!(!saw[0].text.contains("bank"));
    refused(run(
        asked(&format!("{text} {INCIDENT}")),
        &classifier,
        pending(),
    ));
    let pressed = "Our supplier wrote that they have new bank details, please change their bank details. It is urgent.";
    refused(run(asked(pressed), &classifier, pending()));
}

#[test]
fn text_over_the_bound_is_refused_unread_and_says_so() {
    let half = "lorem ipsum ".repeat(LONGEST_INPUT / 24 + 1);
    let mut long = ticket(&half);
    long.texts.push(Segment::new(Source::Comment(1), half));
    let refusal = refused(run(long, &Scripted::decides(Decision::Clear), pending()));
    assert_eq!(ids(&refusal), ["input_too_long"]);
    assert_eq!(refusal.kind, RefusalKind::Held);
}

#[test]
fn the_digest_changes_with_whatever_was_decided_on() {
    let digest = |ticket: Ticket, classifier: &dyn Classifier| {
        cleared(run(ticket, classifier, pending())).digest()
    };
    let base = digest(ticket(ORDINARY), &*none());
    assert_eq!(base, digest(ticket(ORDINARY), &*none()));
    let others = [
        digest(
            Ticket {
                version: 4,
                ..ticket(ORDINARY)
            },
            &*none(),
        ),
        digest(
            Ticket {
                id: 8,
                ..ticket(ORDINARY)
            },
            &*none(),
        ),
        digest(ticket("The printer on floor two leaves lines."), &*none()),
        digest(ticket(ORDINARY), &Scripted::decides(Decision::Clear)),
        refused(run(ticket(ORDINARY), &*unusable(Mode::Remote), pending())).digest(),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(base, *other, "{at}");
    }
}

#[test]
fn a_proof_carries_the_text_and_version_it_was_made_for() {
    let cleared = cleared(run(ticket(ORDINARY), &*none(), pending()));
    assert_eq!((cleared.ticket_id(), cleared.version()), (7, 3));
    assert_eq!(cleared.texts()[0].text, ORDINARY);
}
