//! A write as a list of names and values: what is stored of a preview, and what a later call with its token is held against.
//!
//! Names and words are those of the tools. Reading back is the exact inverse of writing down.

use super::{
    CustomerPatch, GuardedWrite, OpenWrite, Operation, PaymentVerification, Publication,
    ReviewVerdict, SecurityReview, TicketPatch,
};
use crate::{
    Assign, Assignment, Change, Channel, CustomerId, CustomerStatus, FieldValue, NewComment,
    NewCustomer, NewTicket, OpenStatus, Origin, Priority, Status, TicketId, Tier, UnknownValue,
    Visibility,
};

/// One argument; `None` takes a value away.
pub type Argument = (String, Option<FieldValue>);

/// Arguments of a write, in the order of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments(Vec<Argument>);

/// Stored arguments that are no write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the argument `{name}` is missing or not valid")]
pub struct BadArguments {
    /// Which.
    pub name: &'static str,
}

impl FromIterator<Argument> for Arguments {
    fn from_iter<I: IntoIterator<Item = Argument>>(arguments: I) -> Self {
        Self(arguments.into_iter().collect())
    }
}

impl Arguments {
    /// The arguments, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&FieldValue>)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// These with others put over them: what a call would do that repeats some of a preview's arguments.
    #[must_use]
    pub fn overlaid(&self, given: &Self) -> Self {
        let mut all = self.clone();
        for (name, value) in &given.0 {
            match all.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, slot)) => slot.clone_from(value),
                None => all.0.push((name.clone(), value.clone())),
            }
        }
        all
    }

    /// The change of something that is only added to: each value after, nothing before.
    pub fn additions(&self) -> Change {
        let mut change = Change::default();
        for (name, value) in &self.0 {
            change.push_named(name.clone(), None, value.clone());
        }
        change
    }

    /// Notes a text, where there is one.
    #[must_use]
    pub fn text(self, name: &str, value: Option<&str>) -> Self {
        self.value(name, value.map(|text| FieldValue::Text(text.to_owned())))
    }

    /// Notes a number, where there is one.
    #[must_use]
    pub fn int(self, name: &str, value: Option<i64>) -> Self {
        self.value(name, value.map(FieldValue::Int))
    }

    /// Notes yes or no, where it is said.
    #[must_use]
    pub fn flag(self, name: &str, value: Option<bool>) -> Self {
        self.value(name, value.map(FieldValue::Bool))
    }

    /// Notes what becomes of a value that may be absent.
    #[must_use]
    pub fn assign(mut self, name: &str, assign: &Assign) -> Self {
        match assign {
            Assign::Keep => self,
            Assign::Set(text) => self.text(name, Some(text)),
            Assign::Clear => {
                self.0.push((name.to_owned(), None));
                self
            }
        }
    }

    fn value(mut self, name: &str, value: Option<FieldValue>) -> Self {
        if value.is_some() {
            self.0.push((name.to_owned(), value));
        }
        self
    }

    fn find(&self, name: &str) -> Option<&Argument> {
        self.0.iter().find(|(known, _)| known == name)
    }

    fn read_text(&self, name: &'static str) -> Result<Option<String>, BadArguments> {
        match self.find(name) {
            None => Ok(None),
            Some((_, Some(FieldValue::Text(text)))) => Ok(Some(text.clone())),
            Some(_) => Err(BadArguments { name }),
        }
    }

    fn read_word<T>(
        &self,
        name: &'static str,
        parse: fn(&str) -> Result<T, UnknownValue>,
    ) -> Result<Option<T>, BadArguments> {
        let word = self.read_text(name)?;
        word.map(|word| parse(&word).map_err(|_unknown| BadArguments { name }))
            .transpose()
    }

    fn read_int(&self, name: &'static str) -> Result<Option<i64>, BadArguments> {
        match self.find(name) {
            None => Ok(None),
            Some((_, Some(FieldValue::Int(number)))) => Ok(Some(*number)),
            Some(_) => Err(BadArguments { name }),
        }
    }

    fn read_tier(&self, name: &'static str) -> Result<Option<Tier>, BadArguments> {
        let number = self.read_int(name)?;
        number
            .map(|number| Tier::new(number).map_err(|_unknown| BadArguments { name }))
            .transpose()
    }

    fn read_flag(&self, name: &'static str) -> Result<Option<bool>, BadArguments> {
        match self.find(name) {
            None => Ok(None),
            Some((_, Some(FieldValue::Bool(yes)))) => Ok(Some(*yes)),
            Some(_) => Err(BadArguments { name }),
        }
    }

    fn read_assign(&self, name: &'static str) -> Result<Assign, BadArguments> {
        match self.find(name) {
            None => Ok(Assign::Keep),
            Some((_, None)) => Ok(Assign::Clear),
            Some((_, Some(FieldValue::Text(text)))) => Ok(Assign::Set(text.clone())),
            Some((_, Some(FieldValue::Int(_) | FieldValue::Bool(_)))) => Err(BadArguments { name }),
        }
    }
}

fn needed<T>(name: &'static str, value: Option<T>) -> Result<T, BadArguments> {
    value.ok_or(BadArguments { name })
}

fn is_customer(origin: Origin) -> bool {
    origin == Origin::Customer
}

impl TicketPatch {
    /// What it sets, as names and values.
    pub fn arguments(&self) -> Arguments {
        Arguments::default()
            .text("status", self.status.map(Status::as_str))
            .int("tier", self.tier.map(|tier| i64::from(tier.number())))
            .text("priority", self.priority.map(Priority::as_str))
            .text("category", self.category.as_deref())
            .assign("team", &self.team)
            .assign("assignee", &self.assignee)
            .text("subject", self.subject.as_deref())
            .text("description", self.description.as_deref())
            .text("note", self.note.as_deref())
    }

    fn read(arguments: &Arguments) -> Result<Self, BadArguments> {
        Ok(Self {
            status: arguments.read_word("status", Status::parse)?,
            tier: arguments.read_tier("tier")?,
            priority: arguments.read_word("priority", Priority::parse)?,
            category: arguments.read_text("category")?,
            team: arguments.read_assign("team")?,
            assignee: arguments.read_assign("assignee")?,
            subject: arguments.read_text("subject")?,
            description: arguments.read_text("description")?,
            note: arguments.read_text("note")?,
        })
    }
}

impl CustomerPatch {
    /// What it sets, as names and values.
    pub fn arguments(&self) -> Arguments {
        Arguments::default()
            .text("name", self.name.as_deref())
            .text("email", self.email.as_deref())
            .assign("phone", &self.phone)
            .assign("organisation", &self.organisation)
            .text("status", self.status.map(CustomerStatus::as_str))
    }

    fn read(arguments: &Arguments) -> Result<Self, BadArguments> {
        Ok(Self {
            name: arguments.read_text("name")?,
            email: arguments.read_text("email")?,
            phone: arguments.read_assign("phone")?,
            organisation: arguments.read_assign("organisation")?,
            status: arguments.read_word("status", CustomerStatus::parse)?,
        })
    }
}

impl OpenWrite {
    /// What it does, as names and values.
    pub fn arguments(&self) -> Arguments {
        let none = Arguments::default();
        match self {
            Self::CreateCustomer { new } => none
                .text("name", Some(&new.name))
                .text("email", Some(&new.email))
                .text("phone", new.phone.as_deref())
                .text("organisation", new.organisation.as_deref()),
            Self::CreateTicket { new } => none
                .int("customer_id", Some(new.customer.number()))
                .text("channel", Some(new.channel.as_str()))
                .text("subject", Some(&new.subject))
                .text("description", Some(&new.description))
                .text("category", Some(&new.category))
                .text("priority", Some(new.priority.as_str()))
                .int("tier", Some(i64::from(new.tier.number())))
                .text("team", new.assigned_team.as_deref())
                .text("assignee", new.assignee.as_deref()),
            Self::AssignTicket { assignment, .. } => none
                .assign("team", &assignment.team)
                .assign("assignee", &assignment.assignee),
            Self::AddComment { comment, .. } => none
                .text("body", Some(&comment.body))
                .text("visibility", Some(Visibility::Internal.as_str()))
                .flag("from_customer", Some(is_customer(comment.origin))),
            Self::MoveTicket { to, .. } => none.text("status", Some(to.as_str())),
            Self::ResolveTicket { resolution, .. } => none.text(
                "resolution",
                resolution.as_ref().map(|new| new.body.as_str()),
            ),
        }
    }

    fn read(
        operation: Operation,
        entity: i64,
        arguments: &Arguments,
    ) -> Result<Option<Self>, BadArguments> {
        let ticket = TicketId::new(entity);
        Ok(Some(match operation {
            Operation::CreateCustomer => Self::CreateCustomer {
                new: NewCustomer {
                    name: needed("name", arguments.read_text("name")?)?,
                    email: needed("email", arguments.read_text("email")?)?,
                    phone: arguments.read_text("phone")?,
                    organisation: arguments.read_text("organisation")?,
                },
            },
            Operation::CreateTicket => Self::CreateTicket {
                new: NewTicket {
                    customer: CustomerId::new(needed(
                        "customer_id",
                        arguments.read_int("customer_id")?,
                    )?),
                    channel: needed("channel", arguments.read_word("channel", Channel::parse)?)?,
                    subject: needed("subject", arguments.read_text("subject")?)?,
                    description: needed("description", arguments.read_text("description")?)?,
                    category: needed("category", arguments.read_text("category")?)?,
                    priority: needed(
                        "priority",
                        arguments.read_word("priority", Priority::parse)?,
                    )?,
                    tier: needed("tier", arguments.read_tier("tier")?)?,
                    assigned_team: arguments.read_text("team")?,
                    assignee: arguments.read_text("assignee")?,
                },
            },
            Operation::AssignTicket => Self::AssignTicket {
                ticket,
                assignment: Assignment {
                    team: arguments.read_assign("team")?,
                    assignee: arguments.read_assign("assignee")?,
                },
            },
            Operation::AddComment => Self::AddComment {
                ticket,
                comment: NewComment {
                    body: needed("body", arguments.read_text("body")?)?,
                    origin: if needed("from_customer", arguments.read_flag("from_customer")?)? {
                        Origin::Customer
                    } else {
                        Origin::Team
                    },
                },
            },
            Operation::MoveTicket => Self::MoveTicket {
                ticket,
                to: needed("status", arguments.read_word("status", OpenStatus::parse)?)?,
            },
            Operation::ResolveTicket => Self::ResolveTicket {
                ticket,
                resolution: arguments.read_text("resolution")?.map(|body| NewComment {
                    body,
                    origin: Origin::Team,
                }),
            },
            Operation::UpdateTicket
            | Operation::PublishComment
            | Operation::CloseTicket
            | Operation::DeleteTicket
            | Operation::UpdateCustomer
            | Operation::DeleteCustomer
            | Operation::RecordPaymentVerification
            | Operation::RecordSecurityReview => return Ok(None),
        }))
    }
}

impl GuardedWrite {
    /// What it does, as names and values. The record is not among them.
    pub fn arguments(&self) -> Arguments {
        let none = Arguments::default();
        match self {
            Self::UpdateTicket { patch, .. } => patch.arguments(),
            Self::PublishComment { publication, .. } => none
                .text("body", Some(&publication.body))
                .text("visibility", Some(Visibility::Public.as_str()))
                .flag("from_customer", Some(false)),
            Self::CloseTicket { .. } => none.text("status", Some(Status::Closed.as_str())),
            Self::DeleteTicket { .. } | Self::DeleteCustomer { .. } => none,
            Self::UpdateCustomer { patch, .. } => patch.arguments(),
            Self::RecordPaymentVerification { verification, .. } => none
                .text("channel_on_file", Some(&verification.channel_on_file))
                .text("confirmer", Some(&verification.confirmer))
                .text("approver", Some(&verification.approver)),
            Self::RecordSecurityReview { review, .. } => none
                .text("verdict", Some(review.verdict.as_str()))
                .text("reason", Some(&review.reason)),
            Self::Open(write) => write.arguments(),
        }
    }

    /// The write that was noted so.
    ///
    /// # Errors
    /// [`BadArguments`] for anything that [`GuardedWrite::arguments`] doesn't give for that operation.
    pub fn read(
        operation: Operation,
        entity: i64,
        arguments: &Arguments,
    ) -> Result<Self, BadArguments> {
        if let Some(write) = OpenWrite::read(operation, entity, arguments)? {
            return Self::Open(write).exactly(arguments);
        }
        let (ticket, customer) = (TicketId::new(entity), CustomerId::new(entity));
        let write = match operation {
            Operation::UpdateTicket => Self::UpdateTicket {
                ticket,
                patch: TicketPatch::read(arguments)?,
            },
            Operation::PublishComment => Self::PublishComment {
                ticket,
                publication: Publication {
                    body: needed("body", arguments.read_text("body")?)?,
                },
            },
            Operation::CloseTicket => Self::CloseTicket { ticket },
            Operation::DeleteTicket => Self::DeleteTicket { ticket },
            Operation::UpdateCustomer => Self::UpdateCustomer {
                customer,
                patch: CustomerPatch::read(arguments)?,
            },
            Operation::DeleteCustomer => Self::DeleteCustomer { customer },
            Operation::RecordPaymentVerification => Self::RecordPaymentVerification {
                ticket,
                verification: PaymentVerification {
                    channel_on_file: needed(
                        "channel_on_file",
                        arguments.read_text("channel_on_file")?,
                    )?,
                    confirmer: needed("confirmer", arguments.read_text("confirmer")?)?,
                    approver: needed("approver", arguments.read_text("approver")?)?,
                },
            },
            Operation::RecordSecurityReview => Self::RecordSecurityReview {
                ticket,
                review: SecurityReview {
                    verdict: needed(
                        "verdict",
                        arguments.read_word("verdict", ReviewVerdict::parse)?,
                    )?,
                    reason: needed("reason", arguments.read_text("reason")?)?,
                },
            },
            Operation::CreateCustomer
            | Operation::CreateTicket
            | Operation::AssignTicket
            | Operation::AddComment
            | Operation::MoveTicket
            | Operation::ResolveTicket => return Err(BadArguments { name: "operation" }),
        };
        write.exactly(arguments)
    }

    /// An argument that the operation doesn't have, or a word that is spelt otherwise, would be lost without a word.
    fn exactly(self, arguments: &Arguments) -> Result<Self, BadArguments> {
        if self.arguments() == *arguments {
            Ok(self)
        } else {
            Err(BadArguments { name: "arguments" })
        }
    }
}

#[cfg(test)]
mod tests;
