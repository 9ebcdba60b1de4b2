//! Looks whether what must be true is true: repairs what is safe, reports the rest.
//!
//! `open` is cheap and runs every minute: work that nobody drives is driven again, and
//! what nobody announced is announced.
//! `all` also counts every show and compares every payment of the last days with its
//! order. Both only ever move things by the same conditional writes as everyone else,
//! so they can run at any time and beside each other.

mod payments;
mod show;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use onsale_domain::ids::OrderId;
use onsale_domain::money::Cents;
use onsale_domain::order::{Order, Stage};
use onsale_domain::password_reset::Reset;
use onsale_domain::payment::PaymentId;
use onsale_domain::time::Millis;

use crate::app::App;
use crate::error::Result;
use crate::ports::{StoreError, Versioned};

/// An open order that has not moved for this long is driven again.
pub const IDLE_MS: u64 = 2 * 60_000;
/// How far back payments are compared with their orders.
const PAYMENTS_BACK_MS: u64 = 7 * 24 * 3_600_000;
/// Shows are looked at until this long after they began: refunds may come late.
const SHOWS_BACK_MS: u64 = 7 * 24 * 3_600_000;
const PAGE: usize = 100;
/// Forgotten mails that one run sends again.
const MAILS_A_RUN: usize = 1_000;

/// What was checked, what was repaired, and what somebody has to look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub open_orders: u64,
    pub driven_again: u64,
    pub stuck_orders: u64,
    pub open_cancellations: u64,
    /// Mails and mailings that were forgotten or let go, and are sent now.
    pub mails_woken: u64,
    /// Mails that nobody sends any more, until somebody lets them go.
    pub parked_mails: u64,
    pub open_exports: u64,
    /// Shows whose waitlist is open; each is looked at again.
    pub open_waitlists: u64,
    pub shows: u64,
    pub free: u64,
    pub held: u64,
    pub sold: u64,
    pub capacity: u64,
    pub payments: u64,
    pub captured: Cents,
    pub refunded: Cents,
    /// Payments with money in them and no order that wants it, after repairs.
    pub orphan_payments: u64,
    pub repairs: Vec<String>,
    pub alarms: Vec<String>,
    /// The payments of confirmed orders, until the provider lists them.
    unpaid: BTreeMap<PaymentId, (OrderId, Millis)>,
    /// Confirmed orders whose places and tickets were looked at: once a run is enough.
    checked: BTreeSet<OrderId>,
}

impl Report {
    /// Of a run that only sent parked mails again.
    pub fn resent(mails: u64) -> Self {
        Self {
            mails_woken: mails,
            ..Self::default()
        }
    }

    /// Somebody has to look. It is logged at once: the rest of the run may take long.
    fn alarm(&mut self, what: String) {
        tracing::error!(what, "reconciling found something that needs a look");
        self.alarms.push(what);
    }

    fn repaired(&mut self, what: String) {
        tracing::warn!(what, "reconciling repaired something");
        self.repairs.push(what);
    }

    /// A confirmed order has its places and tickets, or the report says what it lacks.
    fn looked_at(&mut self, order: &Order) {
        if order.stage != Stage::Confirmed {
            return;
        }
        self.checked.insert(order.id);
        if let Some(payment) = &order.payment {
            let known = (order.id, order.created);
            self.unpaid.insert(payment.clone(), known);
        }
    }

    /// Takes over what was found about orders that were looked at beside others.
    fn absorb(&mut self, part: Self) {
        self.repairs.extend(part.repairs);
        self.alarms.extend(part.alarms);
        self.unpaid.extend(part.unpaid);
        self.checked.extend(part.checked);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            open_orders,
            driven_again,
            stuck_orders,
            open_cancellations,
            ..
        } = self;
        writeln!(
            f,
            "open orders {open_orders}, driven again {driven_again}, stuck {stuck_orders}, cancellations under way {open_cancellations}"
        )?;
        writeln!(
            f,
            "shows {}: free {} + held {} + sold {} = {} of {} places",
            self.shows,
            self.free,
            self.held,
            self.sold,
            self.free + self.held + self.sold,
            self.capacity
        )?;
        writeln!(
            f,
            "payments {}: captured {}, refunded {} (minor units), orphans {}",
            self.payments, self.captured.0, self.refunded.0, self.orphan_payments
        )?;
        let (woken, parked) = (self.mails_woken, self.parked_mails);
        if woken + parked > 0 {
            writeln!(f, "mails sent again {woken}, parked {parked}")?;
        }
        for repair in &self.repairs {
            writeln!(f, "repaired: {repair}")?;
        }
        for alarm in &self.alarms {
            writeln!(f, "ALARM: {alarm}")?;
        }
        match self.alarms.len() {
            0 => write!(f, "everything agrees"),
            n => write!(f, "{n} things need somebody to look at them"),
        }
    }
}

impl App {
    /// Drives again what nobody drives.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn reconcile_open(&self) -> Result<Report> {
        let mut report = Report::default();
        let mut after: Option<String> = None;
        loop {
            let page = self.store.open_orders(after.as_deref(), PAGE).await?;
            for order in self.readable_orders(&page.items, &mut report).await? {
                self.look_at_open(&order, &mut report).await;
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        for show in self.store.open_cancellations().await? {
            report.open_cancellations += 1;
            let stored = self.store.cancellation(show).await?;
            if stored.is_some_and(|c| is_idle(c.value.changed, self.now())) {
                self.wake_cancellation(show, 0, 0).await;
            }
        }
        report.open_exports = self.look_at_open_exports().await?;
        self.look_at_accounts(&mut report).await?;
        self.tell_forgotten_transfers().await?;
        report.mails_woken = self.wake_forgotten(MAILS_A_RUN).await?;
        if report.mails_woken > 0 {
            tracing::warn!(woken = report.mails_woken, "mails were forgotten");
        }
        for show in self.store.open_waitlists().await? {
            report.open_waitlists += 1;
            self.look_at_waitlist(show, 0).await;
        }
        metrics::gauge!("onsale_open_orders").set(report.open_orders as f64);
        metrics::gauge!("onsale_stuck_orders").set(report.stuck_orders as f64);
        Ok(report)
    }

    /// One document that cannot be read keeps no other order from being looked at.
    async fn readable_orders(
        &self,
        ids: &[OrderId],
        report: &mut Report,
    ) -> Result<Vec<Versioned<Order>>> {
        match self.store.orders(ids).await {
            Err(StoreError::Corrupt(_)) => {}
            read => return Ok(read?),
        }
        let mut readable = Vec::new();
        for id in ids {
            match self.store.order(*id).await {
                Err(StoreError::Corrupt(what)) => {
                    report.alarm(format!("order {id} cannot be read: {what}"));
                }
                read => readable.extend(read?),
            }
        }
        Ok(readable)
    }

    /// Links that nobody mailed, and deletions that nobody goes on with.
    async fn look_at_accounts(&self, report: &mut Report) -> Result<()> {
        for id in self.store.open_resets().await? {
            let reset = self.store.reset(id).await?.map(|reset| reset.value);
            let waits = |reset: &Reset| !reset.announced && is_idle(reset.asked, self.now());
            if reset.is_some_and(|reset| waits(&reset)) {
                self.wake_reset(id).await;
                report.driven_again += 1;
            }
        }
        for id in self.store.open_deletions().await? {
            let deletion = self.store.deletion(id).await?;
            if deletion.is_some_and(|deletion| is_idle(deletion.value.changed, self.now())) {
                self.wake_deletion(id).await;
                report.driven_again += 1;
            }
        }
        Ok(())
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

    /// Everything: open work, every show, every payment of the last days. What cannot be
    /// looked at is an alarm, and the rest is looked at all the same.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn reconcile_all(&self) -> Result<Report> {
        let mut report = self.reconcile_open().await?;
        let mut after: Option<String> = None;
        loop {
            let page = self.store.public_events(after.as_deref(), PAGE).await?;
            for event in &page.items {
                self.check_event(&event.value, &mut report).await;
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        self.check_payments(&mut report).await;
        match self.store.parked_mails(None, MAILS_A_RUN).await {
            Ok(parked) => report.parked_mails = parked.items.len() as u64,
            Err(error) => report.alarm(format!("parked mails cannot be listed: {error}")),
        }
        match self.delete_old_exports().await {
            Ok(0) => {}
            Ok(deleted) => tracing::info!(deleted, "files of old exports deleted"),
            Err(error) => tracing::warn!(%error, "old exports could not be deleted"),
        }
        metrics::gauge!("onsale_orphan_payments").set(report.orphan_payments as f64);
        metrics::gauge!("onsale_reconcile_alarms").set(report.alarms.len() as f64);
        // A run that is killed on its way says nothing else: whoever misses this hears of it.
        metrics::counter!("onsale_reconcile_runs_total").increment(1);
        Ok(report)
    }
}

pub(crate) fn is_idle(changed: Millis, now: Millis) -> bool {
    now >= changed + IDLE_MS
}
