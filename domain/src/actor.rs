//! Who acts. The actor comes from the transport and never from an argument (invariant 14).

use crate::Timestamp;
use crate::text_enum::text_enum;

text_enum! {
    /// How an identity is known.
    Proof {
        /// The process or its configuration says so (stdio, command line).
        Asserted = "asserted",
        /// A verified token says so (HTTP).
        Verified = "verified",
    }
}

text_enum! {
    /// The way in.
    Channel {
        /// A local host over standard input and output.
        Stdio = "stdio",
        /// A client over HTTP.
        Http = "http",
        /// A person at a command line.
        Cli = "cli",
    }
}

/// Somebody who acts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor {
    /// Who: `local:<os user>` or a name from configuration over stdio, issuer and subject over HTTP.
    pub id: String,
    /// How that is known.
    pub proof: Proof,
    /// The way in.
    pub channel: Channel,
    /// The client that the transport vouches for (a token's id or `azp`; the channel where it has none),
    /// never what a client calls itself.
    pub client: String,
}

/// One act: who, when, in which request, by which tool. Every write takes one, so none can go unattributed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Who.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// Ties the audit rows and log lines of one request together (a version 7 UUID as a number).
    pub request_id: u128,
    /// The tool or command that was called.
    pub tool: &'static str,
}
