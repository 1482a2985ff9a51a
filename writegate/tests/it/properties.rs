//! Properties of the record and the digests, for any input.

use proptest::prelude::*;
use writegate::{
    ApprovalLevel, Binding, ChangeDigest, DecodeError, FieldChange, Purpose, ScreeningDigest, Value,
};

use crate::common::binding;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "\\PC{0,20}", any::<String>()]
}

prop_compose! {
    fn any_binding()(
        purpose in prop::sample::select(Purpose::ALL.to_vec()),
        texts in prop::array::uniform6(text()),
        entity_id in any::<i64>(),
        version in any::<i64>(),
        change in any::<[u8; 32]>(),
        screening in any::<[u8; 32]>(),
        required in prop::sample::select(ApprovalLevel::ALL.to_vec()),
        issued in any::<i64>(),
        expires in any::<i64>(),
    ) -> Binding {
        let [deployment, channel, actor, client, tool, entity_kind] = texts;
        Binding {
            purpose, deployment, channel, actor, client, tool, entity_kind, entity_id, version,
            change: ChangeDigest::from_bytes(change),
            screening: ScreeningDigest::from_bytes(screening),
            required, issued, expires,
        }
    }
}

/// Few enough values that the generator often meets two changes that are nearly the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Text(String),
    Int(i64),
    Bool(bool),
}

type Field = (String, Option<Held>, Option<Held>);

fn held() -> impl Strategy<Value = Option<Held>> {
    prop::option::of(prop_oneof![
        "[ab1]{0,2}".prop_map(Held::Text),
        (-1_i64..=1).prop_map(Held::Int),
        any::<bool>().prop_map(Held::Bool),
    ])
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    prop::collection::vec(("[ab]{0,2}", held(), held()), 0..3)
}

fn value(held: Option<&Held>) -> Option<Value<'_>> {
    held.map(|held| match held {
        Held::Text(text) => Value::Text(text),
        Held::Int(number) => Value::Int(*number),
        Held::Bool(flag) => Value::Bool(*flag),
    })
}

fn digest(fields: &[Field]) -> ChangeDigest {
    let changes: Vec<FieldChange<'_>> = fields
        .iter()
        .map(|(field, before, after)| FieldChange {
            field,
            before: value(before.as_ref()),
            after: value(after.as_ref()),
        })
        .collect();
    ChangeDigest::of(&changes)
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(binding in any_binding()) {
        prop_assert_eq!(Binding::decode(&binding.encode()), Ok(binding));
    }

    #[test]
    fn different_records_have_different_bytes(one in any_binding(), two in any_binding()) {
        prop_assert_eq!(one == two, one.encode() == two.encode());
    }

    #[test]
    fn a_record_cut_off_or_extended_is_refused(binding in any_binding(), extra in prop::collection::vec(any::<u8>(), 1..20)) {
        let bytes = binding.encode();
        for length in 0..bytes.len() {
            prop_assert_eq!(Binding::decode(&bytes[..length]), Err(DecodeError::Truncated));
        }
        let extended = [bytes, extra.clone()].concat();
        prop_assert_eq!(Binding::decode(&extended), Err(DecodeError::TrailingBytes { extra: extra.len() }));
    }

    #[test]
    fn bytes_that_decode_are_the_encoding_of_what_they_decode_to(binding in any_binding(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = binding.encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(decoded) = Binding::decode(&bytes) {
            prop_assert_eq!(decoded.encode(), bytes);
        }
    }

    #[test]
    fn a_change_has_one_digest_in_any_order(fields in fields(), swap in any::<prop::sample::Index>()) {
        let mut moved = fields.clone();
        moved.reverse();
        prop_assert_eq!(digest(&fields), digest(&moved));
        if !moved.is_empty() {
            let by = swap.index(moved.len());
            moved.rotate_left(by);
            prop_assert_eq!(digest(&fields), digest(&moved));
        }
    }

    #[test]
    fn different_changes_have_different_digests(one in fields(), two in fields()) {
        let (mut first, mut second) = (one.clone(), two.clone());
        first.sort();
        second.sort();
        prop_assert_eq!(first == second, digest(&one) == digest(&two));
    }

    #[test]
    fn different_screenings_have_different_digests(one in prop::collection::vec("[ab]{0,2}", 0..3), two in prop::collection::vec("[ab]{0,2}", 0..3)) {
        let of = |parts: &[String]| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            ScreeningDigest::of(&parts)
        };
        prop_assert_eq!(one == two, of(&one) == of(&two));
    }
}

#[test]
fn values_that_look_alike_have_digests_of_their_own() {
    let values = [
        None,
        Some(Value::Text("")),
        Some(Value::Text("0")),
        Some(Value::Text("1")),
        Some(Value::Text("true")),
        Some(Value::Text("\0")),
        Some(Value::Int(0)),
        Some(Value::Int(1)),
        Some(Value::Int(-1)),
        Some(Value::Bool(false)),
        Some(Value::Bool(true)),
    ];
    let mut seen = Vec::new();
    for before in values {
        for after in values {
            for field in ["", "a"] {
                let digest = ChangeDigest::of(&[FieldChange {
                    field,
                    before,
                    after,
                }]);
                assert!(!seen.contains(&digest), "{field} {before:?} {after:?}");
                seen.push(digest);
            }
        }
    }
    let nothing = ChangeDigest::of(&[]);
    assert!(!seen.contains(&nothing));
    // One list of parts never passes for the other kind of digest.
    assert_ne!(nothing.as_bytes(), ScreeningDigest::of(&[]).as_bytes());
}

#[test]
fn digests_keep_their_bytes() {
    let bytes = std::array::from_fn(|i| u8::try_from(i).unwrap());
    assert_eq!(ChangeDigest::from_bytes(bytes).as_bytes(), &bytes);
    assert_eq!(ScreeningDigest::from_bytes(bytes).as_bytes(), &bytes);
}

#[test]
fn each_way_to_be_no_record_has_its_error() {
    let good = binding().encode();
    let level = good.len() - 17;
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Binding::decode(&bytes)
    };
    for found in [0, 2, 255] {
        assert_eq!(with(0, found), Err(DecodeError::Format { found }));
    }
    for found in [0, 5, 255] {
        assert_eq!(with(1, found), Err(DecodeError::Purpose { found }));
    }
    for found in [0, 3, 255] {
        assert_eq!(with(level, found), Err(DecodeError::Level { found }));
    }
    assert_eq!(with(2, 1), Err(DecodeError::Truncated), "a length of 2^56");
    assert_eq!(with(2, 255), Err(DecodeError::Truncated));
    assert_eq!(with(10, 0xff), Err(DecodeError::NotText));
    assert_eq!(Binding::decode(&[]), Err(DecodeError::Truncated));
}
