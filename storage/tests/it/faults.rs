//! No write without its audit row and no audit row without its write, whichever statement fails and however (promise R-3).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use domain::{
    Action, AuditRecord, CustomerFilter, EntityKind, NewAccessToken, OpenStatus, Outcome, ScopeSet,
    Status, TicketFilter, TicketId, TicketOrder,
};
use storage::import::{ImportRecord, OnError};
use storage::{Fault, Faults, Options, Storage, StoreError, StoreFuture};

use crate::import::{call, comment, csat, import_customer, row, ticket as import_ticket};
use crate::support::{
    Place, act, at, audit_rows, customer, first, new_comment, new_customer, new_ticket, ok, ticket,
    to_team, valid, wait,
};

on_every_engine!(
    whatever_fails_a_token_is_whole_or_absent,
    whatever_fails_a_write_is_whole_or_absent,
    whatever_fails_an_import_is_whole_or_absent,
);

/// Fails one statement, by its number from when it was armed.
#[derive(Default)]
pub(crate) struct Nth {
    left: AtomicUsize,
    fault: Mutex<Option<Fault>>,
}

impl Nth {
    fn arm(&self, number: usize, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
        self.left.store(number, Ordering::SeqCst);
    }

    /// Whether the statement was never reached.
    fn disarm(&self) -> bool {
        self.left.swap(0, Ordering::SeqCst) > 0
    }
}

impl Faults for Nth {
    fn step(&self) -> Result<(), Fault> {
        let before = self.left.load(Ordering::SeqCst);
        self.left.store(before.saturating_sub(1), Ordering::SeqCst);
        if before == 1 {
            Err(self.fault.lock().unwrap().unwrap())
        } else {
            Ok(())
        }
    }
}

/// Everything that can be read of a store, the log apart.
pub(crate) fn state(store: &Arc<dyn Storage>) -> String {
    let tickets = ok(store.list_tickets(TicketFilter::default(), TicketOrder::Oldest, first(100)));
    assert!(tickets.next.is_none());
    let details: Vec<_> = tickets
        .rows
        .iter()
        .map(|ticket| ok(store.get_ticket_details(ticket.id, first(100))))
        .collect();
    let customers =
        ok(store.list_customers(CustomerFilter::default(), TicketOrder::Oldest, first(100)));
    let teams = ok(store.complete_team(String::new(), 100));
    let words = ["imported", "compiler", "said"].map(|word| {
        let found =
            store.search_tickets(vec![word.to_owned()], TicketFilter::default(), first(100));
        ok(found).page.total
    });
    let articles = ok(store.list_articles(None));
    let others = [EntityKind::Call, EntityKind::Csat]
        .map(|entity| ok(store.complete_id(entity, String::new(), 100)));
    let tokens = ok(store.list_access_tokens());
    format!("{details:?} {customers:?} {teams:?} {words:?} {articles:?} {others:?} {tokens:?}")
}

type Write = for<'a> fn(&'a Arc<dyn Storage>) -> StoreFuture<'a, ()>;

fn done<'a, T: Send + 'a>(future: StoreFuture<'a, T>) -> StoreFuture<'a, ()> {
    Box::pin(async { future.await.map(|_value| ()) })
}

fn import_everything(store: &Arc<dyn Storage>, on_error: OnError) -> StoreFuture<'_, ()> {
    let records = vec![
        ImportRecord::Customer(import_customer(Some("x"), "x@example.com")),
        ImportRecord::Ticket(import_ticket("x", "x@example.com")),
        ImportRecord::Comment(comment("x", "x")),
        ImportRecord::Call(call("x")),
        ImportRecord::Csat(csat("x", "x")),
        ImportRecord::Article(crate::knowledge::article(1, "One")),
        ImportRecord::Ticket(import_ticket("nobody's", "nobody@example.com")),
    ];
    let rows = (0..).zip(records).map(|(place, record)| row(place, record));
    done(store.import(act(1), Box::new(rows), on_error))
}

/// Every write but imports.
const WRITES: [(&str, Write); 7] = [
    ("create_customer", |store| {
        let new = new_customer("new@example.com");
        done(store.create_customer(act(1), valid(new)))
    }),
    ("create_ticket", |store| {
        let mut new = new_ticket(domain::CustomerId::new(1), "The compiler");
        new.assigned_team = Some("Team".to_owned());
        done(store.create_ticket(act(1), valid(new)))
    }),
    ("assign_ticket", |store| {
        let team = to_team("Other team");
        done(store.assign_ticket(act(1), TicketId::new(1), None, team))
    }),
    ("add_comment", |store| {
        let new = new_comment("They said");
        done(store.add_comment(act(1), TicketId::new(1), None, valid(new)))
    }),
    ("change_ticket_status", |store| {
        Box::pin(async {
            let id = TicketId::new(1);
            let to = match store.get_ticket(id).await?.status {
                Status::Open => OpenStatus::InProgress,
                Status::InProgress | Status::Resolved | Status::Closed => OpenStatus::Open,
            };
            store
                .change_ticket_status(act(1), id, None, to)
                .await
                .map(|_| ())
        })
    }),
    ("resolve_ticket", |store| {
        let new = new_comment("They said it works");
        let id = TicketId::new(2);
        done(store.resolve_ticket(act(1), id, None, Some(valid(new))))
    }),
    ("record_refusal", |store| {
        let record = AuditRecord {
            action: Action::AssignTicket,
            entity: EntityKind::Store,
            entity_id: None,
            version_before: None,
            version_after: None,
            outcome: Outcome::Refused,
            code: Some("FORBIDDEN"),
            facts: Vec::new(),
        };
        store.record_refusal(act(1), record)
    }),
];

/// An import, and one that is undone because of its last row.
const IMPORTS: [(&str, Write); 2] = [
    ("import", |store| import_everything(store, OnError::Skip)),
    ("aborted import", |store| {
        import_everything(store, OnError::Abort)
    }),
];

/// A token's write differs from the others in what it leaves behind.
const TOKENS: [(&str, Write); 1] = [("create_access_token", |store| {
    done(store.create_access_token(
        act(1),
        NewAccessToken {
            digest: [9; 32],
            subject: "anna".to_owned(),
            label: String::new(),
            scopes: ScopeSet::all(),
            expires_at: at(60),
        },
    ))
})];

fn whatever_fails_a_token_is_whole_or_absent(place: &Place) {
    fail_every_statement(place, &TOKENS);
}

fn whatever_fails_a_write_is_whole_or_absent(place: &Place) {
    fail_every_statement(place, &WRITES);
}

fn whatever_fails_an_import_is_whole_or_absent(place: &Place) {
    fail_every_statement(place, &IMPORTS);
}

/// Tries a write with its first statement failing, its second, and so on, until it gets through. Every failed try has the
/// failure that was injected and leaves everything as it was. Gives the number of tries.
pub(crate) fn fail_each_statement<S: PartialEq + std::fmt::Debug>(
    faults: &Nth,
    fault: Fault,
    at: &str,
    look: impl Fn() -> S,
    write: impl Fn() -> Result<(), StoreError>,
) -> usize {
    let before = look();
    let mut number = 0;
    loop {
        number += 1;
        faults.arm(number, fault);
        let answer = write();
        if faults.disarm() {
            assert!(answer.is_ok(), "{at}: {answer:?}");
            return number;
        }
        let as_injected = matches!(
            (fault, &answer),
            (Fault::Error, Err(StoreError::Unavailable(_)))
                | (Fault::Busy, Err(StoreError::Busy))
                | (Fault::Full, Err(StoreError::Full))
                | (Fault::Panic, Err(StoreError::Internal(_)))
        );
        assert!(as_injected, "{at} at {number}: {answer:?}");
        assert_eq!(look(), before, "{at} at {number}");
    }
}

fn fail_every_statement(place: &Place, writes: &[(&str, Write)]) {
    let faults = Arc::new(Nth::default());
    for (name, write) in writes {
        for fault in [Fault::Error, Fault::Busy, Fault::Full, Fault::Panic] {
            let place = place.another();
            let store = place.open_with(Options {
                faults: Some(Arc::clone(&faults) as Arc<dyn Faults>),
                ..Options::default()
            });
            let ada = customer(&store, "ada@example.com").id;
            ticket(&store, ada, "The compiler");
            let second = ticket(&store, ada, "The compiler").id;
            ok(store.change_ticket_status(act(0), second, None, OpenStatus::InProgress));
            let look = || (state(&store), audit_rows(&store).len());
            let before = look();
            let at = format!("{name} {fault:?}");
            let number = fail_each_statement(&faults, fault, &at, look, || wait(write(&store)));
            assert!(number > 7, "{name}: only {number} statements");
            let after = look();
            let changes = *name != "aborted import";
            assert_eq!(after.1 > before.1, changes, "{name}");
            assert_eq!(
                after.0 != before.0,
                changes && *name != "record_refusal",
                "{name}"
            );
        }
    }
}
