//! Tokens, records and key files from hostile bytes: `cargo +nightly fuzz run decode` in this folder's parent.
//!
//! The body is the one that the crate's own tests run for a bounded number of inputs.

#![no_main]

#[path = "../../tests/it/hostile_bytes.rs"]
mod hostile_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_bytes::check_hostile_bytes(bytes));
