//! Keys that make a write happen once (promise G-12).

use domain::{Act, GuardedWrite, OpenWrite, Publication};
use storage::{Once, Previewed, REPLAY_MICROS, Redeemed, Storage, Wrote};
use writegate::ApprovalLevel;

use super::{act_of, new_preview, previewed, redeem};
use crate::support::{
    Place, act, audit_rows, customer, first, new_comment, new_customer, new_ticket, ok, ticket,
    valid,
};

on_every_engine!(
    a_write_under_one_key_is_done_once,
    a_key_belongs_to_one_actor_and_tool_for_a_day,
    another_write_under_a_known_key_is_a_conflict,
    a_guarded_comment_under_a_key_is_published_once,
);

fn once(key: &str) -> Once {
    Once {
        key: key.to_owned(),
        if_version: None,
        answer: Box::new(super::answer),
    }
}

fn write(store: &std::sync::Arc<dyn Storage>, act: Act, key: &str, write: &OpenWrite) -> Wrote {
    ok(store.write_once(act, valid(write.clone()), once(key)))
}

fn comment(ticket: domain::TicketId, body: &str) -> OpenWrite {
    OpenWrite::AddComment {
        ticket,
        comment: new_comment(body),
    }
}

fn a_write_under_one_key_is_done_once(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let writes = [
        OpenWrite::CreateCustomer {
            new: new_customer("bob@example.com"),
        },
        OpenWrite::CreateTicket {
            new: new_ticket(ada, "once"),
        },
        comment(id, "said once"),
    ];
    for open in writes {
        let key = open.operation().as_str();
        let before = audit_rows(&store).len();
        let Wrote::Done(answer) = write(&store, act(1), key, &open) else {
            panic!("{open:?}");
        };
        for second in 2..4 {
            let again = write(&store, act(second), key, &open);
            assert_eq!(again, Wrote::Replayed(answer.clone()));
        }
        assert_eq!(audit_rows(&store).len(), before + 1);
    }
}

fn a_key_belongs_to_one_actor_and_tool_for_a_day(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let open = comment(id, "said");
    assert!(matches!(write(&store, act(0), "k", &open), Wrote::Done(_)));
    let mut other_tool = act(0);
    other_tool.tool = "other";
    for act in [act_of("local:bob", 0), other_tool] {
        assert!(matches!(write(&store, act, "k", &open), Wrote::Done(_)));
    }
    for (late, replayed) in [(-1, true), (0, false)] {
        let mut act = act(0);
        act.at = act.at.plus_micros(REPLAY_MICROS + late);
        let wrote = write(&store, act, "k", &open);
        assert_eq!(matches!(wrote, Wrote::Replayed(_)), replayed, "{late}");
    }
    let comments = ok(store.get_ticket_details(id, first(9))).comments;
    assert_eq!(comments.total.count, 4);
}

fn another_write_under_a_known_key_is_a_conflict(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let (id, other) = (ticket(&store, ada, "x").id, ticket(&store, ada, "y").id);
    write(&store, act(1), "k", &comment(id, "said"));
    let before = audit_rows(&store).len();
    for open in [
        comment(id, "said otherwise"),
        comment(other, "said"),
        OpenWrite::ResolveTicket {
            ticket: id,
            resolution: None,
        },
    ] {
        assert_eq!(write(&store, act(2), "k", &open), Wrote::KeyConflict);
    }
    assert_eq!(audit_rows(&store).len(), before);
}

fn a_guarded_comment_under_a_key_is_published_once(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let ticket = ticket(&store, ada, "x").id;
    let publish = |body: &str| GuardedWrite::PublishComment {
        ticket,
        publication: Publication {
            body: body.to_owned(),
        },
    };
    let keyed = |body: &str| {
        let mut new = new_preview(&publish(body), ApprovalLevel::Token);
        new.key = Some("k".to_owned());
        new
    };
    let preview = previewed(&store, act(1), keyed("Dear Grace"));
    let Redeemed::Applied(answer) = ok(redeem(&store, act(2), &preview)) else {
        panic!("not applied");
    };
    match ok(store.preview_change(act(3), keyed("Dear Grace"))) {
        Previewed::Replayed(again) => assert_eq!(again, answer),
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        ok(store.preview_change(act(3), keyed("Dear Bob"))),
        Previewed::KeyConflict
    ));
    let comments = ok(store.get_ticket_details(ticket, first(9))).comments;
    assert_eq!(comments.total.count, 1);
}
