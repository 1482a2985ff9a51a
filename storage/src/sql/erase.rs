//! Erasing a person on request: everything that they said or that was said to them goes, and a row of the log says that.
//!
//! A deletion keeps calls, since the desk learns from them; an erasure does not. What is left of the person are ids: in the
//! audit log, which holds no text of customers, and among the ids of other systems, so that an import of the same export
//! does not bring them back.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use domain::{
    Act, Action, AuditRecord, CallId, CustomerId, EntityKind, GuardedWrite, Outcome, TicketId,
};

use super::connection::{AnyConnection, Engine};
use super::errors::classify;
use super::page::IDS_AT_ONCE;
use super::schema::{
    call_terms, calls, comments, csat_responses, customers, idempotency_keys, pending_changes,
    tickets,
};
use super::writer::Tx;
use super::{audit, flags, words};
use crate::{Erased, StoreError};

/// Operations whose `entity_id` is a customer's; those of all others are tickets'.
const ABOUT_CUSTOMERS: [&str; 2] = ["update_customer", "delete_customer"];

/// Erases a customer with their tickets, calls and scores, and what confirmations and kept answers repeat of them.
///
/// Refused while a ticket of theirs is an incident, as a deletion is: it is the evidence.
pub(super) fn erase_customer(
    tx: &mut Tx<'_>,
    act: &Act,
    id: CustomerId,
) -> Result<Erased, StoreError> {
    let customer = super::customers::get(tx.step()?, id)?;
    flags::check(tx, &GuardedWrite::DeleteCustomer { customer: id })?;
    let owned: Vec<i64> = tickets::table
        .filter(tickets::customer_id.eq(id.number()))
        .order(tickets::id)
        .select(tickets::id)
        .load(tx.step()?)
        .map_err(classify)?;
    overwrite(tx.step()?, true)?;
    let mut erased = Erased {
        tickets: owned.len(),
        ..Erased::default()
    };
    let spoken = calls_of(tx, id, &owned)?;
    for some in spoken.chunks(IDS_AT_ONCE) {
        erased.scores += csat_responses::table
            .filter(csat_responses::call_id.eq_any(some))
            .count()
            .get_result::<i64>(tx.step()?)
            .map_err(classify)?;
        diesel::delete(call_terms::table.filter(call_terms::rowid.eq_any(some)))
            .execute(tx.step()?)
            .map_err(classify)?;
        erased.calls += diesel::delete(calls::table.filter(calls::id.eq_any(some)))
            .execute(tx.step()?)
            .map_err(classify)?;
    }
    for some in owned.chunks(IDS_AT_ONCE) {
        erased.scores += csat_responses::table
            .filter(csat_responses::ticket_id.eq_any(some))
            .count()
            .get_result::<i64>(tx.step()?)
            .map_err(classify)?;
        erased.comments += comments::table
            .filter(comments::ticket_id.eq_any(some))
            .count()
            .get_result::<i64>(tx.step()?)
            .map_err(classify)?;
    }
    erased.confirmations = forget_confirmations(tx, id, &owned)?;
    erased.answers = forget_answers(tx, id, &owned, &spoken)?;
    words::forget_tickets(tx, &owned)?;
    diesel::delete(customers::table.find(id.number()))
        .execute(tx.step()?)
        .map_err(classify)?;
    merge_indexes(tx.step()?)?;
    overwrite(tx.step()?, false)?;
    let record = AuditRecord {
        action: Action::EraseCustomer,
        entity: EntityKind::Customer,
        entity_id: Some(id.number()),
        version_before: Some(customer.version),
        version_after: None,
        outcome: Outcome::Applied,
        code: None,
        facts: vec![
            ("tickets", erased.tickets.to_string()),
            ("comments", erased.comments.to_string()),
            ("calls", erased.calls.to_string()),
            ("scores", erased.scores.to_string()),
            ("confirmations", erased.confirmations.to_string()),
            ("answers", erased.answers.to_string()),
        ],
    };
    audit::append(tx, act, &record)?;
    Ok(erased)
}

/// Calls of the customer, and calls about one of their tickets whose caller nobody noted.
fn calls_of(tx: &mut Tx<'_>, id: CustomerId, owned: &[i64]) -> Result<Vec<i64>, StoreError> {
    let mut found: Vec<i64> = calls::table
        .filter(calls::customer_id.eq(id.number()))
        .select(calls::id)
        .load(tx.step()?)
        .map_err(classify)?;
    for some in owned.chunks(IDS_AT_ONCE) {
        let more: Vec<i64> = calls::table
            .filter(calls::customer_id.is_null())
            .filter(calls::ticket_id.eq_any(some))
            .select(calls::id)
            .load(tx.step()?)
            .map_err(classify)?;
        found.extend(more);
    }
    found.sort_unstable();
    Ok(found)
}

/// Confirmations hold what was to be changed, before and after. Those of records that did not exist yet name no record, so
/// all of them go: whoever waits for one asks again.
fn forget_confirmations(
    tx: &mut Tx<'_>,
    id: CustomerId,
    owned: &[i64],
) -> Result<usize, StoreError> {
    let mut gone = diesel::delete(
        pending_changes::table
            .filter(pending_changes::operation.eq_any(ABOUT_CUSTOMERS))
            .filter(pending_changes::entity_id.eq(id.number())),
    )
    .execute(tx.step()?)
    .map_err(classify)?;
    let mut about = owned.to_vec();
    about.push(0);
    for some in about.chunks(IDS_AT_ONCE) {
        gone += diesel::delete(
            pending_changes::table
                .filter(pending_changes::operation.ne_all(ABOUT_CUSTOMERS))
                .filter(pending_changes::entity_id.eq_any(some)),
        )
        .execute(tx.step()?)
        .map_err(classify)?;
    }
    Ok(gone)
}

/// Kept answers repeat the records that they are about. They are kept for a day, so all of them are looked at.
fn forget_answers(
    tx: &mut Tx<'_>,
    id: CustomerId,
    owned: &[i64],
    spoken: &[i64],
) -> Result<usize, StoreError> {
    let names: Vec<String> = std::iter::once(id.to_string())
        .chain(owned.iter().map(|id| TicketId::new(*id).to_string()))
        .chain(spoken.iter().map(|id| CallId::new(*id).to_string()))
        .collect();
    let kept: Vec<(String, String, String, String)> = idempotency_keys::table
        .select((
            idempotency_keys::actor,
            idempotency_keys::tool,
            idempotency_keys::key,
            idempotency_keys::answer,
        ))
        .load(tx.step()?)
        .map_err(classify)?;
    let mut gone = 0;
    for (actor, tool, key, answer) in kept {
        if names.iter().any(|name| mentions(&answer, name)) {
            gone += diesel::delete(idempotency_keys::table.find((actor, tool, key)))
                .execute(tx.step()?)
                .map_err(classify)?;
        }
    }
    Ok(gone)
}

/// Whether a text holds an id, and not a longer one that begins or ends like it.
fn mentions(text: &str, id: &str) -> bool {
    text.match_indices(id).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + id.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(|c| c.is_ascii_digit())
    })
}

/// Has SQLite write zeros over what is deleted; it would leave the bytes in the file's free pages. A server's tables are
/// cleaned by its own vacuum.
fn overwrite(conn: &mut AnyConnection, on: bool) -> Result<(), StoreError> {
    match conn.engine() {
        Engine::Sqlite => conn
            .batch_execute(if on {
                "PRAGMA secure_delete = ON"
            } else {
                "PRAGMA secure_delete = OFF"
            })
            .map_err(classify),
        Engine::Postgres => Ok(()),
    }
}

/// SQLite's full-text index keeps deleted words until its parts are merged.
fn merge_indexes(conn: &mut AnyConnection) -> Result<(), StoreError> {
    match conn.engine() {
        Engine::Sqlite => conn
            .batch_execute(
                "INSERT INTO ticket_terms (ticket_terms) VALUES ('optimize'); \
                 INSERT INTO call_terms (call_terms) VALUES ('optimize')",
            )
            .map_err(classify),
        Engine::Postgres => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    //! What counts as a mention.

    use super::mentions;

    #[test]
    fn an_id_is_found_whole_and_not_in_a_longer_one() {
        for (text, found) in [
            (r#"{"ticket_id":"T-12"}"#, true),
            ("T-12", true),
            ("see T-12.", true),
            ("T-123", false),
            ("KB-T-12", true),
            ("XT-12", false),
            ("T-1", false),
        ] {
            assert_eq!(mentions(text, "T-12"), found, "{text}");
        }
    }
}
