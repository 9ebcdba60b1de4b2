//! Every payment of the last days has an order that knows it, and the money is where
//! that order says: captured = sold + refunds due.
//!
//! A list of payments is old by the time it is read. One that is as its order says needs
//! no more than that. Before anything is said or done about any other, the payment is read
//! once more after its order, then the order again: only if the order has not moved in
//! between do the two belong together.

use std::collections::BTreeMap;

use onsale_domain::ids::OrderId;
use onsale_domain::money::Cents;
use onsale_domain::order::{Order, Stage};
use onsale_domain::payment::{Payment, PaymentId, PaymentState};
use onsale_domain::time::Millis;

use super::{PAYMENTS_BACK_MS, Report, SHOWS_BACK_MS};
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::{Refund, Versioned, Void};

/// A payment that nothing was charged to may just have been opened by a worker that is
/// about to store it.
const OPEN_IS_FRESH_MS: u64 = 3_600_000;
/// So many payments without an order are no accident: a table that was restored from an
/// old backup, say. Money is not sent back by the thousand without anybody looking.
const MAX_ORPHANS_SETTLED: u64 = 25;

impl App {
    /// Whether it was found out of every payment if it is an orphan.
    pub(super) async fn check_payments(&self, report: &mut Report) -> bool {
        let since = self.now().saturating_sub(PAYMENTS_BACK_MS);
        let mut after: Option<String> = None;
        let (mut settled, mut all_compared) = (0, true);
        loop {
            let page = match self.payments.list(since, after.as_deref()).await {
                Ok(page) => page,
                Err(error) => {
                    report.missed(format!("payments cannot be listed: {error}"));
                    return false;
                }
            };
            all_compared &= self.check_page(&page.items, &mut settled, report).await;
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        self.check_unlisted(since, report).await;
        all_compared
    }

    /// The orders of a page are read in one request. Whether all of it could be compared.
    async fn check_page(&self, page: &[Payment], settled: &mut u64, report: &mut Report) -> bool {
        let named: Vec<OrderId> = page.iter().filter_map(|payment| payment.order).collect();
        let orders = match self.readable_orders(&named, report).await {
            Ok(orders) => orders,
            Err(error) => {
                let n = page.len();
                report.missed(format!("{n} payments could not be checked: {error}"));
                return false;
            }
        };
        let orders: BTreeMap<OrderId, Versioned<Order>> =
            orders.into_iter().map(|o| (o.value.id, o)).collect();
        let mut all_compared = true;
        for payment in page {
            report.unpaid.remove(&payment.id);
            // It is no orphan: its order is there, whatever it says.
            let unreadable = &report.unreadable;
            if payment.order.is_some_and(|id| unreadable.contains(&id)) {
                continue;
            }
            let order = payment.order.and_then(|named| orders.get(&named));
            let checked = self.check_payment(payment, order, settled, report).await;
            if let Err(error) = checked {
                all_compared = false;
                report.missed(format!(
                    "payment {} could not be checked: {error}",
                    payment.id
                ));
            }
        }
        all_compared
    }

    /// Confirmed orders of this time whose payment the provider did not list: it may be
    /// older than its order, or not there at all.
    async fn check_unlisted(&self, since: Millis, report: &mut Report) {
        for (payment, (order, created)) in std::mem::take(&mut report.unpaid) {
            if created < since {
                continue;
            }
            match self.payments.look_up(&payment).await {
                Ok(Some(found)) if matches!(found.state, PaymentState::Captured { .. }) => {}
                Ok(_) => report.alarm(format!(
                    "order {order} is confirmed, but the provider has no money for it"
                )),
                Err(error) => {
                    report.missed(format!("payment {payment} cannot be looked up: {error}"));
                    return;
                }
            }
        }
    }

    async fn check_payment(
        &self,
        payment: &Payment,
        order: Option<&Versioned<Order>>,
        settled: &mut u64,
        report: &mut Report,
    ) -> Result<()> {
        // A payment that names no order was not opened by us: the account with the provider
        // may serve other things too.
        if payment.order.is_none() {
            return Ok(());
        }
        report.payments += 1;
        if let PaymentState::Captured { refunded } = payment.state {
            report.captured.0 += payment.total.amount.0;
            report.refunded.0 += refunded.0;
        }
        let known = order.filter(|o| o.value.payment.as_ref() == Some(&payment.id));
        let Some(order) = known else {
            // An order is written before its payment is opened, and knows it before
            // anything is charged: money without one is a mistake.
            return self.settle_orphan(payment, settled, report).await;
        };
        if order.value.is_open() {
            // It is moving: its own saga looks after the money.
            return Ok(());
        }
        if agree(payment, &order.value) {
            return self.check_recent_order(&order.value, report).await;
        }
        match self.payment_now(&payment.id, order).await? {
            Some(payment) => self.check_known(&payment, &order.value, report).await,
            None => Ok(()),
        }
    }

    /// The payment as it is while its order is as it was read; `None` if the order moves.
    async fn payment_now(
        &self,
        payment: &PaymentId,
        order: &Versioned<Order>,
    ) -> Result<Option<Payment>> {
        let fresh = self.payments.look_up(payment).await?;
        let still = self.store.read::<Order>(order.value.id).await?;
        let stands = still.is_some_and(|still| still.version == order.version);
        Ok(fresh.filter(|_| stands))
    }

    /// Something became of a refund. A bank may send one back days after the provider took
    /// it on, and nobody else hears of it: the order has ended long ago. How much is missing.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn look_at_refund(&self, id: OrderId, payment: &PaymentId) -> Result<Cents> {
        let order = self.store.read::<Order>(id).await?;
        let known = order.filter(|o| o.value.payment.as_ref() == Some(payment));
        let Some(order) = known else {
            return Ok(Cents(0));
        };
        if order.value.is_open() {
            // It is not known yet what went back; the provider tells us again later.
            return Err(Error::Unavailable);
        }
        let Some(payment) = self.payment_now(payment, &order).await? else {
            return Err(Error::Unavailable);
        };
        let due = match order.value.stage {
            Stage::Confirmed => order.value.repaid_amount(),
            _ => owed(&order.value, &payment),
        };
        let PaymentState::Captured { refunded } = payment.state else {
            return Ok(Cents(0));
        };
        let missing = Cents(due.0.saturating_sub(refunded.0));
        if missing > Cents(0) {
            metrics::counter!("onsale_refunds_returned_total").increment(1);
            tracing::error!(order = %id, payment = %payment.id, missing = missing.0,
                "a refund came back, and the buyer does not have the money");
        }
        Ok(missing)
    }

    async fn check_known(
        &self,
        payment: &Payment,
        order: &Order,
        report: &mut Report,
    ) -> Result<()> {
        let id = order.id;
        match (&payment.state, order.stage) {
            (PaymentState::Captured { refunded }, Stage::Confirmed) => {
                // For places that were resold, and for nothing else.
                let repaid = order.repaid_amount();
                if *refunded != repaid {
                    let refunded = refunded.0;
                    let owed = match repaid {
                        Cents(0) => String::new(),
                        Cents(repaid) => format!(" and not {repaid}"),
                    };
                    report.alarm(format!(
                        "order {id} is confirmed, but {refunded} went back{owed}"
                    ));
                }
                self.check_recent_order(order, report).await
            }
            (_, Stage::Confirmed) => {
                report.alarm(format!("order {id} is confirmed, but nothing was paid"));
                Ok(())
            }
            (PaymentState::Captured { refunded }, _) => {
                let due = owed(order, payment);
                if *refunded >= due {
                    return Ok(());
                }
                let already = order.repaid_amount();
                if *refunded != already {
                    let (due, refunded) = (due.0, refunded.0);
                    report.alarm(format!(
                        "order {id}: {refunded} of {due} went back; somebody refunded a part by hand"
                    ));
                    return Ok(());
                }
                let rest = Cents(due.0 - already.0);
                self.pay_back(payment, id, already, rest, report).await
            }
            (PaymentState::Authorised, _) => {
                self.void_leftover(payment, id, owed(order, payment), report)
                    .await
            }
            _ => Ok(()),
        }
    }

    /// Most were looked at with their show. Shows that are long over are not counted any
    /// more.
    async fn check_recent_order(&self, order: &Order, report: &mut Report) -> Result<()> {
        if order.stage != Stage::Confirmed || report.checked.contains(&order.id) {
            return Ok(());
        }
        let show = self.recent_show(order.show_id).await?;
        match show.starts_at + SHOWS_BACK_MS >= self.now() {
            true => self.check_order(order, report).await,
            false => Ok(()),
        }
    }

    async fn settle_orphan(
        &self,
        payment: &Payment,
        settled: &mut u64,
        report: &mut Report,
    ) -> Result<()> {
        if let PaymentState::Captured { refunded } = payment.state
            && refunded > Cents(0)
            && refunded < payment.total.amount
        {
            report.orphan_payments += 1;
            report.alarm(format!(
                "payment {} has no order, and somebody refunded a part of it by hand",
                payment.id
            ));
            return Ok(());
        }
        let charged = match payment.state {
            PaymentState::Captured { refunded } if refunded < payment.total.amount => true,
            PaymentState::Authorised | PaymentState::ActionRequired(_) => true,
            PaymentState::Open if payment.created + OPEN_IS_FRESH_MS < self.now() => false,
            _ => return Ok(()),
        };
        if charged && *settled >= MAX_ORPHANS_SETTLED {
            report.orphan_payments += 1;
            report.alarm(format!(
                "payment {} has no order; so many were settled in this run that somebody should look",
                payment.id
            ));
            return Ok(());
        }
        *settled += u64::from(charged);
        // The order it names may settle another payment under its own name, so this one
        // is settled under a name that follows from the payment.
        let key = OrderId::derived(&[payment.id.0.as_bytes()]);
        let total = payment.total.amount;
        match payment.state {
            PaymentState::Captured { .. } => {
                self.pay_back(payment, key, Cents(0), total, report).await
            }
            _ => self.void_leftover(payment, key, total, report).await,
        }
    }

    /// Voids a payment that nobody wants. `owed` goes back if the money was taken.
    async fn void_leftover(
        &self,
        payment: &Payment,
        key: OrderId,
        owed: Cents,
        report: &mut Report,
    ) -> Result<()> {
        match self.payments.void(&payment.id, key).await? {
            Void::Voided => report.repaired(format!("voided payment {}", payment.id)),
            Void::Captured if owed == Cents(0) => {}
            Void::Captured => {
                self.pay_back(payment, key, Cents(0), owed, report).await?;
            }
        }
        Ok(())
    }

    async fn pay_back(
        &self,
        payment: &Payment,
        key: OrderId,
        already: Cents,
        amount: Cents,
        report: &mut Report,
    ) -> Result<()> {
        let id = &payment.id;
        let refund = self.payments.refund(&payment.id, key, already, amount);
        match refund.await? {
            Refund::Refunded => {
                report.repaired(format!("refunded {} of payment {id}", amount.0));
            }
            Refund::Refused(reason) => {
                report.orphan_payments += 1;
                report.alarm(format!("payment {id} cannot be refunded: {reason}"));
            }
        }
        Ok(())
    }
}

/// Whether the money is where an order that stands still says.
fn agree(payment: &Payment, order: &Order) -> bool {
    match (&payment.state, order.stage) {
        (PaymentState::Captured { refunded }, Stage::Confirmed) => {
            *refunded == order.repaid_amount()
        }
        (PaymentState::Captured { refunded }, _) => *refunded >= owed(order, payment),
        (_, Stage::Confirmed) | (PaymentState::Authorised, _) => false,
        _ => true,
    }
}

/// What an order that has ended owes its buyer, or paid back before. Money that the order never knew of was
/// taken for nothing.
fn owed(order: &Order, payment: &Payment) -> Cents {
    match order.captured {
        true => Cents(order.refund_due().0 + order.repaid_amount().0),
        false => payment.total.amount,
    }
}
