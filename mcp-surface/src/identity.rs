//! Who calls. Transports know it; no argument can say it (invariant 14).

use std::time::Duration;

use domain::{Actor, ScopeSet};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// A request without an identity. Transports that authenticate answer it themselves, so here it is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request carries no identity")]
pub struct Unidentified;

/// Tells who calls and what they may do: a constant over stdio, the verified token's subject over HTTP.
pub trait Identify: Send + Sync {
    /// The caller of a request.
    fn caller(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Actor, ScopeSet), Unidentified>;

    /// The transport's number of a request, so that its log lines and the audit rows tell of the same one.
    fn request_id(&self, _context: &RequestContext<RoleServer>) -> Option<u128> {
        None
    }
}

/// Hears of every call, for counters. It is told no argument, no text and no identity.
pub trait Observe: Send + Sync {
    /// A tool, prompt or resource request ended with a code of the error contract, or `OK`.
    fn called(&self, name: &'static str, code: &'static str, took: Duration);

    /// A confirmation token was spent: a guarded change was made, approved in this way.
    fn spent(&self, name: &'static str, method: &'static str);
}
