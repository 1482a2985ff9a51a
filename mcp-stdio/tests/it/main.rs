//! The whole binary, spoken to in raw lines as a host would.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests are not in a test for clippy"
)]

mod approvals;
mod gate;
mod postgres;
mod process;
mod purity;
mod settings;
mod sharing;
mod shutdown;
