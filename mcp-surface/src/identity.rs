//! Who calls. Transports know it; no argument can say it (invariant 14).

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
}
