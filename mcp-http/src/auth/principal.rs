//! The identity behind a verified token.

use domain::{Actor, ActorChannel, Proof, ScopeSet, Timestamp};

/// The issuer of personal access tokens. Configured issuers are `https` URLs, so none can take this name.
pub(super) const OWN_ISSUER: &str = "deskgate";

/// What was presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// A JWT of a configured issuer.
    Jwt,
    /// The personal access token with this number.
    Personal(i64),
}

/// Who calls, as a verified token says. Two principals are the same if issuer and subject are (promise N-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Who vouches.
    pub issuer: String,
    /// For whom, unique within the issuer.
    pub subject: String,
    /// The client that the token was given to (`azp` or `client_id`), or the personal token itself.
    pub client: String,
    /// What the token allows.
    pub scopes: ScopeSet,
    /// When the token stops being one. Streams end then too (promise N-4).
    pub expires_at: Timestamp,
    /// What was presented.
    pub credential: Credential,
}

impl Principal {
    /// The name under which this principal acts and is counted: issuer and subject. An issuer holds no `|`
    /// (checked in [`super::jwt`]), so no two principals share a name.
    pub fn id(&self) -> String {
        format!("{}|{}", self.issuer, self.subject)
    }

    /// The actor of what this principal does.
    pub fn actor(&self) -> Actor {
        Actor {
            id: self.id(),
            proof: Proof::Verified,
            channel: ActorChannel::Http,
            client: self.client.clone(),
        }
    }
}
