//! What a classifier at the wall can do, and what it can't: add a refusal, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::{GuardedWrite, NewComment, Origin, Publication, TicketId};
use guardrail::classifier::{Answer, ClassifierDown, Decision, Quote, Verdict};
use guardrail::{Segment, Source};

use super::*;
use crate::guard::tests::file_on;
use crate::ops::demo::seed;
use crate::ops::tests::TestDesk;
use crate::{Caller, ConfirmationMode, Desk, DeskError, ErrorCode, Guard, Policy, Proposal, valid};

/// Says one thing about every ticket, or nothing at all.
#[derive(Debug)]
struct Scripted {
    answer: Option<Result<Verdict, ClassifierDown>>,
    asked: Arc<AtomicUsize>,
}

impl Classifier for Scripted {
    fn mode(&self) -> Mode {
        Mode::Remote
    }

    fn version(&self) -> String {
        "scripted".to_owned()
    }

    fn judge<'a>(&'a self, _texts: &'a [Segment]) -> Answer<'a> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match self.answer.clone() {
            Some(answer) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::pending()),
        }
    }
}

/// A desk behind a scripted classifier.
struct Behind {
    test: TestDesk,
    desk: Desk,
    asked: Arc<AtomicUsize>,
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn guarded() -> Guard {
    let policy = Policy::new(ConfirmationMode::Standard);
    Guard::from_keys(testkit::KEY_FILE, policy).unwrap()
}

fn over(test: &TestDesk, wall: Wall) -> Desk {
    let store = Arc::clone(&test.desk.store);
    let (clock, ids) = (Arc::clone(&test.desk.clock), Arc::clone(&test.desk.ids));
    Desk::new(WalledStore { store, wall }, clock, ids, guarded())
}

fn behind(answer: Option<Result<Verdict, ClassifierDown>>) -> Behind {
    let test = TestDesk::new();
    run(seed(&test.desk, &test.caller)).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let classifier = Scripted {
        answer,
        asked: Arc::clone(&asked),
    };
    let wall = Wall {
        deadline: Duration::from_millis(20),
        ..Wall::behind(Arc::new(classifier))
    };
    let desk = over(&test, wall);
    Behind { test, desk, asked }
}

impl Behind {
    fn caller(&self) -> &Caller {
        &self.test.caller
    }

    fn file(&self, subject: &str, description: &str) -> domain::Ticket {
        file_on(&self.desk, self.caller(), subject, description)
    }

    fn draft(&self, id: TicketId) -> Result<crate::Draft, DeskError> {
        run(self.desk.draft_response(self.caller(), id))
    }

    fn publish(&self, id: TicketId, body: &str) -> Result<crate::Proposed, DeskError> {
        publish(&self.desk, self.caller(), id, body)
    }
}

fn publish(
    desk: &Desk,
    caller: &Caller,
    ticket: TicketId,
    body: &str,
) -> Result<crate::Proposed, DeskError> {
    let body = body.to_owned();
    let write = GuardedWrite::PublishComment {
        ticket,
        publication: Publication { body },
    };
    let proposal = Proposal {
        write: valid(write).unwrap(),
        if_version: None,
        key: None,
        asks_person: false,
    };
    run(desk.propose(caller, proposal))
}

fn quoting(decision: Decision, words: &str) -> Verdict {
    let quote = Quote {
        source: Source::Subject,
        text: words.to_owned(),
    };
    Verdict {
        decision: Some(decision),
        quotes: vec![quote],
    }
}

const RANSOM: &str =
    "All files on my desktop were renamed and there is a ransom note that demands bitcoin.";

#[test]
fn one_that_gives_no_usable_answer_refuses_draft_and_public_comment_with_its_own_code() {
    let undecided = Verdict {
        decision: None,
        quotes: Vec::new(),
    };
    for (answer, indicator) in [
        (
            Some(Err(ClassifierDown::Unavailable)),
            "classifier_unavailable",
        ),
        (Some(Err(ClassifierDown::Malformed)), "classifier_malformed"),
        (None, "classifier_timed_out"),
        (Some(Ok(undecided)), "classifier_undecided"),
        (
            Some(Ok(quoting(Decision::Clear, "printer"))),
            "classifier_contradiction",
        ),
        (
            Some(Ok(quoting(Decision::Refuse, "never written"))),
            "classifier_quote_not_in_text",
        ),
    ] {
        let wall = behind(answer);
        let filed = wall.file("printer", "The printer is offline.");
        let refused = [
            wall.draft(filed.id).unwrap_err(),
            wall.publish(filed.id, "Please restart it.").unwrap_err(),
        ];
        for error in refused {
            assert_eq!(
                error.code(),
                ErrorCode::ClassifierUnavailable,
                "{indicator}"
            );
            let DeskError::Screened(refusal) = &error else {
                panic!("{indicator}: {error:?}");
            };
            assert_eq!(refusal.indicators[0].id, indicator);
            assert_eq!(refusal.screening.mode, Mode::Remote);
        }
        let log = run(wall
            .desk
            .list_audit_entries(wall.caller(), crate::AuditList::default()))
        .unwrap();
        for row in &log.rows[..2] {
            assert_eq!(row.code.as_deref(), Some("CLASSIFIER_UNAVAILABLE"));
        }
    }
}

#[test]
fn one_that_always_clears_clears_nothing_that_the_floor_refuses() {
    let wall = behind(Some(Ok(Verdict::of(Decision::Clear))));
    let incident = wall.file("Strange note", RANSOM);
    let code = |error: DeskError| error.code();
    let refused = Some(ErrorCode::SecurityEscalationRequired);
    assert_eq!(wall.draft(incident.id).err().map(code), refused);
    let published = wall.publish(incident.id, "All is well.");
    assert_eq!(published.err().map(code), refused);
    assert_eq!(wall.asked.load(Ordering::Relaxed), 0);

    let plain = wall.file("printer", "The printer is offline.");
    wall.draft(plain.id).unwrap();
    wall.publish(plain.id, "Please restart it.").unwrap();
    // The words to be published are screened with the ticket, and flag it nowhere.
    let published = wall.publish(plain.id, RANSOM);
    assert_eq!(published.err().map(code), refused);
    let now = run(wall.desk.get_ticket(wall.caller(), plain.id)).unwrap();
    assert_eq!(now.security_flag, SecurityFlag::None);
}

#[test]
fn its_refusal_holds_for_draft_and_public_comment() {
    for (decision, code) in [
        (Decision::Refuse, ErrorCode::SecurityEscalationRequired),
        (Decision::Hold, ErrorCode::HeldForReview),
    ] {
        let wall = behind(Some(Ok(quoting(decision, "printer"))));
        let filed = wall.file("printer", "The printer is offline.");
        assert_eq!(wall.draft(filed.id).unwrap_err().code(), code);
        let refused = wall.publish(filed.id, "Please restart it.").unwrap_err();
        assert_eq!(refused.code(), code);
    }
}

#[test]
fn it_is_not_asked_while_something_is_written() {
    let wall = behind(Some(Err(ClassifierDown::Unavailable)));
    let filed = wall.file("printer", "The printer is offline.");
    let told = NewComment {
        body: "It is still offline.".to_owned(),
        origin: Origin::Customer,
    };
    let told = valid(told).unwrap();
    run(wall.desk.add_comment(wall.caller(), filed.id, None, told)).unwrap();
    let incident = wall.file("Strange note", RANSOM);
    assert_eq!(filed.security_flag, SecurityFlag::None);
    assert_eq!(incident.security_flag, SecurityFlag::Incident);
    assert_eq!(wall.asked.load(Ordering::Relaxed), 0);
}

/// Writes on the ticket while it judges it, as somebody else could, and clears it.
struct Meddler {
    desk: Desk,
    caller: Caller,
    ticket: TicketId,
}

impl std::fmt::Debug for Meddler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meddler")
    }
}

impl Classifier for Meddler {
    fn mode(&self) -> Mode {
        Mode::Remote
    }

    fn version(&self) -> String {
        "meddler".to_owned()
    }

    fn judge<'a>(&'a self, _texts: &'a [Segment]) -> Answer<'a> {
        Box::pin(async {
            let told = NewComment {
                body: "One more thing.".to_owned(),
                origin: Origin::Customer,
            };
            let told = valid(told).unwrap();
            self.desk
                .add_comment(&self.caller, self.ticket, None, told)
                .await
                .unwrap();
            Ok(Verdict::of(Decision::Clear))
        })
    }
}

#[test]
fn what_is_written_while_it_judges_makes_its_clearance_void() {
    let wall = behind(Some(Ok(Verdict::of(Decision::Clear))));
    let filed = wall.file("printer", "The printer is offline.");
    let meddler = Meddler {
        desk: over(&wall.test, Wall::local()),
        caller: wall.caller().clone(),
        ticket: filed.id,
    };
    let desk = over(&wall.test, Wall::behind(Arc::new(meddler)));
    let refused = publish(&desk, wall.caller(), filed.id, "Please restart it.").unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Stale);
    // A draft says which version it answers, and that is not the one of now.
    let draft = run(desk.draft_response(wall.caller(), filed.id)).unwrap();
    let now = run(wall.desk.get_ticket(wall.caller(), filed.id)).unwrap();
    assert!(draft.version < now.version.number());
}
