//! Money that a bank took back while nobody told us: the webhook was lost, or never set up.
//! Whoever moves orders is told, as the webhook would, until the order is undone.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::ids::OrderId;
use onsale_domain::order::Order;
use onsale_domain::payment::ChargeBack;

use super::Report;
use crate::app::App;
use crate::error::Result;
use crate::ports::Drive;

/// A bank may ask first and take the money weeks later: the dispute began with the question.
const DISPUTES_BACK_MS: u64 = 60 * 24 * 3_600_000;

impl App {
    pub(super) async fn check_charge_backs(&self, report: &mut Report) {
        let since = self.now().saturating_sub(DISPUTES_BACK_MS);
        let mut after: Option<String> = None;
        loop {
            let page = match self.payments.charge_backs(since, after.as_deref()).await {
                Ok(page) => page,
                Err(error) => {
                    return report.missed(format!("charge-backs cannot be listed: {error}"));
                }
            };
            if let Err(error) = self.tell_charge_backs(&page.items, report).await {
                let n = page.items.len();
                report.missed(format!("{n} charge-backs could not be checked: {error}"));
            }
            after = page.next;
            if after.is_none() {
                return;
            }
        }
    }

    async fn tell_charge_backs(&self, page: &[ChargeBack], report: &mut Report) -> Result<()> {
        let named: Vec<OrderId> = page.iter().map(|taken| taken.order).collect();
        let orders = self.readable_orders(&named, report).await?;
        let orders: BTreeMap<OrderId, Order> =
            orders.into_iter().map(|o| (o.value.id, o.value)).collect();
        // A payment may be disputed twice.
        let mut told = BTreeSet::new();
        for ChargeBack { payment, order } in page {
            let known = orders.get(order);
            let known = known.filter(|known| known.payment.as_ref() == Some(payment));
            // None: it was heard of, or the order had ended before.
            let next = known.and_then(|known| known.charged_back(self.now()));
            if next.is_none() || !told.insert(*order) {
                continue;
            }
            let message = Drive::ChargeBack {
                order_id: *order,
                payment: payment.clone(),
            };
            self.saga_queue.send_drive(&message, 0).await?;
            report.repaired(format!(
                "order {order} is charged back: its bank took the money, and nobody had told us"
            ));
        }
        Ok(())
    }
}
