//! From a socket to the MCP service: deadlines, hosts and origins, identity, bodies, sessions, an orderly end.
//!
//! Read [`listen`] for connections, [`server`] for the order in which a request passes the rest.

pub mod body;
pub mod deadline;
pub mod hosts;
pub mod listen;
pub mod peer;
pub mod server;
pub mod sessions;
pub mod shutdown;
mod streams;

pub mod answer;
