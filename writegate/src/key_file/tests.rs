//! Tests of what only this module sees.

use super::*;

fn key(kid: &str, start: u8) -> Key {
    let secret: [u8; 64] = std::array::from_fn(|i| {
        let i = u8::try_from(i).unwrap();
        i.wrapping_mul(i).wrapping_mul(7).wrapping_add(start)
    });
    Key::new(Kid::parse(kid).unwrap(), &secret).unwrap()
}

#[test]
fn the_longest_file_fits_what_is_reserved_for_it() {
    let ring = KeyRing::new(key("aaaaaaaa", 1))
        .add(key("bbbbbbbb", 2))
        .and_then(|ring| ring.add(key("cccccccc", 3)))
        .unwrap();
    let text = ring.render();
    // `current` is four letters shorter than `verify-only`, for which every line has room.
    assert_eq!(text.capacity(), text.len() + 4);
}
