//! Disputes as Stripe sends them: what a bank only asks about, and what it has taken back.

use onsale_app::ports::{Page, Paid};
use onsale_domain::payment::{ChargeBack, PaymentId};
use onsale_domain::time::Millis;
use serde::Deserialize;

use super::intent::Metadata;
use super::{Stripe, emulator};

const DISPUTES: &str = "/v1/disputes";

/// Whether a dispute of this status is a question so far: no money has moved.
pub(super) fn is_inquiry(status: &str) -> bool {
    status.starts_with("warning_")
}

#[derive(Deserialize)]
struct Dispute {
    id: String,
    status: String,
    payment_intent: Option<Disputed>,
}

/// The payment, of which Stripe sends more than the name because it is asked to.
#[derive(Deserialize)]
struct Disputed {
    id: String,
    metadata: Option<Metadata>,
}

/// A page of disputes, newest first.
#[derive(Deserialize)]
struct Disputes {
    data: Vec<Dispute>,
    has_more: bool,
}

impl Dispute {
    /// What was won has come back to us.
    fn has_taken(&self) -> bool {
        !is_inquiry(&self.status) && self.status != "won"
    }

    /// The order is known for payments of this deployment alone.
    fn charge_back(&self, stack: &str) -> Option<ChargeBack> {
        let payment = self.payment_intent.as_ref().filter(|_| self.has_taken())?;
        Some(ChargeBack {
            payment: PaymentId(payment.id.clone()),
            order: payment.metadata.as_ref()?.order(stack)?,
        })
    }
}

impl Stripe {
    /// Fifty a page: with its evidence and its payment a dispute takes several kilobytes.
    pub(super) async fn taken_back(
        &self,
        since: Millis,
        after: Option<&str>,
    ) -> Paid<Page<ChargeBack>> {
        let seconds = (since.0 / 1000).to_string();
        let mut query = vec![
            ("limit", "50"),
            ("expand[]", "data.payment_intent"),
            ("created[gte]", seconds.as_str()),
        ];
        query.extend(after.map(|id| ("starting_after", id)));
        let page: Disputes = match self.api.get(DISPUTES, &query).await {
            Err(error) if emulator::has_no_disputes(&error) => Disputes {
                data: Vec::new(),
                has_more: false,
            },
            answer => answer?,
        };
        let last = page.data.last().map(|dispute| dispute.id.clone());
        let taken = page.data.iter();
        Ok(Page {
            items: taken.filter_map(|d| d.charge_back(&self.stack)).collect(),
            next: last.filter(|_| page.has_more),
        })
    }
}
