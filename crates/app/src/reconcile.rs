//! Looks whether what must be true is true: repairs what is safe, reports the rest.
//!
//! `open` is cheap and runs every minute: work that nobody drives is driven again, and
//! what nobody announced is announced.
//! `all` also counts every show, compares every payment of the last days with its order,
//! and asks what banks took back. Both only ever move things by the same conditional
//! writes as everyone else, so they can run at any time and beside each other. No part
//! waits for another to go well: what cannot be looked at is an alarm, and the run goes on.

mod charge_backs;
mod open;
mod payments;
mod report;
mod show;

pub use report::Report;

use onsale_domain::time::Millis;

use crate::app::App;
use crate::error::Result;

/// An open order that has not moved for this long is driven again.
pub const IDLE_MS: u64 = 2 * 60_000;
/// How far back payments are compared with their orders.
const PAYMENTS_BACK_MS: u64 = 7 * 24 * 3_600_000;
/// Shows are looked at until this long after they began: refunds may come late.
const SHOWS_BACK_MS: u64 = 7 * 24 * 3_600_000;
const PAGE: usize = 100;
/// Forgotten mails that one run sends again.
const MAILS_A_RUN: usize = 1_000;

impl App {
    /// Everything: open work, every show, every payment of the last days. What cannot be
    /// looked at is an alarm, and the rest is looked at all the same.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn reconcile_all(&self) -> Result<Report> {
        let mut report = self.reconcile_open().await?;
        let shows = self.check_events(&mut report).await;
        report.unless_missed("the list of events", shows);
        self.check_charge_backs(&mut report).await;
        let all_compared = self.check_payments(&mut report).await;
        match self.store.parked_mails(None, MAILS_A_RUN).await {
            Ok(parked) => report.parked_mails = parked.items.len() as u64,
            Err(error) => report.missed(format!("parked mails cannot be listed: {error}")),
        }
        match self.delete_old_exports().await {
            Ok(0) => {}
            Ok(deleted) => tracing::info!(deleted, "files of old exports deleted"),
            Err(error) => tracing::warn!(%error, "old exports could not be deleted"),
        }
        // None ends an alarm, so nobody says so who has not seen every payment.
        if all_compared || report.orphan_payments > 0 {
            metrics::gauge!("onsale_orphan_payments").set(report.orphan_payments as f64);
        }
        metrics::gauge!("onsale_reconcile_alarms").set(report.alarms.len() as f64);
        // A run that is killed on its way says nothing else: whoever misses this hears of it.
        metrics::counter!("onsale_reconcile_runs_total").increment(1);
        Ok(report)
    }

    async fn check_events(&self, report: &mut Report) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.store.public_events(after.as_deref(), PAGE).await?;
            for event in &page.items {
                self.check_event(&event.value, report).await;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

pub(crate) fn is_idle(changed: Millis, now: Millis) -> bool {
    now >= changed + IDLE_MS
}
