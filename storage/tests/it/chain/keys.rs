//! Who sealed the rows: keys that came one after the other, and logs of a build from before the chain.

use storage::{AuditFault, Options, StoreError};
use writegate::{Key, KeyRing, Kid};

use super::{filled, flaw, refuse, sound, tamper};
use crate::support::{Place, err, log_keys, ok};

// What they do past the store is written in the words of SQLite.
on_sqlite!(
    rows_under_three_keys_verify_for_as_long_as_the_retired_ones_are_kept,
    a_log_from_before_the_chain_is_sealed_once_and_says_so,
    a_log_that_is_sealed_in_part_is_not_sealed_again,
);

fn key(kid: &str, start: u8) -> Key {
    let secret: [u8; 32] = std::array::from_fn(|i| {
        let i = u8::try_from(i).unwrap();
        i.wrapping_mul(i)
            .wrapping_mul(7)
            .wrapping_add(i.wrapping_mul(29))
            .wrapping_add(start)
    });
    Key::new(Kid::parse(kid).unwrap(), &secret).unwrap()
}

fn rows_under_three_keys_verify_for_as_long_as_the_retired_ones_are_kept(place: &Place) {
    let kid = |kid| Kid::parse(kid).unwrap();
    let first = KeyRing::new(key("k1", 3));
    let second = first
        .add(key("k2", 90))
        .and_then(|ring| ring.promote(&kid("k2")))
        .unwrap();
    let third = second
        .retire(&kid("k1"))
        .and_then(|ring| ring.add(key("k3", 200)))
        .and_then(|ring| ring.promote(&kid("k3")))
        .unwrap();
    // Through its text, as a process meets it.
    let third = KeyRing::parse(&third.render()).unwrap();
    let open = |ring: &KeyRing| {
        let options = Options {
            create: true,
            ..Options::default()
        };
        storage::open(&place.url(), ring.log_keys(), options).unwrap()
    };
    for ring in [&first, &second, &third] {
        let store = open(ring);
        refuse(&store, 0);
        ok(store.close());
    }
    assert_eq!(
        place.query("SELECT group_concat(mac_kid) FROM audit_event"),
        "k1,k2,k3"
    );
    assert_eq!(sound(&open(&third)).rows, 3);
    assert_eq!(flaw(&open(&second)), (3, AuditFault::UnknownKey));
    assert_eq!(
        flaw(&open(&KeyRing::new(key("k3", 200)))),
        (1, AuditFault::UnknownKey)
    );
    assert_eq!(
        flaw(&open(&KeyRing::new(key("k1", 90)))),
        (1, AuditFault::Forged)
    );
    let unsigned = err(open(&third).verify_audit(vec!["note".to_owned()]));
    assert!(
        matches!(unsigned, StoreError::Unavailable(_)),
        "{unsigned:?}"
    );
}

/// Takes the seals away, as in a store that a build from before the chain wrote.
fn strip(place: &Place, of: &str) {
    tamper(
        place,
        &format!(
            "UPDATE audit_event SET prev = NULL, hash = NULL, mac = NULL, mac_kid = NULL WHERE {of}; \
             UPDATE audit_head SET hash = NULL"
        ),
    );
}

fn a_log_from_before_the_chain_is_sealed_once_and_says_so(place: &Place) {
    // More than one batch.
    ok(filled(place, 1_234).close());
    strip(place, "true");
    assert_eq!(
        storage::migrate(&place.url(), log_keys()).unwrap(),
        Vec::<String>::new()
    );
    let store = place.open();
    let report = sound(&store);
    assert_eq!((report.rows, report.sealed_later), (1_234, 1_234));
    refuse(&store, 0);
    let report = sound(&store);
    assert_eq!((report.rows, report.sealed_later), (1_235, 1_234));
}

fn a_log_that_is_sealed_in_part_is_not_sealed_again(place: &Place) {
    ok(filled(place, 9).close());
    strip(place, "seq > 4");
    let refused = storage::migrate(&place.url(), log_keys());
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(
        place.query("SELECT count(*) FROM audit_event WHERE hash IS NULL"),
        "5"
    );
}
