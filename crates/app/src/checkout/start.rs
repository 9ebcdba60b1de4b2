//! A buyer starts to pay.
//!
//! The order is written first, so that whatever happens next is found again; then the
//! hold is locked while the buyer waits, so that a lapsed hold is told at once; then
//! one message sets the saga going. When the message is lost, reconciling sends it.

use onsale_domain::buyer::{Entry, EntryState};
use onsale_domain::checkout_saga::Moved;
use onsale_domain::ids::{AccountId, HoldId, OrderId, ShowId};
use onsale_domain::order::{
    Attempt, CheckoutRefusal, MAX_ATTEMPTS, Order, OrderStatus, RefundTerms, Stage, Why,
};
use onsale_domain::payment::{Payment, PaymentMethod, PaymentState};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::{Show, StoredStatus, Waitlist};
use onsale_domain::ticket_return::Resale;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::WaitlistEntry;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::{ROUNDS, not_on_sale};
use crate::ports::{Drive, Versioned, Written};

const NO_ACTION: &str = "the order waits for no action";

impl App {
    /// Begins an attempt to pay for a hold, or answers again what this key was answered.
    pub async fn check_out(
        &self,
        caller: &Caller,
        show_id: ShowId,
        hold: HoldId,
        key: &IdempotencyKey,
        method: PaymentMethod,
    ) -> Result<OrderId> {
        self.check_out_if(caller, show_id, hold, key, method, || Ok(()))
            .await
    }

    /// The same for a host that limits attempts. `admit` is asked once, for a new attempt
    /// of a caller whose session is open.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn check_out_if(
        &self,
        caller: &Caller,
        show_id: ShowId,
        hold: HoldId,
        key: &IdempotencyKey,
        method: PaymentMethod,
        admit: impl FnOnce() -> Result<()> + Send,
    ) -> Result<OrderId> {
        let mut admit = Some(admit);
        caller.check_may_buy()?;
        let show = self.recent_show(show_id).await?;
        let request = RequestHash::of(method.as_str().as_bytes());
        let attempt = Attempt::new(key, request, method);
        for _ in 0..ROUNDS {
            // The order first: an entry that is read after it is never older.
            let found = self.store.read::<Order>(OrderId::of(hold)).await?;
            let buyer = self.own_buyer(caller, show_id).await?;
            let entry = buyer.entry(hold).ok_or(Error::NotFound("hold"))?;
            let again = found.as_ref().is_some_and(|o| o.value.knows(&attempt));
            if !again && let Some(admit) = admit.take() {
                admit()?;
            }
            let begun = match found {
                None => self.begin(caller, &show, entry, &attempt).await?,
                Some(order) => self.try_again(order, entry, &attempt).await?,
            };
            if let Some(order) = begun {
                return self.lock_and_go(order).await;
            }
        }
        Err(Error::Unavailable)
    }

    /// The new order; `None` if another request was first.
    async fn begin(
        &self,
        caller: &Caller,
        show: &Show,
        entry: &Entry,
        attempt: &Attempt,
    ) -> Result<Option<Versioned<Order>>> {
        let now = self.now();
        if !is_held(entry, now)? {
            return Ok(None);
        }
        if show.status == StoredStatus::Cancelled {
            return Err(not_on_sale("the show is cancelled"));
        }
        let layout = self.layout_of(show).await?;
        let resales = self.resales_of(show, caller.account, entry.hold).await?;
        let order = Order::begin(
            entry,
            |place| layout.seat_id(place),
            show.id,
            caller.account,
            show.currency,
            attempt.clone(),
            now,
        )
        .under(RefundTerms::of(show))
        .buying(resales);
        match self.store.create(&order).await? {
            Written::Done(version) => Ok(Some(Versioned {
                version,
                value: order,
            })),
            Written::Lost(_) => Ok(None),
        }
    }

    /// What of a hold is bought from others: only offers of the waitlist are, and only a
    /// show with one has any out.
    async fn resales_of(
        &self,
        show: &Show,
        account: AccountId,
        hold: HoldId,
    ) -> Result<Vec<Resale>> {
        if show.waitlist == Waitlist::Closed {
            return Ok(Vec::new());
        }
        let entry = self.store.read::<WaitlistEntry>((show.id, account)).await?;
        let offer = entry.and_then(|entry| entry.value.offer().cloned());
        let own = offer.filter(|offer| offer.hold_id == hold);
        Ok(own.map(|offer| offer.resales).unwrap_or_default())
    }

    /// The order with a new attempt, or as it is if this very request came before; `None`
    /// if the order has moved on meanwhile.
    async fn try_again(
        &self,
        order: Versioned<Order>,
        entry: &Entry,
        attempt: &Attempt,
    ) -> Result<Option<Versioned<Order>>> {
        let now = self.now();
        let next = match order.value.try_again(attempt.clone(), now) {
            Ok(next) => next,
            Err(CheckoutRefusal::SameRequest) => return answered(order).map(Some),
            Err(refusal) => return Err(refused(refusal)),
        };
        if !is_held(entry, now)? {
            return Ok(None);
        }
        let next = Versioned {
            version: order.version,
            value: next,
        };
        match self.store.replace(&next).await? {
            Written::Done(version) => Ok(Some(Versioned { version, ..next })),
            Written::Lost(_) => Ok(None),
        }
    }

    async fn lock_and_go(&self, mut order: Versioned<Order>) -> Result<OrderId> {
        let id = order.value.id;
        if order.value.stage == Stage::Locking {
            let moved = self.lock(&order.value).await?;
            order.value = order.value.locked(moved, self.now());
            let written = self.store.replace(&order).await?;
            self.wake_order(id).await;
            if let Written::Lost(current) = written {
                // Somebody locked it too, and came further: theirs is the result.
                return answered(current).map(|order| order.value.id);
            }
            return match moved {
                Moved::Done => Ok(id),
                Moved::HoldGone | Moved::SeatsLost => Err(Error::HoldExpired),
                Moved::Closed => Err(not_on_sale("the show is cancelled")),
            };
        }
        if order.value.is_open() {
            // Whoever asked first may have died before the saga was woken.
            self.wake_order(id).await;
        }
        Ok(id)
    }

    /// The buyer did what the bank asked. Only the sandbox is told by us: other providers
    /// know from the bank, and wake the saga themselves. Told again, nothing changes, and
    /// the answer is how far the order has come.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn confirm_action(&self, caller: &Caller, id: OrderId) -> Result<OrderStatus> {
        let order = self.own_order(caller, id).await?.value;
        let Some(payment) = &order.payment else {
            return Err(Error::Conflict(NO_ACTION));
        };
        if order.stage != Stage::AwaitingAction {
            // The order has moved on, perhaps because of the first time this was told. What
            // nobody waits for any more is not confirmed late.
            let known = self.payments.look_up(payment).await?;
            let waits = |known: &Payment| matches!(known.state, PaymentState::ActionRequired(_));
            if known.is_none_or(|known| waits(&known)) {
                return Err(Error::Conflict(NO_ACTION));
            }
        }
        match self.payments.confirm_action(payment).await? {
            true => self.wake_order(id).await,
            false if order.stage == Stage::AwaitingAction => {
                return Err(Error::Conflict(
                    "the bank still waits for the buyer; the action is confirmed there",
                ));
            }
            false => return Err(Error::Conflict(NO_ACTION)),
        }
        match order.stage {
            // What it waited for is done; the saga goes on from here.
            Stage::AwaitingAction => Ok(OrderStatus::Pending),
            _ => Ok(order.status()),
        }
    }

    /// Sets the saga of an order going. A message that is lost costs two minutes: then
    /// reconciling sends it again.
    pub async fn wake_order(&self, order_id: OrderId) {
        self.wake_order_after(order_id, 0).await;
    }

    /// The same, so many seconds later. Whether the message is on its way.
    pub(crate) async fn wake_order_after(&self, order_id: OrderId, delay_s: u32) -> bool {
        let message = Drive::Order { order_id, tries: 0 };
        let sent = self.saga_queue.send_drive(&message, delay_s).await;
        if let Err(error) = &sent {
            tracing::warn!(order = %order_id, %error, "the saga could not be woken");
        }
        sent.is_ok()
    }
}

/// Whether the hold waits to be paid. What is being paid, was, or was undone has an order that has moved
/// on since it was read: it is written before its hold is locked.
fn is_held(entry: &Entry, now: Millis) -> Result<bool> {
    match entry.state_at(now) {
        EntryState::Held => Ok(true),
        EntryState::Paying | EntryState::Sold | EntryState::Undone => Ok(false),
        EntryState::Released | EntryState::Expired => Err(Error::HoldExpired),
    }
}

/// The first answer stands, unless there never was one: a request whose hold was gone
/// was refused, and is refused again.
fn answered(order: Versioned<Order>) -> Result<Versioned<Order>> {
    match &order.value.undo {
        Some(undo) if !order.value.accepted => Err(gone(undo.why)),
        _ => Ok(order),
    }
}

fn refused(refusal: CheckoutRefusal) -> Error {
    match refusal {
        CheckoutRefusal::OtherRequest => Error::IdempotencyMismatch,
        CheckoutRefusal::InFlight | CheckoutRefusal::SameRequest => Error::RequestInFlight,
        CheckoutRefusal::Paid => Error::Conflict("the hold is paid"),
        CheckoutRefusal::Gone(why) => gone(why),
        CheckoutRefusal::TooManyAttempts => Error::LimitExceeded {
            limit: MAX_ATTEMPTS as u64,
            of: "attempts to pay for one hold",
        },
    }
}

fn gone(why: Why) -> Error {
    match why {
        Why::HoldExpired | Why::SeatsLost => Error::HoldExpired,
        Why::ShowCancelled => not_on_sale("the show is cancelled"),
        Why::CaptureRefused | Why::Buyer | Why::ChargedBack => {
            Error::Conflict("the order has ended; hold places again")
        }
    }
}
