//! What policy speaks of: each operation has its least approval.

use crate::text_enum::text_enum;
use crate::{GuardedWrite, OpenWrite, Status};

text_enum! {
    /// An operation that can need a confirmation, by the word that configuration uses.
    Operation {
        /// Changing a ticket's fields.
        UpdateTicket = "update_ticket",
        /// Publishing a comment.
        PublishComment = "publish_comment",
        /// Closing a ticket.
        CloseTicket = "close_ticket",
        /// Deleting a ticket.
        DeleteTicket = "delete_ticket",
        /// Changing a customer's record.
        UpdateCustomer = "update_customer",
        /// Deleting a customer.
        DeleteCustomer = "delete_customer",
        /// Recording that a change of payment details was verified.
        RecordPaymentVerification = "record_payment_verification",
        /// Recording what a person found who looked at a flagged ticket.
        RecordSecurityReview = "record_security_review",
        /// Registering a customer.
        CreateCustomer = "create_customer",
        /// Filing a ticket.
        CreateTicket = "create_ticket",
        /// Assigning a ticket.
        AssignTicket = "assign_ticket",
        /// Adding an internal comment.
        AddComment = "add_comment",
        /// Moving a ticket to a status that it can leave again.
        MoveTicket = "move_ticket",
        /// Resolving a ticket.
        ResolveTicket = "resolve_ticket",
    }
}

impl Operation {
    /// Whether it is guarded whatever the policy; the others are in strict mode, or where policy says so.
    pub const fn is_always_guarded(self) -> bool {
        match self {
            Self::UpdateTicket
            | Self::PublishComment
            | Self::CloseTicket
            | Self::DeleteTicket
            | Self::UpdateCustomer
            | Self::DeleteCustomer
            | Self::RecordPaymentVerification
            | Self::RecordSecurityReview => true,
            Self::CreateCustomer
            | Self::CreateTicket
            | Self::AssignTicket
            | Self::AddComment
            | Self::MoveTicket
            | Self::ResolveTicket => false,
        }
    }
}

impl OpenWrite {
    /// The operation that it is.
    pub const fn operation(&self) -> Operation {
        match self {
            Self::CreateCustomer { .. } => Operation::CreateCustomer,
            Self::CreateTicket { .. } => Operation::CreateTicket,
            Self::AssignTicket { .. } => Operation::AssignTicket,
            Self::AddComment { .. } => Operation::AddComment,
            Self::MoveTicket { .. } => Operation::MoveTicket,
            Self::ResolveTicket { .. } => Operation::ResolveTicket,
        }
    }
}

impl GuardedWrite {
    /// The operation that it is.
    pub const fn operation(&self) -> Operation {
        match self {
            Self::UpdateTicket { .. } => Operation::UpdateTicket,
            Self::PublishComment { .. } => Operation::PublishComment,
            Self::CloseTicket { .. } => Operation::CloseTicket,
            Self::DeleteTicket { .. } => Operation::DeleteTicket,
            Self::UpdateCustomer { .. } => Operation::UpdateCustomer,
            Self::DeleteCustomer { .. } => Operation::DeleteCustomer,
            Self::RecordPaymentVerification { .. } => Operation::RecordPaymentVerification,
            Self::RecordSecurityReview { .. } => Operation::RecordSecurityReview,
            Self::Open(write) => write.operation(),
        }
    }

    /// Every operation whose approval it needs: closing a ticket needs that of closing by whatever tool.
    pub fn operations(&self) -> impl Iterator<Item = Operation> {
        let closes = matches!(
            self,
            Self::UpdateTicket { patch, .. } if patch.status == Some(Status::Closed)
        );
        std::iter::once(self.operation()).chain(closes.then_some(Operation::CloseTicket))
    }
}
