//! Many at once: one token is spent once, whoever comes first (promises G-4, G-11).

use std::sync::Arc;

use domain::{GuardedWrite, Version};
use storage::{LIVE_PREVIEWS, Redeemed, Refusal};
use writegate::ApprovalLevel;

use super::{act_of, guarded_writes, new_preview, preview, previewed, redeem, refusal};
use crate::support::{Place, act, customer, ok, ticket};

on_every_engine!(
    many_redemptions_of_one_token_apply_it_once,
    an_actor_has_a_bounded_number_of_live_previews,
);

/// A size for every run, and the promised one for `DESKGATE_FULL=1`.
#[expect(
    clippy::disallowed_methods,
    reason = "tests are configured by their environment"
)]
pub(super) fn size(usual: usize, full: usize) -> usize {
    if std::env::var("DESKGATE_FULL").is_ok_and(|value| value == "1") {
        full
    } else {
        usual
    }
}

fn many_redemptions_of_one_token_apply_it_once(place: &Place) {
    let stores = [place.open(), place.open()];
    let ada = customer(&stores[0], "ada@example.com").id;
    let tokens = size(12, 1_000);
    for number in 0..tokens {
        let id = ticket(&stores[0], ada, "x").id;
        let write = guarded_writes(id, ada).swap_remove(number % 4);
        let preview = preview(&stores[number % 2], 1, &write);
        let before = audit_rows_of(&stores[0], id);
        let answers: Vec<Redeemed> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..64)
                .map(|racer: usize| {
                    let (store, preview) = (&stores[racer % 2], &preview);
                    scope.spawn(move || ok(redeem(store, act(2), preview)))
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().unwrap())
                .collect()
        });
        let mut applied = Vec::new();
        let mut replayed = Vec::new();
        for answer in answers {
            match answer {
                Redeemed::Applied(answer) => applied.push(answer),
                Redeemed::Replayed(answer) => replayed.push(answer),
                Redeemed::Refused(refusal) => panic!("{refusal:?}"),
            }
        }
        assert_eq!((applied.len(), replayed.len()), (1, 63));
        assert!(replayed.iter().all(|answer| *answer == applied[0]));
        assert_eq!(ok(stores[1].get_ticket(id)).version, Version::new(2));
        assert_eq!(audit_rows_of(&stores[1], id), before + 1);
    }
}

fn audit_rows_of(store: &Arc<dyn storage::Storage>, id: domain::TicketId) -> u32 {
    let filter = domain::AuditFilter {
        entity: Some(domain::EntityKind::Ticket),
        entity_id: Some(id.number()),
        ..domain::AuditFilter::default()
    };
    ok(store.list_audit_entries(filter, crate::support::first(1)))
        .total
        .count
}

fn an_actor_has_a_bounded_number_of_live_previews(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let write = GuardedWrite::DeleteTicket { ticket: id };
    let person = || new_preview(&write, ApprovalLevel::Person);
    let others = previewed(&store, act_of("local:bob", 1), person());
    let flood = size(300, 10_000);
    let mine: Vec<_> = (0..flood)
        .map(|_| previewed(&store, act(2), person()))
        .collect();
    let live = ok(store.list_approvals(act(3).at));
    let (of_bob, of_ada): (Vec<_>, Vec<_>) = live
        .iter()
        .partition(|approval| approval.actor == "local:bob");
    assert_eq!(of_bob.len(), 1);
    assert_eq!(i64::try_from(of_ada.len()), Ok(LIVE_PREVIEWS));
    let first_live = mine.len() - of_ada.len();
    assert_eq!(of_ada[0].id, mine[first_live].approval);
    // The newest revoked one is told that its time is over; the oldest is forgotten.
    let revoked = ok(redeem(&store, act(3), &mine[first_live - 1]));
    assert_eq!(refusal(revoked), Refusal::Expired);
    assert_eq!(
        refusal(ok(redeem(&store, act(3), &mine[0]))),
        Refusal::Invalid
    );
    assert_eq!(
        refusal(ok(redeem(&store, act_of("local:bob", 3), &others))),
        Refusal::Pending
    );
    assert_eq!(ok(store.get_ticket(id)).version, Version::FIRST);
}
