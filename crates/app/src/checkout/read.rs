//! Reading orders. Somebody else's order does not exist for the caller.

use onsale_domain::ids::OrderId;
use onsale_domain::order::Order;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::ports::{Page, Versioned};

impl App {
    pub async fn order(&self, caller: &Caller, id: OrderId) -> Result<Order> {
        Ok(self.own_order(caller, id).await?.value)
    }

    pub(crate) async fn own_order(&self, caller: &Caller, id: OrderId) -> Result<Versioned<Order>> {
        self.check_session(caller).await?;
        let order = self.store.order(id).await?;
        order
            .filter(|order| order.value.account == caller.account)
            .ok_or(Error::NotFound("order"))
    }

    /// The caller's orders, newest first.
    pub async fn orders(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<Order>> {
        self.check_session(caller).await?;
        Ok(self.store.orders_of(caller.account, after, limit).await?)
    }
}
