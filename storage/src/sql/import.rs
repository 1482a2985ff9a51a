//! Bringing in rows of another system: one job, a savepoint for each row, an audit row for each change.

mod articles;

use diesel::prelude::*;
use domain::{
    Act, Action, AuditRecord, CallId, Category, CategoryKind, CustomerId, EntityKind, Outcome,
    TicketId, Version, text,
};

use super::categories::{self, cut};
use super::errors::classify;
use super::rows::write_turns;
use super::schema::{calls, csat_responses, customers as customer_rows, external_ids};
use super::ticket_writes::{self, CommentEntry};
use super::writer::{Savepoint, Tx};
use super::{audit, customers};
use crate::StoreError;
use crate::import::{
    Counts, ImportCall, ImportComment, ImportCsat, ImportCsatSubject, ImportCustomer, ImportRecord,
    ImportRefusal, ImportReport, ImportRow, ImportTicket, OnError, RecordKind,
};

/// The kinds of things that another system has ids for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Customer,
    Ticket,
    Comment,
    Call,
    Csat,
}

impl Kind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Ticket => "ticket",
            Self::Comment => "comment",
            Self::Call => "call",
            Self::Csat => "csat",
        }
    }

    const fn plural(self) -> &'static str {
        match self {
            Self::Customer => "customers",
            Self::Ticket => "tickets",
            Self::Comment => "comments",
            Self::Call => "calls",
            Self::Csat => "scores",
        }
    }
}

/// What became of a good row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Created,
    Updated,
    Existing,
}

/// Why a row was not taken: the row is bad, or the store is.
enum NotTaken {
    Refused(ImportRefusal),
    Failed(StoreError),
}

impl From<ImportRefusal> for NotTaken {
    fn from(refusal: ImportRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for NotTaken {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// Imports rows. With [`OnError::Abort`] every row is still looked at after a bad one, so that one run names them all.
pub(super) fn import(
    tx: &mut Tx<'_>,
    act: &Act,
    rows: &mut (dyn Iterator<Item = ImportRow> + Send),
    on_error: OnError,
) -> Result<ImportReport, StoreError> {
    let categories = categories::list(tx.step()?)?;
    tx.savepoint("import", |tx| {
        let mut report = ImportReport::default();
        for row in rows {
            let kind = row.record.kind();
            let taken = tx.savepoint("import_row", |tx| {
                match take(tx, act, &categories, &row.record) {
                    Ok(taken) => Ok(Savepoint::Keep(Ok(taken))),
                    Err(NotTaken::Refused(refusal)) => Ok(Savepoint::Undo(Err(refusal))),
                    Err(NotTaken::Failed(error)) => Err(error),
                }
            })?;
            count(&mut report, kind, &taken);
            if let Err(refusal) = taken
                && report.refused.len() < ImportReport::REFUSALS_LISTED
            {
                report.refused.push((row.place, refusal));
            }
        }
        if on_error == OnError::Abort && report.refused_count > 0 {
            report.aborted = true;
            report.created = 0;
            report.updated = 0;
            for counts in &mut report.kinds {
                counts.created = 0;
                counts.updated = 0;
            }
            return Ok::<_, StoreError>(Savepoint::Undo(report));
        }
        Ok(Savepoint::Keep(report))
    })
}

/// Counts a row, in all and under its kind.
fn count(report: &mut ImportReport, kind: RecordKind, taken: &Result<Taken, ImportRefusal>) {
    let mut spare = Counts::default();
    let counts = report.kinds.get_mut(kind as usize).unwrap_or(&mut spare);
    let (total, of_kind) = match taken {
        Ok(Taken::Created) => (&mut report.created, &mut counts.created),
        Ok(Taken::Updated) => (&mut report.updated, &mut counts.updated),
        Ok(Taken::Existing) => (&mut report.existing, &mut counts.existing),
        Err(_refusal) => (&mut report.refused_count, &mut counts.refused),
    };
    *total += 1;
    *of_kind += 1;
}

fn take(
    tx: &mut Tx<'_>,
    act: &Act,
    categories: &[Category],
    record: &ImportRecord,
) -> Result<Taken, NotTaken> {
    match record {
        ImportRecord::Customer(row) => take_customer(tx, act, row),
        ImportRecord::Ticket(row) => take_ticket(tx, act, categories, row),
        ImportRecord::Comment(row) => take_comment(tx, act, row),
        ImportRecord::Call(row) => take_call(tx, act, categories, row),
        ImportRecord::Csat(row) => take_csat(tx, act, categories, row),
        ImportRecord::Article(row) => articles::take_article(tx, act, categories, row),
    }
}

/// The number of a thing by the other system's id.
fn known(tx: &mut Tx<'_>, kind: Kind, external_id: &str) -> Result<Option<i64>, StoreError> {
    external_ids::table
        .find((kind.as_str(), external_id))
        .select(external_ids::entity_id)
        .first(tx.step()?)
        .optional()
        .map_err(classify)
}

fn remember(
    tx: &mut Tx<'_>,
    kind: Kind,
    external_id: &str,
    entity_id: i64,
) -> Result<(), StoreError> {
    diesel::insert_into(external_ids::table)
        .values((
            external_ids::kind.eq(kind.as_str()),
            external_ids::external_id.eq(external_id),
            external_ids::entity_id.eq(entity_id),
        ))
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

fn unknown(field: &'static str, given: &str, wanted: Kind) -> NotTaken {
    ImportRefusal::UnknownReference {
        field,
        given: cut(given),
        wanted: wanted.plural(),
    }
    .into()
}

fn referred(
    tx: &mut Tx<'_>,
    field: &'static str,
    kind: Kind,
    external_id: &str,
) -> Result<i64, NotTaken> {
    known(tx, kind, external_id)?.ok_or_else(|| unknown(field, external_id, kind))
}

fn customer_by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<CustomerId>, StoreError> {
    customer_rows::table
        .filter(customer_rows::email_folded.eq(text::fold(email)))
        .select(customer_rows::id)
        .first(tx.step()?)
        .optional()
        .map(|id| id.map(CustomerId::new))
        .map_err(classify)
}

/// A customer by the other system's id or by e-mail address.
fn referred_customer(tx: &mut Tx<'_>, given: &str) -> Result<CustomerId, NotTaken> {
    if let Some(id) = known(tx, Kind::Customer, given)? {
        return Ok(CustomerId::new(id));
    }
    customer_by_email(tx, given)?.ok_or_else(|| unknown("customer", given, Kind::Customer))
}

fn check_category(
    categories: &[Category],
    slug: &str,
    fits: impl Fn(CategoryKind) -> bool,
) -> Result<(), ImportRefusal> {
    categories::check(categories, slug, fits).map_err(|unknown| ImportRefusal::UnknownCategory {
        given: unknown.given,
        allowed: unknown.allowed,
    })
}

fn note(
    tx: &mut Tx<'_>,
    act: &Act,
    entity: EntityKind,
    id: i64,
    before: Option<Version>,
    after: Version,
) -> Result<(), StoreError> {
    let record = AuditRecord {
        action: Action::Import,
        entity,
        entity_id: Some(id),
        version_before: before,
        version_after: Some(after),
        outcome: Outcome::Applied,
        code: None,
        facts: Vec::new(),
    };
    audit::append(tx, act, &record)
}

fn take_customer(tx: &mut Tx<'_>, act: &Act, row: &ImportCustomer) -> Result<Taken, NotTaken> {
    if let Some(external_id) = &row.external_id
        && known(tx, Kind::Customer, external_id)?.is_some()
    {
        return Ok(Taken::Existing);
    }
    if let Some(id) = customer_by_email(tx, &row.email)? {
        if let Some(external_id) = &row.external_id {
            link_customer(tx, act, id, external_id)?;
        }
        return Ok(Taken::Existing);
    }
    let id = customers::insert(
        tx,
        &customers::Entry {
            name: &row.name,
            email: &row.email,
            phone: row.phone.as_deref(),
            organisation: row.organisation.as_deref(),
            status: row.status,
            created_at: row.created_at,
            updated_at: row.updated_at,
        },
    )?;
    if let Some(external_id) = &row.external_id {
        remember(tx, Kind::Customer, external_id, id.number())?;
    }
    note(
        tx,
        act,
        EntityKind::Customer,
        id.number(),
        None,
        Version::FIRST,
    )?;
    Ok(Taken::Created)
}

/// Gives a customer who came without an external id the one by which later rows will refer to them. One who has another
/// is another customer. It is a change of the record, so the version says so.
fn link_customer(
    tx: &mut Tx<'_>,
    act: &Act,
    id: CustomerId,
    external_id: &str,
) -> Result<(), NotTaken> {
    let others: i64 = external_ids::table
        .filter(external_ids::kind.eq(Kind::Customer.as_str()))
        .filter(external_ids::entity_id.eq(id.number()))
        .count()
        .get_result(tx.step()?)
        .map_err(classify)?;
    if others > 0 {
        return Err(ImportRefusal::DuplicateEmail.into());
    }
    remember(tx, Kind::Customer, external_id, id.number())?;
    let customer = customers::get(tx.step()?, id)?;
    let after = customer.version.next();
    diesel::update(
        customer_rows::table
            .find(id.number())
            .filter(customer_rows::version.eq(customer.version.number())),
    )
    .set((
        customer_rows::version.eq(after.number()),
        customer_rows::updated_at.eq(act.at.max(customer.updated_at).micros()),
    ))
    .execute(tx.step()?)
    .map_err(classify)?;
    Ok(note(
        tx,
        act,
        EntityKind::Customer,
        id.number(),
        Some(customer.version),
        after,
    )?)
}

fn take_ticket(
    tx: &mut Tx<'_>,
    act: &Act,
    categories: &[Category],
    row: &ImportTicket,
) -> Result<Taken, NotTaken> {
    if known(tx, Kind::Ticket, &row.external_id)?.is_some() {
        return Ok(Taken::Existing);
    }
    let customer = referred_customer(tx, &row.customer)?;
    check_category(categories, &row.category, |kind| kind.tickets)?;
    let (id, _new_team) = ticket_writes::insert(
        tx,
        &ticket_writes::Entry {
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
        },
    )?;
    remember(tx, Kind::Ticket, &row.external_id, id.number())?;
    note(
        tx,
        act,
        EntityKind::Ticket,
        id.number(),
        None,
        Version::FIRST,
    )?;
    Ok(Taken::Created)
}

fn take_comment(tx: &mut Tx<'_>, act: &Act, row: &ImportComment) -> Result<Taken, NotTaken> {
    if known(tx, Kind::Comment, &row.external_id)?.is_some() {
        return Ok(Taken::Existing);
    }
    let ticket = referred(tx, "ticket", Kind::Ticket, &row.ticket)?;
    let id = ticket_writes::import_comment(
        tx,
        act,
        &CommentEntry {
            ticket: TicketId::new(ticket),
            author: &row.author,
            origin: row.origin,
            visibility: row.visibility,
            body: &row.body,
            created_at: row.created_at,
        },
    )?;
    remember(tx, Kind::Comment, &row.external_id, id.number())?;
    Ok(Taken::Created)
}

fn take_call(
    tx: &mut Tx<'_>,
    act: &Act,
    categories: &[Category],
    row: &ImportCall,
) -> Result<Taken, NotTaken> {
    if known(tx, Kind::Call, &row.external_id)?.is_some() {
        return Ok(Taken::Existing);
    }
    let customer = match &row.customer {
        Some(given) => Some(referred_customer(tx, given)?.number()),
        None => None,
    };
    let ticket = match &row.ticket {
        Some(given) => Some(referred(tx, "ticket", Kind::Ticket, given)?),
        None => None,
    };
    check_category(categories, &row.category, |kind| kind.calls)?;
    let turns = write_turns(&row.turns).map_err(|error| StoreError::Internal(error.into()))?;
    let id: CallId = diesel::insert_into(calls::table)
        .values((
            calls::customer_id.eq(customer),
            calls::ticket_id.eq(ticket),
            calls::started_at.eq(row.started_at.micros()),
            calls::duration_seconds.eq(i64::from(row.duration_seconds)),
            calls::agent.eq(&row.agent),
            calls::category.eq(&row.category),
            calls::outcome.eq(row.outcome.as_str()),
            calls::turns.eq(turns),
        ))
        .returning(calls::id)
        .get_result(tx.step()?)
        .map(CallId::new)
        .map_err(classify)?;
    remember(tx, Kind::Call, &row.external_id, id.number())?;
    note(tx, act, EntityKind::Call, id.number(), None, Version::FIRST)?;
    Ok(Taken::Created)
}

fn take_csat(
    tx: &mut Tx<'_>,
    act: &Act,
    categories: &[Category],
    row: &ImportCsat,
) -> Result<Taken, NotTaken> {
    if known(tx, Kind::Csat, &row.external_id)?.is_some() {
        return Ok(Taken::Existing);
    }
    let (call, ticket) = match &row.subject {
        ImportCsatSubject::Call(given) => (Some(referred(tx, "call", Kind::Call, given)?), None),
        ImportCsatSubject::Ticket(given) => {
            (None, Some(referred(tx, "ticket", Kind::Ticket, given)?))
        }
    };
    check_category(categories, &row.category, |kind| kind.calls)?;
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
        .get_result(tx.step()?)
        .map_err(classify)?;
    remember(tx, Kind::Csat, &row.external_id, id)?;
    note(tx, act, EntityKind::Csat, id, None, Version::FIRST)?;
    Ok(Taken::Created)
}
