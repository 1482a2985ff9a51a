//! What a request needs, for a transport that has to know before the request reaches the surface.
//!
//! The surface decides again on the decoded request; an answer here only makes a better refusal possible (a 403 that names
//! the missing right, a limit per kind of work).

use domain::Scope;

use crate::Toolset;
use crate::prompts::PROMPTS;
use crate::resources::TEMPLATES;
use crate::spec::Effect;
use crate::tools::tool_specs;

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The right.
    pub scope: Scope,
    /// Whether it writes.
    pub effect: Effect,
    /// Whether its answer holds a customer's contact fields, in clear for those who may see them.
    pub shows_contacts: bool,
}

/// What a request of this method needs that names this tool, prompt or resource. Methods that every caller may use, and
/// names that don't exist, need nothing: the surface answers them.
pub fn access_of(method: &str, name: &str) -> Option<Access> {
    match method {
        "tools/call" => {
            let spec = tool_specs().find(|spec| spec.name == name)?;
            Some(Access {
                scope: spec.policy.scope,
                effect: spec.policy.effect,
                shows_contacts: spec.toolset == Toolset::Customers
                    || spec.name == "get_ticket_details",
            })
        }
        "resources/read" => {
            let spec = TEMPLATES
                .iter()
                .find(|spec| name.starts_with(spec.prefix))?;
            Some(Access {
                scope: spec.scope,
                effect: Effect::Read,
                shows_contacts: matches!(spec.toolset, Toolset::Customers | Toolset::Tickets),
            })
        }
        "prompts/get" => {
            let spec = PROMPTS.iter().find(|spec| spec.name == name)?;
            Some(Access {
                scope: spec.scope,
                effect: Effect::Read,
                shows_contacts: true,
            })
        }
        _ => None,
    }
}
