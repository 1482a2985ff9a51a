//! Customers: reading and registering.

use diesel::prelude::*;
use domain::{
    Act, Action, AuditRecord, Customer, CustomerFilter, CustomerId, CustomerOrder, CustomerStatus,
    EntityKind, Keyset, NewCustomer, Outcome, Page, PageRequest, TicketOrder, Timestamp, Version,
    text,
};

use super::audit;
use super::connection::{AnyConnection, MultiBackend};
use super::errors::classify;
use super::page::{self, after};
use super::rows::{self, CustomerRow};
use super::schema::customers;
use super::writer::Tx;
use crate::StoreError;

/// One customer, or none.
pub(super) fn find(
    conn: &mut AnyConnection,
    id: CustomerId,
) -> Result<Option<Customer>, StoreError> {
    let row = customers::table
        .find(id.number())
        .select(CustomerRow::as_select())
        .get_result(conn)
        .optional()
        .map_err(classify)?;
    Ok(row.map(Customer::try_from).transpose()?)
}

/// One customer.
pub(super) fn get(conn: &mut AnyConnection, id: CustomerId) -> Result<Customer, StoreError> {
    find(conn, id)?.ok_or(StoreError::NotFound {
        entity: EntityKind::Customer,
        id: id.number(),
    })
}

/// `LIKE` pattern of texts that contain another, whatever characters that has.
fn contains(part: &str) -> String {
    let mut pattern = String::with_capacity(part.len() + 2);
    pattern.push('%');
    for c in part.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

fn matching(filter: &CustomerFilter) -> customers::BoxedQuery<'_, MultiBackend> {
    let mut query = customers::table.into_boxed();
    if let Some(status) = filter.status {
        query = query.filter(customers::status.eq(status.as_str()));
    }
    if let Some(organisation) = &filter.organisation {
        query = query.filter(customers::organisation_folded.eq(organisation));
    }
    if let Some(email) = &filter.email {
        query = query.filter(customers::email_folded.eq(email));
    }
    if let Some(part) = &filter.query {
        let pattern = contains(part);
        let named = customers::name_folded
            .like(pattern.clone())
            .escape('\\')
            .or(customers::organisation_folded
                .like(pattern.clone())
                .escape('\\')
                .assume_not_null());
        query = if filter.names_only {
            query.filter(named)
        } else {
            query.filter(named.or(customers::email_folded.like(pattern).escape('\\')))
        };
    }
    query
}

fn place(order: CustomerOrder) -> impl Fn(&Customer) -> Keyset {
    move |customer| Keyset {
        key: match order {
            TicketOrder::Newest | TicketOrder::Oldest => customer.created_at.micros(),
            TicketOrder::Updated => customer.updated_at.micros(),
        },
        id: customer.id.number(),
    }
}

/// The customers that match, in an order, from a place on.
pub(super) fn listed(
    filter: &CustomerFilter,
    order: CustomerOrder,
    place: Option<Keyset>,
) -> customers::BoxedQuery<'_, MultiBackend> {
    let query = matching(filter);
    match order {
        TicketOrder::Newest => after!(
            query,
            place,
            customers::created_at,
            customers::id,
            descending
        ),
        TicketOrder::Oldest => {
            after!(
                query,
                place,
                customers::created_at,
                customers::id,
                ascending
            )
        }
        TicketOrder::Updated => after!(
            query,
            place,
            customers::updated_at,
            customers::id,
            descending
        ),
    }
}

/// A page of the customers that match.
pub(super) fn list(
    conn: &mut AnyConnection,
    filter: &CustomerFilter,
    order: CustomerOrder,
    request: PageRequest,
) -> Result<Page<Customer>, StoreError> {
    let found = listed(filter, order, request.after())
        .limit(page::rows_wanted(request))
        .select(CustomerRow::as_select())
        .load(conn)
        .map_err(classify)?;
    page::page(request, rows::all(found)?, place(order), || {
        let counted = matching(filter).select(customers::id).limit(page::COUNTED);
        page::count(conn, counted)
    })
}

/// What is stored of a new customer.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) email: &'a str,
    pub(super) phone: Option<&'a str>,
    pub(super) organisation: Option<&'a str>,
    pub(super) status: CustomerStatus,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// Stores a new customer; a folded address that is taken is [`StoreError::DuplicateEmail`].
pub(super) fn insert(tx: &mut Tx<'_>, entry: &Entry<'_>) -> Result<CustomerId, StoreError> {
    diesel::insert_into(customers::table)
        .values((
            customers::name.eq(entry.name),
            customers::name_folded.eq(text::fold(entry.name)),
            customers::email.eq(entry.email),
            customers::email_folded.eq(text::fold(entry.email)),
            customers::phone.eq(entry.phone),
            customers::organisation.eq(entry.organisation),
            customers::organisation_folded.eq(entry.organisation.map(text::fold)),
            customers::status.eq(entry.status.as_str()),
            customers::created_at.eq(entry.created_at.micros()),
            customers::updated_at.eq(entry.updated_at.micros()),
            customers::version.eq(Version::FIRST.number()),
        ))
        .returning(customers::id)
        .get_result(tx.step()?)
        .map(CustomerId::new)
        .map_err(classify)
}

/// The index decides when it comes to it. But a preview that can only fail there is not worth a person's time, and a server
/// counts up the number of the next customer even where it then refuses the row.
pub(super) fn check_email_free(
    tx: &mut Tx<'_>,
    email: &str,
    but: Option<CustomerId>,
) -> Result<(), StoreError> {
    let holder: Option<i64> = customers::table
        .filter(customers::email_folded.eq(text::fold(email)))
        .select(customers::id)
        .first(tx.step()?)
        .optional()
        .map_err(classify)?;
    match holder {
        Some(id) if but.map(CustomerId::number) != Some(id) => Err(StoreError::DuplicateEmail),
        Some(_) | None => Ok(()),
    }
}

/// Registers a customer.
pub(super) fn create(
    tx: &mut Tx<'_>,
    act: &Act,
    new: &NewCustomer,
) -> Result<Customer, StoreError> {
    check_email_free(tx, &new.email, None)?;
    let id = insert(
        tx,
        &Entry {
            name: &new.name,
            email: &new.email,
            phone: new.phone.as_deref(),
            organisation: new.organisation.as_deref(),
            status: CustomerStatus::Active,
            created_at: act.at,
            updated_at: act.at,
        },
    )?;
    audit::append(
        tx,
        act,
        &AuditRecord {
            action: Action::CreateCustomer,
            entity: EntityKind::Customer,
            entity_id: Some(id.number()),
            version_before: None,
            version_after: Some(Version::FIRST),
            outcome: Outcome::Applied,
            code: None,
            facts: Vec::new(),
        },
    )?;
    get(tx.step()?, id)
}
