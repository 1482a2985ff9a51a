//! Contact fields, and what is shaped like them in free text: in clear only for callers with their own right (promises E and Z-6).
//!
//! The masking happens here, where records leave the desk, before anything cuts, counts or renders them: a text that was cut
//! first could give a number away in two halves. The protocol's border masks once more, for what comes from no record. The
//! same value has the same stand-in in every answer of a store, so that a reader can still tell who is who; without the
//! store's name nobody can try out which value a stand-in is for.

use std::borrow::Cow;
use std::sync::Arc;

use domain::contact::{ContactKind, contact_value, contacts, without_contacts};
use domain::{
    Article, AuditEntry, Call, Change, Comment, Customer, CustomerId, EntityKind, FieldValue,
    Scope, Ticket, TicketId,
};
use sha2::{Digest as _, Sha256};
use storage::{CsatComment, Left, ScoredCall, TicketDetails};

use crate::draft::Draft;
use crate::{Caller, Desk, DeskError, Listing};

/// Letters of a stand-in: none that make words, and no digits, which could look like a number again.
const LETTERS: [char; 16] = [
    'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'm', 'n', 'p', 'q', 'r', 's', 't', 'w',
];
/// Letters that a stand-in has: two values of a desk with a hundred thousand customers rarely share one.
const STAND_IN_LETTERS: usize = 8;

/// Puts stand-ins in the place of contacts.
#[derive(Clone)]
pub(crate) struct Mask {
    key: Arc<str>,
    /// Phone numbers of the customers whom a record is about: they may be too short to be told by their shape.
    phones: Vec<String>,
}

impl Mask {
    fn stand_in(&self, kind: ContactKind, value: &str) -> String {
        let mut hash = Sha256::new();
        for part in [&self.key, kind.as_str(), value] {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let halves = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let letters = halves.take(STAND_IN_LETTERS);
        let code: String = letters
            .filter_map(|half| LETTERS.get(usize::from(half)))
            .collect();
        format!("[{} {code}]", kind.as_str())
    }

    fn masked(&self, text: &str) -> Option<String> {
        let phones: Vec<&str> = self.phones.iter().map(String::as_str).collect();
        without_contacts(text, &phones, |kind, value| self.stand_in(kind, value))
    }

    fn text(&self, text: &mut String) {
        if let Some(masked) = self.masked(text) {
            *text = masked;
        }
    }

    fn optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// A field that holds a contact and nothing else, whatever its form.
    fn field(&self, kind: ContactKind, text: &mut String) {
        // What is a stand-in already stays.
        if !text.starts_with('[') {
            *text = self.stand_in(kind, &contact_value(kind, text));
        }
    }
}

/// A record that may hold contacts.
pub(crate) trait Personal {
    fn mask(&mut self, mask: &Mask);
}

impl Personal for Customer {
    fn mask(&mut self, mask: &Mask) {
        mask.field(ContactKind::Email, &mut self.email);
        if let Some(phone) = &mut self.phone {
            mask.field(ContactKind::Phone, phone);
        }
        mask.text(&mut self.name);
        mask.optional(&mut self.organisation);
    }
}

impl Personal for Ticket {
    fn mask(&mut self, mask: &Mask) {
        mask.text(&mut self.subject);
        mask.text(&mut self.description);
        mask.optional(&mut self.assigned_team);
        mask.optional(&mut self.assignee);
    }
}

impl Personal for Comment {
    fn mask(&mut self, mask: &Mask) {
        mask.text(&mut self.author);
        mask.text(&mut self.body);
    }
}

impl Personal for Call {
    fn mask(&mut self, mask: &Mask) {
        mask.text(&mut self.agent);
        for turn in &mut self.turns {
            mask.text(&mut turn.text);
        }
    }
}

impl Personal for ScoredCall {
    fn mask(&mut self, mask: &Mask) {
        self.call.mask(mask);
    }
}

impl Personal for CsatComment {
    fn mask(&mut self, mask: &Mask) {
        mask.text(&mut self.comment);
    }
}

impl Personal for Article {
    fn mask(&mut self, mask: &Mask) {
        mask.text(&mut self.title);
        for block in &mut self.blocks {
            mask.text(&mut block.text);
        }
    }
}

impl Personal for Draft {
    fn mask(&mut self, mask: &Mask) {
        mask.text(&mut self.text);
        for block in &mut self.grounding {
            mask.text(&mut block.text);
        }
    }
}

impl Personal for AuditEntry {
    fn mask(&mut self, mask: &Mask) {
        mask.text(&mut self.actor.id);
        for (_name, fact) in &mut self.facts {
            mask.text(fact);
        }
    }
}

impl Personal for Change {
    fn mask(&mut self, mask: &Mask) {
        for field in &mut self.fields {
            let kind = match field.field.as_ref() {
                "email" => Some(ContactKind::Email),
                "phone" => Some(ContactKind::Phone),
                _ => None,
            };
            for value in [&mut field.before, &mut field.after] {
                if let Some(FieldValue::Text(text)) = value {
                    match kind {
                        Some(kind) => mask.field(kind, text),
                        None => mask.text(text),
                    }
                }
            }
        }
    }
}

impl Personal for Left {
    fn mask(&mut self, mask: &Mask) {
        match self {
            Self::Ticket { ticket, .. } => ticket.mask(mask),
            Self::Comment { comment, ticket } => {
                comment.mask(mask);
                ticket.mask(mask);
            }
            Self::Customer(customer) => customer.mask(mask),
            Self::Nothing => {}
        }
    }
}

impl Personal for TicketDetails {
    fn mask(&mut self, mask: &Mask) {
        self.ticket.mask(mask);
        self.customer.mask(mask);
        self.comments.rows.mask(mask);
        self.other_tickets.mask(mask);
    }
}

impl<T: Personal> Personal for Vec<T> {
    fn mask(&mut self, mask: &Mask) {
        for record in self {
            record.mask(mask);
        }
    }
}

impl<T: Personal> Personal for Listing<T> {
    fn mask(&mut self, mask: &Mask) {
        self.rows.mask(mask);
    }
}

/// A record as a caller with this mask may see it.
pub(crate) fn seen<T: Personal>(mask: Option<&Mask>, mut record: T) -> T {
    if let Some(mask) = mask {
        record.mask(mask);
    }
    record
}

impl Desk {
    /// What a caller's answers pass; nothing where they may see contacts.
    pub(crate) fn mask(&self, caller: &Caller) -> Option<Mask> {
        (!caller.scopes.contains(Scope::CustomersPii)).then(|| Mask {
            key: self.store.deployment(),
            phones: Vec::new(),
        })
    }

    /// The same for records about customers, whose numbers are then known.
    pub(crate) async fn mask_of(
        &self,
        caller: &Caller,
        customers: impl IntoIterator<Item = CustomerId>,
    ) -> Result<Option<Mask>, DeskError> {
        let Some(mut mask) = self.mask(caller) else {
            return Ok(None);
        };
        let mut customers: Vec<CustomerId> = customers.into_iter().collect();
        customers.sort_unstable();
        customers.dedup();
        for id in customers {
            match self.store.get_customer(id).await {
                Ok(customer) => mask.phones.extend(customer.phone),
                // Gone since, and its number with it.
                Err(storage::StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(mask))
    }

    /// The same for a record by its number.
    pub(crate) async fn mask_about(
        &self,
        caller: &Caller,
        record: Option<(EntityKind, i64)>,
    ) -> Result<Option<Mask>, DeskError> {
        let Some(mask) = self.mask(caller) else {
            return Ok(None);
        };
        match record {
            Some((EntityKind::Customer, id)) => self.mask_of(caller, [CustomerId::new(id)]).await,
            Some((EntityKind::Ticket, id)) => {
                match self.store.get_ticket(TicketId::new(id)).await {
                    Ok(ticket) => self.mask_of(caller, [ticket.customer]).await,
                    // There is none, or not yet, and nothing is said about one.
                    Err(storage::StoreError::NotFound { .. }) => Ok(Some(mask)),
                    Err(error) => Err(error.into()),
                }
            }
            _ => Ok(Some(mask)),
        }
    }

    /// Tickets as a caller may see them.
    pub(crate) async fn seen_tickets(
        &self,
        caller: &Caller,
        tickets: Vec<Ticket>,
    ) -> Result<Vec<Ticket>, DeskError> {
        let customers = tickets.iter().map(|ticket| ticket.customer);
        let mask = self.mask_of(caller, customers).await?;
        Ok(seen(mask.as_ref(), tickets))
    }

    /// A ticket as a caller may see it.
    pub(crate) async fn seen_ticket(
        &self,
        caller: &Caller,
        ticket: Ticket,
    ) -> Result<Ticket, DeskError> {
        let mask = self.mask_of(caller, [ticket.customer]).await?;
        Ok(seen(mask.as_ref(), ticket))
    }

    /// A text as a caller may see it, for what comes from no record: messages, arguments that are repeated, stored answers.
    pub fn seen_text<'t>(&self, caller: &Caller, text: &'t str) -> Cow<'t, str> {
        let masked = self.mask(caller).and_then(|mask| mask.masked(text));
        masked.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Whether a caller may look for something by this text: not for contacts that they may not see, since whether something
    /// is found tells as much.
    pub fn may_look_for(&self, caller: &Caller, text: &str) -> bool {
        caller.scopes.contains(Scope::CustomersPii) || contacts(text, &[]).is_empty()
    }
}

#[cfg(test)]
mod tests;
