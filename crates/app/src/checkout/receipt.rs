//! The receipt of an order, for its buyer alone.

use std::sync::Arc;

use onsale_domain::ids::OrderId;
use onsale_domain::language::Language;
use onsale_domain::order::Order;
use onsale_domain::receipt::{PaidBack, paid_at, paid_back};
use onsale_domain::show::Show;
use onsale_domain::time::Millis;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::shows::AboutShow;

/// What a receipt says.
#[derive(Debug, Clone)]
pub struct Receipted {
    pub order: Order,
    pub show: Arc<Show>,
    pub about: AboutShow,
    pub paid_at: Millis,
    pub paid_back: Vec<PaidBack>,
    pub buyer: String,
    /// The organiser, by name. Empty once they have left.
    pub organiser: String,
    /// In which language to write to its buyer, if they ever said.
    pub language: Option<Language>,
}

impl App {
    /// What was paid for an order of the caller, and what was paid back.
    pub async fn receipt(&self, caller: &Caller, id: OrderId) -> Result<Receipted> {
        let order = self.own_order(caller, id).await?.value;
        let paid_at = paid_at(&order);
        let paid_at = paid_at.ok_or(Error::Conflict("nothing was paid for this order"))?;
        let show = self.recent_show(order.show_id).await?;
        let buyer = self.store.account(order.account).await?;
        let organiser = self.store.account(show.owner).await?;
        Ok(Receipted {
            about: self.about_show(&show, None).await?,
            paid_at,
            paid_back: paid_back(&order),
            language: buyer.as_ref().and_then(|buyer| buyer.language),
            buyer: buyer.map(|buyer| buyer.name).unwrap_or_default(),
            organiser: organiser.map(|it| it.name).unwrap_or_default(),
            order,
            show,
        })
    }
}
