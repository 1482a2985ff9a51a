//! The clock that the binaries hand in; nothing below them reads the time of day.

use crate::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now, in UTC.
    fn now(&self) -> Timestamp;
}
