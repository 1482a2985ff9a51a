//! Walking a list to its end under any page size while rows come in: every row once, none missing, the total right.

use std::cell::Cell;

use crate::support::{
    Place, act, at, audit_rows, customer, first, new_customer, ok, terms, ticket_with, to_team,
    valid, walk,
};
use domain::{CustomerFilter, Priority, TicketFilter, TicketId, TicketOrder, limits};

on_every_engine!(
    tickets_are_walked_in_every_order_while_more_are_filed,
    found_tickets_are_walked_while_more_are_filed,
    customers_are_walked_in_every_order_while_more_register,
    audit_rows_are_walked_while_more_are_written,
    a_total_is_exact_up_to_its_limit_and_then_a_lower_bound,
);

/// How often rows come in during one walk. Rows that keep coming in at the end of a list would never let a walk end, and
/// all walks of a test together must stay under the hundred rows that one page can show.
const ARRIVALS: u32 = 3;

fn tickets_are_walked_in_every_order_while_more_are_filed(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    // Every third instant is shared by three tickets; every other ticket is outside of the filter.
    let mut wanted = Vec::new();
    for number in 0..24_i64 {
        let priority = if number % 2 == 0 {
            Priority::Low
        } else {
            Priority::High
        };
        let made = ticket_with(&store, number / 3, ada, |new| new.priority = priority);
        if priority == Priority::Low {
            wanted.push(made.id);
        }
    }
    for (number, id) in (100..).zip(wanted.iter().skip(3).step_by(2)) {
        ok(store.assign_ticket(act(number / 2), *id, None, to_team("Net")));
    }
    let filter = TicketFilter {
        priority: Some(Priority::Low),
        ..TicketFilter::default()
    };
    let mut newly = 0;
    for order in [
        TicketOrder::Newest,
        TicketOrder::Oldest,
        TicketOrder::Updated,
    ] {
        for limit in 1..=7 {
            let mut arrivals = 0;
            let list = |page| ok(store.list_tickets(filter.clone(), order, page));
            let all = list(first(100));
            let rows = walk(limit, |page| {
                if page.after().is_some() && arrivals < ARRIVALS {
                    // In turn at both ends and in the middle of the list, and once more outside of the filter.
                    let second = [5_000, -5_000, 4][arrivals as usize];
                    arrivals += 1;
                    newly += 1;
                    for priority in [Priority::Low, Priority::High] {
                        ticket_with(&store, second, ada, |new| new.priority = priority);
                    }
                }
                let found = list(page);
                assert_eq!(found.total.count, 12 + newly);
                found
            });
            let ids: Vec<TicketId> = rows.iter().map(|ticket| ticket.id).collect();
            let mut once = ids.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(
                once.len(),
                ids.len(),
                "{order} {limit}: a ticket came twice"
            );
            let place = |ticket: &domain::Ticket| match order {
                TicketOrder::Newest | TicketOrder::Oldest => (ticket.created_at, ticket.id),
                TicketOrder::Updated => (ticket.updated_at, ticket.id),
            };
            let sorted = match order {
                TicketOrder::Oldest => rows.is_sorted_by_key(place),
                TicketOrder::Newest | TicketOrder::Updated => {
                    rows.iter().rev().is_sorted_by_key(place)
                }
            };
            assert!(sorted, "{order} {limit}");
            for ticket in all.rows {
                assert!(
                    ids.contains(&ticket.id),
                    "{order} {limit}: {} is missing",
                    ticket.id
                );
            }
            assert_eq!(arrivals, ARRIVALS);
        }
    }
}

fn found_tickets_are_walked_while_more_are_filed(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let file = |number: i64| {
        ticket_with(&store, number, ada, |new| {
            let (subject, description) = match number % 3 {
                0 => ("printer jam", "again"),
                1 => ("printer", "jam again"),
                _ => ("paper", "the printer"),
            };
            subject.clone_into(&mut new.subject);
            description.clone_into(&mut new.description);
        })
        .id
    };
    for number in 0..15 {
        file(number);
    }
    let mut count = 15;
    // Words that some tickets hold together, and words that none does.
    for query in ["printer jam", "printer jam unheard"] {
        for limit in 1..=7 {
            let mut arrivals = 0;
            let search =
                |page| ok(store.search_tickets(terms(query), TicketFilter::default(), page));
            let mut expected: Vec<TicketId> = search(first(100))
                .page
                .rows
                .iter()
                .map(|ticket| ticket.id)
                .collect();
            let all_words = search(first(1)).all_words;
            let rows = walk(limit, |page| {
                if page.after().is_some() && arrivals < ARRIVALS {
                    arrivals += 1;
                    file(count);
                    count += 1;
                }
                let found = search(page);
                assert_eq!(found.all_words, all_words);
                let total = search(first(100)).page.total;
                assert_eq!(found.page.total, total);
                found.page
            });
            let mut ids: Vec<TicketId> = rows.iter().map(|ticket| ticket.id).collect();
            let length = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), length, "{query} {limit}: a ticket came twice");
            expected.retain(|id| ids.binary_search(id).is_err());
            assert!(
                expected.is_empty(),
                "{query} {limit}: {expected:?} are missing"
            );
        }
    }
}

fn customers_are_walked_in_every_order_while_more_register(place: &Place) {
    let store = place.open();
    let count = Cell::new(0);
    let register = |second: i64| {
        let email = format!("c{}@example.com", count.get());
        count.set(count.get() + 1);
        ok(store.create_customer(act(second), valid(new_customer(&email))))
    };
    for number in 0..12 {
        register(number / 3);
    }
    for order in [
        TicketOrder::Newest,
        TicketOrder::Oldest,
        TicketOrder::Updated,
    ] {
        for limit in 1..=7 {
            let mut arrivals = 0;
            let list = |page| ok(store.list_customers(CustomerFilter::default(), order, page));
            let all = list(first(100)).rows;
            let rows = walk(limit, |page| {
                if page.after().is_some() && arrivals < ARRIVALS {
                    register([5_000, -5_000, 2][arrivals as usize]);
                    arrivals += 1;
                }
                let found = list(page);
                assert_eq!(i64::from(found.total.count), count.get());
                found
            });
            let mut ids: Vec<_> = rows.iter().map(|row| row.id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), rows.len(), "{order} {limit}");
            assert!(
                all.iter().all(|row| ids.contains(&row.id)),
                "{order} {limit}"
            );
        }
    }
}

fn audit_rows_are_walked_while_more_are_written(place: &Place) {
    let store = place.open();
    for number in 0..9 {
        customer(&store, &format!("a{number}@example.com"));
    }
    for limit in 1..=7_u16 {
        let before = audit_rows(&store).len();
        let rows = walk(limit, |page| {
            if page.after().is_some() {
                let next = audit_rows(&store).len();
                customer(&store, &format!("b{next}@example.com"));
            }
            let found = ok(store.list_audit_entries(domain::AuditFilter::default(), page));
            assert_eq!(found.total.count as usize, audit_rows(&store).len());
            found
        });
        let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
        let expected: Vec<i64> = (1..=i64::try_from(before).unwrap()).rev().collect();
        assert_eq!(seqs, expected, "limit {limit}");
    }
}

fn a_total_is_exact_up_to_its_limit_and_then_a_lower_bound(place: &Place) {
    use storage::import::{ImportRecord, OnError};

    let store = place.open();
    let ada = customer(&store, "ada@example.com");
    let import = |from: u32, to: u32| {
        let rows = (from..to).map(|number| {
            let mut row = crate::import::ticket(&number.to_string(), "ada@example.com");
            row.created_at = at(i64::from(number));
            row.updated_at = at(i64::from(number));
            crate::import::row(u64::from(number), ImportRecord::Ticket(row))
        });
        let report = ok(store.import(act(0), Box::new(rows), OnError::Abort));
        assert_eq!(report.created, u64::from(to - from));
    };
    let totals = || {
        let filter = TicketFilter {
            customer: Some(ada.id),
            ..TicketFilter::default()
        };
        let listed = ok(store.list_tickets(filter.clone(), TicketOrder::Newest, first(1)));
        let found = ok(store.search_tickets(terms("imported"), filter, first(1)));
        assert_eq!(found.page.total, listed.total);
        (listed.total, found.candidates_capped)
    };
    import(0, limits::TOTAL_EXACT);
    let (total, capped) = totals();
    assert_eq!(
        (total.count, total.is_lower_bound, capped),
        (1_000, false, false)
    );
    import(limits::TOTAL_EXACT, limits::TOTAL_EXACT + 1);
    let (total, capped) = totals();
    assert_eq!(
        (total.count, total.is_lower_bound, capped),
        (1_000, true, true)
    );
}
