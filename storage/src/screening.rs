//! What the store asks about the texts of a ticket whenever one of them is written (design section 5).
//!
//! The answer is needed inside the transaction that writes the text: a flag that came later would leave a moment in which
//! an incident looks like any other ticket. What judges the texts is handed in, since the store knows no rules.

use domain::{Comment, Customer, PaymentVerification, SecurityFlag, Ticket};

/// Everything that customers and staff wrote on a ticket, with what staff recorded about it, read in one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketTexts {
    /// The ticket.
    pub ticket: Ticket,
    /// Whose it is.
    pub customer: Customer,
    /// Every comment, oldest first.
    pub comments: Vec<Comment>,
    /// The transcript of each linked call, a line for each turn.
    pub transcripts: Vec<String>,
    /// The newest record that a change of payment details was verified.
    pub payment: Option<PaymentVerification>,
    /// The worst flag that a person has lifted from these very texts; a text written since makes it void.
    pub lifted: Option<SecurityFlag>,
}

/// Judges the texts of a ticket. It runs inside a write, so it only computes.
pub trait Screener: Send + Sync {
    /// The flag that a ticket with these texts should carry, and with `outgoing` where that is to be published on it.
    fn flag(&self, texts: &TicketTexts, outgoing: Option<&str>) -> SecurityFlag;
}
