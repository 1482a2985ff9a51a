//! The audit log's chain: whatever somebody with the database and without the keys does to it is found, and the first bad row named
//! (promises ).

use std::sync::Arc;

use domain::{
    AccessToken, Action, AuditRecord, CustomerId, EntityKind, NewAccessToken, OpenStatus, Outcome,
    ScopeSet,
};
use storage::import::{ImportRecord, OnError};
use storage::{AuditFault, AuditFlaw, AuditReport, Kept, Options, Storage, StoreError};
use writegate::{Key, KeyRing, Kid, Link};

use crate::import::{import_customer, row};
use crate::support::{
    Place, act, at, audit_rows, customer, err, log_keys, new_comment, ok, ticket, to_team, valid,
};

on_every_engine!(
    a_log_of_every_kind_of_write_verifies,
    a_checkpoint_of_another_store_or_another_key_is_refused,
    proofs_come_in_order_and_hold_by_themselves,
);

// What they do past the store is written in the words of SQLite.
on_sqlite!(
    a_checkpoint_in_the_store_that_was_tampered_with_is_found,
    one_flipped_bit_in_any_column_is_found_and_its_row_named,
    rows_that_are_removed_swapped_or_renumbered_are_found,
    links_made_anew_without_the_key_are_found,
    a_log_that_is_cut_off_is_found_with_a_checkpoint_from_outside_only,
    a_log_that_is_written_anew_is_found_with_a_checkpoint_from_outside,
    a_record_that_was_changed_past_the_log_is_found,
    rows_under_three_keys_verify_for_as_long_as_the_retired_ones_are_kept,
    a_log_from_before_the_chain_is_sealed_once_and_says_so,
    a_log_that_is_sealed_in_part_is_not_sealed_again,
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

fn is_full() -> bool {
    std::env::var_os("DESKGATE_FULL").is_some()
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

/// A column, how it is written, and what a changed bit in it is found as.
fn columns(seq: i64) -> Vec<(&'static str, &'static str, i64, AuditFault)> {
    let column = |name| (name, "text", seq, AuditFault::Column(name));
    let number = |name| (name, "number", seq, AuditFault::Column(name));
    vec![
        ("chain", "number", seq, AuditFault::Missing),
        ("seq", "number", seq, AuditFault::Missing),
        ("event_id", "blob", seq, AuditFault::Column("event_id")),
        ("payload", "blob", seq, AuditFault::Changed),
        ("prev", "blob", seq, AuditFault::Unlinked),
        ("hash", "blob", seq, AuditFault::Changed),
        ("mac", "blob", seq, AuditFault::Forged),
        ("mac_kid", "text", seq, AuditFault::UnknownKey),
        number("at_us"),
        column("actor"),
        column("action"),
        column("entity"),
        number("entity_id"),
        column("outcome"),
        column("code"),
    ]
}

/// The value of a column with one bit flipped, and the value as it is, both as SQL.
fn flipped(place: &Place, column: &str, kind: &str, seq: i64) -> (String, String) {
    let of_row = format!("FROM audit_event WHERE chain = 1 AND seq = {seq}");
    if place.query(&format!("SELECT {column} IS NULL {of_row}")) == "1" {
        return ("'X'".to_owned(), "NULL".to_owned());
    }
    if kind == "number" {
        let value = place.query(&format!("SELECT {column} {of_row}"));
        // A high bit, so that the row does not run into another one.
        return (format!("{value} + {}", 1 << 20), value);
    }
    let hex = place.query(&format!("SELECT hex(CAST({column} AS BLOB)) {of_row}"));
    let digits = hex.as_bytes();
    // The lowest bit of a byte in the middle.
    let middle = digits.len() / 4 * 2 + 1;
    let digit = u8::from_str_radix(&hex[middle..=middle], 16).unwrap() ^ 1;
    let changed = format!("{}{digit:X}{}", &hex[..middle], &hex[middle + 1..]);
    let literal = |hex: &str| match kind {
        "text" => format!("CAST(x'{hex}' AS TEXT)"),
        _ => format!("x'{hex}'"),
    };
    (literal(&changed), literal(&hex))
}

fn one_flipped_bit_in_any_column_is_found_and_its_row_named(place: &Place) {
    let (rows, samples) = if is_full() { (10_000, 30) } else { (120, 5) };
    let store = filled(place, rows);
    let rows = i64::try_from(rows).unwrap();
    sound(&store);
    for sample in 0..samples {
        let seq = 1 + sample * (rows - 1) / (samples - 1);
        for (column, kind, first_bad, fault) in columns(seq) {
            let (changed, before) = flipped(place, column, kind, seq);
            let set = |value: &str, of: &str| {
                tamper(
                    place,
                    &format!("UPDATE audit_event SET {column} = {value} WHERE {of}"),
                );
            };
            let rowid = place.query(&format!(
                "SELECT rowid FROM audit_event WHERE chain = 1 AND seq = {seq}"
            ));
            set(&changed, &format!("rowid = {rowid}"));
            assert_eq!(flaw(&store), (first_bad, fault), "{column} of {seq}");
            set(&before, &format!("rowid = {rowid}"));
        }
        sound(&store);
    }
    for change in [
        "hash = x'00'",
        "hash = zeroblob(32)",
        "seq = seq + 1",
        "seq = seq - 1",
    ] {
        let head = place.query("SELECT seq || ', ' || quote(hash) FROM audit_head");
        let (seq, hash) = head.split_once(", ").unwrap();
        tamper(place, &format!("UPDATE audit_head SET {change}"));
        let found = flaw(&store);
        let expected = match change {
            "seq = seq + 1" => (rows + 1, AuditFault::Missing),
            _ => (rows, AuditFault::Head),
        };
        assert_eq!(found, expected, "{change}");
        tamper(
            place,
            &format!("UPDATE audit_head SET seq = {seq}, hash = {hash}"),
        );
    }
    sound(&store);
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

fn key(kid: &str, start: u8) -> Key {
    let secret: [u8; 32] = std::array::from_fn(|i| {
        let i = u8::try_from(i).unwrap();
        i.wrapping_mul(i)
            .wrapping_mul(7)
            .wrapping_add(i.wrapping_mul(29))
            .wrapping_add(start)
    });
    Key::new(Kid::parse(kid).unwrap(), &secret).unwrap()
}

fn rows_under_three_keys_verify_for_as_long_as_the_retired_ones_are_kept(place: &Place) {
    let kid = |kid| Kid::parse(kid).unwrap();
    let first = KeyRing::new(key("k1", 3));
    let second = first
        .add(key("k2", 90))
        .and_then(|ring| ring.promote(&kid("k2")))
        .unwrap();
    let third = second
        .retire(&kid("k1"))
        .and_then(|ring| ring.add(key("k3", 200)))
        .and_then(|ring| ring.promote(&kid("k3")))
        .unwrap();
    // Through its text, as a process meets it.
    let third = KeyRing::parse(&third.render()).unwrap();
    let open = |ring: &KeyRing| {
        let options = Options {
            create: true,
            ..Options::default()
        };
        storage::open(&place.url(), ring.log_keys(), options).unwrap()
    };
    for ring in [&first, &second, &third] {
        let store = open(ring);
        refuse(&store, 0);
        ok(store.close());
    }
    assert_eq!(
        place.query("SELECT group_concat(mac_kid) FROM audit_event"),
        "k1,k2,k3"
    );
    assert_eq!(sound(&open(&third)).rows, 3);
    assert_eq!(flaw(&open(&second)), (3, AuditFault::UnknownKey));
    assert_eq!(
        flaw(&open(&KeyRing::new(key("k3", 200)))),
        (1, AuditFault::UnknownKey)
    );
    assert_eq!(
        flaw(&open(&KeyRing::new(key("k1", 90)))),
        (1, AuditFault::Forged)
    );
    let unsigned = err(open(&third).verify_audit(vec!["note".to_owned()]));
    assert!(
        matches!(unsigned, StoreError::Unavailable(_)),
        "{unsigned:?}"
    );
}

/// Takes the seals away, as in a store that a build from before the chain wrote.
fn strip(place: &Place, of: &str) {
    tamper(
        place,
        &format!(
            "UPDATE audit_event SET prev = NULL, hash = NULL, mac = NULL, mac_kid = NULL WHERE {of}; \
             UPDATE audit_head SET hash = NULL"
        ),
    );
}

fn a_log_from_before_the_chain_is_sealed_once_and_says_so(place: &Place) {
    // More than one batch.
    ok(filled(place, 1_234).close());
    strip(place, "true");
    assert_eq!(
        storage::migrate(&place.url(), log_keys()).unwrap(),
        Vec::<String>::new()
    );
    let store = place.open();
    let report = sound(&store);
    assert_eq!((report.rows, report.sealed_later), (1_234, 1_234));
    refuse(&store, 0);
    let report = sound(&store);
    assert_eq!((report.rows, report.sealed_later), (1_235, 1_234));
}

fn a_log_that_is_sealed_in_part_is_not_sealed_again(place: &Place) {
    ok(filled(place, 9).close());
    strip(place, "seq > 4");
    let refused = storage::migrate(&place.url(), log_keys());
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(
        place.query("SELECT count(*) FROM audit_event WHERE hash IS NULL"),
        "5"
    );
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
