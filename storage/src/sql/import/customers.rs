//! Customers, who have two keys: the other system's id and their address.

use diesel::prelude::*;
use domain::{CustomerId, EntityKind, Version};

use super::{Import, Kind, NotTaken, Taken};
use crate::StoreError;
use crate::import::{ImportCustomer, ImportRefusal};
use crate::sql::customers::{self as stored, Entry};
use crate::sql::errors::classify;
use crate::sql::schema::{customers, external_ids};

impl Import<'_, '_> {
    pub(super) fn take_customer(&mut self, row: &ImportCustomer) -> Result<Taken, NotTaken> {
        if let Some(external_id) = &row.external_id
            && self.known(Kind::Customer, external_id)?.is_some()
        {
            return Ok(Taken::Existing);
        }
        let Some(id) = self.customer_by_email(&row.email)? else {
            self.write_customer(row)?;
            return Ok(Taken::Created);
        };
        if let Some(external_id) = &row.external_id {
            if self.has_external_id(id)? {
                return Err(ImportRefusal::DuplicateEmail.into());
            }
            self.write_link(id, external_id)?;
        }
        Ok(Taken::Existing)
    }

    fn has_external_id(&mut self, id: CustomerId) -> Result<bool, StoreError> {
        external_ids::table
            .filter(external_ids::kind.eq(Kind::Customer.as_str()))
            .filter(external_ids::entity_id.eq(id.number()))
            .count()
            .get_result(self.tx.step()?)
            .map(|ids: i64| ids > 0)
            .map_err(classify)
    }

    fn write_customer(&mut self, row: &ImportCustomer) -> Result<(), StoreError> {
        let entry = Entry {
            name: &row.name,
            email: &row.email,
            phone: row.phone.as_deref(),
            organisation: row.organisation.as_deref(),
            status: row.status,
            created_at: row.created_at,
            updated_at: row.updated_at,
        };
        let id = stored::insert(self.tx, &entry)?.number();
        if let Some(external_id) = &row.external_id {
            self.remember(Kind::Customer, external_id, id)?;
        }
        self.note(EntityKind::Customer, id, None, Version::FIRST)
    }

    /// Gives a customer who came without an external id the one by which later rows refer to them. It is a change of the
    /// record, so its version says so.
    fn write_link(&mut self, id: CustomerId, external_id: &str) -> Result<(), StoreError> {
        self.remember(Kind::Customer, external_id, id.number())?;
        let customer = stored::get(self.tx.step()?, id)?;
        let after = customer.version.next();
        let of_version = customers::table
            .find(id.number())
            .filter(customers::version.eq(customer.version.number()));
        diesel::update(of_version)
            .set((
                customers::version.eq(after.number()),
                customers::updated_at.eq(self.act.at.max(customer.updated_at).micros()),
            ))
            .execute(self.tx.step()?)
            .map_err(classify)?;
        self.note(
            EntityKind::Customer,
            id.number(),
            Some(customer.version),
            after,
        )
    }
}
