//! Guarded changes of customers.

use diesel::prelude::*;
use domain::ticket::Assign;
use domain::{
    Act, Action, AuditRecord, Change, Customer, CustomerId, CustomerPatch, EntityKind, Outcome,
    text,
};
use writegate::Grant;

use super::{audit_deletion, facts, spend};
use crate::sql::errors::{Broken, classify};
use crate::sql::schema::{customers as customer_rows, tickets as ticket_rows};
use crate::sql::writer::Tx;
use crate::sql::{audit, customers, flags, words};
use crate::{Left, StoreError};

fn granted_customer(tx: &mut Tx<'_>, grant: Grant, id: CustomerId) -> Result<Customer, StoreError> {
    let customer = customers::get(tx.step()?, id)?;
    spend(grant, EntityKind::Customer, id.number(), customer.version)?;
    Ok(customer)
}

/// Deletes a customer; their tickets go along with everything on them, their calls stay.
pub(super) fn delete_customer(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    id: CustomerId,
    change: &Change,
) -> Result<Left, StoreError> {
    let customer = granted_customer(tx, grant, id)?;
    let owned: Vec<i64> = ticket_rows::table
        .filter(ticket_rows::customer_id.eq(id.number()))
        .select(ticket_rows::id)
        .load(tx.step()?)
        .map_err(classify)?;
    words::forget_tickets(tx, &owned)?;
    diesel::delete(customer_rows::table.find(id.number()))
        .execute(tx.step()?)
        .map_err(classify)?;
    let entity = (EntityKind::Customer, id.number());
    audit_deletion(
        tx,
        act,
        Action::DeleteCustomer,
        entity,
        customer.version,
        change,
    )?;
    Ok(Left::Nothing)
}

#[derive(AsChangeset)]
#[diesel(table_name = customer_rows)]
struct Named {
    name: String,
    name_folded: String,
}

#[derive(AsChangeset)]
#[diesel(table_name = customer_rows)]
struct Addressed {
    email: String,
    email_folded: String,
}

#[derive(AsChangeset)]
#[diesel(table_name = customer_rows, treat_none_as_null = true)]
struct Reached {
    phone: Option<String>,
}

#[derive(AsChangeset)]
#[diesel(table_name = customer_rows, treat_none_as_null = true)]
struct Employed {
    organisation: Option<String>,
    organisation_folded: Option<String>,
}

/// What becomes of a value that may be absent; `None` where it stays.
fn assigned<T>(assign: &Assign, columns: impl FnOnce(Option<&str>) -> T) -> Option<T> {
    match assign {
        Assign::Keep => None,
        Assign::Set(value) => Some(columns(Some(value))),
        Assign::Clear => Some(columns(None)),
    }
}

/// Changes a customer's record.
pub(super) fn update_customer(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    id: CustomerId,
    patch: &CustomerPatch,
    change: &Change,
) -> Result<Left, StoreError> {
    let customer = granted_customer(tx, grant, id)?;
    let version = customer.version.next();
    let employed = assigned(&patch.organisation, |name| Employed {
        organisation: name.map(str::to_owned),
        organisation_folded: name.map(text::fold),
    });
    let folded = employed.as_ref().map(|new| new.organisation_folded.clone());
    let updated = diesel::update(
        customer_rows::table
            .find(id.number())
            .filter(customer_rows::version.eq(customer.version.number())),
    )
    .set((
        patch.name.as_deref().map(|name| Named {
            name: name.to_owned(),
            name_folded: text::fold(name),
        }),
        patch.email.as_deref().map(|email| Addressed {
            email: email.to_owned(),
            email_folded: text::fold(email),
        }),
        assigned(&patch.phone, |phone| Reached {
            phone: phone.map(str::to_owned),
        }),
        employed,
        patch
            .status
            .map(|status| customer_rows::status.eq(status.as_str())),
        customer_rows::updated_at.eq(act.at.max(customer.updated_at).micros()),
        customer_rows::version.eq(version.number()),
    ))
    .execute(tx.step()?)
    .map_err(classify)?;
    if updated != 1 {
        let cause = Broken("a customer changed while their writer held the lock");
        return Err(StoreError::Internal(cause.into()));
    }
    if let Some(folded) = folded {
        // Tickets repeat it for their lists; that is no change of theirs.
        diesel::update(ticket_rows::table.filter(ticket_rows::customer_id.eq(id.number())))
            .set(ticket_rows::organisation_folded.eq(folded))
            .execute(tx.step()?)
            .map_err(classify)?;
    }
    let mut facts = facts(change);
    if patch.name.is_some() || patch.organisation != Assign::Keep {
        let raised = flags::rescreen_all(tx, id)?;
        if raised > 0 {
            facts.push(("tickets_flagged", raised.to_string()));
        }
    }
    let record = AuditRecord {
        action: Action::UpdateCustomer,
        entity: EntityKind::Customer,
        entity_id: Some(id.number()),
        version_before: Some(customer.version),
        version_after: Some(version),
        outcome: Outcome::Applied,
        code: None,
        facts,
    };
    audit::append(tx, act, &record)?;
    Ok(Left::Customer(customers::get(tx.step()?, id)?))
}
