//! Tests of what only this module sees.

use super::*;

fn key(id: &str, start: u8) -> Key {
    let secret: [u8; 32] = std::array::from_fn(|i| {
        let i = u8::try_from(i).unwrap();
        i.wrapping_mul(i).wrapping_mul(7).wrapping_add(start)
    });
    Key::new(Kid::parse(id).unwrap(), &secret).unwrap()
}

#[test]
fn the_stand_in_for_an_unknown_key_accepts_nothing() {
    let ring = KeyRing::new(key("a", 3));
    let unknown = Kid::parse("b").unwrap();
    let id = TokenId::new([1; 16]);
    // Signed with the very key that stands in, under the id that the ring doesn't know.
    let tag = ring.current.tag(Purpose::Confirm, &unknown, id, b"record");
    let token = Token::new(unknown, id, tag);
    assert!(!ring.verifies(Purpose::Confirm, &token, b"record"));
    let known = KeyRing::new(Key::new(token.kid().clone(), ring.current.secret()).unwrap());
    assert!(known.verifies(Purpose::Confirm, &token, b"record"));
}

#[test]
fn each_purpose_signs_with_a_key_of_its_own() {
    let ring = KeyRing::new(key("a", 3));
    let id = TokenId::new([1; 16]);
    for signed in Purpose::ALL {
        let token = ring.sign(signed, id, b"record");
        for asked in Purpose::ALL {
            assert_eq!(
                ring.verifies(asked, &token, b"record"),
                signed == asked,
                "{signed:?} {asked:?}"
            );
        }
    }
}
