//! What a confirmed change does, and what is left of it.

use std::sync::Arc;

use domain::{
    Action, AuditEntry, CustomerFilter, EntityKind, GuardedWrite, OpenWrite, Origin, Outcome,
    Status, TicketFilter, TicketId, TicketOrder, TicketPatch, Version, Visibility,
};
use storage::{Decision, Previewed, Redeemed, Storage};
use writegate::{ApprovalLevel, ApprovalMethod};

use super::{
    commit, given, guarded_writes, new_preview, nothing_given, preview, redeem, redemption,
    whole_patch,
};
use crate::support::{
    Place, act, audit_rows, customer, err, first, new_comment, new_customer, new_ticket, ok, terms,
    ticket, to_team, valid,
};

on_every_engine!(
    a_preview_changes_nothing_and_is_on_record_as_a_refusal,
    every_guarded_change_is_applied_once_with_one_row_and_repeated_from_the_store,
    an_update_changes_every_field_in_one_version_and_keeps_the_first_words,
    a_public_comment_is_the_teams_and_public,
    a_deleted_ticket_takes_its_comments_and_words_along,
    a_deleted_customer_takes_their_tickets_along_and_the_log_stays,
    a_customer_update_is_found_under_the_new_words_and_never_takes_a_held_address,
    what_would_change_nothing_or_leave_the_graph_is_not_previewed,
    every_open_write_can_be_guarded_too,
    what_the_commit_leaves_out_comes_from_the_preview,
    the_method_that_is_recorded_is_the_one_that_was_used,
);

fn last(store: &Arc<dyn Storage>) -> AuditEntry {
    audit_rows(store).pop().unwrap()
}

fn fact<'a>(entry: &'a AuditEntry, name: &str) -> Option<&'a str> {
    let found = entry.facts.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

fn a_preview_changes_nothing_and_is_on_record_as_a_refusal(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com");
    let filed = ticket(&store, ada.id, "Relay");
    for write in guarded_writes(filed.id, ada.id) {
        for (required, code) in [
            (ApprovalLevel::Token, "CONFIRMATION_REQUIRED"),
            (ApprovalLevel::Person, "HUMAN_APPROVAL_REQUIRED"),
        ] {
            super::previewed(&store, act(1), new_preview(&write, required));
            assert_eq!(ok(store.get_ticket(filed.id)), filed);
            assert_eq!(ok(store.get_customer(ada.id)), ada);
            let row = last(&store);
            assert_eq!(
                (row.action, row.outcome),
                (write.action(), Outcome::Refused)
            );
            assert_eq!(row.code.as_deref(), Some(code));
            assert_eq!(row.version_after, None);
        }
    }
}

fn every_guarded_change_is_applied_once_with_one_row_and_repeated_from_the_store(place: &Place) {
    for number in 0..guarded_writes(TicketId::new(1), domain::CustomerId::new(1)).len() {
        let place = place.another();
        let store = place.open();
        let ada = customer(&store, "ada@example.com");
        let filed = ticket(&store, ada.id, "Relay");
        let write = guarded_writes(filed.id, ada.id).swap_remove(number);
        let preview = preview(&store, 1, &write);
        let before = audit_rows(&store).len();
        let Redeemed::Applied(answer) = ok(redeem(&store, act(2), &preview)) else {
            panic!("{write:?}");
        };
        let row = last(&store);
        assert_eq!(audit_rows(&store).len(), before + 1, "{write:?}");
        assert_eq!(
            (row.action, row.outcome),
            (write.action(), Outcome::Applied)
        );
        assert_eq!((row.entity, row.entity_id), {
            let (kind, id) = write.entity();
            (kind, Some(id))
        });
        assert_eq!(row.version_before, Some(Version::FIRST));
        assert_eq!(row.version_after.is_none(), write.deletes());
        assert_eq!(fact(&row, "confirmation_method"), Some("token_only"));
        assert_eq!(
            fact(&row, "approval"),
            Some(preview.approval.to_string().as_str())
        );
        for given in [given(&write), nothing_given(&write)] {
            let again = ok(store.redeem_change(act(3), redemption(&preview, given)));
            assert_eq!(again, Redeemed::Replayed(answer.clone()), "{write:?}");
        }
        assert_eq!(audit_rows(&store).len(), before + 1, "{write:?}");
    }
}

fn an_update_changes_every_field_in_one_version_and_keeps_the_first_words(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let filed = ticket(&store, ada, "Relay");
    let patch = whole_patch();
    let write = GuardedWrite::UpdateTicket {
        ticket: filed.id,
        patch: patch.clone(),
    };
    let shown = preview(&store, 1, &write).change;
    let fields: Vec<&str> = shown
        .fields
        .iter()
        .map(|field| field.field.as_ref())
        .collect();
    assert_eq!(
        fields,
        [
            "status",
            "tier",
            "priority",
            "category",
            "team",
            "assignee",
            "subject",
            "description",
            "note"
        ]
    );
    commit(&store, 2, &write);
    let details = ok(store.get_ticket_details(filed.id, first(5)));
    let now = details.ticket;
    assert_eq!(now.version, Version::new(2));
    assert_eq!(Some(now.status), patch.status);
    assert_eq!(Some(now.tier), patch.tier);
    assert_eq!(Some(now.priority), patch.priority);
    assert_eq!(Some(&now.category), patch.category.as_ref());
    assert_eq!(now.assigned_team.as_deref(), Some("Field"));
    assert_eq!(now.assignee.as_deref(), Some("kim"));
    assert_eq!(Some(&now.subject), patch.subject.as_ref());
    assert_eq!(Some(&now.description), patch.description.as_ref());
    let [note] = details.comments.rows.as_slice() else {
        panic!("{:?}", details.comments);
    };
    assert_eq!(Some(&note.body), patch.note.as_ref());
    assert_eq!(
        (note.origin, note.visibility),
        (Origin::Team, Visibility::Internal)
    );
    let row = last(&store);
    assert_eq!(fact(&row, "priority"), Some("medium -> urgent"));
    assert_eq!(fact(&row, "subject"), Some("set"));
    assert_eq!(fact(&row, "new_team"), Some("true"));
    assert!(
        !format!("{:?}", row.facts).contains("Moth"),
        "the log has no words of a ticket"
    );
    let found = |words: &str| {
        ok(store.search_tickets(terms(words), TicketFilter::default(), first(5)))
            .page
            .rows
            .len()
    };
    assert_eq!(
        (found("moth"), found("panel"), found("relay broken")),
        (1, 1, 1)
    );
    assert_eq!(
        found("broken"),
        0,
        "the old description is not found any more"
    );
}

fn a_public_comment_is_the_teams_and_public(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let filed = ticket(&store, ada, "Relay");
    commit(&store, 1, &guarded_writes(filed.id, ada)[1]);
    let details = ok(store.get_ticket_details(filed.id, first(5)));
    let said = &details.comments.rows[0];
    assert_eq!(
        (said.origin, said.visibility),
        (Origin::Team, Visibility::Public)
    );
    assert_eq!(said.author, "local:ada");
    assert_eq!(details.ticket.version, Version::new(2));
    let found = ok(store.search_tickets(terms("moth"), TicketFilter::default(), first(5)));
    assert_eq!(found.page.rows.len(), 1);
}

fn a_deleted_ticket_takes_its_comments_and_words_along(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let (kept, gone) = (ticket(&store, ada, "kept"), ticket(&store, ada, "gone"));
    for id in [kept.id, gone.id] {
        ok(store.add_comment(act(1), id, None, valid(new_comment("unmistakable"))));
    }
    let write = GuardedWrite::DeleteTicket { ticket: gone.id };
    let shown = preview(&store, 2, &write).change;
    let counted: Vec<String> = shown
        .fields
        .iter()
        .map(|field| format!("{} {:?}", field.field, field.after))
        .collect();
    assert_eq!(
        counted,
        [
            "ticket None",
            "subject None",
            "status None",
            "comments None",
            "scores None",
            "unlinked_calls None"
        ]
    );
    commit(&store, 3, &write);
    err(store.get_ticket(gone.id));
    let found = ok(store.search_tickets(terms("unmistakable"), TicketFilter::default(), first(5)));
    let ids: Vec<TicketId> = found.page.rows.iter().map(|row| row.id).collect();
    assert_eq!(ids, [kept.id]);
    let row = last(&store);
    assert_eq!(fact(&row, "comments"), Some("1"));
    assert_eq!(row.entity_id, Some(gone.id.number()));
    let next = ticket(&store, ada, "next");
    assert!(next.id > gone.id, "an id is never used again");
}

fn a_deleted_customer_takes_their_tickets_along_and_the_log_stays(place: &Place) {
    let store = place.open();
    let (ada, bob) = (
        customer(&store, "ada@example.com"),
        customer(&store, "bob@example.com"),
    );
    let theirs: Vec<TicketId> = (0..3)
        .map(|_| ticket(&store, ada.id, "theirs").id)
        .collect();
    let others = ticket(&store, bob.id, "others");
    let before = audit_rows(&store);
    let write = GuardedWrite::DeleteCustomer { customer: ada.id };
    let shown = preview(&store, 1, &write).change;
    let tickets = shown.fields.iter().find(|field| field.field == "tickets");
    let listed = theirs.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        tickets.unwrap().before.as_ref().unwrap().to_string(),
        listed.join(", ")
    );
    commit(&store, 2, &write);
    err(store.get_customer(ada.id));
    for id in theirs {
        err(store.get_ticket(id));
    }
    assert_eq!(ok(store.get_ticket(others.id)), others);
    let found = ok(store.search_tickets(terms("theirs"), TicketFilter::default(), first(5)));
    assert!(found.page.rows.is_empty());
    let rows = audit_rows(&store);
    assert_eq!(rows[..before.len()], before);
    let row = last(&store);
    assert_eq!(fact(&row, "tickets"), Some("3"));
    assert_eq!(row.entity, EntityKind::Customer);
    // The address is free again.
    customer(&store, "ada@example.com");
}

fn a_customer_update_is_found_under_the_new_words_and_never_takes_a_held_address(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com");
    let filed = ticket(&store, ada.id, "x");
    customer(&store, "bob@example.com");
    let update = |email: &str| GuardedWrite::UpdateCustomer {
        customer: ada.id,
        patch: domain::CustomerPatch {
            email: Some(email.to_owned()),
            organisation: domain::Assign::Set("NAVY".to_owned()),
            ..domain::CustomerPatch::default()
        },
    };
    let held = new_preview(&update("BOB@example.com"), ApprovalLevel::Token);
    assert!(matches!(
        err(store.preview_change(act(1), held)),
        storage::StoreError::DuplicateEmail
    ));
    // Her own address in another spelling is not held by another.
    commit(&store, 2, &update("ADA@example.com"));
    let free = preview(&store, 3, &update("new@example.com"));
    ok(store.create_customer(act(3), valid(new_customer("new@example.com"))));
    assert!(matches!(
        err(redeem(&store, act(4), &free)),
        storage::StoreError::DuplicateEmail
    ));
    let list = |filter| ok(store.list_customers(filter, TicketOrder::Newest, first(5))).rows;
    let by_organisation = CustomerFilter {
        organisation: Some("navy".to_owned()),
        ..CustomerFilter::default()
    };
    assert_eq!(list(by_organisation)[0].id, ada.id);
    let tickets = ok(store.list_tickets(
        TicketFilter {
            organisation: Some("navy".to_owned()),
            ..TicketFilter::default()
        },
        TicketOrder::Newest,
        first(5),
    ));
    assert_eq!(tickets.rows, [filed]);
}

fn what_would_change_nothing_or_leave_the_graph_is_not_previewed(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let filed = ticket(&store, ada, "x");
    let update = |patch| GuardedWrite::UpdateTicket {
        ticket: filed.id,
        patch,
    };
    let same = TicketPatch {
        status: Some(Status::Open),
        priority: Some(filed.priority),
        ..TicketPatch::default()
    };
    for patch in [TicketPatch::default(), same] {
        let new = new_preview(&update(patch), ApprovalLevel::Token);
        let before = audit_rows(&store).len();
        assert!(matches!(
            ok(store.preview_change(act(1), new)),
            Previewed::NothingToChange
        ));
        assert_eq!(audit_rows(&store).len(), before);
    }
    let resolved = TicketPatch {
        status: Some(Status::Resolved),
        ..TicketPatch::default()
    };
    let new = new_preview(&update(resolved), ApprovalLevel::Token);
    assert!(matches!(
        ok(store.preview_change(act(1), new)),
        Previewed::Forbidden(_)
    ));
    assert_eq!(last(&store).code.as_deref(), Some("FORBIDDEN_TRANSITION"));
    let unknown = TicketPatch {
        category: Some("no_such".to_owned()),
        ..TicketPatch::default()
    };
    let new = new_preview(&update(unknown), ApprovalLevel::Token);
    err(store.preview_change(act(1), new));
    let mut stale = new_preview(
        &GuardedWrite::CloseTicket { ticket: filed.id },
        ApprovalLevel::Token,
    );
    stale.if_version = Some(Version::new(9));
    assert!(matches!(
        err(store.preview_change(act(1), stale)),
        storage::StoreError::Stale { .. }
    ));
    assert_eq!(ok(store.get_ticket(filed.id)), filed);
}

fn every_open_write_can_be_guarded_too(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let writes = [
        OpenWrite::CreateCustomer {
            new: new_customer("bob@example.com"),
        },
        OpenWrite::CreateTicket {
            new: new_ticket(ada, "filed under a grant"),
        },
        OpenWrite::AssignTicket {
            ticket: id,
            assignment: (*to_team("Field")).clone(),
        },
        OpenWrite::AddComment {
            ticket: id,
            comment: new_comment("said"),
        },
        OpenWrite::MoveTicket {
            ticket: id,
            to: domain::OpenStatus::InProgress,
        },
        OpenWrite::ResolveTicket {
            ticket: id,
            resolution: Some(new_comment("done")),
        },
    ];
    for write in writes {
        commit(&store, 1, &GuardedWrite::Open(write.clone()));
        let row = last(&store);
        assert_eq!(
            (row.action, row.outcome),
            (write.action(), Outcome::Applied)
        );
        assert_eq!(fact(&row, "confirmation_method"), Some("token_only"));
    }
    assert_eq!(ok(store.get_ticket(id)).status, Status::Resolved);
    // What comes next in the same group of writes was approved by nobody.
    ok(store.assign_ticket(act(2), id, None, to_team("Desk")));
    assert_eq!(fact(&last(&store), "confirmation_method"), None);
}

fn what_the_commit_leaves_out_comes_from_the_preview(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let write = GuardedWrite::UpdateTicket {
        ticket: id,
        patch: whole_patch(),
    };
    let preview = preview(&store, 1, &write);
    let mut part = nothing_given(&write);
    part.arguments = part.arguments.text("priority", Some("urgent"));
    let redeemed = ok(store.redeem_change(act(2), redemption(&preview, part)));
    assert!(matches!(redeemed, Redeemed::Applied(_)), "{redeemed:?}");
    assert_eq!(ok(store.get_ticket(id)).subject, "Moth in relay");
}

fn the_method_that_is_recorded_is_the_one_that_was_used(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    for method in [ApprovalMethod::TokenOnly, ApprovalMethod::ElicitationForm] {
        for required in [ApprovalLevel::Token, ApprovalLevel::Person] {
            let filed = ticket(&store, ada, "x");
            let write = GuardedWrite::CloseTicket { ticket: filed.id };
            let preview = super::previewed(&store, act(1), new_preview(&write, required));
            let mut asked = redemption(&preview, given(&write));
            asked.decision = Decision::Commit(method);
            let redeemed = ok(store.redeem_change(act(2), asked));
            let row = last(&store);
            assert_eq!(row.action, Action::ChangeTicketStatus);
            if method.satisfies(required) {
                let Redeemed::Applied(answer) = redeemed else {
                    panic!("{redeemed:?}");
                };
                assert_eq!(
                    answer,
                    format!("close_ticket {} open -> closed v2", method.as_str())
                );
                assert_eq!(fact(&row, "confirmation_method"), Some(method.as_str()));
            } else {
                assert_eq!(super::refusal(redeemed), storage::Refusal::Pending);
                assert_eq!(ok(store.get_ticket(filed.id)), filed);
            }
        }
    }
}
