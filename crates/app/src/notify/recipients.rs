//! Everybody who has tickets of a show, a page of its blocks at a time: who bought them,
//! and who was given one since.

use std::collections::BTreeSet;

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::announcement::{Announcement, OrderNews};
use onsale_domain::block::{BlockIndex, Cell};
use onsale_domain::ids::{AccountId, OrderId, ShowId};
use onsale_domain::mail::Recipient;
use onsale_domain::order::{Order, Why};
use onsale_domain::ticket::Ticket;

use super::compose::is_good;
use crate::app::App;
use crate::error::Result;
use crate::ports::{Reads, Versioned};
use crate::show_cancellation::owners;

/// Mails that are stored at once.
const AT_ONCE: usize = 16;

impl App {
    /// Those who bought sold places in these blocks of a show, or have a ticket of one.
    pub(super) async fn concerned_in(
        &self,
        show: ShowId,
        blocks: &[BlockIndex],
    ) -> Result<BTreeSet<AccountId>> {
        let read = self
            .store
            .read_blocks(show, blocks, Reads::Consistent)
            .await?;
        let ids: Vec<OrderId> = owners(&read, Cell::is_sold).into_iter().collect();
        self.concerned(&self.store.read_many::<Order>(&ids).await?)
            .await
    }

    /// The buyers of those of the orders that have tickets now, and whoever else has one
    /// of these tickets.
    async fn concerned(&self, orders: &[Versioned<Order>]) -> Result<BTreeSet<AccountId>> {
        let good = orders.iter().map(|order| &order.value);
        let good: Vec<_> = good.filter(|order| order.has_tickets()).collect();
        let mut who: BTreeSet<_> = good.iter().map(|order| order.account).collect();
        for order in good.iter().filter(|order| order.transfers > 0) {
            let current = self.current_tickets(order).await?;
            let current = current.iter().map(|ticket| &ticket.value);
            who.extend(current.filter(|t| is_good(&t.state)).map(|t| t.account));
        }
        Ok(who)
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

    /// The show of these orders is cancelled: whom they concern is told before anything of
    /// the orders is undone, since afterwards nobody could say who they were.
    pub(crate) async fn tell_of_cancellation(
        &self,
        told: &Announcement,
        show: ShowId,
        orders: &[Versioned<Order>],
    ) -> Result<()> {
        let who = self.concerned(orders).await?;
        self.tell_all(told, show, who).await?;
        Ok(())
    }

    /// An order has ended: whoever was given one of its tickets has lost it. Of a show that
    /// is cancelled they were told before.
    pub(super) async fn tell_holders(&self, told: &Announcement, news: &OrderNews) -> Result<()> {
        let order = self.ordered(news).await?;
        let why = order.undo.as_ref().map(|undo| undo.why);
        if why == Some(Why::ShowCancelled) {
            return Ok(());
        }
        let lost = self.lost_by_others(&order).await?;
        let who = lost.iter().map(|ticket| ticket.account).collect();
        self.tell_all(told, order.show_id, who).await?;
        Ok(())
    }

    /// The tickets of an order that has ended which somebody else had than its buyer.
    pub(super) async fn lost_by_others(&self, order: &Order) -> Result<Vec<Ticket>> {
        if order.transfers == 0 {
            return Ok(Vec::new());
        }
        let last = self.current_tickets(order).await?;
        let last = last.into_iter().map(|ticket| ticket.value);
        // Whoever sold theirs through the waitlist has the money for it.
        let lost = |ticket: &Ticket| ticket.account != order.account && !ticket.is_resold();
        Ok(last.filter(lost).collect())
    }
}
