//! Customers: finding and registering them.

use domain::{Customer, CustomerFilter, CustomerId, CustomerOrder, NewCustomer, Scope};
use garde::Valid;
use storage::Erased;

use crate::privacy::seen;
use crate::{Caller, Desk, DeskError, Listing, cursor};

/// Which customers, in which order, which page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomerList {
    /// Which; texts folded.
    pub filter: CustomerFilter,
    /// The order; newest first where absent.
    pub order: Option<CustomerOrder>,
    /// Rows at the most, 1 to 100.
    pub limit: Option<u16>,
    /// Where the page begins.
    pub cursor: Option<String>,
}

impl Desk {
    /// One customer.
    pub async fn get_customer(
        &self,
        caller: &Caller,
        id: CustomerId,
    ) -> Result<Customer, DeskError> {
        let customer = self.store.get_customer(id).await?;
        Ok(seen(self.mask(caller).as_ref(), customer))
    }

    /// Customers that match every given filter.
    pub async fn list_customers(
        &self,
        caller: &Caller,
        mut list: CustomerList,
    ) -> Result<Listing<Customer>, DeskError> {
        list.filter.names_only = !caller.scopes.contains(Scope::CustomersPii);
        let order = list.order.unwrap_or(CustomerOrder::Newest);
        let key = (list.filter.clone(), order);
        let page = cursor::page("customers", &key, list.limit, list.cursor.as_deref())?;
        let found = self.store.list_customers(list.filter, order, page).await?;
        let listing = Listing::from_page("customers", &key, found);
        Ok(seen(self.mask(caller).as_ref(), listing))
    }

    /// Erases a customer with everything that they said or that was said to them. Only operators do; no tool reaches this.
    pub async fn erase_customer(
        &self,
        caller: &Caller,
        id: CustomerId,
    ) -> Result<Erased, DeskError> {
        let act = caller.act(self.clock.now(), "erase-customer");
        Ok(self.store.erase_customer(act, id).await?)
    }

    /// Registers a customer.
    pub async fn create_customer(
        &self,
        caller: &Caller,
        new: Valid<NewCustomer>,
    ) -> Result<Customer, DeskError> {
        let act = caller.act(self.clock.now(), "create_customer");
        let customer = self.store.create_customer(act, new).await?;
        Ok(seen(self.mask(caller).as_ref(), customer))
    }
}
