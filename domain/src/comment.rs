//! Comments: what customers and staff said on a ticket.

use garde::Validate;

use crate::text::prose;
use crate::text_enum::text_enum;
use crate::{CommentId, TicketId, Timestamp, limits};

text_enum! {
    /// Who speaks.
    Origin {
        /// The customer, directly or recorded by staff.
        Customer = "customer",
        /// The desk.
        Team = "team",
        /// The system, about what happened.
        System = "system",
    }
}

text_enum! {
    /// Who may read it. Public must be chosen, it is never a default (field report 17).
    Visibility {
        /// Staff only.
        Internal = "internal",
        /// The customer too.
        Public = "public",
    }
}

/// A comment as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its id.
    pub id: CommentId,
    /// The ticket that it is on.
    pub ticket: TicketId,
    /// The actor, or a label for imported and customer text.
    pub author: String,
    /// Who speaks.
    pub origin: Origin,
    /// Who may read it.
    pub visibility: Visibility,
    /// The text.
    pub body: String,
    /// When it was said.
    pub created_at: Timestamp,
}

/// An internal comment as made. The author is not part of it: it is the actor of the call. What a customer is to read is a
/// [`crate::Publication`], which no open write can carry (design section 6).
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct NewComment {
    /// The text.
    #[garde(custom(prose(limits::COMMENT_CHARS)))]
    pub body: String,
    /// Who speaks: staff, or the customer whose words staff records.
    #[garde(skip)]
    pub origin: Origin,
}
