//! Bringing in rows of another system: one job, and an audit row for each change.

mod articles;
mod calls;
mod customers;
mod tickets;

use diesel::prelude::*;
use domain::{
    Act, Action, AuditRecord, Category, CategoryKind, CustomerId, EntityKind, Outcome, Version,
    text,
};

use super::audit;
use super::categories::{self, cut};
use super::errors::classify;
use super::schema::{customers as customer_rows, external_ids};
use super::words::WordQueue;
use super::writer::{Savepoint, Tx};
use crate::StoreError;
use crate::import::{
    Counts, ImportRecord, ImportRefusal, ImportReport, ImportRow, OnError, RecordKind,
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
///
/// A row needs no savepoint of its own: whatever can be wrong with it is found before its first write, and what writes it
/// (the `write_*` functions) can't refuse. A savepoint for each row doubled the time of an import.
pub(super) fn import(
    tx: &mut Tx<'_>,
    act: &Act,
    rows: &mut (dyn Iterator<Item = ImportRow> + Send),
    on_error: OnError,
) -> Result<ImportReport, StoreError> {
    let categories = categories::list(tx.step()?)?;
    tx.savepoint("import", |tx| {
        let mut import = Import {
            tx,
            act,
            categories,
            words: WordQueue::default(),
        };
        let mut report = ImportReport::default();
        for row in rows {
            let kind = row.record.kind();
            let taken = match import.take(&row.record) {
                Ok(taken) => Ok(taken),
                Err(NotTaken::Refused(refusal)) => Err(refusal),
                Err(NotTaken::Failed(error)) => return Err(error),
            };
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
            return Ok(Savepoint::Undo(report));
        }
        import.words.write(import.tx)?;
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

/// An import that is going on.
struct Import<'a, 'tx> {
    tx: &'a mut Tx<'tx>,
    act: &'a Act,
    categories: Vec<Category>,
    words: WordQueue,
}

impl Import<'_, '_> {
    fn take(&mut self, record: &ImportRecord) -> Result<Taken, NotTaken> {
        match record {
            ImportRecord::Customer(row) => self.take_customer(row),
            ImportRecord::Ticket(row) => self.take_ticket(row),
            ImportRecord::Comment(row) => self.take_comment(row),
            ImportRecord::Call(row) => self.take_call(row),
            ImportRecord::Csat(row) => self.take_csat(row),
            ImportRecord::Article(row) => self.take_article(row),
        }
    }

    /// The number of a thing by the other system's id.
    fn known(&mut self, kind: Kind, external_id: &str) -> Result<Option<i64>, StoreError> {
        external_ids::table
            .find((kind.as_str(), external_id))
            .select(external_ids::entity_id)
            .get_result(self.tx.step()?)
            .optional()
            .map_err(classify)
    }

    /// The number of a thing that a row refers to.
    fn referred(
        &mut self,
        field: &'static str,
        kind: Kind,
        external_id: &str,
    ) -> Result<i64, NotTaken> {
        self.known(kind, external_id)?
            .ok_or_else(|| unknown(field, external_id, kind))
    }

    /// A customer by the other system's id or by e-mail address.
    fn referred_customer(&mut self, given: &str) -> Result<CustomerId, NotTaken> {
        if let Some(id) = self.known(Kind::Customer, given)? {
            return Ok(CustomerId::new(id));
        }
        self.customer_by_email(given)?
            .ok_or_else(|| unknown("customer", given, Kind::Customer))
    }

    fn customer_by_email(&mut self, email: &str) -> Result<Option<CustomerId>, StoreError> {
        customer_rows::table
            .filter(customer_rows::email_folded.eq(text::fold(email)))
            .select(customer_rows::id)
            .get_result(self.tx.step()?)
            .optional()
            .map(|id| id.map(CustomerId::new))
            .map_err(classify)
    }

    fn check_category(
        &self,
        slug: &str,
        fits: impl Fn(CategoryKind) -> bool,
    ) -> Result<(), ImportRefusal> {
        categories::check(&self.categories, slug, fits).map_err(|unknown| {
            ImportRefusal::UnknownCategory {
                given: unknown.given,
                allowed: unknown.allowed,
            }
        })
    }

    /// Remembers what the other system calls a thing.
    fn remember(&mut self, kind: Kind, external_id: &str, id: i64) -> Result<(), StoreError> {
        diesel::insert_into(external_ids::table)
            .values((
                external_ids::kind.eq(kind.as_str()),
                external_ids::external_id.eq(external_id),
                external_ids::entity_id.eq(id),
            ))
            .execute(self.tx.step()?)
            .map(drop)
            .map_err(classify)
    }

    /// Appends the audit row of a thing that was brought in or changed.
    fn note(
        &mut self,
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
        audit::append(self.tx, self.act, &record)
    }
}

fn unknown(field: &'static str, given: &str, wanted: Kind) -> NotTaken {
    ImportRefusal::UnknownReference {
        field,
        given: cut(given),
        wanted: wanted.plural(),
    }
    .into()
}
