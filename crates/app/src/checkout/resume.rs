//! Somebody has looked at a parked order, and lets it go on where it stood.

use onsale_domain::ids::OrderId;
use onsale_domain::order::OrderStatus;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Versioned, Written};

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
        let order = self.store.order(id).await?;
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
        let order = self.store.order(id).await?;
        let mut order = order.ok_or(Error::NotFound("order"))?;
        for _ in 0..ROUNDS {
            if let Some(told) = by.as_ref().and_then(|by| order.value.resumed_by(by)) {
                return Ok(Some(told));
            }
            let Some(value) = order.value.resume(by, self.now()) else {
                return Ok(None);
            };
            let status = value.status();
            let version = order.version;
            match self
                .store
                .replace_order(&Versioned { version, value })
                .await?
            {
                Written::Done(_) => {
                    self.wake_order(id).await;
                    return Ok(Some(status));
                }
                Written::Lost(current) => order = current,
            }
        }
        Err(Error::Unavailable)
    }
}
