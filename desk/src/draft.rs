//! Drafts: composed from the knowledge base's customer blocks and a fixed frame, and from nothing else (design section 5).
//!
//! A draft needs a [`Cleared`] ticket. What it says about the matter are blocks word for word, so every sentence can be
//! traced and no telephone number, link or address comes from a ticket.

use domain::{Action, ArticleId, Audience, TicketId};
use guardrail::{Cleared, Screening, Source};

use crate::privacy::seen;
use crate::{Caller, Desk, DeskError};

/// How every draft begins. It names nobody: a name taken from a record has been the name of a department before (policy
/// list E, 33).
pub const GREETING: &str = "Hello,\n\nThank you for your message. This should help:";

/// How every draft ends.
pub const CLOSING: &str = "If this does not help, please answer this message and we will look into it.\n\nKind regards\nYour support team";

/// A block that a draft rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounding {
    /// The article.
    pub article: ArticleId,
    /// Which of the article's blocks, from 0, among those for customers.
    pub block: usize,
    /// Its text.
    pub text: String,
}

/// A reply to be looked over before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The ticket that it answers, at the version that was cleared.
    pub ticket: TicketId,
    /// That version.
    pub version: i64,
    /// The reply.
    pub text: String,
    /// What it rests on, in the order of the reply.
    pub grounding: Vec<Grounding>,
    /// How the ticket was screened.
    pub screening: Screening,
}

impl Desk {
    /// Drafts a reply to a ticket that was cleared, from what the knowledge base says to customers about it.
    pub async fn draft_response(&self, caller: &Caller, id: TicketId) -> Result<Draft, DeskError> {
        let act = caller.act(self.clock.now(), "draft_response");
        let cleared = self.clear_ticket(&act, Action::DraftResponse, id).await?;
        let index = self.shelf().await?;
        let category = self.store.get_ticket(id).await?.category;
        let grounding = index.ground(&subject(&cleared), &body(&cleared), &category);
        if grounding.is_empty() {
            return Err(DeskError::NothingKnown);
        }
        let draft = compose(&cleared, grounding);
        Ok(seen(self.mask(caller).as_ref(), draft))
    }
}

fn subject(cleared: &Cleared) -> String {
    said(cleared, |source| source == Source::Subject)
}

/// The ticket's other words. A name says nothing about the matter, and staff's comments are not the customer's question.
fn body(cleared: &Cleared) -> String {
    said(cleared, |source| source == Source::Description)
}

fn said(cleared: &Cleared, wanted: impl Fn(Source) -> bool) -> String {
    let texts: Vec<&str> = cleared
        .texts()
        .iter()
        .filter(|text| wanted(text.source))
        .map(|text| text.text.as_str())
        .collect();
    texts.join("\n")
}

fn compose(cleared: &Cleared, grounding: Vec<Grounding>) -> Draft {
    let mut parts = vec![GREETING];
    parts.extend(grounding.iter().map(|block| block.text.trim()));
    parts.push(CLOSING);
    Draft {
        ticket: TicketId::new(cleared.ticket_id()),
        version: cleared.version(),
        text: parts.join("\n\n"),
        screening: cleared.screening(),
        grounding,
    }
}

/// Who a draft is for.
pub(crate) const READER: Audience = Audience::Customer;

#[cfg(test)]
mod tests;
