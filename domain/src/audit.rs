//! What the audit log says: who did what to which thing, and what came of it. Never customer text, never a secret.

use crate::text_enum::text_enum;
use crate::{Actor, Timestamp, Version};

text_enum! {
    /// What was done, by the name of the tool or command that does it.
    Action {
        /// A customer was registered.
        CreateCustomer = "create_customer",
        /// A ticket was filed.
        CreateTicket = "create_ticket",
        /// A ticket got or lost its team or person.
        AssignTicket = "assign_ticket",
        /// A comment was added.
        AddComment = "add_comment",
        /// A ticket's status moved.
        ChangeTicketStatus = "change_ticket_status",
        /// A ticket was resolved.
        ResolveTicket = "resolve_ticket",
        /// A ticket's guarded fields changed.
        UpdateTicket = "update_ticket",
        /// A ticket was deleted with its comments.
        DeleteTicket = "delete_ticket",
        /// A customer's record changed.
        UpdateCustomer = "update_customer",
        /// A customer was deleted with their tickets.
        DeleteCustomer = "delete_customer",
        /// A customer was erased with everything that they said.
        EraseCustomer = "erase_customer",
        /// A change of payment details was verified.
        RecordPaymentVerification = "record_payment_verification",
        /// A person looked at a flagged ticket.
        RecordSecurityReview = "record_security_review",
        /// A person approved a change that waited for them.
        ApproveChange = "approve_change",
        /// A person declined a change that waited for them.
        DeclineChange = "decline_change",
        /// A ticket was handed to security.
        EscalateToSecurity = "escalate_to_security",
        /// A draft was asked for.
        DraftResponse = "draft_response",
        /// Records came in from another system.
        Import = "import",
        /// A personal access token was made.
        CreateAccessToken = "create_access_token",
        /// A personal access token was used; once an hour for each.
        UseAccessToken = "use_access_token",
        /// A personal access token was ended.
        RevokeAccessToken = "revoke_access_token",
    }
}

text_enum! {
    /// The kind of thing that an audit row is about.
    EntityKind {
        /// A customer.
        Customer = "customer",
        /// A ticket; its comments count as changes of it.
        Ticket = "ticket",
        /// An article.
        Article = "article",
        /// A call.
        Call = "call",
        /// A satisfaction score.
        Csat = "csat",
        /// A personal access token.
        AccessToken = "access_token",
        /// The store as a whole.
        Store = "store",
    }
}

text_enum! {
    /// What came of it.
    Outcome {
        /// It was done.
        Applied = "applied",
        /// A rule refused it.
        Refused = "refused",
    }
}

/// What a write says about itself; the [`crate::Act`] beside it says who and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// What was done or refused.
    pub action: Action,
    /// To what.
    pub entity: EntityKind,
    /// To which one.
    pub entity_id: Option<i64>,
    /// The version that was found.
    pub version_before: Option<Version>,
    /// The version that was left behind.
    pub version_after: Option<Version>,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it was refused: an error code.
    pub code: Option<&'static str>,
    /// Facts from closed vocabularies, ids and counts, such as `status: open -> in_progress`.
    pub facts: Vec<(&'static str, String)>,
}

/// An audit row as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place in the log: dense, from 1.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// In which request.
    pub request_id: u128,
    /// By which tool or command.
    pub tool: String,
    /// What was done or refused.
    pub action: Action,
    /// To what.
    pub entity: EntityKind,
    /// To which one.
    pub entity_id: Option<i64>,
    /// The version that was found.
    pub version_before: Option<Version>,
    /// The version that was left behind.
    pub version_after: Option<Version>,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it was refused.
    pub code: Option<String>,
    /// Facts from closed vocabularies, ids and counts.
    pub facts: Vec<(String, String)>,
}
