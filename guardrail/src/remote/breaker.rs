//! The circuit breaker: a provider that keeps failing is left alone for a while, so that every call doesn't first wait for
//! its deadline. While it is open the classifier refuses.

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::Timestamp;

/// Failures in a row that open the circuit.
const FAILURES: u32 = 5;

/// How long it stays open before one call tries again, in microseconds.
const COOLING_MICROS: i64 = 30 * 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        since: Timestamp,
    },
    /// Half open: one call is on its way and decides.
    Probing {
        since: Timestamp,
    },
}

/// Time is handed in with each event.
#[derive(Debug)]
pub(super) struct Breaker {
    state: Mutex<State>,
}

/// A call that was let through. One that ends without an outcome, because its caller went away, says nothing about the
/// provider.
#[derive(Debug)]
pub(super) struct Call<'a> {
    breaker: &'a Breaker,
    probe: bool,
    settled: bool,
}

impl Breaker {
    pub(super) const fn new() -> Self {
        Self {
            state: Mutex::new(State::Closed { failures: 0 }),
        }
    }

    /// Lets a call through, or not.
    pub(super) fn admit(&self, now: Timestamp) -> Option<Call<'_>> {
        let mut state = self.state();
        let probe = match *state {
            State::Closed { .. } => false,
            State::Open { since } if is_cooling(since, now) => return None,
            State::Open { since } => {
                *state = State::Probing { since };
                true
            }
            State::Probing { .. } => return None,
        };
        Some(Call {
            breaker: self,
            probe,
            settled: false,
        })
    }

    /// A panic elsewhere leaves a whole value: every change is one assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that was set back ends the wait: trying once too often harms nobody.
fn is_cooling(since: Timestamp, now: Timestamp) -> bool {
    let waited = now.micros().saturating_sub(since.micros());
    (0..COOLING_MICROS).contains(&waited)
}

impl Call<'_> {
    /// The provider answered, whatever it said.
    pub(super) fn answered(mut self) {
        self.settled = true;
        let mut state = self.breaker.state();
        // An answer to a call from before the circuit opened doesn't close it.
        if self.probe || matches!(*state, State::Closed { .. }) {
            *state = State::Closed { failures: 0 };
        }
    }

    /// The provider didn't answer.
    pub(super) fn failed(mut self, now: Timestamp) {
        self.settled = true;
        let mut state = self.breaker.state();
        match *state {
            State::Closed { failures } if failures.saturating_add(1) < FAILURES => {
                *state = State::Closed {
                    failures: failures.saturating_add(1),
                };
            }
            State::Closed { .. } => *state = State::Open { since: now },
            State::Probing { .. } if self.probe => *state = State::Open { since: now },
            State::Open { .. } | State::Probing { .. } => {}
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if self.settled || !self.probe {
            return;
        }
        let mut state = self.breaker.state();
        if let State::Probing { since } = *state {
            *state = State::Open { since };
        }
    }
}
