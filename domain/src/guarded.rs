//! Guarded changes: what needs a preview and a confirmation that is bound to it (design section 6).

use garde::Validate;

use crate::text::{label, optional_label, optional_prose, prose};
use crate::ticket::assign;
use crate::{
    Assign, Change, Customer, CustomerId, CustomerStatus, EntityKind, FieldValue, Priority, Status,
    Ticket, TicketId, Tier, limits, text,
};

/// Changes of a ticket's fields; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Validate)]
pub struct TicketPatch {
    /// Along the graph only.
    #[garde(skip)]
    pub status: Option<Status>,
    /// The line.
    #[garde(skip)]
    pub tier: Option<Tier>,
    /// How soon.
    #[garde(skip)]
    pub priority: Option<Priority>,
    /// Slug of a category.
    #[garde(custom(optional_label(limits::SLUG_CHARS)))]
    pub category: Option<String>,
    /// The team.
    #[garde(custom(assign))]
    pub team: Assign,
    /// The person.
    #[garde(custom(assign))]
    pub assignee: Assign,
    /// A new subject; the first one is kept.
    #[garde(custom(optional_label(limits::SUBJECT_CHARS)))]
    pub subject: Option<String>,
    /// A new description; the first one is kept.
    #[garde(custom(optional_prose(limits::DESCRIPTION_CHARS)))]
    pub description: Option<String>,
    /// An internal comment that says why.
    #[garde(custom(optional_prose(limits::COMMENT_CHARS)))]
    pub note: Option<String>,
}

impl TicketPatch {
    /// What it would change on a ticket, field by field; fields that hold the value already are left out.
    pub fn change(&self, ticket: &Ticket) -> Change {
        let mut change = Change::default();
        let word = |word: &str| Some(FieldValue::Text(word.to_owned()));
        if let Some(status) = self.status {
            change.push(
                "status",
                word(ticket.status.as_str()),
                word(status.as_str()),
            );
        }
        if let Some(tier) = self.tier {
            let number = |tier: Tier| Some(FieldValue::Int(i64::from(tier.number())));
            change.push("tier", number(ticket.tier), number(tier));
        }
        if let Some(priority) = self.priority {
            change.push(
                "priority",
                word(ticket.priority.as_str()),
                word(priority.as_str()),
            );
        }
        if let Some(category) = &self.category {
            change.push("category", word(&ticket.category), word(category));
        }
        push_assign(
            &mut change,
            "team",
            ticket.assigned_team.as_deref(),
            &self.team,
        );
        push_assign(
            &mut change,
            "assignee",
            ticket.assignee.as_deref(),
            &self.assignee,
        );
        if let Some(subject) = &self.subject {
            change.push("subject", word(&ticket.subject), word(subject));
        }
        if let Some(description) = &self.description {
            change.push("description", word(&ticket.description), word(description));
        }
        if let Some(note) = &self.note {
            change.push("note", None, word(note));
        }
        change
    }
}

/// Changes of a customer's record; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Validate)]
pub struct CustomerPatch {
    /// Their name.
    #[garde(custom(optional_label(limits::NAME_CHARS)))]
    pub name: Option<String>,
    /// Their address; unique when folded.
    #[garde(custom(optional_email))]
    pub email: Option<String>,
    /// Their telephone number.
    #[garde(custom(assign_phone))]
    pub phone: Assign,
    /// Whom they work for.
    #[garde(custom(assign))]
    pub organisation: Assign,
    /// Whether they are served.
    #[garde(skip)]
    pub status: Option<CustomerStatus>,
}

impl CustomerPatch {
    /// What it would change on a record, field by field.
    pub fn change(&self, customer: &Customer) -> Change {
        let mut change = Change::default();
        let word = |word: &str| Some(FieldValue::Text(word.to_owned()));
        if let Some(name) = &self.name {
            change.push("name", word(&customer.name), word(name));
        }
        if let Some(email) = &self.email {
            change.push("email", word(&customer.email), word(email));
        }
        push_assign(&mut change, "phone", customer.phone.as_deref(), &self.phone);
        push_assign(
            &mut change,
            "organisation",
            customer.organisation.as_deref(),
            &self.organisation,
        );
        if let Some(status) = self.status {
            change.push(
                "status",
                word(customer.status.as_str()),
                word(status.as_str()),
            );
        }
        change
    }
}

/// What staff found out about a requested change of payment details: the only thing that can clear one (policy list B).
/// Entered by staff, never read out of a ticket's prose.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct PaymentVerification {
    /// The channel that was used and that was on file before the request, such as a number from the contract.
    #[garde(custom(label(limits::NAME_CHARS)))]
    pub channel_on_file: String,
    /// The contact who confirmed and who was known before the request.
    #[garde(custom(label(limits::NAME_CHARS)))]
    pub confirmer: String,
    /// Who approved it inside the customer's organisation.
    #[garde(custom(label(limits::NAME_CHARS)))]
    pub approver: String,
}

/// A public comment as it would be published.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct Publication {
    /// The text that the customer will read.
    #[garde(custom(prose(limits::COMMENT_CHARS)))]
    pub body: String,
}

/// A change that needs a preview and a confirmation. The store applies it only against a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardedWrite {
    /// Change a ticket's fields.
    UpdateTicket {
        /// Which.
        ticket: TicketId,
        /// How.
        patch: TicketPatch,
    },
    /// Publish a comment to the customer.
    PublishComment {
        /// On which ticket.
        ticket: TicketId,
        /// The text.
        publication: Publication,
    },
    /// Close a ticket for good.
    CloseTicket {
        /// Which.
        ticket: TicketId,
    },
    /// Delete a ticket with its comments.
    DeleteTicket {
        /// Which.
        ticket: TicketId,
    },
    /// Change a customer's record.
    UpdateCustomer {
        /// Whose.
        customer: CustomerId,
        /// How.
        patch: CustomerPatch,
    },
    /// Delete a customer with their tickets and comments.
    DeleteCustomer {
        /// Whom.
        customer: CustomerId,
    },
    /// Record that a change of payment details was verified.
    RecordPaymentVerification {
        /// For which ticket.
        ticket: TicketId,
        /// What was found out.
        verification: PaymentVerification,
    },
}

impl GuardedWrite {
    /// The tool that asks for it.
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::UpdateTicket { .. } => "update_ticket",
            Self::PublishComment { .. } => "add_comment",
            Self::CloseTicket { .. } => "change_ticket_status",
            Self::DeleteTicket { .. } => "delete_ticket",
            Self::UpdateCustomer { .. } => "update_customer",
            Self::DeleteCustomer { .. } => "delete_customer",
            Self::RecordPaymentVerification { .. } => "record_payment_verification",
        }
    }

    /// The record that it changes.
    pub const fn entity(&self) -> (EntityKind, i64) {
        match self {
            Self::UpdateTicket { ticket, .. }
            | Self::PublishComment { ticket, .. }
            | Self::CloseTicket { ticket }
            | Self::DeleteTicket { ticket }
            | Self::RecordPaymentVerification { ticket, .. } => {
                (EntityKind::Ticket, ticket.number())
            }
            Self::UpdateCustomer { customer, .. } | Self::DeleteCustomer { customer } => {
                (EntityKind::Customer, customer.number())
            }
        }
    }
}

fn push_assign(change: &mut Change, field: &'static str, before: Option<&str>, assign: &Assign) {
    let text = |text: &str| FieldValue::Text(text.to_owned());
    match assign {
        Assign::Keep => {}
        Assign::Set(after) => change.push(field, before.map(text), Some(text(after))),
        Assign::Clear => change.push(field, before.map(text), None),
    }
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature of a garde rule"
)]
fn optional_email(value: &Option<String>, context: &()) -> garde::Result {
    value
        .as_deref()
        .map_or(Ok(()), |value| text::email_address(value, context))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature of a garde rule"
)]
fn assign_phone(value: &Assign, context: &()) -> garde::Result {
    match value {
        Assign::Keep | Assign::Clear => Ok(()),
        Assign::Set(number) => text::optional_phone(&Some(number.clone()), context),
    }
}

#[cfg(test)]
mod tests {
    //! A change names what would differ, and only that.

    use super::*;
    use crate::{Channel, LastCommentBy, SecurityFlag, Timestamp, Version};

    fn ticket() -> Ticket {
        Ticket {
            id: TicketId::new(1),
            customer: CustomerId::new(1),
            channel: Channel::Email,
            subject: "Printer".to_owned(),
            description: "It is offline".to_owned(),
            category: "hardware".to_owned(),
            priority: Priority::Medium,
            status: Status::Open,
            tier: Tier::FIRST,
            assigned_team: Some("Desk".to_owned()),
            assignee: None,
            security_flag: SecurityFlag::None,
            last_comment_by: LastCommentBy::Customer,
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
            version: Version::FIRST,
        }
    }

    #[test]
    fn a_change_holds_only_what_would_differ() {
        let patch = TicketPatch {
            priority: Some(Priority::Medium),
            tier: Some(Tier::LAST),
            team: Assign::Clear,
            assignee: Assign::Clear,
            note: Some("because".to_owned()),
            ..TicketPatch::default()
        };
        let fields: Vec<_> = patch
            .change(&ticket())
            .fields
            .iter()
            .map(|change| change.field)
            .collect();
        assert_eq!(fields, ["tier", "team", "note"]);
        assert!(TicketPatch::default().change(&ticket()).is_empty());
    }
}
