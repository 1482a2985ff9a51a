//! The dossier of a ticket.

use domain::{PageRequest, Status};

use crate::support::{
    Place, act, customer, first, new_comment, ok, ticket, ticket_with, valid, walk,
};

on_every_engine!(
    a_dossier_holds_the_ticket_its_customer_and_their_other_unfinished_tickets,
    comments_are_walked_from_the_newest_while_more_come_in,
);

fn a_dossier_holds_the_ticket_its_customer_and_their_other_unfinished_tickets(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com");
    let bob = customer(&store, "bob@example.com");
    ticket(&store, bob.id, "of another customer");
    let mut unfinished = Vec::new();
    for second in 0..14 {
        let made = ticket_with(&store, second, ada.id, |_new| ());
        match second % 7 {
            0 => {
                ok(store.change_ticket_status(act(20), made.id, None, Status::Closed));
            }
            1 => {
                ok(store.change_ticket_status(act(20), made.id, None, Status::InProgress));
                unfinished.push(made.id);
            }
            _ => unfinished.push(made.id),
        }
    }
    let asked = unfinished.remove(5);
    unfinished.reverse();
    let details = ok(store.get_ticket_details(asked, first(5)));
    assert_eq!(details.ticket.id, asked);
    assert_eq!(details.customer, ada);
    assert!(details.comments.rows.is_empty());
    let others: Vec<_> = details
        .other_tickets
        .iter()
        .map(|ticket| ticket.id)
        .collect();
    assert_eq!(others, unfinished[..10]);
    assert_eq!(details.other_total.count, 11);
    assert!(!details.other_total.is_lower_bound);
}

fn comments_are_walked_from_the_newest_while_more_come_in(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let mut bodies = Vec::new();
    // Three comments share each second.
    for number in 0..10 {
        let body = format!("comment {number}");
        ok(store.add_comment(act(number / 3), id, None, valid(new_comment(&body))));
        bodies.insert(0, body);
    }
    for limit in 1..=7 {
        let mut total = u32::try_from(bodies.len()).unwrap();
        let found = walk(limit, |page: PageRequest| {
            let started = page.after().is_some();
            if started {
                ok(store.add_comment(act(90), id, None, valid(new_comment("meanwhile"))));
                total += 1;
            }
            let comments = ok(store.get_ticket_details(id, page)).comments;
            assert_eq!(comments.total.count, total);
            comments
        });
        let found: Vec<String> = found.into_iter().map(|comment| comment.body).collect();
        assert_eq!(found, bodies, "limit {limit}");
        let added = usize::try_from(total).unwrap() - bodies.len();
        for _ in 0..added {
            bodies.insert(0, "meanwhile".to_owned());
        }
    }
}
