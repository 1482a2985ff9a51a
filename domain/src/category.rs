//! Categories: a table and not an enum, so that a deployment can add its own (design section 2).

/// What a category may be put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryKind {
    /// Tickets.
    pub tickets: bool,
    /// Articles.
    pub articles: bool,
    /// Calls and scores.
    pub calls: bool,
}

/// A row of the category table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// What tools say.
    pub slug: String,
    /// What people read.
    pub label: String,
    /// What it may be put on.
    pub kind: CategoryKind,
}

/// What the first migration inserts: slug and label.
pub const BUILT_IN: [(&str, &str); 11] = [
    ("general", "General"),
    ("account", "Account"),
    ("billing", "Billing"),
    ("password_account", "Password and sign-in"),
    ("email", "E-mail"),
    ("network_vpn", "Network and VPN"),
    ("hardware", "Hardware"),
    ("software_licensing", "Software and licensing"),
    ("security", "Security"),
    ("server_outage", "Server outage"),
    ("onboarding_offboarding", "Onboarding and offboarding"),
];

/// The category of a ticket that says none.
pub const DEFAULT: &str = "general";

/// The category that marks a ticket as a security incident by its label (design section 5).
pub const SECURITY: &str = "security";
