//! Erasing a person: nothing that they said is left, and the log says so (promise S-6).

use std::sync::Arc;

use domain::{
    Action, CustomerId, EntityKind, GuardedWrite, OpenWrite, SecurityFlag, Speaker, TicketId,
    TicketPatch, Turn,
};
use storage::import::{ImportCall, ImportCsat, ImportRecord, OnError};
use storage::{Erased, Once, Record, RecordVectors, Storage, StoreError};

use crate::gate::preview;
use crate::import::{call, comment, csat, import, import_customer, ticket};
use crate::support::{Place, act, audit_rows, err, first, new_comment, ok, terms, valid};

on_every_engine!(
    nothing_that_they_said_is_left_and_others_lose_nothing,
    while_a_ticket_of_theirs_is_an_incident_they_stay,
    a_stranger_is_not_found_and_nobody_is_erased_twice,
);

/// A word that only one person says.
const CANARY: &str = "zebrafish";

/// One customer with a ticket, a comment, two calls and two scores, all saying the same word.
fn records(who: &str, word: &str) -> Vec<ImportRecord> {
    let email = format!("{word}-{who}@example.com");
    let (id, about, heard) = (
        format!("c-{who}"),
        format!("t-{who}"),
        format!("call-{who}"),
    );
    let turns = vec![Turn {
        speaker: Speaker::Caller,
        at_seconds: 0,
        text: format!("It is the {word}."),
    }];
    let mut filed = ticket(&about, &id);
    filed.subject = format!("The {word} again");
    filed.description = format!("I have lost the {word}.");
    let mut said = comment(&format!("m-{who}"), &about);
    said.body = format!("We look for the {word}.");
    let own = ImportCall {
        customer: Some(id.clone()),
        turns: turns.clone(),
        ..call(&heard)
    };
    let unnamed = ImportCall {
        ticket: Some(about),
        turns,
        ..call(&format!("{heard}-2"))
    };
    let scored = ImportCsat {
        comment: Some(format!("Nobody found the {word}.")),
        ..csat(&format!("s-{who}"), &heard)
    };
    vec![
        ImportRecord::Customer(import_customer(Some(&id), &email)),
        ImportRecord::Ticket(filed),
        ImportRecord::Comment(said),
        ImportRecord::Call(own),
        ImportRecord::Call(unnamed),
        ImportRecord::Csat(scored),
    ]
}

fn filled(place: &Place) -> Arc<dyn Storage> {
    let store = place.open();
    let mut both = records("ada", CANARY);
    both.extend(records("bob", "goldfish"));
    let report = import(&store, both, OnError::Abort);
    assert_eq!(report.created, 12);
    store
}

const ADA: CustomerId = CustomerId::new(1);
const BOB: CustomerId = CustomerId::new(2);

fn nothing_that_they_said_is_left_and_others_lose_nothing(place: &Place) {
    let store = filled(place);
    let patch = TicketPatch {
        description: Some(format!("The {CANARY} is found.")),
        ..TicketPatch::default()
    };
    let update = GuardedWrite::UpdateTicket {
        ticket: TicketId::new(1),
        patch,
    };
    preview(&store, 20, &update);
    let said = OpenWrite::AddComment {
        ticket: TicketId::new(1),
        comment: new_comment(&format!("The {CANARY}.")),
    };
    let once = Once {
        key: "k".to_owned(),
        if_version: None,
        answer: Box::new(|_| format!("{{\"ticket_id\":\"T-1\",\"body\":\"The {CANARY}.\"}}")),
    };
    ok(store.write_once(act(21), valid(said), once));
    let meant = |record| RecordVectors {
        record,
        version: 1,
        windows: vec![7],
    };
    let model = || "model".to_owned();
    let all = (1..=4).map(meant).collect();
    assert_eq!(ok(store.keep_vectors(Record::Call, model(), all)), 4);
    let before = audit_rows(&store).len();
    let erased = ok(store.erase_customer(act(22), ADA));
    let left = ok(store.list_vectors(Record::Call, model(), 0, 9));
    assert_eq!(left, [meant(3), meant(4)]);
    let expected = Erased {
        tickets: 1,
        comments: 2,
        calls: 2,
        scores: 1,
        confirmations: 1,
        answers: 1,
    };
    assert_eq!(erased, expected);
    assert!(matches!(
        err(store.get_customer(ADA)),
        StoreError::NotFound { .. }
    ));
    assert!(matches!(
        err(store.get_ticket(TicketId::new(1))),
        StoreError::NotFound { .. }
    ));
    let search = |word| {
        let found =
            ok(store.search_tickets(terms(word), domain::TicketFilter::default(), first(9)));
        found.page.rows.len()
    };
    assert_eq!((search(CANARY), search("goldfish")), (0, 1));
    assert!(ok(store.get_customer(BOB)).email.contains("goldfish"));
    for id in [3, 4] {
        assert_eq!(ok(store.get_call(domain::CallId::new(id))).turns.len(), 1);
    }
    let log = audit_rows(&store);
    assert_eq!(log.len(), before + 1);
    let tombstone = log.last().unwrap();
    assert_eq!(tombstone.action, Action::EraseCustomer);
    assert_eq!(
        (tombstone.entity, tombstone.entity_id),
        (EntityKind::Customer, Some(ADA.number()))
    );
    assert!(
        tombstone
            .facts
            .contains(&("tickets".to_owned(), "1".to_owned()))
    );
    let report = ok(store.verify_audit(Vec::new()));
    assert_eq!(report.flaw, None);
    // The same export comes again, and the other system's ids are still known.
    assert_eq!(
        import(&store, records("ada", CANARY), OnError::Abort).created,
        0
    );
    ok(store.close());
    drop(store);
    place.assert_nowhere(CANARY);
}

fn while_a_ticket_of_theirs_is_an_incident_they_stay(place: &Place) {
    let store = filled(place);
    let why = valid(new_comment("Somebody else has their password."));
    ok(store.escalate_to_security(act(20), TicketId::new(1), None, why));
    assert!(matches!(
        err(store.erase_customer(act(21), ADA)),
        StoreError::Flagged {
            flag: SecurityFlag::Incident,
            ..
        }
    ));
    ok(store.get_customer(ADA));
    assert_eq!(ok(store.erase_customer(act(22), BOB)).tickets, 1);
}

fn a_stranger_is_not_found_and_nobody_is_erased_twice(place: &Place) {
    let store = filled(place);
    assert!(matches!(
        err(store.erase_customer(act(20), CustomerId::new(9))),
        StoreError::NotFound { id: 9, .. }
    ));
    ok(store.erase_customer(act(21), BOB));
    assert!(matches!(
        err(store.erase_customer(act(22), BOB)),
        StoreError::NotFound { .. }
    ));
}
