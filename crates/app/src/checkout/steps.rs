//! The steps of the checkout saga. Each can be done again, by anyone, at any time.

use onsale_domain::buyer::{EntryState, MoveRefusal};
use onsale_domain::checkout_saga::{Charged, Moved};
use onsale_domain::order::{Order, OrderedSeat};
use onsale_domain::payment::PaymentState;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::ticket_code::TicketClaims;

use super::cells;
use super::drive::{Tried, Trouble};
use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::expiry_delay_s;
use crate::ports::{Authorisation, Capture, ExpireHold, Opened};

impl App {
    /// The entry first, then the cells. Later attempts find both extended.
    pub(super) async fn lock(&self, order: &Order) -> Result<Moved> {
        let attempt = order.attempt();
        let locked = self
            .move_entry(order, |buyer, hold| buyer.lock(hold, attempt, self.now()))
            .await?;
        match locked {
            Ok(()) | Err(MoveRefusal::AlreadyDone) => {}
            // Live under another attempt: this worker is behind, and reads again.
            Err(MoveRefusal::Is(EntryState::Held | EntryState::Paying | EntryState::Sold)) => {
                return Err(Error::Unavailable);
            }
            Err(_) => return Ok(Moved::HoldGone),
        }
        if attempt > 1 {
            return Ok(Moved::Done);
        }
        let moved = self
            .move_cells(order, cells::held(order), cells::paying(order))
            .await?;
        match moved == Moved::Done && !self.lock_resales(order).await? {
            true => Ok(Moved::SeatsLost),
            false => Ok(moved),
        }
    }

    pub(super) async fn open_payment(&self, order: &Order) -> Tried<Opened> {
        Ok(self.payments.open(order.id, order.total()).await?)
    }

    pub(super) async fn authorise(&self, order: &Order) -> Tried<Charged> {
        let (Some(payment), Some(method)) = (&order.payment, order.method()) else {
            // Only an order without a price comes here without a payment.
            return Ok(Charged::Authorised);
        };
        let answer = self
            .payments
            .authorise(payment, order.id, order.attempt(), method)
            .await?;
        Ok(match answer {
            Authorisation::Authorised => Charged::Authorised,
            Authorisation::ActionRequired(action) => Charged::ActionRequired(action),
            Authorisation::Refused(reason) => Charged::Refused(reason),
        })
    }

    pub(super) async fn look_up_action(&self, order: &Order) -> Tried<Charged> {
        let payment = order.payment.as_ref().ok_or(Error::Corrupt)?;
        let known = self.payments.look_up(payment).await?;
        let known = known.ok_or_else(|| Trouble::Refused("the payment is unknown".to_owned()))?;
        Ok(match known.state {
            PaymentState::Authorised | PaymentState::Captured { .. } => Charged::Authorised,
            PaymentState::ActionRequired(action) => Charged::ActionRequired(action),
            PaymentState::Open | PaymentState::Voided => {
                Charged::Refused("the confirmation with the bank failed".to_owned())
            }
        })
    }

    /// The cells first: they decide whose the places are.
    pub(super) async fn sell(&self, order: &Order) -> Result<Moved> {
        let moved = match order.resales.is_empty() {
            true => {
                let (old, new) = (cells::paying(order), cells::sold(order));
                self.move_cells(order, old, new).await?
            }
            false => self.sell_resales(order).await?,
        };
        if moved != Moved::Done {
            return Ok(moved);
        }
        let attempt = order.attempt();
        let sold = self
            .move_entry(order, |buyer, hold| buyer.sell(hold, attempt, self.now()))
            .await?;
        match sold {
            Ok(()) | Err(MoveRefusal::AlreadyDone) => Ok(Moved::Done),
            // Somebody is undoing the order, and frees what was just sold.
            Err(_) => Err(Error::Unavailable),
        }
    }

    pub(super) async fn capture(&self, order: &Order) -> Tried<bool> {
        let Some(payment) = &order.payment else {
            return Ok(true);
        };
        Ok(match self.payments.capture(payment, order.id).await? {
            Capture::Captured => true,
            Capture::Refused(reason) => {
                tracing::warn!(order = %order.id, reason, "the money could not be taken");
                false
            }
        })
    }

    /// Signs and stores every ticket. One that exists is left as it is: it may have been
    /// used already, or revoked by an undo that overtook this worker.
    pub(super) async fn issue_tickets(&self, order: &Order) -> Result<()> {
        for seat in &order.seats {
            let mut ticket = self.ticket_of(order, seat);
            ticket.code = self.ticket_signer.sign(&TicketClaims {
                ticket: ticket.id,
                show: ticket.show_id,
                place: ticket.place,
                serial: ticket.serial,
            })?;
            self.store.create(&ticket).await?;
        }
        Ok(())
    }

    pub(super) fn ticket_of(&self, order: &Order, seat: &OrderedSeat) -> Ticket {
        Ticket {
            id: onsale_domain::ids::TicketId::of(order.id, seat.place),
            order_id: order.id,
            show_id: order.show_id,
            account: order.account,
            place: seat.place,
            seat: seat.seat.clone(),
            serial: 0,
            code: String::new(),
            state: TicketState::Valid,
            issued: self.now(),
            changed: Default::default(),
            admissions: Default::default(),
            hands: Default::default(),
            put_back: None,
        }
    }

    /// The pass ends first: whoever hears of the order finds its place in the room free, and
    /// the sale in the books.
    pub(super) async fn announce_confirmed(&self, order: &Order) -> Result<()> {
        self.close_pass_of(order).await?;
        self.keep_lines_of(order).await?;
        let news = order.confirmed_news();
        let announcement = news.announce(&order.id.to_string(), order.changed);
        Ok(self.bus.announce(&[announcement]).await?)
    }

    /// The method was refused: the hold is its buyer's again, and lapses like any other.
    pub(super) async fn give_hold_back(&self, order: &Order) -> Result<()> {
        let attempt = order.attempt();
        // Whatever refuses has moved on from this attempt, and needs nothing from it.
        let _ = self
            .move_entry(order, |buyer, hold| {
                buyer.decline(hold, attempt, self.now())
            })
            .await?;
        let message = ExpireHold {
            show_id: order.show_id,
            account_id: order.account,
            hold_id: order.id.hold(),
        };
        let delay_s = expiry_delay_s(self.now(), order.pay_until);
        self.expiry_queue.send(&message, delay_s).await?;
        let subject = format!("{}:{attempt}", order.id);
        let announcement = order.declined_news().announce(&subject, order.changed);
        Ok(self.bus.announce(&[announcement]).await?)
    }
}
