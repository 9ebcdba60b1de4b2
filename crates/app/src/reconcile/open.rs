//! Open work: driven again if nobody drives it, announced if nobody announced it.

use onsale_domain::cancellation::Cancellation;
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::OrderId;
use onsale_domain::order::Order;
use onsale_domain::password_reset::Reset;
use onsale_domain::show::Show;

use super::{MAILS_A_RUN, PAGE, Report, is_idle};
use crate::app::App;
use crate::error::Result;
use crate::ports::{List, StoreError, Stored, Versioned};

impl App {
    /// Drives again what nobody drives. A list that cannot be looked at is an alarm, and the
    /// others are looked at all the same.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn reconcile_open(&self) -> Result<Report> {
        let mut report = Report::default();
        let orders = self.look_at_orders(&mut report).await;
        // Fewer than there are would end an alarm.
        if report.unless_missed("open orders", orders).is_some() {
            metrics::gauge!("onsale_open_orders").set(report.open_orders as f64);
            metrics::gauge!("onsale_stuck_orders").set(report.stuck_orders as f64);
        }
        let cancellations = self.look_at_cancellations(&mut report).await;
        report.unless_missed("open cancellations", cancellations);
        let exports = self.look_at_open_exports(&mut report).await;
        report.unless_missed("open exports", exports);
        let resets = self.look_at_resets(&mut report).await;
        report.unless_missed("links that set a password", resets);
        let deletions = self.look_at_deletions(&mut report).await;
        report.unless_missed("deletions of accounts", deletions);
        let transfers = self.tell_forgotten_transfers(&mut report).await;
        report.unless_missed("transfers", transfers);
        let mails = self.wake_forgotten(MAILS_A_RUN, &mut report).await;
        report.unless_missed("forgotten mails", mails);
        if report.mails_woken > 0 {
            tracing::warn!(woken = report.mails_woken, "mails were forgotten");
        }
        let waitlists = self.look_at_waitlists(&mut report).await;
        report.unless_missed("open waitlists", waitlists);
        Ok(report)
    }

    async fn look_at_orders(&self, report: &mut Report) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.store.open_orders(after.as_deref(), PAGE).await?;
            for order in self.readable_orders(&page.items, report).await? {
                self.look_at_open(&order, report).await;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// One document that cannot be read keeps no other order from being looked at.
    pub(super) async fn readable_orders(
        &self,
        ids: &[OrderId],
        report: &mut Report,
    ) -> Stored<Vec<Versioned<Order>>> {
        match self.store.read_many::<Order>(ids).await {
            Err(StoreError::Corrupt(_)) => {}
            read => return read,
        }
        let mut readable = Vec::new();
        for id in ids {
            match self.store.read::<Order>(*id).await {
                Err(StoreError::Corrupt(what)) => {
                    if report.unreadable.insert(*id) {
                        report.missed(format!("order {id} cannot be read: {what}"));
                    }
                }
                read => readable.extend(read?),
            }
        }
        Ok(readable)
    }

    async fn look_at_open(&self, order: &Versioned<Order>, report: &mut Report) {
        // The list may lag behind the orders.
        if !order.value.is_open() {
            return;
        }
        report.open_orders += 1;
        let id = order.value.id;
        if let Some(stuck) = &order.value.stuck {
            report.stuck_orders += 1;
            let (since, reason) = (stuck.since, &stuck.reason);
            report.alarm(format!("order {id} is stuck since {since}: {reason}"));
        } else if is_idle(order.value.changed, self.now()) {
            self.wake_order(id).await;
            report.driven_again += 1;
        }
    }

    async fn look_at_cancellations(&self, report: &mut Report) -> Result<()> {
        for show in self
            .store
            .ids_in::<Cancellation>(&List::OpenCancellations)
            .await?
        {
            report.open_cancellations += 1;
            let stored = self.store.read::<Cancellation>(show).await;
            let what = format!("the cancellation of show {show}");
            let stored = report.readable(what, stored)?;
            if stored.is_some_and(|c| is_idle(c.value.changed, self.now())) {
                self.wake_cancellation(show, 0, 0).await;
            }
        }
        Ok(())
    }

    /// Links that nobody mailed.
    async fn look_at_resets(&self, report: &mut Report) -> Result<()> {
        for id in self.store.ids_in::<Reset>(&List::OpenResets).await? {
            let stored = self.store.read::<Reset>(id).await;
            let stored = report.readable(format!("password reset {id}"), stored)?;
            let waits = |reset: &Reset| !reset.announced && is_idle(reset.asked, self.now());
            if stored.is_some_and(|stored| waits(&stored.value)) {
                self.wake_reset(id).await;
                report.driven_again += 1;
            }
        }
        Ok(())
    }

    /// Deletions that nobody goes on with.
    async fn look_at_deletions(&self, report: &mut Report) -> Result<()> {
        for id in self.store.ids_in::<Deletion>(&List::OpenDeletions).await? {
            let stored = self.store.read::<Deletion>(id).await;
            let stored = report.readable(format!("the deletion of account {id}"), stored)?;
            if stored.is_some_and(|deletion| is_idle(deletion.value.changed, self.now())) {
                self.wake_deletion(id).await;
                report.driven_again += 1;
            }
        }
        Ok(())
    }

    async fn look_at_waitlists(&self, report: &mut Report) -> Result<()> {
        for show in self.store.ids_in::<Show>(&List::OpenWaitlists).await? {
            report.open_waitlists += 1;
            self.look_at_waitlist(show, 0).await;
        }
        Ok(())
    }
}
