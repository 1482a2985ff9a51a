//! A token is good for one caller, one tool, one record and one change; what else is presented with it is refused, and burns it
//! only where its owner does so (promises G-2, G-3, G-7, G-8).

use std::sync::Arc;

use domain::{
    Act, Action, ActorChannel, Arguments, EntityKind, GuardedWrite, Outcome, TicketId, Version,
};
use storage::{Given, Preview, Redeemed, Redemption, Refusal, Storage};
use writegate::{ApprovalLevel, Token};

use super::{
    TTL, act_of, bytes, entity, given, guarded_writes, nothing_given, preview, redeem, redemption,
    refusal, whole_patch,
};
use crate::support::{Place, act, audit_rows, customer, ok, ticket};

on_every_engine!(
    each_bound_part_changed_alone_is_refused_with_its_code,
    unknown_forged_and_foreign_tokens_have_one_answer,
    every_argument_changed_alone_burns_the_token,
    a_token_is_good_until_just_before_its_expiry,
    a_stricter_policy_binds_old_previews_too,
    a_token_of_another_store_is_nothing_here,
);

/// What a call changes of an honest one.
type Twist = fn(&mut Act, &mut Redemption, TicketId);

fn given_of(twisted: &mut Redemption) -> &mut Given {
    &mut twisted.given
}

/// A twist, its answer, and whether the token is burned by it.
const TWISTS: [(&str, Twist, Refusal, bool); 11] = [
    (
        "actor",
        |act, _, _| "local:eve".clone_into(&mut act.actor.id),
        Refusal::Invalid,
        false,
    ),
    (
        "client",
        |act, _, _| "other".clone_into(&mut act.actor.client),
        Refusal::Invalid,
        false,
    ),
    (
        "channel",
        |act, _, _| act.actor.channel = ActorChannel::Http,
        Refusal::Invalid,
        false,
    ),
    (
        "tool",
        |_, asked, _| given_of(asked).action = Action::DeleteTicket,
        Refusal::Mismatch,
        true,
    ),
    (
        "entity",
        |_, asked, other| given_of(asked).entity = Some((EntityKind::Ticket, other.number())),
        Refusal::Mismatch,
        true,
    ),
    (
        "entity kind",
        |_, asked, _| given_of(asked).entity = Some((EntityKind::Customer, 1)),
        Refusal::Mismatch,
        true,
    ),
    (
        "change",
        |_, asked, _| {
            given_of(asked).arguments = Arguments::default().text("status", Some("open"));
        },
        Refusal::Mismatch,
        true,
    ),
    (
        "more of a change",
        |_, asked, _| given_of(asked).arguments = Arguments::default().text("note", Some("x")),
        Refusal::Mismatch,
        true,
    ),
    (
        "version",
        |_, asked, _| given_of(asked).if_version = Some(Version::new(7)),
        Refusal::Stale,
        true,
    ),
    (
        "level",
        |_, asked, _| asked.required = Box::new(|_write| ApprovalLevel::Person),
        Refusal::Pending,
        false,
    ),
    (
        "time",
        |act, _, _| act.at = act.at.plus_micros(TTL),
        Refusal::Expired,
        false,
    ),
];

fn each_bound_part_changed_alone_is_refused_with_its_code(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let other = ticket(&store, ada, "other").id;
    for (part, twist, expected, burns) in TWISTS {
        let filed = ticket(&store, ada, "x");
        let write = GuardedWrite::CloseTicket { ticket: filed.id };
        let preview = preview(&store, 1, &write);
        let (mut act, mut asked) = (act(2), redemption(&preview, given(&write)));
        twist(&mut act, &mut asked, other);
        let tool = asked.given.action;
        assert_eq!(
            refusal(ok(store.redeem_change(act, asked))),
            expected,
            "{part}"
        );
        assert_eq!(ok(store.get_ticket(filed.id)), filed, "{part}");
        let row = audit_rows(&store).pop().unwrap();
        assert_eq!(
            (row.action, row.outcome),
            (tool, Outcome::Refused),
            "{part}"
        );
        assert_eq!(row.code.as_deref(), Some(expected.code()), "{part}");
        let honest = ok(redeem(&store, super::act(3), &preview));
        if burns {
            assert_eq!(refusal(honest), expected, "{part}");
        } else {
            assert!(matches!(honest, Redeemed::Applied(_)), "{part}: {honest:?}");
        }
    }
}

/// A token that looks like this one and that nobody made.
fn forged(token: &Token, id: u64) -> Token {
    let text = token.text();
    let parts: Vec<&str> = text.split('.').collect();
    let id = super::gate()
        .mint(&binding_of_nothing(), bytes(id))
        .id()
        .text();
    Token::parse(&format!("{}.{}.{id}.{}", parts[0], parts[1], parts[3])).unwrap()
}

fn binding_of_nothing() -> writegate::Binding {
    writegate::Binding {
        purpose: writegate::Purpose::Confirm,
        deployment: String::new(),
        channel: String::new(),
        actor: String::new(),
        client: String::new(),
        tool: String::new(),
        entity_kind: String::new(),
        entity_id: 0,
        version: 0,
        change: writegate::ChangeDigest::of(&[]),
        screening: writegate::ScreeningDigest::of(&[]),
        required: ApprovalLevel::Token,
        issued: 0,
        expires: i64::MAX,
    }
}

fn unknown_forged_and_foreign_tokens_have_one_answer(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let filed = ticket(&store, ada, "x");
    let write = GuardedWrite::CloseTicket { ticket: filed.id };
    let theirs = preview(&store, 1, &write);
    let mine = super::previewed(
        &store,
        act_of("local:eve", 1),
        super::new_preview(&write, ApprovalLevel::Token),
    );
    let unknown = super::gate().mint(&binding_of_nothing(), bytes(77));
    let swapped = {
        let (mine, theirs) = (mine.token.text(), theirs.token.text());
        let (mine, theirs): (Vec<_>, Vec<_>) =
            (mine.split('.').collect(), theirs.split('.').collect());
        Token::parse(&format!("ct1.{}.{}.{}", mine[1], theirs[2], mine[3])).unwrap()
    };
    let tokens = [
        Some(theirs.token.clone()),
        Some(unknown),
        Some(swapped),
        Some(forged(&mine.token, 78)),
        None,
    ];
    for token in tokens {
        let mut asked = redemption(&mine, given(&write));
        asked.token = token;
        let before = audit_rows(&store).len();
        let redeemed = ok(store.redeem_change(act_of("local:eve", 2), asked));
        assert_eq!(redeemed, Redeemed::Refused(Refusal::Invalid));
        let rows = audit_rows(&store);
        assert_eq!(rows.len(), before + 1);
        let row = rows.last().unwrap();
        assert_eq!(row.actor.id, "local:eve");
        let (kind, id) = entity(&filed);
        assert_eq!((row.entity, row.entity_id), (kind, Some(id)));
    }
    // Nobody has harmed anybody: both are as good as before.
    assert!(matches!(
        ok(redeem(&store, act(3), &theirs)),
        Redeemed::Applied(_)
    ));
    assert_eq!(
        refusal(ok(redeem(&store, act_of("local:eve", 3), &mine))),
        Refusal::Stale
    );
}

fn every_argument_changed_alone_burns_the_token(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com");
    let filed = ticket(&store, ada.id, "x");
    let mut tried = 0;
    for write in guarded_writes(filed.id, ada.id) {
        let names: Vec<String> = write
            .arguments()
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in names {
            let preview = preview(&store, 1, &write);
            let mut asked = redemption(&preview, nothing_given(&write));
            asked.given.arguments = Arguments::default().text(&name, Some("another"));
            let refused = refusal(ok(store.redeem_change(act(2), asked)));
            assert_eq!(refused, Refusal::Mismatch, "{name}");
            let honest = ok(redeem(&store, act(3), &preview));
            assert_eq!(refusal(honest), Refusal::Mismatch, "{name}");
            tried += 1;
        }
    }
    assert_eq!(tried, 9 + 3 + 1 + 3 + 5);
    assert_eq!(ok(store.get_ticket(filed.id)), filed);
    assert_eq!(ok(store.get_customer(ada.id)), ada);
}

fn at_micros(store: &Arc<dyn Storage>, preview: &Preview, micros: i64) -> Redeemed {
    let mut act = act(1);
    act.at = act.at.plus_micros(micros);
    ok(redeem(store, act, preview))
}

fn a_token_is_good_until_just_before_its_expiry(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    for (late, good) in [(-1_000, true), (-1, true), (0, false), (1_000, false)] {
        let id = ticket(&store, ada, "x").id;
        let preview = preview(&store, 1, &GuardedWrite::CloseTicket { ticket: id });
        assert_eq!(preview.expires, act(1).at.plus_micros(TTL));
        let redeemed = at_micros(&store, &preview, TTL + late);
        if good {
            assert!(
                matches!(redeemed, Redeemed::Applied(_)),
                "{late}: {redeemed:?}"
            );
        } else {
            assert_eq!(refusal(redeemed), Refusal::Expired, "{late}");
        }
    }
}

fn a_stricter_policy_binds_old_previews_too(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let write = GuardedWrite::UpdateTicket {
        ticket: ticket(&store, ada, "x").id,
        patch: whole_patch(),
    };
    let preview = preview(&store, 1, &write);
    let mut asked = redemption(&preview, given(&write));
    asked.required = Box::new(|write| match write {
        GuardedWrite::UpdateTicket { .. } => ApprovalLevel::Person,
        _ => ApprovalLevel::Token,
    });
    assert_eq!(
        refusal(ok(store.redeem_change(act(2), asked))),
        Refusal::Pending
    );
}

fn a_token_of_another_store_is_nothing_here(place: &Place) {
    let (here, elsewhere) = (place.open(), place.another());
    let there = elsewhere.open();
    let mut previews = Vec::new();
    for store in [&here, &there] {
        let ada = customer(store, "ada@example.com").id;
        let id = ticket(store, ada, "x").id;
        previews.push(preview(store, 1, &GuardedWrite::CloseTicket { ticket: id }));
    }
    let redeemed = ok(redeem(&here, act(2), &previews[1]));
    assert_eq!(refusal(redeemed), Refusal::Invalid);
    assert!(matches!(
        ok(redeem(&here, act(2), &previews[0])),
        Redeemed::Applied(_)
    ));
}
