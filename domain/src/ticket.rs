//! Tickets: the unit of work of the desk.

use garde::Validate;

use crate::text::{label, optional_label, prose};
use crate::text_enum::text_enum;
use crate::{CustomerId, Status, TicketId, Timestamp, UnknownValue, Version, limits};

text_enum! {
    /// How a ticket came in.
    Channel {
        /// By e-mail.
        Email = "email",
        /// Through the self-service portal.
        Portal = "portal",
        /// By telephone.
        Phone = "phone",
        /// In a chat.
        Chat = "chat",
    }
}

text_enum! {
    /// Impact times urgency, as the priority matrix (KB-000) has it.
    Priority {
        /// An inconvenience, a question, or something with a workaround.
        Low = "low",
        /// One person is slowed down or blocked, without a deadline.
        Medium = "medium",
        /// Several people are blocked, or one with a deadline today.
        High = "high",
        /// A site is down, or a security incident is going on.
        Urgent = "urgent",
    }
}

text_enum! {
    /// What the guardrail or a person decided about a ticket; no text can clear it (design section 5).
    SecurityFlag {
        /// Nothing was found.
        None = "none",
        /// The classifier wants a person to look.
        Held = "held",
        /// A security incident: nothing is drafted or published.
        Incident = "incident",
    }
}

text_enum! {
    /// Whose turn it is: the side that spoke last.
    LastCommentBy {
        /// The customer waits for the desk.
        Customer = "customer",
        /// The desk waits for the customer.
        Team = "team",
    }
}

/// The support line that a ticket sits with, 1 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tier(u8);

impl Tier {
    /// The first line, where tickets start.
    pub const FIRST: Self = Self(1);
    /// The last line; escalations to security go here.
    pub const LAST: Self = Self(3);

    /// A tier from its number.
    pub fn new(number: i64) -> Result<Self, UnknownValue> {
        match u8::try_from(number) {
            Ok(tier @ 1..=3) => Ok(Self(tier)),
            _ => Err(UnknownValue {
                given: number.to_string(),
                allowed: vec!["1", "2", "3"],
            }),
        }
    }

    /// The number, 1 to 3.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// A ticket as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its id.
    pub id: TicketId,
    /// Whose ticket it is.
    pub customer: CustomerId,
    /// How it came in.
    pub channel: Channel,
    /// One line, written by the customer or on their behalf.
    pub subject: String,
    /// The request, written by the customer or on their behalf.
    pub description: String,
    /// Slug of a row in the category table.
    pub category: String,
    /// How soon.
    pub priority: Priority,
    /// Where it stands.
    pub status: Status,
    /// Which line has it.
    pub tier: Tier,
    /// Which team has it; free form by design.
    pub assigned_team: Option<String>,
    /// Who has it.
    pub assignee: Option<String>,
    /// What the guardrail or a person decided.
    pub security_flag: SecurityFlag,
    /// Who spoke last.
    pub last_comment_by: LastCommentBy,
    /// When it was filed.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// How often it has changed; a comment counts.
    pub version: Version,
}

/// A ticket as filed.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct NewTicket {
    /// Whose ticket it is.
    #[garde(skip)]
    pub customer: CustomerId,
    /// How it came in.
    #[garde(skip)]
    pub channel: Channel,
    /// One line.
    #[garde(custom(label(limits::SUBJECT_CHARS)))]
    pub subject: String,
    /// The request.
    #[garde(custom(prose(limits::DESCRIPTION_CHARS)))]
    pub description: String,
    /// Slug of a category; storage refuses one that is not in the table.
    #[garde(custom(label(limits::SLUG_CHARS)))]
    pub category: String,
    /// How soon.
    #[garde(skip)]
    pub priority: Priority,
    /// Which line.
    #[garde(skip)]
    pub tier: Tier,
    /// Which team.
    #[garde(custom(optional_label(limits::NAME_CHARS)))]
    pub assigned_team: Option<String>,
    /// Who.
    #[garde(custom(optional_label(limits::NAME_CHARS)))]
    pub assignee: Option<String>,
}

/// What happens to a value that may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Assign {
    /// It stays.
    #[default]
    Keep,
    /// It becomes this.
    Set(String),
    /// It becomes absent.
    Clear,
}

/// Who should have a ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Validate)]
pub struct Assignment {
    /// The team.
    #[garde(custom(assign))]
    pub team: Assign,
    /// The person.
    #[garde(custom(assign))]
    pub assignee: Assign,
}

impl Assignment {
    /// Whether it asks for nothing; an empty write is refused (field report 11).
    pub fn is_empty(&self) -> bool {
        self.team == Assign::Keep && self.assignee == Assign::Keep
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature of a garde rule"
)]
pub(crate) fn assign(value: &Assign, context: &()) -> garde::Result {
    match value {
        Assign::Keep | Assign::Clear => Ok(()),
        Assign::Set(name) => label(limits::NAME_CHARS)(name, context),
    }
}
