//! The desk over HTTP for a team: verified identity, limits, operations; no tool, rule or text of the desk itself.
//!
//! The library half exists so that the binary, the tests and the conformance fixtures run on the same wiring.

pub mod auth;
pub mod commands;
pub mod config;
pub mod identity;
pub mod limits;
pub mod operations;
pub mod serve;
pub mod tokens;
pub mod transport;
