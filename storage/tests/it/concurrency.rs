//! Many callers at once: none is told that the database is locked, and no change is lost.

use std::sync::Arc;

use domain::{Status, TicketFilter, TicketId, TicketOrder, Version};
use storage::{Moved, Options, Storage, StoreError};

use crate::support::{
    Place, act, audit_rows, customer, first, new_comment, new_ticket, ok, ticket, to_team, valid,
    wait,
};

on_every_engine!(
    optimistic_changes_of_eight_threads_end_exactly,
    two_stores_on_one_database_take_sixteen_callers,
    racing_for_one_step_has_one_winner,
    readers_see_whole_changes_while_others_write,
    more_readers_than_connections_are_all_served,
);

/// Changes a ticket at the version that was read, as often as it takes; gives how often it was too late.
fn change_once(store: &Arc<dyn Storage>, id: TicketId, second: i64) -> usize {
    let mut late = 0;
    loop {
        let version = ok(store.get_ticket(id)).version;
        let comment = valid(new_comment("counted"));
        match wait(store.add_comment(act(second), id, Some(version), comment)) {
            Ok(added) => {
                assert_eq!(added.ticket.version, version.next());
                return late;
            }
            Err(StoreError::Stale { expected, found }) => {
                assert!(expected == version && found > version);
                late += 1;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn optimistic_changes_of_eight_threads_end_exactly(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for step in 0..50 {
                    change_once(store, id, thread * 50 + step);
                }
            });
        }
    });
    assert_eq!(ok(store.get_ticket(id)).version, Version::new(401));
    let comments = ok(store.get_ticket_details(id, first(1))).comments;
    assert_eq!(comments.total.count, 400);
    assert_eq!(audit_rows(&store).len(), 402);
}

fn two_stores_on_one_database_take_sixteen_callers(place: &Place) {
    let stores = [place.open(), place.open()];
    let ada = customer(&stores[0], "ada@example.com").id;
    let shared = ticket(&stores[0], ada, "shared").id;
    std::thread::scope(|scope| {
        for caller in 0..16 {
            let store = &stores[caller % 2];
            scope.spawn(move || {
                let second = i64::try_from(caller).unwrap();
                for round in 0..6 {
                    let own = ticket(store, ada, &format!("own {caller} {round}")).id;
                    ok(store.assign_ticket(act(second), own, None, to_team("Net")));
                    change_once(store, shared, second);
                    ok(store.add_comment(act(second), shared, None, valid(new_comment("more"))));
                    ok(store.list_tickets(TicketFilter::default(), TicketOrder::Newest, first(5)));
                }
            });
        }
    });
    for store in &stores {
        assert_eq!(
            ok(store.get_ticket(shared)).version,
            Version::new(1 + 16 * 6 * 2)
        );
        let all = ok(store.list_tickets(TicketFilter::default(), TicketOrder::Newest, first(1)));
        assert_eq!(all.total.count, 1 + 16 * 6);
        assert_eq!(audit_rows(store).len(), 2 + 16 * 6 * 4);
    }
}

fn racing_for_one_step_has_one_winner(place: &Place) {
    let stores = [place.open(), place.open()];
    let ada = customer(&stores[0], "ada@example.com").id;
    for _ in 0..5 {
        let id = ticket(&stores[0], ada, "x").id;
        let won: usize = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|racer| {
                    let store = &stores[racer % 2];
                    scope.spawn(move || {
                        let to = Status::Closed;
                        match wait(store.change_ticket_status(act(1), id, Some(Version::FIRST), to))
                        {
                            Ok(Moved::Done { .. }) => 1,
                            Err(StoreError::Stale { .. }) => 0,
                            other => panic!("{other:?}"),
                        }
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
    }
}

fn readers_see_whole_changes_while_others_write(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for second in 0..60 {
                ok(store.add_comment(act(second), id, None, valid(new_comment("x"))));
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = Version::FIRST;
                for _ in 0..60 {
                    let details = ok(store.get_ticket_details(id, first(1)));
                    let version = details.ticket.version;
                    let comments = i64::from(details.comments.total.count);
                    assert_eq!(version.number(), comments + 1);
                    assert!(version >= last, "a later read saw an earlier state");
                    last = version;
                }
            });
        }
    });
}

fn more_readers_than_connections_are_all_served(place: &Place) {
    let store = place.open_with(Options {
        readers: 1,
        ..Options::default()
    });
    let ada = customer(&store, "ada@example.com").id;
    let id = ok(store.create_ticket(act(0), valid(new_ticket(ada, "x"))))
        .ticket
        .id;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(ok(store.get_ticket(id)).id, id);
                }
            });
        }
    });
}
