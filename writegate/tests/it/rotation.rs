//! Promise G-9: keys are rotated without refusing a good token, and dropped at once when they have to be.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use writegate::{Binding, Gate, KeyError, KeyRing, KeyState, Refused, Token, gate};

use crate::common::{NOW, binding, key, kid, presented};

fn redeem(gate: &dyn Gate, token: &Token, original: &Binding) -> Result<(), Refused> {
    gate.redeem(
        token,
        Some(&original.encode()),
        &presented(original),
        Some(NOW),
    )
    .map(drop)
}

fn states(ring: &KeyRing) -> Vec<(String, KeyState)> {
    ring.kids()
        .map(|(kid, state)| (kid.to_string(), state))
        .collect()
}

#[test]
fn two_processes_in_neighbouring_stages_accept_each_others_tokens() {
    let alone = KeyRing::new(key("old"));
    let added = alone.add(key("new")).unwrap();
    let promoted = added.promote(&kid("new")).unwrap();
    let retired = promoted.retire(&kid("old")).unwrap();
    let original = binding();
    // Retiring waits until no token of the old key is left, so there only the new key's tokens are looked at.
    let steps = [
        (&alone, &added, vec!["old", "old"]),
        (&added, &promoted, vec!["old", "new"]),
        (&promoted, &retired, vec!["new", "new"]),
    ];
    for (before, after, signers) in steps {
        let gates = [gate(before.clone()), gate(after.clone())];
        for (signing, kid) in gates.iter().zip(signers) {
            let token = signing.mint(&original, [1; 16]);
            assert_eq!(token.kid().as_str(), kid);
            for verifying in &gates {
                assert_eq!(redeem(&**verifying, &token, &original), Ok(()));
            }
        }
    }
}

#[test]
fn each_stage_gives_a_new_ring_and_leaves_the_old_one() {
    use KeyState::{Current, VerifyOnly};
    let state = |kid: &str, state| (kid.to_owned(), state);
    let alone = KeyRing::new(key("old"));
    let added = alone.add(key("new")).unwrap();
    let third = added.add(key("third")).unwrap();
    let promoted = third.promote(&kid("third")).unwrap();
    let retired = promoted.retire(&kid("old")).unwrap();
    assert_eq!(states(&alone), [state("old", Current)]);
    assert_eq!(
        states(&added),
        [state("old", Current), state("new", VerifyOnly)]
    );
    assert_eq!(
        states(&promoted),
        [
            state("third", Current),
            state("new", VerifyOnly),
            state("old", VerifyOnly)
        ]
    );
    assert_eq!(promoted.current_kid(), &kid("third"));
    assert_eq!(
        states(&retired),
        [state("third", Current), state("new", VerifyOnly)]
    );
}

#[test]
fn steps_out_of_order_are_refused_with_what_to_do() {
    let ring = KeyRing::new(key("old")).add(key("new")).unwrap();
    let table = [
        (
            ring.promote(&kid("old")),
            KeyError::AlreadyCurrent(kid("old")),
            "the key `old` is the current one already",
        ),
        (
            ring.promote(&kid("gone")),
            KeyError::UnknownKid(kid("gone")),
            "no key has the id `gone`, `keys list` shows those there are",
        ),
        (
            ring.retire(&kid("gone")),
            KeyError::UnknownKid(kid("gone")),
            "no key has the id `gone`, `keys list` shows those there are",
        ),
        (
            ring.retire(&kid("old")),
            KeyError::StillCurrent(kid("old")),
            "the key `old` is the current one, promote another before it is retired",
        ),
    ];
    for (result, expected, text) in table {
        let error = result.unwrap_err();
        assert_eq!(error, expected);
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_retired_key_is_as_good_as_unknown() {
    let ring = KeyRing::new(key("old"));
    let gate = gate(ring.clone());
    let original = binding();
    let token = gate.mint(&original, [1; 16]);
    assert_eq!(redeem(&*gate, &token, &original), Ok(()));
    let emergency = ring
        .add(key("new"))
        .and_then(|ring| ring.promote(&kid("new")))
        .and_then(|ring| ring.retire(&kid("old")))
        .unwrap();
    gate.replace_ring(emergency);
    assert_eq!(gate.current_kid(), kid("new"));
    assert_eq!(redeem(&*gate, &token, &original), Err(Refused::Invalid));
    let token = gate.mint(&original, [2; 16]);
    assert_eq!(redeem(&*gate, &token, &original), Ok(()));
}

#[test]
fn a_rotation_under_load_refuses_no_good_token() {
    let alone = KeyRing::new(key("old"));
    let added = alone.add(key("new")).unwrap();
    let promoted = added.promote(&kid("new")).unwrap();
    let gate = gate(alone);
    let original = binding();
    let rotated = AtomicBool::new(false);
    thread::scope(|scope| {
        for worker in 0..4_u8 {
            let (gate, original, rotated) = (&gate, &original, &rotated);
            scope.spawn(move || {
                let mut last = false;
                while !last {
                    last = rotated.load(Ordering::SeqCst);
                    let token = gate.mint(original, [worker; 16]);
                    assert_eq!(redeem(&**gate, &token, original), Ok(()));
                }
            });
        }
        for _ in 0..100 {
            gate.replace_ring(added.clone());
            gate.replace_ring(promoted.clone());
        }
        rotated.store(true, Ordering::SeqCst);
    });
    assert_eq!(gate.current_kid(), kid("new"));
}
