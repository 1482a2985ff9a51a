//! What a write would do, from the rows as they are.

use std::fmt::Write as _;

use diesel::prelude::*;
use domain::{
    CategoryKind, Change, CustomerId, Deleted, EntityKind, FieldValue, ForbiddenTransition,
    GuardedWrite, OpenWrite, Status, Ticket, TicketId, TicketPatch,
};
use writegate::{ChangeDigest, FieldChange, ScreeningDigest, Value};

use super::{Shown, forbidden};
use crate::StoreError;
use crate::screening::TicketTexts;
use crate::sql::errors::classify;
use crate::sql::page::IDS_AT_ONCE;
use crate::sql::schema::{calls, comments, csat_responses, tickets};
use crate::sql::writer::Tx;
use crate::sql::{categories, customers, flags, tickets as ticket_reads};

/// What a write would find and do.
pub(super) struct Seen {
    /// The version of its record; 0 where it is to be made.
    pub(super) version: i64,
    /// What it would change.
    pub(super) shown: Shown,
    /// The step that the status graph lacks.
    pub(super) forbidden: Option<ForbiddenTransition>,
}

impl Seen {
    fn of(version: i64, change: Change) -> Self {
        Self {
            version,
            shown: Shown {
                change,
                stamp: String::new(),
            },
            forbidden: None,
        }
    }

    fn stamped(self, stamp: String) -> Self {
        Self {
            shown: Shown {
                stamp,
                ..self.shown
            },
            ..self
        }
    }

    fn moved(ticket: &Ticket, to: Status, mut change: Change) -> Self {
        let word = |status: Status| Some(FieldValue::Text(status.as_str().to_owned()));
        change.push("status", word(ticket.status), word(to));
        Self {
            forbidden: forbidden(ticket.status, to),
            ..Self::of(ticket.version.number(), change)
        }
    }
}

/// Looks at everything that a write would touch. Nothing is written.
pub(super) fn inspect(tx: &mut Tx<'_>, write: &GuardedWrite) -> Result<Seen, StoreError> {
    match write {
        GuardedWrite::UpdateTicket { ticket, patch } => update_ticket(tx, *ticket, patch),
        GuardedWrite::PublishComment { ticket, .. }
        | GuardedWrite::RecordPaymentVerification { ticket, .. }
        | GuardedWrite::RecordSecurityReview { ticket, .. } => {
            let ticket = ticket_reads::get(tx.step()?, *ticket)?;
            Ok(Seen::of(
                ticket.version.number(),
                write.arguments().additions(),
            ))
        }
        GuardedWrite::CloseTicket { ticket } => {
            let ticket = ticket_reads::get(tx.step()?, *ticket)?;
            Ok(Seen::moved(&ticket, Status::Closed, Change::default()))
        }
        GuardedWrite::DeleteTicket { ticket } => {
            let ticket = ticket_reads::get(tx.step()?, *ticket)?;
            let deleted = gone_with(tx, &[ticket.id.number()])?;
            Ok(Seen::of(
                ticket.version.number(),
                deleted.with_ticket(&ticket),
            ))
        }
        GuardedWrite::UpdateCustomer { customer, patch } => {
            let found = customers::get(tx.step()?, *customer)?;
            if let Some(email) = &patch.email {
                customers::check_email_free(tx, email, Some(*customer))?;
            }
            Ok(Seen::of(found.version.number(), patch.change(&found)))
        }
        GuardedWrite::DeleteCustomer { customer } => delete_customer(tx, *customer),
        GuardedWrite::Open(write) => open(tx, write),
    }
}

fn update_ticket(tx: &mut Tx<'_>, id: TicketId, patch: &TicketPatch) -> Result<Seen, StoreError> {
    let ticket = ticket_reads::get(tx.step()?, id)?;
    if let Some(slug) = &patch.category {
        check_category(tx, slug)?;
    }
    let moves = patch.status.filter(|to| *to != ticket.status);
    Ok(Seen {
        forbidden: moves.and_then(|to| forbidden(ticket.status, to)),
        ..Seen::of(ticket.version.number(), patch.change(&ticket))
    })
}

fn open(tx: &mut Tx<'_>, write: &OpenWrite) -> Result<Seen, StoreError> {
    let additions = || write.arguments().additions();
    match write {
        OpenWrite::CreateCustomer { new } => {
            customers::check_email_free(tx, &new.email, None)?;
            Ok(Seen::of(0, additions()))
        }
        OpenWrite::CreateTicket { new } => {
            customers::get(tx.step()?, new.customer)?;
            check_category(tx, &new.category)?;
            Ok(Seen::of(0, additions()))
        }
        OpenWrite::AssignTicket { ticket, assignment } => {
            let patch = TicketPatch {
                team: assignment.team.clone(),
                assignee: assignment.assignee.clone(),
                ..TicketPatch::default()
            };
            update_ticket(tx, *ticket, &patch)
        }
        OpenWrite::AddComment { ticket, .. } => {
            let ticket = ticket_reads::get(tx.step()?, *ticket)?;
            Ok(Seen::of(ticket.version.number(), additions()))
        }
        OpenWrite::MoveTicket { ticket, to } => {
            let ticket = ticket_reads::get(tx.step()?, *ticket)?;
            Ok(Seen::moved(&ticket, to.status(), Change::default()))
        }
        OpenWrite::ResolveTicket { ticket, .. } => {
            let ticket = ticket_reads::get(tx.step()?, *ticket)?;
            Ok(Seen::moved(&ticket, Status::Resolved, additions()))
        }
    }
}

/// A ticket of theirs may change while the customer's own row stays, so the stamp covers every one of them.
fn delete_customer(tx: &mut Tx<'_>, id: CustomerId) -> Result<Seen, StoreError> {
    let customer = customers::get(tx.step()?, id)?;
    let owned: Vec<(i64, i64)> = tickets::table
        .filter(tickets::customer_id.eq(id.number()))
        .order(tickets::id)
        .select((tickets::id, tickets::version))
        .load(tx.step()?)
        .map_err(classify)?;
    let ids: Vec<i64> = owned.iter().map(|(id, _)| *id).collect();
    let mut deleted = gone_with(tx, &ids)?;
    deleted.unlinked_calls = calls::table
        .filter(
            calls::customer_id
                .eq(id.number())
                .or(calls::ticket_id.eq_any(
                    tickets::table
                        .filter(tickets::customer_id.eq(id.number()))
                        .select(tickets::id.nullable()),
                )),
        )
        .count()
        .get_result(tx.step()?)
        .map_err(classify)?;
    deleted.tickets = ids.into_iter().map(TicketId::new).collect();
    let seen = Seen::of(customer.version.number(), deleted.with_customer(&customer));
    Ok(seen.stamped(stamp(&owned)))
}

/// What goes along with these tickets.
fn gone_with(tx: &mut Tx<'_>, tickets: &[i64]) -> Result<Deleted, StoreError> {
    let mut gone = Deleted::default();
    for some in tickets.chunks(IDS_AT_ONCE) {
        gone.comments += comments::table
            .filter(comments::ticket_id.eq_any(some))
            .count()
            .get_result::<i64>(tx.step()?)
            .map_err(classify)?;
        gone.scores += csat_responses::table
            .filter(csat_responses::ticket_id.eq_any(some))
            .count()
            .get_result::<i64>(tx.step()?)
            .map_err(classify)?;
        gone.unlinked_calls += calls::table
            .filter(calls::ticket_id.eq_any(some))
            .count()
            .get_result::<i64>(tx.step()?)
            .map_err(classify)?;
    }
    Ok(gone)
}

fn stamp(versions: &[(i64, i64)]) -> String {
    let rows: Vec<FieldChange<'_>> = versions
        .iter()
        .map(|(id, version)| FieldChange {
            field: "ticket",
            before: Some(Value::Int(*id)),
            after: Some(Value::Int(*version)),
        })
        .collect();
    let digest = ChangeDigest::of(&rows);
    let mut text = String::with_capacity(64);
    for byte in digest.as_bytes() {
        // Writing to a string can't fail.
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

/// What the guardrail has to say a word about: whatever of it moves, even where no version does, needs a new preview. A
/// customer's new name, for one, is read with their tickets and can flag them.
pub(super) fn screening(
    tx: &mut Tx<'_>,
    write: &GuardedWrite,
) -> Result<ScreeningDigest, StoreError> {
    if let GuardedWrite::PublishComment { ticket, .. } = write {
        let texts = flags::texts(tx.step()?, *ticket)?;
        return Ok(texts_digest(&texts));
    }
    match write.entity() {
        (EntityKind::Ticket, id) if id != 0 => {
            let ticket = ticket_reads::get(tx.step()?, TicketId::new(id))?;
            Ok(ScreeningDigest::of(&[ticket.security_flag.as_str()]))
        }
        _ => Ok(ScreeningDigest::of(&[])),
    }
}

/// Each part is preceded by what it is, so that no text can stand for another's place.
fn texts_digest(texts: &TicketTexts) -> ScreeningDigest {
    let mut parts = vec![
        ("flag".to_owned(), texts.ticket.security_flag.as_str()),
        ("category".to_owned(), &texts.ticket.category),
        ("subject".to_owned(), &texts.ticket.subject),
        ("description".to_owned(), &texts.ticket.description),
        ("name".to_owned(), &texts.customer.name),
    ];
    let optional = [
        ("organisation", texts.customer.organisation.as_deref()),
        ("lifted", texts.lifted.map(domain::SecurityFlag::as_str)),
        (
            "channel on file",
            texts
                .payment
                .as_ref()
                .map(|found| found.channel_on_file.as_str()),
        ),
    ];
    let given = optional.into_iter();
    parts.extend(given.filter_map(|(what, text)| Some((what.to_owned(), text?))));
    let comments = texts.comments.iter();
    parts.extend(comments.map(|comment| (comment.id.to_string(), comment.body.as_str())));
    let transcripts = texts.transcripts.iter();
    parts.extend(transcripts.map(|text| ("transcript".to_owned(), text.as_str())));
    let flat: Vec<&str> = parts
        .iter()
        .flat_map(|(what, text)| [what.as_str(), text])
        .collect();
    ScreeningDigest::of(&flat)
}

fn check_category(tx: &mut Tx<'_>, slug: &str) -> Result<(), StoreError> {
    let known = categories::list(tx.step()?)?;
    categories::check(&known, slug, |kind: CategoryKind| kind.tickets).map_err(|unknown| {
        StoreError::UnknownCategory {
            given: unknown.given,
            allowed: unknown.allowed,
        }
    })
}

/// Whether the store failed, and not the write.
pub(super) const fn is_fault(error: &StoreError) -> bool {
    match error {
        StoreError::Busy
        | StoreError::Full
        | StoreError::Unavailable(_)
        | StoreError::OutcomeUnknown(_)
        | StoreError::Internal(_) => true,
        StoreError::NotFound { .. }
        | StoreError::Stale { .. }
        | StoreError::DuplicateEmail
        | StoreError::Flagged { .. }
        | StoreError::UnknownCategory { .. } => false,
    }
}

/// Whether this says that the record of a write is gone, or something that it needs.
pub(super) fn is_gone(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NotFound {
            entity: EntityKind::Ticket | EntityKind::Customer,
            ..
        }
    )
}
