//! Everybody who has tickets of a show, a page of its blocks at a time.

use std::collections::BTreeSet;

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::announcement::Announcement;
use onsale_domain::block::{BlockIndex, Cell};
use onsale_domain::ids::{AccountId, OrderId, ShowId};
use onsale_domain::mail::Recipient;
use onsale_domain::order::Order;

use crate::app::App;
use crate::error::Result;
use crate::ports::Versioned;
use crate::show_cancellation::owners;

/// Mails that are stored at once.
const AT_ONCE: usize = 16;

impl App {
    /// Those who own sold places in these blocks of a show.
    pub(super) async fn buyers_in(
        &self,
        show: ShowId,
        blocks: &[BlockIndex],
    ) -> Result<BTreeSet<AccountId>> {
        let read = self.store.read(show, blocks, true).await?;
        let ids: Vec<OrderId> = owners(&read, Cell::is_sold).into_iter().collect();
        Ok(with_tickets(&self.store.orders(&ids).await?))
    }

    /// Makes one mail due for each of them, and asks for it to be sent. Repeating it
    /// changes nothing.
    pub(super) async fn tell_all(
        &self,
        told: &Announcement,
        show: ShowId,
        who: BTreeSet<AccountId>,
    ) -> Result<usize> {
        let count = who.len();
        let mails = who.into_iter().map(|account| async move {
            let to = Recipient::Account(account);
            let news = told.news.clone();
            let id = self
                .make_due(&told.id, told.at, news, to, Some(show))
                .await?;
            self.wake_mail(id, 0).await;
            Ok::<_, crate::Error>(())
        });
        let all = stream::iter(mails).buffer_unordered(AT_ONCE);
        all.try_collect::<()>().await?;
        Ok(count)
    }

    /// The show of these orders is cancelled: their buyers are told before anything of
    /// their orders is undone, since afterwards nobody could say who they were.
    pub(crate) async fn tell_of_cancellation(
        &self,
        told: &Announcement,
        show: ShowId,
        orders: &[Versioned<Order>],
    ) -> Result<()> {
        self.tell_all(told, show, with_tickets(orders)).await?;
        Ok(())
    }
}

/// The buyers of those of the orders that have tickets now.
fn with_tickets(orders: &[Versioned<Order>]) -> BTreeSet<AccountId> {
    let good = orders.iter().filter(|order| order.value.has_tickets());
    good.map(|order| order.value.account).collect()
}
