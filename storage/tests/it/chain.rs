//! The audit log's chain: whatever somebody with the database and without the keys does to it is found, and the first bad row named
//! (promises ).

mod bits;
mod keys;

use std::sync::Arc;

use domain::{
    AccessToken, Action, AuditRecord, CustomerId, EntityKind, NewAccessToken, OpenStatus, Outcome,
    ScopeSet,
};
use storage::import::{ImportRecord, OnError};
use storage::{AuditFault, AuditFlaw, AuditReport, Kept, Storage};
use writegate::Link;

use crate::import::{import_customer, row};
use crate::support::{
    Place, act, at, audit_rows, customer, log_keys, new_comment, ok, ticket, to_team, valid,
};

on_every_engine!(
    a_log_of_every_kind_of_write_verifies,
    a_checkpoint_of_another_store_or_another_key_is_refused,
    proofs_come_in_order_and_hold_by_themselves,
);

// What they do past the store is written in the words of SQLite.
on_sqlite!(
    a_checkpoint_in_the_store_that_was_tampered_with_is_found,
    rows_that_are_removed_swapped_or_renumbered_are_found,
    links_made_anew_without_the_key_are_found,
    a_log_that_is_cut_off_is_found_with_a_checkpoint_from_outside_only,
    a_log_that_is_written_anew_is_found_with_a_checkpoint_from_outside,
    a_record_that_was_changed_past_the_log_is_found,
);

/// Takes away what keeps the log from being changed, as whoever owns the database can.
const UNLOCK: &str = "DROP TRIGGER IF EXISTS audit_event_is_never_updated; \
    DROP TRIGGER IF EXISTS audit_event_is_never_deleted; DROP TRIGGER IF EXISTS audit_event_is_sealed; \
    DROP TRIGGER IF EXISTS audit_head_never_goes_back; DROP TRIGGER IF EXISTS audit_head_is_linked; \
    DROP TRIGGER IF EXISTS audit_checkpoint_is_never_updated; PRAGMA ignore_check_constraints = ON; ";

fn tamper(place: &Place, statements: &str) {
    place.execute(&format!("{UNLOCK}{statements}"));
}

#[track_caller]
fn verify(store: &Arc<dyn Storage>) -> AuditReport {
    ok(store.verify_audit(Vec::new()))
}

#[track_caller]
fn sound(store: &Arc<dyn Storage>) -> AuditReport {
    let report = verify(store);
    assert_eq!(report.flaw, None);
    report
}

#[track_caller]
fn flaw(store: &Arc<dyn Storage>) -> (i64, AuditFault) {
    let AuditFlaw { seq, fault } = verify(store).flaw.unwrap();
    (seq, fault)
}

/// A refusal, which is a row about nothing else.
fn refuse(store: &Arc<dyn Storage>, second: i64) {
    let record = AuditRecord {
        action: Action::UpdateTicket,
        entity: EntityKind::Ticket,
        entity_id: Some(second),
        version_before: None,
        version_after: None,
        outcome: Outcome::Refused,
        code: Some("FORBIDDEN"),
        facts: vec![("status", "open -> closed".to_owned())],
    };
    ok(store.record_refusal(act(second), record));
}

/// A store whose log has this many rows, written as one job.
fn filled(place: &Place, rows: u64) -> Arc<dyn Storage> {
    let store = place.open();
    let customers = (1..=rows).map(|n| {
        let (id, email) = (format!("c{n}"), format!("c{n}@example.com"));
        row(
            n,
            ImportRecord::Customer(import_customer(Some(&id), &email)),
        )
    });
    let rows = Box::new(customers.collect::<Vec<_>>().into_iter());
    ok(store.import(act(0), rows, OnError::Abort));
    store
}

fn a_log_of_every_kind_of_write_verifies(place: &Place) {
    let store = place.open();
    assert_eq!(sound(&store), AuditReport::default());
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    ok(store.assign_ticket(act(1), id, None, to_team("core")));
    ok(store.add_comment(act(2), id, None, valid(new_comment("hello"))));
    ok(store.change_ticket_status(act(3), id, None, OpenStatus::InProgress));
    ok(store.resolve_ticket(act(4), id, None, Some(valid(new_comment("done")))));
    ok(store.escalate_to_security(act(5), id, None, valid(new_comment("odd"))));
    let _token: AccessToken = ok(store.create_access_token(
        act(6),
        NewAccessToken {
            digest: [1; 32],
            subject: "anna".to_owned(),
            label: String::new(),
            scopes: ScopeSet::all(),
            expires_at: at(60),
        },
    ));
    refuse(&store, 7);
    refuse(&store, 3);
    let report = sound(&store);
    assert_eq!(report.rows, 10);
    assert_eq!((report.records, report.sealed_later), (2, 0));
    assert_eq!((report.backwards, report.first_backwards), (1, Some(10)));
    ok(store.close());
    assert_eq!(sound(&place.open()), report);
}

fn rows_that_are_removed_swapped_or_renumbered_are_found(place: &Place) {
    let swap = |column: &str| {
        format!(
            "UPDATE audit_event SET {column} = (SELECT e.{column} FROM audit_event e \
             WHERE e.chain = 1 AND e.seq = 9 - audit_event.seq) WHERE seq IN (4, 5)"
        )
    };
    for (change, seq, fault) in [
        ("DELETE FROM audit_event WHERE seq = 1".to_owned(), 1, AuditFault::Missing),
        ("DELETE FROM audit_event WHERE seq = 4".to_owned(), 4, AuditFault::Missing),
        ("DELETE FROM audit_event WHERE seq = 9".to_owned(), 9, AuditFault::Missing),
        ("DELETE FROM audit_event".to_owned(), 1, AuditFault::Missing),
        (
            "DELETE FROM audit_event WHERE seq = 4; UPDATE audit_event SET seq = seq - 1 WHERE seq > 4; \
             UPDATE audit_head SET seq = seq - 1"
                .to_owned(),
            4,
            AuditFault::Unlinked,
        ),
        (swap("payload"), 4, AuditFault::Changed),
        (
            "UPDATE audit_event SET seq = 99 WHERE seq = 4; UPDATE audit_event SET seq = 4 WHERE seq = 5; \
             UPDATE audit_event SET seq = 5 WHERE seq = 99"
                .to_owned(),
            4,
            AuditFault::Unlinked,
        ),
        (
            "UPDATE audit_event SET seq = -seq WHERE seq >= 4; UPDATE audit_event SET seq = 1 - seq WHERE seq < 0"
                .to_owned(),
            4,
            AuditFault::Missing,
        ),
        (
            "INSERT INTO audit_event SELECT chain, 10, x'77', payload, prev, hash, mac, mac_kid, at_us, actor, \
             action, entity, entity_id, outcome, code FROM audit_event WHERE seq = 9; \
             UPDATE audit_head SET seq = 10"
                .to_owned(),
            10,
            AuditFault::Unlinked,
        ),
        (
            "INSERT INTO audit_event SELECT 2, 1, x'77', payload, prev, hash, mac, mac_kid, at_us, actor, \
             action, entity, entity_id, outcome, code FROM audit_event WHERE seq = 9"
                .to_owned(),
            1,
            AuditFault::Stray,
        ),
        (
            "UPDATE audit_event SET prev = NULL, hash = NULL, mac = NULL, mac_kid = NULL WHERE seq = 6".to_owned(),
            6,
            AuditFault::NotSealed,
        ),
    ] {
        let place = place.another();
        let store = filled(&place, 9);
        sound(&store);
        tamper(&place, &change);
        assert_eq!(flaw(&store), (seq, fault), "{change}");
    }
}

fn hash_of(place: &Place, seq: i64) -> [u8; 32] {
    let hex = place.query(&format!(
        "SELECT hex(hash) FROM audit_event WHERE chain = 1 AND seq = {seq}"
    ));
    bytes(&hex).try_into().unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        write!(text, "{byte:02X}").unwrap();
        text
    })
}

fn links_made_anew_without_the_key_are_found(place: &Place) {
    let store = filled(place, 9);
    let deployment = place.query("SELECT id FROM deployment");
    let payload = place.query("SELECT hex(payload) FROM audit_event WHERE seq = 4");
    // Another actor, of the same length.
    let forged = payload.replace(&hex(b"local:ada"), &hex(b"local:bob"));
    assert_ne!(forged, payload);
    tamper(
        place,
        &format!("UPDATE audit_event SET payload = x'{forged}', actor = 'local:bob' WHERE seq = 4"),
    );
    let mut prev = hash_of(place, 3);
    for seq in 4..=9 {
        let payload = bytes(&place.query(&format!(
            "SELECT hex(payload) FROM audit_event WHERE seq = {seq}"
        )));
        let link = Link {
            deployment: &deployment,
            chain: 1,
            seq,
            prev: &prev,
            payload: &payload,
        };
        let hash = link.hash();
        tamper(
            place,
            &format!(
                "UPDATE audit_event SET prev = x'{}', hash = x'{}' WHERE seq = {seq}",
                hex(&prev),
                hex(&hash)
            ),
        );
        prev = hash;
    }
    tamper(
        place,
        &format!("UPDATE audit_head SET hash = x'{}'", hex(&prev)),
    );
    assert_eq!(flaw(&store), (4, AuditFault::Forged));
}

/// Puts the log back to where it stood after a row, as if nothing had come since.
fn cut_off(place: &Place, seq: i64) {
    let hash = match seq {
        0 => "NULL".to_owned(),
        seq => format!("x'{}'", hex(&hash_of(place, seq))),
    };
    tamper(
        place,
        &format!(
            "DELETE FROM audit_event WHERE seq > {seq}; UPDATE audit_head SET seq = {seq}, hash = {hash}; \
             DROP TRIGGER IF EXISTS audit_checkpoint_is_never_deleted; DELETE FROM audit_checkpoint WHERE seq > {seq}"
        ),
    );
}

fn a_log_that_is_cut_off_is_found_with_a_checkpoint_from_outside_only(place: &Place) {
    for lost in [1, 10, 30] {
        let place = place.another();
        let store = place.open();
        (0..30).for_each(|second| refuse(&store, second));
        let note = ok(store.checkpoint_audit(at(99))).unwrap();
        assert_eq!((note.seq, note.is_new), (30, true));
        let outside = || vec![note.note.clone()];
        let report = ok(store.verify_audit(outside()));
        assert_eq!(
            (report.flaw, report.outside, report.anchored),
            (None, 1, 30)
        );
        cut_off(&place, 30 - lost);
        assert_eq!(sound(&store).rows, 30 - lost, "nothing inside can tell");
        let found = ok(store.verify_audit(outside())).flaw.unwrap();
        let truncated = AuditFlaw {
            seq: 30,
            fault: AuditFault::Truncated(Kept::Outside),
        };
        assert_eq!(found, truncated, "{lost}");
    }
}

fn a_log_that_is_written_anew_is_found_with_a_checkpoint_from_outside(place: &Place) {
    let store = place.open();
    (0..9).for_each(|second| refuse(&store, second));
    let note = ok(store.checkpoint_audit(at(99))).unwrap();
    ok(store.close());
    cut_off(place, 4);
    // Whoever has the keys too can go on as if nothing had been.
    let store = place.open();
    (0..9).for_each(|second| refuse(&store, second + 100));
    assert_eq!(sound(&store).rows, 13);
    let found = ok(store.verify_audit(vec![note.note])).flaw.unwrap();
    assert_eq!(
        (found.seq, found.fault),
        (9, AuditFault::Rewritten(Kept::Outside))
    );
}

fn a_checkpoint_of_another_store_or_another_key_is_refused(place: &Place) {
    let store = place.open();
    refuse(&store, 0);
    let other = place.another().open();
    refuse(&other, 0);
    let foreign = ok(other.checkpoint_audit(at(1))).unwrap().note;
    let own = ok(store.checkpoint_audit(at(1))).unwrap().note;
    let found = |note: String| {
        ok(store.verify_audit(vec![note]))
            .flaw
            .map(|flaw| flaw.fault)
    };
    assert_eq!(found(own.clone()), None);
    assert_eq!(
        found(foreign),
        Some(AuditFault::CheckpointForeign(Kept::Outside))
    );
    let forged = own.replacen("\n1\n", "\n2\n", 1);
    assert_ne!(forged, own);
    assert_eq!(
        found(forged),
        Some(AuditFault::CheckpointForged(Kept::Outside))
    );
}

fn a_checkpoint_in_the_store_that_was_tampered_with_is_found(place: &Place) {
    let store = place.open();
    assert_eq!(
        ok(store.checkpoint_audit(at(0))),
        None,
        "there is nothing to sign"
    );
    refuse(&store, 0);
    let first = ok(store.checkpoint_audit(at(1))).unwrap();
    let again = ok(store.checkpoint_audit(at(2))).unwrap();
    assert_eq!((again.note == first.note, again.is_new), (true, false));
    refuse(&store, 1);
    ok(store.checkpoint_audit(at(3)));
    refuse(&store, 2);
    ok(store.checkpoint_audit(at(4)));
    assert_eq!(sound(&store).checkpoints, 3);
    assert_eq!(
        audit_rows(&store).len(),
        3,
        "a checkpoint is no row of the log"
    );
    tamper(place, "UPDATE audit_checkpoint SET at_us = 0");
    sound(&store);
    for (change, seq, fault) in [
        (
            "UPDATE audit_checkpoint SET note = replace(note, 'previous', 'precious') WHERE seq = 2",
            2,
            AuditFault::CheckpointForged(Kept::Inside),
        ),
        (
            "DROP TRIGGER IF EXISTS audit_checkpoint_is_never_deleted; DELETE FROM audit_checkpoint WHERE seq = 2",
            3,
            AuditFault::CheckpointGap(Kept::Inside),
        ),
    ] {
        tamper(place, change);
        assert_eq!(flaw(&store), (seq, fault), "{change}");
    }
}

fn a_record_that_was_changed_past_the_log_is_found(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    ticket(&store, ada, "x");
    sound(&store);
    place.execute("UPDATE tickets SET version = version + 1, priority = 'urgent'");
    let fault = AuditFault::Version {
        entity: EntityKind::Ticket,
        id: 1,
        stored: 2,
        audited: 1,
    };
    assert_eq!(flaw(&store), (2, fault));
    place.execute(
        "UPDATE tickets SET version = 1; INSERT INTO customers SELECT 9, name, name_folded, 'x' || email, 'x' || email_folded, \
         phone, organisation, organisation_folded, status, created_at, updated_at, version FROM customers",
    );
    let fault = AuditFault::Version {
        entity: EntityKind::Customer,
        id: CustomerId::new(9).number(),
        stored: 1,
        audited: 0,
    };
    assert_eq!(flaw(&store), (0, fault));
}

fn proofs_come_in_order_and_hold_by_themselves(place: &Place) {
    let store = filled(place, 25);
    let deployment = place.query("SELECT id FROM deployment");
    let (mut after, mut prev) = (0, [0; 32]);
    loop {
        let proofs = ok(store.export_audit(after, 10));
        if proofs.is_empty() {
            break;
        }
        for proof in proofs {
            let link = Link {
                deployment: &deployment,
                chain: 1,
                seq: after + 1,
                prev: &prev,
                payload: &proof.payload,
            };
            assert_eq!(
                (proof.seq, proof.prev.as_slice()),
                (after + 1, prev.as_slice())
            );
            assert_eq!(proof.hash, link.hash());
            assert!(
                log_keys()
                    .verify(&proof.mac_kid, &link.hash(), &proof.mac)
                    .is_ok()
            );
            (after, prev) = (proof.seq, link.hash());
        }
    }
    assert_eq!((after, ok(store.audit_end())), (25, 25));
}
