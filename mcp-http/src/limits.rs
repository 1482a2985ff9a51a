//! How much one principal, and one address without identity, may ask (promises D-4 and D-8).
//!
//! The key is the verified identity, so neither a new connection nor a forwarded header buys more. Addresses are counted
//! only for tokens that were refused, and an address that failed often still enters with a valid token: a colleague's broken
//! client behind the same router must not lock a team out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

/// Kinds of work, each with its own allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Everything that only reads.
    Read,
    /// Reads that show contact fields in clear: the pace at which a customer base could be carried off.
    Contacts,
    /// Writes.
    Write,
}

/// An allowance: so many a second on average, so many at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Refilled each second.
    pub per_second: NonZeroU32,
    /// The most that a pause saves up.
    pub burst: NonZeroU32,
}

impl Rate {
    const fn new(per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        Self { per_second, burst }
    }

    /// This allowance at another rate, with a burst in the same proportion.
    #[must_use]
    pub fn at(self, per_second: NonZeroU32) -> Self {
        let times = self.burst.get() / self.per_second.get();
        let burst = per_second.saturating_mul(NonZeroU32::new(times).unwrap_or(NonZeroU32::MIN));
        Self { per_second, burst }
    }

    const fn quota(self) -> Quota {
        Quota::per_second(self.per_second).allow_burst(self.burst)
    }
}

/// The allowances of each principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// For [`Class::Read`].
    pub reads: Rate,
    /// For [`Class::Contacts`].
    pub contacts: Rate,
    /// For [`Class::Write`].
    pub writes: Rate,
    /// Requests at once, open event streams included.
    pub in_flight: usize,
}

const fn some(number: u32) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(number - 1)
}

/// Refused tokens of one address: twenty at once, then one in six seconds.
const FAILURE_BURST: NonZeroU32 = some(20);
const FAILURE_PERIOD: Duration = Duration::from_secs(6);
/// After so many refused tokens, addresses that are quiet again are forgotten.
const FORGET_EVERY: u64 = 1024;

impl Default for Rates {
    fn default() -> Self {
        Self {
            reads: Rate::new(some(50), some(200)),
            contacts: Rate::new(some(20), some(40)),
            writes: Rate::new(some(10), some(20)),
            in_flight: 64,
        }
    }
}

/// It was too much; this many seconds later it will not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch {
    /// Whole seconds, at least one.
    pub seconds: u64,
}

type Keyed<K, C> = RateLimiter<K, DashMapStateStore<K>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// The allowances and what is left of them.
pub struct Limits<C: Clock = DefaultClock> {
    clock: C,
    reads: Keyed<String, C>,
    contacts: Keyed<String, C>,
    writes: Keyed<String, C>,
    failures: Keyed<IpAddr, C>,
    failed: AtomicU64,
    in_flight_each: usize,
    in_flight: Arc<Mutex<HashMap<String, usize>>>,
}

/// One request's place among those of its principal.
pub struct InFlight {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    principal: String,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.principal) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.principal);
            }
        }
    }
}

impl Limits {
    /// Full allowances.
    pub fn new(rates: Rates) -> Self {
        Self::with_clock(rates, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Limits<C> {
    fn with_clock(rates: Rates, clock: C) -> Self {
        let keyed = |rate: Rate| {
            RateLimiter::new(rate.quota(), DashMapStateStore::default(), clock.clone())
        };
        let failures = Quota::with_period(FAILURE_PERIOD)
            .unwrap_or(Quota::per_minute(FAILURE_BURST))
            .allow_burst(FAILURE_BURST);
        Self {
            reads: keyed(rates.reads),
            contacts: keyed(rates.contacts),
            writes: keyed(rates.writes),
            failures: RateLimiter::new(failures, DashMapStateStore::default(), clock.clone()),
            failed: AtomicU64::new(0),
            in_flight_each: rates.in_flight,
            in_flight: Arc::default(),
            clock,
        }
    }

    /// Takes one request out of a principal's allowance.
    pub fn take(&self, principal: &String, class: Class) -> Result<(), TooMuch> {
        let limiter = match class {
            Class::Read => &self.reads,
            Class::Contacts => &self.contacts,
            Class::Write => &self.writes,
        };
        limiter
            .check_key(principal)
            .map_err(|not_until| too_much(not_until.wait_time_from(self.clock.now())))
    }

    /// Takes a place among the requests at once.
    pub fn enter(&self, principal: &str) -> Result<InFlight, TooMuch> {
        let mut counts = self
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(principal.to_owned()).or_default();
        if *count >= self.in_flight_each {
            return Err(TooMuch { seconds: 1 });
        }
        *count += 1;
        Ok(InFlight {
            counts: Arc::clone(&self.in_flight),
            principal: principal.to_owned(),
        })
    }

    /// Counts a token that was refused.
    pub fn failure(&self, address: IpAddr) -> Result<(), TooMuch> {
        if self.failed.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            self.failures.retain_recent();
        }
        self.failures
            .check_key(&network(address))
            .map_err(|not_until| too_much(not_until.wait_time_from(self.clock.now())))
    }
}

fn too_much(wait: Duration) -> TooMuch {
    let whole = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    TooMuch {
        seconds: whole.max(1),
    }
}

/// One subscriber has a whole network of IPv6 addresses, so its first half counts.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    //! Allowances with a clock that the test moves.

    use governor::clock::FakeRelativeClock;

    use super::*;

    fn limits() -> (Limits<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (Limits::with_clock(Rates::default(), clock.clone()), clock)
    }

    fn drain(limits: &Limits<FakeRelativeClock>, who: &str, class: Class) -> usize {
        let who = who.to_owned();
        (0..10_000)
            .take_while(|_| limits.take(&who, class).is_ok())
            .count()
    }

    #[test]
    fn each_class_has_its_burst_and_refills_at_its_rate() {
        for (class, burst, per_second) in [
            (Class::Read, 200, 50),
            (Class::Contacts, 40, 20),
            (Class::Write, 20, 10),
        ] {
            let (limits, clock) = limits();
            assert_eq!(drain(&limits, "anna", class), burst, "{class:?}");
            let refused = limits.take(&"anna".to_owned(), class).unwrap_err();
            assert_eq!(refused.seconds, 1);
            clock.advance(Duration::from_secs(1));
            assert_eq!(drain(&limits, "anna", class), per_second, "{class:?}");
        }
    }

    #[test]
    fn one_principal_and_one_class_take_nothing_from_another() {
        let (limits, _clock) = limits();
        drain(&limits, "anna", Class::Write);
        assert!(limits.take(&"anna".to_owned(), Class::Read).is_ok());
        assert_eq!(drain(&limits, "ben", Class::Write), 20);
    }

    #[test]
    fn places_are_given_back() {
        let (limits, _clock) = limits();
        let held: Vec<_> = (0..64)
            .map(|_| limits.enter("anna").map_err(drop).unwrap())
            .collect();
        assert!(limits.enter("anna").is_err());
        assert!(limits.enter("ben").is_ok());
        drop(held);
        assert!(limits.enter("anna").is_ok());
        assert!(limits.in_flight.lock().unwrap().is_empty());
    }

    #[test]
    fn refused_tokens_of_an_address_or_an_ipv6_network_are_counted_together() {
        let (limits, clock) = limits();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for n in 0..20 {
            assert!(limits.failure(ip(&format!("2001:db8::{n:x}"))).is_ok());
        }
        let refused = limits.failure(ip("2001:db8::ffff:1")).unwrap_err();
        assert_eq!(refused.seconds, 6);
        assert!(limits.failure(ip("2001:db8:0:1::1")).is_ok());
        assert!(limits.failure(ip("192.0.2.1")).is_ok());
        clock.advance(Duration::from_secs(6));
        assert!(limits.failure(ip("2001:db8::1")).is_ok());
    }

    #[test]
    fn addresses_that_are_quiet_again_are_forgotten() {
        let (limits, clock) = limits();
        for n in 0..FORGET_EVERY - 1 {
            assert!(
                limits
                    .failure(IpAddr::from(u32::try_from(n).unwrap().to_be_bytes()))
                    .is_ok()
            );
        }
        assert!(limits.failures.len() > 1000);
        clock.advance(Duration::from_mins(10));
        assert!(limits.failure(ip_of_one()).is_ok());
        assert!(limits.failures.len() < 10);
    }

    fn ip_of_one() -> IpAddr {
        IpAddr::from([192, 0, 2, 1])
    }
}
