//! Guarded changes: what needs a preview and a confirmation that is bound to it (design section 6).
//!
//! [`GuardedWrite`] is what is asked for, [`Arguments`] the same as a list of names and values, which can be stored, compared
//! and read back; [`Operation`] is what policy speaks of.

mod arguments;
mod operation;

use garde::Validate;

use crate::text::{label, optional_label, optional_prose, prose};
use crate::text_enum::text_enum;
use crate::ticket::assign;
use crate::{
    Action, Assign, Assignment, Change, Customer, CustomerId, CustomerStatus, EntityKind,
    FieldValue, NewComment, NewCustomer, NewTicket, OpenStatus, Priority, Status, Ticket, TicketId,
    Tier, limits, text,
};

pub use arguments::{Argument, Arguments, BadArguments};
pub use operation::Operation;

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

text_enum! {
    /// What a person found who looked at a flagged ticket.
    ReviewVerdict {
        /// It is none: the flag is lifted.
        NoIncident = "no_incident",
        /// It is one: the flag stays or is set.
        Incident = "incident",
    }
}

/// A person's review of a flagged ticket: the only way out of a wrong hold (design section 5, rule 5).
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct SecurityReview {
    /// What they found.
    #[garde(skip)]
    pub verdict: ReviewVerdict,
    /// Why, for the ticket's internal comments.
    #[garde(custom(prose(limits::COMMENT_CHARS)))]
    pub reason: String,
}

/// A public comment as it would be published.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct Publication {
    /// The text that the customer will read.
    #[garde(custom(prose(limits::COMMENT_CHARS)))]
    pub body: String,
}

/// What a deletion takes along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Tickets, the ticket itself not counted.
    pub tickets: Vec<TicketId>,
    /// Comments on them.
    pub comments: i64,
    /// Satisfaction scores about them.
    pub scores: i64,
    /// Calls that stay and lose their link.
    pub unlinked_calls: i64,
}

/// How many ids a preview lists; the count beside them is of all.
const LISTED_IDS: usize = 50;

impl Deleted {
    /// The deletion of a ticket, with what goes along.
    pub fn with_ticket(&self, ticket: &Ticket) -> Change {
        let mut change = Change::default();
        push_gone(&mut change, "ticket", &ticket.id.to_string());
        push_gone(&mut change, "subject", &ticket.subject);
        push_gone(&mut change, "status", ticket.status.as_str());
        self.push_counts(&mut change);
        change
    }

    /// The deletion of a customer, with what goes along.
    pub fn with_customer(&self, customer: &Customer) -> Change {
        let mut change = Change::default();
        push_gone(&mut change, "customer", &customer.id.to_string());
        push_gone(&mut change, "name", &customer.name);
        push_gone(&mut change, "email", &customer.email);
        let listed: Vec<String> = self
            .tickets
            .iter()
            .take(LISTED_IDS)
            .map(ToString::to_string)
            .collect();
        if !listed.is_empty() {
            push_gone(&mut change, "tickets", &listed.join(", "));
        }
        let count = i64::try_from(self.tickets.len()).unwrap_or(i64::MAX);
        change.push("ticket_count", Some(FieldValue::Int(count)), None);
        self.push_counts(&mut change);
        change
    }

    fn push_counts(&self, change: &mut Change) {
        for (field, count) in [
            ("comments", self.comments),
            ("scores", self.scores),
            ("unlinked_calls", self.unlinked_calls),
        ] {
            change.push(field, Some(FieldValue::Int(count)), None);
        }
    }
}

/// A write that is guarded only where everything is (`--confirm strict`): reversible in one step, or an addition that only
/// staff sees.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub enum OpenWrite {
    /// Register a customer.
    CreateCustomer {
        /// Whom.
        #[garde(dive)]
        new: NewCustomer,
    },
    /// File a ticket.
    CreateTicket {
        /// As filed.
        #[garde(dive)]
        new: NewTicket,
    },
    /// Give a ticket to a team or a person, or take it away.
    AssignTicket {
        /// Which.
        #[garde(skip)]
        ticket: TicketId,
        /// To whom.
        #[garde(dive)]
        assignment: Assignment,
    },
    /// Add an internal comment.
    AddComment {
        /// On which ticket.
        #[garde(skip)]
        ticket: TicketId,
        /// What.
        #[garde(dive)]
        comment: NewComment,
    },
    /// Move a ticket to a status that it can leave again.
    MoveTicket {
        /// Which.
        #[garde(skip)]
        ticket: TicketId,
        /// Where to.
        #[garde(skip)]
        to: OpenStatus,
    },
    /// Resolve a ticket that is in progress.
    ResolveTicket {
        /// Which.
        #[garde(skip)]
        ticket: TicketId,
        /// An internal comment that says how.
        #[garde(dive)]
        resolution: Option<NewComment>,
    },
}

/// A change that needs a preview and a confirmation. The store applies it only against a grant.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub enum GuardedWrite {
    /// Change a ticket's fields.
    UpdateTicket {
        /// Which.
        #[garde(skip)]
        ticket: TicketId,
        /// How.
        #[garde(dive)]
        patch: TicketPatch,
    },
    /// Publish a comment to the customer.
    PublishComment {
        /// On which ticket.
        #[garde(skip)]
        ticket: TicketId,
        /// The text.
        #[garde(dive)]
        publication: Publication,
    },
    /// Close a ticket for good.
    CloseTicket {
        /// Which.
        #[garde(skip)]
        ticket: TicketId,
    },
    /// Delete a ticket with its comments.
    DeleteTicket {
        /// Which.
        #[garde(skip)]
        ticket: TicketId,
    },
    /// Change a customer's record.
    UpdateCustomer {
        /// Whose.
        #[garde(skip)]
        customer: CustomerId,
        /// How.
        #[garde(dive)]
        patch: CustomerPatch,
    },
    /// Delete a customer with their tickets and comments.
    DeleteCustomer {
        /// Whom.
        #[garde(skip)]
        customer: CustomerId,
    },
    /// Record that a change of payment details was verified.
    RecordPaymentVerification {
        /// For which ticket.
        #[garde(skip)]
        ticket: TicketId,
        /// What was found out.
        #[garde(dive)]
        verification: PaymentVerification,
    },
    /// Record what a person found who looked at a flagged ticket.
    RecordSecurityReview {
        /// Which ticket.
        #[garde(skip)]
        ticket: TicketId,
        /// What they found.
        #[garde(dive)]
        review: SecurityReview,
    },
    /// A write that is open elsewhere.
    Open(#[garde(dive)] OpenWrite),
}

impl OpenWrite {
    /// What the audit log calls it.
    pub const fn action(&self) -> Action {
        match self {
            Self::CreateCustomer { .. } => Action::CreateCustomer,
            Self::CreateTicket { .. } => Action::CreateTicket,
            Self::AssignTicket { .. } => Action::AssignTicket,
            Self::AddComment { .. } => Action::AddComment,
            Self::MoveTicket { .. } => Action::ChangeTicketStatus,
            Self::ResolveTicket { .. } => Action::ResolveTicket,
        }
    }

    /// The record that it changes; 0 stands for one that is to be made.
    pub const fn entity(&self) -> (EntityKind, i64) {
        match self {
            Self::CreateCustomer { .. } => (EntityKind::Customer, 0),
            Self::CreateTicket { .. } => (EntityKind::Ticket, 0),
            Self::AssignTicket { ticket, .. }
            | Self::AddComment { ticket, .. }
            | Self::MoveTicket { ticket, .. }
            | Self::ResolveTicket { ticket, .. } => (EntityKind::Ticket, ticket.number()),
        }
    }
}

impl GuardedWrite {
    /// What the audit log calls it; its word is the name of the tool that asks for it.
    pub const fn action(&self) -> Action {
        match self {
            Self::UpdateTicket { .. } => Action::UpdateTicket,
            Self::PublishComment { .. } => Action::AddComment,
            Self::CloseTicket { .. } => Action::ChangeTicketStatus,
            Self::DeleteTicket { .. } => Action::DeleteTicket,
            Self::UpdateCustomer { .. } => Action::UpdateCustomer,
            Self::DeleteCustomer { .. } => Action::DeleteCustomer,
            Self::RecordPaymentVerification { .. } => Action::RecordPaymentVerification,
            Self::RecordSecurityReview { .. } => Action::RecordSecurityReview,
            Self::Open(write) => write.action(),
        }
    }

    /// The record that it changes; 0 stands for one that is to be made.
    pub const fn entity(&self) -> (EntityKind, i64) {
        match self {
            Self::UpdateTicket { ticket, .. }
            | Self::PublishComment { ticket, .. }
            | Self::CloseTicket { ticket }
            | Self::DeleteTicket { ticket }
            | Self::RecordPaymentVerification { ticket, .. }
            | Self::RecordSecurityReview { ticket, .. } => (EntityKind::Ticket, ticket.number()),
            Self::UpdateCustomer { customer, .. } | Self::DeleteCustomer { customer } => {
                (EntityKind::Customer, customer.number())
            }
            Self::Open(write) => write.entity(),
        }
    }

    /// Whether something is lost that no other call brings back.
    pub const fn deletes(&self) -> bool {
        matches!(
            self,
            Self::DeleteTicket { .. } | Self::DeleteCustomer { .. }
        )
    }
}

fn push_gone(change: &mut Change, field: &'static str, before: &str) {
    change.push(field, Some(FieldValue::Text(before.to_owned())), None);
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
mod tests;
