//! The use cases on a real store, held against a model of them that is too simple to be wrong.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers"
)]

mod agreement;
mod model;
mod operation;
mod place;
