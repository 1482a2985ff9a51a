//! Calls and scores.

use diesel::prelude::*;
use domain::{CustomerId, EntityKind, TicketId, Version, text};

use super::{Import, Kind, NotTaken, Taken};
use crate::StoreError;
use crate::import::{ImportCall, ImportCsat, ImportCsatSubject};
use crate::sql::call_words;
use crate::sql::errors::classify;
use crate::sql::rows::write_turns;
use crate::sql::schema::{calls, csat_responses};

impl Import<'_, '_> {
    pub(super) fn take_call(&mut self, row: &ImportCall) -> Result<Taken, NotTaken> {
        if self.known(Kind::Call, &row.external_id)?.is_some() {
            return Ok(Taken::Existing);
        }
        let customer = match &row.customer {
            Some(given) => Some(self.referred_customer(given)?),
            None => None,
        };
        let ticket = match &row.ticket {
            Some(given) => Some(self.referred("ticket", Kind::Ticket, given)?),
            None => None,
        };
        self.check_category(&row.category, |kind| kind.calls)?;
        self.write_call(row, customer, ticket)?;
        Ok(Taken::Created)
    }

    fn write_call(
        &mut self,
        row: &ImportCall,
        customer: Option<CustomerId>,
        ticket: Option<i64>,
    ) -> Result<(), StoreError> {
        let turns = write_turns(&row.turns).map_err(|error| StoreError::Internal(error.into()))?;
        let id: i64 = diesel::insert_into(calls::table)
            .values((
                calls::customer_id.eq(customer.map(CustomerId::number)),
                calls::ticket_id.eq(ticket),
                calls::started_at.eq(row.started_at.micros()),
                calls::duration_seconds.eq(i64::from(row.duration_seconds)),
                calls::agent.eq(&row.agent),
                calls::agent_folded.eq(text::fold(&row.agent)),
                calls::category.eq(&row.category),
                calls::outcome.eq(row.outcome.as_str()),
                calls::turns.eq(turns),
            ))
            .returning(calls::id)
            .get_result(self.tx.step()?)
            .map_err(classify)?;
        call_words::add(self.tx, id, &row.turns)?;
        self.written.extend(ticket.map(TicketId::new));
        self.remember(Kind::Call, &row.external_id, id)?;
        self.note(EntityKind::Call, id, None, Version::FIRST)
    }

    pub(super) fn take_csat(&mut self, row: &ImportCsat) -> Result<Taken, NotTaken> {
        if self.known(Kind::Csat, &row.external_id)?.is_some() {
            return Ok(Taken::Existing);
        }
        let (call, ticket) = match &row.subject {
            ImportCsatSubject::Call(given) => {
                (Some(self.referred("call", Kind::Call, given)?), None)
            }
            ImportCsatSubject::Ticket(given) => {
                (None, Some(self.referred("ticket", Kind::Ticket, given)?))
            }
        };
        self.check_category(&row.category, |kind| kind.calls)?;
        self.write_csat(row, call, ticket)?;
        Ok(Taken::Created)
    }

    fn write_csat(
        &mut self,
        row: &ImportCsat,
        call: Option<i64>,
        ticket: Option<i64>,
    ) -> Result<(), StoreError> {
        let id: i64 = diesel::insert_into(csat_responses::table)
            .values((
                csat_responses::call_id.eq(call),
                csat_responses::ticket_id.eq(ticket),
                csat_responses::score.eq(i16::from(row.score)),
                csat_responses::comment.eq(row.comment.as_deref()),
                csat_responses::category.eq(&row.category),
                csat_responses::submitted_at.eq(row.submitted_at.micros()),
            ))
            .returning(csat_responses::id)
            .get_result(self.tx.step()?)
            .map_err(classify)?;
        self.remember(Kind::Csat, &row.external_id, id)?;
        self.note(EntityKind::Csat, id, None, Version::FIRST)
    }
}
