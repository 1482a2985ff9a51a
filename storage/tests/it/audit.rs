//! The audit log: who did what, in one dense order, and as many rows as there were changes.

use domain::{
    Act, Action, Actor, ActorChannel, AuditEntry, AuditFilter, AuditRecord, CustomerFilter,
    EntityKind, Outcome, Proof, Status, TicketFilter, TicketOrder, TimeRange, Timestamp, Version,
};

use crate::support::{
    Place, act, at, audit_rows, customer, err, first, new_comment, new_customer, no_ticket, ok,
    ticket, to_team, valid,
};

on_every_engine!(
    a_row_says_who_did_what_when_and_by_what,
    every_change_has_its_row_and_every_row_its_change,
    every_filter_changes_the_list,
    no_text_of_a_customer_gets_into_the_log,
);

fn a_row_says_who_did_what_when_and_by_what(place: &Place) {
    let store = place.open();
    let act = Act {
        actor: Actor {
            id: "https://issuer.example#\u{e9}\"".to_owned(),
            proof: Proof::Verified,
            channel: ActorChannel::Http,
            client: "token-7".to_owned(),
        },
        at: Timestamp::from_micros(-1_234_567),
        request_id: u128::MAX - 5,
        tool: "some_tool",
    };
    let record = AuditRecord {
        action: Action::AssignTicket,
        entity: EntityKind::Ticket,
        entity_id: Some(i64::MAX),
        version_before: Some(Version::new(4)),
        version_after: Some(Version::new(5)),
        outcome: Outcome::Refused,
        code: Some("FORBIDDEN"),
        facts: vec![("team", "set".to_owned()), ("n", "2".to_owned())],
    };
    ok(store.record_refusal(act.clone(), record.clone()));
    let bare = AuditRecord {
        entity_id: None,
        version_before: None,
        version_after: None,
        code: None,
        facts: Vec::new(),
        ..record.clone()
    };
    ok(store.record_refusal(act.clone(), bare));
    let rows = audit_rows(&store);
    let expected = AuditEntry {
        seq: 1,
        at: act.at,
        actor: act.actor,
        request_id: act.request_id,
        tool: "some_tool".to_owned(),
        action: record.action,
        entity: record.entity,
        entity_id: record.entity_id,
        version_before: record.version_before,
        version_after: record.version_after,
        outcome: record.outcome,
        code: Some("FORBIDDEN".to_owned()),
        facts: vec![
            ("team".to_owned(), "set".to_owned()),
            ("n".to_owned(), "2".to_owned()),
        ],
    };
    assert_eq!(rows[0], expected);
    let bare = AuditEntry {
        seq: 2,
        entity_id: None,
        version_before: None,
        version_after: None,
        code: None,
        facts: Vec::new(),
        ..expected
    };
    assert_eq!(rows[1], bare);
}

fn every_change_has_its_row_and_every_row_its_change(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    for number in 0..6 {
        let id = ticket(&store, ada, "x").id;
        for _ in 0..number {
            ok(store.add_comment(act(1), id, None, valid(new_comment("x"))));
        }
        ok(store.assign_ticket(act(2), id, None, to_team("Net")));
        ok(store.change_ticket_status(act(3), id, None, Status::InProgress));
        ok(store.change_ticket_status(act(3), id, None, Status::InProgress));
        ok(store.resolve_ticket(act(4), id, None, Some(valid(new_comment("x")))));
    }
    // What fails changes nothing and leaves no row.
    err(store.create_customer(act(5), valid(new_customer("ADA@example.com"))));
    err(store.assign_ticket(act(5), no_ticket(), None, to_team("Net")));
    let rows = audit_rows(&store);
    let applied = rows.iter().filter(|row| row.outcome == Outcome::Applied);
    let tickets = ok(store.list_tickets(TicketFilter::default(), TicketOrder::Newest, first(99)));
    let customers =
        ok(store.list_customers(CustomerFilter::default(), TicketOrder::Newest, first(99)));
    let changes: i64 = tickets
        .rows
        .iter()
        .map(|row| row.version)
        .chain(customers.rows.iter().map(|row| row.version))
        .map(Version::number)
        .sum();
    assert_eq!(i64::try_from(applied.count()).unwrap(), changes);
    for row in &tickets.rows {
        let own: Vec<&AuditEntry> = rows
            .iter()
            .filter(|entry| entry.entity == EntityKind::Ticket)
            .filter(|entry| entry.entity_id == Some(row.id.number()))
            .filter(|entry| entry.outcome == Outcome::Applied)
            .collect();
        assert_eq!(own[0].version_before, None);
        let after: Vec<Option<Version>> = own.iter().map(|entry| entry.version_after).collect();
        let expected: Vec<Option<Version>> = (1..=row.version.number())
            .map(|number| Some(Version::new(number)))
            .collect();
        assert_eq!(after, expected);
        assert!(
            own.windows(2)
                .all(|pair| pair[0].version_after == pair[1].version_before)
        );
    }
    let refused = rows.iter().filter(|row| row.outcome == Outcome::Refused);
    assert_eq!(refused.count(), 6);
}

fn every_filter_changes_the_list(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let mut other = act(10);
    "local:bo".clone_into(&mut other.actor.id);
    ok(store.create_customer(other, valid(new_customer("bo@example.com"))));
    let id = ticket(&store, ada, "x").id;
    ok(store.change_ticket_status(act(20), id, None, Status::Resolved));
    let none = AuditFilter::default;
    let range = |from: Option<i64>, until: Option<i64>| TimeRange {
        from: from.map(at),
        until: until.map(at),
    };
    for (filter, expected) in [
        (none(), vec![4, 3, 2, 1]),
        (
            AuditFilter {
                actor: Some("local:bo".to_owned()),
                ..none()
            },
            vec![2],
        ),
        (
            AuditFilter {
                actor: Some("local:b".to_owned()),
                ..none()
            },
            vec![],
        ),
        (
            AuditFilter {
                action: Some(Action::CreateCustomer),
                ..none()
            },
            vec![2, 1],
        ),
        (
            AuditFilter {
                action: Some(Action::Import),
                ..none()
            },
            vec![],
        ),
        (
            AuditFilter {
                entity: Some(EntityKind::Ticket),
                ..none()
            },
            vec![4, 3],
        ),
        (
            AuditFilter {
                entity: Some(EntityKind::Customer),
                entity_id: Some(2),
                ..none()
            },
            vec![2],
        ),
        (
            AuditFilter {
                entity: Some(EntityKind::Customer),
                entity_id: Some(3),
                ..none()
            },
            vec![],
        ),
        (
            AuditFilter {
                outcome: Some(Outcome::Refused),
                ..none()
            },
            vec![4],
        ),
        (
            AuditFilter {
                at: range(Some(10), None),
                ..none()
            },
            vec![4, 2],
        ),
        (
            AuditFilter {
                at: range(None, Some(10)),
                ..none()
            },
            vec![3, 1],
        ),
        (
            AuditFilter {
                at: range(Some(10), Some(20)),
                ..none()
            },
            vec![2],
        ),
        (
            AuditFilter {
                outcome: Some(Outcome::Applied),
                entity: Some(EntityKind::Ticket),
                ..none()
            },
            vec![3],
        ),
    ] {
        let page = ok(store.list_audit_entries(filter.clone(), first(9)));
        let seqs: Vec<i64> = page.rows.iter().map(|row| row.seq).collect();
        assert_eq!(seqs, expected, "{filter:?}");
        assert_eq!(page.total.count as usize, expected.len(), "{filter:?}");
        let one = ok(store.list_audit_entries(filter.clone(), first(1)));
        assert_eq!(one.total.count as usize, expected.len(), "{filter:?}");
    }
}

fn no_text_of_a_customer_gets_into_the_log(place: &Place) {
    let store = place.open();
    let word = "Xyzzy";
    let mut new = new_customer("xyzzy@xyzzy.example");
    word.clone_into(&mut new.name);
    new.organisation = Some(word.to_owned());
    let ada = ok(store.create_customer(act(0), valid(new))).id;
    let id = crate::support::ticket_with(&store, 0, ada, |new| {
        word.clone_into(&mut new.subject);
        word.clone_into(&mut new.description);
        new.assignee = Some(word.to_owned());
    })
    .id;
    ok(store.assign_ticket(act(1), id, None, to_team(word)));
    ok(store.add_comment(act(2), id, None, valid(new_comment(word))));
    ok(store.change_ticket_status(act(3), id, None, Status::InProgress));
    ok(store.resolve_ticket(act(4), id, None, Some(valid(new_comment(word)))));
    let rows = audit_rows(&store);
    assert_eq!(rows.len(), 6);
    let shown = format!("{rows:?}").to_lowercase();
    assert!(!shown.contains("xyzzy"), "{shown}");
}
