//! The default provider: it takes no money, and otherwise behaves like a real one.
//!
//! Its payments live in a ledger of their own and move only by conditional writes, so
//! that it keeps its word over restarts, repetitions and concurrent calls. What happens
//! to a payment is decided in `entry`; this file loads, asks and stores.

mod entry;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onsale_app::ports::{
    Authorisation, Capture, Clock, Opened, Page, Paid, PaymentFailure, Payments, Refund, Store,
    StoreError, Versioned, Void,
};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{ChargeBack, Payment, PaymentId, PaymentMethod};
use onsale_domain::time::Millis;

use entry::{Card, Entry};

/// How often a lost write is tried again before the caller hears "try again".
const MAX_TRIES: u32 = 16;
const PAGE: usize = 100;

/// How long the methods take that test our patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Until `pm_sandbox_lost_reply` is given up.
    pub lost_reply: Duration,
    /// Until `pm_sandbox_slow` is authorised.
    pub slow: Duration,
}

impl Pace {
    /// No waiting at all, not even through a timer.
    pub const NONE: Self = Self {
        lost_reply: Duration::ZERO,
        slow: Duration::ZERO,
    };
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            lost_reply: Duration::from_secs(1),
            slow: Duration::from_secs(10),
        }
    }
}

pub struct Sandbox {
    ledger: Store,
    clock: Arc<dyn Clock>,
    pace: Pace,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}

/// The payment of an order has a name that follows from the order, so that opening it
/// twice finds it again.
fn payment_of(order: OrderId) -> PaymentId {
    PaymentId(format!("pi_sandbox_{}", order.simple()))
}

impl Sandbox {
    pub fn new(ledger: Store, clock: Arc<dyn Clock>, pace: Pace) -> Self {
        Self {
            ledger,
            clock,
            pace,
        }
    }

    async fn find(&self, id: &PaymentId) -> Paid<Option<Versioned<Entry>>> {
        let found = self.ledger.sandbox_entry(&id.0).await.map_err(ledger)?;
        found
            .map(|doc| {
                let value = Entry::read(&doc.value)?;
                Ok(Versioned {
                    version: doc.version,
                    value,
                })
            })
            .transpose()
    }

    async fn expect(&self, id: &PaymentId) -> Paid<Versioned<Entry>> {
        self.find(id)
            .await?
            .ok_or_else(|| PaymentFailure::Ours("the sandbox has no such payment".into()))
    }

    /// Lets `decide` change the entry until one write wins. It sees the entry anew after
    /// every lost write, and nothing is written when it changes nothing.
    async fn change<T>(
        &self,
        id: &PaymentId,
        decide: impl Fn(&mut Entry) -> T + Send + Sync,
    ) -> Paid<T>
    where
        T: Send,
    {
        for _ in 0..MAX_TRIES {
            let mut found = self.expect(id).await?;
            let before = found.value.clone();
            let answer = decide(&mut found.value);
            if found.value == before || self.store(id, &found).await? {
                return Ok(answer);
            }
        }
        Err(PaymentFailure::Unavailable(
            "too many calls for this payment at once".into(),
        ))
    }

    async fn store(&self, id: &PaymentId, entry: &Versioned<Entry>) -> Paid<bool> {
        let document = Versioned {
            version: entry.version,
            value: entry.value.write()?,
        };
        self.ledger
            .put_sandbox_entry(&id.0, entry.value.created, &document)
            .await
            .map_err(ledger)
    }
}

fn ledger(error: StoreError) -> PaymentFailure {
    match error {
        StoreError::Unavailable(why) => PaymentFailure::Unavailable(why),
        StoreError::Corrupt(why) => PaymentFailure::Ours(why),
    }
}

/// A wait of no length needs no runtime with a timer.
async fn wait(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

#[async_trait]
impl Payments for Sandbox {
    async fn open(&self, order: OrderId, total: Money) -> Paid<Opened> {
        let id = payment_of(order);
        for _ in 0..MAX_TRIES {
            if let Some(found) = self.find(&id).await? {
                if found.value.total == total {
                    return Ok(Opened::Payment(id));
                }
                return Err(PaymentFailure::Ours(
                    "the payment of this order was opened with another total".into(),
                ));
            }
            let new = Versioned {
                version: 0,
                value: Entry::open(id.clone(), order, total, self.clock.now()),
            };
            if self.store(&id, &new).await? {
                return Ok(Opened::Payment(id));
            }
        }
        Err(PaymentFailure::Unavailable(
            "the sandbox could not store the payment".into(),
        ))
    }

    async fn authorise(
        &self,
        payment: &PaymentId,
        order: OrderId,
        attempt: u32,
        method: &PaymentMethod,
    ) -> Paid<Authorisation> {
        let card = Card::named(method.as_str());
        let known = self.expect(payment).await?.value;
        known.check_order(order)?;
        if let Some(answer) = known.first_answer(attempt) {
            return Ok(answer);
        }
        if card == Some(Card::Slow) {
            wait(self.pace.slow).await;
        }
        let (answer, first) = self
            .change(payment, |entry| entry.authorise(attempt, card))
            .await?;
        if first && card == Some(Card::LostReply) && answer == Authorisation::Authorised {
            wait(self.pace.lost_reply).await;
            return Err(PaymentFailure::Unavailable("the reply was lost".into()));
        }
        Ok(answer)
    }

    async fn capture(&self, payment: &PaymentId, order: OrderId) -> Paid<Capture> {
        self.change(payment, |entry| {
            entry.check_order(order)?;
            Ok(entry.capture())
        })
        .await?
    }

    // The order is the name under which this is done once, and not always the one that
    // opened the payment: reconciling settles what has no order.
    async fn void(&self, payment: &PaymentId, _: OrderId) -> Paid<Void> {
        self.change(payment, |entry| Ok(entry.void())).await?
    }

    async fn refund(
        &self,
        payment: &PaymentId,
        _: OrderId,
        already: Cents,
        amount: Cents,
    ) -> Paid<Refund> {
        self.change(payment, |entry| Ok(entry.refund(already, amount)))
            .await?
    }

    async fn look_up(&self, payment: &PaymentId) -> Paid<Option<Payment>> {
        Ok(self.find(payment).await?.map(|found| found.value.payment()))
    }

    async fn list(&self, since: Millis, after: Option<&str>) -> Paid<Page<Payment>> {
        let page = self
            .ledger
            .sandbox_entries(since, after, PAGE)
            .await
            .map_err(ledger)?;
        let payments = page
            .items
            .iter()
            .map(|text| Entry::read(text).map(|entry| entry.payment()));
        Ok(Page {
            items: payments.collect::<Paid<_>>()?,
            next: page.next,
        })
    }

    /// No bank stands behind it, so nobody takes anything back.
    async fn charge_backs(&self, _: Millis, _: Option<&str>) -> Paid<Page<ChargeBack>> {
        Ok(Page {
            items: Vec::new(),
            next: None,
        })
    }

    async fn confirm_action(&self, payment: &PaymentId) -> Paid<bool> {
        if self.find(payment).await?.is_none() {
            return Ok(false);
        }
        self.change(payment, Entry::confirm_action).await
    }
}
