//! Promise G-6: a token is good until just before its expiry, to the microsecond.

use writegate::{Binding, Refused};

use crate::common::{EXPIRES, binding, new_gate, presented};

fn redeem_at(original: &Binding, now: Option<i64>) -> Result<(), Refused> {
    let gate = new_gate();
    let token = gate.mint(original, [1; 16]);
    gate.redeem(&token, Some(&original.encode()), &presented(original), now)
        .map(drop)
}

#[test]
fn a_token_expires_at_its_expiry_and_not_a_microsecond_later() {
    let table = [
        (i64::MIN, Ok(())),
        (0, Ok(())),
        (EXPIRES - 1_000, Ok(())),
        (EXPIRES - 1, Ok(())),
        (EXPIRES, Err(Refused::Expired)),
        (EXPIRES + 1, Err(Refused::Expired)),
        (EXPIRES + 1_000, Err(Refused::Expired)),
        (i64::MAX, Err(Refused::Expired)),
    ];
    for (now, expected) in table {
        assert_eq!(redeem_at(&binding(), Some(now)), expected, "{now}");
    }
}

#[test]
fn without_a_time_expiry_is_left_to_the_caller() {
    for expires in [i64::MIN, 0, EXPIRES, i64::MAX] {
        let original = Binding {
            expires,
            ..binding()
        };
        assert_eq!(redeem_at(&original, None), Ok(()), "{expires}");
    }
}
