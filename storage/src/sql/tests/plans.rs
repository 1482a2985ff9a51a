//! How the database looks lists up. A list that is walked or sorted whole is fast in every other test and slow at a
//! customer's.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Integer, Text};
use domain::{
    Action, AuditFilter, CustomerFilter, CustomerId, CustomerStatus, EntityKind, Keyset,
    LastCommentBy, Outcome, Priority, SecurityFlag, Status, TicketFilter, TicketOrder, Tier,
    TimeRange, Timestamp,
};

use super::{AnyConnection, Fixture};
use crate::sql::connection::MultiBackend;
use crate::sql::{audit, customers, tickets};

/// `EXPLAIN QUERY PLAN` of another query, binds included.
struct Explained<Q>(Q);

impl<Q> QueryId for Explained<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> Query for Explained<Q> {
    type SqlType = (Integer, Integer, Integer, Text);
}

impl<Q> RunQueryDsl<AnyConnection> for Explained<Q> {}

impl<Q: QueryFragment<MultiBackend>> QueryFragment<MultiBackend> for Explained<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        out.push_sql("EXPLAIN QUERY PLAN ");
        self.0.walk_ast(out)
    }
}

fn plan(conn: &mut AnyConnection, query: impl QueryFragment<MultiBackend>) -> String {
    let rows: Vec<(i32, i32, i32, String)> = Explained(query).load(conn).unwrap();
    let lines: Vec<String> = rows.into_iter().map(|(_, _, _, line)| line).collect();
    lines.join("; ")
}

/// Every filter alone, by a name for messages.
fn ticket_filters() -> Vec<(&'static str, TicketFilter)> {
    let text = || Some("acme".to_owned());
    let none = TicketFilter::default;
    vec![
        (
            "status",
            TicketFilter {
                status: Some(Status::Open),
                ..none()
            },
        ),
        (
            "priority",
            TicketFilter {
                priority: Some(Priority::Low),
                ..none()
            },
        ),
        (
            "category",
            TicketFilter {
                category: text(),
                ..none()
            },
        ),
        (
            "customer",
            TicketFilter {
                customer: Some(CustomerId::new(1)),
                ..none()
            },
        ),
        (
            "organisation",
            TicketFilter {
                organisation: text(),
                ..none()
            },
        ),
        (
            "team",
            TicketFilter {
                team: text(),
                ..none()
            },
        ),
        (
            "assignee",
            TicketFilter {
                assignee: text(),
                ..none()
            },
        ),
        (
            "unassigned",
            TicketFilter {
                unassigned: Some(true),
                ..none()
            },
        ),
        (
            "assigned",
            TicketFilter {
                unassigned: Some(false),
                ..none()
            },
        ),
        (
            "tier",
            TicketFilter {
                tier: Some(Tier::FIRST),
                ..none()
            },
        ),
        (
            "flag",
            TicketFilter {
                flag: Some(SecurityFlag::Held),
                ..none()
            },
        ),
        (
            "turn",
            TicketFilter {
                last_comment_by: Some(LastCommentBy::Team),
                ..none()
            },
        ),
    ]
}

const ORDERS: [TicketOrder; 3] = [
    TicketOrder::Newest,
    TicketOrder::Oldest,
    TicketOrder::Updated,
];

const PLACES: [Option<Keyset>; 2] = [None, Some(Keyset { key: 5, id: 5 })];

#[test]
fn a_list_of_tickets_by_one_filter_is_one_walk_along_its_index() {
    let mut conn = Fixture::new().connect();
    for (name, filter) in ticket_filters() {
        for order in ORDERS {
            for place in PLACES {
                let plan = plan(&mut conn, tickets::listed(&filter, order, place).limit(21));
                let by = match order {
                    TicketOrder::Newest | TicketOrder::Oldest => "created",
                    TicketOrder::Updated => "updated",
                };
                // A partial index holds the filter itself, so its walk begins at the first row.
                let index = match name {
                    "unassigned" => {
                        format!("SEARCH tickets USING INDEX tickets_by_assignee_{by} (")
                    }
                    "assigned" => format!("USING INDEX tickets_assigned_by_{by}"),
                    _ => format!("SEARCH tickets USING INDEX tickets_by_{name}_{by} ("),
                };
                assert!(
                    plan.contains(&index) && !plan.contains(';'),
                    "{name} {order} {place:?}: {plan}"
                );
            }
        }
    }
}

#[test]
fn a_list_of_all_tickets_walks_the_index_of_its_order() {
    let mut conn = Fixture::new().connect();
    let filter = TicketFilter::default();
    for order in ORDERS {
        for place in PLACES {
            let plan = plan(&mut conn, tickets::listed(&filter, order, place).limit(21));
            assert!(
                plan.contains("USING INDEX tickets_by_") && !plan.contains(';'),
                "{order} {place:?}: {plan}"
            );
        }
    }
}

#[test]
fn two_filters_are_looked_up_by_the_more_telling_one() {
    let mut conn = Fixture::new().connect();
    let filter = TicketFilter {
        customer: Some(CustomerId::new(1)),
        status: Some(Status::Open),
        priority: Some(Priority::High),
        team: Some("network".to_owned()),
        ..TicketFilter::default()
    };
    for order in ORDERS {
        let plan = plan(&mut conn, tickets::listed(&filter, order, None).limit(21));
        assert!(plan.contains("tickets_by_customer_"), "{order}: {plan}");
    }
}

#[test]
fn a_list_of_customers_by_one_filter_is_one_walk_along_its_index() {
    let mut conn = Fixture::new().connect();
    let filters = [
        (
            "SEARCH customers USING INDEX customers_by_status_",
            CustomerFilter {
                status: Some(CustomerStatus::Active),
                ..CustomerFilter::default()
            },
        ),
        (
            "SEARCH customers USING INDEX customers_by_organisation_",
            CustomerFilter {
                organisation: Some("acme".to_owned()),
                ..CustomerFilter::default()
            },
        ),
        (
            "SEARCH customers USING INDEX sqlite_autoindex_customers_",
            CustomerFilter {
                email: Some("a@b.example".to_owned()),
                ..CustomerFilter::default()
            },
        ),
        ("USING INDEX customers_by_", CustomerFilter::default()),
    ];
    for (index, filter) in filters {
        for order in ORDERS {
            for place in PLACES {
                let plan = plan(
                    &mut conn,
                    customers::listed(&filter, order, place).limit(21),
                );
                assert!(
                    plan.contains(index) && !plan.contains(';'),
                    "{order} {place:?}: {plan}"
                );
            }
        }
    }
}

#[test]
fn a_list_of_audit_rows_by_one_filter_is_one_walk_along_its_index() {
    let mut conn = Fixture::new().connect();
    let none = AuditFilter::default;
    let range = TimeRange {
        from: Some(Timestamp::from_micros(1)),
        until: Some(Timestamp::from_micros(9)),
    };
    let filters = [
        ("autoindex_audit_event", none()),
        (
            "by_actor",
            AuditFilter {
                actor: Some("a".to_owned()),
                ..none()
            },
        ),
        (
            "by_action",
            AuditFilter {
                action: Some(Action::Import),
                ..none()
            },
        ),
        (
            "by_entity",
            AuditFilter {
                entity: Some(EntityKind::Ticket),
                ..none()
            },
        ),
        (
            "by_entity_id",
            AuditFilter {
                entity: Some(EntityKind::Ticket),
                entity_id: Some(1),
                ..none()
            },
        ),
        (
            "by_outcome",
            AuditFilter {
                outcome: Some(Outcome::Refused),
                ..none()
            },
        ),
        (
            "",
            AuditFilter {
                at: range,
                ..none()
            },
        ),
    ];
    for (index, filter) in filters {
        for place in PLACES {
            let plan = plan(&mut conn, audit::listed(&filter, place).limit(21));
            assert!(
                plan.contains("SEARCH audit_event USING INDEX") && plan.contains(index),
                "{place:?}: {plan}"
            );
            assert!(index.is_empty() || !plan.contains(';'), "{place:?}: {plan}");
        }
    }
}
