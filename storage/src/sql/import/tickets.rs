//! Tickets and comments.

use domain::{CustomerId, EntityKind, TicketId, Version};

use super::{Import, Kind, NotTaken, Taken};
use crate::StoreError;
use crate::import::{ImportComment, ImportTicket};
use crate::sql::ticket_writes::{CommentEntry, Entry, import_comment, insert};

impl Import<'_, '_> {
    pub(super) fn take_ticket(&mut self, row: &ImportTicket) -> Result<Taken, NotTaken> {
        if self.known(Kind::Ticket, &row.external_id)?.is_some() {
            return Ok(Taken::Existing);
        }
        let customer = self.referred_customer(&row.customer)?;
        self.check_category(&row.category, |kind| kind.tickets)?;
        self.write_ticket(row, customer)?;
        Ok(Taken::Created)
    }

    fn write_ticket(&mut self, row: &ImportTicket, customer: CustomerId) -> Result<(), StoreError> {
        let entry = Entry {
            customer,
            channel: row.channel,
            subject: &row.subject,
            description: &row.description,
            category: &row.category,
            priority: row.priority,
            status: row.status,
            tier: row.tier,
            team: row.assigned_team.as_deref(),
            assignee: row.assignee.as_deref(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        };
        let (id, _new_team) = insert(self.tx, &mut self.words, &entry)?;
        self.remember(Kind::Ticket, &row.external_id, id.number())?;
        self.note(EntityKind::Ticket, id.number(), None, Version::FIRST)
    }

    pub(super) fn take_comment(&mut self, row: &ImportComment) -> Result<Taken, NotTaken> {
        if self.known(Kind::Comment, &row.external_id)?.is_some() {
            return Ok(Taken::Existing);
        }
        let ticket = self.referred("ticket", Kind::Ticket, &row.ticket)?;
        self.write_comment(row, TicketId::new(ticket))?;
        Ok(Taken::Created)
    }

    fn write_comment(&mut self, row: &ImportComment, ticket: TicketId) -> Result<(), StoreError> {
        let entry = CommentEntry {
            ticket,
            author: &row.author,
            origin: row.origin,
            visibility: row.visibility,
            body: &row.body,
            created_at: row.created_at,
        };
        let id = import_comment(self.tx, self.act, &mut self.words, &entry)?;
        self.remember(Kind::Comment, &row.external_id, id.number())
    }
}
