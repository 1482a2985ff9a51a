//! On whose behalf a use case runs.

use domain::{Act, Actor, ScopeSet, Timestamp};

/// Who calls, with what rights, in which request. Transports make it; no argument of a tool can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Who.
    pub actor: Actor,
    /// What they may do.
    pub scopes: ScopeSet,
    /// The request, for the audit log and the log lines.
    pub request_id: u128,
}

impl Caller {
    /// The act of this caller now, by this tool.
    pub(crate) fn act(&self, at: Timestamp, tool: &'static str) -> Act {
        Act {
            actor: self.actor.clone(),
            at,
            request_id: self.request_id,
            tool,
        }
    }
}
