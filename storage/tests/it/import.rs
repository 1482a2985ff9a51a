//! Bringing in history: kept as it was, once, whole or in its good parts.

use std::sync::Arc;

use domain::{
    Action, CallOutcome, Channel, CustomerFilter, CustomerStatus, EntityKind, LastCommentBy,
    Origin, Priority, Status, TicketFilter, TicketId, TicketOrder, Tier, Version, Visibility,
};
use storage::Storage;
use storage::import::{
    Counts, ImportCall, ImportComment, ImportCsat, ImportCsatSubject, ImportCustomer, ImportRecord,
    ImportRefusal, ImportReport, ImportRow, ImportTicket, OnError,
};

use crate::knowledge::article;
use crate::support::{Place, act, at, audit_rows, customer, first, ok, terms};

on_every_engine!(
    history_is_kept_as_it_was,
    a_comment_counts_as_a_change_of_its_ticket,
    importing_twice_changes_nothing,
    bad_rows_are_named_and_good_ones_kept_or_nothing_is,
    a_customer_is_known_by_either_key,
    an_import_is_found_listed_and_audited_like_anything_else,
    only_so_many_refusals_are_listed,
);

/// A row with the place that it came from.
pub(crate) fn row(place: u64, record: ImportRecord) -> ImportRow {
    ImportRow { place, record }
}

/// A customer of the other system.
pub(crate) fn import_customer(external_id: Option<&str>, email: &str) -> ImportCustomer {
    ImportCustomer {
        external_id: external_id.map(str::to_owned),
        name: "Ada".to_owned(),
        email: email.to_owned(),
        phone: None,
        organisation: Some("ACME".to_owned()),
        status: CustomerStatus::Active,
        created_at: at(-900),
        updated_at: at(-800),
    }
}

/// A ticket of the other system.
pub(crate) fn ticket(external_id: &str, customer: &str) -> ImportTicket {
    ImportTicket {
        external_id: external_id.to_owned(),
        customer: customer.to_owned(),
        channel: Channel::Chat,
        subject: "Imported".to_owned(),
        description: "From before.".to_owned(),
        category: "general".to_owned(),
        priority: Priority::Low,
        status: Status::Open,
        tier: Tier::FIRST,
        assigned_team: None,
        assignee: None,
        created_at: at(-500),
        updated_at: at(-400),
    }
}

/// A comment of the other system.
pub(crate) fn comment(external_id: &str, ticket: &str) -> ImportComment {
    ImportComment {
        external_id: external_id.to_owned(),
        ticket: ticket.to_owned(),
        author: "Sam from the desk".to_owned(),
        origin: Origin::Team,
        visibility: Visibility::Public,
        body: "They said so.".to_owned(),
        created_at: at(-450),
    }
}

/// A call of the other system.
pub(crate) fn call(external_id: &str) -> ImportCall {
    ImportCall {
        external_id: external_id.to_owned(),
        customer: None,
        ticket: None,
        started_at: at(0),
        duration_seconds: 61,
        agent: "Sam".to_owned(),
        category: "general".to_owned(),
        outcome: CallOutcome::Resolved,
        turns: Vec::new(),
    }
}

/// A score of a call.
pub(crate) fn csat(external_id: &str, call: &str) -> ImportCsat {
    ImportCsat {
        external_id: external_id.to_owned(),
        subject: ImportCsatSubject::Call(call.to_owned()),
        score: 4,
        comment: None,
        category: "general".to_owned(),
        submitted_at: at(1),
    }
}

/// Imports records, whose places are their numbers.
#[track_caller]
pub(crate) fn import(
    store: &Arc<dyn Storage>,
    records: Vec<ImportRecord>,
    on_error: OnError,
) -> ImportReport {
    let rows = (0..).zip(records).map(|(place, record)| row(place, record));
    let report = ok(store.import(act(10), Box::new(rows), on_error));
    // The counts by kind are those of the whole, taken apart; the tests below name the whole.
    let sum = |count: fn(&Counts) -> u64| report.kinds.iter().map(count).sum::<u64>();
    assert_eq!(sum(|kind| kind.created), report.created);
    assert_eq!(sum(|kind| kind.updated), report.updated);
    assert_eq!(sum(|kind| kind.existing), report.existing);
    assert_eq!(sum(|kind| kind.refused), report.refused_count);
    ImportReport {
        kinds: Default::default(),
        ..report
    }
}

fn history_is_kept_as_it_was(place: &Place) {
    let store = place.open();
    let mut grace = import_customer(Some("c1"), "Grace@navy.example");
    grace.status = CustomerStatus::Inactive;
    grace.phone = Some("+1 202 555 0143".to_owned());
    let mut closed = ticket("t1", "c1");
    closed.status = Status::Closed;
    closed.tier = Tier::LAST;
    closed.priority = Priority::Urgent;
    "security".clone_into(&mut closed.category);
    closed.assigned_team = Some("Navy".to_owned());
    closed.assignee = Some("Howard".to_owned());
    let mut of_ticket = csat("s2", "unused");
    of_ticket.subject = ImportCsatSubject::Ticket("t1".to_owned());
    let report = import(
        &store,
        vec![
            ImportRecord::Customer(grace.clone()),
            ImportRecord::Ticket(closed.clone()),
            ImportRecord::Comment(comment("m1", "t1")),
            ImportRecord::Call(call("k1")),
            ImportRecord::Csat(csat("s1", "k1")),
            ImportRecord::Csat(of_ticket),
            ImportRecord::Article(article(6, "Incidents")),
        ],
        OnError::Abort,
    );
    assert_eq!(
        report,
        ImportReport {
            created: 7,
            ..ImportReport::default()
        }
    );
    let details = ok(store.get_ticket_details(TicketId::new(1), first(9)));
    assert_eq!(details.customer.email, grace.email);
    assert_eq!(details.customer.phone, grace.phone);
    assert_eq!(details.customer.status, CustomerStatus::Inactive);
    assert_eq!(details.customer.created_at, at(-900));
    assert_eq!(details.customer.updated_at, at(-800));
    assert_eq!(details.ticket.status, Status::Closed);
    assert_eq!(details.ticket.tier, Tier::LAST);
    assert_eq!(details.ticket.priority, Priority::Urgent);
    assert_eq!(details.ticket.category, "security");
    assert_eq!(details.ticket.channel, Channel::Chat);
    assert_eq!(details.ticket.assigned_team, closed.assigned_team);
    assert_eq!(details.ticket.assignee, closed.assignee);
    assert_eq!(details.ticket.created_at, at(-500));
    assert_eq!(details.ticket.updated_at, at(-400));
    let said = &details.comments.rows[0];
    assert_eq!(said.author, "Sam from the desk");
    assert_eq!(
        (said.origin, said.visibility),
        (Origin::Team, Visibility::Public)
    );
    assert_eq!(said.created_at, at(-450));
    assert_eq!(
        ok(store.complete_id(EntityKind::Csat, String::new(), 9)),
        [2, 1]
    );
}

fn a_comment_counts_as_a_change_of_its_ticket(place: &Place) {
    let store = place.open();
    let said = |id: &str, second: i64, origin: Origin| {
        let mut row = comment(id, "t1");
        row.created_at = at(second);
        row.origin = origin;
        ImportRecord::Comment(row)
    };
    // In the order of a bad export: the newest word of either side is the customer's.
    let records = vec![
        ImportRecord::Customer(import_customer(None, "ada@example.com")),
        ImportRecord::Ticket(ticket("t1", "ADA@example.com")),
        said("m3", -300, Origin::Customer),
        said("m1", -490, Origin::Team),
        said("m4", -200, Origin::System),
        said("m2", -350, Origin::Team),
    ];
    assert_eq!(import(&store, records, OnError::Abort).created, 6);
    let details = ok(store.get_ticket_details(TicketId::new(1), first(9)));
    assert_eq!(details.ticket.last_comment_by, LastCommentBy::Customer);
    assert_eq!(details.ticket.version, Version::new(5));
    assert_eq!(details.ticket.updated_at, at(-200));
    let times: Vec<_> = details
        .comments
        .rows
        .iter()
        .map(|row| row.created_at)
        .collect();
    assert_eq!(times, [at(-200), at(-300), at(-350), at(-490)]);
    import(&store, vec![said("m5", -300, Origin::Team)], OnError::Abort);
    let after = ok(store.get_ticket(TicketId::new(1)));
    assert_eq!(after.last_comment_by, LastCommentBy::Team);
    assert_eq!(after.version, Version::new(6));
    assert_eq!(after.updated_at, at(-200));
}

fn everything() -> Vec<ImportRecord> {
    vec![
        ImportRecord::Customer(import_customer(Some("c1"), "ada@example.com")),
        ImportRecord::Customer(import_customer(None, "bo@example.com")),
        ImportRecord::Ticket(ticket("t1", "c1")),
        ImportRecord::Ticket(ticket("t2", "bo@example.com")),
        ImportRecord::Comment(comment("m1", "t2")),
        ImportRecord::Call(call("k1")),
        ImportRecord::Csat(csat("s1", "k1")),
        ImportRecord::Article(article(1, "One")),
    ]
}

fn importing_twice_changes_nothing(place: &Place) {
    let store = place.open();
    assert_eq!(import(&store, everything(), OnError::Abort).created, 8);
    let log = audit_rows(&store);
    let list = || ok(store.list_tickets(TicketFilter::default(), TicketOrder::Oldest, first(9)));
    let before = list();
    for on_error in [OnError::Abort, OnError::Skip] {
        let report = import(&store, everything(), on_error);
        assert_eq!(
            report,
            ImportReport {
                existing: 8,
                ..ImportReport::default()
            }
        );
    }
    // What has changed there since is not taken over, except in an article.
    let mut changed = everything();
    for record in &mut changed {
        match record {
            ImportRecord::Customer(row) => "New name".clone_into(&mut row.name),
            ImportRecord::Ticket(row) => row.status = Status::Closed,
            ImportRecord::Comment(row) => "New text".clone_into(&mut row.body),
            ImportRecord::Call(row) => row.duration_seconds = 1,
            ImportRecord::Csat(row) => row.score = 1,
            ImportRecord::Article(row) => row.updated_at = at(99),
        }
    }
    let report = import(&store, changed, OnError::Abort);
    assert_eq!(
        report,
        ImportReport {
            existing: 8,
            ..ImportReport::default()
        }
    );
    assert_eq!(list(), before);
    assert_eq!(audit_rows(&store), log);
    let newer = vec![ImportRecord::Article(article(1, "Uno"))];
    let report = import(&store, newer, OnError::Abort);
    assert_eq!(
        report,
        ImportReport {
            updated: 1,
            ..ImportReport::default()
        }
    );
    let noted = audit_rows(&store).pop().unwrap();
    assert_eq!(noted.version_before, Some(Version::FIRST));
    assert_eq!(noted.version_after, Some(Version::new(2)));
}

fn bad_rows_are_named_and_good_ones_kept_or_nothing_is(place: &Place) {
    let wrong_category = |mut row: ImportTicket| {
        "Printers".clone_into(&mut row.category);
        row
    };
    let mut stranger = call("k2");
    stranger.customer = Some("nobody".to_owned());
    let mut ticketless = call("k3");
    ticketless.ticket = Some("t9".to_owned());
    let mut article_elsewhere = article(1, "One");
    "nowhere".clone_into(&mut article_elsewhere.category);
    let records = || {
        vec![
            ImportRecord::Customer(import_customer(Some("c1"), "ada@example.com")),
            ImportRecord::Ticket(ticket("t1", "c9")),
            ImportRecord::Ticket(wrong_category(ticket("t2", "c1"))),
            ImportRecord::Comment(comment("m1", "t9")),
            ImportRecord::Call(stranger.clone()),
            ImportRecord::Call(ticketless.clone()),
            ImportRecord::Csat(csat("s1", "k9")),
            ImportRecord::Article(article_elsewhere.clone()),
            ImportRecord::Customer(import_customer(Some("c2"), "ADA@example.com")),
            ImportRecord::Ticket(ticket("t3", "c1")),
        ]
    };
    let reference =
        |field: &'static str, given: &str, wanted: &'static str| ImportRefusal::UnknownReference {
            field,
            given: given.to_owned(),
            wanted,
        };
    let (store, other) = (place.open(), place.another());
    let category = |given: &str| ImportRefusal::UnknownCategory {
        given: given.to_owned(),
        allowed: ok(store.list_categories())
            .into_iter()
            .map(|row| row.slug)
            .collect(),
    };
    let refused = vec![
        (1, reference("customer", "c9", "customers")),
        (2, category("Printers")),
        (3, reference("ticket", "t9", "tickets")),
        (4, reference("customer", "nobody", "customers")),
        (5, reference("ticket", "t9", "tickets")),
        (6, reference("call", "k9", "calls")),
        (7, category("nowhere")),
        (8, ImportRefusal::DuplicateEmail),
    ];
    let report = import(&store, records(), OnError::Skip);
    let expected = ImportReport {
        created: 2,
        refused: refused.clone(),
        refused_count: 8,
        ..ImportReport::default()
    };
    assert_eq!(report, expected);
    assert_eq!(audit_rows(&store).len(), 2);
    assert_eq!(
        ok(store.complete_id(EntityKind::Ticket, String::new(), 9)).len(),
        1
    );

    let store = other.open();
    let report = import(&store, records(), OnError::Abort);
    let expected = ImportReport {
        refused,
        refused_count: 8,
        aborted: true,
        ..ImportReport::default()
    };
    assert_eq!(report, expected);
    assert!(audit_rows(&store).is_empty());
    assert!(ok(store.complete_id(EntityKind::Customer, String::new(), 9)).is_empty());
    // Nothing is left that would make the repaired rows look known.
    let good = vec![
        ImportRecord::Customer(import_customer(Some("c1"), "ada@example.com")),
        ImportRecord::Ticket(ticket("t3", "c1")),
    ];
    assert_eq!(import(&store, good, OnError::Abort).created, 2);
}

fn a_customer_is_known_by_either_key(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com");
    // Registered here, then met in the export: the export's id is added, which is a change.
    let met = vec![
        ImportRecord::Customer(import_customer(Some("c1"), "ADA@example.com")),
        ImportRecord::Ticket(ticket("t1", "c1")),
        ImportRecord::Ticket(ticket("t2", "ada@example.com")),
    ];
    let report = import(&store, met, OnError::Abort);
    assert_eq!((report.created, report.existing), (2, 1));
    let linked = ok(store.get_customer(ada.id));
    assert_eq!((linked.version, linked.name), (Version::new(2), ada.name));
    let log = audit_rows(&store);
    assert_eq!(
        (log[1].action, log[1].version_after),
        (Action::Import, Some(Version::new(2)))
    );
    let again = vec![ImportRecord::Customer(import_customer(
        Some("c1"),
        "new@example.com",
    ))];
    assert_eq!(import(&store, again, OnError::Abort).existing, 1);
    assert_eq!(ok(store.get_customer(ada.id)).version, Version::new(2));
    let filter = TicketFilter {
        customer: Some(ada.id),
        ..TicketFilter::default()
    };
    let tickets = ok(store.list_tickets(filter, TicketOrder::Newest, first(9)));
    assert_eq!(tickets.total.count, 2);
}

fn an_import_is_found_listed_and_audited_like_anything_else(place: &Place) {
    let store = place.open();
    import(&store, everything(), OnError::Abort);
    let found = ok(store.search_tickets(terms("imported"), TicketFilter::default(), first(9)));
    assert_eq!(found.page.rows.len(), 2);
    let found = ok(store.search_tickets(terms("said"), TicketFilter::default(), first(9)));
    assert_eq!(found.page.rows[0].id, TicketId::new(2));
    let filter = TicketFilter {
        organisation: Some("acme".to_owned()),
        ..TicketFilter::default()
    };
    let listed = ok(store.list_tickets(filter, TicketOrder::Newest, first(9)));
    assert_eq!(listed.total.count, 2);
    let filter = CustomerFilter {
        organisation: Some("acme".to_owned()),
        ..CustomerFilter::default()
    };
    assert_eq!(
        ok(store.list_customers(filter, TicketOrder::Newest, first(9)))
            .total
            .count,
        2
    );
    let log = audit_rows(&store);
    let what: Vec<_> = log
        .iter()
        .map(|row| (row.entity, row.entity_id.unwrap()))
        .collect();
    let expected = [
        (EntityKind::Customer, 1),
        (EntityKind::Customer, 2),
        (EntityKind::Ticket, 1),
        (EntityKind::Ticket, 2),
        (EntityKind::Ticket, 2),
        (EntityKind::Call, 1),
        (EntityKind::Csat, 1),
        (EntityKind::Article, 1),
    ];
    assert_eq!(what, expected);
    assert!(log.iter().all(|row| row.action == Action::Import));
    assert_eq!(log[4].version_before, Some(Version::FIRST));
}

fn only_so_many_refusals_are_listed(place: &Place) {
    let store = place.open();
    let bad = vec![ImportRecord::Ticket(ticket("t", "nobody")); ImportReport::REFUSALS_LISTED + 3];
    let report = import(&store, bad, OnError::Skip);
    assert_eq!(report.refused.len(), ImportReport::REFUSALS_LISTED);
    assert_eq!(report.refused_count, 1_003);
}
