//! Opening, migrating, closing: what a mistyped path, another user, an older or newer build and a second process meet.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::{
    Action, AuditRecord, EntityKind, OpenStatus, Outcome, TicketFilter, TicketId, TicketOrder,
};
use storage::import::OnError;
use storage::{DatabaseUrl, OpenError, Options, StoreError};

use crate::support::{
    Place, act, audit_rows, customer, err, first, log_keys, new_comment, new_customer, new_ticket,
    ok, ticket, to_team, valid, wait,
};

on_every_engine!(
    what_was_written_is_there_after_a_restart,
    a_closed_store_answers_nothing_more,
    a_store_for_reading_records_refusals_and_takes_no_other_write,
);

fn what_was_written_is_there_after_a_restart(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let made = ticket(&store, ada, "x");
    ok(store.close());
    drop(store);
    assert!(
        storage::migrate(&place.url(), log_keys())
            .unwrap()
            .is_empty()
    );
    let store = place.open();
    assert_eq!(ok(store.get_ticket(made.id)), made);
    assert_eq!(audit_rows(&store).len(), 2);
    customer(&store, "bo@example.com");
    assert_eq!(audit_rows(&store).len(), 3);
}

fn a_closed_store_answers_nothing_more(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    ok(store.close());
    ok(store.close());
    for error in [
        err(store.create_customer(act(0), valid(new_customer("bo@example.com")))),
        err(store.create_ticket(act(0), valid(new_ticket(ada, "x")))),
    ] {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    let error = err(store.get_customer(ada));
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
}

fn a_store_for_reading_records_refusals_and_takes_no_other_write(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let reading = place.open_with(Options {
        read_only: true,
        ..Options::default()
    });
    let new = || valid(new_comment("x"));
    let errors = [
        err(reading.create_customer(act(0), valid(new_customer("bo@example.com")))),
        err(reading.create_ticket(act(0), valid(new_ticket(ada, "x")))),
        err(reading.assign_ticket(act(0), id, None, to_team("Net"))),
        err(reading.add_comment(act(0), id, None, new())),
        err(reading.change_ticket_status(act(0), id, None, OpenStatus::InProgress)),
        err(reading.resolve_ticket(act(0), id, None, Some(new()))),
        err(reading.import(act(0), Box::new(std::iter::empty()), OnError::Skip)),
    ];
    for error in errors {
        let StoreError::Unavailable(cause) = &error else {
            panic!("{error:?}");
        };
        assert!(cause.to_string().contains("for reading only"), "{cause}");
    }
    assert_eq!(ok(reading.get_ticket(id)).id, id);
    let record = AuditRecord {
        action: Action::AssignTicket,
        entity: EntityKind::Ticket,
        entity_id: Some(id.number()),
        version_before: None,
        version_after: None,
        outcome: Outcome::Refused,
        code: Some("FORBIDDEN"),
        facts: Vec::new(),
    };
    ok(reading.record_refusal(act(0), record));
    assert_eq!(audit_rows(&store).len(), 3);
}

fn open_error(url: &DatabaseUrl, options: Options) -> OpenError {
    match storage::open(url, log_keys(), options) {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_path_without_a_database_is_an_error_unless_one_is_to_be_made() {
    let place = Place::sqlite();
    let error = open_error(&place.url(), Options::default());
    assert!(
        matches!(&error, OpenError::NotFound { path } if *path == place.path()),
        "{error:?}"
    );
    assert!(!place.path().exists());
    let nowhere = DatabaseUrl::parse(&format!("sqlite:{}/a/b.db", place.path().display())).unwrap();
    let options = Options {
        create: true,
        ..Options::default()
    };
    let error = open_error(&nowhere, options);
    assert!(
        matches!(error, OpenError::Io { .. } | OpenError::NotFound { .. }),
        "{error:?}"
    );
}

#[test]
fn every_file_is_for_its_owner_alone() {
    let place = Place::sqlite();
    let store = place.open();
    customer(&store, "ada@example.com");
    let files: Vec<_> = std::fs::read_dir(place.path().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    let place = Place::sqlite();
    drop(place.open());
    for open_to_others in [0o640, 0o604, 0o660, 0o644] {
        let permissions = std::fs::Permissions::from_mode(open_to_others);
        std::fs::set_permissions(place.path(), permissions).unwrap();
        let error = open_error(&place.url(), Options::default());
        assert!(
            matches!(error, OpenError::NotPrivate { mode, .. } if mode == open_to_others),
            "{error:?}"
        );
    }
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let place = Place::sqlite();
    std::fs::write(place.path(), "Dear diary, ".repeat(500)).unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let options = Options {
        create: true,
        ..Options::default()
    };
    let error = open_error(&place.url(), options);
    assert!(matches!(error, OpenError::Unavailable(_)), "{error:?}");
    assert!(
        std::fs::read_to_string(place.path())
            .unwrap()
            .starts_with("Dear diary")
    );
}

#[test]
fn a_server_that_does_not_answer_is_an_error_without_the_password() {
    let url = DatabaseUrl::parse("postgres://desk:hunter2@127.0.0.1:1/desk").unwrap();
    let error = open_error(&url, Options::default());
    assert!(matches!(error, OpenError::Unavailable(_)), "{error:?}");
    let shown = format!("{error:?} {error}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn migrations_run_once_when_many_open_a_new_database_at_once() {
    let place = Place::sqlite();
    let start = std::sync::Barrier::new(8);
    let steps: usize = std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    storage::migrate(&place.url(), log_keys()).unwrap().len()
                })
            })
            .collect();
        openers
            .into_iter()
            .map(|opener| opener.join().unwrap())
            .sum()
    });
    let all = storage::migrate(&place.another().url(), log_keys())
        .unwrap()
        .len();
    assert_eq!(steps, all);
}

#[test]
fn stores_that_are_opened_at_once_on_a_new_database_all_work() {
    let place = Place::sqlite();
    let start = std::sync::Barrier::new(6);
    std::thread::scope(|scope| {
        for opener in 0..6 {
            let (place, start) = (&place, &start);
            scope.spawn(move || {
                start.wait();
                let store = place.open();
                customer(&store, &format!("c{opener}@example.com"));
                ok(store.close());
            });
        }
    });
    assert_eq!(audit_rows(&place.open()).len(), 6);
}

#[test]
fn a_store_that_is_dropped_ends_by_itself() {
    let place = Place::sqlite();
    let store = place.open();
    let id = TicketId::new(1);
    assert!(wait(store.get_ticket(id)).is_err());
    drop(store);
    let store = place.open();
    let listed = ok(store.list_tickets(TicketFilter::default(), TicketOrder::Newest, first(1)));
    assert!(listed.rows.is_empty());
}
