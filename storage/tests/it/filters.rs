//! Each filter of the ticket list: it changes the answer, alone and with another, in a list and in a search.

use domain::ticket::Assign;
use domain::{
    Assignment, CustomerId, LastCommentBy, NewCustomer, Priority, SecurityFlag, Status,
    TicketFilter, TicketOrder, Tier, TimeRange,
};

use crate::support::{Place, act, at, customer, first, new_comment, ok, terms, ticket_with, valid};

on_every_engine!(each_filter_changes_the_answer_of_lists_and_searches);

fn each_filter_changes_the_answer_of_lists_and_searches(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let acme = ok(store.create_customer(
        act(0),
        valid(NewCustomer {
            name: "Bo".to_owned(),
            email: "bo@acme.example".to_owned(),
            phone: None,
            organisation: Some("ACME".to_owned()),
        }),
    ))
    .id;
    // One plain ticket, and one that is different in each way there is.
    let plain = ticket_with(&store, 1, ada, |_new| ()).id;
    let other = ticket_with(&store, 5, acme, |new| {
        new.priority = Priority::Urgent;
        "security".clone_into(&mut new.category);
        new.tier = Tier::LAST;
    })
    .id;
    let assignment = Assignment {
        team: Assign::Set("Net Work".to_owned()),
        assignee: Assign::Set("Bo Ek".to_owned()),
    };
    ok(store.assign_ticket(act(6), other, None, valid(assignment)));
    ok(store.add_comment(act(7), other, None, valid(new_comment("x"))));
    ok(store.change_ticket_status(act(9), other, None, Status::InProgress));

    let none = TicketFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let range = |from: i64, until: i64| TimeRange {
        from: Some(at(from)),
        until: Some(at(until)),
    };
    let only = |id| vec![id];
    let cases = vec![
        (none(), vec![other, plain]),
        (
            TicketFilter {
                status: Some(Status::Open),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                status: Some(Status::InProgress),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                status: Some(Status::Closed),
                ..none()
            },
            vec![],
        ),
        (
            TicketFilter {
                priority: Some(Priority::Medium),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                priority: Some(Priority::Urgent),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                category: text("general"),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                category: text("security"),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                customer: Some(ada),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                customer: Some(acme),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                customer: Some(CustomerId::new(9)),
                ..none()
            },
            vec![],
        ),
        (
            TicketFilter {
                organisation: text("acme"),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                organisation: text("acm"),
                ..none()
            },
            vec![],
        ),
        (
            TicketFilter {
                team: text("net work"),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                team: text("net"),
                ..none()
            },
            vec![],
        ),
        (
            TicketFilter {
                assignee: text("bo ek"),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                assignee: text("bo"),
                ..none()
            },
            vec![],
        ),
        (
            TicketFilter {
                unassigned: Some(true),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                unassigned: Some(false),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                tier: Some(Tier::FIRST),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                tier: Some(Tier::LAST),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                flag: Some(SecurityFlag::None),
                ..none()
            },
            vec![other, plain],
        ),
        (
            TicketFilter {
                flag: Some(SecurityFlag::Held),
                ..none()
            },
            vec![],
        ),
        (
            TicketFilter {
                last_comment_by: Some(LastCommentBy::Customer),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                last_comment_by: Some(LastCommentBy::Team),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                created: range(1, 5),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                created: range(2, 6),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                created: range(2, 5),
                ..none()
            },
            vec![],
        ),
        (
            TicketFilter {
                updated: range(1, 9),
                ..none()
            },
            only(plain),
        ),
        (
            TicketFilter {
                updated: range(9, 10),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                tier: Some(Tier::LAST),
                priority: Some(Priority::Urgent),
                ..none()
            },
            only(other),
        ),
        (
            TicketFilter {
                tier: Some(Tier::LAST),
                priority: Some(Priority::Medium),
                ..none()
            },
            vec![],
        ),
    ];
    for (filter, expected) in cases {
        let listed = ok(store.list_tickets(filter.clone(), TicketOrder::Newest, first(9)));
        let ids: Vec<_> = listed.rows.iter().map(|ticket| ticket.id).collect();
        assert_eq!(ids, expected, "{filter:?}");
        assert_eq!(listed.total.count as usize, expected.len(), "{filter:?}");
        let found = ok(store.search_tickets(terms("broken"), filter.clone(), first(9)));
        let ids: Vec<_> = found.page.rows.iter().map(|ticket| ticket.id).collect();
        assert_eq!(ids, expected, "{filter:?}");
        assert_eq!(
            found.page.total.count as usize,
            expected.len(),
            "{filter:?}"
        );
    }
}
