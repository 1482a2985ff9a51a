//! What a caller may do: scopes, and roles as named sets of them (promises E, reduced to what exists).

use crate::text_enum::text_enum;

text_enum! {
    /// A right.
    Scope {
        /// Read tickets, comments and the customers' knowledge base; contact fields are masked.
        DeskRead = "desk:read",
        /// See contact fields in clear.
        CustomersPii = "customers:pii",
        /// Read call transcripts.
        TranscriptsRead = "transcripts:read",
        /// Read staff knowledge.
        KbInternal = "kb:internal",
        /// Add comments and file tickets.
        DeskComment = "desk:comment",
        /// Change tickets.
        DeskWrite = "desk:write",
        /// Register and change customers.
        CustomersWrite = "customers:write",
        /// Delete.
        DeskDelete = "desk:delete",
        /// Read the audit log.
        AuditRead = "audit:read",
        /// Read the server's own counters.
        MetricsRead = "metrics:read",
        /// Lift what the guardrail held or found.
        SecurityReview = "security:review",
    }
}

text_enum! {
    /// A named set of rights.
    Role {
        /// Reads.
        Viewer = "viewer",
        /// Works on tickets.
        Agent = "agent",
        /// Also changes customers and deletes.
        Lead = "lead",
        /// Also reviews security holds.
        Security = "security",
        /// Reads the audit log.
        Auditor = "auditor",
    }
}

/// A set of rights; what is not in it is denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeSet(u16);

impl ScopeSet {
    /// No right at all.
    pub const NONE: Self = Self(0);

    /// Every right: what a local user has over stdio unless a role narrows it.
    pub fn all() -> Self {
        Scope::ALL.iter().copied().collect()
    }

    /// This set with one more right.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u16)
    }

    /// Whether a right is in it.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u16) != 0
    }

    /// Whether every right of `other` is in it.
    pub const fn contains_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The rights, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL
            .iter()
            .copied()
            .filter(move |scope| self.contains(*scope))
    }
}

impl Scope {
    /// Reads a right as it stands in a token: scopes are case-sensitive (RFC 6749, 3.3).
    pub fn parse_exact(given: &str) -> Result<Self, crate::UnknownValue> {
        let found = Self::ALL
            .iter()
            .copied()
            .find(|scope| scope.as_str() == given);
        found.ok_or_else(|| crate::UnknownValue {
            given: given.chars().take(crate::limits::ECHO_CHARS).collect(),
            allowed: Self::WORDS.to_vec(),
        })
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        scopes.into_iter().fold(Self::NONE, Self::with)
    }
}

impl Role {
    /// The rights of a role.
    pub fn scopes(self) -> ScopeSet {
        use Scope::{
            AuditRead, CustomersPii, CustomersWrite, DeskComment, DeskDelete, DeskRead, DeskWrite,
            KbInternal, SecurityReview, TranscriptsRead,
        };
        let viewer = ScopeSet::NONE.with(DeskRead);
        let agent = viewer
            .with(TranscriptsRead)
            .with(KbInternal)
            .with(DeskComment)
            .with(DeskWrite);
        let lead = agent
            .with(CustomersPii)
            .with(CustomersWrite)
            .with(DeskDelete);
        match self {
            Self::Viewer => viewer,
            Self::Agent => agent,
            Self::Lead => lead,
            Self::Security => lead.with(SecurityReview),
            Self::Auditor => viewer.with(AuditRead),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Roles grow, and nothing is granted by accident.

    use super::*;

    #[test]
    fn each_role_holds_exactly_its_rights() {
        let words = |role: Role| {
            role.scopes()
                .iter()
                .map(Scope::as_str)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(words(Role::Viewer), "desk:read");
        assert_eq!(
            words(Role::Agent),
            "desk:read transcripts:read kb:internal desk:comment desk:write"
        );
        assert_eq!(
            words(Role::Lead),
            "desk:read customers:pii transcripts:read kb:internal desk:comment desk:write customers:write desk:delete"
        );
        assert!(
            Role::Security
                .scopes()
                .contains_all(Role::Lead.scopes().with(Scope::SecurityReview))
        );
        assert!(!Role::Security.scopes().contains(Scope::AuditRead));
        assert_eq!(words(Role::Auditor), "desk:read audit:read");
    }
}
