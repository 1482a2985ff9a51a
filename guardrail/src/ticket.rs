//! What is screened: everything customers and staff wrote on a ticket, and the facts that staff recorded about it.

use std::fmt;

/// Where a text stands. Everything that a customer can write is screened, not only the body (promise I-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The subject of the ticket.
    Subject,
    /// The description of the ticket.
    Description,
    /// A comment, by its id.
    Comment(i64),
    /// The name of the customer.
    CustomerName,
    /// The organisation of the customer.
    Organisation,
    /// The transcript of a linked call.
    Transcript,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subject => f.write_str("subject"),
            Self::Description => f.write_str("description"),
            Self::Comment(id) => write!(f, "comment:{id}"),
            Self::CustomerName => f.write_str("customer_name"),
            Self::Organisation => f.write_str("organisation"),
            Self::Transcript => f.write_str("transcript"),
        }
    }
}

/// One text of a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it stands.
    pub source: Source,
    /// The text, unchanged.
    pub text: String,
}

impl Segment {
    /// A text and where it stands.
    pub fn new(source: Source, text: impl Into<String>) -> Self {
        Self {
            source,
            text: text.into(),
        }
    }
}

/// The security flag that a ticket already carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flag {
    /// None.
    #[default]
    None,
    /// Held for a person.
    Held,
    /// A security incident.
    Incident,
}

/// That a change of a payee's bank details was verified, as staff entered it. Nothing in prose can supply it, and a field
/// that is left blank makes it incomplete (KB-006, the narrow exception).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentVerification {
    /// The ticket it was entered on.
    pub ticket_id: i64,
    /// The channel on file over which the requester was contacted.
    pub channel: String,
    /// Who confirmed, known to the business before.
    pub confirmer: String,
    /// Who approved the change internally.
    pub approver: String,
}

impl PaymentVerification {
    /// Whether it covers the ticket and states all three conditions.
    fn is_complete_for(&self, ticket_id: i64) -> bool {
        let stated = [&self.channel, &self.confirmer, &self.approver];
        self.ticket_id == ticket_id && stated.iter().all(|field| !field.trim().is_empty())
    }
}

/// What a person's review lifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifts {
    /// What the classifier held.
    Hold,
    /// Also what the floor refused; takes the security role.
    Incident,
}

/// A person's decision that a ticket was held wrongly. It counts for the version it was made on: new text is screened
/// again (design section 5, rule 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Review {
    /// The version of the ticket that the person saw.
    pub version: i64,
    /// What it lifts.
    pub lifts: Lifts,
}

/// A ticket as [`crate::screen`] needs it.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Its id.
    pub id: i64,
    /// The version that the texts belong to.
    pub version: i64,
    /// The slug of the category it is filed under.
    pub category: String,
    /// The flag it carries.
    pub flag: Flag,
    /// Everything that customers and staff wrote.
    pub texts: Vec<Segment>,
    /// What staff entered about a payment change.
    pub payment: Option<PaymentVerification>,
    /// A person's review.
    pub review: Option<Review>,
}

impl Ticket {
    /// A ticket without flag, verification and review.
    pub fn new(id: i64, version: i64, category: impl Into<String>, texts: Vec<Segment>) -> Self {
        Self {
            id,
            version,
            category: category.into(),
            flag: Flag::None,
            texts,
            payment: None,
            review: None,
        }
    }

    /// Whether staff verified the payment change that the ticket asks for.
    pub(crate) fn payment_is_verified(&self) -> bool {
        self.payment
            .as_ref()
            .is_some_and(|payment| payment.is_complete_for(self.id))
    }

    /// What a review of this very version lifts.
    pub(crate) fn lifted(&self) -> Option<Lifts> {
        self.review
            .filter(|review| review.version == self.version)
            .map(|review| review.lifts)
    }

    /// Whether it is filed as security, however that is spelt.
    pub(crate) fn is_filed_as_security(&self) -> bool {
        self.category.trim().to_lowercase() == "security"
    }
}
