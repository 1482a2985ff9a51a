//! What the store promises, over its public trait. A test takes the engine that it runs on, so that each can be run on all.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

mod contract;
mod support;
