//! Keys, records and calls to start from, and a seeded source of bytes.

use std::sync::Arc;

use writegate::{
    ApprovalLevel, ApprovalMethod, Binding, ChangeDigest, FieldChange, Gate, Key, KeyRing, Kid,
    Presented, Purpose, ScreeningDigest, Value, gate,
};

/// `SplitMix64`: the same bytes for the same seed, on every machine.
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next().to_be_bytes()[0])
    }
}

/// Flips one bit, counted from the first byte's highest.
pub(crate) fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 0x80 >> (bit % 8);
}

pub(crate) fn kid(text: &str) -> Kid {
    Kid::parse(text).unwrap()
}

/// A key whose bytes depend on its id alone.
pub(crate) fn key(id: &str) -> Key {
    let seed = id
        .bytes()
        .fold(7, |seed: u64, byte| seed * 31 + u64::from(byte));
    Key::new(kid(id), &Seeded(seed).bytes::<32>()).unwrap()
}

pub(crate) fn ring() -> KeyRing {
    KeyRing::new(key("k7qx")).add(key("m0xz")).unwrap()
}

pub(crate) fn new_gate() -> Arc<dyn Gate> {
    gate(ring())
}

pub(crate) fn change(after: &str) -> ChangeDigest {
    ChangeDigest::of(&[FieldChange {
        field: "priority",
        before: Some(Value::Text("low")),
        after: Some(Value::Text(after)),
    }])
}

pub(crate) const ISSUED: i64 = 1_700_000_000_000_000;
pub(crate) const EXPIRES: i64 = ISSUED + 300_000_000;
pub(crate) const NOW: i64 = ISSUED + 1_000_000;

pub(crate) fn binding() -> Binding {
    Binding {
        purpose: Purpose::Confirm,
        deployment: "desk.example".to_owned(),
        channel: "http".to_owned(),
        actor: "ana".to_owned(),
        client: "client-17".to_owned(),
        tool: "update_ticket".to_owned(),
        entity_kind: "ticket".to_owned(),
        entity_id: 1042,
        version: 7,
        change: change("urgent"),
        screening: ScreeningDigest::of(&["floor_only", "clear", "7"]),
        required: ApprovalLevel::Token,
        issued: ISSUED,
        expires: EXPIRES,
    }
}

/// The call that the binding was made for, approved by nobody.
pub(crate) fn presented(binding: &Binding) -> Presented<'_> {
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
        required: ApprovalLevel::Token,
        method: ApprovalMethod::TokenOnly,
    }
}
