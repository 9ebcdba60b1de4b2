//! Reading orders. Somebody else's order does not exist for the caller.

use std::sync::Arc;

use onsale_domain::ids::OrderId;
use onsale_domain::language::Language;
use onsale_domain::order::Order;
use onsale_domain::show::Show;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::ports::{Page, Versioned};
use crate::shows::AboutShow;

/// An order with what was bought, and where.
#[derive(Debug, Clone)]
pub struct OrderDetails {
    pub order: Order,
    pub show: Arc<Show>,
    pub about: AboutShow,
    /// In which language to write to its buyer, if they ever said.
    pub language: Option<Language>,
}

impl App {
    pub async fn order(&self, caller: &Caller, id: OrderId) -> Result<Order> {
        Ok(self.own_order(caller, id).await?.value)
    }

    /// An order of the caller that has its tickets, with all that is written on papers.
    pub async fn order_details(&self, caller: &Caller, id: OrderId) -> Result<OrderDetails> {
        let order = self.own_order(caller, id).await?.value;
        if !order.has_tickets() {
            return Err(Error::Conflict("the order has no tickets that are good"));
        }
        let show = self.recent_show(order.show_id).await?;
        let buyer = self.store.account(order.account).await?;
        Ok(OrderDetails {
            about: self.about_show(&show, None).await?,
            language: buyer.and_then(|buyer| buyer.language),
            order,
            show,
        })
    }

    pub(crate) async fn own_order(&self, caller: &Caller, id: OrderId) -> Result<Versioned<Order>> {
        self.check_session(caller).await?;
        let order = self.store.read::<Order>(id).await?;
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
