//! Promise G-10: keys that can be guessed are refused, with a line that says what to do.

use std::error::Error;

use writegate::{Key, KeyError, KeyRing, WeakKey};

use crate::common::{Seeded, key, kid, ring};

fn weakness(secret: &[u8]) -> Option<WeakKey> {
    let made = Key::new(kid("k"), secret);
    if let Err(KeyError::Weak(weak)) = made {
        return Some(weak);
    }
    assert!(made.is_ok(), "refused for another reason");
    None
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::prelude::BASE64_URL_SAFE_NO_PAD
        .decode(text)
        .unwrap()
}

#[test]
fn random_keys_of_every_allowed_length_are_taken() {
    let mut seeded = Seeded(4);
    for length in 32..=64 {
        for _ in 0..200 {
            let bytes = seeded.bytes::<64>();
            assert_eq!(weakness(&bytes[..length]), None, "{bytes:?}");
        }
    }
}

#[test]
fn keys_of_any_other_length_are_refused() {
    let bytes = Seeded(5).bytes::<200>();
    for found in 0..32 {
        assert_eq!(weakness(&bytes[..found]), Some(WeakKey::TooShort { found }));
    }
    for found in 65..=200 {
        assert_eq!(weakness(&bytes[..found]), Some(WeakKey::TooLong { found }));
    }
}

#[test]
fn keys_that_no_random_source_makes_are_refused() {
    let counting: Vec<u8> = (0..32).collect();
    let down: Vec<u8> = (100..150).rev().collect();
    let strides: Vec<u8> = (0..40_u8)
        .map(|i| i.wrapping_mul(37).wrapping_add(11))
        .collect();
    let piece = Seeded(6).bytes::<32>();
    let few: Vec<u8> = Seeded(6).bytes::<64>().map(|byte| byte % 10).into();
    let table: Vec<(Vec<u8>, WeakKey)> = vec![
        (vec![0; 32], WeakKey::AllEqual),
        (vec![0xff; 64], WeakKey::AllEqual),
        (vec![b'a'; 32], WeakKey::AllEqual),
        (counting, WeakKey::Patterned),
        (down, WeakKey::Patterned),
        (strides, WeakKey::Patterned),
        (piece[..16].repeat(2), WeakKey::Patterned),
        (piece.repeat(2), WeakKey::Patterned),
        (piece[..2].repeat(16), WeakKey::Patterned),
        (
            [
                piece[..13].repeat(2),
                piece[..13].to_vec(),
                piece[..4].to_vec(),
            ]
            .concat(),
            WeakKey::Patterned,
        ),
        (b"change-me-please-change-me-now!!".to_vec(), WeakKey::Text),
        (b" your-256-bit-secret your secret~".to_vec(), WeakKey::Text),
        (
            b"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_vec(),
            WeakKey::Text,
        ),
        (few, WeakKey::FewValues { distinct: 10 }),
    ];
    for (secret, expected) in table {
        assert_eq!(weakness(&secret), Some(expected), "{secret:?}");
    }
}

#[test]
fn a_key_is_text_only_if_all_of_it_is() {
    let mut secret = *b"correct horse battery staple 42!";
    assert_eq!(weakness(&secret), Some(WeakKey::Text));
    for outside in [0x1f, 0x7f, 0x80] {
        secret[10] = outside;
        assert_eq!(weakness(&secret), None, "{outside}");
    }
}

#[test]
fn sixteen_different_bytes_are_enough_and_fifteen_are_not() {
    // Twice the same values in two orders, so that nothing repeats.
    let mut secret: Vec<u8> = (0..16).map(|i| i * 7 + 100).collect();
    let reversed: Vec<u8> = secret.iter().rev().copied().collect();
    secret.extend(reversed);
    assert_eq!(weakness(&secret), None);
    let (first, second) = (secret[0], secret[1]);
    for byte in &mut secret {
        if *byte == first {
            *byte = second;
        }
    }
    assert_eq!(weakness(&secret), Some(WeakKey::FewValues { distinct: 15 }));
}

#[test]
fn example_keys_from_public_documents_are_refused() {
    let published = [
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
        "hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg",
        "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4",
        "46BKJoQYlPPOexq0OhDZnIlNepKFf87WFwLbfzqDDho",
        "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
    ];
    for text in published {
        let mut secret = decoded(text);
        assert_eq!(weakness(&secret), Some(WeakKey::Published), "{text}");
        secret[0] ^= 1;
        assert_eq!(weakness(&secret), None, "{text}, altered");
    }
}

#[test]
fn a_refused_key_is_answered_with_what_to_do() {
    let error = Key::new(kid("k"), &[7; 31]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the key is too weak, make a new one with `keys create`"
    );
    assert_eq!(
        error.source().unwrap().to_string(),
        "it has `31` bytes, a key has `32` to `64`"
    );
}

#[test]
fn a_ring_never_has_one_id_or_one_secret_twice() {
    let taken = ring().add(key("m0xz")).unwrap_err();
    assert_eq!(taken, KeyError::KidTaken(kid("m0xz")));
    let taken = ring().add(key("k7qx")).unwrap_err();
    assert_eq!(taken, KeyError::KidTaken(kid("k7qx")));

    let secret = Seeded(8).bytes::<32>();
    let ring = KeyRing::new(Key::new(kid("aaaa"), &secret).unwrap());
    let again = ring
        .add(Key::new(kid("bbbb"), &secret).unwrap())
        .unwrap_err();
    assert_eq!(again, KeyError::SecretTaken(kid("aaaa")));
    // HMAC pads keys with zeros, so this is the same key in other clothes.
    let padded = [secret.as_slice(), &[0; 5]].concat();
    let again = ring
        .add(Key::new(kid("bbbb"), &padded).unwrap())
        .unwrap_err();
    assert_eq!(again, KeyError::SecretTaken(kid("aaaa")));
}

#[test]
fn the_debug_form_of_keys_and_rings_shows_ids_only() {
    assert_eq!(format!("{:?}", key("k7qx")), "Key { kid: \"k7qx\", .. }");
    assert_eq!(
        format!("{:?}", ring()),
        "{\"k7qx\": \"current\", \"m0xz\": \"verify-only\"}"
    );
}
