//! The circuit as a table of events.

use super::*;

/// An event at a second.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A call is let through and ends like this.
    Answered,
    Failed,
    /// Its caller goes away.
    Left,
    /// A call isn't let through.
    Barred,
}

use Event::{Answered, Barred, Failed, Left};

fn second(at: i64) -> Timestamp {
    Timestamp::from_micros(at * 1_000_000)
}

#[track_caller]
fn check(events: &[(i64, Event)]) {
    let breaker = Breaker::new();
    for (at, event) in events {
        let call = breaker.admit(second(*at));
        match (event, call) {
            (Answered, Some(call)) => call.answered(),
            (Failed, Some(call)) => call.failed(second(*at)),
            (Left, Some(call)) => drop(call),
            (Barred, None) => {}
            (event, call) => panic!("at {at}: {event:?}, but {call:?}"),
        }
    }
}

#[test]
fn five_failures_in_a_row_open_it_and_one_answer_in_between_does_not() {
    check(&[
        (0, Failed),
        (1, Failed),
        (2, Failed),
        (3, Failed),
        (4, Answered),
        (5, Failed),
        (6, Failed),
        (7, Failed),
        (8, Failed),
        (9, Failed),
        (10, Barred),
    ]);
}

#[test]
fn after_half_a_minute_one_call_decides() {
    let opened = [
        (0, Failed),
        (0, Failed),
        (0, Failed),
        (0, Failed),
        (0, Failed),
    ];
    for rest in [
        // Closed again, and from then on it takes five.
        [(29, Barred), (30, Answered), (30, Failed), (30, Answered)],
        // Open again, for another half a minute from then.
        [(29, Barred), (30, Failed), (59, Barred), (60, Answered)],
        // A caller who went away decides nothing, and the next one may try at once.
        [(30, Left), (30, Left), (31, Failed), (32, Barred)],
        // A clock that was set back doesn't keep it open.
        [(0, Barred), (-1, Answered), (0, Failed), (1, Answered)],
    ] {
        check(&[&opened[..], &rest[..]].concat());
    }
}

#[test]
fn half_open_is_one_call_and_not_two() {
    let breaker = Breaker::new();
    let early = breaker.admit(second(0)).unwrap();
    let late = breaker.admit(second(0)).unwrap();
    for _ in 0..FAILURES {
        breaker.admit(second(0)).unwrap().failed(second(0));
    }
    let probe = breaker.admit(second(30)).unwrap();
    assert!(breaker.admit(second(30)).is_none());
    // Calls from before it opened neither close nor open it.
    early.answered();
    assert!(breaker.admit(second(30)).is_none());
    late.failed(second(40));
    probe.answered();
    assert!(breaker.admit(second(31)).is_some());
}

#[test]
fn left_calls_of_a_closed_circuit_count_as_nothing() {
    check(&[(0, Left); 20]);
}
