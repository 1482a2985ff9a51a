//! The machine's clock and randomness. Only binaries and `xtask` make these; everything below takes them as traits.

use domain::{Clock, IdSource, Timestamp};

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that others take"
    )]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Identifiers from the machine's clock and randomness.
#[derive(Clone, Copy, Debug)]
pub struct SystemIds;

impl IdSource for SystemIds {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the source that others take"
    )]
    fn next_id(&self) -> u128 {
        uuid::Uuid::now_v7().as_u128()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the source that others take"
    )]
    fn nonce(&self) -> [u8; 16] {
        // A version 4 UUID has 122 random bits from the operating system; two of them fill the six that it fixes.
        let (a, b) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
        let mut bytes = a.into_bytes();
        for (slot, other) in bytes.iter_mut().zip(b.into_bytes().into_iter().rev()) {
            *slot ^= other;
        }
        bytes
    }
}
