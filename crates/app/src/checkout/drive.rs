//! Performs the steps of an order, one after the other, until there is nothing to do.
//!
//! Any number of workers may be at the same order. Each result is stored by a write on
//! the version that was read; whoever loses reads again and goes on from there.

use onsale_domain::checkout_saga::{Charged, Step};
use onsale_domain::ids::OrderId;
use onsale_domain::order::{Order, OrderStatus, Stage};

use super::rejections::count_rejection;
use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::record_hold_duration;
use crate::ports::{Drive, MAX_DELAY_S, Opened, PaymentFailure, StoreError, Versioned, Written};
use crate::reconcile::IDLE_MS;

/// How often a step is tried before the order is parked: with doubling pauses this is
/// about a quarter of an hour.
pub const MAX_TRIES: u32 = 14;
/// News that nobody takes is told again for about a day: orders that are done are not put
/// before an operator one by one because the bus was away for a while.
const MAX_TELLINGS: u32 = 900;
/// Shorter than reconciling waits, or it would take an order that is merely put off for
/// one that nobody drives, and send it again and again.
const LONGEST_PAUSE_S: u32 = 100;
const _: () = assert!((LONGEST_PAUSE_S as u64) * 1_000 < IDLE_MS);
/// The longest way through both sagas has 13 steps; the rest is for lost races.
const MAX_STEPS: usize = 64;

/// Why a step could not be done now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Store(#[from] Error),
    #[error(transparent)]
    Payment(#[from] PaymentFailure),
    /// Somebody has to decide what becomes of it.
    #[error("{0}")]
    Refused(String),
}

/// What came of a step.
pub(super) type Tried<T> = std::result::Result<T, Trouble>;

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl App {
    /// Does what a message asks. An error means: deliver the message again.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn drive(&self, message: &Drive) -> Result<()> {
        match message {
            Drive::Order { order_id, tries } => self.drive_order(*order_id, *tries).await,
            Drive::Cancellation {
                show_id,
                from_block,
            } => self.drive_cancellation(*show_id, *from_block).await,
            Drive::ChargeBack { order_id, payment } => self.charge_back(*order_id, payment).await,
            Drive::Reset { reset_id } => self.announce_reset(*reset_id).await,
            Drive::Deletion { account_id } => self.drive_deletion(*account_id).await,
        }
    }

    async fn drive_order(&self, id: OrderId, tries: u32) -> Result<()> {
        let Some(mut order) = self.store.read::<Order>(id).await? else {
            tracing::warn!(order = %id, "a message names an order that does not exist");
            return Ok(());
        };
        let read = order.version;
        for _ in 0..MAX_STEPS {
            let Some(step) = order.value.next_step(self.now()) else {
                return Ok(());
            };
            let next = match self.perform(step, &order.value).await {
                Ok(Some(next)) => next,
                Ok(None) => return Ok(()),
                Err(trouble) => {
                    // Having come further than the last delivery, it starts to count anew.
                    let tries = if order.version > read { 0 } else { tries };
                    return self.put_off(order, step, tries, &trouble).await;
                }
            };
            let next = Versioned {
                version: order.version,
                value: next,
            };
            match self.store.replace(&next).await? {
                Written::Done(version) => {
                    tracing::info!(order = %id, step = step.as_str(), "a step is done");
                    count_ending(&order.value, &next.value);
                    count_end_of_hold(&order.value, &next.value);
                    order = Versioned { version, ..next };
                }
                Written::Lost(current) => order = current,
            }
        }
        Err(Error::Unavailable)
    }

    /// The order after this step; `None` if there is something to wait for.
    #[tracing::instrument(level = "debug", name = "step", skip_all,
        fields(otel.name = %format_args!("step {}", step.as_str()), order = %order.id))]
    async fn perform(&self, step: Step, order: &Order) -> Tried<Option<Order>> {
        let next = match step {
            Step::Lock => order.locked(self.lock(order).await?, self.now()),
            Step::GiveUp => order.given_up(self.now()),
            Step::OpenPayment => match self.open_payment(order).await? {
                Opened::Payment(payment) => order.payment_opened(payment, self.now()),
                Opened::Refused(reason) => order.charged(Charged::Refused(reason), self.now()),
            },
            Step::Authorise => order.charged(self.authorise(order).await?, self.now()),
            Step::LookUpAction => match self.look_up_action(order).await? {
                Charged::ActionRequired(_) if self.now() < order.pay_until => return Ok(None),
                charged => order.charged(charged, self.now()),
            },
            Step::Sell => order.sold(self.sell(order).await?, self.now()),
            Step::Capture => order.captured(self.capture(order).await?, self.now()),
            Step::IssueTickets => {
                self.issue_tickets(order).await?;
                order.tickets_issued(self.now())
            }
            Step::AnnounceConfirmed => {
                self.announce_confirmed(order).await?;
                order.announced(self.now())
            }
            Step::GiveHoldBack => {
                self.give_hold_back(order).await?;
                order.hold_given_back(self.now())
            }
            Step::Void => order.voided(self.void(order).await?, self.now()),
            Step::RevokeTickets => {
                self.revoke_tickets(order).await?;
                order.tickets_revoked(self.now())
            }
            Step::Refund => {
                self.refund(order).await?;
                order.refunded(self.now())
            }
            Step::ReturnSeats => {
                self.return_seats(order).await?;
                order.seats_returned(self.now())
            }
            Step::Repay => match order.repayment() {
                Some(due) => self.repay(order, &due).await?,
                None => return Ok(None),
            },
            Step::AnnounceEnd => {
                self.announce_end(order).await?;
                order.end_announced(self.now())
            }
        };
        Ok(Some(next))
    }

    /// A step could not be done: later again, or parked when it was tried often enough.
    async fn put_off(
        &self,
        order: Versioned<Order>,
        step: Step,
        tries: u32,
        trouble: &Trouble,
    ) -> Result<()> {
        let order_id = order.value.id;
        tracing::warn!(order = %order_id, step = step.as_str(), tries, %trouble, "a step failed");
        if let Trouble::Payment(failure) = trouble {
            count_rejection(failure);
        }
        let hopeless = !step.ends_with_the_hold() || self.now() >= order.value.pay_until;
        let most = match step.only_tells() {
            true => MAX_TELLINGS,
            false => MAX_TRIES,
        };
        if tries >= most && hopeless {
            return self.park(order, step, &trouble.to_string()).await;
        }
        let touched = Versioned {
            version: order.version,
            value: order.value.put_off(self.now()),
        };
        // Losing this means that it moved after all; the message does no harm then.
        self.store.replace(&touched).await?;
        let message = Drive::Order {
            order_id,
            tries: tries + 1,
        };
        Ok(self.saga_queue.send_drive(&message, pause_s(tries)).await?)
    }

    async fn park(&self, order: Versioned<Order>, step: Step, reason: &str) -> Result<()> {
        let reason = reason.to_owned();
        let news = order.value.stuck_news(step, &reason);
        let parked = Versioned {
            version: order.version,
            value: order.value.park(reason, self.now()),
        };
        let subject = format!("{}:{}", order.value.id, order.version);
        let announcement = news.announce(&subject, parked.value.changed);
        self.bus.announce(&[announcement]).await?;
        match self.store.replace(&parked).await? {
            Written::Done(_) => {
                metrics::counter!("onsale_sagas_stuck_total").increment(1);
                tracing::error!(order = %order.value.id, step = step.as_str(), "an order is stuck");
            }
            // It moved after all.
            Written::Lost(_) => {}
        }
        Ok(())
    }

    /// A message about this order killed its worker again and again: somebody has to look.
    pub async fn park_order(&self, id: OrderId, reason: &str) -> Result<()> {
        let Some(order) = self.store.read::<Order>(id).await? else {
            return Ok(());
        };
        let now = self.now();
        match order.value.next_step(now) {
            // It moves although its message died, or it waits for its buyer: reconciling
            // drives it on.
            _ if now < order.value.changed + IDLE_MS => Ok(()),
            Some(step) if step.ends_with_the_hold() && now < order.value.pay_until => Ok(()),
            Some(step) if step.only_tells() => Ok(()),
            Some(step) => self.park(order, step, reason).await,
            None => Ok(()),
        }
    }
}

fn pause_s(tries: u32) -> u32 {
    let doubled = 1u32.checked_shl(tries).unwrap_or(u32::MAX);
    doubled.min(LONGEST_PAUSE_S).min(MAX_DELAY_S)
}

fn count_ending(before: &Order, after: &Order) {
    let status = match (after.stage, after.status()) {
        (Stage::Announcing, _) => "confirmed",
        (Stage::Declined, _) => "declined",
        (Stage::Ended, OrderStatus::Refunded) => "refunded",
        (Stage::Ended, OrderStatus::Failed) => "failed",
        (Stage::Ended, _) => "cancelled",
        _ => return,
    };
    if before.stage == after.stage {
        return;
    }
    metrics::counter!("onsale_bookings_total", "status" => status).increment(1);
    if before.stage == Stage::Issuing {
        // Each try that failed moved `changed` on.
        let taken = before.paid_at.unwrap_or(before.changed);
        let waited_ms = after.changed - taken;
        metrics::histogram!("onsale_ticket_wait_seconds").record(waited_ms as f64 / 1_000.0);
    }
}

/// A hold ends when its places are sold, or when it is clear that they will not be.
fn count_end_of_hold(before: &Order, after: &Order) {
    let unsold = |stage| {
        use Stage::{Authorising, AwaitingAction, Locking, Selling};
        matches!(stage, Locking | Authorising | AwaitingAction | Selling)
    };
    let outcome = match after.stage {
        Stage::Capturing => "sold",
        Stage::Voiding => "undone",
        _ => return,
    };
    if let (true, Some(held_at)) = (unsold(before.stage), before.held_at) {
        record_hold_duration(outcome, after.changed - held_at);
    }
}
