//! Registering and finding customers.

use domain::{
    CustomerFilter, CustomerId, CustomerStatus, EntityKind, NewCustomer, TicketOrder, Version,
};
use storage::StoreError;

use crate::support::{Place, act, at, audit_rows, customer, err, first, new_customer, ok, valid};

on_every_engine!(
    a_customer_is_registered_as_given,
    an_address_belongs_to_one_customer_however_it_is_written,
    a_customer_that_is_not_there_is_not_found,
    every_filter_changes_the_list,
    a_query_is_text_and_no_pattern,
);

fn a_customer_is_registered_as_given(place: &Place) {
    let store = place.open();
    let made = ok(store.create_customer(
        act(3),
        valid(NewCustomer {
            name: "Zoë \u{1f600} O'Neil".to_owned(),
            email: "Zoe@Example.COM".to_owned(),
            phone: Some("+44 20 7946 0123".to_owned()),
            organisation: Some("ＡCME <Größe>".to_owned()),
        }),
    ));
    assert_eq!(made.name, "Zoë \u{1f600} O'Neil");
    assert_eq!(made.email, "Zoe@Example.COM");
    assert_eq!(made.phone.as_deref(), Some("+44 20 7946 0123"));
    assert_eq!(made.organisation.as_deref(), Some("ＡCME <Größe>"));
    assert_eq!(made.status, CustomerStatus::Active);
    assert_eq!((made.created_at, made.updated_at), (at(3), at(3)));
    assert_eq!(made.version, Version::FIRST);
    assert_eq!(ok(store.get_customer(made.id)), made);
    let log = audit_rows(&store);
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].entity, EntityKind::Customer);
    assert_eq!(log[0].entity_id, Some(made.id.number()));
}

fn an_address_belongs_to_one_customer_however_it_is_written(place: &Place) {
    let store = place.open();
    customer(&store, "ada@example.com");
    for again in ["ada@example.com", "ADA@Example.Com", "ａda@example.com"] {
        let error = err(store.create_customer(act(1), valid(new_customer(again))));
        assert!(matches!(error, StoreError::DuplicateEmail), "{error:?}");
    }
    customer(&store, "ada@example.org");
    assert_eq!(audit_rows(&store).len(), 2);
}

fn a_customer_that_is_not_there_is_not_found(place: &Place) {
    let store = place.open();
    customer(&store, "ada@example.com");
    for id in [0, 2, -1, i64::MAX, i64::MIN] {
        let error = err(store.get_customer(CustomerId::new(id)));
        assert!(
            matches!(error, StoreError::NotFound { entity: EntityKind::Customer, id: found } if found == id),
            "{error:?}"
        );
    }
}

fn every_filter_changes_the_list(place: &Place) {
    let store = place.open();
    for (email, organisation) in [
        ("a@acme.example", Some("Acme")),
        ("b@acme.example", Some("ACME")),
        ("c@other.example", Some("Acme Tools")),
        ("d@other.example", None),
    ] {
        let mut new = new_customer(email);
        new.organisation = organisation.map(str::to_owned);
        ok(store.create_customer(act(0), valid(new)));
    }
    let none = CustomerFilter::default;
    let text = |text: &str| Some(text.to_owned());
    for (filter, found) in [
        (none(), 4),
        (
            CustomerFilter {
                status: Some(CustomerStatus::Active),
                ..none()
            },
            4,
        ),
        (
            CustomerFilter {
                status: Some(CustomerStatus::Inactive),
                ..none()
            },
            0,
        ),
        (
            CustomerFilter {
                organisation: text("acme"),
                ..none()
            },
            2,
        ),
        (
            CustomerFilter {
                organisation: text("acme tools"),
                ..none()
            },
            1,
        ),
        (
            CustomerFilter {
                organisation: text("nobody"),
                ..none()
            },
            0,
        ),
        (
            CustomerFilter {
                email: text("d@other.example"),
                ..none()
            },
            1,
        ),
        (
            CustomerFilter {
                email: text("d@other"),
                ..none()
            },
            0,
        ),
        (
            CustomerFilter {
                query: text("acme"),
                ..none()
            },
            3,
        ),
        (
            CustomerFilter {
                query: text("other.ex"),
                ..none()
            },
            2,
        ),
        (
            CustomerFilter {
                query: text("hopper"),
                ..none()
            },
            4,
        ),
        (
            CustomerFilter {
                query: text("tools"),
                email: text("d@other.example"),
                ..none()
            },
            0,
        ),
    ] {
        let page = ok(store.list_customers(filter.clone(), TicketOrder::Newest, first(1)));
        assert_eq!(page.total.count, found, "{filter:?}");
        assert_eq!(page.rows.len(), usize::from(found > 0), "{filter:?}");
    }
}

fn a_query_is_text_and_no_pattern(place: &Place) {
    let store = place.open();
    for (email, name) in [
        ("a@example.com", "100% sure"),
        ("b@example.com", "under_score"),
        ("c@example.com", r"back\slash"),
        ("d@example.com", "plain"),
    ] {
        let mut new = new_customer(email);
        name.clone_into(&mut new.name);
        ok(store.create_customer(act(0), valid(new)));
    }
    for (query, found) in [
        ("%", "100% sure"),
        ("0%", "100% sure"),
        ("_", "under_score"),
        ("r_s", "under_score"),
        (r"\", r"back\slash"),
        (r"k\s", r"back\slash"),
        ("plain", "plain"),
    ] {
        let filter = CustomerFilter {
            query: Some(query.to_owned()),
            ..CustomerFilter::default()
        };
        let page = ok(store.list_customers(filter, TicketOrder::Oldest, first(9)));
        let names: Vec<&str> = page.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, [found], "{query}");
    }
}
