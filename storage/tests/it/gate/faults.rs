//! Every statement of every way through the gate fails in every way: the change, its audit row and its token's row are written
//! together or not at all, and the token is as good as before (promise R-3).

use std::sync::Arc;

use domain::{Action, GuardedWrite, OpenWrite};
use storage::{Fault, Faults, Once, Options, Storage, StoreError, Verdict};
use writegate::{ApprovalLevel, ApprovalMethod};

use super::{
    act_of, gate, given, guarded_writes, new_preview, nothing_given, preview, previewed, redemption,
};
use crate::faults::{Nth, fail_each_statement, state};
use crate::support::{Place, act, audit_rows, customer, new_customer, ticket, valid, wait};

on_every_engine!(whatever_fails_the_gate_is_whole_or_absent);

/// What is tried: the way, and which of [`guarded_writes`] it is about.
#[derive(Clone, Copy, Debug)]
enum Way {
    Preview,
    Commit(usize),
    Replay,
    Burn,
    Decline,
    Approve,
    Once,
}

const WAYS: [Way; 13] = [
    Way::Preview,
    Way::Commit(0),
    Way::Commit(1),
    Way::Commit(2),
    Way::Commit(3),
    Way::Commit(4),
    Way::Commit(5),
    Way::Commit(6),
    Way::Replay,
    Way::Burn,
    Way::Decline,
    Way::Approve,
    Way::Once,
];

fn whatever_fails_the_gate_is_whole_or_absent(place: &Place) {
    for way in WAYS {
        for fault in [Fault::Error, Fault::Busy, Fault::Full, Fault::Panic] {
            try_way(&place.another(), way, fault);
        }
    }
}

fn try_way(place: &Place, way: Way, fault: Fault) {
    let faults = Arc::new(Nth::default());
    let store = place.open_with(Options {
        faults: Some(Arc::clone(&faults) as Arc<dyn Faults>),
        ..Options::default()
    });
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "The compiler").id;
    let number = if let Way::Commit(number) = way {
        number
    } else {
        2
    };
    let write = guarded_writes(id, ada).swap_remove(number);
    let ready = match way {
        Way::Approve => previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person)),
        _ => preview(&store, 1, &write),
    };
    if let Way::Replay = way {
        let asked = redemption(&ready, given(&write));
        crate::support::ok(store.redeem_change(act(1), asked));
    }
    let look = || {
        let pending = place.in_words_of(
            "SELECT group_concat(number || state || coalesce(method, '') || coalesce(seal, ''))",
            "SELECT string_agg(number || state || coalesce(method, '') || coalesce(seal, ''), ',' ORDER BY number)",
        );
        (
            state(&store),
            audit_rows(&store).len(),
            place.query(&format!("{pending} FROM pending_changes")),
        )
    };
    let before = look();
    let at = format!("{way:?} {fault:?}");
    let tries = fail_each_statement(&faults, fault, &at, look, || {
        attempt(&store, way, &write, &ready)
    });
    assert!(tries > 3, "{at}: only {tries}");
    let after = look();
    match way {
        Way::Replay => assert_eq!(after, before, "{at}"),
        _ => assert_eq!(after.1, before.1 + 1, "{at}"),
    }
    let changes = matches!(way, Way::Commit(_) | Way::Once);
    assert_eq!(after.0 != before.0, changes, "{at}");
}

fn attempt(
    store: &Arc<dyn Storage>,
    way: Way,
    write: &GuardedWrite,
    ready: &storage::Preview,
) -> Result<(), StoreError> {
    match way {
        Way::Preview => {
            let new = new_preview(write, ApprovalLevel::Token);
            wait(store.preview_change(act(2), new)).map(drop)
        }
        Way::Commit(_) | Way::Replay => {
            let asked = redemption(ready, given(write));
            wait(store.redeem_change(act(2), asked)).map(drop)
        }
        Way::Burn => {
            let mut asked = redemption(ready, nothing_given(write));
            asked.given.action = Action::DeleteTicket;
            wait(store.redeem_change(act(2), asked)).map(drop)
        }
        Way::Decline => {
            let mut asked = redemption(ready, given(write));
            asked.decision = storage::Decision::Decline;
            wait(store.redeem_change(act(2), asked)).map(drop)
        }
        Way::Approve => {
            let method = ApprovalMethod::OperatorTerminal;
            let operator = act_of("local:root", 2);
            let decided =
                store.decide_approval(operator, ready.approval, Verdict::Approve, method, gate());
            wait(decided).map(drop)
        }
        Way::Once => {
            let new = new_customer("once@example.com");
            let once = Once {
                key: "key".to_owned(),
                if_version: None,
                answer: Box::new(|_| "done".to_owned()),
            };
            let write = valid(OpenWrite::CreateCustomer { new });
            wait(store.write_once(act(2), write, once)).map(drop)
        }
    }
}
