//! The wall before customers: a floor of indicators, a classifier that can only refuse, and `Cleared`.
#![allow(dead_code, reason = "wip")]

mod floor;
mod fold;
pub mod local;
pub mod train;
