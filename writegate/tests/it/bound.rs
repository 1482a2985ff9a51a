//! Promises G-3, G-7 and G-8: whatever is bound must be presented, and strangers learn nothing.

use writegate::{
    ApprovalLevel, ApprovalMethod, Binding, BoundPart, Presented, Refused, ScreeningDigest,
};

use crate::common::{EXPIRES, NOW, binding, change, new_gate, presented};

type Alter = fn(&mut Presented<'_>);

const STALE: Refused = Refused::Stale { bound: 7, found: 8 };

fn mismatch(part: BoundPart) -> Refused {
    Refused::Mismatch { part }
}

fn strangers() -> Vec<(&'static str, Alter)> {
    vec![
        ("deployment", |call| call.deployment = "staging.example"),
        ("channel", |call| call.channel = "stdio"),
        ("actor", |call| call.actor = "bob"),
        ("client", |call| call.client = "client-18"),
        ("client, by a prefix", |call| call.client = "client-1"),
        ("actor, by case", |call| call.actor = "Ana"),
        ("actor, empty", |call| call.actor = ""),
    ]
}

fn other_calls() -> Vec<(&'static str, Alter, BoundPart)> {
    vec![
        ("tool", |call| call.tool = "delete_ticket", BoundPart::Tool),
        (
            "entity kind",
            |call| call.entity_kind = "customer",
            BoundPart::Entity,
        ),
        ("entity id", |call| call.entity_id = 1043, BoundPart::Entity),
        (
            "change",
            |call| call.change = change("high"),
            BoundPart::Change,
        ),
    ]
}

fn lift(call: &mut Presented<'_>) {
    call.screening = ScreeningDigest::of(&["local", "clear", "7"]);
}

fn redeem_with(
    original: &Binding,
    alter: &[Alter],
    now: Option<i64>,
) -> Result<ApprovalMethod, Refused> {
    let gate = new_gate();
    let token = gate.mint(original, [1; 16]);
    let mut call = presented(original);
    for alter in alter {
        alter(&mut call);
    }
    gate.redeem(&token, Some(&original.encode()), &call, now)
        .map(|grant| grant.method())
}

#[test]
fn each_bound_field_changed_alone_is_refused_with_its_own_code() {
    let token_only = Ok(ApprovalMethod::TokenOnly);
    assert_eq!(redeem_with(&binding(), &[], Some(NOW)), token_only);
    for (name, alter) in strangers() {
        assert_eq!(
            redeem_with(&binding(), &[alter], Some(NOW)),
            Err(Refused::Invalid),
            "{name}"
        );
    }
    for (name, alter, part) in other_calls() {
        assert_eq!(
            redeem_with(&binding(), &[alter], Some(NOW)),
            Err(mismatch(part)),
            "{name}"
        );
    }
    assert_eq!(
        redeem_with(&binding(), &[|call| call.version = 8], Some(NOW)),
        Err(STALE)
    );
    assert_eq!(
        redeem_with(&binding(), &[|call| call.version = 6], Some(NOW)),
        Err(Refused::Stale { bound: 7, found: 6 })
    );
    assert_eq!(
        redeem_with(&binding(), &[lift], Some(NOW)),
        Err(mismatch(BoundPart::Screening))
    );
    assert_eq!(
        redeem_with(
            &binding(),
            &[|call| call.required = ApprovalLevel::Person],
            Some(NOW)
        ),
        Err(Refused::NeedsPerson)
    );
}

#[test]
fn a_stranger_gets_one_answer_whatever_else_is_wrong() {
    let original = Binding {
        required: ApprovalLevel::Person,
        ..binding()
    };
    for (name, stranger) in strangers() {
        let everything: [Alter; 4] = [
            stranger,
            |call| call.tool = "delete_ticket",
            |call| call.version = 8,
            lift,
        ];
        for count in 1..=everything.len() {
            assert_eq!(
                redeem_with(&original, &everything[..count], Some(EXPIRES)),
                Err(Refused::Invalid),
                "{name}, {count}"
            );
        }
    }
    let gate = new_gate();
    let token = gate.mint(&original, [1; 16]);
    for (name, stranger) in strangers() {
        let mut call = presented(&original);
        stranger(&mut call);
        assert_eq!(
            gate.recognise(&token, Some(&original.encode()), &call),
            Err(Refused::Invalid),
            "{name}"
        );
    }
}

#[test]
fn what_can_not_be_spent_now_is_not_burned_for_what_else_is_wrong() {
    let person = Binding {
        required: ApprovalLevel::Person,
        ..binding()
    };
    for (name, alter, _) in other_calls() {
        let expired = redeem_with(&person, &[alter], Some(EXPIRES));
        assert_eq!(expired, Err(Refused::Expired), "{name}");
        let pending = redeem_with(&person, &[alter], Some(NOW));
        assert_eq!(pending, Err(Refused::NeedsPerson), "{name}");
    }
}

#[test]
fn another_call_on_a_moved_row_is_a_mismatch() {
    for (name, alter, part) in other_calls() {
        assert_eq!(
            redeem_with(
                &binding(),
                &[alter, |call| call.version = 8, lift],
                Some(NOW)
            ),
            Err(mismatch(part)),
            "{name}"
        );
    }
}

#[test]
fn a_moved_row_is_stale_although_its_screening_moved_with_it() {
    assert_eq!(
        redeem_with(&binding(), &[|call| call.version = 8, lift], Some(NOW)),
        Err(STALE)
    );
}

#[test]
fn the_first_part_that_differs_is_named() {
    let all: [Alter; 4] = [
        |call| call.tool = "delete_ticket",
        |call| call.entity_id = 1,
        |call| call.change = change("high"),
        lift,
    ];
    let parts = [
        BoundPart::Tool,
        BoundPart::Entity,
        BoundPart::Change,
        BoundPart::Screening,
    ];
    for (from, part) in parts.into_iter().enumerate() {
        assert_eq!(
            redeem_with(&binding(), &all[from..], Some(NOW)),
            Err(mismatch(part))
        );
    }
}

#[test]
fn only_the_owner_burns_a_token_and_only_for_good_reason() {
    let table = [
        (Refused::Invalid, false),
        (Refused::Expired, false),
        (Refused::NeedsPerson, false),
        (mismatch(BoundPart::Tool), true),
        (mismatch(BoundPart::Entity), true),
        (mismatch(BoundPart::Change), true),
        (mismatch(BoundPart::Screening), true),
        (STALE, true),
    ];
    for (refused, burns) in table {
        assert_eq!(refused.burns(), burns, "{refused}");
    }
}

#[test]
fn a_grant_says_what_was_bound_and_how_it_was_approved() {
    let gate = new_gate();
    let original = Binding {
        required: ApprovalLevel::Person,
        ..binding()
    };
    let token = gate.mint(&original, [1; 16]);
    let call = Presented {
        method: ApprovalMethod::OperatorTerminal,
        ..presented(&original)
    };
    let grant = gate
        .redeem(&token, Some(&original.encode()), &call, Some(NOW))
        .unwrap();
    assert_eq!(grant.token_id(), token.id());
    assert_eq!(grant.token_id().as_bytes(), &[1; 16]);
    assert_eq!(grant.binding(), &original);
    assert_eq!(grant.method(), ApprovalMethod::OperatorTerminal);
}

#[test]
fn the_owner_is_recognised_when_the_token_can_no_longer_be_spent() {
    let gate = new_gate();
    let original = Binding {
        required: ApprovalLevel::Person,
        expires: ISSUED_LONG_AGO,
        ..binding()
    };
    let token = gate.mint(&original, [1; 16]);
    let mut call = presented(&original);
    call.version = 8;
    lift(&mut call);
    let record = original.encode();
    assert_eq!(
        gate.recognise(&token, Some(&record), &call),
        Ok(original.clone())
    );
    for (name, alter, part) in other_calls() {
        let mut other = call.clone();
        alter(&mut other);
        assert_eq!(
            gate.recognise(&token, Some(&record), &other),
            Err(mismatch(part)),
            "{name}"
        );
    }
}

const ISSUED_LONG_AGO: i64 = 1;

#[test]
fn refusals_read_as_sentences_and_name_no_way_round() {
    let table = [
        (Refused::Invalid, "the confirmation token is not valid"),
        (Refused::Expired, "the confirmation token has expired"),
        (
            Refused::NeedsPerson,
            "a person has to approve this change first",
        ),
        (
            mismatch(BoundPart::Tool),
            "the confirmation token was made for another `tool`",
        ),
        (
            mismatch(BoundPart::Entity),
            "the confirmation token was made for another `entity`",
        ),
        (
            mismatch(BoundPart::Change),
            "the confirmation token was made for another `change`",
        ),
        (
            mismatch(BoundPart::Screening),
            "the confirmation token was made for another `screening`",
        ),
        (
            STALE,
            "the preview was made from version `7` and the record has version `8` now",
        ),
    ];
    for (refused, text) in table {
        assert_eq!(refused.to_string(), text);
    }
}
