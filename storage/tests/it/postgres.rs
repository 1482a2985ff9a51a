//! What only a server can do to a store: go away, lose an answer, be set up badly, have a clock of its own.

mod proxy;

use std::sync::Arc;

use domain::{AuditFilter, GuardedWrite};
use storage::{
    DatabaseUrl, ExpiryClock, OpenError, Options, Redeemed, Refusal, Storage, StoreError,
};
use testkit::postgres::TestDatabase;
use writegate::ApprovalLevel;

use self::proxy::{Cut, Proxy};
use crate::gate::{new_preview, previewed, redeem, refusal};
use crate::support::{
    act, audit_rows, customer, err, first, log_keys, new_customer, ok, ticket, valid, wait,
};

fn database() -> Option<TestDatabase> {
    TestDatabase::claim(|url| {
        storage::migrate(&DatabaseUrl::parse(url).unwrap(), log_keys()).unwrap();
    })
}

fn open(url: &str, options: Options) -> Arc<dyn Storage> {
    let url = DatabaseUrl::parse(url).unwrap();
    storage::open(&url, log_keys(), options).unwrap()
}

fn open_error(database: &TestDatabase, options: Options) -> OpenError {
    match storage::open(
        &DatabaseUrl::parse(database.url()).unwrap(),
        log_keys(),
        options,
    ) {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

#[test]
fn a_store_goes_on_after_its_connections_were_ended() {
    let Some(database) = database() else { return };
    let store = open(database.url(), Options::default());
    let ada = customer(&store, "ada@example.com");
    for round in 0..3 {
        for _ in 0..8 {
            assert_eq!(ok(store.get_customer(ada.id)), ada);
        }
        database.disconnect_all();
        assert_eq!(ok(store.get_customer(ada.id)), ada);
        customer(&store, &format!("bo{round}@example.com"));
    }
    assert_eq!(audit_rows(&store).len(), 4);
}

#[test]
fn a_commit_that_lost_its_answer_is_looked_up_and_never_repeated() {
    let Some(database) = database() else { return };
    let proxy = Proxy::before(database.url());
    let store = open(&proxy.url, Options::default());
    for round in 0..4 {
        let email = |way: &str| format!("{way}{round}@example.com");
        proxy.cut(Cut::AfterCommit);
        let kept = customer(&store, &email("after"));
        assert_eq!(ok(store.get_customer(kept.id)), kept);
        proxy.cut(Cut::BeforeCommit);
        let lost = err(store.create_customer(act(0), valid(new_customer(&email("before")))));
        assert!(matches!(lost, StoreError::Unavailable(_)), "{lost:?}");
    }
    let there = "SELECT string_agg(email, ' ' ORDER BY id) FROM customers";
    assert_eq!(
        database.query(there),
        "after0@example.com after1@example.com after2@example.com after3@example.com"
    );
    assert_eq!(audit_rows(&store).len(), 4);
}

#[test]
fn a_commit_whose_outcome_nobody_can_tell_says_so() {
    let Some(database) = database() else { return };
    let proxy = Proxy::before(database.url());
    let store = open(&proxy.url, Options::default());
    proxy.cut(Cut::AfterCommitForGood);
    let unknown = err(store.create_customer(act(0), valid(new_customer("ada@example.com"))));
    assert!(
        matches!(unknown, StoreError::OutcomeUnknown(_)),
        "{unknown:?}"
    );
    assert_eq!(database.query("SELECT count(*) FROM customers"), "1");
}

#[test]
fn writers_of_two_stores_leave_one_dense_log_at_every_default_isolation() {
    for isolation in ["read committed", "repeatable read", "serializable"] {
        let Some(database) = database() else { return };
        database.set("default_transaction_isolation", isolation);
        let stores = [(); 2].map(|()| open(database.url(), Options::default()));
        std::thread::scope(|scope| {
            for writer in 0..64 {
                let store = &stores[writer % 2];
                scope.spawn(move || {
                    for number in 0..4 {
                        let email = format!("w{writer}.{number}@example.com");
                        ok(store.create_customer(act(0), valid(new_customer(&email))));
                    }
                });
            }
        });
        assert_eq!(audit_rows(&stores[0]).len(), 256, "{isolation}");
    }
}

#[test]
fn a_server_that_may_lose_a_commit_is_refused() {
    let Some(database) = database() else { return };
    database.set("synchronous_commit", "off");
    let error = open_error(&database, Options::default());
    assert!(
        matches!(
            error,
            OpenError::Setting {
                setting: "synchronous_commit",
                ..
            }
        ),
        "{error:?}"
    );
    for enough in ["local", "on"] {
        database.set("synchronous_commit", enough);
        open(database.url(), Options::default());
    }
}

#[test]
fn an_empty_database_is_filled_once_and_only_when_that_is_wanted() {
    let Some(database) = TestDatabase::claim_empty() else {
        return;
    };
    let error = open_error(&database, Options::default());
    assert!(matches!(error, OpenError::NoDesk), "{error:?}");
    let create = Options {
        create: true,
        ..Options::default()
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (database, create) = (&database, create.clone());
            scope.spawn(move || open(database.url(), create));
        }
    });
    let steps = "SELECT count(*) = count(DISTINCT version) FROM __diesel_schema_migrations";
    assert_eq!(database.query(steps), "true");
    assert_eq!(database.query("SELECT count(*) FROM deployment"), "1");
}

#[test]
fn a_database_of_a_newer_build_is_refused() {
    let Some(database) = database() else { return };
    database.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')");
    let error = open_error(&database, Options::default());
    assert!(
        matches!(&error, OpenError::NewerSchema { found } if found == "9999"),
        "{error:?}"
    );
}

#[test]
fn expiry_goes_by_the_clock_of_the_server_and_not_of_who_asks() {
    let Some(database) = database() else { return };
    let store = open(
        database.url(),
        Options {
            expiry_clock: ExpiryClock::Database,
            ..Options::default()
        },
    );
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let write = GuardedWrite::CloseTicket { ticket: id };
    let waiting = |ttl| {
        let mut new = new_preview(&write, ApprovalLevel::Token);
        new.ttl = ttl;
        previewed(&store, act(0), new)
    };
    let short = waiting(1);
    let person = new_preview(&write, ApprovalLevel::Person);
    let listed = previewed(&store, act(0), person);
    // A day fast, and a day slow.
    for second in [86_400, -86_400] {
        assert_eq!(
            refusal(ok(redeem(&store, act(second), &short))),
            Refusal::Expired
        );
        let shown = ok(store.list_approvals(act(second).at));
        assert!(shown.iter().any(|approval| approval.id == listed.approval));
    }
    let long = waiting(600_000_000);
    assert!(matches!(
        ok(redeem(&store, act(86_400), &long)),
        Redeemed::Applied(_)
    ));
}

#[test]
fn a_statement_that_waits_too_long_for_another_writer_is_busy() {
    let Some(database) = database() else { return };
    let store = open(
        database.url(),
        Options {
            busy_timeout: std::time::Duration::from_millis(50),
            ..Options::default()
        },
    );
    database.execute("BEGIN; UPDATE audit_head SET seq = seq");
    let busy = err(store.create_customer(act(0), valid(new_customer("ada@example.com"))));
    assert!(matches!(busy, StoreError::Busy), "{busy:?}");
    let page = wait(store.list_audit_entries(AuditFilter::default(), first(1)));
    assert!(page.unwrap().rows.is_empty());
    database.execute("ROLLBACK");
    customer(&store, "ada@example.com");
}

#[test]
fn a_pooler_that_gives_each_transaction_another_connection_is_no_matter() {
    let Some(database) = database() else { return };
    let Some(url) = database.by_pooler() else {
        return;
    };
    let stores = [(); 2].map(|()| open(&url, Options::default()));
    let ada = customer(&stores[0], "ada@example.com");
    std::thread::scope(|scope| {
        for caller in 0..16 {
            let (store, ada) = (&stores[caller % 2], &ada);
            scope.spawn(move || {
                for number in 0..100 {
                    assert_eq!(ok(store.get_customer(ada.id)), *ada);
                    let filed = number % 10 == 0;
                    if filed {
                        ticket(store, ada.id, &format!("{caller} {number}"));
                    }
                    ok(store.list_audit_entries(AuditFilter::default(), first(5)));
                }
            });
        }
    });
    assert_eq!(audit_rows(&stores[1]).len(), 161);
}
