//! How well the right thing is found, on texts that were written for it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test helpers, and figures are for reading"
)]

mod hostile;
mod hostile_text;
mod knowledge;
mod known_item;
mod support;
