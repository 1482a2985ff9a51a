//! Time and fresh identifiers, as the binaries hand them in; nothing below them reads a clock or draws randomness.

use crate::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now, in UTC.
    fn now(&self) -> Timestamp;
}

/// Makes identifiers that are never used twice.
pub trait IdSource: Send + Sync {
    /// A fresh version 7 UUID as a number.
    fn next_id(&self) -> u128;

    /// Sixteen bytes that nobody can guess, for confirmation tokens.
    fn nonce(&self) -> [u8; 16];
}
