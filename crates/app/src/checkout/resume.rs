//! Somebody has looked at a parked order, and lets it go on where it stood.

use onsale_domain::ids::OrderId;
use onsale_domain::order::{Order, OrderStatus};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::update::Next;

impl App {
    /// For the organiser of the show. The same key gives the first answer again, wherever
    /// the order has come since.
    pub async fn resume_as_organiser(
        &self,
        caller: &Caller,
        id: OrderId,
        key: Option<&IdempotencyKey>,
    ) -> Result<OrderStatus> {
        self.check_session(caller).await?;
        let order = self.store.read::<Order>(id).await?;
        let order = order.ok_or(Error::NotFound("order"))?.value;
        // For everybody but the organiser and the buyer the order does not exist.
        match self.own_show(caller, order.show_id).await {
            Ok(_) => {}
            Err(Error::Forbidden(_)) if order.account != caller.account => {
                return Err(Error::NotFound("order"));
            }
            Err(error) => return Err(error),
        }
        let by = key.map(|key| {
            let request = format!("{}\0{}", caller.account, key.as_str());
            RequestHash::of(request.as_bytes())
        });
        let resumed = self.resume(id, by).await?;
        resumed.ok_or(Error::Conflict("the order is not stuck"))
    }

    /// Lets a parked order go on. `false`: it was not parked.
    pub async fn resume_order(&self, id: OrderId) -> Result<bool> {
        Ok(self.resume(id, None).await?.is_some())
    }

    /// What the request is told; `None` if the order is not parked.
    async fn resume(&self, id: OrderId, by: Option<RequestHash>) -> Result<Option<OrderStatus>> {
        let order = self.store.read::<Order>(id).await?;
        let order = order.ok_or(Error::NotFound("order"))?;
        let resumed = self.update(order, |order, now| {
            if let Some(told) = by.as_ref().and_then(|by| order.resumed_by(by)) {
                return Ok(Next::Leave(Resumed::Before(told)));
            }
            Ok(match order.resume(by, now) {
                Some(next) => {
                    let status = next.status();
                    Next::Store(next, Resumed::Now(status))
                }
                None => Next::Leave(Resumed::NotParked),
            })
        });
        Ok(match resumed.await? {
            Resumed::Now(status) => {
                self.wake_order(id).await;
                Some(status)
            }
            Resumed::Before(status) => Some(status),
            Resumed::NotParked => None,
        })
    }
}

/// What became of a request to let an order go on.
enum Resumed {
    Now(OrderStatus),
    /// The same request did so before.
    Before(OrderStatus),
    NotParked,
}
