//! Filing, assigning, commenting, moving.

use domain::ticket::Assign;
use domain::{
    Assignment, AuditFilter, Channel, CustomerId, EntityKind, ForbiddenTransition, LastCommentBy,
    NewComment, NewTicket, Origin, Outcome, Priority, SecurityFlag, Status, Tier, Version,
    Visibility,
};
use storage::{Moved, StoreError};

use crate::support::{
    Place, act, at, audit_rows, customer, err, first, new_comment, new_ticket, no_ticket, ok,
    ticket, to_team, valid,
};

on_every_engine!(
    a_ticket_is_filed_as_given,
    a_ticket_needs_a_customer_and_a_category_that_are_there,
    an_assignment_changes_what_it_names,
    a_team_is_new_once_however_it_is_written,
    a_comment_raises_the_version_and_turns_the_ticket,
    the_graph_decides_every_move,
    a_resolution_is_one_change,
    a_version_that_has_passed_is_stale,
    time_never_goes_back,
    nothing_is_changed_on_a_ticket_that_is_not_there,
    teams_and_ids_are_completed,
);

fn a_ticket_is_filed_as_given(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let made = ok(store.create_ticket(
        act(5),
        valid(NewTicket {
            customer: ada,
            channel: Channel::Phone,
            subject: "S".to_owned(),
            description: "D".to_owned(),
            category: "hardware".to_owned(),
            priority: Priority::Urgent,
            tier: Tier::LAST,
            assigned_team: Some("Field".to_owned()),
            assignee: Some("Bo".to_owned()),
        }),
    ));
    assert!(made.new_team);
    let ticket = made.ticket;
    assert_eq!((ticket.customer, ticket.channel), (ada, Channel::Phone));
    assert_eq!(
        (ticket.subject.as_str(), ticket.description.as_str()),
        ("S", "D")
    );
    assert_eq!(ticket.category, "hardware");
    assert_eq!(
        (ticket.priority, ticket.tier),
        (Priority::Urgent, Tier::LAST)
    );
    assert_eq!(ticket.assigned_team.as_deref(), Some("Field"));
    assert_eq!(ticket.assignee.as_deref(), Some("Bo"));
    assert_eq!(ticket.status, Status::Open);
    assert_eq!(ticket.security_flag, SecurityFlag::None);
    assert_eq!(ticket.last_comment_by, LastCommentBy::Customer);
    assert_eq!((ticket.created_at, ticket.updated_at), (at(5), at(5)));
    assert_eq!(ticket.version, Version::FIRST);
    assert_eq!(ok(store.get_ticket(ticket.id)), ticket);
}

fn a_ticket_needs_a_customer_and_a_category_that_are_there(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let error = err(store.create_ticket(act(0), valid(new_ticket(CustomerId::new(9), "x"))));
    assert!(matches!(
        error,
        StoreError::NotFound {
            entity: EntityKind::Customer,
            id: 9
        }
    ));
    let mut new = new_ticket(ada, "x");
    "Hardware".clone_into(&mut new.category);
    let error = err(store.create_ticket(act(0), valid(new)));
    let StoreError::UnknownCategory { given, allowed } = error else {
        panic!("{error:?}");
    };
    assert_eq!(given, "Hardware");
    let slugs: Vec<String> = ok(store.list_categories())
        .into_iter()
        .map(|row| row.slug)
        .collect();
    assert_eq!(allowed, slugs);
    assert!(slugs.is_sorted());
    assert_eq!(audit_rows(&store).len(), 1);
}

fn an_assignment_changes_what_it_names(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let set = |name: &str| Assign::Set(name.to_owned());
    let steps = [
        (set("Net"), Assign::Keep, (Some("Net"), None)),
        (Assign::Keep, set("Bo"), (Some("Net"), Some("Bo"))),
        (Assign::Clear, Assign::Keep, (None, Some("Bo"))),
        (set("Desk"), Assign::Clear, (Some("Desk"), None)),
        (Assign::Clear, Assign::Clear, (None, None)),
    ];
    for (second, (team, assignee, expected)) in (1..).zip(steps) {
        let assignment = valid(Assignment { team, assignee });
        let changed = ok(store.assign_ticket(act(second), id, None, assignment)).ticket;
        let found = (
            changed.assigned_team.as_deref(),
            changed.assignee.as_deref(),
        );
        assert_eq!(found, expected);
        assert_eq!(changed.version, Version::new(second + 1));
        assert_eq!(changed.updated_at, at(second));
        assert_eq!(ok(store.get_ticket(id)), changed);
    }
}

fn a_team_is_new_once_however_it_is_written(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    for (team, new) in [
        ("Network", true),
        ("NETWORK", false),
        ("ｎetwork", false),
        ("Networks", true),
        ("network", false),
    ] {
        let changed = ok(store.assign_ticket(act(0), id, None, to_team(team)));
        assert_eq!(changed.new_team, new, "{team}");
        assert_eq!(changed.ticket.assigned_team.as_deref(), Some(team));
    }
    let mut filed = new_ticket(ada, "y");
    filed.assigned_team = Some("NetWork".to_owned());
    assert!(!ok(store.create_ticket(act(0), valid(filed))).new_team);
}

fn a_comment_raises_the_version_and_turns_the_ticket(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let said = [
        (Origin::Team, Visibility::Public, LastCommentBy::Team),
        (Origin::System, Visibility::Internal, LastCommentBy::Team),
        (
            Origin::Customer,
            Visibility::Public,
            LastCommentBy::Customer,
        ),
        (
            Origin::System,
            Visibility::Internal,
            LastCommentBy::Customer,
        ),
    ];
    for (second, (origin, visibility, turn)) in (1..).zip(said) {
        let new = NewComment {
            body: "Words".to_owned(),
            origin,
            visibility,
        };
        let added = ok(store.add_comment(act(second), id, None, valid(new)));
        assert_eq!(
            (added.comment.origin, added.comment.visibility),
            (origin, visibility)
        );
        assert_eq!(added.comment.author, "local:ada");
        assert_eq!(added.comment.ticket, id);
        assert_eq!(added.comment.created_at, at(second));
        assert_eq!(added.ticket.last_comment_by, turn);
        assert_eq!(added.ticket.version, Version::new(second + 1));
        assert_eq!(added.ticket.updated_at, at(second));
        assert_eq!(ok(store.get_ticket(id)), added.ticket);
    }
}

fn the_graph_decides_every_move(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let ways: [&[Status]; 4] = [
        &[],
        &[Status::InProgress],
        &[Status::InProgress, Status::Resolved],
        &[Status::Closed],
    ];
    for (from, way) in Status::ALL.iter().zip(ways) {
        for to in Status::ALL {
            let id = ticket(&store, ada, "x").id;
            for step in way {
                ok(store.change_ticket_status(act(1), id, None, *step));
            }
            let before = ok(store.get_ticket(id));
            assert_eq!(before.status, *from);
            let moved = ok(store.change_ticket_status(act(2), id, None, *to));
            let last = audit_rows(&store).pop().unwrap();
            assert_eq!(last.entity_id, Some(id.number()));
            assert_eq!(
                last.facts,
                [("status".to_owned(), format!("{from} -> {to}"))]
            );
            if from.next().contains(to) {
                let Moved::Done { from: left, ticket } = moved else {
                    panic!("{moved:?}");
                };
                assert_eq!((left, ticket.status), (*from, *to));
                assert_eq!(ticket.version, before.version.next());
                assert_eq!((last.outcome, last.code), (Outcome::Applied, None));
                assert_eq!(ok(store.get_ticket(id)), ticket);
            } else {
                let refused = ForbiddenTransition {
                    from: *from,
                    to: *to,
                };
                assert_eq!(moved, Moved::Forbidden(refused));
                assert_eq!(last.outcome, Outcome::Refused);
                assert_eq!(last.code.as_deref(), Some(ForbiddenTransition::CODE));
                assert_eq!(ok(store.get_ticket(id)), before);
            }
        }
    }
}

fn a_resolution_is_one_change(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let how = || Some(valid(new_comment("Replaced the cable")));
    let refused = ok(store.resolve_ticket(act(1), id, None, how()));
    assert!(matches!(refused, Moved::Forbidden(_)));
    assert!(
        ok(store.get_ticket_details(id, first(9)))
            .comments
            .rows
            .is_empty()
    );
    ok(store.change_ticket_status(act(2), id, None, Status::InProgress));
    let rows = audit_rows(&store).len();
    let done = ok(store.resolve_ticket(act(3), id, Some(Version::new(2)), how()));
    let Moved::Done { from, ticket } = done else {
        panic!("{done:?}");
    };
    assert_eq!(
        (from, ticket.status),
        (Status::InProgress, Status::Resolved)
    );
    assert_eq!(ticket.version, Version::new(3));
    assert_eq!(ticket.last_comment_by, LastCommentBy::Team);
    let details = ok(store.get_ticket_details(id, first(9)));
    assert_eq!(details.comments.rows[0].body, "Replaced the cable");
    let log = audit_rows(&store);
    assert_eq!(log.len(), rows + 1);
    let facts: Vec<&str> = log[rows]
        .facts
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(facts, ["status", "comment_id", "origin", "visibility"]);
    ok(store.change_ticket_status(act(4), id, None, Status::InProgress));
    let again = ok(store.resolve_ticket(act(5), id, None, None));
    assert!(matches!(again, Moved::Done { .. }));
    assert_eq!(
        ok(store.get_ticket_details(id, first(9)))
            .comments
            .total
            .count,
        1
    );
}

fn a_version_that_has_passed_is_stale(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    ok(store.assign_ticket(act(1), id, Some(Version::FIRST), to_team("Net")));
    let before = ok(store.get_ticket(id));
    for named in [Version::FIRST, Version::new(3), Version::new(0)] {
        let if_version = Some(named);
        let errors = [
            err(store.assign_ticket(act(2), id, if_version, to_team("Desk"))),
            err(store.add_comment(act(2), id, if_version, valid(new_comment("x")))),
            err(store.change_ticket_status(act(2), id, if_version, Status::Closed)),
            err(store.resolve_ticket(act(2), id, if_version, None)),
        ];
        for error in errors {
            assert!(
                matches!(error, StoreError::Stale { expected, found }
                    if expected == named && found == Version::new(2)),
                "{error:?}"
            );
        }
    }
    assert_eq!(ok(store.get_ticket(id)), before);
    assert_eq!(audit_rows(&store).len(), 3);
}

fn time_never_goes_back(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    ok(store.assign_ticket(act(100), id, None, to_team("Net")));
    let added = ok(store.add_comment(act(50), id, None, valid(new_comment("x"))));
    assert_eq!(added.ticket.updated_at, at(100));
    assert_eq!(added.comment.created_at, at(50));
    let later = ok(store.add_comment(act(101), id, None, valid(new_comment("x"))));
    assert_eq!(later.ticket.updated_at, at(101));
}

fn nothing_is_changed_on_a_ticket_that_is_not_there(place: &Place) {
    let store = place.open();
    let id = no_ticket();
    let errors = [
        err(store.get_ticket(id)),
        err(store.get_ticket_details(id, first(1))),
        err(store.assign_ticket(act(0), id, Some(Version::FIRST), to_team("Net"))),
        err(store.add_comment(act(0), id, None, valid(new_comment("x")))),
        err(store.change_ticket_status(act(0), id, None, Status::Closed)),
        err(store.resolve_ticket(act(0), id, None, Some(valid(new_comment("x"))))),
    ];
    for error in errors {
        assert!(
            matches!(
                error,
                StoreError::NotFound {
                    entity: EntityKind::Ticket,
                    id: 4_711
                }
            ),
            "{error:?}"
        );
    }
    assert!(audit_rows(&store).is_empty());
    assert!(ok(store.complete_team(String::new(), 9)).is_empty());
    let log = ok(store.list_audit_entries(AuditFilter::default(), first(1)));
    assert_eq!(log.total.count, 0);
}

fn teams_and_ids_are_completed(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    for team in ["Network", "network ops", "Desk", "Netz", "Ünits", "NET"] {
        let mut new = new_ticket(ada, "x");
        new.assigned_team = Some(team.to_owned());
        ok(store.create_ticket(act(0), valid(new)));
    }
    let teams = |prefix: &str, limit| ok(store.complete_team(prefix.to_owned(), limit));
    assert_eq!(teams("net", 9), ["NET", "Network", "network ops", "Netz"]);
    assert_eq!(teams("net", 2), ["NET", "Network"]);
    assert_eq!(teams("network", 9), ["Network", "network ops"]);
    assert_eq!(teams("ü", 9), ["Ünits"]);
    assert_eq!(teams("", 9).len(), 6);
    assert!(teams("%", 9).is_empty());
    for _ in 6..23 {
        ticket(&store, ada, "x");
    }
    let ids =
        |digits: &str, limit| ok(store.complete_id(EntityKind::Ticket, digits.to_owned(), limit));
    assert_eq!(ids("2", 9), [23, 22, 21, 20, 2]);
    assert_eq!(ids("2", 3), [23, 22, 21]);
    assert_eq!(ids("17", 9), [17]);
    assert_eq!(ids("", 2), [23, 22]);
    assert!(ids("9999999999999999999", 9).is_empty());
    assert!(ids("x", 9).is_empty());
    assert_eq!(
        ok(store.complete_id(EntityKind::Customer, String::new(), 9)),
        [1]
    );
    for entity in [
        EntityKind::Article,
        EntityKind::Call,
        EntityKind::Csat,
        EntityKind::Store,
    ] {
        assert!(ok(store.complete_id(entity, String::new(), 9)).is_empty());
    }
}
