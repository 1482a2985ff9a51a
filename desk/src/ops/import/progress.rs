//! How far a long operation is.

/// Is told how far a long operation is; what it does with that is its own affair.
pub trait Progress: Send + Sync {
    /// `done` of `total`: bytes for an import (twice those of its files where they are read twice), tickets for a seed.
    fn advance(&self, done: u64, total: u64);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn advance(&self, _done: u64, _total: u64) {}
}
