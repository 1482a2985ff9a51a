//! Promise G-2: a token can't be made, altered or moved to another record without the key.

use writegate::{Binding, Gate, Key, KeyRing, Purpose, Refused, Token, gate};

use crate::common::{NOW, Seeded, binding, flip, key, kid, new_gate, presented, ring};

const TOKENS: usize = 10_000;

/// Redeems as the rightful owner would; only token and record may be wrong.
fn try_spend(
    gate: &dyn Gate,
    text: &str,
    record: &[u8],
    original: &Binding,
) -> Result<(), Refused> {
    let token = Token::parse(text)?;
    gate.redeem(&token, Some(record), &presented(original), Some(NOW))
        .map(drop)
}

#[track_caller]
fn assert_spends(gate: &dyn Gate, text: &str, original: &Binding) {
    assert_eq!(try_spend(gate, text, &original.encode(), original), Ok(()));
}

fn numbered(seeded: &mut Seeded) -> Binding {
    Binding {
        entity_id: i64::from_be_bytes(seeded.bytes()),
        version: i64::from_be_bytes(seeded.bytes()),
        ..binding()
    }
}

/// The token with its tag or id replaced, spelled as a forger who knows the format would.
fn respell(token: &Token, id: &[u8], tag: &[u8]) -> String {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
    format!(
        "ct1.{}.{}.{}",
        token.kid(),
        BASE64.encode(id),
        BASE64.encode(tag)
    )
}

fn tag_of(token: &Token) -> Vec<u8> {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
    let text = token.text();
    BASE64.decode(text.rsplit('.').next().unwrap()).unwrap()
}

#[test]
fn ten_thousand_token_texts_with_one_flipped_bit_are_refused() {
    let gate = new_gate();
    let mut seeded = Seeded(1);
    for _ in 0..TOKENS {
        let original = numbered(&mut seeded);
        let text = gate.mint(&original, seeded.bytes()).text();
        assert_spends(&*gate, &text, &original);
        let mut bytes = text.into_bytes();
        let bit = seeded.below(bytes.len() * 8);
        flip(&mut bytes, bit);
        // What is no text never reaches the gate.
        if let Ok(forged) = String::from_utf8(bytes) {
            assert_eq!(
                try_spend(&*gate, &forged, &original.encode(), &original),
                Err(Refused::Invalid),
                "{forged}"
            );
        }
    }
}

#[test]
fn ten_thousand_ids_and_tags_with_one_flipped_bit_are_refused() {
    let gate = new_gate();
    let mut seeded = Seeded(2);
    for _ in 0..TOKENS {
        let original = numbered(&mut seeded);
        let token = gate.mint(&original, seeded.bytes());
        let mut bytes = [token.id().as_bytes().as_slice(), &tag_of(&token)].concat();
        let bit = seeded.below(bytes.len() * 8);
        flip(&mut bytes, bit);
        let (id, tag) = bytes.split_at(16);
        assert_eq!(
            try_spend(
                &*gate,
                &respell(&token, id, tag),
                &original.encode(),
                &original
            ),
            Err(Refused::Invalid)
        );
    }
}

#[test]
fn ten_thousand_records_with_one_flipped_bit_are_refused() {
    let gate = new_gate();
    let mut seeded = Seeded(3);
    for _ in 0..TOKENS {
        let original = numbered(&mut seeded);
        let text = gate.mint(&original, seeded.bytes()).text();
        assert_spends(&*gate, &text, &original);
        let mut record = original.encode();
        let bit = seeded.below(record.len() * 8);
        flip(&mut record, bit);
        assert_eq!(
            try_spend(&*gate, &text, &record, &original),
            Err(Refused::Invalid),
            "bit {bit}"
        );
    }
}

#[test]
fn a_rewritten_record_is_refused_even_when_the_call_agrees_with_it() {
    let gate = new_gate();
    let token = gate.mint(&binding(), [1; 16]);
    let rewritten = Binding {
        expires: i64::MAX,
        entity_id: 1,
        ..binding()
    };
    let result = gate.redeem(
        &token,
        Some(&rewritten.encode()),
        &presented(&rewritten),
        Some(NOW),
    );
    assert_eq!(result.err(), Some(Refused::Invalid));
}

#[test]
fn every_single_bit_flip_of_one_id_and_tag_is_refused() {
    let gate = new_gate();
    let original = binding();
    let token = gate.mint(&original, [1; 16]);
    let whole = [token.id().as_bytes().as_slice(), &tag_of(&token)].concat();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        flip(&mut bytes, bit);
        let (id, tag) = bytes.split_at(16);
        assert_eq!(
            try_spend(
                &*gate,
                &respell(&token, id, tag),
                &original.encode(),
                &original
            ),
            Err(Refused::Invalid),
            "bit {bit}"
        );
    }
}

#[test]
fn tags_and_ids_of_any_other_length_are_refused() {
    let gate = new_gate();
    let original = binding();
    let token = gate.mint(&original, [1; 16]);
    let tag = [tag_of(&token), vec![0; 64]].concat();
    let id = [token.id().as_bytes().as_slice(), &[0; 32]].concat();
    let spend = |id: &[u8], tag: &[u8]| {
        try_spend(
            &*gate,
            &respell(&token, id, tag),
            &original.encode(),
            &original,
        )
    };
    assert_eq!(spend(&id[..16], &tag[..32]), Ok(()));
    for length in (0..32).chain(33..=96) {
        assert_eq!(
            spend(&id[..16], &tag[..length]),
            Err(Refused::Invalid),
            "tag of {length}"
        );
    }
    for length in (0..16).chain(17..=48) {
        assert_eq!(
            spend(&id[..length], &tag[..32]),
            Err(Refused::Invalid),
            "id of {length}"
        );
    }
}

#[test]
fn ids_tags_and_records_of_two_tokens_do_not_mix() {
    let gate = new_gate();
    let first = binding();
    let second = Binding {
        entity_id: 1043,
        ..binding()
    };
    let one = gate.mint(&first, [1; 16]);
    let two = gate.mint(&second, [2; 16]);
    let mixed = [
        (one.text(), &second),
        (two.text(), &first),
        (respell(&one, two.id().as_bytes(), &tag_of(&one)), &first),
        (respell(&one, two.id().as_bytes(), &tag_of(&one)), &second),
        (respell(&two, one.id().as_bytes(), &tag_of(&two)), &first),
        (respell(&two, one.id().as_bytes(), &tag_of(&two)), &second),
    ];
    for (text, original) in mixed {
        assert_eq!(
            try_spend(&*gate, &text, &original.encode(), original),
            Err(Refused::Invalid),
            "{text}"
        );
    }
}

#[test]
fn a_token_for_another_purpose_is_refused() {
    let gate = new_gate();
    for purpose in Purpose::ALL {
        let original = Binding {
            purpose,
            ..binding()
        };
        let text = gate.mint(&original, [1; 16]).text();
        let expected = match purpose {
            Purpose::Confirm => Ok(()),
            Purpose::RequestState | Purpose::Cursor | Purpose::Approval => Err(Refused::Invalid),
        };
        assert_eq!(
            try_spend(&*gate, &text, &original.encode(), &original),
            expected,
            "{purpose:?}"
        );
        // A stored record whose purpose is rewritten doesn't help.
        let confirm = binding();
        assert_eq!(
            try_spend(&*gate, &text, &confirm.encode(), &confirm),
            expected,
            "{purpose:?}, rewritten"
        );
    }
}

#[test]
fn another_key_id_is_refused_whether_the_ring_has_it_or_not() {
    let gate = new_gate();
    let original = binding();
    let text = gate.mint(&original, [1; 16]).text();
    for other in ["m0xz", "zzzz", "k7q", "k7qx0"] {
        assert_eq!(
            try_spend(
                &*gate,
                &text.replace("k7qx", other),
                &original.encode(),
                &original
            ),
            Err(Refused::Invalid),
            "{other}"
        );
    }
}

#[test]
fn the_same_bytes_under_another_key_id_make_other_tokens() {
    let secret = Seeded(9).bytes::<32>();
    let of = |id: &str| gate(KeyRing::new(Key::new(kid(id), &secret).unwrap()));
    let original = binding();
    let text = of("aaaa").mint(&original, [1; 16]).text();
    assert_spends(&*of("aaaa"), &text, &original);
    assert_eq!(
        try_spend(&*of("bbbb"), &text, &original.encode(), &original),
        Err(Refused::Invalid),
        "unknown id"
    );
    assert_eq!(
        try_spend(
            &*of("bbbb"),
            &text.replace("aaaa", "bbbb"),
            &original.encode(),
            &original
        ),
        Err(Refused::Invalid),
        "renamed"
    );
}

#[test]
fn another_deployment_with_another_key_refuses_it() {
    let original = binding();
    let text = new_gate().mint(&original, [1; 16]).text();
    let other = gate(KeyRing::new(
        Key::new(kid("k7qx"), &Seeded(77).bytes::<32>()).unwrap(),
    ));
    assert_eq!(
        try_spend(&*other, &text, &original.encode(), &original),
        Err(Refused::Invalid)
    );
}

#[test]
fn a_genuine_token_without_its_row_is_refused() {
    let gate = new_gate();
    let original = binding();
    let token = gate.mint(&original, [1; 16]);
    let call = presented(&original);
    assert_eq!(
        gate.redeem(&token, None, &call, Some(NOW)).err(),
        Some(Refused::Invalid)
    );
    assert_eq!(
        gate.recognise(&token, None, &call).err(),
        Some(Refused::Invalid)
    );
}

/// Computed with Python's `hmac` and `hashlib` from the description of the format, so that neither the format nor the derivation of keys moves by accident.
#[test]
fn the_token_of_a_known_key_and_record_is_the_one_computed_elsewhere() {
    use writegate::{ApprovalLevel, ChangeDigest, FieldChange, ScreeningDigest, Value};
    let secret = [
        0x71, 0x95, 0xc7, 0x07, 0x55, 0xb1, 0x1b, 0x93, 0x19, 0xad, 0x4f, 0xff, 0xbd, 0x89, 0x63,
        0x4b, 0x41, 0x45, 0x57, 0x77, 0xa5, 0xe1, 0x2b, 0x83, 0xe9, 0x5d, 0xdf, 0x6f, 0x0d, 0xb9,
        0x73, 0x3b,
    ];
    let gate = gate(KeyRing::new(Key::new(kid("k7qx"), &secret).unwrap()));
    let change = ChangeDigest::of(&[
        FieldChange {
            field: "priority",
            before: Some(Value::Text("low")),
            after: Some(Value::Text("urgent")),
        },
        FieldChange {
            field: "tier",
            before: Some(Value::Int(1)),
            after: Some(Value::Int(-3)),
        },
        FieldChange {
            field: "security",
            before: None,
            after: Some(Value::Bool(true)),
        },
    ]);
    assert_eq!(
        hex(change.as_bytes()),
        "386777a52e258718cb2fdf6e5a10a45f6e482b547b0f8548ae7a0ac0bcf5de75"
    );
    let screening = ScreeningDigest::of(&["floor_only", "clear", "7"]);
    assert_eq!(
        hex(screening.as_bytes()),
        "bca46bf038bd58cb4fcf80db60db1bb52f1124349e27f8ac442470651e8cfcc8"
    );
    let binding = Binding {
        purpose: Purpose::Confirm,
        deployment: "desk.example".to_owned(),
        channel: "stdio".to_owned(),
        actor: "ana".to_owned(),
        client: "local".to_owned(),
        tool: "update_ticket".to_owned(),
        entity_kind: "ticket".to_owned(),
        entity_id: 1042,
        version: 7,
        change,
        screening,
        required: ApprovalLevel::Token,
        issued: 1_000_000,
        expires: 301_000_000,
    };
    assert_eq!(
        hex(&binding.encode()),
        "0101000000000000000c6465736b2e6578616d706c650000000000000005737464696f0000000000000003616e\
         6100000000000000056c6f63616c000000000000000d7570646174655f7469636b6574000000000000000674\
         69636b657400000000000004120000000000000007386777a52e258718cb2fdf6e5a10a45f6e482b547b0f85\
         48ae7a0ac0bcf5de75bca46bf038bd58cb4fcf80db60db1bb52f1124349e27f8ac442470651e8cfcc8010000\
         0000000f42400000000011f0e540"
    );
    let nonce = std::array::from_fn(|i| u8::try_from(i).unwrap());
    assert_eq!(
        gate.mint(&binding, nonce).text(),
        "ct1.k7qx.AAECAwQFBgcICQoLDA0ODw.GL7yZ0HLfTJsEx6dfUiTkLm0NYMZk97t4VGGwZPOpa0"
    );
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[test]
fn what_was_signed_by_a_key_that_only_verifies_still_counts() {
    let original = binding();
    let text = gate(KeyRing::new(key("m0xz")))
        .mint(&original, [3; 16])
        .text();
    assert_spends(&*gate(ring()), &text, &original);
}
