//! The server over HTTP, as clients and attackers meet it: a real server on the loopback, a store of its own for each test.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not see as tests"
)]

mod deploy;
mod doors;
mod issuers;
mod malformed;
mod neighbours;
mod paces;
mod process;
mod rights;
mod serving;
mod sessions;
mod stopping;
mod strain;
mod support;
