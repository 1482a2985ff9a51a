//! Time and identifiers for tests, the same in every run, and databases of a server. For dev-dependencies only.

pub mod postgres;
mod provider;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use domain::{Actor, ActorChannel, Clock, IdSource, Proof, Timestamp};

pub use provider::{Asked, Provider, Reply};

/// 2026-03-02T09:00:00Z, a Monday morning.
pub const START: Timestamp = Timestamp::from_micros(1_772_442_000_000_000);

/// A key file for tests. Whoever reads this can forge its tokens.
pub const KEY_FILE: &str = "deskgate-keys 1\ntest current sd-HQMrKU4j2G1SjPHe55uHGG-0TXwlR6gEDugC3eAQ\n\
     note checkpoint Gr8Jf0jca46PjWyIrLdIN-iGLvRo_QVkC668v5rF3NA\n";

/// A clock that moves by a second with each look, so that records made one after the other differ in their times.
#[derive(Debug)]
pub struct SteppingClock(AtomicI64);

impl SteppingClock {
    /// A clock that begins at [`START`].
    pub const fn new() -> Self {
        Self(AtomicI64::new(START.micros()))
    }
}

impl Default for SteppingClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.fetch_add(1_000_000, Ordering::Relaxed))
    }
}

/// Identifiers that count up from 1.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl CountingIds {
    fn next(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl IdSource for CountingIds {
    fn next_id(&self) -> u128 {
        self.next()
    }

    fn nonce(&self) -> [u8; 16] {
        // Spread over all digits, as real ones are.
        (self
            .next()
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
        .to_be_bytes()
    }
}

/// A person at a local host.
pub fn local_actor(name: &str) -> Actor {
    Actor {
        id: format!("local:{name}"),
        proof: Proof::Asserted,
        channel: ActorChannel::Stdio,
        client: "stdio".to_owned(),
    }
}
