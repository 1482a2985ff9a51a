//! Customers: finding and registering them.

use domain::{Customer, CustomerFilter, CustomerId, CustomerOrder, NewCustomer};
use garde::Valid;

use crate::contacts::shown;
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
        Ok(shown(caller, self.store.get_customer(id).await?))
    }

    /// Customers that match every given filter.
    pub async fn list_customers(
        &self,
        caller: &Caller,
        list: CustomerList,
    ) -> Result<Listing<Customer>, DeskError> {
        let order = list.order.unwrap_or(CustomerOrder::Newest);
        let key = (list.filter.clone(), order);
        let page = cursor::page("customers", &key, list.limit, list.cursor.as_deref())?;
        let mut found = self.store.list_customers(list.filter, order, page).await?;
        found.rows = found
            .rows
            .into_iter()
            .map(|customer| shown(caller, customer))
            .collect();
        Ok(Listing::from_page("customers", &key, found))
    }

    /// Registers a customer.
    pub async fn create_customer(
        &self,
        caller: &Caller,
        new: Valid<NewCustomer>,
    ) -> Result<Customer, DeskError> {
        let act = caller.act(self.clock.now(), "create_customer");
        Ok(shown(caller, self.store.create_customer(act, new).await?))
    }
}
