//! Between a preview and its commit others act: whatever they touch of the record makes the preview stale (promise G-5).

use std::sync::Arc;

use domain::{CustomerPatch, GuardedWrite, OpenStatus, TicketPatch};
use storage::{Redeemed, Refusal, Storage};
use writegate::{ApprovalLevel, ApprovalMethod};

use super::{
    act_of, commit, given, guarded_writes, new_preview, preview, redeem, redemption, refusal,
};
use crate::support::{Place, act, audit_rows, customer, new_comment, ok, ticket, to_team, valid};

on_every_engine!(
    whatever_another_does_to_the_record_makes_the_preview_stale,
    whatever_happens_to_their_tickets_makes_deleting_a_customer_stale,
    what_happens_elsewhere_makes_nothing_stale,
    of_two_previews_of_one_record_the_first_commit_wins,
    a_change_while_a_person_is_asked_is_stale_after_their_yes,
);

type Act = fn(&Arc<dyn Storage>, domain::TicketId, domain::CustomerId);

/// What another may do to a ticket.
const TICKET_ACTS: [(&str, Act); 6] = [
    ("assign", |store, id, _| {
        ok(store.assign_ticket(act_of("local:bob", 2), id, None, to_team("Other")));
    }),
    ("comment", |store, id, _| {
        ok(store.add_comment(
            act_of("local:bob", 2),
            id,
            None,
            valid(new_comment("meanwhile")),
        ));
    }),
    ("status", |store, id, _| {
        ok(store.change_ticket_status(act_of("local:bob", 2), id, None, OpenStatus::InProgress));
    }),
    ("status and back", |store, id, _| {
        for to in [OpenStatus::InProgress, OpenStatus::Open] {
            ok(store.change_ticket_status(act_of("local:bob", 2), id, None, to));
        }
    }),
    ("guarded update", |store, ticket, _| {
        let patch = TicketPatch {
            priority: Some(domain::Priority::Low),
            ..TicketPatch::default()
        };
        commit(store, 2, &GuardedWrite::UpdateTicket { ticket, patch });
    }),
    ("delete", |store, ticket, _| {
        commit(store, 2, &GuardedWrite::DeleteTicket { ticket });
    }),
];

/// What may happen to a customer besides.
const CUSTOMER_ACTS: [(&str, Act); 2] = [
    ("update", |store, _, customer| {
        let patch = CustomerPatch {
            name: Some("Another".to_owned()),
            ..CustomerPatch::default()
        };
        commit(store, 2, &GuardedWrite::UpdateCustomer { customer, patch });
    }),
    ("delete", |store, _, customer| {
        commit(store, 2, &GuardedWrite::DeleteCustomer { customer });
    }),
];

fn check_stale(place: &Place, number: usize, what: &str, interfere: Act) {
    let place = place.another();
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let write = guarded_writes(id, ada).swap_remove(number);
    let preview = preview(&store, 1, &write);
    interfere(&store, id, ada);
    let before = (audit_rows(&store).len(), ok_state(&store, id, ada));
    let redeemed = ok(redeem(&store, act(3), &preview));
    assert_eq!(refusal(redeemed), Refusal::Stale, "{what}: {write:?}");
    let after = (audit_rows(&store).len(), ok_state(&store, id, ada));
    assert_eq!(after, (before.0 + 1, before.1), "{what}: {write:?}");
    let again = ok(redeem(&store, act(4), &preview));
    assert_eq!(refusal(again), Refusal::Stale, "{what}: {write:?}");
}

fn ok_state(store: &Arc<dyn Storage>, id: domain::TicketId, ada: domain::CustomerId) -> String {
    let ticket = crate::support::wait(store.get_ticket(id)).ok();
    let customer = crate::support::wait(store.get_customer(ada)).ok();
    format!("{ticket:?} {customer:?}")
}

fn whatever_another_does_to_the_record_makes_the_preview_stale(place: &Place) {
    for (what, interfere) in TICKET_ACTS {
        for number in [0, 1, 2, 3, 5] {
            check_stale(place, number, what, interfere);
        }
    }
    for (what, interfere) in CUSTOMER_ACTS {
        for number in [4, 6] {
            check_stale(place, number, what, interfere);
        }
    }
}

fn whatever_happens_to_their_tickets_makes_deleting_a_customer_stale(place: &Place) {
    let filing: (&str, Act) = ("file", |store, _, customer| {
        ticket(store, customer, "another");
    });
    for (what, interfere) in TICKET_ACTS.into_iter().chain([filing]) {
        check_stale(place, 6, what, interfere);
    }
}

fn what_happens_elsewhere_makes_nothing_stale(place: &Place) {
    for (number, _) in guarded_writes(domain::TicketId::new(1), domain::CustomerId::new(1))
        .iter()
        .enumerate()
    {
        let place = place.another();
        let store = place.open();
        let (ada, bob) = (
            customer(&store, "ada@example.com").id,
            customer(&store, "bob@example.com").id,
        );
        let (id, other) = (ticket(&store, ada, "x").id, ticket(&store, bob, "y").id);
        let write = guarded_writes(id, ada).swap_remove(number);
        let preview = preview(&store, 1, &write);
        for (_, interfere) in &TICKET_ACTS[..5] {
            let fresh = ticket(&store, bob, "z").id;
            interfere(&store, fresh, bob);
        }
        ok(store.assign_ticket(act(2), other, None, to_team("Other")));
        let redeemed = ok(redeem(&store, act(3), &preview));
        assert!(
            matches!(redeemed, Redeemed::Applied(_)),
            "{write:?}: {redeemed:?}"
        );
    }
}

fn of_two_previews_of_one_record_the_first_commit_wins(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    for first in [0, 1] {
        let id = ticket(&store, ada, "x").id;
        let write = GuardedWrite::CloseTicket { ticket: id };
        let previews = [preview(&store, 1, &write), preview(&store, 1, &write)];
        assert!(matches!(
            ok(redeem(&store, act(2), &previews[first])),
            Redeemed::Applied(_)
        ));
        let other = ok(redeem(&store, act(2), &previews[1 - first]));
        assert_eq!(refusal(other), Refusal::Stale);
    }
}

fn a_change_while_a_person_is_asked_is_stale_after_their_yes(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    for (what, interfere) in TICKET_ACTS {
        let id = ticket(&store, ada, "x").id;
        let write = GuardedWrite::DeleteTicket { ticket: id };
        let preview = super::previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person));
        interfere(&store, id, ada);
        let mut asked = redemption(&preview, given(&write));
        asked.decision = storage::Decision::Commit(ApprovalMethod::ElicitationForm);
        assert_eq!(
            refusal(ok(store.redeem_change(act(3), asked))),
            Refusal::Stale,
            "{what}"
        );
    }
}
