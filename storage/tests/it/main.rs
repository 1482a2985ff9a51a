//! What the store promises, over its public trait. A test takes the place of its store, so that each can be run on every
//! engine.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests take a place as an argument, which clippy does not see as tests, and fail on what they do not expect"
)]

/// Makes tests of functions that take a place, on every engine. A function that is not listed is dead code, so none can be
/// forgotten.
macro_rules! on_every_engine {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(
                #[test]
                fn $name() {
                    super::$name(&crate::support::Place::sqlite());
                }
            )+
        }

        mod postgres {
            $(
                #[test]
                fn $name() {
                    if let Some(place) = crate::support::Place::postgres() {
                        super::$name(&place);
                    }
                }
            )+
        }
    };
}

/// Makes tests of functions that take a place, on SQLite alone.
macro_rules! on_sqlite {
    ($($name:ident),+ $(,)?) => {
        mod sqlite_alone {
            $(
                #[test]
                fn $name() {
                    super::$name(&crate::support::Place::sqlite());
                }
            )+
        }
    };
}

mod access_tokens;
mod audit;
mod calls;
mod chain;
mod concurrency;
mod csat;
mod customers;
mod details;
mod erase;
mod faults;
mod filters;
mod gate;
mod import;
mod knowledge;
mod opening;
mod postgres;
mod search;
mod support;
mod texts;
mod tickets;
mod vectors;
mod walks;
