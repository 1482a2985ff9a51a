//! Tests of what only this module sees.

use std::thread;

use super::*;
use crate::approval::ApprovalMethod;
use crate::key::Key;

fn ring(id: &str) -> KeyRing {
    let start = id.bytes().fold(0, u8::wrapping_add);
    let secret: [u8; 32] = std::array::from_fn(|i| {
        let i = u8::try_from(i).unwrap();
        i.wrapping_mul(i).wrapping_mul(7).wrapping_add(start)
    });
    KeyRing::new(Key::new(Kid::parse(id).unwrap(), &secret).unwrap())
}

fn calling(binding: &Binding) -> Presented<'_> {
    Presented {
        deployment: &binding.deployment,
        channel: &binding.channel,
        actor: &binding.actor,
        client: &binding.client,
        tool: &binding.tool,
        entity_kind: &binding.entity_kind,
        entity_id: binding.entity_id,
        version: binding.version,
        change: binding.change,
        screening: binding.screening,
        required: ApprovalLevel::Person,
        method: ApprovalMethod::ApprovalPage,
    }
}

#[test]
fn the_record_that_stands_in_for_a_missing_row_is_worth_nothing() {
    let gate = KeyedGate::new(ring("a"));
    let decoy = decoy();
    let id = TokenId::new([1; 16]);
    for purpose in Purpose::ALL {
        let token = gate.ring().sign(purpose, id, &gate.decoy);
        for record in [None, Some(gate.decoy.as_slice())] {
            let call = calling(&decoy);
            assert_eq!(
                gate.redeem(&token, record, &call, None).err(),
                Some(Refused::Invalid)
            );
            assert_eq!(
                gate.recognise(&token, record, &call).err(),
                Some(Refused::Invalid)
            );
        }
    }
}

#[test]
fn a_thread_that_panicked_under_the_lock_stops_nobody() {
    let gate = Arc::new(KeyedGate::new(ring("a")));
    let poisoning = Arc::clone(&gate);
    let panicked = thread::spawn(move || {
        let _held = poisoning.ring.write().unwrap();
        panic!("on purpose, while holding the lock");
    })
    .join();
    assert!(panicked.is_err());
    assert!(gate.ring.is_poisoned());
    assert_eq!(gate.current_kid().as_str(), "a");
    gate.replace_ring(ring("b"));
    assert_eq!(gate.current_kid().as_str(), "b");
}
