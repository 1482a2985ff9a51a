//! Tells the surface who calls: the principal that the transport verified.

use domain::{Actor, ScopeSet};
use http::request::Parts;
use mcp_surface::{Identify, Unidentified};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::auth::Principal;
use crate::operations::observe::RequestNumber;

/// Reads the principal that [`crate::transport::server`] put beside the request. A request without one is refused.
#[derive(Clone, Copy, Debug)]
pub struct FromToken;

impl Identify for FromToken {
    fn caller(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Actor, ScopeSet), Unidentified> {
        let parts = context.extensions.get::<Parts>().ok_or(Unidentified)?;
        let principal = parts.extensions.get::<Principal>().ok_or(Unidentified)?;
        Ok((principal.actor(), principal.scopes))
    }

    fn request_id(&self, context: &RequestContext<RoleServer>) -> Option<u128> {
        let parts = context.extensions.get::<Parts>()?;
        parts
            .extensions
            .get::<RequestNumber>()
            .map(|number| number.0)
    }
}
