//! The gate as its callers see it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers, outside any #[test]"
)]

mod approval;
mod bound;
mod common;
mod expiry;
mod forgery;
mod hostile;
mod hostile_bytes;
mod key_file;
mod keys;
mod properties;
mod rotation;
mod spelling;
