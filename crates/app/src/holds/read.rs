//! Reading a hold. Somebody else's hold does not exist for the caller: the buyer item
//! that is read is the caller's own.

use onsale_domain::buyer::Buyer;
use onsale_domain::ids::{HoldId, ShowId};

use super::HoldView;
use crate::app::{App, Caller};
use crate::error::{Error, Result};

impl App {
    pub async fn hold(&self, caller: &Caller, show_id: ShowId, hold: HoldId) -> Result<HoldView> {
        let show = self.recent_show(show_id).await?;
        let layout = self.layout_of(&show).await?;
        let buyer = self.own_buyer(caller, show_id).await?;
        let entry = buyer.entry(hold).ok_or(Error::NotFound("hold"))?;
        Ok(HoldView::of(entry, &show, &layout, self.now()))
    }

    /// The caller's holds of a show that are not over, newest first: those that can still be
    /// paid, and those being paid. What is sold is an order.
    pub async fn open_holds(&self, caller: &Caller, show_id: ShowId) -> Result<Vec<HoldView>> {
        let show = self.recent_show(show_id).await?;
        let layout = self.layout_of(&show).await?;
        let buyer = self.own_buyer(caller, show_id).await?;
        let now = self.now();
        let open = buyer.open_entries(now);
        let view = |entry| HoldView::of(entry, &show, &layout, now);
        Ok(open.map(view).collect())
    }

    /// The caller's buyer item, if the session is open.
    pub(crate) async fn own_buyer(&self, caller: &Caller, show: ShowId) -> Result<Buyer> {
        let (session, buyer) = self
            .store
            .session_and_buyer(caller.session, show, caller.account)
            .await?;
        self.require_open(caller, session)?;
        Ok(buyer)
    }
}
