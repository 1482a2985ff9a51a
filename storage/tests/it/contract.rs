//! Every method of the trait, once as meant and once as not.

use domain::{Status, TicketFilter, TicketOrder, Version};
use storage::{Moved, StoreError};

use crate::support::{
    Place, act, customer, err, first, new_comment, new_ticket, no_ticket, ok, ticket, to_team,
    valid,
};

#[test]
fn a_ticket_goes_from_filing_to_resolved() {
    let place = Place::new();
    let store = place.open();
    let grace = customer(&store, "grace@navy.example");
    let filed = ticket(&store, grace.id, "The compiler is broken");
    assert_eq!(ok(store.get_ticket(filed.id)), filed);
    let assigned = ok(store.assign_ticket(act(1), filed.id, None, to_team("Compilers")));
    assert!(assigned.new_team);
    let moved =
        ok(store.change_ticket_status(act(2), filed.id, Some(Version::new(2)), Status::InProgress));
    assert!(matches!(
        moved,
        Moved::Done {
            from: Status::Open,
            ..
        }
    ));
    let comment = ok(store.add_comment(act(3), filed.id, None, valid(new_comment("Found it"))));
    assert_eq!(comment.ticket.version, Version::new(4));
    let resolved = ok(store.resolve_ticket(
        act(4),
        filed.id,
        None,
        Some(valid(new_comment("Moth removed"))),
    ));
    let Moved::Done { ticket, .. } = resolved else {
        panic!("{resolved:?}");
    };
    assert_eq!(ticket.version, Version::new(5));
    let details = ok(store.get_ticket_details(filed.id, first(1)));
    assert_eq!(details.comments.rows[0].body, "Moth removed");
    assert_eq!(details.comments.total.count, 2);
    let listed = ok(store.list_tickets(TicketFilter::default(), TicketOrder::Updated, first(9)));
    assert_eq!(listed.rows, [ticket]);
    let found = ok(store.search_tickets(
        vec!["moth".to_owned(), "compil".to_owned()],
        TicketFilter::default(),
        first(9),
    ));
    assert!(found.all_words);
    assert_eq!(found.page.rows.len(), 1);
    assert_eq!(
        ok(store.list_audit_entries(domain::AuditFilter::default(), first(50)))
            .rows
            .len(),
        6
    );
    ok(store.close());
}

#[test]
fn what_is_not_there_is_not_found() {
    let place = Place::new();
    let store = place.open();
    assert!(matches!(
        err(store.get_ticket(no_ticket())),
        StoreError::NotFound { id: 4_711, .. }
    ));
    assert!(matches!(
        err(store.create_ticket(act(0), valid(new_ticket(domain::CustomerId::new(9), "x")))),
        StoreError::NotFound {
            entity: domain::EntityKind::Customer,
            id: 9
        }
    ));
}
