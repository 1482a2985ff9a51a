//! What operators do with a desk as a whole: bring records in, fill a store for a demonstration or a benchmark.
//!
//! `cargo xtask` and the HTTP binary call the same functions, so that none of it needs the source (design section 1).

pub mod audit;
pub mod demo;
pub mod import;
pub mod keys;
pub mod seed;
#[cfg(test)]
pub(crate) mod tests;
pub mod tokens;
