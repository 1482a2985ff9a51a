//! The server over HTTP, as clients and attackers meet it: a real server on the loopback, a store of its own for each test.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not see as tests"
)]

mod doors;
mod malformed;
mod neighbours;
mod paces;
mod rights;
mod sessions;
mod stopping;
mod strain;
mod support;
